"""From a graph to a loop-level program: parameters, sizes and results around the ops.

program = lower(graph)
"""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.loops.program import (
    INDEX,
    Block,
    Buffer,
    Expr,
    Let,
    Load,
    Param,
    Program,
    Result,
    Store,
    Var,
    compare,
    f_strides,
    index,
)
from graphify.engines.native.lower.arrays import Delayed, Lens, whole
from graphify.engines.native.lower.draws import locked
from graphify.engines.native.lower.liveness import Facts
from graphify.engines.native.lower.lowering import Frame, Lowering, want
from graphify.ir.graph import Graph, Value


def lower(graph: Graph, name: str | None = None, layouts: Sequence[str] | None = None) -> Program:
    """The loop-level program of a graph, as its nodes say it, before any pass.

    Args:
        layouts: for each parameter "C" or "F", the order of its elements in memory, or "any".
    """
    low = Lowering(name or graph.name)
    params = _parameters(graph, layouts)
    facts = Facts.of(graph)
    frame = Frame(facts, {}, {}, {}, set())
    low.frames.append(frame)
    for value, buffer in zip(graph.params, params, strict=True):
        low.define(value, whole(buffer))  # of no line: a parameter's is the caller's
    _check_sizes(low, graph, params)
    dims = [_known_dims(low, value) for value in graph.results]
    sizes, low.block = tuple(low.block), []
    sizes, scalars = _split_loads(sizes)
    low.block = low.top = list(scalars)
    low.results = _results(low, graph, dims)
    for node in facts.nodes:
        low.node(node)
    _deliver(low, graph, dims)
    body = locked(tuple(low.block), low.hosts)
    return Program(
        low.name,
        tuple(params),
        tuple(low.results),
        sizes,
        tuple(dims),
        body,
        tuple(low.sites),
        tuple(low.hosts),
        tuple(routine for routine in low.routines if routine is not None),
    )


def _parameters(graph: Graph, layouts: Sequence[str] | None) -> list[Buffer]:
    """A buffer for each parameter; every axis of symbolic length has a variable of its own."""
    buffers = []
    for position, value in enumerate(graph.params):
        name = value.node.attrs.get("name") or f"x{position}"
        shape = tuple(
            index(d) if isinstance(d, int) else Var(str(d).replace(" ", ""), INDEX)
            for d in value.spec.shape
        )
        strides = None
        if layouts is not None and layouts[position] == "F":
            strides = f_strides(shape)
        elif layouts is not None and layouts[position] == "any":
            strides = tuple(Var(f"s{axis}", INDEX) for axis in range(len(shape)))
        buffers.append(Buffer(_identifier(name), value.spec.dtype, shape, Param(position), strides))
    return buffers


def _identifier(name: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else "_" for c in str(name))


def _check_sizes(low: Lowering, graph: Graph, params: Sequence[Buffer]) -> None:
    """Axes that must have the length of another one, or an expression of such."""
    for value, buffer in zip(graph.params, params, strict=True):
        for axis, (dim, length) in enumerate(zip(value.spec.shape, buffer.shape, strict=True)):
            if isinstance(dim, int) or not low.bound(dim) or low.dim(dim) == length:
                continue
            low.fail(
                compare("not_equal", length, low.dim(dim)),
                ValueError,
                f"argument {buffer.name!r}: axis {axis}: expected length {{1}}, got {{0}}",
                length,
                low.dim(dim),
            )


def _known_dims(low: Lowering, value: Value) -> tuple[Expr, ...] | None:
    shape = value.spec.shape
    return low.dims(shape) if all(low.bound(dim) for dim in shape) else None


def _split_loads(block: Block) -> tuple[Block, Block]:
    """The reading of 0-d parameters is no matter of sizes."""
    reads = tuple(s for s in block if isinstance(s, Let) and isinstance(s.value, Load))
    return tuple(s for s in block if s not in reads), reads


def _results(low: Lowering, graph: Graph, dims: Sequence[tuple[Expr, ...] | None]) -> list[Buffer]:
    """A buffer for each result of known shape; values are asked for right there."""
    buffers: list[Buffer] = []
    params = set(graph.params)
    for position, (value, shape) in enumerate(zip(graph.results, dims, strict=True)):
        if shape is None:  # its axes are known when it is: see `made`
            shape = tuple(Var(f"d{axis}", INDEX, True) for axis in range(value.spec.ndim))
            buffers.append(Buffer(f"out{position}", value.spec.dtype, shape, Result(position)))
            if value not in params:
                low.late.setdefault(value, position)
            continue
        buffer = Buffer(f"out{position}", value.spec.dtype, shape, Result(position))
        buffers.append(buffer)
        low.own.add(buffer)
        if value.spec.shape and value not in params:
            want(low.frame.facts, value, whole(buffer), low.frame.wanted)
    return buffers


def _deliver(low: Lowering, graph: Graph, dims: Sequence[tuple[Expr, ...] | None]) -> None:
    """Copy what was not computed in its place."""
    for position, value in enumerate(graph.results):
        found, buffer = low.frame.values[value], low.results[position]
        if not isinstance(found, (Lens, Delayed)):
            low.emit(Store(buffer, (), found))
        elif not (isinstance(found, Lens) and found.buffer is buffer and found.is_whole):
            lens = whole(buffer) if dims[position] is not None else low.made(position, found.shape)
            low.assign(lens, found)
