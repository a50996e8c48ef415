"""Derivatives of branches and calls: the same op over the derivatives of its sub-graphs.

    d cond(p, x; f, g) = cond(p, x, ct; vjp f, vjp g)

What a branch computed is computed again inside its derivative, so nothing is kept for the branch
that did not run. Effects are not repeated. Loops are in `graphify.transforms.loops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphify.ir.graph import Graph
from graphify.ir.tensor import Tensor
from graphify.ops import core
from graphify.ops.control import call, cond, set_rules
from graphify.transforms import build
from graphify.transforms.jvp import jvp_graph
from graphify.transforms.vjp import vjp_graph

Maybe = Sequence[Tensor | None]


def present(values: Maybe) -> list[Tensor]:
    """The derivatives that are there, as arrays."""
    return [core.strong(value) for value in values if value is not None]


def flags(values: Maybe) -> tuple[bool, ...]:
    return tuple(value is not None for value in values)


def spread(values: Sequence[Tensor], mask: Sequence[bool]) -> list[Tensor | None]:
    """One value per True of the mask, None elsewhere."""
    rest = iter(values)
    return [next(rest) if on else None for on in mask]


def either(*masks: Sequence[bool]) -> tuple[bool, ...]:
    return tuple(any(column) for column in zip(*masks, strict=True))


def both(a: Sequence[bool], b: Sequence[bool]) -> tuple[bool, ...]:
    return tuple(x and y for x, y in zip(a, b, strict=True))


def asked(operands: Sequence[Tensor], wanted: Sequence[bool] | None) -> tuple[bool, ...]:
    """Operands whose cotangent is asked for."""
    smooth = build.inexact(operand.spec for operand in operands)
    return smooth if wanted is None else both(smooth, wanted)


# --- call -----------------------------------------------------------------------------------------


def _call_vjp(
    gs: Maybe, ys: Any, *operands: Tensor, body: Graph, wanted: Sequence[bool] | None = None
) -> list[Tensor | None]:
    derived = vjp_graph(body, asked(operands, wanted), flags(gs))
    return spread(call.several(*operands, *present(gs), body=derived.graph), derived.mask)


def _call_jvp(ts: Maybe, ys: Any, *operands: Tensor, body: Graph) -> list[Tensor | None]:
    derived = jvp_graph(body, flags(ts))
    return spread(call.several(*operands, *present(ts), body=derived.graph), derived.mask)


# --- cond -----------------------------------------------------------------------------------------


def _cond_vjp(
    gs: Maybe,
    ys: Any,
    pred: Tensor,
    *operands: Tensor,
    true: Graph,
    false: Graph,
    wanted: Sequence[bool] | None = None,
) -> list[Tensor | None]:
    want = asked(operands, None if wanted is None else wanted[1:])
    masks = [vjp_graph(branch, want, flags(gs)).mask for branch in (true, false)]
    emit = either(*masks)
    sides = [vjp_graph(branch, want, flags(gs), emit).graph for branch in (true, false)]
    grads = (
        cond.several(pred, *operands, *present(gs), true=sides[0], false=sides[1])
        if any(emit)
        else ()
    )
    return [None, *spread(grads, emit)]


def _cond_jvp(
    ts: Maybe, ys: Any, pred: Tensor, *operands: Tensor, true: Graph, false: Graph
) -> list[Tensor | None]:
    given = flags(ts[1:])
    emit = either(*(jvp_graph(branch, given).mask for branch in (true, false)))
    sides = [jvp_graph(branch, given, emit).graph for branch in (true, false)]
    tangents = cond.several(pred, *operands, *present(ts[1:]), true=sides[0], false=sides[1])
    return spread(tangents, emit)


set_rules(call, vjp=_call_vjp, jvp=_call_jvp)
set_rules(cond, vjp=_cond_vjp, jvp=_cond_jvp)
