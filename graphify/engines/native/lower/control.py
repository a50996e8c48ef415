"""Control flow: branches and loops, with scalars in registers and arrays updated in place.

A carried array has one place in memory, the loop's own; a turn whose result is an update of it
changes it there, any other result is copied into the place when the turn is over (and the passes
fuse that copy with the loop that computed it where they can). An array whose shape changes from
turn to turn, or with the branch, has a place that moves: a handle, which takes over new memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphify.engines.native.loops.numbers import zero
from graphify.engines.native.loops.program import (
    ONE,
    ZERO,
    Allocate,
    Buffer,
    Expr,
    Handle,
    If,
    Point,
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
from graphify.ir.types import DType

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


@dataclass(frozen=True, slots=True)
class Moving:
    """A place for arrays of any shape: the lens of a handle whose lengths are variables."""

    lens: Lens

    def put(self, low: Lowering, made: Buffer) -> None:
        """Take over the memory of a handle, with its shape."""
        handle = self.lens.buffer
        for var, length in zip(handle.shape, made.shape, strict=True):
            assert isinstance(var, Var)
            low.emit(Set(var, length))
        low.emit(Point(handle, made))


Place = Lens | Var | Moving


def _moving(low: Lowering, dtype: DType, first: ArrayValue | None, rank: int) -> Moving:
    """A new moving place with a copy of an array, or with nothing in it."""
    shape = tuple(ZERO for _ in range(rank)) if first is None else first.shape
    lengths = tuple(low.variable(f"d{axis}", length) for axis, length in enumerate(shape))
    handle = Buffer(low.hint, dtype, lengths, Handle())
    low.emit(Allocate(handle))
    low.own.add(handle)
    place = Moving(whole(handle))
    if first is not None:
        low.assign(place.lens, first)
    return place


def _copy_to_move(low: Lowering, result: ArrayValue) -> Buffer:
    """An array in memory of its own that a moving place may take over."""
    shape = tuple(low.let(length, "n") for length in result.shape)
    made = Buffer(low.hint, result.dtype, shape, Handle())
    low.emit(Allocate(made))
    low.assign(whole(made), result)
    return made


def _value(place: Place) -> Lens | Var:
    return place.lens if isinstance(place, Moving) else place


def _moves(low: Lowering, lens: Lens | None) -> bool:
    """Whether the memory of a value can be that of a moving place."""
    if lens is None or not lens.is_whole or not isinstance(lens.buffer.home, Handle):
        return False
    if lens.buffer.root in low.pinned:
        return False
    return all(isinstance(d, Var) and d.mutable for d in lens.buffer.shape)


def _carrier(graph: Graph, result: Value) -> int | None:
    """The parameter that a result is, or is an update of."""
    params = {value: i for i, value in enumerate(graph.params)}
    source: Value | None = result
    while source is not None and source not in params:
        source = _updated(source)
    return None if source is None else params[source]


def _updated(value: Value) -> Value | None:
    """What a value is an update of, in one step or in all branches of one."""
    node = value.node
    if node.op.name in UPDATES or node.op.name == "identity":
        return node.inputs[0]
    if node.op.name in ("loop", "while") and value.index < node.attrs["carry"]:
        return node.inputs[value.index]
    if node.op.name == "cond":
        branches = (node.attrs["true"], node.attrs["false"])
        sources = {_carrier(branch, branch.results[value.index]) for branch in branches}
        source = sources.pop() if len(sources) == 1 else None
        return None if source is None else node.inputs[1 + source]
    return None


def _places_of_results(low: Lowering, node: Node, graphs: Sequence[Graph]) -> list[Place]:
    """Where the results of branches go: over a dead operand they all update, or new memory."""
    operands = node.inputs[1:]
    places: list[Place] = []
    used: set[int] = set()
    for k, value in enumerate(node.outputs):
        if not value.spec.shape:
            places.append(low.variable(low.hint, zero(value.spec.dtype)))
            continue
        bound = all(low.bound(dim) for dim in value.spec.shape)
        sources = {_carrier(graph, graph.results[k]) for graph in graphs}
        if not bound:  # a branch may put new memory in the place
            sources.discard(None)
        source = sources.pop() if len(sources) == 1 else None
        lens = None
        if source is not None and source not in used:
            lens = low.overwrites(operands[source], node)
        if not bound and not _moves(low, lens):
            places.append(_moving(low, value.spec.dtype, None, value.spec.ndim))
            continue
        if lens is not None and source is not None:
            used.add(source)
        else:
            lens = low.target(value, low.dims(value.spec.shape))
        places.append(lens if bound else Moving(lens))
    return places


def deliver(low: Lowering, places: Sequence[Place], results: Sequence[Expr | ArrayValue]) -> None:
    """Put results where they belong, all at once: no place is overwritten before it is read."""
    homes = [_value(place) for place in places]
    taken = {home.buffer.root: i for i, home in enumerate(homes) if isinstance(home, Lens)}
    ready: list[Expr | ArrayValue] = []
    moved: list[tuple[Moving, Buffer]] = []
    scalars = [isinstance(p, Var) for p in places]
    for i, (place, home, result) in enumerate(zip(places, homes, results, strict=True)):
        if isinstance(home, Lens):
            assert isinstance(result, (Lens, Delayed))
            elsewhere = isinstance(result, Lens) and taken.get(result.buffer.root, i) != i
            inside = isinstance(result, Lens) and result.buffer.root is home.buffer.root
            if isinstance(place, Moving):
                if not (isinstance(result, Lens) and result.is_whole and inside):
                    moved.append((place, _copy_to_move(low, result)))
                result = home
            elif elsewhere or (inside and not _same(result, home)):
                result = whole(low.copy(result))
        elif sum(scalars) > 1 or moved:
            result = low.let(_settled(low, result))
        ready.append(result)
    for home, result in zip(homes, ready, strict=True):
        if isinstance(home, Var):
            assert not isinstance(result, (Lens, Delayed))
            if result is not home:
                low.emit(Set(home, result))
        elif not _same(result, home):
            assert isinstance(result, (Lens, Delayed))
            low.assign(home, result)
    for target, made in moved:
        target.put(low, made)


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
            with low.pinning(places):
                results = low.run(branch, args, wanted, taken)
            deliver(low, places, results)
        blocks.append(tuple(block))
    low.emit(If(condition, blocks[0], blocks[1], node.source))
    for value, place in zip(node.outputs, places, strict=True):
        low.define(value, _value(place))


def _roots(args: Sequence[Expr | ArrayValue]) -> set[object]:
    return {a.buffer.root for a in args if isinstance(a, Lens)}


# --- loops ----------------------------------------------------------------------------------------


def _detach_views(low: Lowering, node: Node, carry: int) -> None:
    """Give memory of their own to parts that a loop reads of an array that it changes: it costs
    less than a copy of the array."""
    for value in node.inputs[:carry]:
        lens = low.overwrites(value, node, alone=False) if value.spec.shape else None
        if lens is None or node.inputs.count(value) > 1:
            continue
        holders = low.frame.holders[lens.buffer.root]
        beside = [v for v in dict.fromkeys(node.inputs) if v is not value and v in holders]
        if all(other.spec.ndim < value.spec.ndim for other in beside):
            for other in beside:
                low.detach(other)


def _carried_places(
    low: Lowering, node: Node, carry: int, names: Sequence[Value], after: Sequence[Value]
) -> list[Place]:
    """A place of its own for each carried value, holding its first one.

    Args:
        names: parameters of the body, which are called as the user's variables are.
        after: what the body makes of them.
    """
    _detach_views(low, node, carry)
    places: list[Place] = []
    first: list[tuple[Lens, ArrayValue]] = []
    hint = low.hint
    for k in range(carry):
        value = node.inputs[k]
        low.hint = names[k].node.attrs.get("name") or hint
        if not value.spec.shape:
            places.append(low.variable(low.hint, low.scalar(value)))
            continue
        lens = low.overwrites(value, node)
        if names[k].spec.shape != after[k].spec.shape:
            array = low.array(value)
            places.append(
                Moving(lens)
                if lens is not None and _moves(low, lens)
                else _moving(low, array.dtype, array, value.spec.ndim)
            )
            continue
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
    places: Sequence[Place],
    offset: int,
) -> list[Expr | ArrayValue]:
    """One turn: the carried values, from operand `offset` on, may be overwritten."""
    taken = [offset + k for k, place in enumerate(places) if not isinstance(place, Var)]
    with low.pinning(places):
        return low.run(body, args, {}, taken)


@rule("while")
def _while(low: Lowering, node: Node) -> None:
    body, test, carry = node.attrs["body"], node.attrs["cond"], node.attrs["carry"]
    places = _carried_places(low, node, carry, body.params, body.results)
    consts = [low.frame.values[value] for value in node.inputs[carry:]]
    args = [*map(_value, places), *consts]
    with low.inside() as testing:
        (goes_on,) = low.run(test, _frozen(low, args), {})
    assert not isinstance(goes_on, (Lens, Delayed))
    with low.inside() as turning:
        results = _turn(low, body, _frozen(low, args), places, 0)
        deliver(low, places, results)
    low.emit(While(tuple(testing), goes_on, tuple(turning), node.source))
    for value, place in zip(node.outputs, places, strict=True):
        low.define(value, _value(place))


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
    rows = body.results[carry:]
    outside = _outside(low, node, body, carry, xs)
    if any(v not in outside for value in rows for v in _sizes(value)):
        raise Declined  # the shape of a row is known when it has been computed
    places = _carried_places(low, node, carry, body.params[1:], body.results)
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
        args: list[Expr | ArrayValue] = [i, *_frozen(low, [*map(_value, places), *slices, *consts])]
        taken = [1 + k for k, place in enumerate(places) if not isinstance(place, Var)]
        parts = [_row(low, stack, i) for stack in stacks]
        wanted = {
            carry + k: part
            for k, part in enumerate(parts)
            if isinstance(part, Lens) and _carrier(body, rows[k]) is None
        }
        with low.pinning(places):
            results = low.run(body, args, wanted, taken)
        for stack, result, part in zip(stacks, results[carry:], parts, strict=True):
            if isinstance(part, Lens) and not _same(part, result):
                assert isinstance(result, (Lens, Delayed))
                low.assign(part, result)
            elif not isinstance(part, Lens):
                assert not isinstance(result, (Lens, Delayed))
                low.store(stack, (i,), result)
        deliver(low, places, results[:carry])
    for value, place in zip(node.outputs, [*map(_value, places), *stacks], strict=True):
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
