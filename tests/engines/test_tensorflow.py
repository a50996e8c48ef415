"""The TensorFlow engine against each op's meaning in NumPy, op by op."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify.ops.control
import graphify.ops.convert
import graphify.ops.effects
import graphify.ops.operators  # noqa: F401  # attaches Tensor's methods
from graphify.engines.base import get_engine
from graphify.ir.graph import Graph
from graphify.ir.op import REGISTRY
from tests.engines.ops import SAMPLED, by_node, samples, symbolic_graph, table_graph
from tests.tolerances import assert_close

pytestmark = pytest.mark.tensorflow

# Factors that are unique up to signs, phases or order only: what they multiply to is compared.
PRODUCTS: dict[str, Callable[..., Any]] = {
    "svd": lambda u, s, vh: (u * s[..., None, :]) @ vh,
    "eigh": lambda w, v: (v * w[..., None, :]) @ np.swapaxes(v, -1, -2).conj(),
    "eig": lambda w, v: (v * w[..., None, :]) @ np.linalg.inv(v),
    "eigensystem": lambda w, v: (v * w[..., None, :]) @ np.linalg.inv(v),
    "eigvals": lambda w: np.sort(w, axis=-1),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_op_table(name: str) -> None:
    op = REGISTRY[name]
    graph, feeds = table_graph(op, samples(op), symbolic=False)
    compare(graph, feeds)


@pytest.mark.parametrize("name", SAMPLED)
def test_op_table_with_symbolic_sizes(name: str) -> None:
    graph, feeds = symbolic_graph(REGISTRY[name])
    compare(graph, feeds)


def compare(graph: Graph, feeds: list[Any], loss: float = 10) -> None:
    """TensorFlow and the reference give equal results."""
    want = get_engine("reference").compile(graph)(feeds)
    got = get_engine("tensorflow").compile(graph)(feeds)
    for node, mine, theirs in zip(
        *(by_node(graph, r) for r in (graph.results, got, want)), strict=True
    ):
        product = PRODUCTS.get(node[0].node.op.name)
        if product is not None:
            mine, theirs = [product(*mine)], [product(*theirs)]
        for g, w in zip(mine, theirs, strict=True):
            try:
                assert_close(g, w, loss=loss)
            except AssertionError as error:
                node_ = node[0].node
                specs = [str(v.spec) for v in node_.inputs]
                text = f"{node_.op.name} {specs} {dict(node_.attrs)}: {error}"
                raise AssertionError(text) from None
