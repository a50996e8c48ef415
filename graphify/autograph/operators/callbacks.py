"""NumPy's functions that call a function of the user's: it is converted like any callee.

    np.apply_along_axis(f, 0, x)     # a staged loop over the lanes
    np.piecewise(x, [x < 0], [f, g])

Imported once for its effect on calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.autograph.operators.calls import OVERLOADS, call
from graphify.autograph.operators.comprehensions import each, list_of
from graphify.autograph.operators.iteration import Items
from graphify.autograph.operators.vectorize import of_one_kind
from graphify.ir.context import current_builder
from graphify.ir.sizes import product
from graphify.numpy._table import FUNCTIONS, axis_of, to_tensor
from graphify.ops import core
from graphify.ops.shape import move_axis, transpose


def _converted(function: Any) -> Any:
    """A callee that NumPy's function may call as it is."""
    if not callable(function):
        return function
    return lambda *args, **kwargs: call(function, *args, **kwargs)


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`: a function of one dimension of every lane along an axis."""
    x = to_tensor(arr)
    if current_builder() is None or not x.ndim:
        return FUNCTIONS[np.apply_along_axis](func1d, axis, arr, *args, **kwargs)
    place = axis_of(axis, x.ndim)
    lanes = move_axis(x, place, x.ndim - 1)
    lead = lanes.dims[:-1]
    count = product(lead)
    if count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    flat = core.reshape(lanes, shape=(count, lanes.dims[-1]))
    items = Items(count, lambda i: call(func1d, flat[i], *args, **kwargs), shown=(flat,))
    made = of_one_kind("np.apply_along_axis", lambda: list_of(lambda add: each(items, add)))
    rows = call(np.array, made)
    y = core.reshape(rows, shape=(*lead, *rows.dims[1:]))
    order, new = list(range(len(lead))), list(range(len(lead), y.ndim))
    return transpose(y, axes=(*order[:place], *new, *order[place:]))


def _calling(function: Any) -> Callable[..., Any]:
    """A function of NumPy whose first argument is called."""
    return lambda func, *args, **kwargs: FUNCTIONS[function](_converted(func), *args, **kwargs)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.piecewise`: each element by the function, or number, of its condition."""
    functions = [_converted(function) for function in funclist]
    return FUNCTIONS[np.piecewise](x, condlist, functions, *args, **kwargs)


OVERLOADS[np.apply_along_axis] = apply_along_axis
OVERLOADS[np.piecewise] = piecewise
for _function in (np.apply_over_axes, np.fromfunction):
    OVERLOADS[_function] = _calling(_function)
