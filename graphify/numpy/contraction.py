"""Products summed over named axes: einsum.

gnp.einsum("ij,jk->ik", a, b)        gnp.einsum(a, [0, 1], b, [1, 2])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Shape
from graphify.ir.tensor import Tensor
from graphify.ir.types import canonical_dtype
from graphify.numpy._table import (
    Casting,
    cast_operand,
    check_options,
    equal_lengths,
    finish,
    implements,
    integer_of,
    to_tensor,
)
from graphify.ops import shape as ops
from graphify.ops import views
from graphify.ops.einsum import canonical
from graphify.ops.einsum import einsum as einsum_op
from graphify.ops.rules import operand


@implements(np.einsum)
def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: str = "K",
    casting: Casting = "safe",
) -> Tensor:
    """Products summed over named axes: "ij,jk->ik"."""
    check_options(casting, order)
    if optimize is not False and casting == "safe":  # NumPy then multiplies by matmul
        casting = "same_kind"
    subscripts, arrays = _einsum_arguments(operands)
    xs = [to_tensor(array) for array in arrays]
    if not xs:
        raise ValueError("must provide at least an operand and a subscripts list to einsum")
    wanted = None if dtype is None else canonical_dtype(dtype)
    text = canonical(subscripts, [x.ndim for x in xs])
    left, _, right = text.partition("->")
    if len(xs) == 1 and set(left) == set(right):
        return finish(_einsum_view(xs[0], left, right), out, casting)  # of any dtype
    common = wanted or result_type(*map(operand, xs))
    xs = [cast_operand("einsum", x, common, casting) for x in xs]
    return finish(einsum_op(*xs, subscripts=text), out, casting)


@implements(np.einsum_path)
def einsum_path(*operands: Any, **options: Any) -> Any:
    """The order of products that `einsum` would take, of shapes known while tracing."""
    subscripts, arrays = _einsum_arguments(operands)
    likes = [np.broadcast_to(0.0, _known(to_tensor(array).dims)) for array in arrays]
    return np.einsum_path(subscripts, *likes, **options)


def _known(shape: Shape) -> list[int]:
    lengths = [dim for dim in shape if isinstance(dim, int)]
    if len(lengths) < len(shape):
        raise SpecError(
            f"einsum_path: the shape {shape} is only known when the graph runs",
            remedy="call np.einsum(..., optimize=True)",
        )
    return lengths


def _einsum_arguments(operands: Any) -> tuple[str, list[Any]]:
    """The subscripts as text, also from the form einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if operands and isinstance(operands[0], str):
        return operands[0], list(operands[1:])
    pairs = len(operands) // 2
    terms = [_spelled(operands[2 * i + 1]) for i in range(pairs)]
    arrays = [operands[2 * i] for i in range(pairs)]
    result = "->" + _spelled(operands[-1]) if len(operands) % 2 else ""
    return ",".join(terms) + result, arrays


def _spelled(labels: Any) -> str:
    return "".join("..." if label is Ellipsis else _letter(label) for label in labels)


def _letter(label: Any) -> str:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    number = integer_of(label, "each subscript must be either an integer or an ellipsis")
    if not 0 <= number < len(letters):
        raise ValueError("subscript is not within the valid range [0, 52)")
    return letters[number]


def _einsum_view(x: Tensor, left: str, right: str) -> Tensor:
    """Diagonals and transposes are views, writeable ones."""
    labels = list(left)
    while len(set(labels)) < len(labels):
        letter = next(c for c in labels if labels.count(c) > 1)
        first = labels.index(letter)
        second = labels.index(letter, first + 1)
        rows, columns = x.dims[first], x.dims[second]
        equal_lengths(
            rows,
            columns,
            f"dimensions in operand 0 for collapsing index '{letter}' don't match "
            f"({rows} != {columns})",
        )
        x = views.diagonal(x, offset=0, axis1=first, axis2=second, writeable=True)
        labels = [c for i, c in enumerate(labels) if i not in (first, second)] + [letter]
    return ops.transpose(x, axes=tuple(labels.index(c) for c in right))
