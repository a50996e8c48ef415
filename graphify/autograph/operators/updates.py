"""What an update in place makes of the tensors that are, under a condition, the same array.

select(when, x, y)                        # np.where(when, x, y), if x and y have one shape
select(when, lambda: x[1:], y)            # a branch: x[1:] need not make sense elsewhere
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphify.autograph.operators.branches import close
from graphify.errors import GraphifyError
from graphify.ir.graph import Builder, Value
from graphify.ir.sharing import unknown
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ops import control, core, elementwise
from graphify.tracing.capture import captured, frame


def select(when: Tensor, changed: Tensor | Callable[[], Tensor], other: Tensor) -> Tensor:
    """`changed` where the condition holds, else `other`; as that one in shape.

    Raises:
        TraceError: it would be an error to update the one that may be meant.
    """
    condition, other = resolve(when), resolve(other)  # a view may show what a branch wrote
    if not condition.is_symbolic and not condition.numpy():
        return other
    if isinstance(changed, Tensor) and changed.dims == other.dims:
        return elementwise.where(condition, changed, other)
    if not condition.is_symbolic:
        return _fitted(_made(changed), other)
    with frame("true") as true:
        try:
            then = value_in(_fitted(resolve(_made(changed)), other), true)
        except ValueError as error:
            if isinstance(error, GraphifyError):
                raise
            raise unknown() from error
    with frame("false") as false:
        stays = value_in(resolve(other), false)
    return _cond(condition, true, [then], false, [stays])[0]


def branch(
    pred: Tensor,
    if_true: Callable[[], Sequence[Tensor]],
    if_false: Callable[[], Sequence[Tensor]],
) -> list[Tensor]:
    """The tensors that one of two functions makes, neither of which writes to anything."""
    with frame("true") as true:
        then = [value_in(resolve(tensor), true) for tensor in if_true()]
    with frame("false") as false:
        other = [value_in(resolve(tensor), false) for tensor in if_false()]
    return _cond(pred, true, then, false, other)


def _cond(
    pred: Tensor, true: Builder, then: Sequence[Value], false: Builder, other: Sequence[Value]
) -> list[Tensor]:
    operands = list(dict.fromkeys([*captured(true), *captured(false)]))
    graphs = (close(true, operands, then, "true"), close(false, operands, other, "false"))
    tensors = map(Tensor, operands)
    return list(control.cond.several(pred, *tensors, true=graphs[0], false=graphs[1]))


def _made(changed: Tensor | Callable[[], Tensor]) -> Tensor:
    return changed if isinstance(changed, Tensor) else changed()


def _fitted(tensor: Tensor, like: Tensor) -> Tensor:
    if tensor.dims == like.dims:
        return tensor
    return core.reshape(tensor, shape=like.dims)
