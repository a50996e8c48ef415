"""Items of dicts and tuples, and membership, by keys that are computed."""

import collections

NO_GRADIENT = {
    "counted_in_a_dict_of_known_keys": "counts",
    "automaton_from_a_table": "integers",
    "members_of_sets_and_dicts": "counts",
    "nested_tables": "integers",
    "collected_in_a_defaultdict": "two lists of run-time length",
}
NO_VMAP = {"collected_in_a_defaultdict": "as many elements as the values say"}

RATES = {0: 0.5, 1: 1.5, 2: 4.0, -1: 0.25}
WEIGHTS = (1.0, 2.0, 5.0)
STEPS = {(0, "a"): 1, 0: 1, 1: 2, 2: 0}


class Prices:
    def __init__(self):
        self.table = {1: 2.0, 2: 3.5, 3: 8.0}

    def of(self, key, amount):
        return self.table[key] * amount


def rate_from_a_table(x, k):
    return x * RATES[int(k) % 3]


def missing_key_is_caught(x, k):
    try:
        y = x * RATES[int(k) + 1]
    except KeyError:
        y = -x
    return y


def default_for_a_missing_key(x, k):
    return x * RATES.get(int(k) * 2, 9.0)


def arrays_in_a_dict(x, y, k):
    table = {0: x * 2, 1: y + 1, 2: x * y}
    return table[int(k) % 3]


def functions_in_a_dict(x, k):
    table = {0: lambda v: v * 2, 1: lambda v: v + 1, 2: lambda v: v * v}
    return table[int(k) % 3](x)


def item_of_a_tuple(x, k):
    return x * WEIGHTS[int(k) % 3] + WEIGHTS[-1 - int(k) % 2]


def tuple_index_out_of_range(x, k):
    try:
        y = x * WEIGHTS[int(k) + 1]
    except IndexError:
        y = x
    return y


def table_in_a_staged_loop(xi, s):
    total = s * 0
    for v in xi:
        key = int(v) % 4
        if key in RATES:
            total = total + RATES[key] * s
        else:
            total = total - s
    return total


def table_of_an_object(x, k):
    prices = Prices()
    total = prices.of(2, x[0])
    if k > 0:
        total = total + prices.of(int(k) % 3 + 1, x[1])
    return total


def key_chosen_by_a_condition(x, s):
    table = {"up": 1.5, "down": -2.0}
    key = "up" if s > 0 else "down"
    table[key] += s
    return x * table[key] + table["up"]


def members_of_sets_and_dicts(xi):
    small = {1, 2, 3}
    count = 0
    for v in xi:
        if v in small:
            count += 1
        if v not in RATES:
            count += 10
    return count


def counted_in_a_dict_of_known_keys(xi):
    counts = {0: 0, 1: 0, 2: 0}
    for v in xi:
        counts[int(v) % 3] += 1
    return counts


def weights_summed_by_key(x, xi):
    sums = {0: 0.0, 1: 0.0}
    for v, i in zip(x, xi, strict=True):
        sums[int(i) % 2] += v
    return sums[0], sums[1]


def collected_in_a_defaultdict(x, s):
    groups = collections.defaultdict(list)
    for name in ("high", "low", "high"):
        groups[name].append(s)
    for v in x:
        if v > s:
            groups["high"].append(v)
        else:
            groups["low"].append(v)
    return groups


def defaults_of_the_run(s):
    least = collections.defaultdict(lambda: s if s > 0 else -1.0)
    least["a"] = least["a"] + 1
    return least["a"] + least["b"], len(least), type(least) is collections.defaultdict


def automaton_from_a_table(xi):
    state, visits = 0, 0
    for v in xi:
        if v > 0:
            state = STEPS[state]
        if state == 2:
            visits += 1
    return state, visits


def nested_tables(k, kp):
    table = {0: {0: 1, 1: 2}, 1: {0: 3, 1: 4}}
    return table[kp % 2][int(k) % 2]
