"""Numbers of operations and bytes, as polynomials in sizes that only the run knows.

n = Amount.of("n")
print(4 * n * n + n)               # 4*n**2 + n
k = object()
(n - Amount.of(k)).summed(k, n)    # for k in range(n): n**2/2 + n/2
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

Monomial = tuple[tuple[Hashable, int], ...]  # (symbol, power), the symbols by their names

SHOWN = 3  # terms of a polynomial that its text shows
NOMINAL = 1000  # the value of a symbol where two amounts must be compared and nothing is known


@dataclass(frozen=True, slots=True)
class Amount:
    """A polynomial. Its symbols are anything hashable; a text or a `name` says how to call them."""

    terms: Mapping[Monomial, Fraction]

    @staticmethod
    def of(thing: Hashable) -> Amount:
        """A number, or a symbol to the power of one."""
        if isinstance(thing, (int, Fraction)):
            return Amount({(): Fraction(thing)} if thing else {})
        return Amount({((thing, 1),): Fraction(1)})

    def __add__(self, other: Amount | int | Fraction) -> Amount:
        total = dict(self.terms)
        for monomial, coefficient in _amount(other).terms.items():
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient
        return Amount({m: c for m, c in total.items() if c})

    __radd__ = __add__

    def __sub__(self, other: Amount | int) -> Amount:
        return self + _amount(other) * -1

    def __mul__(self, other: Amount | int | Fraction) -> Amount:
        total = Amount({})
        for a, x in self.terms.items():
            for b, y in _amount(other).terms.items():
                total = total + Amount({_times(a, b): x * y})
        return total

    __rmul__ = __mul__

    @property
    def number(self) -> Fraction | None:
        """The value, if there are no symbols in it."""
        return self.terms.get((), Fraction(0)) if all(not m for m in self.terms) else None

    @property
    def symbols(self) -> set[Hashable]:
        return {symbol for monomial in self.terms for symbol, _ in monomial}

    def value(self, known: Callable[[Hashable], float | None]) -> float | None:
        """The number for values of the symbols; None if one of them is unknown."""
        total = 0.0
        for monomial, coefficient in self.terms.items():
            product = float(coefficient)
            for symbol, power in monomial:
                base = known(symbol)
                if base is None:
                    return None
                product *= base**power
            total += product
        return total

    @property
    def nominal(self) -> float:
        """The number for sizes of a thousand."""
        return self.value(lambda _: NOMINAL) or 0.0

    def summed(self, symbol: Hashable, count: Amount) -> Amount:
        """The sum over symbol = 0, 1, ..., count - 1."""
        total = Amount({})
        for monomial, coefficient in self.terms.items():
            power = dict(monomial).get(symbol, 0)
            rest = tuple(pair for pair in monomial if pair[0] != symbol)
            total = total + Amount({rest: coefficient}) * _power_sum(power, count)
        return total

    def __str__(self) -> str:
        ordered = sorted(self.terms.items(), key=lambda t: (-_degree(t[0]), _name_key(t[0])))
        parts = [_term(monomial, coefficient) for monomial, coefficient in ordered]
        if not parts:
            return "0"
        text = " + ".join(parts[:SHOWN]).replace("+ -", "- ")
        return text + (" + ..." if len(parts) > SHOWN else "")


def smaller(a: Amount, b: Amount) -> Amount:
    """The one that is smaller where sizes are large."""
    return a if a.nominal <= b.nominal else b


def larger(a: Amount, b: Amount) -> Amount:
    return b if a.nominal <= b.nominal else a


def short(number: float, unit: str = "") -> str:
    """A number in three digits and a prefix: 1.05 M."""
    if not number:
        return f"0 {unit}".rstrip()
    exponent = min(4, max(-3, math.floor(math.log10(abs(number)) / 3)))
    digits = f"{number / 1000.0**exponent:.3g}"
    return f"{digits} {'num kMGT'[exponent + 3].strip()}{unit}".rstrip()


def _amount(thing: Amount | int | Fraction) -> Amount:
    return thing if isinstance(thing, Amount) else Amount.of(thing)


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for symbol, power in b:
        powers[symbol] = powers.get(symbol, 0) + power
    return tuple(sorted(powers.items(), key=lambda pair: (name(pair[0]), id(pair[0]))))


def _power_sum(power: int, count: Amount) -> Amount:
    """1**p + ... + (count-1)**p, from sum(C(p+1, j) S_j for j <= p) = count**(p+1)."""
    return _power_sums(power, count)[power]


def _power_sums(most: int, count: Amount) -> list[Amount]:
    sums: list[Amount] = []
    for power in range(most + 1):
        total = functools.reduce(lambda x, _: x * count, range(power), count)
        for j, known in enumerate(sums):
            total = total - known * math.comb(power + 1, j)
        sums.append(total * Fraction(1, power + 1))
    return sums


def name(symbol: Hashable) -> str:
    """What a symbol is called."""
    return str(getattr(symbol, "name", symbol))


def _degree(monomial: Monomial) -> int:
    return sum(power for _, power in monomial)


def _name_key(monomial: Monomial) -> str:
    return "*".join(name(symbol) for symbol, _ in monomial)


def _term(monomial: Monomial, coefficient: Fraction) -> str:
    powers = [name(s) + (f"**{p}" if p > 1 else "") for s, p in monomial]
    above, below = coefficient.numerator, coefficient.denominator
    if not powers:
        return f"{above}/{below}" if below > 1 else str(above)
    head = {1: "", -1: "-"}.get(above, f"{above}*")
    return head + "*".join(powers) + (f"/{below}" if below > 1 else "")
