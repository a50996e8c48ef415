"""Constructors for families of ops: what all elementwise ops share is said once, here.

    sin = elementwise("sin", np.sin, [lambda y, x: cos(x)], tf="math.sin")

A *partial* is the derivative of the result to one operand, a function `(y, *operands)`; the
numbers 1 and -1 stand for constant partials, None for an operand without gradient. Both modes of
differentiation follow from it. For complex operands the cotangent is multiplied by the conjugate
partial, so that gradients of real losses point uphill (TensorFlow's convention).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.errors import DTypeError, IntegerOverflow
from graphify.ir.kinds import wrong_kind
from graphify.ir.op import Op, defop
from graphify.ir.promotion import ufunc_dtypes, weak_type
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DType, Spec, canonical_dtype, is_complex, is_inexact, is_integer
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.ops.python_numbers import PYTHON


def operand(tensor: Tensor) -> Any:
    """How a tensor takes part in promotion: its dtype, or a Python type if it is weak."""
    return operand_of(tensor.spec)


def operand_of(spec: Spec) -> Any:
    return weak_type(spec.dtype) if spec.weak and spec.dtype != BOOL else spec.dtype


def promoted(ufunc: np.ufunc) -> Callable[..., list[Tensor]]:
    """A convert rule: operands cast to the dtypes in which the ufunc computes."""

    def convert(*args: Any) -> list[Tensor]:
        tensors = [as_tensor(arg) for arg in _representable(ufunc, args)]
        try:
            dtypes, _ = ufunc_dtypes(ufunc, [operand(t) for t in tensors])
        except DTypeError as error:
            raise wrong_kind(error, *tensors) from error.__cause__
        if all(t.spec.weak for t in tensors):
            return [_weakly(t, d) for t, d in zip(tensors, dtypes, strict=True)]
        if ufunc in _COMPARISONS:
            dtypes = tuple(
                _wide_enough(t, d, tensors) for t, d in zip(tensors, dtypes, strict=True)
            )
        return [_fit(ufunc, t, d) for t, d in zip(tensors, dtypes, strict=True)]

    return convert


_LOGIC = (np.logical_and, np.logical_or, np.logical_xor)
_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)


def _representable(ufunc: np.ufunc, args: Sequence[Any]) -> Sequence[Any]:
    """Operands without Python ints that their dtype cannot hold.

    With floats such an int is a float. Compared with integers it is larger, or smaller, than all of
    them: zeros compared with one, or ones with zero, give the answer that NumPy gives.
    """
    if len(args) != 2 or not any(type(arg) is int for arg in args):
        return args
    place = 0 if type(args[0]) is int else 1
    value, other = args[place], args[1 - place]
    if type(other) is int or 0 <= value < 128:
        return args
    dtype = as_tensor(other).dtype
    if ufunc in _LOGIC and is_inexact(dtype) and not -(2**63) <= value < 2**63:
        raise OverflowError(f"{ufunc.__name__}: Python int too large to convert to C long")
    if is_inexact(dtype) and not -(2**63) <= value < 2**64:
        changed: list[Any] = [float(value), other]
    elif (
        ufunc in _COMPARISONS
        and is_integer(dtype)
        and not as_tensor(other).spec.weak
        and not _holds(dtype, value)
    ):
        x = as_tensor(other)
        sides = (
            (core.ones_like, core.zeros_like) if value > 0 else (core.zeros_like, core.ones_like)
        )
        changed = [sides[0](Tensor(np.empty((), dtype))), sides[1](x)]
    else:
        return args
    return changed if place == 0 else changed[::-1]


def _weakly(tensor: Tensor, dtype: DType) -> Tensor:
    """A Python number in the dtype of an operation between Python numbers."""
    if tensor.dtype == dtype:
        return tensor
    if tensor.dtype == np.uint64 and dtype == np.int64:
        raise IntegerOverflow(
            f"Python integer {tensor._value} is too large for a traced one: 64 bits with a sign"
        )
    return core.cast(tensor, dtype=dtype, weak=True)


def _wide_enough(tensor: Tensor, dtype: DType, tensors: Sequence[Tensor]) -> DType:
    """The dtype to compare in: a traced Python int of any size compares with any integer."""
    traced = [t for t in tensors if t.spec.weak and t.is_symbolic and is_integer(t.dtype)]
    if not traced or not is_integer(dtype):
        return dtype
    is_traced = any(t is tensor for t in traced)
    return np.dtype(np.int64) if dtype.itemsize < 8 or is_traced else dtype


def _holds(dtype: DType, value: int) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


def _fit(ufunc: np.ufunc, tensor: Tensor, dtype: DType) -> Tensor:
    try:
        return core.to_dtype(tensor, dtype)
    except OverflowError as error:
        raise OverflowError(f"{ufunc.__name__}: {error}") from error


def ufunc_spec(ufunc: np.ufunc, weak: bool) -> Callable[..., Any]:
    """A spec rule: broadcast shapes, result dtypes of the ufunc."""

    def spec(*specs: Spec) -> Any:
        shape = core.broadcast_shapes(*(s.shape for s in specs))
        stays = weak and all(s.weak for s in specs)
        operands = [s.dtype for s in specs]
        try:
            resolved = ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))
        except TypeError as error:
            names = ", ".join(d.name for d in operands)
            raise DTypeError(f"{ufunc.__name__}: no rule for operands of dtype {names}") from error
        outputs = tuple(Spec(shape, canonical_dtype(d), stays) for d in resolved[ufunc.nin :])
        return outputs[0] if len(outputs) == 1 else outputs

    return spec


Partial = Callable[..., Any] | int | None


def scale(g: Any, partial: Partial, conjugate: bool, y: Tensor, xs: Sequence[Tensor]) -> Any:
    """A cotangent or tangent times a partial derivative."""
    if partial is None:
        return None
    if partial == 1:
        return g
    if partial == -1:
        return -g
    assert callable(partial)
    factor = partial(y, *xs)
    if conjugate and isinstance(factor, Tensor) and is_complex(factor.dtype):
        factor = factor.conj()
    return g * factor


def partials_vjp(partials: Sequence[Partial]) -> Callable[..., Any]:
    def vjp(
        g: Tensor, y: Tensor, *xs: Tensor, wanted: Sequence[bool] | None = None, **attrs: Any
    ) -> list[Tensor | None]:
        asked = [
            None if wanted and not w else p
            for p, w in zip(partials, wanted or partials, strict=True)
        ]
        grads = [scale(g, partial, True, y, xs) for partial in asked]
        return [
            None if d is None else core.unbroadcast(d, x) for d, x in zip(grads, xs, strict=True)
        ]

    return vjp


def partials_jvp(partials: Sequence[Partial]) -> Callable[..., Any]:
    def jvp(ts: Sequence[Tensor | None], y: Tensor, *xs: Tensor, **attrs: Any) -> Tensor | None:
        total: Any = None
        for t, partial in zip(ts, partials, strict=True):
            term = None if t is None else scale(t, partial, False, y, xs)
            if term is not None:
                total = term if total is None else total + term
        return None if total is None else core.like(total, y)

    return jvp


def pointwise(op_name: Callable[[], Op]) -> Callable[..., Any]:
    """The batching rule of ops that broadcast: align ranks behind the batch axis."""

    def vmap(args: Sequence[Tensor], batched: Sequence[bool], **attrs: Any) -> Any:
        rank = max(a.ndim - b for a, b in zip(args, batched, strict=True))
        return op_name()(
            *(align(a, rank) if b else a for a, b in zip(args, batched, strict=True)), **attrs
        )

    return vmap


def align(x: Tensor, rank: int) -> Tensor:
    """A batched operand with ones between the batch axis and its own axes, up to `rank` of them."""
    missing = rank - (x.ndim - 1)
    if not missing:
        return x
    return core.reshape(x, shape=(x.dims[0], *(1,) * missing, *x.dims[1:]))


def elementwise(
    name: str,
    ufunc: np.ufunc,
    partials: Sequence[Partial] | None = None,
    *,
    weak: bool = False,
    sample: Callable[[], Any],
    doc: str = "",
    **fields: Any,
) -> Op:
    """Define an op whose meaning is a NumPy ufunc.

    Args:
        partials: derivative per operand; None: no operand has a gradient (comparisons, floor).
        weak: the result of Python scalars is a Python scalar (arithmetic, not np.sin).
    """
    cell: list[Op] = []
    python = {"python": PYTHON[name]} if name in PYTHON else {}
    smooth = bool(partials) or "vjp" in fields
    op = defop(
        name,
        spec=ufunc_spec(ufunc, weak),
        eval=ufunc,
        convert=fields.pop("convert", None) or promoted(ufunc),
        vjp=fields.pop("vjp", partials_vjp(partials) if partials else None),
        jvp=fields.pop("jvp", partials_jvp(partials) if partials else None),
        vmap=pointwise(lambda: cell[0]),
        differentiable=None if smooth else (),
        sample=sample,
        doc=doc or f"numpy.{ufunc.__name__}",
        extra={"weak": weak, "ufunc": ufunc, "elementwise": True, "wanted": True, **python},
        **fields,
    )
    cell.append(op)
    return op


# --- sample inputs -----------------------------------------------------------------------------


def reals(low: float, high: float, count: int = 1, dtypes: str = "fd") -> Callable[[], Any]:
    """Samples of `count` float operands in [low, high], broadcasting where there are several."""
    shapes = [(3, 4), (4,), (3, 1)]

    def sample() -> Any:
        rng = np.random.default_rng(0)
        return [
            (tuple(rng.uniform(low, high, shapes[i]).astype(d) for i in range(count)), {})
            for d in dtypes
        ]

    return sample


def numbers(
    count: int = 1, low: int = -4, high: int = 5, dtypes: str = "bhilBHILfd"
) -> Callable[[], Any]:
    """Samples of `count` operands, integers and floats, broadcasting where there are several."""
    shapes = [(3, 4), (4,), (3, 1)]

    def sample() -> Any:
        rng = np.random.default_rng(0)
        cases: list[Any] = []
        for d in dtypes:
            bottom = max(low, 0) if d in "BHIL?" else low
            cases.append(
                (tuple(rng.integers(bottom, high, shapes[i]).astype(d) for i in range(count)), {})
            )
        return cases

    return sample


def booleans(count: int = 1) -> Callable[[], Any]:
    """Samples of boolean operands."""
    return numbers(count, 0, 2, "?")


def both(*samplers: Callable[[], Any]) -> Callable[[], Any]:
    """Samples of several samplers."""
    return lambda: [case for sampler in samplers for case in sampler()]
