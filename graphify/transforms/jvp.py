"""Forward mode: tangents carried along a tape or a graph.

with taping(tape): y = f(x)
(ty,) = pushforward(tape.records, [tape.key(x)], [tx], [tape.key(y)])
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.ir.bind import bind
from graphify.ir.context import taping
from graphify.ir.graph import Graph
from graphify.ir.replay import replay
from graphify.ir.tensor import Tensor
from graphify.ir.types import is_inexact
from graphify.ops import core
from graphify.ops.elementwise import add
from graphify.transforms import build
from graphify.transforms.tape import Key, Record, Tape, tensor_of
from graphify.transforms.vjp import Derived, adopt, chosen, no_rule


def pushforward(
    records: Sequence[Record],
    sources: Sequence[Key],
    tangents: Sequence[Tensor | None],
    targets: Sequence[Key],
) -> list[Tensor | None]:
    """The tangent of each target, None where it depends on no source.

    Raises:
        TransformError: an op between a source and a target has no derivative.
    """
    known: dict[Key, Tensor] = {}
    needed = _leading_to(records, targets)
    with np.errstate(all="ignore"):
        for source, t in zip(sources, tangents, strict=True):
            if t is not None:
                t = adopt(t, tensor_of(source))
                known[source] = add(known[source], t) if source in known else t
        for record in records:
            if not any(key in known for key in record.active()):
                continue
            if not any(key in needed for key in record.outputs):
                continue
            results = push(record, [known.get(key) for key in record.inputs])
            for key, t in zip(record.outputs, results, strict=True):
                if t is not None and is_inexact(tensor_of(key).dtype):
                    known[key] = t
    return [known.get(target) for target in targets]


def _leading_to(records: Sequence[Record], targets: Sequence[Key]) -> set[Key]:
    needed = set(targets)
    for record in reversed(records):
        if any(key in needed for key in record.outputs):
            needed.update(record.active())
    return needed


def push(record: Record, ts: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The tangents of a record's results."""
    op, attrs = record.op, record.attrs
    xs = [tensor_of(key) for key in record.inputs]
    if op.differentiable is not None:
        ts = [t if i in op.differentiable else None for i, t in enumerate(ts)]
    if op.jvp is None:
        raise no_rule(record, "forward derivative")
    if op.jvp == "linear":
        filled = [core.zeros_like(x) if t is None else t for t, x in zip(ts, xs, strict=True)]
        result: Any = bind(op, filled, attrs, view=False, convert=False)
    elif op.jvp == "multilinear":
        result = _product_rule(record, ts, xs)
    else:
        assert callable(op.jvp)
        ys = tuple(tensor_of(key) for key in record.outputs)
        result = op.jvp(tuple(ts), ys if record.several else ys[0], *xs, **attrs)
    return result if isinstance(result, (tuple, list)) else [result] * len(record.outputs)


def _product_rule(record: Record, ts: Sequence[Tensor | None], xs: list[Tensor]) -> Tensor:
    total: Tensor | None = None
    for i, t in enumerate(ts):
        if t is not None:
            operands = [*xs[:i], t, *xs[i + 1 :]]
            term = bind(record.op, operands, record.attrs, view=False, convert=False)
            total = term if total is None else add(total, term)
    assert total is not None
    return total


@functools.lru_cache(maxsize=512)
def jvp_graph(
    graph: Graph, given: tuple[bool, ...], emit: tuple[bool, ...] | None = None
) -> Derived:
    """The forward derivative of a closed graph, as a closed graph.

    Its parameters are those of `graph`, then one tangent per `given` parameter. Its results are
    the tangents of the results in `emit`, zeros where nothing flows (`emit=None`: of those that are
    not zero throughout, see `Derived.mask`).
    """
    inner = build.without_effects(graph)
    own = build.param_specs(graph)
    extra = [build.strong_spec(spec) for spec, on in zip(own, given, strict=True) if on]
    mask: list[bool] = []

    def function(*args: Tensor) -> list[Tensor]:
        xs, rest = args[: len(own)], iter(args[len(own) :])
        tape = Tape()
        sources = [tape.watch(x) for x in xs]
        with taping(tape):
            ys = replay(inner, xs)
        ts = [next(rest) if on else None for on in given]
        tangents = pushforward(tape.records, sources, ts, [tape.key(y) for y in ys])
        mask.extend(t is not None for t in tangents)
        return chosen(tangents, ys, emit)

    derived = build.trace(function, [*own, *extra], f"{graph.name}_jvp")
    return Derived(build.prune(derived), tuple(mask))
