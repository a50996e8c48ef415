"""Reductions that leave NaN out: nansum, nanmean, nanmax and the like."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.tensor import Tensor
from graphify.ir.types import is_inexact
from graphify.numpy import reduction as n
from graphify.numpy._table import NAMES, NO_VALUE, finish, implements, to_tensor
from graphify.ops import core
from graphify.ops import elementwise as e


def without_nan(x: Tensor, value: Any) -> Tensor:
    """`x` with a number instead of NaN."""
    if not is_inexact(x.dtype):
        return x
    return e.where(e.isnan(x), Tensor(np.asarray(value, x.dtype)), x)


def _present(x: Tensor, where: Any) -> Any:
    """The `where=` of the elements that are no NaN."""
    if not is_inexact(x.dtype):
        return where
    mask = e.logical_not(e.isnan(x))
    return e.logical_and(mask, n.mask_of(where, x)) if n.limited(where) else mask


def _with_nan_as(number: int, plain: Callable[..., Tensor], doc: str) -> Callable[..., Tensor]:
    """A function that takes what the plain one takes."""

    @functools.wraps(plain)
    def function(a: Any, *args: Any, **kwargs: Any) -> Tensor:
        return plain(without_nan(to_tensor(a), number), *args, **kwargs)

    function.__doc__ = f"{doc}, NaN counting as {number}."
    return function


nansum = implements(np.nansum)(_with_nan_as(0, n.sum_, "The sum"))
nanprod = implements(np.nanprod)(_with_nan_as(1, n.prod, "The product"))
nancumsum = implements(np.nancumsum)(_with_nan_as(0, n.cumsum, "The running sum"))
nancumprod = implements(np.nancumprod)(_with_nan_as(1, n.cumprod, "The running product"))


def _extreme(plain: Callable[..., Tensor], low: float) -> Callable[..., Tensor]:
    def function(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Tensor:
        x = to_tensor(a)
        result = plain(
            without_nan(x, low) if is_inexact(x.dtype) else x, axis, None, keepdims, initial, where
        )
        if is_inexact(x.dtype) and not n.given(initial):
            empty = n.all_(e.isnan(x), axis, keepdims=keepdims, where=where)
            result = e.where(empty, Tensor(np.asarray(np.nan, x.dtype)), result)
        return finish(result, out)

    function.__doc__ = "The extreme of the elements that are no NaN; NaN if there are none."
    return function


nanmax = implements(np.nanmax)(_extreme(n.max_, -np.inf))
nanmin = implements(np.nanmin)(_extreme(n.min_, np.inf))


def _position(plain: Callable[..., Tensor], low: float, name: str) -> Callable[..., Tensor]:
    def function(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Tensor:
        return plain(
            _some(without_nan(x := to_tensor(a), low), x, axis), axis, out, keepdims=keepdims
        )

    function.__doc__ = f"The index of `{name}` among the elements that are no NaN."
    return function


def _some(replaced: Tensor, x: Tensor, axis: Any) -> Tensor:
    """The data; ValueError when it runs with a slice of nothing but NaN."""
    if not is_inexact(x.dtype):
        return replaced
    from graphify.ops.sorting import not_all

    empty = n.all_(e.isnan(x), axis, keepdims=True)
    return e.where(not_all(empty), replaced, 0)  # two of a kind would be simplified to one


nanargmax = implements(np.nanargmax)(_position(n.argmax, -np.inf, "argmax"))
nanargmin = implements(np.nanargmin)(_position(n.argmin, np.inf, "argmin"))


@implements(np.nanmean)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Tensor:
    """The mean of the elements that are no NaN."""
    x = to_tensor(a)
    return n.mean(without_nan(x, 0), axis, dtype, out, keepdims, where=_present(x, where))


@implements(np.nanvar)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Tensor:
    """The variance of the elements that are no NaN."""
    x = to_tensor(a)
    present = _present(x, where)
    result = n.var(
        without_nan(x, 0),
        axis,
        dtype,
        None,
        ddof,
        keepdims,
        where=present,
        mean=mean,
        correction=correction,
    )
    if n.limited(present):  # fewer elements than ddof: NaN, where var gives infinity
        taken = ddof if correction is NO_VALUE else correction
        count = n.sum_(core.broadcast_to(to_tensor(present), shape=x.dims), axis, keepdims=keepdims)
        result = e.where(
            e.less_equal(count, taken), Tensor(np.asarray(np.nan, result.dtype)), result
        )
    return finish(result, out)


nanstd = implements(np.nanstd)(
    n.root_of(nanvar, "The standard deviation of the elements that are no NaN.")
)
NAMES["_without_nan"] = without_nan
