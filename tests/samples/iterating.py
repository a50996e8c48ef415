"""What for and while loops go over and how they are left: strings, dicts, sets, nested containers,
ranges with traced bounds and steps, arrays of any rank and length; else, break, continue, del."""

from collections import OrderedDict, deque, namedtuple

import numpy as np

NO_GRADIENT = {
    "loop_over_bytes_checksum": "integers",
    "loop_over_range_with_negative_traced_step": "integers",
    "loop_over_traced_range_in_reverse": "integers",
    "nested_traced_ranges": "integers",
    "while_true_with_two_breaks": "integers",
    "loop_variable_after_zero_turns": "integers",
    "loop_over_unknown_length": "the result's length is that of what is found",
    "loop_variable_keeps_its_type": "integers",
}
NO_VMAP = {
    "loop_over_unknown_length": "lanes find different numbers of elements",
    "loop_over_rows_that_a_mask_selects": "lanes select different numbers of rows",
}

Interval = namedtuple("Interval", "low high")


def loop_over_string(x):
    total = 0.0
    for letter in "abca":
        if letter == "a":
            total = total + x[0]
        else:
            total = total * x[1]
    return total


def loop_over_string_with_index(x):
    weights = {"x": 2.0, "y": 3.0}
    total = 0.0
    for i, axis in enumerate("xyyx"):
        total += weights[axis] * x[i % len(x)]
    return total


def loop_over_bytes_checksum(k):
    a, b = 1, k
    for byte in b"Wikipedia, again":
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b * 65536 + a


def loop_over_dict(x, s):
    weights = {"mean": s, "max": 2.0, "min": 3.0}
    total = 0.0
    for name in weights:
        value = getattr(x, name)()
        total = total + weights[name] * value
    return total


def loop_over_dict_items(x, s):
    terms = OrderedDict(one=x, two=s * x, three=x * x)
    total = np.zeros_like(x)
    for i, (name, term) in enumerate(terms.items()):
        if name != "two":
            total = total + term / (i + 1)
    return total


def loop_over_dict_values_and_keys(x):
    table = {1: x[0], 2: x[1], 5: x[2]}
    total = 0.0
    for v in table.values():
        total = total * 2 + v
    for n in table.keys():
        total = total / n
    for n in reversed(table):
        total = total + n
    return total


def loop_changes_dict_values(x, s):
    state = {"position": x[0], "speed": s}
    for _ in range(12):
        for name in list(state):
            state[name] = state[name] * 0.9
        state["position"] += state["speed"] * 0.1
    return state["position"], state["speed"]


def loop_over_set(x):
    total = 0.0
    for n in sorted({3, 1, 2}):
        total = total * n + x[n - 1]
    for n in {7}:
        total = total + n
    return total


def loop_over_nested_containers(x, s):
    groups = [("a", [1, 2]), ("b", []), ("c", (s, x[0], 4.0))]
    total = 0.0
    for name, members in groups:
        for member in members:
            total = total * 0.5 + member
            if name == "a":
                break
        else:
            total = total + 1
    return total


def loop_over_namedtuples(x, s):
    inside = 0.0
    for low, high in (Interval(-1.0, s), Interval(s, s + 1), Interval(2.0, 9.0)):
        for v in x:
            if low <= v < high:
                inside += v * v
    return inside


def loop_over_deque(x):
    queue = deque([x[0], x[1]])
    total = 0.0
    for v in queue:
        total = total * 2 + v
    return total


def loop_over_list_being_extended(x):
    pending = [3]
    total = 0.0
    for n in pending:
        total = total + x[n % len(x)]
        if n > 0:
            pending.append(n - 1)
    return total


def loop_over_matrix_rows_and_elements(w):
    total = 0.0
    for row in w:
        for v in row:
            total = total * 0.9 + v
    return total


def loop_over_transposed_matrix(w):
    total = 0.0
    for i, column in enumerate(w.T):
        total = total + column.sum() * (i + 1)
    return total


def loop_over_array_of_rank_three(x, w):
    blocks = w[:, :, None] * x[:3]
    total = 0.0
    for block in blocks:
        for row in block:
            for v in row:
                if v > 0:
                    total = total + v * v
    return total


def loop_over_zip_of_arrays_and_lists(x, w):
    total = 0.0
    for v, row, name in zip(x, w, ["one", "two", "three", "four"]):
        total = total + v * row.sum() * len(name)
    return total


def loop_over_reversed_array(x):
    y = 0.0
    for v in reversed(x):
        y = y * 0.5 + v
    return y


def loop_over_unknown_length(x, s):
    total = 0.0
    for v in x[x > s]:
        total += v * v
    count = 0
    for i in np.nonzero(x > 0)[0]:
        count += i
    return total, count, x[x > s]


def loop_over_rows_that_a_mask_selects(w, s):
    total = np.zeros(w.shape[1])
    for row in w[w[:, 0] > s]:
        total = total + row
    return total


def loop_over_empty_array(x, s):
    y = s
    for v in x[:0]:
        y = v
    for row in np.zeros((0, 3)):
        y = y + row.sum()
    for _ in range(0):
        y = y * 2
    return y


def loop_over_traced_range(x, k):
    total = 0.0
    for i in range(abs(k) % 4, abs(k) + 5):
        total = total + x[i % len(x)] * i
    return total


def loop_over_traced_range_in_reverse(k):
    digits = 0
    for i in range(abs(k) + 3, -1, -1):
        digits = digits * 3 + i % 3
    return digits


def loop_over_range_with_negative_traced_step(k):
    total = 0
    for i in range(20, k, -abs(k) - 1):
        total = total * 2 + i
    return total


def nested_traced_ranges(k):
    n = abs(k) + 3
    pairs = 0
    for i in range(n):
        for j in range(i, n, 2):
            if (i + j) % 3 == 0:
                continue
            pairs += i * j
    return pairs


def triangle_of_staged_indices(x):
    n = len(x)
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            total += (x[i] - x[j]) ** 2 / (j - i)
    return total


def loop_variable_after_loop(x):
    for i, v in enumerate(x):
        if v > 1.5:
            break
    return v * i


def loop_variable_after_full_loop(x, k):
    for i in range(abs(k) + 2):
        y = x * i
    return y, i


def loop_variable_after_zero_turns(k):
    i = -7
    for i in range(k - 5):
        pass
    return i


def loop_variable_rebound_in_body(x):
    total = 0.0
    for v in x:
        v = v * 2
        if v > 1:
            v = 1.0
        total += v
    return total, v


def loop_variable_keeps_its_type(k):
    n = 0
    for i in range(10):
        n = n + i // 2 - k
        i = i + 0.5
        n = n + int(i)
    return n, isinstance(n, int) or n.dtype.kind == "i"


def loop_unpacks_starred(w):
    total = 0.0
    for first, *rest in w:
        total = total + first * sum(rest)
    return total


def loop_targets_are_elements(x):
    slots = [0.0, 0.0]
    for slots[0], slots[1] in zip(x, x[::-1]):
        slots[1] = slots[1] * 2
    return slots[0] + slots[1]


def while_turns_staged_half_way(x, k):
    y, n = 1, 0
    while y < 50:
        n += 1
        if n > 3:
            y = y + abs(k) + 1
        else:
            y = y * 2
    return x * y + n


def while_limit_is_refined(s):
    change = np.inf
    value = s
    while change > 1e-3:
        new = value / 2 + 1
        change = abs(new - value)
        value = new
    return value


def while_else_found(x, s):
    i = 0
    while i < len(x):
        if x[i] > s:
            result = x[i]
            break
        i += 1
    else:
        result = -s
    return result * i


def while_true_with_two_breaks(k):
    n, steps = abs(k) + 6, 0
    while True:
        if n == 1:
            break
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 11:
            break
    return steps, n


def while_true_returns_from_two_loops(x, s):
    total = 0.0
    while True:
        for v in x:
            total += abs(v) + 0.1
            if total > s + 4:
                return total * v
        total = total * 1.5


def for_else_of_nested_loops(w, s):
    for i, row in enumerate(w):
        for v in row:
            if v > s:
                break
        else:
            continue
        return v * (i + 1)
    return s


def continue_in_nested_loops(w, s):
    total = 0.0
    for i in range(w.shape[0]):
        if w[i, 0] < s:
            continue
        for j in range(w.shape[1]):
            if i == j:
                continue
            if w[i, j] < 0:
                total -= w[i, j]
                continue
            total += 2 * w[i, j]
        total = total * 1.1
    return total


def early_continue_before_assignment(x, s):
    for v in x:
        if v < s:
            continue
        biggest = v * v
        s = biggest / 2
    return s


def del_of_names_and_items(x, s):
    scratch = x * 2
    y = scratch + s
    del scratch
    parts = {"a": y, "b": x}
    del parts["b"]
    rows = [x, y, x * y]
    del rows[0], rows[-1]
    for name in list(parts):
        y = y + parts[name]
        del parts[name]
    return y + rows[0] + len(parts)


def del_in_staged_loop(x):
    total = 0.0
    for v in x:
        square = v * v
        total += square
        del square
    return total


def del_under_staged_branch(x, s):
    extra = x * s
    if s > 0:
        y = extra.sum()
        del extra
    else:
        y = x.sum()
        extra = y
    return y


def loop_over_map_and_filter(x):
    total = 0.0
    for v in map(lambda v: v * v, x):
        total = total + v
    for v in filter(lambda v: v > 0.5, x):
        total = total * 0.5 + v
    return total


def loop_over_enumerate_with_start(x, k):
    total = 0.0
    for i, v in enumerate(x, start=k):
        total += i * v
    return total


def loop_over_zip_star(w):
    total = 0.0
    for a, b in zip(*[(row[0], row[1]) for row in w[:2]]):
        total = total * 2 + a * b
    return total


def loop_over_range_reversed(x):
    y = np.zeros_like(x)
    for i in reversed(range(len(x))):
        y[i] = x[i] + (y[i + 1] if i + 1 < len(x) else 0.0)
    return y


def loop_over_scaled_indices(x, k):
    total = 0.0
    step = abs(k) % 3 + 1
    for i in range(0, len(x), step):
        total = total * 0.7 + x[i]
    return total


def loop_over_tuple_of_functions(x):
    for f in (np.sin, np.tanh, lambda v: v * v):
        x = f(x)
    return x


def bubble_sort_with_flag(x):
    y = x.copy()
    swapped = True
    while swapped:
        swapped = False
        for i in range(len(y) - 1):
            if y[i] > y[i + 1]:
                y[i], y[i + 1] = y[i + 1], y[i]
                swapped = True
    return y


def iterator_consumed_by_an_unrolled_loop(x):
    pairs = zip([1, 2, 3], [4, 5, 6])
    total = 0.0
    for i in range(12):
        for a, b in pairs:
            total += a * b * x[i % 3]
    return total


def iterators_made_in_a_staged_loop(x):
    total = 0.0
    for i in range(12):
        for a, b in zip([1, 2, 3], [4, 5, 6]):
            total += a * b * x[i % 3]
        for a in map(lambda n: n * 2, [1, 2]):
            total -= a
        for a in reversed([1, 2]):
            total = total / a
    return total


def iterator_of_dict_items(x):
    items = iter({"a": 1, "b": 2, "c": 3}.items())
    total = 0.0
    for i in range(2):
        total += next(items)[1] * x[i]
    for name, n in items:
        total = total * n + len(name)
    return total


def loop_variable_that_a_function_reads(x):
    def scaled():
        return v * 2

    for v in x:
        if scaled() > 3:
            return v
        last = scaled()
    return last


def loop_variable_in_an_inner_generator(x, s):
    for v in (w for w in x if w > s):
        for u in (w for w in x if w < v):
            if u * v < 0:
                return u + 2 * v
    return x[0]


def weights_from_a_constant_array(x):
    total = np.zeros_like(x)
    for weight in np.linspace(0.0, 1.0, 50):
        total = total * 0.9 + weight * x
    return total


def counts_known_before_the_run(x):
    steps = 0
    for i in range(2000):
        steps += i % 7
    names = {0: "even", 1: "odd"}
    return x * steps if names[steps % 2] == "even" else -x
