"""Comparisons, and/or/not and their operands, `in`, walrus, conditional expressions, arithmetic."""

import numpy as np

NO_GRADIENT = {
    "comparison_of_numbers_and_none": "truth values",
    "count_with_augmented_truth": "integers",
    "digits_of_a_number": "integers",
    "equal_tuples_and_lists": "truth values",
    "gray_code": "integers",
    "in_every_kind_of_container": "truth values",
    "is_leap_year": "truth values",
    "not_of_many_kinds": "truth values",
    "order_of_dates": "truth values",
    "python_integers_do_not_wrap": "integers",
    "state_machine_of_words": "integers",
}
NO_VMAP: dict[str, str] = {}


# --- if, elif, conditional expressions ---


def tax_by_brackets(x):
    total = 0.0
    for income in x:
        if income <= 0:
            tax = 0.0
        elif income < 1:
            tax = 0.1 * income
        elif income < 2:
            tax = 0.1 + 0.2 * (income - 1)
        else:
            tax = 0.3 + 0.4 * (income - 2)
        total += tax
    return total


def conditional_expression_in_an_index(x, s):
    return x[0 if s > 0 else -1] * x[1 if s < 1 else 2]


def conditional_expression_of_functions(x, s):
    return (np.sin if s > 0 else np.cos)(x)


def conditional_expression_in_a_call(x, s):
    return np.clip(x, -1 if s > 0 else -2, 1 if s > 0 else 2)


def conditional_expression_in_arguments_by_name(x, s):
    def scaled(v, *, by=1.0, shift=0.0):
        return v * by + shift

    return scaled(x, by=2.0 if s > 0 else 3.0, shift=s if s > 1 else -s)


def nested_choices_in_a_loop(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] if x[i] > 1 else -x[i] if x[i] < -1 else x[i] ** 2
    return out


# --- comparisons ---


def chained_comparison_with_arrays_of_one(x, s):
    return x * 2 if -1 < s < x[:1] + 5 else x * 3


def each_operand_evaluated_once(x, s):
    calls = []

    def seen(v):
        calls.append(v)
        return v

    inside = seen(-2.0) < seen(s) < seen(1.5)
    return (x if inside else -x) * 1.0


def chain_stops_at_the_first_false(x, k):
    if 0 < k < len(x) - 1 and x[k - 1] < x[k] < x[k + 1]:
        return x[k + 1] - x[k - 1]
    return x[0] * 0.5


def comparison_of_numbers_and_none(x, k):
    limit = None
    return x[0] == limit, limit is None, k != 2, not k == 1


def equal_tuples_and_lists(x, k):
    return (
        (k, 1) == (2, 1),
        [k, k] != [1, 1],
        (x[0], (k, 2)) == (x[0], (2, 2)),
        {"k": k} == {"k": 1},
    )


def order_of_dates(xi, k):
    year, month, day = 2000 + xi[0], k, 7
    return (year, month, day) < (2001, 2, 3), (year, month) >= (2000, 2), (k,) <= (k, 1)


def best_by_two_criteria(x, y):
    best = (x[0], y[0])
    for pair in zip(x, y, strict=True):
        if (pair[0], -pair[1]) > (best[0], -best[1]):
            best = pair
    return best


# --- and, or, not ---


def or_gives_a_default(x, s):
    return x * (s or 0.75)


def and_gives_the_last_operand(x, s):
    factor = s > 0 and s * 2
    return x * factor + x


def first_that_is_not_zero(x, s):
    return (s - s) or (x[0] * 0) or x[1] or 1.0


def or_of_arrays_with_one_element(x, s):
    chosen = (x[:1] > 100) or (x[:1] > -100)
    return x * chosen


def not_of_many_kinds(x, k):
    return not x[0], not k, not [], not [x], not (k > 1), not not x[:1].any()


def guarded_division(x, s):
    total = x[0] * 0
    for v in x:
        if v != 0 and s / v > 0.5 or v > 2:
            total += v
    return total


def guards_in_an_order(x, k):
    found = k < len(x) and k > 0 and x[k] < x[k - 1]
    return x[0] if found else x[1] * 2


def and_or_of_static_and_staged(x, s):
    flag, names = True, ()
    if flag and s > 0 and not names:
        return x
    return -x if names or s < -1 else x * 2


def exclusive_or_of_truth_values(x, s, k):
    return x * 2 if (s > 0) != (k > 1) else x / 2


# --- in ---


def in_every_kind_of_container(x, k):
    n = int(k)
    return (
        n in (1, 3),
        n in [0, 2],
        n not in {1, 2},
        n in {1: "a", 3: "b"},
        n in range(1, 10, 2),
        n in frozenset([2]),
        x[0] in x,
        100.0 in x,
        x[1] not in [x[0], 0.0],
    )


def seen_before(x):
    total, last = x[0] * 0, x[0]
    for i in range(len(x)):
        if x[i] not in x[:i]:
            total += x[i]
            last = x[i]
    return total, last


def word_for_a_number(x, k):
    words = {0: 1.0, 1: -1.0, 2: 0.5}
    factor = 2.0
    for number, value in words.items():
        if k == number:
            factor = value
    return x * factor if int(k) in words else x * 3


# --- walrus ---


def walrus_in_a_condition(x, s):
    if (total := x.sum() + s) > 1:
        return x / total
    return x * total


def walrus_under_a_condition(x, s):
    if s > 0 and (top := x.max() * s) > 1:
        return x / top
    return x


def walrus_in_or(x, s):
    shift = 0.0
    if x[0] > 1 or (shift := s * 2) > 1:
        return x + shift
    return x - shift


def walrus_in_a_while_test(x, s):
    turns = 0
    while (size := abs(x).sum()) > 1 and (turns := turns + 1) < 20:
        x = x * 0.5
    return x * size, turns


def walrus_in_a_chain(x, s):
    if -3 < (low := s - 1) < (high := s * s + 1) < 30:
        return x * low + high
    return x * low


def walrus_in_a_conditional_expression(x, s):
    y = (step := s * 0.5) if s > 0 else (step := -0.25)
    return x * y + step


def walrus_in_an_argument(x, s):
    return np.maximum(y := x * s, 0) + y


def walrus_in_a_comprehension(x):
    last = x[0] * 0
    steps = [(last := last * 0.5 + v) for v in (x[0], x[1], x[2])]
    return sum(steps) + last


def walrus_in_a_filter(x, s):
    doubled = [y for v in x if (y := v * s + 1) > 0]
    return sum(doubled) + y


def walrus_in_any(x, s):
    hit = x[0]
    if any((hit := v) > s for v in x):
        return x * hit
    return x - hit


def walrus_in_next(x, s):
    return next((y * x for v in x if (y := v * v) > s), x + s)


def elif_with_a_walrus(x, s):
    if s > 2:
        return x
    elif (half := s / 2) > 0.25 and (rest := half - 0.25) < 5:
        return x * half + rest
    elif half < 0:
        return x * half
    return x * 0.5


# --- arithmetic of Python's numbers ---


def python_integers_do_not_wrap(k):
    n = int(k) + 2
    return n**20, n << 30, (n * 10**9) // 7, -n // 2, n % -3


def digits_of_a_number(k):
    n, total = int(k) * 12345 + 678, 0
    while n:
        n, digit = divmod(n, 10)
        total += digit * digit
    return total


def gray_code(xi):
    total = 0
    for v in xi:
        n = abs(int(v))
        total = total * 2 + (n ^ n >> 1)
    return total


def is_leap_year(xi):
    years = [1998 + abs(int(v)) for v in xi]
    return [y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) for y in years]


def true_division_gives_floats(x, k):
    n = int(k) + 1
    return x * (n / 2) + n // 2 + n % 2


def power_with_staged_exponents(x, k):
    return (abs(x) + 1) ** k + 2.0 ** int(k) + (abs(x[0]) + 0.5) ** 0.5


def augmented_operators(x, s):
    total, scale = s * 1.0, 1.0
    for v in x:
        total += v
        scale *= 0.5
        total -= scale * v
        total /= 1.5
    total **= 2
    return total % 7.3


def count_with_augmented_truth(x, y):
    wins = ties = 0
    for a, b in zip(x, y, strict=True):
        wins += a > b
        ties += a == b
    return wins, ties


def swapped_and_chained_assignment(x, s):
    a, b = x[0], x[1]
    if s > 0:
        a, b = b, a
    c = d = a - 2 * b
    c, d = c * s, d + s
    return a, b, c, d


def unpacking_nested_patterns(x, y):
    (a, b), (c, *rest) = (x[0], y[0]), [x[1], y[1], 3.0]
    return a * b + c * rest[0] + rest[1]


def lambda_with_a_condition(x, s):
    squash = lambda v: v / (1 + abs(v)) if s > 0 else v  # noqa: E731
    return squash(x) * squash(s)


def state_machine_of_words(xi):
    state, counts = 0, [0, 0, 0]
    for v in xi:
        if state == 0 and v > 0:
            state = 1
        elif state == 1 and (v < 0 or v > 5):
            state = 2
        elif state == 2:
            state = 0
        counts[0] += state == 0
        counts[1] += state == 1
        counts[2] += state == 2
    return state, counts


def tuples_of_two_names_compared(x, y):
    best, first = (x[0], 0), (y[0], 0)
    where = 0
    for i in range(1, 3):
        found = (x[i], i)
        if found < best:
            best = found
            where = i
    return best[0] * 2 if best <= first else first[0], where


def lists_of_two_names_compared(x, s):
    mine = [s, x[0]]
    yours = [x[1], s]
    if mine == yours:
        return x
    if mine > yours:
        mine = [s, s]
    return x * mine[1]
