"""AutoGraph: plain Python control flow as operator calls that stage themselves when they must.

    >>> @do_not_convert
    ... def log(x):
    ...     ...

`to_code` shows what becomes of a function; `do_not_convert` keeps one as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from graphify.autograph.pipeline import convert
from graphify.syntax.loader import with_attributes

__all__ = ["do_not_convert", "to_code"]

F = TypeVar("F", bound=Callable[..., Any])


def to_code(function: Any) -> str:
    """The converted source of a function, for reading.

    Args:
        function: a Python function, method, lambda, or a function decorated by graphify.

    Returns:
        Python text; `ag` stands for the operators, comments name the original lines.

    Raises:
        SyntaxUnsupported: the function cannot be converted.
    """
    return convert(getattr(function, "python_function", function)).source


def do_not_convert(function: F) -> F:
    """Mark a function (a decorator): converted code calls it as it is.

    Args:
        function: any Python function.

    Returns:
        The same function.

    Raises:
        TypeError: not a Python function.
    """
    if not hasattr(function, "__dict__") or not callable(function):
        kind = type(function).__name__
        raise TypeError(f"do_not_convert: expected a Python function, got {kind}")
    return with_attributes(function, __graphify_do_not_convert__=True)
