"""Loops over what is known while tracing: long ones are run by the function's engine, on the spot.

    total = 0.0
    for i in range(1_000_000):       # nothing here depends on an argument
        total += 1 / (i * i + 1)     # total is a number while the rest is traced

Their result is the one that the interpreter of eager ops gives, in a thousandth of its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from graphify.autograph.operators.state import Unstageable
from graphify.ir.context import active_tapes, current_builder, recording
from graphify.ir.graph import Builder, Graph, Node
from graphify.ir.op import Op
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.location import here
from graphify.tracing.capture import root_of

MOST_INTERPRETED = 5000  # nodes run one by one: about 0.1 s
GUESSED = 8  # turns of an inner loop whose length only its turn knows


def loop(op: Op, operands: Sequence[Tensor], attrs: dict[str, Any]) -> Sequence[Tensor]:
    """A loop op on tensors: recorded, interpreted or, where that would take long, run."""
    turns = attrs["length"]
    work = turns * work_of(attrs["body"].nodes) if isinstance(turns, int) else 0
    if work > MOST_INTERPRETED and _can_run(operands, attrs):
        return evaluated(op, operands, attrs)
    return tuple(op.several(*operands, **attrs))


def evaluated(op: Op, operands: Sequence[Tensor], attrs: dict[str, Any]) -> Sequence[Tensor]:
    """The results of an op on known tensors, by the engine of the function being traced.

    Raises:
        Unstageable: they are not known, or the op prints or checks something.
        Exception: what the op raises.
    """
    root = root_of(current_builder())
    run = None if root is None else root.run
    if run is None or not _can_run(operands, attrs):
        raise Unstageable("its values are only known when the graph runs", location=here())
    known = [resolve(operand) for operand in operands]
    builder = Builder(None, "known")
    with recording(builder):
        inside = [Tensor(builder.param(t.spec)) for t in known]
        made = op.several(*inside, **attrs)
        results = tuple(value_in(tensor, builder) for tensor in made)
    graph = Graph(tuple(builder.params), tuple(builder.nodes), results, "known")
    arrays = run(graph, [np.asarray(t.numpy()) for t in known])
    return tuple(
        Tensor(np.asarray(array), weak=value.spec.weak)
        for array, value in zip(arrays, results, strict=True)
    )


def _can_run(operands: Sequence[Tensor], attrs: Mapping[str, Any]) -> bool:
    return (
        getattr(root_of(current_builder()), "run", None) is not None
        and not active_tapes()
        and not any(isinstance(v, Graph) and v.effects for v in attrs.values())
        and not any(resolve(operand).is_symbolic for operand in operands)
    )


def work_of(nodes: Iterable[Node]) -> int:
    """How many nodes one run of these takes, as far as the lengths of inner loops are known."""
    work = 0
    for node in nodes:
        inner = [value for value in node.attrs.values() if isinstance(value, Graph)]
        turns = node.attrs.get("length", GUESSED)
        turns = turns if isinstance(turns, int) else GUESSED
        work += 1 + turns * sum(work_of(graph.nodes) for graph in inner)
    return work
