"""The TensorFlow engine against each op's meaning in NumPy, op by op."""

from typing import Any

import numpy as np
import pytest

import graphify.ops.control
import graphify.ops.convert
import graphify.ops.effects
import graphify.ops.operators  # noqa: F401  # attaches Tensor's methods
from graphify.engines.base import get_engine
from graphify.ir.bind import Tensor, recording
from graphify.ir.graph import Builder, Graph
from graphify.ir.op import REGISTRY, Op
from graphify.ir.sizes import fresh
from graphify.ir.types import Spec
from tests.engines.ops import SAMPLED, samples
from tests.tolerances import assert_close

pytestmark = pytest.mark.tensorflow

# Results that are right up to a sign or phase per column: compared by what they multiply to.
UP_TO_PHASE: set[str] = set()


def table_graph(op: Op, cases: list[Any], symbolic: bool) -> tuple[Graph, list[Any]]:
    """One graph that applies the op to every case; the arrays it takes."""
    builder, feeds = Builder(), []
    with recording(builder):
        results = []
        for arrays, attrs in cases:
            params = []
            for array in arrays:
                shape = tuple(fresh("n") for _ in array.shape) if symbolic else array.shape
                params.append(Tensor(builder.param(Spec(shape, array.dtype))))
                feeds.append(array)
            y = op(*params, **attrs)
            results += list(y) if isinstance(y, tuple) else [y]
        values = [t._value if t.is_symbolic else builder.add(*_constant(t))[0] for t in results]
    return builder.finish(values), feeds


def _constant(tensor: Tensor) -> Any:
    from graphify.ir.graph import Literal, constant

    return constant, (), {"value": Literal(tensor.numpy())}


@pytest.mark.parametrize("name", SAMPLED)
def test_op_table(name: str) -> None:
    op = REGISTRY[name]
    graph, feeds = table_graph(op, samples(op), symbolic=False)
    compare(graph, feeds)


@pytest.mark.parametrize("name", SAMPLED)
def test_op_table_with_symbolic_sizes(name: str) -> None:
    op = REGISTRY[name]
    cases = [case for case in samples(op) if any(a.ndim for a in case[0])]
    if not cases:
        pytest.skip("no operand has an axis")
    graph, feeds = table_graph(op, cases, symbolic=True)
    compare(graph, feeds)


def compare(graph: Graph, feeds: list[Any]) -> None:
    """TensorFlow and the reference give equal results."""
    want = get_engine("reference").compile(graph)(feeds)
    got = get_engine("tensorflow").compile(graph)(feeds)
    for value, g, w in zip(graph.results, got, want, strict=True):
        try:
            assert_close(g, w, loss=10)
        except AssertionError as error:
            inputs = [v.spec for v in value.node.inputs]
            raise AssertionError(f"{value.node.op.name} {inputs} {dict(value.node.attrs)}: {error}") from None
