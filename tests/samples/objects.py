"""Objects of the user's own classes under Python's operators and built-ins."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

NO_GRADIENT = dict.fromkeys(("powers_modulo_a_prime", "ordered_dataclasses"), "integers")


class Dual:
    """A value and its derivative."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.slope)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        if isinstance(other, (int, float, np.floating)):
            return Dual(self.value * other, self.slope * other)
        if not isinstance(other, Dual):
            return NotImplemented
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if other.value == 0:
            raise ZeroDivisionError("the slope is infinite here")
        value = self.value / other.value
        return Dual(value, (self.slope - value * other.slope) / other.value)

    def __abs__(self):
        return -self if self.value < 0 else self

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Dual) else other)

    def __bool__(self):
        return bool(self.value != 0)

    def __float__(self):
        return float(self.value)

    def __str__(self):
        return f"{self.value:.3f} + {self.slope:.3f} e"


class Interval:
    """The numbers from one to another."""

    def __init__(self, low, high):
        if low > high:
            raise ValueError(f"no number from {low:.2f} to {high:.2f}")
        self.low, self.high = low, high

    def __add__(self, other):
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other):
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __pow__(self, power):
        if power % 2 == 0 and 0 in self:
            return Interval(0.0, max(self.low**power, self.high**power))
        ends = self.low**power, self.high**power
        return Interval(min(ends), max(ends))

    def __and__(self, other):
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low <= high else None

    def __contains__(self, value):
        return self.low <= value <= self.high


@dataclass
class Vector:
    x: Any
    y: Any

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return self + other * -1.0

    def __mul__(self, factor):
        if isinstance(factor, Vector):
            return self.x * factor.x + self.y * factor.y
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __truediv__(self, number):
        return self * (1 / number)

    def __abs__(self):
        return math.sqrt(self * self)

    def __getitem__(self, place):
        return (self.x, self.y)[place]

    def __iter__(self):
        yield self.x
        yield self.y


class Matrix:
    """A matrix that counts how often it is written to."""

    def __init__(self, array):
        self.array, self.writes = array, 0

    def __len__(self):
        return len(self.array)

    def __getitem__(self, key):
        return self.array[key]

    def __setitem__(self, key, value):
        self.writes += 1
        self.array[key] = value

    def __matmul__(self, other):
        return Matrix(self.array @ other.array)

    def __iadd__(self, other):
        self.array += other
        return self


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = list(coefficients)

    def __call__(self, at):
        total = 0.0
        for coefficient in reversed(self.coefficients):
            total = total * at + coefficient
        return total

    def __len__(self):
        return len(self.coefficients)

    def __mul__(self, other):
        product = [0.0] * (len(self) + len(other) - 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                product[i + j] += a * b
        return Polynomial(product)

    def __eq__(self, other):
        if len(self) != len(other):
            return False
        return all(a == b for a, b in zip(self.coefficients, other.coefficients))


class Residue:
    def __init__(self, value, prime=101):
        self.value, self.prime = value % prime, prime

    def __mul__(self, other):
        return Residue(self.value * int(other), self.prime)

    def __int__(self):
        return int(self.value)

    def __pow__(self, power):
        result, base = Residue(1, self.prime), self
        while power > 0:
            if power % 2 == 1:
                result = result * base
            base = base * base
            power //= 2
        return result

    def __invert__(self):
        return self ** (self.prime - 2)


@functools.total_ordering
class Version:
    def __init__(self, major, minor):
        self.major, self.minor = major, minor

    def __eq__(self, other):
        return (self.major, self.minor) == (other.major, other.minor)

    def __lt__(self, other):
        return (self.major, self.minor) < (other.major, other.minor)


@dataclass(order=True)
class Cost:
    steps: Any
    height: Any = 0


def derivative_by_dual_numbers(x, s):
    t = Dual(s, 1.0)
    total = sum([t * v for v in x[:3]], Dual(0.0))
    return abs(total * t - 2.0 * t).slope, (total / (t * t + 1.0)).slope


def newton_with_dual_numbers(s):
    at = Dual(abs(s) + 1.0, 1.0)
    for _ in range(20):
        step = (at * at - 2.0) / Dual(at.value * 2.0)
        if abs(step) < 1e-9:
            break
        at = Dual((at - step).value, 1.0)
    return at.value


def division_by_zero_of_an_object(x, s):
    try:
        return (Dual(s, 1.0) / Dual(x[0] - x[0], 1.0)).slope
    except ZeroDivisionError:
        return s


def truth_and_number_of_an_object(x, s):
    t = Dual(s, x[0])
    if t and not Dual(x[0] * 0):
        return float(t) + math.exp(-float(abs(t)))
    return float(t)


def least_of_objects(x):
    best = min(Dual(v, v * v) for v in x[:3])
    return best.value, max(Dual(x[0]), best).value


def object_printed(x, s):
    t = Dual(s, x[0])
    if s > 0:
        print("at", t)
    return t.value


def interval_arithmetic(x, s):
    a, b = Interval(s, s + 1.0), Interval(x[0] - 1.0, x[0])
    c = (a + b) * b
    return c.low, c.high, (b**2).low, (b**3).high


def interval_membership(x, s):
    inside = Interval(-1.0, 1.0)
    common = inside & Interval(s, s + 0.5)
    count = 0
    for v in x:
        if v in inside and v * 2 not in inside:
            count += 1
    return count, -9.0 if common is None else common.low


def empty_interval(x, s):
    try:
        return Interval(s, x[0]).low
    except ValueError:
        return Interval(x[0], s).high


def orbit_of_vectors(s):
    place, speed = Vector(1.0 + s * s, 0.0), Vector(0.0, 0.5)
    for _ in range(50):
        pull = place * (-1.0 / max(abs(place), 0.1) ** 3)
        speed = speed + pull * 0.02
        place = place + 0.02 * speed
    return tuple(place), abs(speed), place[1]


def longest_way(x, s):
    here = Vector(0.0, 0.0)
    far = 0.0
    for v in x:
        here = here + Vector(v, s) if v > 0 else here - Vector(s, v)
        far = max(far, abs(here))
    return far, here / 2.0


def matrix_written_by_items(x, s):
    m = Matrix(np.zeros((3, 3)))
    for i in range(len(m)):
        m[i, i] = s
        for j in range(i):
            m[i, j] += x[j]
    m += 1.0
    return (m @ m).array, m.writes


def product_of_polynomials(x, s):
    p = Polynomial([s, 1.0, x[0]])
    q = p * p
    return q(s), len(q), 1 if p == q else 0


def powers_modulo_a_prime(k):
    number = Residue(k * k + 2)
    return int(number**3), int(~number * number)


def total_ordering_of_versions(x, s):
    a, b = Version(np.floor(s), x[0]), Version(np.floor(x[1]), x[0])
    return a < b, a >= b, a != b, max(a, b).minor


def ordered_dataclasses(k):
    best = Cost(k, 0)
    for i in range(1, 4):
        new = Cost((k - i) ** 2, i)
        if new < best or new == Cost(0, 2):
            best = new
    return best.steps, best.height
