"""Linear algebra by LAPACK: copies in Fortran order, calls, failures. What the rules share.

    for at in stack:
        a[j, i] = x[*at, i, j]              # columns: LAPACK's order
        lapack(dgetrf, n, n, a, ld, pivots)
        ...

As NumPy does, everything is computed in double precision and rounded at the end. SciPy lends its
LAPACK; without it, the rules decline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import EllipsisType

import numpy as np

from graphify.engines.native import lapack
from graphify.engines.native.loops.program import (
    INDEX,
    ONE,
    ZERO,
    Apply,
    Buffer,
    Call,
    Const,
    Expr,
    Load,
    Var,
    compare,
    index,
)
from graphify.engines.native.lower.arrays import ArrayValue, Index, affine, whole
from graphify.engines.native.lower.elementwise import cast, mismatch
from graphify.engines.native.lower.lowering import Declined, Lowering
from graphify.ir.graph import Node
from graphify.ir.types import DType, is_complex, is_inexact, real_dtype

INT32, FLOAT64, COMPLEX128 = (np.dtype(t) for t in (np.int32, np.float64, np.complex128))

Element = Callable[[Index], Expr]
Argument = str | Expr | Buffer | EllipsisType


@dataclass(frozen=True, slots=True)
class Work:
    """Room that a routine asks for: an array, followed by its length if that is an argument."""

    dtype: DType
    has_length: bool = True


# --- operands -------------------------------------------------------------------------------------


def working_dtype(dtype: DType) -> DType:
    """The dtype that LAPACK computes in for operands of this one."""
    if not lapack.available() or not is_inexact(dtype) or real_dtype(dtype).itemsize < 4:
        raise Declined
    return COMPLEX128 if is_complex(dtype) else FLOAT64


def matrix_at(x: ArrayValue, at: Index) -> ArrayValue:
    """One matrix of a stack."""
    inner = [*(affine(offset=place) for place in at), affine((0, ONE)), affine((1, ONE))]
    return x.remap(x.shape[len(at) :], inner)


def transposed(x: ArrayValue) -> ArrayValue:
    return x.remap((x.shape[1], x.shape[0]), [affine((1, ONE)), affine((0, ONE))])


def columns(low: Lowering, x: ArrayValue, dtype: DType, hint: str = "a") -> Buffer:
    """A copy in Fortran order: its element [j, i] is x[i, j]."""
    turned = transposed(x)
    buffer = low.buffer(dtype, turned.shape, hint)
    fill(low, buffer, turned.at)
    return buffer


def fill(low: Lowering, buffer: Buffer, element: Element) -> None:
    """Every element of a buffer, in its dtype."""
    with low.loops(buffer.shape) as at:
        low.store(whole(buffer), at, cast(element(at), buffer.dtype))


def square(low: Lowering, node: Node, x: ArrayValue) -> Expr:
    """The side of square matrices; the reference's error if they are not."""
    rows, side = x.shape[-2:]
    if rows != side:
        mismatch(low, compare("not_equal", rows, side), node)
    return side


def at_least_one(n: Expr) -> Expr:
    """A leading dimension: LAPACK wants one even of nothing."""
    if isinstance(n, Const):
        return index(max(1, n.value))
    return Apply("maximum", (n, ONE), INDEX)


def smaller(low: Lowering, m: Expr, n: Expr) -> Expr:
    if isinstance(m, Const) and isinstance(n, Const):
        return index(min(m.value, n.value))
    return m if m == n else low.let(Apply("minimum", (m, n), INDEX), "k")


# --- calls ----------------------------------------------------------------------------------------


def call(low: Lowering, dtype: DType, routine: str, *args: Argument) -> Var:
    """Call a routine, with the letter of a dtype in front of its name; the status it gives."""
    info = low.variable("info", ZERO)
    buffers, scalars, words = list[Buffer](), list[Expr](), list[str]()
    nothing: Buffer | None = None
    for arg in args:
        if arg is ...:
            nothing = arg = nothing or low.buffer(COMPLEX128, (ONE,), "nothing")
        if isinstance(arg, Buffer):
            words.append(f"b{len(buffers)}")
            buffers.append(arg)
        elif isinstance(arg, str):
            words.append(f"'{arg}")
        else:
            words.append(f"s{len(scalars)}")
            scalars.append(low.let(arg))
    letter = "z" if is_complex(dtype) else "d"
    attrs = {"routine": letter + routine, "args": tuple(words)}
    touched = tuple(buffers)
    low.emit(Call("lapack", touched, touched, tuple(scalars), (info,), attrs, 0, low.source))
    return info


def room_for(
    low: Lowering, dtype: DType, routine: str, *args: Argument | Work
) -> Callable[[], list[Argument]]:
    """Asks a routine how much room it needs; gives what allocates it: arrays and their lengths.

    Args:
        args: as the routine's; `...` stands for arrays, which it does not look at.
    """
    answers, asked = dict[Work, Buffer](), list[Argument]()
    for arg in args:
        if isinstance(arg, Work):
            answers[arg] = low.buffer(arg.dtype, (ONE,), "needed")
            asked += [answers[arg], *[index(-1)] * arg.has_length]
        else:
            asked.append(arg)
    call(low, dtype, routine, *asked)
    sizes = {work: _size(low, answer) for work, answer in answers.items()}

    def allocate() -> list[Argument]:
        rooms: list[Argument] = []
        for work, size in sizes.items():
            rooms += [low.buffer(work.dtype, (size,), "work"), *[size] * work.has_length]
        return rooms

    return allocate


def _size(low: Lowering, answer: Buffer) -> Expr:
    found: Expr = Load(answer, (ZERO,))
    if is_complex(answer.dtype):
        found = Apply("real", (found,), real_dtype(answer.dtype))
    return low.let(Apply("maximum", (cast(found, INDEX), ONE), INDEX), "needed")


def fail_if(low: Lowering, info: Var, text: str) -> None:
    """A status that is not zero is an error."""
    low.fail(compare("not_equal", info, ZERO), np.linalg.LinAlgError, text)


# --- results --------------------------------------------------------------------------------------


def over_stack(
    low: Lowering,
    node: Node,
    lead: Index,
    cores: Sequence[Index],
    body: Callable[[Index], Sequence[Element]],
) -> None:
    """The results of a node, each a stack of `cores`: `body` gives the elements for one place."""
    outputs = node.outputs
    shapes = [
        low.dims(value.spec.shape, (*lead, *core))
        for value, core in zip(outputs, cores, strict=True)
    ]
    targets = [low.target(v, s) if s else None for v, s in zip(outputs, shapes, strict=True)]
    scalars: dict[int, Expr] = {}
    with low.loops(lead) as at:
        for k, element in enumerate(body(at)):
            target, dtype = targets[k], outputs[k].spec.dtype
            if target is None:
                scalars[k] = low.let(cast(element(()), dtype))
                continue
            with low.loops(cores[k]) as place:
                low.store(target, (*at, *place), cast(element(place), dtype))
    for k, value in enumerate(outputs):
        low.define(value, targets[k] or scalars[k])


def element_of(buffer: Buffer) -> Element:
    """The elements of a matrix in Fortran order, or of a vector."""
    return lambda at: Load(buffer, tuple(reversed(at)))
