"""Python's built-in functions, math, operator and functools on staged values."""

import cmath
import copy
import functools
import itertools
import math
import operator

import numpy as np

NO_GRADIENT = {
    "beyond_the_end_of_a_range": "integers",
    "binary_digits_of_a_count": "integers",
    "clock_from_seconds": "integers",
    "common_divisor_of_all": "integers",
    "count_by_kind": "integers",
    "days_of_the_month": "integers",
    "integer_square_roots": "integers",
    "is_it_a_power_of_two": "integers",
    "kinds_of_values": "truth values",
    "modular_power": "integers",
    "number_of_choices": "integers",
    "places_in_order": "integers",
    "range_as_a_list": "integers",
    "rounded_for_a_table": "steps",
    "share_of_each_as_percent": "steps",
    "truth_of_all_and_any": "truth values",
    "whole_numbers_among": "integers",
}
NO_VMAP = {
    "range_as_a_list": "ragged results",
}


# --- abs, min, max, sum ---


def largest_deviation(x):
    middle = sum(x) / len(x)
    return max(abs(v - middle) for v in x)


def clamp_with_min_and_max(x, s):
    low, high = min(s, 1.0), max(s, 1.0)
    return [max(low, min(v, high)) for v in x]


def largest_by_magnitude(x):
    return max(x, key=abs)


def nearest_of_the_others(x, s):
    return min(x, key=lambda v: (v - s) ** 2 + 1e-3 * v)


def farthest_pair(x, y):
    return max((abs(a - 1.1 * b), a) for a, b in zip(x, y, strict=True))


def extreme_of_several_arguments(x, s):
    return max(x[0], s * 1.1, x[1] * 1.3, 0.3) - min(x[2], s * 1.1, -0.7)


def default_of_no_values(x, k):
    return max(x[: k - k], default=-1.5) + min((v for v in x if v > 100), default=2.0)


def sum_from_a_start(x, s):
    return sum(x, s) + sum([x[0], x[1]], start=10.0)


def sum_of_products(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def sum_of_rows(w):
    return sum(w)


def sum_over_a_staged_range(x, k):
    return sum(i * x[i] for i in range(k)) + sum(range(k))


# --- any, all, bool ---


def truth_of_all_and_any(x, y):
    return any(v > 2 for v in x), all(v > -9 for v in x), any(x > y), all([x[0] > 0, y[0] > 0])


def all_positive_or_shifted(x):
    if all(v > 0 for v in x):
        return np.log(x)
    if any(v > 1 for v in x):
        return x - min(x)
    return x * 2


def truth_values_that_add_up(x):
    positive = 0
    for v in x:
        positive += bool(v > 0)
    return positive * x.sum()


# --- round, int, float, complex, divmod, pow ---


def rounded_for_a_table(x):
    return [round(float(v) / 3, 2) for v in x], round(x[0] / 3, 1), round(float(x[1]))


def rounding_has_no_slope(x):
    return round(float(x[0]) / 3, 1) * x[1] + round(x[2] / 3, 1) * x[0]


def truncated_towards_zero(x, s):
    whole = int(s)
    return (s - whole) * x


def float_of_an_integer(x, k):
    return x * float(k) / (int(k) + 1)


def complex_from_its_parts(x, s):
    z = complex(x[0], s)
    return abs(z), z.real, (z * z.conjugate()).real


def clock_from_seconds(k):
    seconds = int(k) * 3671
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return hours, minutes, seconds


def angle_into_one_turn(x, s):
    turns, rest = divmod(s * 7, 2 * math.pi)
    return rest * x[0] + turns


def modular_power(k):
    return pow(int(k) + 2, 13, 101)


def power_of_both_kinds(x, k, sp):
    return pow(abs(x) + 1, k) + pow(2.0, sp) + int(k) ** 2


# --- len, sorted, reversed, range, enumerate, zip ---


def median_of_sorted(x):
    ordered = sorted(x)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def two_largest(x):
    first, second, *_ = sorted(x, reverse=True)
    return first - second


def sorted_by_distance(x, s):
    near = sorted(x, key=lambda v: abs(v - s))
    return near[0], near[-1]


def places_in_order(x):
    return sorted(range(len(x)), key=lambda i: (-x[i], i))


def pairs_sorted_by_the_second(x, y):
    pairs = sorted(zip(x, y, strict=True), key=lambda p: p[1])
    return [a for a, _ in pairs]


def list_sorted_in_place(x):
    values = [x[0] * 2, x[1], x[2] - 1]
    values.sort(key=lambda v: -v)
    return values[0] * 3 + values[1]


def alternating_with_enumerate(x):
    total = 0.0
    for i, v in enumerate(x, start=1):
        total += v / i if i % 2 else -v / i
    return total


def horner_over_reversed(x, s):
    value = 0.0
    for coefficient in reversed(x):
        value = value * s + coefficient
    return value


def range_as_a_list(k):
    return list(range(int(k), 10, 2))


def range_with_staged_bounds_and_step(x, k):
    total = x[0] * 0
    for i in range(10, k, -(k + 1)):
        total += i * x[0]
    return total


# --- map, filter, iter, next ---


def map_of_two_arrays(x, y):
    return list(map(lambda a, b: a * b + 1, x, y))


def sorted_among_numbers_of_pythons(x):
    marks = [0.5, x[0], 2.0]
    marks.sort(reverse=True)
    return sorted([3.0, x[1], 1.0]), sorted(zip([x[0], 1.0], [2.0, x[2]], strict=True)), marks


def items_of_a_display_filtered(s):
    kept = list(filter(lambda v: v > 0, [s, 1.0, -s]))
    return sum(kept), sum(filter(None, (s, 0.0, -s))), sum([v for v in (s, 2.0, -s) if v < 1])


def list_of_run_time_length_mapped(x, s):
    kept = [v for v in x if v > s]
    steps = map(lambda a, b: b - a, kept, kept[1:])
    return sum(list(map(lambda v: v * s, kept))), sum(steps), sum(filter(lambda v: v > 1, kept))


def positive_ones_mapped(x):
    return sum([v * 2 for v in filter(lambda v: v > 0, x)])


def first_above_a_bound(x, s):
    return next((v for v in x if v > s), 0.0) * x


def running_pairs(x):
    rest = iter(x)
    last = next(rest)
    total = 0.0
    for v in rest:
        total += (v - last) ** 2
        last = v
    return total


# --- unpacking, slices, del ---


def head_and_rest(x):
    first, *rest = x
    return first * sum(rest)


def arguments_from_an_array(x):
    def polynomial(a, b, *more):
        return a + 2 * b + 3 * sum(more)

    return polynomial(*x)


def displays_with_stars(x, y):
    together = [*x, 1.0, *y]
    table = {**{"a": x[0], "b": y[0]}, "b": x[1]}
    return sum(together) + table["a"] * table["b"]


def slices_with_staged_bounds(x, k):
    head, tail = x[:k], x[k:]
    return head.sum() - tail.sum() * x[slice(0, k + 1)].sum()


def window_around_a_place(x, k):
    return x[max(k - 1, 0) : k + 2].mean()


def deleted_from_a_list_and_a_dict(x):
    values, table = [x[0], x[1], x[2]], {"a": x[0], "b": x[1]}
    del values[0], table["a"]
    return sum(values) * table["b"], len(values)


# --- kinds ---


def kinds_of_values(x, k, sp):
    number = x[0] * 2
    return (
        isinstance(x, np.ndarray),
        isinstance(number, float),
        type(number) is np.float64,
        type(int(k)) is int,
        isinstance(sp, (int, float)),
        type(x).__name__ == "ndarray",
    )


def scalar_or_array_by_its_kind(x, s):
    def length(v):
        return abs(v) if isinstance(v, (float, int)) else np.sqrt((v * v).sum())

    return length(x) + length(float(s)) + length(x.sum())


def count_by_kind(xi, k):
    counts = {int: 0, np.int64: 0}
    for v in (xi[0], int(k), 3, xi[1] + int(k)):
        counts[type(v)] += 1
    return counts[int], counts[np.int64]


# --- math ---


def distance_on_a_sphere(x, y):
    a, b = math.radians(x[0] * 10), math.radians(y[0] * 10)
    half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(x[1]) ** 2
    return 2 * math.asin(min(1.0, math.sqrt(half)))


def normal_distribution(x, s):
    spread = math.exp(s / 4)
    total = 0.0
    for v in x:
        z = float(v) / spread
        total += math.exp(-z * z / 2) / (spread * math.sqrt(2 * math.pi))
    return total + 0.5 * math.erf(s / math.sqrt(2))


def roots_of_a_quadratic(x):
    b, c = x[0], x[1]
    discriminant = b * b - 4 * c
    if discriminant < 0:
        root = cmath.sqrt(discriminant)
        return abs(-b + root) / 2
    root = math.sqrt(discriminant)
    return max(abs(-b + root), abs(-b - root)) / 2


def entropy_in_bits(x):
    weights = [abs(v) + 0.5 for v in x]
    total = math.fsum(weights)
    return -sum(p / total * math.log2(p / total) for p in weights)


def logarithm_to_a_base(x, s):
    return math.log(abs(s) + 1, 3) + math.log1p(abs(x[0])) + math.log10(2 + abs(x[1]))


def polar_to_cartesian(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        r, angle = math.hypot(a, b + 9), math.atan2(b + 9, a)
        total += r * math.cos(angle) + r * math.sin(angle)
    return total


def phases_of_a_sum(x):
    z = 0j
    for i, v in enumerate(x):
        z += v * cmath.exp(1j * i)
    return abs(z) + z.imag


def common_divisor_of_all(xi):
    divisor = 0
    for v in xi:
        divisor = math.gcd(divisor, int(v) * 6)
    return divisor, math.lcm(4, abs(int(xi[0])) + 1)


def number_of_choices(k):
    n = int(k) + 5
    return math.comb(n, 2), math.perm(n, 3), math.factorial(n), math.prod([n, 2, 3])


def integer_square_roots(xi):
    return [math.isqrt(abs(int(v)) * 10) for v in xi]


def floor_ceil_and_parts(x, s):
    part, whole = math.modf(s * 1.7)
    return x * part + math.floor(s) + math.ceil(s) + math.trunc(whole)


def close_enough_to_stop(x):
    guess = abs(x[0]) + 1
    for _ in range(50):
        better = (guess + 2 / guess) / 2
        if math.isclose(better, guess, rel_tol=1e-12):
            break
        guess = better
    return guess * x[1]


def missing_values_skipped(x, s):
    total = 0.0
    gaps = np.where(x > s, x, np.inf)
    for v in gaps:
        if math.isinf(v) or math.isnan(v):
            continue
        total += v
    return total


# --- methods of numbers ---


def binary_digits_of_a_count(k):
    n = int(k) * 37
    return n.bit_length(), n.bit_count()


def is_it_a_power_of_two(xi):
    found = 0
    for v in xi:
        n = abs(int(v))
        found += n > 0 and n & (n - 1) == 0
    return found


def whole_numbers_among(x):
    return sum([float(v).is_integer() for v in x])


def days_of_the_month(k):
    month = int(k) + 1
    return 28 + (month + month // 8) % 2 + 2 % month + 2 * (1 // month)


# --- operator, functools, itertools, copy ---


def reduced_to_a_fraction(x):
    return functools.reduce(lambda rest, v: v + 1 / (rest * rest + 1), x)


def product_by_operator(x, s):
    return functools.reduce(operator.mul, [v + 1 for v in x], s)


def operators_in_a_table(x, y, k):
    table = {"+": operator.add, "-": operator.sub, "*": operator.mul}
    total = x[0] * 0
    for sign, apply in table.items():
        total += apply(x[0], y[k]) if sign != "-" else operator.neg(apply(x[1], y[0]))
    return total


def partial_application(x, s):
    scale = functools.partial(operator.mul, s)
    return sum(map(scale, x))


def running_totals(x):
    return list(itertools.accumulate(x)), list(itertools.accumulate(x, max))


def chained_and_paired(x, y):
    total = 0.0
    for v in itertools.chain(x, y):
        total += v
    return total + sum(a * b for a, b in itertools.combinations([x[0], x[1], y[0]], 2))


def product_of_choices(x):
    return [a * x[0] + b for a, b in itertools.product((1, 2), (0, 1))]


def copied_before_an_update(x):
    kept, deep = copy.copy(x), copy.deepcopy({"x": [x, 1]})
    x[0] = 99.0
    return kept, deep["x"][0] * 2, x


def share_of_each_as_percent(x):
    total = sum(abs(v) for v in x) + 1
    return [round(float(abs(v)) / float(total) * 100, 1) for v in x]


def item_of_a_staged_range(k, s):
    numbers = range(3, 30 + abs(k), 4)
    return numbers[-1], numbers[k], range(10)[abs(k) % 10] * s, range(abs(k) + 1)[0]


def beyond_the_end_of_a_range(k):
    try:
        return range(k)[3]
    except IndexError:
        return -1


def indexed_by_a_truth_value(x, s):
    positive = bool(s > 0)
    return [x[0], x[1]][positive], (1.5, 2.5)[positive], range(5, 9)[positive]
