"""Functions that call themselves, with an end that only the run knows."""

import functools
from dataclasses import dataclass

import numpy as np

NO_GRADIENT = dict.fromkeys(
    (
        *("greatest_common_divisor", "factorial_of_traced", "fibonacci_numbers", "ackermann"),
        *("even_by_way_of_odd", "collatz_steps", "towers_of_hanoi", "binary_search"),
        *("digits_in_base", "binomial_by_pascal", "mccarthy", "hofstadter", "recursive_flag"),
        *("paths_through_grid", "count_with_nonlocal", "moves_in_a_list_of_counts"),
        *("recursive_parity_in_loop", "three_way_mutual", "sum_of_digits", "ruler_marks"),
        *("tak", "trial_division", "stern_brocot", "josephus", "compositions"),
        "global_counted_by_recursion",
    ),
    "integers",
)
NO_VMAP = {"global_counted_by_recursion": "each lane would assign the global"}


def greatest_common_divisor(k):
    def gcd(a, b):
        return a if b == 0 else gcd(b, a % b)

    return gcd(48 + k, 36)


def _factorial(n):
    if n <= 1:
        return 1
    return n * _factorial(n - 1)


def factorial_of_traced(k):
    return _factorial(k) + _factorial(3)


def _fibonacci(n):
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


def fibonacci_numbers(ks):
    return _fibonacci(ks + 4), _fibonacci(ks)


def _ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return _ackermann(m - 1, 1)
    return _ackermann(m - 1, _ackermann(m, n - 1))


def ackermann(k):
    return _ackermann(k % 3, 2)


def _is_even(n):
    return True if n == 0 else _is_odd(n - 1)


def _is_odd(n):
    return False if n == 0 else _is_even(n - 1)


def even_by_way_of_odd(k):
    return _is_even(abs(k) + 2), _is_odd(abs(k))


def _alpha(n, depth):
    return depth if n <= 0 else _beta(n - 1, depth + 1)


def _beta(n, depth):
    return _gamma(n - 2, depth * 2) if n > 3 else depth + 100


def _gamma(n, depth):
    if n % 2 == 0:
        return _alpha(n, depth)
    return _beta(n + 1, depth - 1)


def three_way_mutual(k):
    return _alpha(k + 9, 0)


def _power(x, n):
    if n == 0:
        return x * 0 + 1
    half = _power(x, n // 2)
    if n % 2 == 0:
        return half * half
    return half * half * x


def power_by_squaring(s, k):
    return _power(s, abs(k) + 3)


def power_of_matrix(w, k):
    square = w[:2, :2]
    return _matrix_power(square, abs(k) + 2)


def _matrix_power(a, n):
    if n == 0:
        return np.eye(2)
    half = _matrix_power(a, n // 2)
    result = half @ half
    if n % 2:
        result = result @ a
    return result


def collatz_steps(k):
    def steps(n, count=0):
        if n <= 1:
            return count
        if n % 2 == 0:
            return steps(n // 2, count + 1)
        return steps(3 * n + 1, count + 1)

    return steps(abs(k) + 6)


def _hanoi(n, source, target, spare, pegs):
    if n == 0:
        return 0
    moves = _hanoi(n - 1, source, spare, target, pegs)
    pegs[source] -= 1
    pegs[target] += 1
    return moves + 1 + _hanoi(n - 1, spare, target, source, pegs)


def towers_of_hanoi(k):
    n = abs(k) % 4 + 1
    pegs = np.array([0, 0, 0])
    pegs[0] = n
    return _hanoi(n, 0, 2, 1, pegs), pegs


def binary_search(x, s):
    ordered = np.sort(x)

    def position(low, high):
        if low >= high:
            return low
        middle = (low + high) // 2
        if ordered[middle] < s:
            return position(middle + 1, high)
        return position(low, middle)

    return position(0, len(x))


def _simpson(f, a, b):
    return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))


def _adaptive(f, a, b, tolerance, whole, depth):
    middle = (a + b) / 2
    left, right = _simpson(f, a, middle), _simpson(f, middle, b)
    error = left + right - whole
    if depth == 0 or abs(error) <= 15 * tolerance:
        return left + right + error / 15
    return _adaptive(f, a, middle, tolerance / 2, left, depth - 1) + _adaptive(
        f, middle, b, tolerance / 2, right, depth - 1
    )


def adaptive_quadrature(s):
    def f(t):
        return np.exp(-s * t) * np.sin(3 * t)

    return _adaptive(f, 0.0, 2.0, 1e-5, _simpson(f, 0.0, 2.0), 12)


def quadrature_of_two_functions(s):
    def integral(f):
        return _adaptive(f, 0.0, 1.0, 1e-4, _simpson(f, 0.0, 1.0), 8)

    return integral(lambda t: np.exp(t * s)) + integral(np.sqrt)


def _sort_between(a, low, high):
    if low >= high:
        return
    pivot, i = a[high], low
    for j in range(low, high):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[high] = a[high], a[i]
    _sort_between(a, low, i - 1)
    _sort_between(a, i + 1, high)


def quicksort_in_place(x):
    _sort_between(x, 0, len(x) - 1)
    return x * 2


def quicksort_of_copy(x, y):
    ordered = x.copy()
    _sort_between(ordered, 0, len(ordered) - 1)
    return ordered + y, x


def quicksort_by_masks(x):
    def ordered(a):
        if len(a) < 2:
            return a
        pivot, rest = a[0], a[1:]
        smaller, larger = rest[rest < pivot], rest[rest >= pivot]
        return np.concatenate([ordered(smaller), a[:1], ordered(larger)])

    return ordered(x)


def _merged(a, b):
    out = np.zeros(len(a) + len(b))
    i = j = 0
    for k in range(len(out)):
        if j >= len(b) or i < len(a) and a[i] <= b[j]:
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


def merge_sort(x, s):
    def ordered(a):
        if len(a) < 2:
            return a
        if s > 100:
            return a
        half = len(a) // 2
        return _merged(ordered(a[:half]), ordered(a[half:]))

    return ordered(x)


def pairwise_sum(x):
    def total(a):
        if len(a) == 1:
            return a[0]
        half = len(a) // 2
        return total(a[:half]) + total(a[half:])

    return total(x * x)


def reversed_by_recursion(x):
    def back(a):
        return a if len(a) < 2 else np.concatenate([back(a[1:]), a[:1]])

    return back(x)


def horner_by_recursion(x, s):
    def value(i):
        if i == len(x):
            return 0.0
        return x[i] + s * value(i + 1)

    return value(0)


def newton_until_small(s):
    def root(guess, tries):
        step = (guess * guess - abs(s) - 1) / (2 * guess)
        if abs(step) < 1e-12 or tries == 0:
            return guess - step
        return root(guess - step, tries - 1)

    return root(1.5, 40)


def bisection(s):
    def root(low, high):
        middle = (low + high) / 2
        if high - low < 1e-3:
            return middle * s
        if middle**3 - middle - 1 > 0:
            return root(low, middle)
        return root(middle, high)

    return root(1.0, 2.0)


def digits_in_base(k):
    def digits(n, base):
        if n < base:
            return n
        return digits(n // base, base) * 100 + n % base

    return digits(abs(k) * 7 + 93, 4)


def sum_of_digits(k):
    def total(n):
        return n if n < 10 else n % 10 + total(n // 10)

    return total(abs(k) * 1234 + 987)


def binomial_by_pascal(k):
    def choose(n, m):
        if m == 0 or m == n:
            return 1
        return choose(n - 1, m - 1) + choose(n - 1, m)

    return choose(abs(k) % 4 + 3, 2)


def mccarthy(k):
    def f(n):
        return n - 10 if n > 100 else f(f(n + 11))

    return f(abs(k) + 95)


def hofstadter(k):
    def q(n):
        return n - q(q(n - 1)) if n > 0 else 0

    return q(abs(k) % 5 + 3)


def tak(k):
    def t(a, b, c):
        if b >= a:
            return c
        return t(t(a - 1, b, c), t(b - 1, c, a), t(c - 1, a, b))

    return t(abs(k) % 3 + 3, 2, 1)


def josephus(k):
    def survivor(n, step):
        return 0 if n == 1 else (survivor(n - 1, step) + step) % n

    return survivor(abs(k) + 5, 3)


def trial_division(k):
    def smallest(n, d):
        if d * d > n:
            return n
        if n % d == 0:
            return d
        return smallest(n, d + 1)

    return smallest(abs(k) * 6 + 35, 2)


def stern_brocot(k):
    def fusc(n):
        if n < 2:
            return n
        if n % 2 == 0:
            return fusc(n // 2)
        return fusc(n // 2) + fusc(n // 2 + 1)

    return fusc(abs(k) + 11)


def paths_through_grid(k):
    def paths(rows, columns):
        if rows == 0 or columns == 0:
            return 1
        return paths(rows - 1, columns) + paths(rows, columns - 1)

    return paths(abs(k) % 3 + 1, 3)


def count_with_nonlocal(k):
    calls = 0

    def visit(n):
        nonlocal calls
        calls += 1
        if n > 0:
            visit(n - 1)
            visit(n - 2)

    visit(abs(k) % 5)
    return calls


def sum_with_nonlocal(x, s):
    total = s

    def add(i):
        nonlocal total
        if i < len(x):
            total = total + x[i] * (i + 1)
            add(i + 1)

    add(0)
    return total


def moves_in_a_list_of_counts(k):
    counts = [0, 0]

    def descend(n, side):
        counts[0] += 1
        if n > 0:
            counts[1] += side
            descend(n - 1, 1 - side)

    descend(abs(k), 0)
    return counts


class _Walker:
    def __init__(self, place):
        self.place = place
        self.turns = 0

    def walk(self, n):
        if n <= 0:
            return self.place
        self.place = self.place * 0.5 + 1
        self.turns += 1
        return self.walk(n - 1)


def method_that_recurs(s, k):
    walker = _Walker(s)
    end = walker.walk(k)
    return end, walker.place, walker.turns


class _Tree:
    @staticmethod
    def leaves(n):
        return 1.0 if n <= 1 else _Tree.leaves(n // 2) + _Tree.leaves(n - n // 2)

    @classmethod
    def weight(cls, x, n):
        return x if n == 0 else cls.weight(x, n - 1) / 2 + cls.leaves(n)


def static_and_class_methods_that_recur(s, k):
    return _Tree.weight(s, abs(k) + 1)


def recursion_with_an_array_beside(x, k):
    def rotate(a, n):
        if n <= 0:
            return a
        return rotate(np.roll(a, 1) + a[0], n - 1)

    return rotate(x, k)


def recursion_over_a_tuple(x, s, k):
    def step(pair, n):
        a, b = pair
        if n <= 0:
            return b, a
        return step((b * s, a + x), n - 1)

    return step((x, x * 2), k)


def recursion_with_keywords(s, k):
    def f(value, *, left, rate=0.5):
        if left <= 0:
            return value
        return f(value * rate + 1, left=left - 1)

    return f(s, left=k, rate=0.25)


def recursion_with_star_arguments(s, k):
    def f(n, *values, **options):
        if n <= 0:
            return values[0] + options["shift"]
        return f(n - 1, values[1], values[0] * 2, **options)

    return f(k, s, s + 1, shift=0.5)


def accumulator_from_int_to_float(s, k):
    def f(n, total=0):
        return total if n <= 0 else f(n - 1, total + s * n)

    return f(k + 1)


def result_from_int_to_float(s, k):
    def f(n):
        return 1 if n <= 0 else f(n - 1) * s

    return f(abs(k) + 1)


def recursion_that_asserts(s, k):
    def f(n):
        assert n < 100, f"too deep: {n}"
        return s if n <= 0 else f(n - 1) + 1

    return f(k)


def recursion_that_may_raise(s, k):
    def f(n):
        if n < 0:
            raise ValueError(f"negative: {n}")
        if n == 0:
            return s
        return f(n - 1) * 2

    return f(abs(k))


def recursion_caught_by_try(x, k):
    def f(i):
        if i >= len(x):
            raise IndexError("behind the end")
        return f(i + 1) + x[i] if i < 3 else x[i]

    try:
        return f(0)
    except IndexError:
        return x[0] * 0 + k


def recursive_flag(k):
    def reaches_zero(n):
        while n > 3:
            n -= 2
        return n == 0 or (n > 0 and reaches_zero(n - 1))

    return reaches_zero(k + 8), reaches_zero(k - 20)


def recursion_in_a_staged_loop(x, k):
    def f(v, n):
        return v if n <= 0 else f(v * 0.5, n - 1) + 1

    total = 0.0
    for i in range(k):
        total = total + f(x[0], i)
    return total


def loop_in_a_recursion(x, k):
    def f(a, n):
        if n <= 0:
            return a
        for i in range(n):
            a = a + i * 0.25
        return f(a * 0.5, n - 1)

    return f(x, k)


def staged_loop_over_children(s, k):
    def weight(n):
        total = s
        for child in range(n):
            total = total + weight(child) * 0.5
        return total

    return weight(abs(k) % 4)


def recursive_parity_in_loop(k):
    count = 0
    for i in range(abs(k) + 2):
        if _is_even(i):
            count += i
    return count


def recursion_under_a_branch(s, k):
    if s > 0:
        y = _power(s, abs(k) + 1)
    else:
        y = _power(-s, 2) + _factorial(abs(k))
    return y


def recursion_of_two_branches(s):
    def shrink(v, left):
        if v * v < 0.01:
            return v + left
        return shrink(v / 2, left + 0.125) if v > 0 else shrink(-v / 3, left)

    return shrink(s, 0.0)


def depth_to_tolerance(s):
    def depth(width):
        return 0.0 if width < 0.1 else 1.0 + depth(width * 0.7)

    return depth(abs(s) + 1)


def random_walk_of_a_seed(s, k):
    def walk(seed, place, n):
        if n <= 0:
            return place
        seed = (seed * 1103515245 + 12345) % 2**31
        return walk(seed, place + (seed % 3 - 1) * s, n - 1)

    return walk(abs(k) + 7, 0.0, 6 + k)


def ruler_marks(k):
    marks = np.zeros(16, dtype=np.int64)

    def mark(low, high, height):
        middle = (low + high) // 2
        if height > 0:
            marks[middle] = height
            mark(low, middle, height - 1)
            mark(middle, high, height - 1)

    mark(0, 16, abs(k) % 3 + 1)
    return marks


def flood_fill(w, s):
    level = w.mean() + s * 0
    seen = np.zeros(w.shape, dtype=bool)

    def fill(i, j):
        if i < 0 or j < 0 or i >= w.shape[0] or j >= w.shape[1]:
            return
        if seen[i, j] or w[i, j] < level:
            return
        seen[i, j] = True
        fill(i + 1, j)
        fill(i - 1, j)
        fill(i, j + 1)
        fill(i, j - 1)

    for j in range(w.shape[1]):
        fill(0, j)
    return np.where(seen, w, 0.0)


def memo_table(k, s):
    table = np.full(12, -1.0)

    def f(n):
        if n < 2:
            return s * n
        if table[n] < 0:
            table[n] = f(n - 1) * 0.5 + f(n - 2) + 1
        return table[n]

    return f(abs(k) % 8 + 3), table[2] * 0


def subsets_that_sum(x, s):
    def best(i, rest):
        if i == len(x):
            return rest
        without = best(i + 1, rest)
        with_it = best(i + 1, rest - x[i] * (1 + 0.013 * i * i))
        return without if abs(without) <= abs(with_it) else with_it

    return best(0, s + 0.3)


def recursion_by_partial(s, k):
    def f(rate, n):
        return s if n <= 0 else functools.partial(f, rate)(n - 1) * rate

    return functools.partial(f, 0.5)(k + 1)


def recursion_of_a_lambda(s, k):
    f = lambda n: s if n <= 0 else f(n - 1) * 0.5 + n
    return f(k + 1)


def returns_its_argument(x, k):
    def cleared(a, i):
        if i < k % 3:
            a[i] = 0.0
            return cleared(a, i + 1)
        return a

    y = cleared(x, 0)
    y[-1] = 9.0
    return x, y


def compositions(k):
    def count(n):
        total = 0
        while n > 0:
            total += count(n - 1) + 1
            n = n - 1
        return total

    return count(abs(k) + 1)


def mutual_updates_in_place(x, k):
    def up(a, n):
        if n > 0:
            a[0] += n
            down(a, n - 1)

    def down(a, n):
        if n > 0:
            a[1] -= n * a[0]
            up(a, n - 1)

    up(x, k)
    return x


def sorted_in_place_by_views(x, s):
    def order(a):
        n = len(a)
        if n > 1 and s < 100:
            order(a[: n // 2])
            order(a[n // 2 :])
            a[:] = np.sort(a)

    order(x)
    return x


def arrays_that_swap_places(x, y, k):
    def f(a, b, n):
        if n <= 0:
            return a - b
        a[0] += 1
        return f(b, a, n - 1)

    return f(x, y, k), x, y


def three_terms(x, k):
    def f(n):
        if n <= 0:
            return x
        a, b = f(n - 1), f(n - 2)
        return a * 0.5 + b if n % 2 == 1 else a - b

    return f(k)


def global_counted_by_recursion(k):
    global _visits
    _visits = 0
    _visit(k)
    return _visits


_visits = 0


def _visit(n):
    global _visits
    _visits += 1
    if n > 0:
        _visit(n - 1)
        _visit(n - 2)


def list_of_results(x, k):
    def f(n):
        if n <= 0:
            return [x, 0]
        a, b = f(n - 1)
        return [a * 0.5, b + 1]

    return f(k)


def row_by_row(w, s):
    def total(i):
        if i == w.shape[0]:
            return np.zeros(w.shape[1])
        row = w[i] if w[i].sum() > s else -w[i]
        return row + total(i + 1) * 0.5

    return total(0)


def recursion_over_fresh_lists(x, k):
    def f(pair):
        value, left = pair
        return value if left <= 0 else f([value * 0.5, left - 1])

    return f([x, k])


def recursion_over_fresh_dicts(x, s, k):
    def f(state):
        if state["left"] <= 0:
            return state["value"] + s
        return f({"value": state["value"] * s, "left": state["left"] - 1})

    return f({"value": x, "left": k})


@dataclass(frozen=True)
class _Step:
    value: object
    left: object

    def next(self):
        return _Step(self.value * 0.5 + 1, self.left - 1)


def recursion_over_a_dataclass(x, k):
    def f(step):
        return step.value if step.left <= 0 else f(step.next())

    return f(_Step(x, k))


def one_list_for_all_calls(x, k):
    box = [x, 0]

    def f(b, n):
        if n > 0:
            b[0] = b[0] * 0.5
            b[1] += 1
            f(b, n - 1)

    f(box, k)
    return box
