"""Checks that hold in graphs, too: `assert_greater(x, 0)` raises when the run gets there.

>>> assert_greater(3, 0)
"""

from __future__ import annotations

from typing import Any

from graphify.ir.wrapping import as_tensor
from graphify.ops import effects
from graphify.ops.convert import convert

__all__ = [
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_none_equal",
]


def _check(comparison: str, x: Any, y: Any, message: str | None) -> None:
    operands = [convert(v) if isinstance(v, (list, tuple)) else as_tensor(v) for v in (x, y)]
    effects.check(*operands, comparison=comparison, message=message or "")


def assert_equal(x: Any, y: Any, message: str | None = None) -> None:
    """Raise unless x == y everywhere; in a graph, when the run gets there.

    Args:
        x, y: numbers or arrays of shapes that broadcast.
        message: what the error says first.

    Raises:
        InvalidArgumentError: the comparison fails for an element.
        ValueError: the shapes do not broadcast.

    Example:
        >>> assert_equal([1, 2], [1, 2])
    """
    _check("equal", x, y, message)


def assert_none_equal(x: Any, y: Any, message: str | None = None) -> None:
    """Raise unless x != y everywhere; in a graph, when the run gets there.

    Args:
        x, y: numbers or arrays of shapes that broadcast.
        message: what the error says first.

    Raises:
        InvalidArgumentError: the comparison fails for an element.
        ValueError: the shapes do not broadcast.

    Example:
        >>> assert_none_equal([1, 2], 0)
    """
    _check("none_equal", x, y, message)


def assert_greater(x: Any, y: Any, message: str | None = None) -> None:
    """Raise unless x > y everywhere; in a graph, when the run gets there.

    Args:
        x, y: numbers or arrays of shapes that broadcast.
        message: what the error says first.

    Raises:
        InvalidArgumentError: the comparison fails for an element.
        ValueError: the shapes do not broadcast.

    Example:
        >>> assert_greater(3, [1, 2])
    """
    _check("greater", x, y, message)


def assert_greater_equal(x: Any, y: Any, message: str | None = None) -> None:
    """Raise unless x >= y everywhere; in a graph, when the run gets there.

    Args:
        x, y: numbers or arrays of shapes that broadcast.
        message: what the error says first.

    Raises:
        InvalidArgumentError: the comparison fails for an element.
        ValueError: the shapes do not broadcast.

    Example:
        >>> assert_greater_equal(3, [1, 3])
    """
    _check("greater_equal", x, y, message)


def assert_less(x: Any, y: Any, message: str | None = None) -> None:
    """Raise unless x < y everywhere; in a graph, when the run gets there.

    Args:
        x, y: numbers or arrays of shapes that broadcast.
        message: what the error says first.

    Raises:
        InvalidArgumentError: the comparison fails for an element.
        ValueError: the shapes do not broadcast.

    Example:
        >>> assert_less([1, 2], 3)
    """
    _check("less", x, y, message)


def assert_less_equal(x: Any, y: Any, message: str | None = None) -> None:
    """Raise unless x <= y everywhere; in a graph, when the run gets there.

    Args:
        x, y: numbers or arrays of shapes that broadcast.
        message: what the error says first.

    Raises:
        InvalidArgumentError: the comparison fails for an element.
        ValueError: the shapes do not broadcast.

    Example:
        >>> assert_less_equal([1, 3], 3)
    """
    _check("less_equal", x, y, message)
