"""Fits the polynomials of graphify/engines/native/maths, and prints them as tuples.

    python -m tests.engines.native.fit            # all of them; needs mpmath
    python -m tests.engines.native.fit EXP SIN    # those whose name starts so

Each is the minimax polynomial (Remez's exchange) of a function that is smooth after its leading
terms were taken out, weighted so that the error is relative to the value finally computed.
A development script: the library holds the numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf

mp.prec = 240
Real = Any  # mpf

SERIES = mpf(2) ** -20  # below this argument closed forms cancel, and three Taylor terms do


@dataclass(frozen=True)
class Fit:
    """A polynomial in x on [low, high]; error = (polynomial - target) * weight."""

    name: str
    target: Callable[[Real], Real]
    weight: Callable[[Real], Real]
    low: float
    high: float
    degrees: tuple[int | None, int | None]  # float32, float64


def remez(fit: Fit, degree: int) -> tuple[list[Real], Real]:
    """Coefficients from the constant term up, and the largest weighted error."""
    low, high = mpf(fit.low), mpf(fit.high)
    count = degree + 2
    angles = [mp.pi * k / (count - 1) for k in range(count)]
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(a) for a in angles]
    size = 40 * count
    angles = [mp.pi * k / size for k in range(size + 1)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(a) for a in angles]
    table = [(x, fit.target(x), fit.weight(x)) for x in grid]
    coefficients: list[Real] = []
    for _ in range(12):
        matrix, right = mp.matrix(count, count), mp.matrix(count, 1)
        for i, x in enumerate(points):
            for k in range(degree + 1):
                matrix[i, k] = x**k
            matrix[i, count - 1] = (-1) ** i / max(abs(fit.weight(x)), mpf(10) ** -30)
            right[i] = fit.target(x)
        solved = mp.lu_solve(matrix, right)
        coefficients = [solved[k] for k in range(degree + 1)]
        errors = [(x, (mp.polyval(coefficients[::-1], x) - t) * w) for x, t, w in table]
        fresh = _extremes(errors, count)
        if fresh is None or max(abs(a - b) for a, b in zip(fresh, points, strict=True)) < 1e-12:
            break
        points = fresh
    return coefficients, max(abs(e) for _, e in errors)


def _extremes(errors: list[tuple[Real, Real]], count: int) -> list[Real] | None:
    """The largest error of each run of one sign; None when the signs do not alternate enough."""
    runs: list[tuple[Real, Real]] = []
    for x, e in errors:
        if runs and (e >= 0) == (runs[-1][1] >= 0):
            if abs(e) > abs(runs[-1][1]):
                runs[-1] = (x, e)
        else:
            runs.append((x, e))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return [x for x, _ in runs] if len(runs) == count else None


def rounded(coefficients: list[Real], single: bool) -> list[str]:
    """As the library writes them, from the highest power down."""
    kind = np.float32 if single else np.float64
    return [str(kind(mp.nstr(c, 40))) for c in reversed(coefficients)]


def series(f: Callable[[Real], Real], *taylor: Any) -> Callable[[Real], Real]:
    """`f`, and near zero the first terms of its Taylor series."""

    def g(x: Real) -> Real:
        return mp.polyval([mpf(t) for t in reversed(taylor)], x) if abs(x) < SERIES else f(x)

    return g


def _root(f: Callable[[Real], Real]) -> Callable[[Real], Real]:
    """A function of x as one of z = x * x."""
    return lambda z: f(mp.sqrt(z))


THIRD = mpf(1) / 3
LN2 = mp.log(2)
HALF_LN2 = float(LN2) / 2 * 1.001
QUARTER_PI = float(mp.pi) / 4 * 1.01

ROOT = 2 / mp.sqrt(mp.pi)


def _scaled_erfc(x: Real) -> Real:
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


FITS = [
    # exp(r) = 1 + r + r^2 EXP(r)
    Fit(
        "EXP",
        series(lambda r: (mp.exp(r) - 1 - r) / r**2, 0.5, mpf(1) / 6, mpf(1) / 24, mpf(1) / 120),
        lambda r: r**2 + mpf(10) ** -6,
        -HALF_LN2,
        HALF_LN2,
        (4, 9),
    ),
    # exp(r) = 1 + r + r^2 EXPM1(r), for results relative to exp(r) - 1
    Fit(
        "EXPM1",
        series(lambda r: (mp.exp(r) - 1 - r) / r**2, 0.5, mpf(1) / 6, mpf(1) / 24, mpf(1) / 120),
        lambda r: abs(r) + mpf(10) ** -6,
        -HALF_LN2,
        HALF_LN2,
        (5, 10),
    ),
    # 2^r = 1 + r EXP2(r)
    Fit(
        "EXP2",
        series(lambda r: (2**r - 1) / r, LN2, LN2**2 / 2, LN2**3 / 6, LN2**4 / 24),
        lambda r: abs(r) + mpf(10) ** -6,
        -0.5,
        0.5,
        (5, 10),
    ),
    # 2^r = 1 + r EXP2_SHORT(r), for float arithmetic done in double
    Fit(
        "EXP2_SHORT",
        series(lambda r: (2**r - 1) / r, LN2, LN2**2 / 2, LN2**3 / 6, LN2**4 / 24),
        lambda r: abs(r) + mpf(10) ** -6,
        -0.5,
        0.5,
        (None, 5),
    ),
    # log(1 + f) = f - f^2 / 2 + f^3 LOG(f)
    Fit(
        "LOG",
        series(
            lambda f: (mp.log(1 + f) - f + f**2 / 2) / f**3,
            THIRD,
            -mpf(1) / 4,
            mpf(1) / 5,
            -mpf(1) / 6,
        ),
        lambda f: f**2 + mpf(10) ** -9,
        -0.2929,
        0.4143,
        (7, None),
    ),
    # log((1 + s) / (1 - s)) = 2 s + s z ATANH(z), z = s^2
    Fit(
        "ATANH",
        series(
            _root(lambda s: (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3),
            2 * THIRD,
            mpf(2) / 5,
            mpf(2) / 7,
            mpf(2) / 9,
        ),
        lambda z: z + mpf(10) ** -9,
        0,
        0.02945,
        (3, 6),
    ),
    # The same for float arithmetic done in double.
    Fit(
        "ATANH_SHORT",
        series(
            _root(lambda s: (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3),
            2 * THIRD,
            mpf(2) / 5,
            mpf(2) / 7,
            mpf(2) / 9,
        ),
        lambda z: z + mpf(10) ** -9,
        0,
        0.02945,
        (None, 3),
    ),
    # log((1 + s) / (1 - s)) = 2 s + 2/3 s z + s z^2 ATANH_TAIL(z), z = s^2
    Fit(
        "ATANH_TAIL",
        series(
            _root(lambda s: (mp.log((1 + s) / (1 - s)) - 2 * s - 2 * THIRD * s**3) / s**5),
            mpf(2) / 5,
            mpf(2) / 7,
            mpf(2) / 9,
            mpf(2) / 11,
        ),
        lambda z: z**2 + mpf(10) ** -12,
        0,
        0.02945,
        (None, 6),
    ),
    # sin(r) = r + r z SIN(z), z = r^2
    Fit(
        "SIN",
        series(
            _root(lambda r: (mp.sin(r) - r) / r**3),
            -mpf(1) / 6,
            mpf(1) / 120,
            -mpf(1) / 5040,
            mpf(1) / 362880,
        ),
        lambda z: z + mpf(10) ** -9,
        0,
        QUARTER_PI**2,
        (2, 5),
    ),
    # cos(r) = 1 - z / 2 + z^2 COS(z)
    Fit(
        "COS",
        series(
            _root(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4),
            mpf(1) / 24,
            -mpf(1) / 720,
            mpf(1) / 40320,
            -mpf(1) / 3628800,
        ),
        lambda z: z**2 + mpf(10) ** -9,
        0,
        QUARTER_PI**2,
        (2, 5),
    ),
    # tanh(x) = x + x z TANH(z), z = x^2
    Fit(
        "TANH",
        series(
            _root(lambda x: (mp.tanh(x) - x) / x**3),
            -THIRD,
            mpf(2) / 15,
            -mpf(17) / 315,
            mpf(62) / 2835,
        ),
        lambda z: z / mp.tanh(mp.sqrt(z) + mpf(10) ** -9) * mp.sqrt(z) + mpf(10) ** -9,
        0,
        1,
        (6, 14),
    ),
    # sinh(x) = x + x z SINH(z), z = x^2
    Fit(
        "SINH",
        series(
            _root(lambda x: (mp.sinh(x) - x) / x**3),
            mpf(1) / 6,
            mpf(1) / 120,
            mpf(1) / 5040,
            mpf(1) / 362880,
        ),
        lambda z: z + mpf(10) ** -9,
        0,
        1,
        (3, 6),
    ),
    # arcsin(x) = x + x z ARCSIN(z), z = x^2
    Fit(
        "ARCSIN",
        series(
            _root(lambda x: (mp.asin(x) - x) / x**3),
            mpf(1) / 6,
            mpf(3) / 40,
            mpf(15) / 336,
            mpf(105) / 3456,
        ),
        lambda z: z + mpf(10) ** -9,
        0,
        0.25,
        (4, 11),
    ),
    # arctan(x) = x + x z ARCTAN(z), z = x^2
    Fit(
        "ARCTAN",
        series(
            _root(lambda x: (mp.atan(x) - x) / x**3), -THIRD, mpf(1) / 5, -mpf(1) / 7, mpf(1) / 9
        ),
        lambda z: z + mpf(10) ** -9,
        0,
        1,
        (8, 20),
    ),
    # m^(-1/3) = CBRT(m), to start Newton's iteration
    Fit(
        "CBRT",
        lambda m: m ** (-THIRD),
        lambda m: m**THIRD,
        0.7071,
        1.4143,
        (5, 7),
    ),
    # erf(x) = x (2 / sqrt(pi) + z ERF(z)), z = x^2
    Fit(
        "ERF",
        series(
            _root(lambda x: (mp.erf(x) / x - ROOT) / x**2),
            -ROOT / 3,
            ROOT / 10,
            -ROOT / 42,
            ROOT / 216,
        ),
        lambda z: z,
        0,
        1,
        (5, 11),
    ),
    # erfc(x) = exp(-x^2) ERFC(t) / (1 + 2 x), t = (x - 3.75) / (x + 3.75), from 0.5 to 28
    # (M. Shepherd and J. Laframboise, Chebyshev approximation of (1 + 2 x) exp(x^2) erfc x, 1981)
    Fit(
        "ERFC",
        lambda t: _scaled_erfc(3.75 * (1 + t) / (1 - t)),
        lambda t: 1,
        -0.766,
        0.764,
        (None, 20),
    ),
    # the same from 1 to 6, where erf(x) = 1 - erfc(x); the error is relative to erf
    Fit(
        "ERFC_NEAR",
        lambda t: _scaled_erfc(3.75 * (1 + t) / (1 - t)),
        lambda t: mp.erfc(3.75 * (1 + t) / (1 - t)),
        -0.58,
        0.231,
        (5, 11),
    ),
]


# Constants as sums of parts: (what, bits of each part but the last) for float32 and for float64.
# Short parts make products with small integers exact.
SPLITS = {
    "LN2_LONG": (LN2, 24, 53),
    "TWO_THIRDS": (2 * THIRD, 24, 53),
    "LN2": (LN2, 16, 32),
    "LOG10_2": (mp.log10(2), 16, 32),
    "LOG2_E": (1 / LN2, 24, 53),
    "LOG10_E": (1 / mp.log(10), 24, 53),
    "TWO_OVER_ROOT_PI": (2 / mp.sqrt(mp.pi), 24, 53),
    "HALF_PI": (mp.pi / 2, 24, 53),
}


def part(x: Real, bits: int) -> Real:
    """The first bits of a number, rounded."""
    scale = mpf(2) ** (bits - 1 - int(mp.floor(mp.log(abs(x), 2))))
    return mp.nint(x * scale) / scale


def parts_of(x: Real, bits: int, precision: int) -> list[Real]:
    first = part(x, bits)
    if bits < precision and first > x:  # so that an infinite integer gives no inf - inf
        first -= part(x, 1) * mpf(2) ** (1 - bits)
    second = part(x - first, precision)
    return [first, second, part(x - first - second, precision)]


HEAD = '''"""Coefficients of the polynomials, from the highest power down, and constants in parts.

Written by tests/engines/native/fit.py, which says what each is for. Every polynomial has its
interval, degree and largest error beside it; the error is relative to the function's value.
"""

from __future__ import annotations

Coefficients = dict[str, tuple[float, ...]]  # by scalar type

# fmt: off
'''


def row(numbers: list[Real], single: bool) -> str:
    texts = rounded(numbers[::-1], single)
    lines = ["    " + ", ".join(texts[i : i + 3]) + "," for i in range(0, len(texts), 3)]
    return "\n".join(["(", *("    " + line for line in lines), "    ),"])


def report(fit: Fit) -> None:
    print(f"\n# on [{fit.low:.6g}, {fit.high:.6g}]\n{fit.name}: Coefficients = {{")
    for single, degree in zip((True, False), fit.degrees, strict=True):
        if degree is None:
            continue
        coefficients, error = remez(fit, degree)
        bits = f"2^{float(mp.log(error, 2)):.1f}"
        key = "float" if single else "double"
        print(f"    # degree {degree}, error {bits}")
        print(f'    "{key}": ' + row(coefficients[::-1], single))
    print("}")


def main(wanted: tuple[str, ...]) -> None:
    if not wanted:
        print(HEAD)
        for name, (value, *bits) in SPLITS.items():
            print(f"{name}: Coefficients = {{")
            for key, b, p in (("float", bits[0], 24), ("double", bits[1], 53)):
                print(f'    "{key}": ' + row(parts_of(value, b, p), key == "float"))
            print("}")
    for one in FITS:
        if not wanted or one.name.startswith(wanted):
            report(one)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
