"""One op as a graph, run by the native engine and by the reference: what tests of rules share.

agree(REGISTRY["sort"], [x], axis=0)          # equal results, sizes known and not, any layout
complains(REGISTRY["to_int"], [nan])          # the same exception from both
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from graphify.engines.base import get_engine
from graphify.ir.graph import Graph
from graphify.ir.op import Op
from tests.engines.ops import table_graph
from tests.tolerances import assert_close


def graph_of(op: Op, arrays: Sequence[Any], symbolic: bool, attrs: dict[str, Any]) -> Graph:
    graph, _ = table_graph(op, [(tuple(arrays), attrs)], symbolic)
    return graph


def layouts(array: Any) -> list[Any]:
    """The same elements in C order, reversed, and in other strides."""
    if not array.ndim or not array.size:
        return [array]
    room = np.zeros([2 * d for d in array.shape], array.dtype)
    part = room[tuple(slice(None, None, 2) for _ in array.shape)]
    part[...] = array
    return [array, array.copy("F")[::-1][::-1], part]


def agree(
    op: Op,
    arrays: Sequence[Any],
    *,
    loss: float = 1,
    host: bool = True,
    static: bool = True,
    exact: bool = False,
    **attrs: Any,
) -> None:
    """Asserts equal results.

    Args:
        host: whether a part of the program may be run by Python.
        static: with lengths in the graph, too.
        exact: bit for bit.
    """
    for symbolic in (False, True) if static else (True,):
        graph = graph_of(op, arrays, symbolic, attrs)
        want = get_engine("reference").compile(graph)(list(arrays))
        executable = get_engine("native").compile(graph)
        if not host:
            assert "host" not in executable.lowered().text
        for given in zip(*(layouts(a) for a in arrays), strict=False):
            for g, w in zip(executable(list(given)), want, strict=True):
                assert_close(g, w, loss=loss)
                if exact:
                    assert g.tobytes() == w.tobytes()


def complains(op: Op, arrays: Sequence[Any], symbolic: bool = True, **attrs: Any) -> None:
    """Asserts that both engines raise the same."""
    graph = graph_of(op, arrays, symbolic, attrs)
    with pytest.raises(Exception) as want:
        get_engine("reference").compile(graph)(list(arrays))
    with pytest.raises(want.type) as got:
        get_engine("native").compile(graph)(list(arrays))
    assert str(got.value).splitlines()[0] == str(want.value).splitlines()[0]


def agree_in_sizes(op: Op, cases: Sequence[Sequence[Any]], **attrs: Any) -> None:
    """As `agree`, for operands of equal ranks: compiled once, run for all of them."""
    graph = graph_of(op, cases[0], True, attrs)
    native, reference = (get_engine(name).compile(graph) for name in ("native", "reference"))
    assert "host" not in native.lowered().text
    for arrays in cases:
        for g, w in zip(native(list(arrays)), reference(list(arrays)), strict=True):
            assert_close(g, w)
