"""The native engine against each op's meaning in NumPy: every op, every sample, every layout."""

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


def strided(array: Any) -> Any:
    """The same elements, in memory that lies in no order."""
    if not array.ndim:
        return array
    room = np.zeros([2 * d + 1 for d in array.shape], array.dtype)
    part = room[tuple(slice(1, None, 2) for _ in array.shape)]
    part[...] = array
    return part


LAYOUTS = {"C": lambda a: a, "F": lambda a: a.copy("F"), "strided": strided}


@pytest.mark.parametrize("name", SAMPLED)
def test_static(name: str) -> None:
    graph, feeds = table_graph(REGISTRY[name], samples(REGISTRY[name]), symbolic=False)
    compare(graph, feeds)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SAMPLED)
def test_symbolic_sizes(name: str, layout: str) -> None:
    graph, feeds = symbolic_graph(REGISTRY[name])
    if layout != "C" and not any(a.ndim > 1 for a in feeds):
        pytest.skip("no operand has two axes")
    compare(graph, [LAYOUTS[layout](a) for a in feeds])


def compare(graph: Graph, feeds: list[Any], loss: float = 10) -> None:
    """Both engines give equal results, and the arguments are as they were."""
    before = [np.array(a) for a in feeds]
    want = get_engine("reference").compile(graph)(feeds)
    got = get_engine("native").compile(graph)(feeds)
    for node, mine, theirs in zip(
        *(by_node(graph, r) for r in (graph.results, got, want)), strict=True
    ):
        for g, w in zip(mine, theirs, strict=True):
            try:
                assert_close(g, w, loss=loss)
            except AssertionError as error:
                node_ = node[0].node
                specs = [str(v.spec) for v in node_.inputs]
                text = f"{node_.op.name} {specs} {dict(node_.attrs)}: {error}"
                raise AssertionError(text) from None
    for a, b in zip(feeds, before, strict=True):
        np.testing.assert_array_equal(a, b)
