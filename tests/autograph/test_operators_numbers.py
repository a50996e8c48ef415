"""Python numbers that are traced keep the meaning of Python's numbers: exact, weak, or an error.

Each function takes numbers; after three distinct values they are traced as weak scalars, and the
answers and exception classes must stay Python's.
"""

import numpy as np
import pytest

import graphify
from tests.api.agree import same


def traced(function, sample):
    """`function` as a graph whose numbers are traced: generalised by three other values first."""
    staged = graphify.function(function, dynamic=None)
    for k in (0, 1, 2):
        try:
            staged(*(type(v)(k + 3 + i) for i, v in enumerate(sample)))
        except (ArithmeticError, ValueError):
            pass
    return staged


INTEGERS = [(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 3), (2**31, 5), (1, 62), (-1, 63), (5, 0)]
ARITHMETIC = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a // b,
    lambda a, b: a % b,
    lambda a, b: divmod(a, b),
    lambda a, b: a & b | a ^ b,
    lambda a, b: (-a, +a, abs(a)),
    lambda a, b: (a < b, a <= b, a == b, a != b, a > b, a >= b),
    lambda a, b: a < b < 100,
    lambda a, b: a and b,
    lambda a, b: a or b,
    lambda a, b: not a,
    lambda a, b: (a > b) + (a < 100),
    lambda a, b: (a > b) * 3 - True,
    lambda a, b: -(a > b),
    lambda a, b: True + a,
    lambda a, b: (a > b) & (a < 100),
    lambda a, b: a if a > b else b,
    lambda a, b: min(a, b) + max(a, b),
    lambda a, b: int(a) + float(b),
    lambda a, b: round(a / 2 if b else a),
    lambda a, b: bool(a),
    lambda a, b: a in (b, 7),
    lambda a, b: sum([a, b]),
    lambda a, b: a**2 + b**2,
    lambda a, b: 2.5 * a + b,
]


@pytest.mark.parametrize("pair", INTEGERS, ids=str)
@pytest.mark.parametrize("position", range(len(ARITHMETIC)))
def test_integers(position, pair):
    check(ARITHMETIC[position], pair)


def check(function, pair):
    staged = traced(function, pair)
    try:
        want = function(*pair)
    except Exception as error:
        with pytest.raises(type(error)):
            staged(*pair)
        return
    same(staged(*pair), want)


def test_numbers_too_large_to_be_traced_stay_static():
    staged = traced(lambda a, b: a + b + 2**63, (1, 1))
    same(staged(1, 1), 2**63 + 2)


FLOATS = [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (0.0, 3.5), (1e18, 2.0), (2.0, 0.5), (5.0, 0.0)]


@pytest.mark.parametrize("pair", FLOATS, ids=str)
@pytest.mark.parametrize("position", [i for i in range(len(ARITHMETIC)) if i not in (7,)])
def test_floats(position, pair):
    check(ARITHMETIC[position], pair)


@pytest.mark.parametrize(
    "function, pair",
    [
        (lambda a, b: a + b, (2**62, 2**62)),
        (lambda a, b: a - b, (-(2**62), 2**63 - 1)),
        (lambda a, b: a * b, (2**32, 2**32)),
        (lambda a, b: a**b, (3, 50)),
        (lambda a, b: a**b, (3, 10**9)),
        (lambda a, b: a << b, (1, 63)),
        (lambda a, b: a << b, (1, 10**12)),
        (lambda a, b: -a * b, (-(2**63), 1)),
        (lambda a, b: abs(a) + b, (-(2**63), 1)),
        (lambda a, b: a // b, (-(2**63), -1)),
    ],
)
def test_what_does_not_fit_into_64_bits_is_an_error(function, pair):
    with pytest.raises(OverflowError, match="64") as caught:
        traced(function, pair)(*pair)
    assert "test_operators_numbers.py" in str(caught.value)


def test_the_error_names_the_line():
    def f(a):
        b = a * a
        return b * a

    staged = traced(f, (2,))
    with pytest.raises(OverflowError) as caught:
        staged(2**31)
    assert "return b * a" in str(caught.value)


@pytest.mark.parametrize("function", [lambda a, b: a**b, lambda a, b: a >> b, lambda a, b: a << b])
def test_negative_exponents_and_shifts(function):
    with pytest.raises(ValueError, match="[Nn]egative|negative"):
        traced(function, (2, 3))(2, -1)


def test_a_known_negative_exponent_gives_a_float():
    staged = traced(lambda a: a**-2, (2,))
    same(staged(5), 5**-2)
    with pytest.raises(ZeroDivisionError):
        staged(0)


@pytest.mark.parametrize("pair", [(-8.0, 1 / 3), (0.0, -1.0), (10.0, 400.0)])
def test_float_powers_that_leave_the_floats(pair):
    with pytest.raises((ValueError, ZeroDivisionError, OverflowError)):
        traced(lambda a, b: a**b, pair)(*pair)


@pytest.mark.parametrize(
    "dtype", ["u1", "i1", "i2", "u2", "i4", "u4", "u8", "i8", "f4", "f8", "c8", "?"]
)
@pytest.mark.parametrize("number", [3, -1, 200, 40_000, 2**31, 2**40, 2.5])
@pytest.mark.parametrize(
    "function", [lambda x, k: x + k, lambda x, k: k * x, lambda x, k: x < k, lambda x, k: x == k]
)
def test_numbers_beside_arrays(dtype, number, function):
    staged = graphify.function(function)
    x = np.array([1, 0, 1]).astype(dtype)
    for k in (4, 5, 6):
        staged(x, type(number)(k))
    try:
        want = function(x, number)
    except OverflowError:
        with pytest.raises(OverflowError):
            staged(x, number)
        return
    same(staged(x, number), want)
    assert len(staged.concrete_functions) == 3


def test_loop_counters_do_not_widen_arrays():
    @graphify.function
    def f(x, n):
        total = x * 0
        k = 1
        scale = 0.5
        for i in range(n):
            total = total + x * i
            k = k * 2
            scale = scale / 2
        return total * k, total * scale, k

    for dtype in (np.float32, np.int16, np.float64):
        for n in (3, 12, 20, 21, 13):
            if dtype == np.int16 and n > 13:
                continue
            x = np.ones(2, dtype)
            same(f(x, n), f.python_function(x, n))


def test_numpy_functions_of_python_numbers_are_strong():
    def f(x, k):
        return x * np.multiply(k, 2.0), x + np.float64(k), x * np.sqrt(k)

    staged = graphify.function(f)
    x = np.ones(2, np.float32)
    for k in (2, 3, 4, 5):
        same(staged(x, k), f(x, k))


def test_shapes_are_python_ints():
    def f(x):
        n, m = x.shape
        return x / n, n * m, n // 2, -n % 3, n == m, x.size, len(x), x.ndim, n**2, divmod(m, n)

    staged = graphify.function(f)
    for shape in [(2, 3), (4, 5), (6, 6), (1, 8)]:
        x = np.ones(shape, np.float32)
        same(staged(x), f(x))
    with pytest.raises(ZeroDivisionError):
        staged(np.ones((0, 3), np.float32))
