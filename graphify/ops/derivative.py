"""Ops that concern derivatives alone: a value told from its equal, a cut, and a rule of one's own.

identity(x)           # the same value, differentiated with respect to on its own
stop_gradient(x)      # the same value, constant for every derivative
custom_gradient(*xs, *ys, *kept; inputs, outputs, backward)    # ys, with the gradient `backward`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.ir.graph import Graph
from graphify.ir.op import Op, defop
from graphify.ir.replay import replay
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec


def _samples() -> Any:
    return [((np.arange(3.0),), {}), ((np.array([1 + 2j]),), {}), ((np.array(2),), {})]


identity: Op = defop(
    "identity",
    spec=lambda x: x,
    eval=lambda x: x.view(),
    vjp=lambda g, y, x: [g],
    jvp="linear",
    vmap=lambda args, batched: identity(args[0]),
    put=lambda base, new: new,
    tf="identity",
    sample=_samples,
    extra={"weak": True},
    doc="the operand: a view that derivatives know as a value of its own",
)

stop_gradient: Op = defop(
    "stop_gradient",
    spec=lambda x: x,
    eval=lambda x: np.array(x, copy=True),
    vmap=lambda args, batched: stop_gradient(args[0]),
    tf="identity",
    sample=_samples,
    differentiable=(),
    extra={"weak": True},
    doc="the operand, constant for derivatives",
)


def _custom_spec(*operands: Spec, inputs: int, outputs: int, backward: Any) -> tuple[Spec, ...]:
    return operands[inputs : inputs + outputs]


def _custom_eval(*operands: Any, inputs: int, outputs: int, backward: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(y).view() for y in operands[inputs : inputs + outputs])


def _custom_vjp(
    gs: Sequence[Tensor],
    ys: Sequence[Tensor],
    *operands: Tensor,
    inputs: int,
    outputs: int,
    backward: Graph | Callable[..., Sequence[Tensor | None]],
) -> list[Tensor | None]:
    kept = operands[inputs + outputs :]
    grads = replay(backward, [*gs, *kept]) if isinstance(backward, Graph) else backward(*gs)
    return [*grads, *[None] * (outputs + len(kept))]


custom_gradient = defop(
    "custom_gradient",
    spec=_custom_spec,
    eval=_custom_eval,
    vjp=_custom_vjp,
    tf="custom_gradient",
    extra={"tuple": True},
    doc="results of a function whose gradient the user gives",
)
