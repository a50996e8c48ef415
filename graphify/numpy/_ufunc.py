"""NumPy's universal functions on tensors: the call with its options, and their methods.

    add = Ufunc(np.add, ops.add)
    add(x, y, out=z, where=mask)
    add.reduce(x, axis=1)       add.accumulate(x)       add.outer(x, y)       add.at(x, [0, 0], 1)

`np.add(tensor, ...)` and `np.add.reduce(tensor)` come here through `Tensor.__array_ufunc__`.
Elements that `where=` leaves out are zero if there is no `out=` to keep them from (in NumPy they
are whatever was in memory).
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import SpecError
from graphify.ir.assign import assign
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, canonical_dtype, is_complex
from graphify.ir.wrapping import as_tensor
from graphify.numpy import _table
from graphify.numpy._table import (
    FUNCTIONS,
    NAMES,
    NO_VALUE,
    Casting,
    check_options,
    fall_back,
    store,
    to_tensor,
)
from graphify.ops import core, elementwise, indexing, mixed
from graphify.ops.mixed import are_pythons, of_numpy
from graphify.ops.rules import operand
from graphify.ops.shape import stack

# reduce and accumulate of these are functions of their own, under these names
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATIONS = {
    "add": "cumsum",
    "multiply": "cumprod",
    "maximum": "_cummax",
    "minimum": "_cummin",
}


class Ufunc:
    """A universal function of tensors.

    Args:
        ufunc: the NumPy ufunc that this one is.
        compute: its meaning on tensors, without options.
    """

    def __init__(self, ufunc: np.ufunc, compute: Callable[..., Any]) -> None:
        self.ufunc, self.compute = ufunc, compute
        self.__name__ = ufunc.__name__
        self.__doc__ = (ufunc.__doc__ or "").split("\n\n")[1] if ufunc.__doc__ else None
        self.nin, self.nout, self.nargs = ufunc.nin, ufunc.nout, ufunc.nargs

    def __repr__(self) -> str:
        return f"<graphify.numpy ufunc '{self.__name__}'>"

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        casting: Casting = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
        signature: Any = None,
    ) -> Any:
        """The ufunc of the operands, elementwise; see `numpy.ufunc`."""
        if not self.nin <= len(args) <= self.nargs:
            raise SpecError(f"{self.__name__}: expected {self.nin} operands, got {len(args)}")
        check_options(casting, order)
        if len(args) > self.nin:
            out = args[self.nin :] if out is None else out
        operands: Sequence[Any] = args[: self.nin]
        if are_pythons(*operands):  # else Python's errors would be raised
            operands = [of_numpy(x) for x in operands]
        if where is not True:
            operands = self._masked(operands, where)
        options = {"casting": casting, "dtype": dtype, "signature": signature}
        try:
            if dtype is None and signature is None and casting == "same_kind":
                results = self.compute(*operands)
            else:
                results = self._typed(operands, **options)
        except ValueError:
            if out is not None:
                self._check_dtypes([as_tensor(x) for x in operands], out, options)
            raise
        if self.nout == 1:
            return self._finish(results, _single(out), where, casting)
        outs = out if out is not None else (None,) * self.nout
        pairs = zip(results, outs, strict=True)
        return tuple(self._finish(result, target, where, casting) for result, target in pairs)

    def _check_dtypes(self, operands: list[Tensor], out: Any, options: dict[str, Any]) -> None:
        """The call with numbers: NumPy looks at the dtypes before the shapes."""
        if any(x.ndim for x in operands):
            outs = out if isinstance(out, tuple) else (out,)
            ones = tuple(None if x is None else _one_like(as_tensor(x)) for x in outs)
            self(*map(_one_like, operands), out=ones, **options)

    def _masked(self, operands: Sequence[Any], where: Any) -> list[Any]:
        """Operands with ones where the result is not wanted: nothing fails or warns there."""
        mask = to_tensor(where)
        return [elementwise.where(mask, x, _one_like(x)) for x in map(as_tensor, operands)]

    def _typed(self, operands: Sequence[Any], dtype: Any, signature: Any, casting: Casting) -> Any:
        """The call in the dtypes that `dtype=`, `signature=` and `casting=` ask for."""
        tensors = [resolve(as_tensor(x)) for x in operands]
        inputs, outputs = self._loop(tensors, dtype, signature, casting)
        results = self.compute(*(_cast(t, d) for t, d in zip(tensors, inputs, strict=True)))
        if self.nout == 1:
            return _cast(core.strong(results), outputs[0])
        return tuple(_cast(r, d) for r, d in zip(results, outputs, strict=True))

    def _loop(
        self, tensors: Sequence[Tensor], dtype: Any, signature: Any, casting: Casting
    ) -> tuple[list[DType], list[DType]]:
        if signature is None and dtype is not None:
            signature = (*[None] * self.nin, *[canonical_dtype(dtype)] * self.nout)
        given = (*(operand(t) for t in tensors), *[None] * self.nout)
        options = {} if signature is None else {"signature": signature}
        try:
            resolved = self.ufunc.resolve_dtypes(given, casting=casting, **options)
        except TypeError as error:
            raise SpecError(f"{self.__name__}: {error}") from error
        dtypes = [canonical_dtype(d) for d in resolved]
        return dtypes[: self.nin], dtypes[self.nin :]

    def _finish(self, result: Any, out: Any, where: Any, casting: Casting) -> Any:
        result = core.strong(result)
        result._scalar |= not result.dims
        if where is not True:
            mask = to_tensor(where)
            kept = core.zeros_like(result) if out is None else resolve(as_tensor(out))
            result = _cast(elementwise.where(mask, _cast(result, kept.dtype), kept), kept.dtype)
        return result if out is None else store(out, result, casting)

    # --- methods ---

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """The operands along axes combined into one."""
        known = _REDUCTIONS.get(self.__name__)
        if known in ("all", "any"):
            if dtype is not None:
                self._loop_dtype("reduce", to_tensor(array), axis, dtype)
            result = NAMES[known](array, axis=axis, keepdims=keepdims, where=where)
            if initial is not NO_VALUE and initial is not None:
                result = self.compute(result, _first(initial, result.dtype))
            return _table.finish(result, _single(out))
        if known is not None:
            options = {} if dtype is None else {"dtype": dtype}
            if known in ("max", "min") and dtype is not None:
                array = to_tensor(array)
                array = _cast(array, self._loop_dtype("reduce", array, axis, options.pop("dtype")))
            if initial is not NO_VALUE:
                options["initial"] = initial
            return NAMES[known](
                array, axis=axis, out=_single(out), keepdims=keepdims, where=where, **options
            )
        if where is not True:
            raise SpecError(
                f"{self.__name__}.reduce: where= is only supported for {set(_REDUCTIONS)}"
            )
        return self._fold(to_tensor(array), axis, dtype, _single(out), keepdims, initial)

    def _fold(
        self, x: Tensor, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any
    ) -> Any:
        """`reduce` of any binary ufunc, one step for each element of the axis."""
        x = _cast(x, self._loop_dtype("reduce", x, axis, dtype))
        if initial is not NO_VALUE:
            initial = _first(initial, x.dtype)
        for position in sorted(_table.reduced_axes(axis, x.ndim), reverse=True):
            length = x.dims[position]
            steps = self._slices(x, position)
            if initial is NO_VALUE and not steps and self.ufunc.identity is None:
                raise ValueError(
                    f"zero-size array to reduction operation {self.__name__} which has no identity"
                )
            first = initial if initial is not NO_VALUE else self.ufunc.identity
            total = steps.pop(0) if steps and initial is NO_VALUE else first
            for step in steps:
                total = self(total, step)
            shape = (*x.dims[:position], *x.dims[position + 1 :])
            result = _cast(to_tensor(total), x.dtype)
            if not length or result.dims != shape:
                result = core.broadcast_to(result, shape=shape)
            x = (
                core.reshape(result, shape=(*shape[:position], 1, *shape[position:]))
                if keepdims
                else result
            )
        return _table.finish(x, out)

    def _loop_dtype(self, method: str, x: Tensor, axis: Any, dtype: Any) -> DType:
        """The dtype that `reduce` or `accumulate` gives. NumPy says it, of an array of ones.

        Raises:
            TypeError, ValueError: NumPy cannot do this: the ufunc is not of two operands, has no
                loop from its result's dtype to itself, or depends on an order of the axes.
        """
        find = _table.reduced_axes if method == "reduce" else _table.axes_of
        axes = find(axis, x.ndim)
        ones = np.ones((1,) * x.ndim, x.dtype)
        result = getattr(self.ufunc, method)(
            ones,
            axis=axes if method == "reduce" or len(axes) != 1 else axes[0],
            dtype=None if dtype is None else canonical_dtype(dtype),
        )
        return canonical_dtype(result.dtype)

    def _slices(self, x: Tensor, axis: int) -> list[Tensor]:
        length = x.dims[axis]
        if not isinstance(length, int):
            raise SpecError(
                f"{self.__name__}.reduce: the length of the axis must be known while tracing, "
                f"got {length}",
                remedy="write a loop over the axis",
            )
        lead = ((0, dim, 1) for dim in x.dims[:axis])
        key = tuple(lead)
        return [indexing.slice_(x, key=(*key, i)) for i in range(length)]

    def accumulate(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Every intermediate result of `reduce` along one axis."""
        x = to_tensor(array)
        loop_dtype = self._loop_dtype("accumulate", x, axis, dtype)
        axis = _table.axes_of(axis, x.ndim)[0]
        known = _ACCUMULATIONS.get(self.__name__)
        if known is not None:
            return NAMES[known](x, axis=axis, dtype=dtype, out=_single(out))
        results: list[Tensor] = []
        x = _cast(x, loop_dtype)
        for step in self._slices(x, axis):
            results.append(self(results[-1], step) if results else step)
        return _table.finish(stack(results, axis) if results else core.copy(x), _single(out))

    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """The ufunc of every pair of elements."""
        x, y = to_tensor(a), to_tensor(b)
        return self(core.reshape(x, shape=(*x.dims, *(1,) * y.ndim)), y, **options)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """`a[indices] = ufunc(a[indices], b)` in place, repeated indices counted every time."""
        if not isinstance(a, (Tensor, np.ndarray)):
            raise SpecError(
                f"{self.__name__}.at: expected an array to update, got {type(a).__name__}"
            )
        mixed.refuse_at(self.ufunc, as_tensor(a), *(() if b is None else (as_tensor(b),)))
        if NAMES["_update_at"](self.ufunc, a, indices, b):
            return
        given = [x for x in tree.leaves((a, indices, b)) if isinstance(x, (Tensor, np.ndarray))]
        if any(resolve(as_tensor(x)).is_symbolic for x in given):
            NAMES["_update_in_turn"](self.ufunc, a, indices, b)
        else:
            self._at_eager(a, indices, b)

    def _at_eager(self, a: Any, indices: Any, b: Any) -> None:
        operands = () if b is None else (b,)
        copy = np.array(fall_back(np.asarray, (a,), {}))
        fall_back(self.ufunc.at, (copy, indices, *operands), {})
        assign(as_tensor(a), Tensor(copy))

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """`reduce` over slices; only for tensors whose value is known."""
        result = fall_back(self.ufunc.reduceat, (array, indices), {"axis": axis, "dtype": dtype})
        return _table.finish(result, _single(out))


def _single(out: Any) -> Any:
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"out: expected one array, got {len(out)}")
        return out[0]
    return out


def _first(initial: Any, dtype: DType) -> Tensor:
    """`initial=` in the dtype of a reduction."""
    value = resolve(as_tensor(initial))
    if value.dims:
        raise ValueError(f"initial: expected a number, got an array of shape {value.dims}")
    if is_complex(value.dtype) and dtype.kind in "iuf":
        raise TypeError(f"initial: expected a real number, got {value.spec}")
    return _cast(value, dtype)


def _cast(x: Tensor, dtype: DType) -> Tensor:
    return core.to_dtype(x, dtype)


def _one_like(x: Tensor) -> Tensor:
    return Tensor(np.ones((), x.dtype), weak=x.spec.weak)


def array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """`Tensor.__array_ufunc__`: a NumPy ufunc, or a method of one, was given a tensor."""
    if "out" in kwargs and _is_operator(sys._getframe(1)):  # the name then has what we return
        kwargs["out"] = tuple(None if x is None else as_tensor(x) for x in kwargs["out"])
    known = FUNCTIONS.get(ufunc)
    if known is not None:
        function = known if method == "__call__" else getattr(known, method, None)
        if function is not None:
            if isinstance(kwargs.get("out"), tuple) and ufunc.nout == 1:
                kwargs["out"] = kwargs["out"][0]
            return function(*inputs, **kwargs)
    out = kwargs.pop("out", None)
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    result = fall_back(function, inputs, kwargs)
    return result if out is None else store(out, result)


def _is_operator(caller: FrameType) -> bool:
    """Whether it is `array += tensor` that calls a ufunc."""
    return caller.f_code.co_code[caller.f_lasti] == _BINARY_OP


_BINARY_OP = dis.opmap["BINARY_OP"]

Ufunc.__module__ = "graphify.numpy"
