"""Control flow: branches and loops, with scalars in registers and arrays updated in place.

A carried array has one place in memory, the loop's own; a turn whose result is an update of it
changes it there, any other result is copied into the place when the turn is over (and the passes
fuse that copy with the loop that computed it where they can).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphify.engines.native.loops.numbers import zero
from graphify.engines.native.loops.program import (
    ONE,
    Expr,
    If,
    Set,
    Var,
    While,
)
from graphify.engines.native.lower.arrays import (
    ArrayValue,
    Delayed,
    Lens,
    affine,
    whole,
)
from graphify.engines.native.lower.liveness import UPDATES
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Graph, Node, Value
from graphify.ir.sizes import Dim, SizeVar

BOOL = np.dtype(np.bool_)


# --- call -----------------------------------------------------------------------------------------


@rule("call", "custom_gradient")
def _call(low: Lowering, node: Node) -> None:
    if "body" not in node.attrs or node.op.name != "call":
        raise Declined
    args = [low.frame.values[value] for value in node.inputs]
    wanted = {
        i: low.frame.wanted[value]
        for i, value in enumerate(node.outputs)
        if value in low.frame.wanted
    }
    taken = [i for i, value in enumerate(node.inputs) if low.overwrites(value, node) is not None]
    results = low.run(node.attrs["body"], args, wanted, taken)
    for value, result in zip(node.outputs, results, strict=True):
        low.define(value, result)


# --- places for results ---------------------------------------------------------------------------


def _carrier(graph: Graph, result: Value) -> int | None:
    """The parameter that a result is, or is an update of."""
    params = {value: i for i, value in enumerate(graph.params)}
    while result not in params:
        if result.node.op.name not in UPDATES and result.node.op.name != "identity":
            return None
        result = result.node.inputs[0]
    return params[result]


def _places_of_results(low: Lowering, node: Node, graphs: Sequence[Graph]) -> list[Lens | Var]:
    """Where the results of branches go: over a dead operand they all update, or new memory."""
    operands = node.inputs[1:]
    places: list[Lens | Var] = []
    used: set[int] = set()
    for k, value in enumerate(node.outputs):
        if not value.spec.shape:
            places.append(low.variable(low.hint, zero(value.spec.dtype)))
            continue
        sources = {_carrier(graph, graph.results[k]) for graph in graphs}
        source = sources.pop() if len(sources) == 1 else None
        lens = None
        if source is not None and source not in used:
            lens = low.overwrites(operands[source], node)
        if lens is not None and source is not None:
            used.add(source)
        else:
            if not all(low.bound(dim) for dim in value.spec.shape):
                raise Declined
            lens = low.target(value, low.dims(value.spec.shape))
        places.append(lens)
    return places


def deliver(
    low: Lowering, places: Sequence[Lens | Var], results: Sequence[Expr | ArrayValue]
) -> None:
    """Put results where they belong, all at once: no place is overwritten before it is read."""
    taken = {place.buffer.root: i for i, place in enumerate(places) if isinstance(place, Lens)}
    ready: list[Expr | ArrayValue] = []
    scalars = [isinstance(p, Var) for p in places]
    for i, (place, result) in enumerate(zip(places, results, strict=True)):
        if isinstance(place, Lens):
            assert isinstance(result, (Lens, Delayed))
            elsewhere = isinstance(result, Lens) and taken.get(result.buffer.root, i) != i
            moved = isinstance(result, Lens) and result.buffer.root is place.buffer.root
            if elsewhere or (moved and not _same(result, place)):
                result = whole(low.copy(result))
        elif sum(scalars) > 1:
            result = low.let(_settled(low, result))
        ready.append(result)
    for place, result in zip(places, ready, strict=True):
        if isinstance(place, Var):
            assert not isinstance(result, (Lens, Delayed))
            if result is not place:
                low.emit(Set(place, result))
        elif not _same(result, place):
            assert isinstance(result, (Lens, Delayed))
            low.assign(place, result)


def _settled(low: Lowering, result: Expr | ArrayValue) -> Expr:
    assert not isinstance(result, (Lens, Delayed))
    return result


def _same(a: object, b: object) -> bool:
    return (
        isinstance(a, Lens)
        and isinstance(b, Lens)
        and a.buffer is b.buffer
        and a.shape == b.shape
        and a.axes == b.axes
    )


# --- cond -----------------------------------------------------------------------------------------


@rule("cond")
def _cond(low: Lowering, node: Node) -> None:
    branches = [node.attrs["true"], node.attrs["false"]]
    condition = low.scalar(node.inputs[0])
    if condition.dtype != BOOL:
        raise Declined
    args = [low.frame.values[value] for value in node.inputs[1:]]
    taken = [
        i for i, value in enumerate(node.inputs[1:]) if low.overwrites(value, node) is not None
    ]
    places = _places_of_results(low, node, branches)
    blocks = []
    for branch in branches:
        with low.inside() as block:
            wanted = {i: p for i, p in enumerate(places) if isinstance(p, Lens)}
            wanted = {
                i: p for i, p in wanted.items() if _carrier(branch, branch.results[i]) is None
            }
            if any(p.buffer.root in _roots(args) for p in wanted.values()):
                wanted = {i: p for i, p in wanted.items() if p.buffer.root not in _roots(args)}
            results = low.run(branch, args, wanted, taken)
            deliver(low, places, results)
        blocks.append(tuple(block))
    low.emit(If(condition, blocks[0], blocks[1], node.source))
    for value, place in zip(node.outputs, places, strict=True):
        low.define(value, place)


def _roots(args: Sequence[Expr | ArrayValue]) -> set[object]:
    return {a.buffer.root for a in args if isinstance(a, Lens)}


# --- loops ----------------------------------------------------------------------------------------


def _steady(node: Node, body: Graph, params: Sequence[Value], carry: int) -> None:
    """Declines where a carried array changes its shape from turn to turn."""
    for param, result in zip(params[:carry], body.results[:carry], strict=True):
        if param.spec.shape != result.spec.shape:
            raise Declined


def _carried_places(
    low: Lowering, node: Node, carry: int, names: Sequence[Value]
) -> list[Lens | Var]:
    """A place of its own for each carried value, holding its first one.

    Args:
        names: parameters of the body, which are called as the user's variables are.
    """
    places: list[Lens | Var] = []
    first: list[tuple[Lens, ArrayValue]] = []
    hint = low.hint
    for k in range(carry):
        value = node.inputs[k]
        low.hint = names[k].node.attrs.get("name") or hint
        if not value.spec.shape:
            places.append(low.variable(low.hint, low.scalar(value)))
            continue
        lens = low.overwrites(value, node)
        if lens is None:
            array = low.array(value)
            lens = low.target(Value(node, k), array.shape)
            if isinstance(array, Lens) and array.buffer.root is lens.buffer.root:
                lens = whole(low.buffer(array.dtype, array.shape))
            first.append((lens, array))
        places.append(lens)
    low.hint = hint
    for lens, array in first:
        low.assign(lens, array)
    return places


def _turn(
    low: Lowering,
    body: Graph,
    args: Sequence[Expr | ArrayValue],
    places: Sequence[Lens | Var],
    offset: int,
) -> list[Expr | ArrayValue]:
    """One turn: the carried values, from operand `offset` on, may be overwritten."""
    taken = [offset + k for k, place in enumerate(places) if isinstance(place, Lens)]
    return low.run(body, args, {}, taken)


@rule("while")
def _while(low: Lowering, node: Node) -> None:
    body, test, carry = node.attrs["body"], node.attrs["cond"], node.attrs["carry"]
    _steady(node, body, body.params, carry)
    places = _carried_places(low, node, carry, body.params)
    consts = [low.frame.values[value] for value in node.inputs[carry:]]
    args = [*places, *consts]
    with low.inside() as testing:
        (goes_on,) = low.run(test, _frozen(low, args), {})
    assert not isinstance(goes_on, (Lens, Delayed))
    with low.inside() as turning:
        results = _turn(low, body, _frozen(low, args), places, 0)
        deliver(low, places, results)
    low.emit(While(tuple(testing), goes_on, tuple(turning), node.source))
    for value, place in zip(node.outputs, places, strict=True):
        low.define(value, place)


def _frozen(low: Lowering, args: Sequence[Expr | ArrayValue]) -> list[Expr | ArrayValue]:
    """Carried variables as they are at the start of a turn: the turn changes them at its end."""
    return [low.let(a, a.name) if isinstance(a, Var) and a.mutable else a for a in args]


@rule("loop")
def _loop(low: Lowering, node: Node) -> None:
    attrs = node.attrs
    _repeat(low, node, attrs["length"], attrs["body"], attrs["carry"], attrs["xs"], "serial")


@rule("map")
def _map(low: Lowering, node: Node) -> None:
    _repeat(
        low,
        node,
        node.attrs["length"],
        node.attrs["body"],
        0,
        node.attrs["xs"],
        "parallel",
    )


def _repeat(
    low: Lowering, node: Node, length: Dim, body: Graph, carry: int, xs: int, kind: str
) -> None:
    extent = low.dim(length)
    _steady(node, body, body.params[1:], carry)
    rows = body.results[carry:]
    outside = _outside(low, node, body, carry, xs)
    if any(v not in outside for value in rows for v in _sizes(value)):
        raise Declined  # the shape of a row is known when it has been computed
    places = _carried_places(low, node, carry, body.params[1:])
    stacks: list[Lens] = []
    for k, value in enumerate(rows):
        saved, low.frame.sizes = low.frame.sizes, {**low.frame.sizes, **outside}
        shape = (extent, *low.dims(value.spec.shape))
        low.frame.sizes = saved
        stacks.append(low.target(Value(node, carry + k), shape))
    arrays = [low.array(value) for value in node.inputs[carry : carry + xs]]
    consts = [low.frame.values[value] for value in node.inputs[carry + xs :]]
    with low.loop(extent, "i", kind) as i:
        slices = [_row(low, array, i) for array in arrays]
        args: list[Expr | ArrayValue] = [i, *_frozen(low, [*places, *slices, *consts])]
        taken = [1 + k for k, place in enumerate(places) if isinstance(place, Lens)]
        parts = [_row(low, stack, i) for stack in stacks]
        wanted = {
            carry + k: part
            for k, part in enumerate(parts)
            if isinstance(part, Lens) and _carrier(body, rows[k]) is None
        }
        results = low.run(body, args, wanted, taken)
        for stack, result, part in zip(stacks, results[carry:], parts, strict=True):
            if isinstance(part, Lens) and not _same(part, result):
                assert isinstance(result, (Lens, Delayed))
                low.assign(part, result)
            elif not isinstance(part, Lens):
                assert not isinstance(result, (Lens, Delayed))
                low.store(stack, (i,), result)
        deliver(low, places, results[:carry])
    for value, place in zip(node.outputs, [*places, *stacks], strict=True):
        low.define(value, place)


def _row(low: Lowering, array: ArrayValue, i: Expr) -> Expr | ArrayValue:
    """x[i]: a view, or the element if the array has one axis."""
    if len(array.shape) == 1:
        return array.at((i,))
    inner = [affine(offset=i), *(affine((a, ONE)) for a in range(len(array.shape) - 1))]
    return array.remap(array.shape[1:], inner)


def _outside(low: Lowering, node: Node, body: Graph, carry: int, xs: int) -> dict[SizeVar, Expr]:
    """The body's size variables that operands bind, as they are outside."""
    inside = [value.spec for value in body.params[1:]]
    found: dict[SizeVar, Expr] = {}
    shapes = []
    for k, value in enumerate(node.inputs):
        array = low.array(value)
        shapes.append(array.shape[1:] if carry <= k < carry + xs else array.shape)
    for spec, shape in zip(inside, shapes, strict=True):
        for dim, length in zip(spec.shape, shape, strict=True):
            if not isinstance(dim, int) and (variable := dim.as_variable()) is not None:
                found.setdefault(variable, length)
    return found


def _sizes(value: Value) -> list[SizeVar]:
    return [v for dim in value.spec.shape if not isinstance(dim, int) for v in dim.variables()]
