"""The registry's ops that have samples, and their samples as arrays."""

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import graphify.ops
from graphify.ir.context import recording
from graphify.ir.graph import Builder, Graph, Literal, constant
from graphify.ir.op import REGISTRY, Op
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec

for module in pkgutil.iter_modules(graphify.ops.__path__):
    importlib.import_module(f"graphify.ops.{module.name}")

SAMPLED = sorted(name for name, op in REGISTRY.items() if op.sample is not None)


def samples(op: Op) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """An op's samples: (arrays, attrs)."""
    cases = op.sample() if callable(op.sample) else (op.sample or [])
    return [(tuple(np.asarray(a) for a in arrays), dict(attrs)) for arrays, attrs in cases]


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


def symbolic_graph(op: Op) -> tuple[Graph, list[Any]]:
    """`table_graph` with symbolic sizes; skips the test of an op that cannot have them."""
    cases = [case for case in samples(op) if any(a.ndim for a in case[0])]
    if not cases:
        pytest.skip("no operand has an axis")
    if op.name == "random_bits":
        pytest.skip("a key has two numbers, never an unknown count")
    return table_graph(op, cases, symbolic=True)


def _constant(tensor: Tensor) -> Any:
    return constant, (), {"value": Literal(tensor.numpy())}


def by_node(graph: Graph, values: list[Any]) -> list[list[Any]]:
    """Values that stand beside the results, grouped by the node that makes the result."""
    groups: list[list[Any]] = []
    last = None
    for result, value in zip(graph.results, values, strict=True):
        if result.node is not last:
            groups.append([])
        groups[-1].append(value)
        last = result.node
    return groups
