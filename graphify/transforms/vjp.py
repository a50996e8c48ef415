"""Reverse mode: cotangents carried backwards through a tape or a graph.

    with taping(tape): y = f(x)
    (gx,) = backprop(tape.records, [tape.key(y)], [g], [tape.key(x)])

Rules are ordinary functions of tensors, so an outer tape, an enclosing trace or a batch sees the
backward pass as it sees any other work. The cotangent of a complex value follows TensorFlow: the
gradient of a real loss points uphill.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.errors import TransformError
from graphify.ir.context import taping
from graphify.ir.graph import Graph
from graphify.ir.replay import replay
from graphify.ir.tensor import Tensor
from graphify.ir.types import is_inexact
from graphify.ops import core
from graphify.ops.elementwise import add
from graphify.transforms import build
from graphify.transforms.tape import Key, Record, Tape, tensor_of


def backprop(
    records: Sequence[Record],
    targets: Sequence[Key],
    cotangents: Sequence[Tensor | None],
    sources: Sequence[Key],
) -> list[Tensor | None]:
    """The cotangent of each source, None where no target depends on it.

    Raises:
        TransformError: an op between a source and a target has no derivative.
    """
    path, reached = reachable(records, sources)
    totals: dict[Key, Tensor] = {}
    with np.errstate(all="ignore"):  # a rule may divide by a zero whose result nobody uses
        for target, g in zip(targets, cotangents, strict=True):
            if g is not None and target in reached:
                _accumulate(totals, target, adopt(g, tensor_of(target)))
        kept = set(sources)
        for record in reversed(path):
            gs = [totals.get(k) if k in kept else totals.pop(k, None) for k in record.outputs]
            if all(g is None for g in gs):
                continue
            wanted = tuple(key in reached for key in record.inputs)
            grads = pull(record, gs, wanted)
            for key, grad, want in zip(record.inputs, grads, wanted, strict=True):
                if want and grad is not None:
                    _accumulate(totals, key, grad)
    return [totals.get(source) for source in sources]


def reachable(records: Sequence[Record], sources: Sequence[Key]) -> tuple[list[Record], set[Key]]:
    """The records, in order, that a source reaches; every key it reaches."""
    reached, path = set(sources), []
    for record in records:
        if any(key in reached for key in record.active()):
            reached.update(k for k in record.outputs if is_inexact(tensor_of(k).dtype))
            path.append(record)
    return path, reached


def _accumulate(totals: dict[Key, Tensor], key: Key, g: Tensor) -> None:
    known = totals.get(key)
    totals[key] = g if known is None else add(known, g)


def adopt(g: Tensor, y: Tensor) -> Tensor:
    """A cotangent or tangent in the dtype of its value, its axes named as the value's are."""
    g = core.strong(g) if g.dtype == y.dtype else core.cast(g, dtype=y.dtype)
    return g if g.dims == y.dims else core.reshape(g, shape=y.dims)


def pull(record: Record, gs: Sequence[Tensor | None], wanted: tuple[bool, ...]) -> Sequence[Any]:
    """The cotangents of a record's inputs."""
    op = record.op
    if op.vjp is None:
        raise no_rule(record, "gradient")
    xs = [tensor_of(key) for key in record.inputs]
    ys = [tensor_of(key) for key in record.outputs]
    options = {"wanted": wanted} if op.extra.get("wanted") else {}
    if not record.several:
        cotangents: Sequence[Any] = op.vjp(gs[0], ys[0], *xs, **options, **record.attrs)
        return cotangents
    if not op.extra.get("control"):
        gs = [_filled(g, y) for g, y in zip(gs, ys, strict=True)]
    cotangents = op.vjp(tuple(gs), tuple(ys), *xs, **options, **record.attrs)
    return cotangents


def _filled(g: Tensor | None, y: Tensor) -> Tensor | None:
    return core.zeros_like(y) if g is None and is_inexact(y.dtype) else g


def no_rule(record: Record, what: str) -> TransformError:
    remedy = "cut it off with graphify.stop_gradient, or give it a graphify.custom_gradient"
    if record.op.vjp is not None:
        remedy = "use reverse mode: graphify.grad, vjp, or jacobian(mode='reverse')"
    return TransformError(
        f"{record.op.name}: this operation has no {what}",
        location=record.source.resolve() if record.source else None,
        remedy=remedy,
    )


# --- graphs ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Derived:
    """The derivative of a graph, and which of the asked-for results are not zero throughout."""

    graph: Graph
    mask: tuple[bool, ...]


@functools.lru_cache(maxsize=512)
def vjp_graph(
    graph: Graph,
    wanted: tuple[bool, ...],
    given: tuple[bool, ...],
    emit: tuple[bool, ...] | None = None,
) -> Derived:
    """The reverse derivative of a closed graph, as a closed graph.

    Its parameters are those of `graph`, then one cotangent per `given` result. Its results are the
    cotangents of the parameters in `emit`, zeros where nothing flows (`emit=None`: of those that
    are not zero throughout, see `Derived.mask`).

    Args:
        wanted: parameters whose cotangent is asked for.
        given: results whose cotangent is known; that of the others is zero.
    """
    inner = build.without_effects(graph)
    own = build.param_specs(graph)
    extra = build.own_sizes([s for s, on in zip(graph.specs, given, strict=True) if on], own)
    mask: list[bool] = []

    def function(*args: Tensor) -> list[Tensor]:
        xs, rest = args[: len(own)], iter(args[len(own) :])
        tape = Tape()
        sources = [tape.watch(x) for x in xs]
        with taping(tape):
            ys = replay(inner, xs)
        gs = [next(rest) if on else None for on in given]
        asked = [key for key, on in zip(sources, wanted, strict=True) if on]
        found = iter(backprop(tape.records, [tape.key(y) for y in ys], gs, asked))
        grads = [next(found) if on else None for on in wanted]
        mask.extend(grad is not None for grad in grads)
        return chosen(grads, xs, emit)

    derived = build.trace(function, [*own, *extra], f"{graph.name}_vjp")
    return Derived(build.prune(derived), tuple(mask))


def chosen(
    values: Sequence[Tensor | None], xs: Sequence[Tensor], emit: Sequence[bool] | None
) -> list[Tensor]:
    """Derivatives to return: those that exist, or those in `emit` with zeros for missing ones."""
    if emit is None:
        return [adopt(v, x) for v, x in zip(values, xs, strict=True) if v is not None]
    return [
        core.zeros_like(x) if v is None else adopt(v, x)
        for v, x, on in zip(values, xs, emit, strict=True)
        if on
    ]
