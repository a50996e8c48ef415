"""Symbolic sizes: axis lengths known only at run time.

A dim of a shape is an int or a `Size`: a polynomial with integer coefficients over atoms. An atom
is a `SizeVar` (bound to an axis or to a scalar of the graph) or an integer operation on sizes that
no polynomial expresses (`floordiv`, `mod`, `max`, `min`).

    >>> n = SizeVar("n")
    >>> str(size(n) * 2 + size(n) - 1)
    '3*n - 1'

Sizes are immutable and compare by structure: `==` is True when both are the same polynomial and
False otherwise. Whether two sizes may be equal at run time is asked of `decide_equal`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

_ids = itertools.count()


@dataclass(frozen=True, eq=False, slots=True)
class SizeVar:
    """A size that some value of the graph binds. Identity counts, the name is for people."""

    name: str
    id: int = field(default_factory=lambda: next(_ids))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class SizeOp:
    """An integer operation on two sizes that a polynomial cannot express."""

    name: str
    args: tuple[Dim, Dim]

    def __str__(self) -> str:
        return f"{self.name}({self.args[0]}, {self.args[1]})"


Atom: TypeAlias = SizeVar | SizeOp
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]  # ((atom, power), ...), in order of the atoms

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "max": max,
    "min": min,
    "wrap": lambda a, b: a + b if a < 0 else a,  # a negative index counts from the end
}


@dataclass(frozen=True, slots=True)
class Size:
    """A polynomial that is not a constant: ((monomial, coefficient), ...) in canonical order."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Dim) -> Dim:
        return _from_terms(itertools.chain(self.terms, _terms(other)))

    def __mul__(self, other: Dim) -> Dim:
        return _from_terms(
            (_join(m1, m2), c1 * c2) for m1, c1 in self.terms for m2, c2 in _terms(other)
        )

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: int) -> Dim:
        return (self * -1) + other

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return size_op("floordiv", self, other)

    def __mod__(self, other: Dim) -> Dim:
        return size_op("mod", self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return size_op("floordiv", other, self)

    def __rmod__(self, other: int) -> Dim:
        return size_op("mod", other, self)

    def variables(self) -> Iterator[SizeVar]:
        """Every size variable, in order, with repetitions."""
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                if isinstance(atom, SizeVar):
                    yield atom
                else:
                    yield from dim_variables(atom.args)

    def as_variable(self) -> SizeVar | None:
        """The variable, if this size is exactly one variable."""
        match self.terms:
            case (((((SizeVar() as variable), 1),), 1),):
                return variable
        return None

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in self.terms:
            factors = [f"{a}" if p == 1 else f"{a}**{p}" for a, p in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+"
            body = "*".join(factors)
            text = f"{text} {sign} {body}" if text else ("-" if sign == "-" else "") + body
        return text

    __repr__ = __str__


Dim: TypeAlias = int | Size
Shape: TypeAlias = tuple[Dim, ...]


def size(variable: SizeVar) -> Size:
    """The size that is just this variable."""
    return Size(((((variable, 1),), 1),))


def fresh(name: str = "n") -> Size:
    """A new size variable, as a size."""
    return size(SizeVar(name))


def size_op(name: str, a: Dim, b: Dim) -> Dim:
    """floordiv, mod, max or min of two sizes, simplified where the answer is known."""
    if isinstance(a, int) and isinstance(b, int):
        return _OPERATIONS[name](a, b)
    if a == b and name in ("max", "min"):
        return a
    if b == 1 and name in ("floordiv", "mod"):
        return a if name == "floordiv" else 0
    if name in ("floordiv", "mod") and isinstance(b, int) and isinstance(a, Size):
        if all(c % b == 0 for _, c in a.terms):
            return _from_terms((m, c // b) for m, c in a.terms) if name == "floordiv" else 0
    if name in ("max", "min") and (_at_most(a, b) or _at_most(b, a)):
        return (b if name == "max" else a) if _at_most(a, b) else (a if name == "max" else b)
    if name == "max" and 0 in (a, b) and not_negative(a + b):
        return a + b
    if name == "wrap" and not_negative(a):
        return a
    if name in ("max", "min"):
        for nested, bound in ((a, b), (b, a)):
            flat = _flattened(name, nested, bound)
            if flat is not None:
                return flat
    return _from_terms([(((SizeOp(name, (a, b)), 1),), 1)])


def _flattened(name: str, nested: Dim, bound: Dim) -> Dim | None:
    """max(max(x, 0) - 1, 0) as max(x - 1, 0): slices of slices have one size, however written."""
    if not isinstance(nested, Size) or not isinstance(bound, int):
        return None
    for monomial, coefficient in nested.terms:
        match monomial, coefficient:
            case ((SizeOp(name=inner, args=(x, int() as y)), 1),), 1 if inner == name:
                rest = nested - _from_terms([(monomial, 1)])
                if isinstance(rest, int):
                    return size_op(name, x + rest, _OPERATIONS[name](y + rest, bound))
    return None


def dim_variables(value: Any) -> Iterator[SizeVar]:
    """Every size variable inside a dim, a shape, or nested tuples of them."""
    if isinstance(value, Size):
        yield from value.variables()
    elif isinstance(value, tuple):
        for item in value:
            yield from dim_variables(item)


def substitute(value: Any, mapping: Mapping[SizeVar, Dim]) -> Any:
    """`value` (a dim, shape, or nested tuples) with variables replaced; others stay."""
    if isinstance(value, Size):
        total: Dim = 0
        for monomial, coefficient in value.terms:
            product: Dim = coefficient
            for atom, power in monomial:
                base = _substitute_atom(atom, mapping)
                for _ in range(power):
                    product = product * base
            total = total + product
        return total
    if type(value) is tuple:
        return tuple(substitute(item, mapping) for item in value)
    if isinstance(value, slice):
        return slice(*substitute((value.start, value.stop, value.step), mapping))
    return value


def _substitute_atom(atom: Atom, mapping: Mapping[SizeVar, Dim]) -> Dim:
    if isinstance(atom, SizeVar):
        return mapping.get(atom, size(atom))
    a, b = (substitute(arg, mapping) for arg in atom.args)
    return size_op(atom.name, a, b)


def decide_equal(a: Dim, b: Dim) -> bool | None:
    """True or False when every run gives that answer, None when it depends on the run."""
    difference = a - b
    if isinstance(difference, int):
        return difference == 0
    return False if _positive(difference) or _positive(-difference) else None


def decide_less(a: Dim, b: Dim) -> bool | None:
    """Whether a < b, where every run agrees; None otherwise."""
    difference = b - a
    if isinstance(difference, int):
        return difference > 0
    if _positive(difference):
        return True
    return False if not_negative(-difference) else None


def not_negative(value: Dim) -> bool:
    """Whether a size is known to be 0 or more in every run: sizes of axes are."""
    if isinstance(value, int):
        return value >= 0
    return all(c > 0 and all(_atom_not_negative(a) for a, _ in m) for m, c in value.terms)


def _at_most(a: Dim, b: Dim) -> bool:
    """Whether a <= b is known in every run."""
    if not_negative(b - a):
        return True
    match a:
        case Size(terms=((((SizeOp(name=name, args=(x, y)), 1),), 1),)):
            if name in ("max", "min"):
                return (all if name == "max" else any)(_at_most(z, b) for z in (x, y))
            return (
                name == "floordiv"
                and isinstance(y, int)
                and y > 0
                and not_negative(x)
                and _at_most(x, b)
            )
    return False


def _positive(value: Dim) -> bool:
    return not_negative(value - 1)


def _atom_not_negative(atom: Atom) -> bool:
    if isinstance(atom, SizeVar):
        return True
    a, b = atom.args
    match atom.name:
        case "max":
            return not_negative(a) or not_negative(b)
        case "mod":
            return isinstance(b, int) and b > 0
        case "wrap":
            return False
    return not_negative(a) and not_negative(b)


def product(shape: Iterable[Dim]) -> Dim:
    """The number of elements of a shape."""
    result: Dim = 1
    for dim in shape:
        result = result * dim
    return result


def _terms(value: Dim) -> Iterable[tuple[Monomial, int]]:
    return value.terms if isinstance(value, Size) else (((), int(value)),)


def _from_terms(terms: Iterable[tuple[Monomial, int]]) -> Dim:
    totals: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        totals[monomial] = totals.get(monomial, 0) + coefficient
    kept = [(m, c) for m, c in totals.items() if c]
    if not kept:
        return 0
    if len(kept) == 1 and kept[0][0] == ():
        return kept[0][1]
    kept.sort(key=lambda term: (-sum(p for _, p in term[0]), [_rank(a) for a, _ in term[0]]))
    return Size(tuple(kept))


def _join(left: Monomial, right: Monomial) -> Monomial:
    powers: dict[Atom, int] = {}
    for atom, power in itertools.chain(left, right):
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: _rank(item[0])))


def _rank(atom: Atom) -> tuple[Any, ...]:
    if isinstance(atom, SizeVar):
        return (0, atom.id)
    return (1, atom.name, str(atom))
