"""Graphs built by hand: functions of tensors, and sub-graphs for control flow."""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.context import recording
from graphify.ir.graph import Builder, Graph, Literal, Value, constant
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec

F64, I64, BOOLEAN = np.dtype("float64"), np.dtype("int64"), np.dtype("bool")


def graph_of(function: Callable[..., Any], *specs: Spec, names: tuple[str, ...] = ()) -> Graph:
    """The graph that a function of tensors records; it may give one tensor, several, or none."""
    builder = Builder()
    with recording(builder):
        labels = names or (None,) * len(specs)
        params = [Tensor(builder.param(s, n)) for s, n in zip(specs, labels, strict=True)]
        results = function(*params)
        if results is None:
            results = []
        elif not isinstance(results, (tuple, list)):
            results = [results]
        return builder.finish([_value(builder, r) for r in results])


def _value(builder: Builder, tensor: Tensor) -> Value:
    if tensor.is_symbolic:
        return tensor._value
    return builder.add(constant, (), {"value": Literal(tensor.numpy())})[0]


def scalar(dtype: Any = F64) -> Spec:
    return Spec((), np.dtype(dtype))
