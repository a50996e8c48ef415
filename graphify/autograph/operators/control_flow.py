"""if, while and for, decided per value while the converted code runs.

A condition that is a Python value, or an eager tensor, takes the Python path. A symbolic one makes
a graph op: the blocks are traced in frames of their own, and what they change is joined.

    y, = if_(x > 0, lambda y: (x,), lambda y: (-x,), (y,), ("y",))

What a statement changes comes in two kinds: its state variables (found by the converter and passed
explicitly), and the heap: tensors, attributes and closure cells that the blocks wrote, found in the
write log of their frames. Both are carried alike, as entries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CellType, FrameType, FunctionType
from typing import Any

import numpy as np

from graphify.autograph.operators import iteration, sharing
from graphify.autograph.operators.state import (
    Entry,
    Unstageable,
    carried_spec,
    fit,
    is_dynamic,
    join_spec,
    placeholder,
    same_static,
    structure_error,
    take_apart,
)
from graphify.autograph.operators.undefined import Unreachable, certain
from graphify.errors import ConcreteValueNeeded, LeakedTracer, TraceError
from graphify.ir.bind import Tensor, as_tensor, current_builder, recording, resolve, value_in
from graphify.ir.graph import Builder, Graph, Value, param
from graphify.ir.sharing import links
from graphify.ir.sizes import Size, fresh, product
from graphify.ir.types import BOOL, Spec
from graphify.location import here, is_internal
from graphify.ops import control, core, elementwise
from graphify.ops.indexing import slice_
from graphify.tracing.capture import captured, frame, root_of
from graphify.tracing.guards import Place
from graphify.tracing.places import Contents, forget_local

State = tuple[Any, ...]
Names = tuple[str, ...]

# --- conditions ----------------------------------------------------------------------------------


def is_staged(value: Any) -> bool:
    """Whether a truth value is only known when the graph runs."""
    if not isinstance(value, Tensor):
        return False
    return value.is_symbolic or resolve(value).is_symbolic


def truth(value: Tensor) -> Tensor:
    """A staged truth value as a boolean scalar.

    Raises:
        ValueError: more than one element, as NumPy has it.
    """
    value = resolve(value)
    if value.ndim:
        count = product(value.dims)
        if count != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                f"Use a.any() or a.all() (shape {value.dims})"
            )
        value = core.reshape(value, shape=())
    return value if value.dtype == BOOL else elementwise.not_equal(value, 0)


# --- the heap -----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Slot:
    """A tensor's storage, an attribute or a closure cell that a block writes."""

    target: Tensor | Place | Contents
    before: Any

    @property
    def name(self) -> str:
        return _tensor_name(self.target) if isinstance(self.target, Tensor) else str(self.target)

    def read(self) -> Any:
        if isinstance(self.target, Tensor):
            return Tensor(self.target._value, weak=self.target._weak)
        return self.target.read()

    def write(self, value: Any) -> None:
        """Write within the current frame, logged like any other write."""
        builder = current_builder()
        assert builder is not None
        key = id(self.target) if isinstance(self.target, Tensor) else self.target.key
        if isinstance(self.target, Tensor):
            if self.target._home is not builder.home:
                builder.writes.setdefault(key, (self.target, self.target._value))
            self.target._value = value_in(resolve(as_tensor(value)), builder)
            self.target._version += 1
        else:
            builder.writes.setdefault(key, (self.target, self.target.read()))
            self.target.write(value)


def _tensor_name(tensor: Tensor) -> str:
    """What the user called the array whose storage this is, as far as the graph knows."""
    value = tensor._value
    if isinstance(value, Value):
        if value.node.op is param and value.node.attrs["name"]:
            return str(value.node.attrs["name"])
        source = value.node.source
        if source is not None and (name := source.resolve().variable):
            return name
    return "array"


def _slots(builder: Builder, shared: set[Any]) -> dict[Any, Slot]:
    """What the frame wrote, less state variables and containers that it made and dropped itself."""
    forget_local(builder)
    return {
        key: Slot(target, before)
        for key, (target, before) in builder.writes.items()
        if key not in shared
    }


def _cells(functions: Sequence[Callable[..., Any]]) -> Iterator[tuple[str, CellType]]:
    """The cells of functions and of functions in those cells: a block may call what rebinds one."""
    seen: set[int] = set()
    pending = list(functions)
    while pending:
        function = pending.pop()
        code = getattr(function, "__code__", None)
        for name, cell in zip(
            code.co_freevars if code else (), function.__closure__ or (), strict=False
        ):
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            yield name, cell
            content = Place(cell, name, "cell").read()
            if isinstance(content, FunctionType):
                pending.append(content)


def _watch_cells(builder: Builder, functions: Sequence[Callable[..., Any]]) -> Callable[[], None]:
    """Log writes that generated functions make to cells they share with the code around them.

    Called at the start of a frame; what it returns is called at the end.
    """
    places = [Place(cell, name, "cell") for name, cell in _cells(functions)]
    watched = [(place, place.read()) for place in places if place.key not in builder.writes]

    def log() -> None:
        for place, old in watched:
            if place.read() is not old:
                builder.writes[place.key] = (place, old)

    return log


def _shared(names: Names, functions: Sequence[Callable[..., Any]]) -> set[Any]:
    """Keys of the cells that hold state variables: they are passed as state, not as heap."""
    return {
        Place(cell, name, "cell").key
        for f in functions
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
        if name in names
    }


# --- if -----------------------------------------------------------------------------------------


def if_(
    test: Any,
    if_true: Callable[..., State],
    if_false: Callable[..., State],
    state: State,
    names: Names,
) -> State:
    """The if statement: each branch maps the state to the state."""
    if not is_staged(test):
        return if_true(*state) if test else if_false(*state)
    return tuple(
        _cond(
            truth(test),
            (lambda: if_true(*state), lambda: if_false(*state)),
            names,
            (if_true, if_false),
        )
    )


def if_exp(test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any]) -> Any:
    """The conditional expression, and an if statement whose branches both return."""
    if not is_staged(test):
        return if_true() if test else if_false()
    branches = (lambda: (certain(if_true()),), lambda: (certain(if_false()),))
    return _cond(truth(test), branches, ("the result",), (if_true, if_false))[0]


@dataclass(slots=True)
class _Branch:
    """A traced branch: its frame, state entries and heap entries."""

    builder: Builder
    entries: list[Entry]
    slots: dict[Any, Slot]
    heap: dict[Any, Entry]


def _trace_branch(name: str, branch: Callable[[], State], names: Names, cells: Any) -> _Branch:
    with frame(name) as builder:
        log = _watch_cells(builder, cells)
        outcome = branch()
        log()
        if isinstance(outcome, Unreachable):  # the branch raises
            outcome = (outcome,) * len(names)
        entries = [take_apart(n, value) for n, value in zip(names, outcome, strict=True)]
        del outcome
        slots = _slots(builder, _shared(names, cells))
        heap = {key: take_apart(slot.name, slot.read()) for key, slot in slots.items()}
        for entry in (*entries, *heap.values()):
            entry.freeze()
        return _Branch(builder, entries, slots, heap)


def _cond(pred: Tensor, branches: Any, names: Names, cells: Any) -> list[Any]:
    true, false = (
        _trace_branch(label, branch, names, (f,))
        for label, branch, f in zip(("true", "false"), branches, cells, strict=True)
    )
    slots = {**false.slots, **true.slots}
    for side in (true, false):
        for key, slot in slots.items():
            if key not in side.heap:
                with recording(side.builder):
                    side.heap[key] = take_apart(slot.name, slot.read())
    pairs = list(zip(true.entries, false.entries, strict=True))
    pairs += [(true.heap[key], false.heap[key]) for key in slots]
    joined = [_join_entries(a, b) for a, b in pairs]
    outputs: list[list[Value]] = [[], []]
    for plan in joined:
        for number, (branch, sink) in enumerate(zip((true, false), outputs, strict=True)):
            with recording(branch.builder):
                sink += [value_in(tensor, branch.builder) for tensor in plan.outputs(number)]
    conditions = _export_conditions(joined, (true, false), outputs)
    results = _bind_cond(pred, true.builder, false.builder, outputs)
    values = [plan.rebuild(results) for plan in joined]
    known = {key: next(results) for key in conditions}
    sharing.link_joined(pred, [made for plan in joined for made in plan.made], known)
    for slot, value in zip(slots.values(), values[len(names) :], strict=True):
        slot.write(value)
    return values[: len(names)]


def _export_conditions(joined: list[_Join], sides: Any, outputs: Any) -> list[int]:
    """Let branches give the conditions under which their results are arrays from outside of them;
    the other branch gives False. Their ids, in order."""
    found: dict[int, tuple[int, Tensor]] = {}
    for plan in joined:
        for number, entry in enumerate(plan.entries):
            leaves = [
                leaf
                for leaf, spec in zip(entry.leaves, plan.specs, strict=False)
                if spec is not None
            ]
            found.update({id(when): (number, when) for when in sharing.inner_conditions(leaves)})
    for side, when in found.values():
        for number, branch in enumerate(sides):
            with recording(branch.builder):
                value = resolve(when) if number == side else Tensor(np.asarray(False))
                outputs[number].append(value_in(value, branch.builder))
    return list(found)


def _bind_cond(pred: Tensor, true: Builder, false: Builder, outputs: Any) -> Iterator[Tensor]:
    operands = list(dict.fromkeys([*captured(true), *captured(false)]))
    graphs = [
        _close(b, operands, results, n)
        for b, results, n in zip((true, false), outputs, ("true", "false"), strict=True)
    ]
    if not outputs[0] and not any(g.effects for g in graphs):
        return iter(())
    tensors = control.cond(pred, *map(Tensor, operands), true=graphs[0], false=graphs[1])
    return iter(tensors)


def _close(
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
    made: list[sharing.Made] = field(default_factory=list)  # joined leaves, and what they come from

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
        for i, (leaf, spec) in enumerate(zip(model.leaves, self.specs, strict=True)):
            if spec is None:
                leaves.append(leaf)
                continue
            sides = [None if e.bound is False else e.leaves[i] for e in (a, b)]
            tensor = next(results)
            tensor._scalar = all(sharing.is_number(side) for side in sides if side is not None)
            self.made.append((tensor, sides))
            leaves.append(tensor)
        bound = next(results) if self.bound is None else self.bound
        return model.replaced(leaves, bound).build()


def _join_entries(a: Entry, b: Entry) -> _Join:
    if a.bound is False and b.bound is False:
        return _Join((a, b), [None], bound=False)
    if a.bound is False or b.bound is False:
        present, absent = (b, a) if a.bound is False else (a, b)
        specs = [carried_spec(leaf) if is_dynamic(leaf) else None for leaf in present.leaves]
        settled = absent.unreachable and present.bound is True
        return _Join((a, b), specs, bound=True if settled else None)
    if a.treedef != b.treedef:
        raise structure_error(a.name, a, b, ("in one branch", "in the other"))
    specs = [_join_leaf(a, b, x, y) for x, y in zip(a.leaves, b.leaves, strict=True)]
    return _Join((a, b), specs, bound=True if a.bound is True and b.bound is True else None)


def _join_leaf(a: Entry, b: Entry, x: Any, y: Any) -> Spec | None:
    if same_static(x, y):
        return None
    if not (is_dynamic(x) and is_dynamic(y)):
        raise structure_error(a.name, a, b, ("in one branch", "in the other"))
    return join_spec(a.name, carried_spec(x), carried_spec(y))


# --- while --------------------------------------------------------------------------------------


def while_(
    test: Callable[..., Any], body: Callable[..., State], state: State, names: Names
) -> State:
    """The while statement. It may start in Python and turn staged when its condition does."""
    first = True
    while True:
        verdict = _try_test(test, state)
        if is_staged(verdict):
            return _staged_while(test, body, state, names)
        if not verdict:
            return state
        if first and _becomes_staged(test, body, state):
            return _staged_while(test, body, state, names, runs=True)
        first = False
        state = body(*state)


def _becomes_staged(test: Callable[..., Any], body: Callable[..., State], state: State) -> bool:
    """Whether the condition is staged after one turn (`shift = np.inf; while shift > 1e-6: ...`):
    such a loop is staged as a whole rather than from its second turn on."""
    if current_builder() is None:
        return False
    try:
        with frame("trial") as builder:
            log = _watch_cells(builder, (body,))
            after = body(*state)
            log()
            return is_staged(test(*after))
    except (Unstageable, ConcreteValueNeeded):
        return False


def _try_test(test: Callable[..., Any], state: State) -> Any:
    """The condition's value, evaluated in a frame that is thrown away."""
    if current_builder() is None:
        return test(*state)
    with frame("test"):
        return test(*state)


def _staged_while(
    test: Callable[..., Any],
    body: Callable[..., State],
    state: State,
    names: Names,
    runs: bool = False,
) -> State:
    """A while op; `runs`: there is at least one turn, so what the body binds is bound after it."""
    loop = _Carry(state, names)
    builder = loop.trace(lambda *variables: body(*variables), (body,))
    with frame("cond") as cond_builder:
        variables = loop.parameters(cond_builder)
        verdict = resolve(as_tensor(test(*variables)))
        results = [value_in(truth(verdict), cond_builder)]
    operands = list(dict.fromkeys([*captured(builder), *captured(cond_builder)]))
    cond_graph = _close_loop(cond_builder, loop.params_of(cond_builder), operands, results, "cond")
    body_graph = _close_loop(builder, loop.params_of(builder), operands, loop.results, "body")
    tensors = control.while_(
        *loop.initial(),
        *map(Tensor, operands),
        cond=cond_graph,
        body=body_graph,
        carry=len(loop.specs),
    )
    pure = not cond_graph.effects and not cond_builder.writes_done
    first = (lambda: truth(resolve(as_tensor(test(*state))))) if pure else None
    return loop.finish(tensors, runs, first)


def _close_loop(
    builder: Builder,
    own: Sequence[Value],
    operands: Sequence[Value],
    results: Sequence[Value],
    name: str,
) -> Graph:
    params = (*own, *(builder.own(value) for value in operands))
    return Graph(params, tuple(builder.nodes), tuple(results), name)


class _Carry:
    """What a loop carries, found by tracing its body until nothing new turns up.

    The first trace starts from the specs of the initial state. A dtype that grows, an axis that
    changes, a name that becomes bound, a tensor or field that is written: each widens the carry,
    and the body is traced again. A discarded trace leaves no nodes and no writes behind.

    A variable that holds a tensor is given to the body as a view of that very tensor, so that an
    in-place update (`x += 1`) is told from a rebinding (`x = x + 1`): the first is a write to the
    storage, seen by every alias of it, the second concerns the name alone.
    """

    MAX_ROUNDS = 12

    def __init__(self, state: State, names: Names) -> None:
        self.names = names
        self.entries = [take_apart(n, value) for n, value in zip(names, state, strict=True)]
        self.slots: dict[Any, Slot] = {}
        self.specs: list[Spec] = []  # one per carried leaf and per bound flag, in order
        self.dynamic: list[list[bool]] = []  # per entry, per leaf: carried or static
        self.flagged: list[bool] = []  # per entry: carries a bound flag
        self.own: dict[int, list[Value]] = {}  # id of builder -> its carry parameters
        self.results: list[Value] = []
        self.always: list[bool] = []  # per entry: bound at the end of every turn
        self.wild: set[tuple[int, int]] = set()  # (carried leaf, axis) whose size changes
        self.plain: set[int] = set()  # ids of tensors that only this state can see
        self.aliases: dict[int, list[Tensor]] = {}  # id of a state tensor -> what the body got
        self.given: list[Tensor] = []  # what the body got for each carried leaf
        self.links = sharing.LoopLinks()
        for entry in self.entries:
            entry.leaves = [_as_local(leaf) for leaf in entry.leaves]
        self._plan()

    def _plan(self) -> None:
        self.dynamic = [
            [is_dynamic(leaf) and e.bound is not False for leaf in e.leaves] for e in self.entries
        ]
        self.flagged = [e.bound is not True and e.bound is not False for e in self.entries]
        self.specs = [carried_spec(leaf) for leaf in self._carried_leaves()]

    def _carried_leaves(self) -> Iterator[Any]:
        for entry, dynamic, flagged in zip(self.entries, self.dynamic, self.flagged, strict=True):
            yield from (leaf for leaf, d in zip(entry.leaves, dynamic, strict=True) if d)
            if flagged:
                yield entry.bound

    # --- tracing ---

    def trace(self, body: Callable[..., State], cells: Any, index: bool = False) -> Builder:
        """Trace the body to a fixed point; `index`: it takes the turn's number first."""
        for _ in range(self.MAX_ROUNDS):
            with frame("body") as builder:
                turn = (
                    [Tensor(builder.param(Spec((), np.dtype(np.int64), True), "i"))]
                    if index
                    else []
                )
                variables = self.parameters(builder)
                log = _watch_cells(builder, cells)
                outcome = body(*turn, *variables)
                log()
                if isinstance(outcome, Unreachable):  # every turn raises
                    outcome = tuple(variables)
                after = [take_apart(n, value) for n, value in zip(self.names, outcome, strict=True)]
                del outcome, variables, turn
                slots = _slots(builder, _shared(self.names, cells))
                after += [take_apart(s.name, s.read()) for s in self.slots.values()]
                new = {k: s for k, s in slots.items() if k not in self.slots}
                settled = not self._keep_updated(after, slots)
                if settled and not new and not self._widen(after):
                    if self.links.learn(
                        list(self._carried_leaves()), self.given, self._leaves_of(after), builder
                    ):
                        continue
                    self.always = [entry.bound is True for entry in after]
                    self.results = list(self._result_values(after, builder))
                    return builder
            for key, slot in new.items():
                self.slots[key] = slot
                self.entries.append(take_apart(slot.name, slot.read()))
                self._extend()
        raise Unstageable(
            "the loop's state keeps changing its kind from one turn to the next", location=here()
        )

    def _extend(self) -> None:
        entry = self.entries[-1]
        self.dynamic.append([is_dynamic(leaf) for leaf in entry.leaves])
        self.flagged.append(False)
        self.specs += [
            carried_spec(leaf) for leaf, d in zip(entry.leaves, self.dynamic[-1], strict=True) if d
        ]

    def parameters(self, builder: Builder) -> list[Any]:
        """Fresh parameters for the carry, as state variables; the slots are written."""
        values = [
            builder.param(spec, name)
            for spec, name in zip(self.specs, self._leaf_names(), strict=True)
        ]
        self.own[id(builder)] = values
        initial = self._carried_leaves()
        self.given = [self._alias(v, leaf) for v, leaf in zip(values, initial, strict=True)]
        self.links.apply(self.given)
        variables = self._assemble(iter(self.given))
        for slot, value in zip(self.slots.values(), variables[len(self.names) :], strict=True):
            slot.write(value)
        return variables[: len(self.names)]

    def params_of(self, builder: Builder) -> list[Value]:
        return self.own[id(builder)]

    def _leaf_names(self) -> Iterator[str]:
        for entry, dynamic, flagged in zip(self.entries, self.dynamic, self.flagged, strict=True):
            yield from (entry.name for d in dynamic if d)
            if flagged:
                yield f"{entry.name}_is_bound"

    def _assemble(self, tensors: Iterator[Tensor]) -> list[Any]:
        variables = []
        for entry, dynamic, flagged in zip(self.entries, self.dynamic, self.flagged, strict=True):
            leaves = [
                next(tensors) if d else leaf for leaf, d in zip(entry.leaves, dynamic, strict=True)
            ]
            bound = next(tensors) if flagged else entry.bound
            variables.append(entry.replaced(leaves, bound).build())
        return variables

    # --- in-place updates of state variables ---

    def _alias(self, value: Value, leaf: Any) -> Tensor:
        tensor = Tensor(value)
        tensor._scalar = not isinstance(leaf, Tensor) or leaf._scalar
        if not tensor._scalar and id(leaf) not in self.plain and not leaf._weak:
            tensor._base, tensor._view, tensor._seen = (
                leaf,
                (slice_, (), {"key": ()}),
                leaf._version,
            )
            self.aliases.setdefault(id(leaf), []).append(tensor)
        return tensor

    def _keep_updated(self, after: list[Entry], slots: dict[Any, Slot]) -> bool:
        """Settle variables whose tensors the body updated in place; True if one was found."""
        found = False
        for k, (entry, new) in enumerate(zip(self.entries, after, strict=True)):
            if entry.treedef != new.treedef:
                continue
            for j, leaf in enumerate(entry.leaves):
                if not self.dynamic[k][j] or not isinstance(leaf, Tensor) or id(leaf) in self.plain:
                    continue
                if any(new.leaves[j] is alias for alias in self.aliases.get(id(leaf), ())):
                    found = True
                    self._drop(k, j)
                    continue
                if id(_storage(leaf)) not in slots or id(leaf) not in self.aliases:
                    continue
                found = True
                if _is_private(leaf):
                    self.plain.add(id(leaf))
                    slots.pop(id(leaf))
                else:
                    raise Unstageable(
                        f"'{entry.name}' is updated in place and also assigned anew "
                        "in a staged loop, "
                        "while its array can be seen from elsewhere",
                        location=here(),
                        remedy=f"start the loop with {entry.name} = {entry.name}.copy()",
                    )
        return found

    def _drop(self, k: int, j: int) -> None:
        """Leaf j of entry k stays the tensor it is: its storage is carried instead."""
        position = sum(sum(d) + f for d, f in zip(self.dynamic[:k], self.flagged[:k], strict=True))
        position += sum(self.dynamic[k][:j])
        self.dynamic[k][j] = False
        del self.specs[position]
        self.wild = {(p - (p > position), a) for p, a in self.wild if p != position}

    # --- widening ---

    def _widen(self, after: list[Entry]) -> bool:
        """Make the carry cover what the body gives; True if it had to change."""
        changed = False
        position = 0
        for k, (entry, new) in enumerate(zip(self.entries, after, strict=True)):
            if entry.bound is False and new.bound is not False:
                self._bind_late(k, new)
                return True
            if new.bound is False:
                raise structure_error(
                    entry.name, entry, new, ("before a turn of the loop", "after it")
                )
            if entry.bound is not False and entry.treedef != new.treedef:
                raise structure_error(
                    entry.name, entry, new, ("before a turn of the loop", "after it")
                )
            for j, d in enumerate(self.dynamic[k]):
                if not d:
                    if entry.bound is not False and not same_static(entry.leaves[j], new.leaves[j]):
                        raise structure_error(
                            entry.name, entry, new, ("before a turn of the loop", "after it")
                        )
                    continue
                if not is_dynamic(new.leaves[j]):
                    raise structure_error(
                        entry.name, entry, new, ("before a turn of the loop", "after it")
                    )
                changed |= self._widen_spec(position, entry.name, carried_spec(new.leaves[j]))
                position += 1
            position += self.flagged[k]
        return changed

    def _bind_late(self, k: int, new: Entry) -> None:
        """A name that the loop binds: from now on carried, with a flag that says whether it is."""
        entry = self.entries[k]
        specs = [carried_spec(leaf) if is_dynamic(leaf) else None for leaf in new.leaves]
        leaves = [
            leaf if spec is None else _Zeros(_static_dims(spec))
            for leaf, spec in zip(new.leaves, specs, strict=True)
        ]
        self.entries[k] = Entry(entry.name, new.treedef, leaves, Tensor(np.asarray(False)))
        self.dynamic[k] = [spec is not None for spec in specs]
        self.flagged[k] = True
        before = sum(sum(d) + f for d, f in zip(self.dynamic[:k], self.flagged[:k], strict=True))
        late = [_static_dims(spec) for spec in specs if spec is not None]
        self.specs[before:before] = [*late, Spec((), BOOL)]

    def _widen_spec(self, position: int, name: str, result: Spec) -> bool:
        spec = self.specs[position]
        shape = list(spec.shape)
        joined = join_spec(name, spec, result, fresh_dims=False)
        for axis, (dim, new) in enumerate(zip(spec.shape, result.shape, strict=True)):
            if dim != new and (position, axis) not in self.wild:
                self.wild.add((position, axis))
                shape[axis] = fresh("w")
        wide = Spec(tuple(shape), joined.dtype, joined.weak)
        changed = wide != spec
        self.specs[position] = wide
        return changed

    def _result_values(self, after: list[Entry], builder: Builder) -> Iterator[Value]:
        position = 0
        for entry, dynamic, flagged in zip(after, self.dynamic, self.flagged, strict=True):
            for leaf, d in zip(entry.leaves, dynamic, strict=True):
                if d:
                    yield value_in(fit(leaf, self.specs[position]), builder)
                    position += 1
            if flagged:
                yield value_in(resolve(as_tensor(entry.bound)), builder)
                position += 1

    def _leaves_of(self, entries: list[Entry]) -> list[Any]:
        """The leaves that the carry has a place for, bound flags included."""
        found: list[Any] = []
        for entry, dynamic, flagged in zip(entries, self.dynamic, self.flagged, strict=True):
            found += [leaf for leaf, d in zip(entry.leaves, dynamic, strict=True) if d]
            found += [entry.bound] * flagged
        return found

    # --- the ends ---

    def initial(self) -> list[Tensor]:
        """The carry before the first turn, in the carry's dtypes."""
        leaves = [
            placeholder(leaf.spec) if isinstance(leaf, _Zeros) else leaf
            for leaf in self._carried_leaves()
        ]
        return [fit(leaf, spec) for leaf, spec in zip(leaves, self.specs, strict=True)]

    def finish(
        self,
        tensors: Sequence[Tensor],
        runs: bool = False,
        first: Callable[[], Tensor] | None = None,
    ) -> State:
        """The state after the loop; heap writes take effect in the current frame."""
        self.links.finish(list(self._carried_leaves()), tensors, runs, first)
        variables = self._assemble(iter(tensors))
        if runs:
            variables = [
                certain(v) if a else v for v, a in zip(variables, self.always, strict=True)
            ]
        for slot, value in zip(self.slots.values(), variables[len(self.names) :], strict=True):
            slot.write(value)
        return tuple(variables[: len(self.names)])


def _as_local(leaf: Any) -> Any:
    return resolve(as_tensor(leaf)) if isinstance(leaf, (Tensor, np.ndarray, np.generic)) else leaf


def _storage(tensor: Tensor) -> Tensor:
    while tensor._base is not None:
        tensor = tensor._base
    return tensor


def _is_private(tensor: Tensor) -> bool:
    """Whether no argument, captured array, view or other name shows this tensor's storage."""
    root = root_of(current_builder())
    if tensor._base is not None or root is None or next(links(tensor), None) is not None:
        return False
    if any(tensor is twin for _, twin in root.outside.values()) or id(tensor) in root.arguments:
        return False
    names = 0
    frame_: FrameType | None = sys._getframe(1)
    while frame_ is not None:
        if not is_internal(frame_.f_code.co_filename):
            names = max(names, sum(value is tensor for value in frame_.f_locals.values()))
        frame_ = frame_.f_back
    return names <= 1


@dataclass(slots=True)
class _Zeros:
    """The placeholder of a name that is bound only inside the loop."""

    spec: Spec


def _static_dims(spec: Spec) -> Spec:
    return Spec(
        tuple(fresh("w") if isinstance(d, Size) else d for d in spec.shape), spec.dtype, spec.weak
    )


# --- for ----------------------------------------------------------------------------------------

UNROLL = 8  # loops of at most so many turns, and known length, are unrolled
WARN_UNROLLED = 1000


def for_(
    iterable: Any,
    body: Callable[..., State],
    state: State,
    names: Names,
    test: Callable[..., Any] | None = None,
) -> State:
    """The for statement: `body(item, *state)`; `test(*state)` false ends the loop early."""
    items = iteration.items_of(iterable)
    if items is None:
        return _python_for(iterable, body, state, names, test)
    if isinstance(items.length, int) and items.length <= UNROLL:
        return _python_for(items.concrete(), body, state, names, test)
    if isinstance(items.length, int):
        return _stage_or_unroll(items, body, state, names, test)
    return _staged_for(items, body, state, names, test)


def _python_for(iterable: Any, body: Any, state: State, names: Names, test: Any) -> State:
    turns = iter(iterable)
    while True:
        verdict = True if test is None else _try_test(test, state)
        if is_staged(verdict):
            return _masked_for(turns, body, state, names, test)
        if not verdict:
            return state
        try:
            item = next(turns)
        except StopIteration:
            return state
        state = body(item, *state)


def _masked_for(turns: Iterator[Any], body: Any, state: State, names: Names, test: Any) -> State:
    """An unrolled loop that a staged break may end: each turn runs only while the test holds."""
    for item in turns:
        state = if_(test(*state), lambda *s, item=item: body(item, *s), lambda *s: s, state, names)
    return state


def _stage_or_unroll(
    items: iteration.Items, body: Any, state: State, names: Names, test: Any, peel: bool = True
) -> State:
    """A loop of known length: staged if its body can be, unrolled otherwise.

    Where the first turn changes the kind of the state (`s = 0`, then `s = s + vector`), that turn
    is unrolled and the others are staged.
    """
    builder = current_builder()
    if builder is None:
        return _python_for(items.concrete(), body, state, names, test)
    try:
        return _staged_for(items, body, state, names, test)
    except TraceError as error:  # as a staged loop it cannot be traced; turn by turn it may
        if isinstance(error, LeakedTracer):
            raise
        reason = error.message
    if peel and test is None:
        assert isinstance(items.length, int)
        state = body(next(items.concrete()), *state)
        python = None if items.python is None else items.python[1:]
        rest = iteration.Items(
            items.length - 1, lambda i: items.item(i + 1), python, items.optional
        )
        return _stage_or_unroll(rest, body, state, names, test, peel=False)
    _note_unrolling(builder, items, reason)
    return _python_for(items.concrete(), body, state, names, test)


def _note_unrolling(builder: Builder, items: iteration.Items, reason: str) -> None:
    import warnings

    root = root_of(builder)
    note = f"{here()}: loop of {items.length} turns unrolled: {reason}"
    if root is not None and note not in root.notes:
        root.notes.append(note)
    if isinstance(items.length, int) and items.length > WARN_UNROLLED:
        warnings.warn(note, stacklevel=2)


def _staged_for(items: iteration.Items, body: Any, state: State, names: Names, test: Any) -> State:
    if test is not None:
        return _staged_for_with_test(items, body, state, names, test)
    loop = _Carry(state, names)

    def turn(i: Tensor, *variables: Any) -> State:
        return body(items.item(i), *variables)  # type: ignore[no-any-return]

    builder = loop.trace(turn, (body,), index=True)
    if items.optional and not builder.nodes:
        raise Unstageable("its body records nothing")
    operands = captured(builder)
    graph = _close_loop(
        builder, [builder.params[0], *loop.params_of(builder)], operands, loop.results, "body"
    )
    tensors = control.loop(
        *loop.initial(),
        *map(Tensor, operands),
        length=items.length,
        body=graph,
        carry=len(loop.specs),
        xs=0,
    )
    runs = isinstance(items.length, int) and items.length > 0
    return loop.finish(tensors, runs, lambda: elementwise.greater(as_tensor(items.length), 0))


def _staged_for_with_test(items: Any, body: Any, state: State, names: Names, test: Any) -> State:
    """A for loop that may break: a while loop with a counter."""
    length = items.length if isinstance(items.length, int) else as_tensor(items.length)

    def holds(i: Any, *variables: Any) -> Any:
        from graphify.autograph.operators.logical import and_

        return and_(lambda: i < length, lambda: test(*variables))

    def turn(i: Any, *variables: Any) -> State:
        return (i + 1, *body(items.item(i), *variables))

    start = resolve(Tensor(np.asarray(0), weak=True))
    return _staged_while(holds, turn, (start, *state), ("i", *names))[1:]
