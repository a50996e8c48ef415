"""Comparison of lists whose length only the run knows: element by element, as Python does.

rows == [1, 2]
path < best                # the first elements that differ decide; else the shorter one is less
"""

from __future__ import annotations

from typing import Any

from graphify.autograph.operators import ordering
from graphify.autograph.operators.iterators import run
from graphify.autograph.operators.logical import not_
from graphify.errors import TraceError
from graphify.ir.tensor import Tensor
from graphify.ir.types import is_inexact
from graphify.location import here
from graphify.ops import elementwise
from graphify.ops.effects import Raise, assert_
from graphify.tracing.lists import List


def compared(sign: str, a: Any, b: Any) -> Any:
    """A comparison of two lists."""
    a, b = (x if isinstance(x, List) else List(x) for x in (a, b))
    if sign in ("==", "!="):
        same = True if a is b else run(_are_alike, a, b)
        return same if sign == "==" else not_(same)
    return run(_in_order, sign, a, b)


def _are_alike(one: Any, other: Any) -> Any:
    if len(one) != len(other):
        return False
    for i in range(len(one)):
        if _apart(one[i], other[i]):
            return False
    return True


def _in_order(sign: Any, one: Any, other: Any) -> Any:
    for i in range(min(len(one), len(other))):
        if _apart(one[i], other[i]):
            return ordering.compared(sign, one[i], other[i])
    return ordering.compared(sign, len(one), len(other))


def _apart(a: Any, b: Any) -> Any:
    """Whether two elements differ.

    Raises:
        TraceError: of arrays; the run raises it if both are NaN.
    """
    if any(isinstance(x, Tensor) and x.ndim for x in (a, b)):
        raise TraceError(
            "lists of arrays are compared, and Python asks first whether two are one array",
            location=here(),
            remedy="compare the arrays, np.array_equal(np.array(a), np.array(b))",
        )
    if all(isinstance(x, Tensor) and is_inexact(x.dtype) for x in (a, b)):
        text = "two NaN of lists are compared, which are equal for Python if they are one object"
        error = Raise(TraceError, (text,), remedy="compare arrays: (np.array(a) == b).all()")
        both = elementwise.logical_and(elementwise.isnan(a), elementwise.isnan(b))
        assert_(elementwise.logical_not(both), exception=error)
    return ordering.compared("!=", a, b)
