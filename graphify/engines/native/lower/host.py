"""Ops run by their reference meaning, called from inside the compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.engines.native.loops.numbers import zero
from graphify.engines.native.loops.program import (
    INDEX,
    Buffer,
    Call,
    Expr,
    Handle,
    Var,
)
from graphify.engines.native.lower.arrays import whole
from graphify.engines.native.lower.lowering import Lowering, rule
from graphify.errors import at
from graphify.ir.graph import Node, Value, attr_sizes
from graphify.ir.sizes import SizeVar, substitute
from graphify.ir.types import DType


@dataclass(frozen=True, slots=True)
class Host:
    """A node as a Python function of arrays.

    Attributes:
        inputs, outputs: dtype and rank of each array.
        sizes: size variables whose values come as further inputs, int64 scalars.
    """

    node: Node
    inputs: tuple[tuple[DType, int], ...]
    outputs: tuple[tuple[DType, int], ...]
    sizes: tuple[SizeVar, ...] = ()

    def call(self, arrays: Sequence[Any]) -> list[Any]:
        """The results, as arrays. Raises what the node's meaning raises, with the user's line."""
        node, count = self.node, len(self.node.inputs)
        meaning = node.op.meaning(bool(node.specs) and node.specs[0].weak)
        assert meaning is not None
        attrs: Mapping[str, Any] = node.attrs
        if self.sizes:
            values = {v: int(a) for v, a in zip(self.sizes, arrays[count:], strict=True)}
            attrs = {
                name: value if name == "var" else substitute(value, values)
                for name, value in attrs.items()
            }
        try:
            with np.errstate(all="ignore"):
                result = meaning(*arrays[:count], **attrs)
        except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
            located = at(error, node.source.resolve() if node.source else None)
            raise located from (error.__cause__ if located is error else error)
        if len(node.specs) == 1:
            result = [result[0] if isinstance(result, (tuple, list)) else result]
        return [np.asarray(r) for r in (result if node.specs else ())]


@rule("host")
def _host(low: Lowering, node: Node) -> None:
    outsource(low, node, "host", {})


def outsource(low: Lowering, node: Node, function: str, notes: Mapping[str, Any]) -> None:
    """A call with the operands and results of a node, which may be one of its meaning in Python.

    Arrays by address, scalars by value; results of unknown shape are allocated by the callee.

    Args:
        notes: what else the call's attributes say.
    """
    sizes = tuple(dict.fromkeys(attr_sizes(node.attrs)))
    inputs, scalars, described = operands(low, node.inputs)
    scalars += [low.frame.sizes[v] for v in sizes]
    described += [(INDEX, 0) for _ in sizes]
    outputs: list[Buffer] = []
    variables: list[Var] = []
    results: list[Any] = []
    for value in node.outputs:
        spec = value.spec
        if not spec.shape:
            var = low.variable(low.hint, zero(spec.dtype))
            variables.append(var)
            results.append(var)
        elif all(low.bound(dim) for dim in spec.shape):
            lens = low.target(value, low.dims(spec.shape))
            if not lens.is_whole:
                lens = whole(low.buffer(spec.dtype, lens.shape))
            outputs.append(lens.buffer)
            results.append(lens)
        else:
            shape = tuple(low.variable(f"d{a}", zero(INDEX)) for a in range(spec.ndim))
            buffer = Buffer(low.hint, spec.dtype, shape, Handle())
            low.own.add(buffer)
            outputs.append(buffer)
            results.append(whole(buffer))
    host = Host(
        node,
        tuple(described),
        tuple((b.dtype, b.ndim) for b in outputs) + tuple((v.dtype, 0) for v in variables),
        sizes,
    )
    low.hosts.append(Ordered(host, node))
    number = len(low.hosts) - 1
    low.emit(
        Call(
            function,
            tuple(outputs),
            tuple(inputs),
            tuple(scalars),
            tuple(variables),
            {"number": number, **notes},
            0,
            node.source,
        )
    )
    for value, result in zip(node.outputs, results, strict=True):
        low.define(value, result)


@dataclass(frozen=True, slots=True)
class Ordered:
    """A host function whose arrays come first and whose scalars come last, as calls pass them."""

    host: Host
    node: Node

    @property
    def inputs(self) -> tuple[tuple[DType, int], ...]:
        ranks = self.host.inputs
        return tuple(r for r in ranks if r[1]) + tuple(r for r in ranks if not r[1])

    @property
    def outputs(self) -> tuple[tuple[DType, int], ...]:
        return self.host.outputs

    def call(self, arrays: Sequence[Any]) -> list[Any]:
        ranks = self.host.inputs
        given = iter(arrays[: sum(bool(r) for _, r in ranks)])
        numbers = iter(arrays[sum(bool(r) for _, r in ranks) :])
        ordered = [next(given) if rank else next(numbers) for _, rank in ranks]
        results = self.host.call(ordered)
        big = [r for r, s in zip(results, self.node.specs, strict=True) if s.shape]
        return big + [r for r, s in zip(results, self.node.specs, strict=True) if not s.shape]


def operands(
    low: Lowering, values: Sequence[Value]
) -> tuple[list[Buffer], list[Expr], list[tuple[DType, int]]]:
    """Array operands as buffers, scalar ones as expressions, and what they are in order."""
    inputs: list[Buffer] = []
    scalars: list[Expr] = []
    described: list[tuple[DType, int]] = []
    for value in values:
        described.append((value.spec.dtype, value.spec.ndim))
        if value.spec.shape:
            inputs.append(low.memory(value).strided())
        else:
            scalars.append(low.scalar(value))
    return inputs, scalars, described
