"""Containers that code which is not converted changes: noticed by looking at them.

    operator.setitem(rows, 0, 3.0)    # `rows` is another list afterwards, and nobody was told
    dict.__setitem__(table, "k", 1)

What such code is given, and the fields of what it is given from a library, is compared before and
after, so that staged branches and loops can carry what is new.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphify.autograph.operators.texts import expect_use
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.tracing.lists import List, is_grown
from graphify.tracing.places import log_change


def run(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call what is not converted; what it does to containers is logged."""
    builder = current_builder()
    if builder is None:
        return function(*args, **kwargs)
    if _home(function) == "graphify":
        return of_the_trace(function(*args, **kwargs))
    if isinstance(function, _CACHED):  # others hold the result, too
        result = _watched(function, args, kwargs)
        return builder.external(result) if isinstance(result, np.ndarray) else result
    return of_the_trace(_watched(function, args, kwargs))


def _watched(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    given = [getattr(function, "__self__", None), *args, *kwargs.values()]
    expect_use(given)
    before = [(each, _copy(each)) for each in _containers(given)]
    result = function(*args, **kwargs)
    for each, old in before:
        if not _same(each, old):
            log_change(each, old)
    return result


_CACHED = type(functools.cache(id))
NOBODY = 2  # references to a result that nobody else holds: a parameter, and that of getrefcount


def of_the_trace(result: Any) -> Any:
    """A list that nobody else holds as one that the trace has made: it takes indices that only the
    run knows, and so do the lists in it."""
    if type(result) is not list or sys.getrefcount(result) > NOBODY:
        return result
    for i, inner in enumerate(result):
        if type(inner) is list and sys.getrefcount(inner) <= NOBODY + 1:  # and `result`
            result[i] = List(inner)
    return List(result)


def _home(function: Any) -> str:
    return str(getattr(function, "__module__", None)).partition(".")[0]


def _containers(given: list[Any]) -> Iterator[Any]:
    for value in given:
        kind = type(value)
        if isinstance(value, (list, dict, set)):
            if not (isinstance(value, List) and is_grown(value)):
                yield value
        elif not isinstance(value, (Tensor, type)) and kind.__module__ == "collections":
            inside = getattr(value, "__dict__", {}).values()
            yield from (each for each in inside if type(each) in (list, List, dict, set))


def _copy(container: Any) -> Any:
    if isinstance(container, list):
        return List(container) if isinstance(container, List) else list(container)
    return container.copy()


def _same(container: Any, old: Any) -> bool:
    if isinstance(container, set):
        return bool(container == old)
    if len(container) != len(old):
        return False
    if isinstance(container, dict):
        pairs = zip(container.items(), old.items(), strict=True)
        return all(k is m and v is w for (k, v), (m, w) in pairs)
    return all(v is w for v, w in zip(container, old, strict=True))
