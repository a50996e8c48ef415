"""Control flow as ops that carry closed sub-graphs.

    cond(pred, *operands; true, false)        one branch runs; both take the operands
    while_(*carry, *consts; cond, body)       body: (*carry, *consts) -> carry, while cond holds
    loop(*carry, *xs, *consts; length, body)  body: (i, *carry, *x_i, *consts) -> (*carry, *y_i)
    map_(*xs, *consts; length, body)          body: (i, *x_i, *consts) -> y_i, in any order
    call(*operands; body)

`carry` and `xs` count those operands. `loop` runs `length` times (an int or a symbolic size); the
`y_i` come back stacked. A carried value keeps dtype and rank; an axis may change where the body's
parameter has a size variable of its own there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from graphify.errors import InternalError, ShapeError
from graphify.ir.graph import Graph
from graphify.ir.interpret import run
from graphify.ir.op import Op, defop
from graphify.ir.sizes import Dim, Shape, SizeVar, dim_variables, fresh, substitute
from graphify.ir.types import Spec

# --- specs across the border of a sub-graph -------------------------------------------------------


def size_map(params: Sequence[Spec], operands: Sequence[Spec]) -> dict[SizeVar, Dim]:
    """The outer sizes of a sub-graph's size variables, read off the operands of its parameters."""
    mapping: dict[SizeVar, Dim] = {}
    for inner, outer in zip(params, operands, strict=True):
        for a, b in zip(inner.shape, outer.shape, strict=True):
            if not isinstance(a, int) and (variable := a.as_variable()) is not None:
                mapping.setdefault(variable, b)
    return mapping


def outer_dim(dim: Dim, mapping: Mapping[SizeVar, Dim]) -> Dim:
    """An inner dim in outer sizes; a fresh size where it depends on what only the inside knows."""
    if any(variable not in mapping for variable in dim_variables(dim)):
        return fresh("d")
    outer: Dim = substitute(dim, mapping)
    return outer


def outer_spec(spec: Spec, mapping: Mapping[SizeVar, Dim]) -> Spec:
    return Spec(tuple(outer_dim(d, mapping) for d in spec.shape), spec.dtype, spec.weak)


def _param_specs(graph: Graph) -> list[Spec]:
    return [value.spec for value in graph.params]


# --- rules of transformations ---------------------------------------------------------------------

# A derivative or a batched form of these ops differentiates or batches their sub-graphs, which is
# the business of a higher layer: graphify.transforms sets the rules when it is imported.
_RULES: dict[tuple[str, str], Callable[..., Any]] = {}


def set_rules(op: Op, **rules: Callable[..., Any]) -> None:
    """The vjp, jvp and vmap rules of a control-flow op."""
    _RULES.update({(op.name, kind): rule for kind, rule in rules.items()})


def set_later(name: str) -> dict[str, Any]:
    """The fields of a control-flow op whose rules are set by `set_rules`."""

    def late(kind: str) -> Callable[..., Any]:
        return lambda *args, **attrs: _RULES[name, kind](*args, **attrs)

    return {
        "vjp": late("vjp"),
        "jvp": late("jvp"),
        "vmap": late("vmap"),
        "extra": {"tuple": True, "control": True, "wanted": True},
    }


# --- meaning --------------------------------------------------------------------------------------

# What an op of control flow does: a generator that asks for its sub-graphs to be run, on these
# arrays, and is sent their results. Who runs them is not its business (see ops/recursion.py).
Turns: TypeAlias = Generator[tuple[Graph, Sequence[Any]], list[Any], tuple[Any, ...]]


def at_once(turns: Callable[..., Turns]) -> Callable[..., Any]:
    """The plain function that runs the sub-graphs there and then."""

    def meaning(*operands: Any, **attrs: Any) -> Any:
        job, answer = turns(*operands, **attrs), None
        while True:
            try:
                graph, args = next(job) if answer is None else job.send(answer)
            except StopIteration as stop:
                return stop.value
            answer = run(graph, args)

    return meaning


# --- cond -----------------------------------------------------------------------------------------


def _cond_spec(pred: Spec, *operands: Spec, true: Graph, false: Graph) -> tuple[Spec, ...]:
    sides = [
        [outer_spec(s, size_map(_param_specs(g), operands)) for s in g.specs] for g in (true, false)
    ]
    return tuple(_join(a, b) for a, b in zip(*sides, strict=True))


def _join(a: Spec, b: Spec) -> Spec:
    if a.dtype != b.dtype or a.ndim != b.ndim:
        raise InternalError(f"cond: branches give {a} and {b}")
    shape = tuple(d if d == e else fresh("d") for d, e in zip(a.shape, b.shape, strict=True))
    return Spec(shape, a.dtype, a.weak and b.weak)


def _cond_turns(pred: Any, *operands: Any, true: Graph, false: Graph) -> Turns:
    return tuple((yield true if pred else false, operands))


cond = defop(
    "cond",
    spec=_cond_spec,
    eval=at_once(_cond_turns),
    **set_later("cond"),
    tf="cond",
    doc="runs one of two sub-graphs",
)

# --- while and loop -------------------------------------------------------------------------------


def _carried(before: Spec, inside: Spec, after: Spec) -> Spec:
    """The spec of a carried result: axes the body leaves alone keep the operand's size."""
    shape: Shape = tuple(
        outer if param == result else fresh("d")
        for outer, param, result in zip(before.shape, inside.shape, after.shape, strict=True)
    )
    return Spec(shape, before.dtype, before.weak and after.weak)


def _while_spec(*operands: Spec, cond: Graph, body: Graph, carry: int) -> tuple[Spec, ...]:
    inside = _param_specs(body)
    return tuple(_carried(operands[i], inside[i], body.specs[i]) for i in range(carry))


def _while_turns(*operands: Any, cond: Graph, body: Graph, carry: int) -> Turns:
    state, consts = list(operands[:carry]), operands[carry:]
    while (yield cond, [*state, *consts])[0]:
        state = yield body, [*state, *consts]
    return tuple(state)


while_ = defop(
    "while",
    spec=_while_spec,
    eval=at_once(_while_turns),
    **set_later("while"),
    tf="while",
    doc="repeats a sub-graph while another one says so",
)


def _loop_spec(*operands: Spec, length: Dim, body: Graph, carry: int, xs: int) -> tuple[Spec, ...]:
    inside = _param_specs(body)[1:]
    carried = [_carried(operands[i], inside[i], body.specs[i]) for i in range(carry)]
    rows = [Spec(s.shape[1:], s.dtype) for s in operands[carry : carry + xs]]
    outside = [*operands[:carry], *rows, *operands[carry + xs :]]
    widened = {
        variable
        for i in range(carry)
        for param, result in zip(inside[i].shape, body.specs[i].shape, strict=True)
        if param != result
        for variable in dim_variables(param)
    }
    mapping = {v: d for v, d in size_map(inside, outside).items() if v not in widened}
    stacked = [Spec((length, *outer_spec(s, mapping).shape), s.dtype) for s in body.specs[carry:]]
    return (*carried, *stacked)


def _loop_turns(*operands: Any, length: int, body: Graph, carry: int, xs: int) -> Turns:
    state, consts = list(operands[:carry]), operands[carry + xs :]
    rows: list[list[Any]] = [[] for _ in body.specs[carry:]]
    for i in range(length):
        slices = [x[i] for x in operands[carry : carry + xs]]
        results = yield body, [np.asarray(i, np.int64), *state, *slices, *consts]
        state = results[:carry]
        for row, result in zip(rows, results[carry:], strict=True):
            row.append(result)
    if not length:
        return (*state, *_no_rows(operands, body, carry, xs))
    return (*state, *(_stack(row) for row in rows))


def _no_rows(operands: Sequence[Any], body: Graph, carry: int, xs: int) -> list[Any]:
    """What a loop of no turns stacks: no rows, of the shape they would have had."""
    rows = [
        x[0] if len(x) else np.zeros(x.shape[1:], x.dtype) for x in operands[carry : carry + xs]
    ]
    outside = [np.asarray(x) for x in (*operands[:carry], *rows, *operands[carry + xs :])]
    mapping = size_map(_param_specs(body)[1:], [Spec(x.shape, x.dtype) for x in outside])
    shapes = [substitute(spec.shape, mapping) for spec in body.specs[carry:]]
    return [
        np.zeros((0, *(d if isinstance(d, int) else 0 for d in shape)), spec.dtype)
        for shape, spec in zip(shapes, body.specs[carry:], strict=True)
    ]


def _stack(rows: list[Any]) -> Any:
    shapes = sorted({row.shape for row in rows})
    if len(shapes) > 1:
        raise ShapeError(
            f"results of different turns must have one shape, got {shapes[0]}, {shapes[1]}"
        )
    return np.stack(rows)


loop = defop(
    "loop",
    spec=_loop_spec,
    eval=at_once(_loop_turns),
    **set_later("loop"),
    tf="loop",
    doc="repeats a sub-graph a known number of times; stacks what each turn gives",
)


def _map_turns(*operands: Any, length: int, body: Graph, xs: int) -> Turns:
    return _loop_turns(*operands, length=length, body=body, carry=0, xs=xs)


map_ = defop(
    "map",
    spec=lambda *operands, length, body, xs: _loop_spec(
        *operands, length=length, body=body, carry=0, xs=xs
    ),
    eval=at_once(_map_turns),
    **set_later("map"),
    tf="map",
    doc="a sub-graph applied to every row, rows being independent",
)

# --- call -----------------------------------------------------------------------------------------


def _call_spec(*operands: Spec, body: Graph) -> tuple[Spec, ...]:
    mapping = size_map(_param_specs(body), operands)
    return tuple(outer_spec(s, mapping) for s in body.specs)


def _call_turns(*operands: Any, body: Graph) -> Turns:
    return tuple((yield body, operands))


call = defop(
    "call",
    spec=_call_spec,
    eval=at_once(_call_turns),
    **set_later("call"),
    tf="call",
    doc="a sub-graph as a function",
)

TURNS: dict[str, Callable[..., Turns]] = {
    "cond": _cond_turns,
    "while": _while_turns,
    "loop": _loop_turns,
    "map": _map_turns,
    "call": _call_turns,
}
