"""Python's augmented assignments, by their signs.

AUGMENTED["+="](x, y)      # operator.iadd(x, y)
AUGMENTED["|="](d, more)   # likewise, and the change of the dict is logged
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from graphify.autograph.operators.elements import changing
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.tables import holds_keys, refuse_new
from graphify.tracing.lists import List
from graphify.tracing.places import log_contents


def _logged(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation that changes a dict or set, which does not log that itself."""

    @functools.wraps(operation)
    def change(a: Any, b: Any) -> Any:
        from graphify.autograph.operators import choosing  # not at the top: it imports this

        if choosing.is_choice(b) and isinstance(a, (dict, set, Listed)):
            choosing.over(b, lambda other: _discard(change(a, other)))
            return a
        if isinstance(a, (dict, set)):
            if holds_keys(b):
                refuse_new(a)
            log_contents(a)
        return operation(a, b)

    return change


def _discard(result: Any) -> None:
    """Of an operation, only what it changes counts."""


def _through(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation that changes a list, which may be an element of another one."""

    @functools.wraps(operation)
    def change(a: Any, b: Any) -> Any:
        if not isinstance(a, List):
            return operation(a, b)
        with changing(a):
            return operation(a, b)

    return change


AUGMENTED: dict[str, Callable[[Any, Any], Any]] = {
    "+=": _through(operator.iadd),
    "-=": _logged(operator.isub),
    "*=": _through(operator.imul),
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "&=": _logged(operator.iand),
    "|=": _logged(operator.ior),
    "^=": _logged(operator.ixor),
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}


def in_place(sign: str, value: Any, other: Any) -> Any:
    """What `value |= other` gives."""
    return AUGMENTED[sign](value, other)
