"""and, or, not, chained comparisons and `in`, with Python's order of evaluation.

and_(lambda: i < n, lambda: a[i] > 0)     # a[i] is looked at only where i < n
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.choice import Choice, Verdict, telling
from graphify.autograph.operators.choosing import decide, is_
from graphify.autograph.operators.conditions import decider, is_staged, truth
from graphify.autograph.operators.dicts import View
from graphify.autograph.operators.iteration import Items
from graphify.autograph.operators.listed import opened
from graphify.autograph.operators.lists import GrowingList
from graphify.autograph.operators.ordering import SIGNS, compared, found_in
from graphify.autograph.operators.tables import Table, depends, refuse_new
from graphify.autograph.operators.texts import StagedText, refuse_text
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL
from graphify.ops import core, elementwise
from graphify.tracing import special

Thunk = Callable[[], Any]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    **{sign: functools.partial(compared, sign) for sign in SIGNS},
    "is": is_,
    "is not": lambda a, b: not_(is_(a, b)),
}


def and_(*thunks: Thunk) -> Any:
    """`a and b and ...`: the first false operand, else the last one."""
    value = thunks[0]()
    for position, thunk in enumerate(thunks[1:], 1):
        test = decider(value)
        if is_staged(test):
            return _staged(test, value, and_, thunks[position:], True)
        if not test:
            return value
        value = thunk()
    return value


def _staged(
    test: Any, first: Any, whole: Callable[..., Any], later: tuple[Thunk, ...], way: bool
) -> Any:
    """`and` (`way` True) or `or` of an operand with a staged truth value and later ones."""
    parts = [first]

    def rest() -> Any:
        parts[1:] = [whole(*later)]
        return parts[1]

    thunks = (rest, lambda: first) if way else (lambda: first, rest)
    return telling(if_exp(test, *thunks), parts, way)


def or_(*thunks: Thunk) -> Any:
    """`a or b or ...`: the first true operand, else the last one."""
    value = thunks[0]()
    for position, thunk in enumerate(thunks[1:], 1):
        test = decider(value)
        if is_staged(test):
            return _staged(test, value, or_, thunks[position:], False)
        if test:
            return value
        value = thunk()
    return value


def tested(value: Any) -> Any:
    """The truth value of a test in a `try`: asked where its failure can be caught."""
    value = decider(value)
    return truth(value) if is_staged(value) else bool(value)


def not_(value: Any) -> Any:
    """`not a`."""
    value = decider(value)
    if not is_staged(value):
        return not value
    test = truth(value)
    opposite = python_bool(elementwise.logical_not(test))
    return opposite if not isinstance(test, Verdict) else test.opposite(opposite)


def python_bool(value: Tensor) -> Tensor:
    """A truth value as the bool that Python makes of it: True + True is 2, not True."""
    return value if value.spec.weak else core.cast(value, dtype=BOOL, weak=True)


def compare(left: Any, *rest: Any) -> Any:
    """`a < b <= c`: rest is op, thunk, op, thunk, ...; each operand is evaluated once."""
    sign, right = rest[0], rest[1]()
    if sign in ("in", "not in"):
        verdict = contains(right, left)
        verdict = not_(verdict) if sign == "not in" else verdict
    else:
        verdict = _COMPARISONS[sign](left, right)
    if len(rest) == 2:
        return verdict
    return and_(lambda: verdict, lambda: compare(right, *rest[2:]))


def contains(container: Any, item: Any) -> Any:
    """`item in container`, also for arrays and for lists of tensors."""
    if type(container) is Choice:
        return decide(container, lambda value: contains(value, item))
    if type(item) is Choice and not isinstance(container, (list, tuple)):
        return decide(item, lambda value: contains(container, value))
    if isinstance(container, (Tensor, np.ndarray)):
        matches = container == item
        found = matches.any() if hasattr(matches, "any") else matches
        return python_bool(found) if is_staged(found) else bool(found)
    if isinstance(item, StagedText) and isinstance(container, str):
        refuse_text(item)
    if isinstance(container, Items):
        if container.line is None and isinstance(container.length, int):
            return contains(list(container), item)
        found = container.contains(item)
        return python_bool(found) if is_staged(found) else found
    own = special.method(container, "__contains__")
    if own is not None:
        found = decider(own(item))
        return python_bool(truth(found)) if is_staged(found) else bool(found)
    if isinstance(container, (Table, View)):
        found = container.contains(item)
        return python_bool(found) if is_staged(found) else found
    if isinstance(container, (dict, set, frozenset)) and isinstance(item, tuple) and depends(item):
        refuse_new(container)
    container = opened(container)
    if isinstance(container, GrowingList):
        return python_bool(container.contains(item))
    if isinstance(container, (list, tuple)) and any(type(v) is Choice for v in (*container, item)):
        return or_(*(lambda v=v: v == item for v in container)) if container else False
    found = found_in(container, item)
    return item in container if found is None else found
