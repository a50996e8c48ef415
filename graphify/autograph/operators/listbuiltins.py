"""Python's built-in functions of a list whose length only the run knows.

sum(rows), max(rows, default=0), sorted(rows), any(rows), tuple(rows)
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators import ordering
from graphify.autograph.operators.branches import if_, if_exp
from graphify.autograph.operators.calls import OVERLOADS, call
from graphify.autograph.operators.iteration import Items
from graphify.autograph.operators.listed import opened
from graphify.autograph.operators.lists import GrowingList
from graphify.autograph.operators.logical import python_bool
from graphify.autograph.operators.loops import for_
from graphify.ir.sizes import decide_less, size_op
from graphify.ops import elementwise
from graphify.ops.shape import as_dim

EMPTY = "{}() iterable argument is empty" if sys.version_info >= (3, 12) else (
    "{}() arg is an empty sequence"
)  # fmt: skip


def _is_empty(values: GrowingList) -> Any:
    return elementwise.equal(cells.number(values.grown.count), 0)


def _rest(values: GrowingList) -> Items:
    """All elements but the first."""
    dim = values.dim
    dim = dim - 1 if decide_less(dim, 1) is False else size_op("max", dim - 1, 0)
    return Items(as_dim(dim), lambda i: values.element(g.plus(cells.number(i), 1)))


def sum_(values: GrowingList, start: Any = 0) -> Any:
    if not cells.has_arrays(values.grown.kinds):
        return for_(values, lambda row, total: (total + row,), (start,), ("total",))[0]

    def total() -> Any:
        first = start + values.element(0)
        return for_(_rest(values), lambda row, total: (total + row,), (first,), ("total",))[0]

    return if_exp(_is_empty(values), lambda: start, total)


def _extreme(name: str, sign: str) -> Callable[..., Any]:
    def extreme(values: GrowingList, *others: Any, key: Any = None, **default: Any) -> Any:
        if others:
            raise TypeError(f"'{name}' compares a list with other arguments")

        def best() -> Any:
            first = values.element(0)

            def turn(row: Any, best: Any, measure: Any) -> Any:
                new = row if key is None else call(key, row)
                return if_(
                    ordering.compared(sign, new, measure),
                    lambda *_: (row, new),
                    lambda *old: old,
                    (best, measure),
                    ("best", "key"),
                )

            start = (first, first if key is None else call(key, first))
            return for_(_rest(values), turn, start, ("best", "key"))[0]

        if "default" in default:
            return if_exp(_is_empty(values), lambda: default["default"], best)
        count = g.checked(values.grown.count, 1, EMPTY.format(name), "ValueError")
        values = GrowingList.of(replace(values.grown, count=count))
        return best()

    return extreme


def any_(values: GrowingList) -> Any:
    return python_bool(values.truths(False).any())


def all_(values: GrowingList) -> Any:
    return python_bool(values.truths(True).all())


def sorted_(values: GrowingList, *, key: Any = None, reverse: Any = False) -> Any:
    if isinstance(values.grown.count, int):
        return ordering.sorted_(builtins.list(values), key=key, reverse=reverse)
    made = values.copy()
    made.sort(key=key, reverse=reverse)
    return made


def _refused(name: str) -> Callable[..., Any]:
    def refuse(values: GrowingList, *args: Any, **kwargs: Any) -> Any:
        if isinstance(values.grown.count, int):
            return getattr(builtins, name)(list(values), *args, **kwargs)
        raise cells.refused(f"a {name} is made of it", "keep the list, or make an array of it")

    return refuse


BUILTINS: dict[str, Callable[..., Any]] = {
    "sum": sum_,
    "min": _extreme("min", "<"),
    "max": _extreme("max", ">"),
    "any": any_,
    "all": all_,
    "sorted": sorted_,
    "tuple": _refused("tuple"),
}


def install(space: dict[str, Any]) -> None:
    """Make the operators of these names take growing lists, too."""
    for name, function in BUILTINS.items():
        space[name] = _either(function, space[name])
        if getattr(builtins, name) in OVERLOADS:
            OVERLOADS[getattr(builtins, name)] = space[name]


def _either(mine: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(*args: Any, **kwargs: Any) -> Any:
        args = (*map(opened, args[:1]), *args[1:])
        grown = bool(args) and isinstance(args[0], GrowingList)
        return (mine if grown else other)(*args, **kwargs)

    return chosen
