"""if and the conditional expression, decided per value while the converted code runs.

A condition that is a Python value, or an eager tensor, takes the Python path. A symbolic one makes
a `cond`: both blocks are traced in frames of their own, and what they change is joined.

    y, = if_(x > 0, lambda y: (x,), lambda y: (-x,), (y,), ("y",))

What a branch changes comes in two kinds: its state variables (found by the converter and passed
explicitly), and the heap (see heap.py). Both are joined alike, as entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphify.autograph.operators import sharing
from graphify.autograph.operators.choice import Choice, assuming, facts, narrowed, unite
from graphify.autograph.operators.conditions import decider, is_staged, truth
from graphify.autograph.operators.elements import Kept
from graphify.autograph.operators.heap import (
    Names,
    Slot,
    State,
    shared_cells,
    slots_of,
    watch_cells,
)
from graphify.autograph.operators.made import Opener
from graphify.autograph.operators.state import (
    Entry,
    carried_spec,
    fit,
    fits,
    is_dynamic,
    join_spec,
    placeholder,
    same_static,
    structure_error,
    take_apart,
)
from graphify.autograph.operators.thrown import Catch
from graphify.autograph.operators.undefined import UNREACHABLE, Unreachable, certain
from graphify.autograph.operators.unknown import Ended, Unknown, UnknownPath, raising, reached
from graphify.ir.context import recording
from graphify.ir.graph import Builder, Graph, Value
from graphify.ir.kinds import kinds_of
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.ops import control
from graphify.tracing import identity
from graphify.tracing.capture import captured, frame, restore


def if_(
    test: Any,
    if_true: Callable[..., State],
    if_false: Callable[..., State],
    state: State,
    names: Names,
) -> State:
    """The if statement: each branch maps the state to the state."""
    if isinstance(test, Catch):
        decide = lambda flag, yes, no: _cond(flag, (yes, no), names, (if_true, if_false))
        return _all(test.branch(decide, lambda: if_true(*state), lambda: if_false(*state)))
    test = decider(test)
    if not is_staged(test):
        return _all(if_true(*state) if test else if_false(*state))
    branches = (lambda: if_true(*state), lambda: if_false(*state))
    return _all(_cond(test, branches, names, (if_true, if_false)))


def _all(outcome: Any) -> State:
    """What a branch gives for each name.

    Raises:
        Ended: all paths of the statement raise.
    """
    if isinstance(outcome, Unreachable) or any(isinstance(o, Unreachable) for o in outcome):
        raise Ended
    return tuple(outcome)


def if_exp(test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any]) -> Any:
    """The conditional expression, and an if statement whose branches both return."""
    if isinstance(test, Catch):
        return test.branch(if_exp, if_true, if_false)
    test = decider(test)
    if not is_staged(test):
        return if_true() if test else if_false()
    branches = (lambda: (certain(if_true()),), lambda: (certain(if_false()),))
    return _all(_cond(test, branches, ("the result",), (if_true, if_false)))[0]


@dataclass(slots=True)
class _Branch:
    """A traced branch: its frame, state entries and heap entries."""

    builder: Builder
    entries: list[Entry]
    slots: dict[Any, Slot]
    heap: dict[Any, Entry]
    unknown: bool  # left out for now
    ends: bool  # nothing goes on from its end: it always raises, or is left out


def _trace_branch(
    name: str, branch: Callable[[], State], names: Names, cells: Any, kept: Kept
) -> _Branch:
    with frame(name) as builder:
        kept.renew()
        log = watch_cells(builder, cells)
        outcome = reached(raising, branch)
        log()
        unknown, ends = isinstance(outcome, UnknownPath), isinstance(outcome, Unreachable)
        if ends:
            outcome = (outcome,) * len(names)
        opened = Opener(builder)
        entries = [
            take_apart(n, opened(narrowed(v)), of=v) for n, v in zip(names, outcome, strict=True)
        ]
        del outcome
        slots = slots_of(builder, shared_cells(names, cells))
        heap = {key: slot.take_apart(opened) for key, slot in slots.items()}
        for entry in (*entries, *heap.values()):
            entry.freeze()
        ends |= bool(entries) and all(entry.unreachable for entry in entries)
        if not ends:
            kept.narrow()
    identity.settle([entry.held for entry in (*entries, *heap.values())], {})
    return _Branch(builder, entries, slots, heap, unknown, ends)


def _cond(test: Tensor, branches: Any, names: Names, cells: Any) -> list[Any] | Unreachable:
    pred, sides_, kept = truth(test), [], Kept()
    for way, branch, f in zip((True, False), branches, cells, strict=True):
        with assuming(facts(pred, way)):
            sides_.append(_trace_branch(str(way).lower(), branch, names, (f,), kept))
    true, false = sides_
    if true.ends and false.ends and (true.unknown or false.unknown):
        raise Unknown(raises=not (true.unknown and false.unknown))
    slots = {**false.slots, **true.slots}
    for side in (true, false):
        _look_at_rest(side, slots)
    pairs = list(zip(true.entries, false.entries, strict=True))
    pairs += [_left(true, false, key) for key in slots]
    frames = (true.builder, false.builder)
    joined = [_join_entries(a, b, frames) for a, b in pairs]
    sides = [sides for plan in joined for sides in plan.sides()]
    shared = sharing.BranchLinks(sides, frames)
    outputs: list[list[Value]] = [[], []]
    for number, (branch, sink) in enumerate(zip((true, false), outputs, strict=True)):
        with recording(branch.builder):
            tensors = [tensor for plan in joined for tensor in plan.outputs(number)]
            tensors += shared.outputs(number)
            sink += [value_in(tensor, branch.builder) for tensor in tensors]
    results = _bind_cond(pred, true.builder, false.builder, outputs)
    values = [plan.rebuild(results) for plan in joined]
    shared.finish(pred, [made for plan in joined for made in plan.made], list(results))
    rest = zip(slots.values(), values[len(names) :], pairs[len(names) :], strict=True)
    for slot, value, (one, other) in rest:
        slot.join(value, one.held.joined(other.held))
    kept.renew()
    return UNREACHABLE if true.ends and false.ends else values[: len(names)]


def _look_at_rest(side: _Branch, slots: dict[Any, Slot]) -> None:
    """What a branch leaves in slots that only the other one writes: its own writes are made once
    more while looking, since a list it did not touch may hold an array that it did."""
    rest = {key: slot for key, slot in slots.items() if key not in side.heap}
    if not rest:
        return
    done = side.builder.writes_done
    with recording(side.builder):
        for key, slot in side.slots.items():
            slot.write(side.heap[key].build())
        for key, slot in rest.items():
            entry = slot.take_apart()
            if side.ends and entry.bound is False:  # it is there wherever anything goes on
                entry = take_apart(slot.name, UNREACHABLE)
            side.heap[key] = entry
            entry.freeze()
    restore(side.builder)
    identity.settle([side.heap[key].held for key in rest], {})
    side.builder.writes_done = done


def _left(true: _Branch, false: _Branch, key: Any) -> tuple[Entry, Entry]:
    """What two branches leave in a slot. What one leaves that always raises has no need to be like
    the other's: nothing goes on from there."""
    a, b = true.heap[key], false.heap[key]
    if true.ends == false.ends or a.bound is False or b.bound is False or fits(a, b):
        return a, b
    nothing = take_apart(a.name, UNREACHABLE)
    return (nothing, b) if true.ends else (a, nothing)


def _bind_cond(pred: Tensor, true: Builder, false: Builder, outputs: Any) -> Iterator[Tensor]:
    operands = list(dict.fromkeys([*captured(true), *captured(false)]))
    graphs = [
        close(b, operands, results, n)
        for b, results, n in zip((true, false), outputs, ("true", "false"), strict=True)
    ]
    if not outputs[0] and not any(g.effects for g in graphs):
        return iter(())
    tensors = control.cond.several(pred, *map(Tensor, operands), true=graphs[0], false=graphs[1])
    return iter(tensors)


def close(
    builder: Builder, operands: Sequence[Value], results: Sequence[Value], name: str
) -> Graph:
    """A branch as a graph whose parameters are exactly these operands."""
    params = tuple(builder.own(value) for value in operands)
    return Graph(params, tuple(builder.nodes), tuple(builder.own(v) for v in results), name)


@dataclass(slots=True)
class _Join:
    """How one variable comes out of two branches."""

    entries: tuple[Entry, Entry]
    specs: list[Spec | None] = field(default_factory=list)  # None: the leaf is static
    bound: bool | None = True  # None: decided by the run
    made: list[Tensor] = field(default_factory=list)  # the joined leaves

    def sides(self) -> list[list[Any]]:
        """Of each leaf that is joined, what it is on either side; None where it is not bound."""
        return [
            [None if entry.lacks(i) else entry.leaves[i] for entry in self.entries]
            for i, spec in enumerate(self.specs)
            if spec is not None
        ]

    def outputs(self, side: int) -> list[Tensor]:
        """What this side's graph gives for the variable; runs in the side's frame."""
        entry = self.entries[side]
        missing = entry.bound is False
        tensors = [
            placeholder(spec) if missing else fit((entry.frozen or entry.leaves)[i], spec)
            for i, spec in enumerate(self.specs)
            if spec is not None
        ]
        if self.bound is None:
            tensors.append(resolve(as_tensor(entry.bound)))
        return tensors

    def rebuild(self, results: Iterator[Tensor]) -> Any:
        a, b = self.entries
        model = b if a.bound is False else a
        leaves = []
        sides = iter(self.sides())
        for leaf, spec in zip(model.leaves, self.specs, strict=True):
            if spec is None:
                leaves.append(leaf)
                continue
            tensor = next(results)
            sharing.mark(tensor, frozenset().union(*map(kinds_of, next(sides))))
            self.made.append(tensor)
            leaves.append(tensor)
        bound = next(results) if self.bound is None else self.bound
        result = model.replaced(leaves, bound)
        result.held = a.held.joined(b.held)
        return result.build()


def _join_entries(a: Entry, b: Entry, frames: tuple[Builder, Builder]) -> _Join:
    if a.bound is False and b.bound is False:
        return _Join((a, b), [None], bound=False)
    if a.bound is False or b.bound is False:
        present, absent = (b, a) if a.bound is False else (a, b)
        settled = absent.unreachable and present.bound is True
        kept = frames[0].parent if settled else None
        specs = [
            carried_spec(leaf) if is_dynamic(leaf) and not _is_outer(leaf, kept) else None
            for leaf in present.leaves
        ]
        return _Join((a, b), specs, bound=True if settled else None)
    if not fits(a, b):
        one, two = unite(a, b, frames)
        if a.contents and one.treedef.kind is Choice:  # an object is one list, not one of two
            raise structure_error(a.name, a, b, ("in one branch", "in the other"))
        a, b = one, two
    specs = [_join_leaf(a.name, x, y) for x, y in zip(a.leaves, b.leaves, strict=True)]
    return _Join((a, b), specs, bound=True if a.bound is True and b.bound is True else None)


def _is_outer(leaf: Any, builder: Builder | None) -> bool:
    """Whether a leaf is an array of this frame or one around it: the very array goes on."""
    while builder is not None and isinstance(leaf, Tensor):
        if leaf._home is builder.home:
            return True
        builder = builder.parent
    return False


def _join_leaf(name: str, x: Any, y: Any) -> Spec | None:
    if same_static(x, y):
        return None
    return join_spec(name, carried_spec(x), carried_spec(y))
