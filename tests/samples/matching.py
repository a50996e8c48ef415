"""match statements: every kind of pattern, on subjects that are staged or hold what is staged."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

NO_GRADIENT = {
    "match_value": "integers",
    "match_in_loop_with_continue": "integers",
}


class Shape(Enum):
    SQUARE = 1
    DISC = 2


class Order:
    FIRST = 0
    SECOND = 1


@dataclass
class Disc:
    radius: Any
    x: Any = 0.0


@dataclass
class Box:
    width: Any
    height: Any


class Pair(NamedTuple):
    a: Any
    b: Any


class Polar:
    __match_args__ = ("r", "phi")

    def __init__(self, r, phi):
        self.r, self.phi = r, phi

    @property
    def real(self):
        return self.r * np.cos(self.phi)


def match_value(k):
    match k:
        case 0:
            return 10
        case 1 | 2:
            return 20
        case -1:
            return 30
        case _:
            return k + 100


def match_binds_the_subject(k, s):
    match k % 3:
        case 0:
            y = s
        case other:
            y = s * other
    return y


def match_guard(k, s):
    match k:
        case n if n > 2:
            return s * n
        case n if n < 0:
            return s - n
        case 0:
            return s
    return s / 2


def match_guard_on_array(x):
    match x:
        case v if v.sum() > 0:
            y = v * 2
        case v:
            y = -v
    return y


def match_dotted_name(k, x):
    match k:
        case Order.FIRST:
            y = x
        case Order.SECOND:
            y = x * x
        case _:
            y = np.sin(x)
    return y


def match_static_enum(x):
    total = 0.0
    for shape in (Shape.SQUARE, Shape.DISC, None):
        match shape:
            case Shape.SQUARE:
                total = total + (x * x).sum()
            case Shape.DISC:
                total = total + np.pi * (x**2).sum()
            case None:
                total = total + 1
    return total


def match_or_of_values_in_loop(x, xi):
    total = 0.0
    for i in range(len(x)):
        match xi[i] % 5:
            case 0 | 1:
                total += x[i]
            case 2 | 3:
                total -= x[i]
            case _:
                total *= 0.5
    return total


def match_in_loop_with_break(x, s):
    total = 0.0
    for v in x:
        match bool(v > s):
            case True:
                break
            case _:
                total += v
    return total * s


def match_in_loop_with_continue(xi):
    odd = 0
    for v in xi:
        match v % 2:
            case 0:
                continue
        odd += v
    return odd


def match_in_loop_with_return(x, s):
    for i, v in enumerate(x):
        match i, v:
            case 0, _:
                pass
            case _, first if first > s:
                return first * s
    return s


def match_in_while(k, s):
    n = abs(k) + 7
    value = s
    while n != 1:
        match n % 2:
            case 0:
                n = n // 2
                value = value * 1.01
            case 1:
                n = 3 * n + 1
                value = value + 0.1
    return value


def match_sequence(s, k):
    match (k, s):
        case (0, v):
            return v * 2
        case (1, v) | (2, v):
            return v * 3
        case (n, v):
            return v + n


def match_sequence_with_star(x, s):
    match [s, x, x * 2, 3.0]:
        case [first, *rest, last]:
            y = first + rest[0] + rest[1] * last
        case _:
            y = x
    return y


def match_lengths(x):
    total = x.sum()
    for parts in ([], [x], (x, 2.0), [x, 1, 2, 3], "ab"):
        match parts:
            case []:
                total = total + 1
            case [one]:
                total = total + one[0]
            case [one, two]:
                total = total + (one * two).max()
            case [one, *others]:
                total = total + one[0] * len(others)
            case _:
                total = total * 2
    return total


def match_nested(x, s):
    match (("scale", s), [x, {"by": 2.0}]):
        case (("shift", amount), [values, _]):
            y = values + amount
        case (("scale", amount), [values, {"by": factor}]):
            y = values * amount * factor
    return y


def match_mapping(x, s):
    options = {"kind": "power", "by": s, "extra": 3.0}
    match options:
        case {"kind": "shift", "by": by}:
            y = x + by
        case {"kind": "power", "by": by, **rest}:
            y = by * x + rest["extra"] + len(rest)
    return y


def match_mapping_of_staged(s, k):
    match {"mode": k, "value": s}:
        case {"mode": 0, "value": v}:
            return v
        case {"mode": 1 | 2, "value": v, "bias": b}:
            return v + b
        case {"mode": m, "value": v}:
            return v * m


def _area(shape):
    match shape:
        case Disc(radius=r):
            return np.pi * r**2
        case Box(width, height) if width == height:
            return width**2
        case Box(width, height):
            return width * height
        case Pair(a, b) | [a, b]:
            return a * b / 2
        case float() | int() as side:
            return side * side
        case _:
            raise TypeError("no shape")


def match_class(s, x):
    shapes = [Disc(s), Box(s, 2.0), Box(x[0], x[0]), Pair(s, x[1]), [x[0], x[2]], s * 1.5, 3]
    total = 0.0
    for shape in shapes:
        total = total + _area(shape)
    return total


def match_class_by_match_args(s):
    match Polar(s, 0.5):
        case Polar(r, phi) if r > 1:
            return r * phi
        case Polar(r, real=re):
            return r - re


def match_class_with_staged_parts(s, k):
    match Box(k, s):
        case Box(0, v):
            return v
        case Box(1, height=v):
            return -v
        case Box(width=w, height=v):
            return w * v


def match_builtin_classes(x, k, s):
    total = 0.0
    for item in (1, 2.5, "three", (4.0,), {"five": 5.0}, x, None, True):
        match item:
            case bool():
                total = total + 100
            case int(n):
                total = total + n * s
            case float(f):
                total = total - f
            case str():
                total = total * 2
            case tuple((only,)):
                total = total + only
            case dict():
                total = total + len(item)
            case np.ndarray():
                total = total + item.sum()
            case None:
                total = total + 0.5
    return total


def match_as_pattern(s, x):
    match (s, (x, 2.0)):
        case (a, (b, _) as whole) if len(whole) == 2:
            y = a * b * whole[1]
        case _:
            y = x
    return y


def match_or_binds_by_alternative(k, s, x):
    match (k, s, x[0]):
        case (0, v, _) | (_, _, v):
            return v * 2


def match_captures_in_one_case_only(k, x):
    y = x.sum()
    match k:
        case 0:
            pass
        case n:
            y = y + n
    return y


def match_without_a_case_that_applies(k, x):
    y = x
    match k:
        case 100:
            y = x * 2
        case 200 if x.sum() > 0:
            y = x * 3
    return y


def match_bound_after_a_failed_guard(s, k):
    n = 0
    match k:
        case n if n > 10:
            return s
    return s * n


def match_rebinds_its_subject(s, k):
    match k:
        case k if k > 2:
            k = k * 10
        case k:
            k = k - 1
    return s * k


def match_nested_statements(k, s, x):
    match k:
        case 0 | 1 | 2:
            match bool(s > 0):
                case True:
                    y = x + k
                case False:
                    y = x - k
        case _ if s > 1:
            y = x * s
        case _:
            y = -x
    return y


def match_of_walrus_subject(s, k):
    match n := k * 2:
        case 4 | 6:
            return s + n
        case _:
            return s - n


def match_state_machine(xi, s):
    state, weight = 0, s
    for symbol in xi:
        match (state, bool(symbol > 3)):
            case (0, True):
                state = 1
            case (1, True):
                state = 2
                weight = weight * 1.1
            case (2, _):
                state = 0
                weight = weight + 1.0
            case _:
                state = 0
    return weight + state


def match_updates_in_place(x, xi):
    out = np.zeros(3)
    for i in range(len(x)):
        match xi[i] % 3:
            case 0:
                out[0] += x[i]
            case 1:
                out[1:] += x[i]
            case _:
                out *= 0.9
    return out


def match_in_callee(x, k):
    return _chosen(k, x) + _chosen(k + 1, x)


def _chosen(mode, x):
    match mode:
        case 0:
            return x
        case 1:
            return np.tanh(x)
        case m if m < 0:
            return x * m
    return x * 0.5


def match_none_or_value(x, s):
    best = None
    for v in x:
        if v > s and (best is None or v < best):
            best = v
    match best:
        case None:
            return s
        case v if v > 1:
            return v * 2
        case v:
            return v


def match_list_that_grew(x):
    positive = []
    for v in x:
        if v > 0:
            positive.append(v)
    match positive:
        case []:
            return 0.0
        case [only]:
            return only
        case [first, second]:
            return first * second
        case _:
            return sum(positive)


def match_instructions(x):
    program = [("add", 1.0), ("mul", x), ("neg",), ("jump", 1, 2), "add"]
    values = x
    for instruction in program:
        match instruction:
            case ("add", amount):
                values = values + amount
            case ("mul", factor):
                values = values * factor
            case ("neg",):
                values = -values
            case [_, *arguments]:
                values = values / len(arguments)
            case str(name):
                values = values + len(name)
    return values


def match_shape(x, w):
    total = 0.0
    for array in (x, w):
        match array.shape:
            case (n,):
                total = total + array.sum() / n
            case (n, m) if n > m:
                total = total + array[:, 0].sum()
            case (_, _):
                total = total - array[0].sum()
    return total
