"""Running a function plainly and as a graph, on copies of the same arguments, and comparing all.

    agree(f, np.arange(3.0), 2)

What is compared: the result (values, dtypes, shapes, structure), what became of the arguments, or
the class of the exception. The function is called twice, so that the second call hits the trace.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import graphify
from graphify import tree


def outcome(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result and the arguments afterwards, or the exception's class."""
    args, kwargs = copy.deepcopy((args, kwargs))
    try:
        with np.errstate(all="ignore"):
            result = function(*args, **kwargs)
    except Exception as error:
        return ("raised", error), (args, kwargs)
    return ("returned", result), (args, kwargs)


def agree(
    function: Callable[..., Any], *args: Any, calls: int = 2, loose: bool = False, **kwargs: Any
) -> Any:
    """Asserts that the graph does what plain Python does; returns the graph's result.

    `loose`: where branches join, a Python number may come back as a number of the joined type.
    """
    staged = graphify.function(function)
    want, want_args = outcome(function, args, kwargs)
    got: Any = None
    for _ in range(calls):
        got, got_args = outcome(staged, args, kwargs)
        assert got[0] == want[0], f"plain {want}, staged {got}"
        if want[0] == "raised":
            assert isinstance(got[1], type(want[1])), f"plain {want[1]!r}, staged {got[1]!r}"
        else:
            same(got[1], want[1], loose)
        same(got_args, want_args)
    return got[1]


def same(got: Any, want: Any, loose: bool = False) -> None:
    """Asserts equal structure, and leaves equal in value, dtype and shape."""
    got_leaves, got_def = tree.flatten(got)
    want_leaves, want_def = tree.flatten(want)
    assert got_def == want_def, f"{got!r} against {want!r}"
    for g, w in zip(got_leaves, want_leaves, strict=True):
        if loose and isinstance(w, (bool, int, float)):
            np.testing.assert_allclose(np.asarray(g), w, rtol=1e-12)
        else:
            same_leaf(g, w)


def same_leaf(got: Any, want: Any) -> None:
    if isinstance(want, (np.ndarray, np.generic)):
        array = got.numpy() if isinstance(got, graphify.Tensor) else got
        assert isinstance(array, (np.ndarray, np.generic)), f"{got!r} against {want!r}"
        dtypes = [d.newbyteorder("=") for d in (array.dtype, want.dtype)]
        assert dtypes[0] == dtypes[1], f"{array.dtype} against {want.dtype}"
        assert array.shape == want.shape, f"{array.shape} against {want.shape}"
        np.testing.assert_allclose(array, want, rtol=1e-6 if array.dtype.itemsize <= 4 else 1e-12)
    elif isinstance(want, (bool, int, float, complex)):
        assert type(got) is type(want), f"{got!r} against {want!r}"
        assert got == want or got != got and want != want, f"{got!r} against {want!r}"
    elif isinstance(want, (str, bytes, type(None))):
        assert got == want
