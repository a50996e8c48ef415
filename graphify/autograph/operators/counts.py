"""Counters whose keys only the run knows (see tables.py).

counts = counter(x)
counts.most_common(3), counts[v], counts + other
"""

from __future__ import annotations

import builtins
import collections
from typing import Any

from graphify.autograph.operators import growing as g
from graphify.autograph.operators.branches import if_
from graphify.autograph.operators.dicts import Dict
from graphify.autograph.operators.tables import (
    are_known,
    block,
    compared,
    elements_of,
    grown_of,
    noted,
    register,
    run,
)
from graphify.ir.context import current_builder
from graphify.tracing import apart


def _operators(sign: str) -> tuple[Any, Any, Any]:
    """An operator, that of a right operand, and the one that changes the left operand."""

    def apply(self: Counter, other: Any) -> Any:
        if not isinstance(other, (collections.Counter, Counter)):
            return NotImplemented
        return run(_joined_counts, self, counter(other), sign, Counter())

    def applied(self: Counter, other: Any) -> Any:
        if not isinstance(other, collections.Counter):
            return NotImplemented
        return run(_joined_counts, counter(other), self, sign, Counter())

    def change(self: Counter, other: Any) -> Any:
        if not isinstance(other, (dict, Dict)):
            return NotImplemented
        made = run(_joined_counts, self, counter(other), sign, Counter())
        self._loses()
        self.rows._change(g.apart(grown_of(made.rows)))
        self.held._change(g.apart(grown_of(made.held)))
        return self

    return apply, applied, change


class Counter(Dict):
    """A Counter: what is not there has been counted 0 times."""

    __slots__ = ()
    standing_for = collections.Counter

    def __getitem__(self, key: Any) -> Any:
        return self.get(key, 0)

    def __delitem__(self, key: Any) -> None:
        place, found = self.find(key)
        self._loses()
        if found is not False:
            if_(found, block(lambda: self._remove(place)), lambda: (), (), ())

    def update(self, *others: Any, **named: Any) -> None:
        for other in (*others, named) if named else others:
            run(_counted, self, other, 1, isinstance(other, (dict, Dict)))

    def subtract(self, *others: Any, **named: Any) -> None:
        for other in (*others, named) if named else others:
            run(_counted, self, other, -1, isinstance(other, (dict, Dict)))

    def most_common(self, n: Any = None) -> Any:
        return run(_most_common, self, n)

    def total(self) -> Any:
        return run(_total, self)

    def elements(self) -> Any:
        return run(_repeated, self)

    __add__, __radd__, __iadd__ = _operators("+")
    __sub__, __rsub__, __isub__ = _operators("-")
    __or__, __ror__, __ior__ = _operators("|")
    __and__, __rand__, __iand__ = _operators("&")

    def __pos__(self) -> Any:
        return self + Counter()

    def __neg__(self) -> Any:
        return Counter() - self

    def _compare(self, other: Any, sign: str) -> Any:
        if not isinstance(other, (collections.Counter, Counter)):
            return NotImplemented
        return run(_counts_compare, self, counter(other), sign)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, (collections.Counter, Counter)):
            return self._compare(other, "==")
        return super().__eq__(other)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "<=")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, ">=")

    def __lt__(self, other: Any) -> Any:
        if not isinstance(other, (collections.Counter, Counter)):
            return NotImplemented
        return run(_less_counted, self, counter(other))

    def __gt__(self, other: Any) -> Any:
        if not isinstance(other, (collections.Counter, Counter)):
            return NotImplemented
        return run(_less_counted, counter(other), self)


# --- written out: converted as anyone's functions are --------------------------------------------


def _counted(counts: Any, values: Any, times: Any, are_counts: Any) -> None:
    if are_counts:
        for key, count in values.items():
            counts[key] = counts.get(key, 0) + times * count
    else:
        for value in values:
            counts[value] = counts.get(value, 0) + times


def _most_common(counts: Any, n: Any) -> Any:
    rows = sorted(counts.items(), key=lambda pair: pair[1], reverse=True)
    return rows if n is None else rows[: max(n, 0)]


def _total(counts: Any) -> Any:
    return sum(counts.values())


def _repeated(counts: Any) -> Any:
    rows = []
    for key, count in counts.items():
        for _ in range(count):
            rows.append(key)
    return rows


def _joined(sign: Any, a: Any, b: Any) -> Any:
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    return max(a, b) if sign == "|" else min(a, b)


def _joined_counts(one: Any, other: Any, sign: Any, made: Any) -> Any:
    for key, count in one.items():
        joined = run(_joined, sign, count, other.get(key, 0))
        if joined > 0:
            made[key] = joined
    for key, count in other.items():
        if key not in one:
            joined = run(_joined, sign, 0, count)
            if joined > 0:
                made[key] = joined
    return made


def _counts_compare(one: Any, other: Any, sign: Any) -> Any:
    for key, count in one.items():
        if not compared(sign, count, other.get(key, 0)):
            return False
    for key, count in other.items():
        if not compared(sign, one.get(key, 0), count):
            return False
    return True


def _less_counted(one: Any, other: Any) -> Any:
    return one <= other and one != other


# --- how it is made -------------------------------------------------------------------------------


def counter(*given: Any, **named: Any) -> Any:
    """`collections.Counter` in a trace."""
    if current_builder() is None:
        return collections.Counter(*given, **named)
    source = given[0] if given else ()
    if not isinstance(source, (builtins.dict, Dict)):
        source = elements_of(source)
    known = isinstance(source, builtins.dict) or not isinstance(source, Dict) and are_known(source)
    if named or known and not apart.are_tables():
        return noted(collections.Counter(*given and [source], **named))
    made = Counter()
    made.update(source)
    return made


register(Counter, ("rows", "held"))
