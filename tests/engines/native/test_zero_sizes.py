"""Arrays without elements: what NumPy gives, or the exception that it raises, op by op."""

from typing import Any

import pytest

from graphify.engines.base import get_engine
from graphify.errors import GraphifyError
from graphify.ir.op import REGISTRY
from tests.engines.ops import SAMPLED, samples, table_graph
from tests.tolerances import assert_close

CUTS = {
    "first axis": lambda a: a[:0],
    "last axis": lambda a: a[..., :0],
    "all axes": lambda a: a[tuple(slice(0, 0) for _ in a.shape)],
}
# The native engine looks at more lengths than the reference does, or keys are of the whole array.
OTHERWISE = ("convolution", "einsum", "slice", "slice_update")
SOME = 6  # samples of each op


def outcome(engine: str, graph: Any, arrays: Any) -> Any:
    try:
        return get_engine(engine).compile(graph)(list(arrays))
    except Exception as error:
        return error


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", [name for name in SAMPLED if name not in OTHERWISE])
def test_op(name: str, cut: str) -> None:
    op = REGISTRY[name]
    for arrays, attrs in samples(op)[:SOME]:
        empty = [CUTS[cut](a) if a.ndim else a for a in arrays]
        try:
            graph, _ = table_graph(op, [(arrays, attrs)], symbolic=True)
        except GraphifyError:
            continue  # needs static shapes
        want, got = (outcome(engine, graph, empty) for engine in ("reference", "native"))
        if isinstance(want, Exception):
            assert isinstance(got, type(want)), (attrs, want, got)
            continue
        assert not isinstance(got, Exception), (attrs, got)
        for g, w in zip(got, want, strict=True):
            assert_close(g, w, loss=10)
