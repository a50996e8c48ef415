"""Comprehensions, and `list` of what is staged: loops that fill a container.

list_of(lambda add: each(x, lambda v: add(v * 2), lambda v: v > 0))
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from graphify.autograph.operators import growing, listcells
from graphify.autograph.operators.branches import if_
from graphify.autograph.operators.calls import call
from graphify.autograph.operators.dicts import dict_
from graphify.autograph.operators.iteration import items_of
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.lists import GrowingList
from graphify.autograph.operators.loops import for_
from graphify.autograph.operators.sets import set_
from graphify.autograph.operators.tables import depends, refuse_new
from graphify.ir.context import current_builder
from graphify.location import here
from graphify.tracing import apart
from graphify.tracing.lists import List
from graphify.tracing.places import log_contents

Add = Callable[..., Any]


def each(
    iterable: Any, body: Callable[[Any], Any], test: Callable[[Any], Any] | None = None
) -> None:
    """`body` of each item for which the test holds."""

    def run(item: Any) -> tuple[()]:
        body(item)
        return ()

    def turn(item: Any) -> tuple[()]:
        if test is not None:
            if_(test(item), lambda: run(item), lambda: (), (), ())
            return ()
        return run(item)

    for_(iterable, turn, (), ())


def list_of(fill: Callable[[Add], Any]) -> builtins.list[Any]:
    """A list comprehension."""
    if current_builder() is None:
        plain: builtins.list[Any] = []
        fill(plain.append)
        return plain
    rows = apart.are_rows()
    made = GrowingList.of(growing.empty()) if rows else List()
    made.place = here()

    def add(value: Any) -> None:
        log_contents(made)
        made.append(value)

    fill(add)
    return made


def mapped(function: Any, values: GrowingList) -> Any:
    """What a function gives for each element of a list."""
    return list_of(lambda add: each(values, lambda value: add(call(function, value))))


def dict_of(fill: Callable[[Add], Any]) -> Any:
    """A dict comprehension."""
    made = dict_()

    def add(key: Any, value: Any) -> None:
        if isinstance(made, builtins.dict):
            if depends(key):
                refuse_new(made)
            log_contents(made)
        made[key] = value

    fill(add)
    return made


def set_of(fill: Callable[[Add], Any]) -> Any:
    """A set comprehension."""
    made = set_()

    def add(value: Any) -> None:
        if isinstance(made, builtins.set):
            if depends(value):
                refuse_new(made)
            log_contents(made)
        made.add(value)

    fill(add)
    return made


def list_(iterable: Any = ()) -> builtins.list[Any]:
    """The built-in list, and list displays."""
    if current_builder() is None:
        return builtins.list(iterable)
    iterable = iterable.line() if isinstance(iterable, Listed) else iterable
    if isinstance(iterable, GrowingList):
        return iterable.copy()
    items = items_of(iterable)
    if items is None or isinstance(items.length, int):
        made = List(iterable)
        made.place = here()
        if apart.are_rows():
            made.become(GrowingList.of(growing.stacked(made)))
        return made
    return list_of(lambda add: each(iterable, add))


def tuple_(iterable: Any = ()) -> builtins.tuple[Any, ...]:
    """The built-in tuple: its length must be known while tracing."""
    if isinstance(iterable, GrowingList) and not isinstance(iterable.grown.count, int):
        raise listcells.refused("a tuple is made of it", "keep the list, or make an array of it")
    return builtins.tuple(iterable)
