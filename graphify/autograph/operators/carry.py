"""What a staged loop carries from turn to turn."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphify.autograph.operators import listtrees, nests
from graphify.autograph.operators.choice import Choice, has_choice, unite
from graphify.autograph.operators.elements import Kept
from graphify.autograph.operators.heap import (
    Names,
    Slot,
    State,
    shared_cells,
    slots_of,
    watch_cells,
)
from graphify.autograph.operators.iteration import ListChanges
from graphify.autograph.operators.listcarry import CarriedLists
from graphify.autograph.operators.looplinks import LoopLinks, Place
from graphify.autograph.operators.made import Opener
from graphify.autograph.operators.privacy import is_private
from graphify.autograph.operators.sharing import ALIAS, is_number, mark
from graphify.autograph.operators.state import (
    Absent,
    Entry,
    Unstageable,
    as_local,
    as_number,
    carried_spec,
    count_alike,
    fit,
    is_dynamic,
    join_spec,
    joinable,
    placeholder,
    same_static,
    static_dims,
    structure_error,
    take_apart,
)
from graphify.autograph.operators.undefined import RESULT, Maybe, Undefined, Unreachable, certain
from graphify.autograph.operators.unknown import ending, raising, reached
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder, Value
from graphify.ir.kinds import class_of, kinds_of
from graphify.ir.sharing import storage
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ir.types import BOOL, Spec
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.tracing import identity
from graphify.tracing.capture import frame


class Carry:
    """What a loop carries, found by tracing its body until nothing new turns up.

    The first trace starts from the specs of the initial state. A dtype that grows, an axis that
    changes, a name that becomes bound, a tensor or field that is written: each widens the carry,
    and the body is traced again. A discarded trace leaves no nodes and no writes behind.

    A variable that holds a tensor is given to the body as a view of that very tensor, so that an
    in-place update (`x += 1`) is told from a rebinding (`x = x + 1`): the first is a write to the
    storage, seen by every alias of it, the second concerns the name alone.
    """

    MAX_ROUNDS = 12  # and one for each variable: a kind may pass from one to the next, turn by turn

    def __init__(
        self, state: State, names: Names, body: Callable[..., State], choices: bool = True
    ) -> None:
        self.names = names
        self.body = body  # the user's, whose cells are watched
        self.choices = choices  # values may be of another kind from turn to turn: see choice.py
        self.entries = [
            take_apart(n, value, ahead=True) for n, value in zip(names, state, strict=True)
        ]
        self.slots: dict[Any, Slot] = {}
        self.specs: list[Spec] = []  # one per carried leaf and per bound flag, in order
        self.dynamic: list[list[bool]] = []  # per entry, per leaf: carried or static
        self.flagged: list[bool] = []  # per entry: carries a bound flag
        self.own: dict[int, list[Value]] = {}  # id of builder -> its carry parameters
        self.results: list[Value] = []
        self.always: list[bool] = []  # per entry: bound at the end of every turn
        self.kinds: list[
            frozenset[type]
        ] = []  # per carried leaf: what it is at the end of every turn
        self.turned: dict[Place, frozenset[type]] = {}  # what a leaf is at the end of some turn
        self.wild: set[tuple[int, int]] = set()  # (carried leaf, axis) whose size changes
        self.revived: set[Place] = set()  # numbers that change in some turn after all
        self.plain: set[int] = set()  # ids of tensors that only this state can see
        self.aliased: set[int] = set()  # ids of tensors that the body got a view of
        self.given: dict[Place, Tensor] = {}  # what the body got for each carried leaf
        # What the function returns: no turn begins once that is set, so none sees what it may be.
        self.unset = {
            k for k, v in enumerate(state) if isinstance(v, Undefined | Maybe) and v.name == RESULT
        }
        self.links = LoopLinks()
        self.lists = CarriedLists(current_builder())
        self.kept = Kept()
        self.gone = identity.settle([entry.held for entry in self.entries], {})
        for entry in self.entries:
            entry.leaves = [as_local(leaf) for leaf in entry.leaves]
        self._plan()
        self.nest, learnt = nests.enter(current_builder(), body)
        self._add(learnt)

    def _plan(self) -> None:
        self.dynamic = [
            [is_dynamic(leaf) and e.bound is not False for leaf in e.leaves] for e in self.entries
        ]
        self.flagged = [e.bound is not True and e.bound is not False for e in self.entries]
        for k, entry in enumerate(self.entries):
            self.specs += [s for s in self._specs_of(k, entry) if s is not None]
            self.specs += [carried_spec(entry.bound)] * self.flagged[k]

    def _specs_of(self, k: int, entry: Entry) -> list[Spec | None]:
        """Specs of an entry's leaves that are carried."""
        self.lists.enter(k, entry)
        specs = [
            static_dims(leaf.spec, self.lists.frame)
            if isinstance(leaf, Absent)
            else carried_spec(leaf)
            if dynamic
            else None
            for leaf, dynamic in zip(entry.leaves, self.dynamic[k], strict=True)
        ]
        return self.lists.specs(entry.treedef, specs)

    def _carried_leaves(self) -> Iterator[Any]:
        for entry, dynamic, flagged in zip(self.entries, self.dynamic, self.flagged, strict=True):
            yield from (leaf for leaf, d in zip(entry.leaves, dynamic, strict=True) if d)
            if flagged:
                yield entry.bound

    def _places(self) -> Iterator[Place | None]:
        """Of each carried leaf, its place; None for a bound flag."""
        for k, (dynamic, flagged) in enumerate(zip(self.dynamic, self.flagged, strict=True)):
            yield from ((k, j) for j, d in enumerate(dynamic) if d)
            if flagged:
                yield None

    def _at_places(self, leaves: Iterable[Any]) -> dict[Place, Any]:
        """Carried leaves by place, less those of storages: a storage is nobody's name."""
        named = [True] * len(self.names)
        named += [not isinstance(slot.target, Tensor) for slot in self.slots.values()]
        found = zip(self._places(), leaves, strict=True)
        return {place: leaf for place, leaf in found if place is not None and named[place[0]]}

    def _arrays(self, leaves: dict[Place, Any]) -> dict[Place, Any]:
        """Those that others may see and update: less the numbers that lists hold."""
        own = [listtrees.numbers_at(entry.treedef) for entry in self.entries]
        return {(k, j): leaf for (k, j), leaf in leaves.items() if j not in own[k]}

    @property
    def width(self) -> int:
        """How many values the loop carries."""
        return len(self.specs) + len(self.links.flags)

    # --- tracing ---

    def trace(
        self, body: Callable[..., State], index: bool = False, raises: bool = False
    ) -> Builder:
        """Trace a turn to a fixed point.

        Args:
            body: what a turn does: the body and what the loop adds to it.
            index: the body takes the turn's number first.
            raises: an error in it is raised by the turn that comes there; there may be none.
        """
        if raises:
            body = partial(raising, body)
        for _ in range(self.MAX_ROUNDS + len(self.entries)):
            with frame("body") as builder, self.nest.traced(builder, self.slots):
                turn = (
                    [Tensor(builder.param(Spec((), np.dtype(np.int64), True), "i"))]
                    if index
                    else []
                )
                variables = self.parameters(builder)
                lengths = self.lists.lengths()
                log = watch_cells(builder, (self.body,))
                outcome = reached(ending, body, *turn, *variables)
                log()
                changed = self.kept.narrow()
                if isinstance(outcome, Unreachable):  # every turn raises
                    outcome = tuple(variables)
                opened = Opener(builder)
                values = zip(self.names, outcome, strict=True)
                after = [take_apart(n, opened(value), of=value) for n, value in values]
                del outcome, variables, turn
                slots = slots_of(builder, shared_cells(self.names, (self.body,)))
                after += [slot.take_apart(opened) for slot in self.slots.values()]
                new = {k: s for k, s in slots.items() if k not in self.slots}
                changed = changed or self._revive(after) or self._unite(after, builder)
                changed = changed or self._keep_updated(after, slots)
                settled = not (changed or new or self._widen(after))
                if settled:
                    leaves = self._arrays(self._at_places(self._leaves_of(after)))
                    if self.links.learn(self._arrays(self.given), leaves, builder):
                        continue
                    if any(map(operator.is_not, lengths, self.lists.lengths())):
                        raise ListChanges(location=here())
                    self.always = [entry.bound is True for entry in after]
                    self.kinds = [kinds_of(leaf) for leaf in self._leaves_of(after)]
                    self.results = list(self._result_values(after, builder))
            identity.settle([entry.held for entry in after], self.gone)
            more = [old.held.widen(e.held) for old, e in zip(self.entries, after, strict=True)]
            if settled and not any(more):
                self.nest.done(self.slots)
                return builder
            self._add(new)
        raise Unstageable(
            "the loop's state keeps changing its kind from one turn to the next", location=here()
        )

    def _add(self, slots: dict[Any, Slot]) -> None:
        """Carry what these slots hold, too."""
        for key, slot in slots.items():
            entry = slot.take_apart(ahead=True)
            self.slots[key] = slot
            self.entries.append(entry)
            identity.settle([entry.held], self.gone)
            self.dynamic.append([is_dynamic(leaf) for leaf in entry.leaves])
            self.flagged.append(entry.bound is not True and entry.bound is not False)
            specs = self._specs_of(len(self.entries) - 1, entry)
            self.specs += [spec for spec in specs if spec is not None]
            self.specs += [carried_spec(entry.bound)] * self.flagged[-1]

    def parameters(self, builder: Builder) -> list[Any]:
        """Fresh parameters for the carry, as state variables; the slots are written."""
        values = [
            builder.param(spec, name)
            for spec, name in zip(self.specs, self._leaf_names(), strict=True)
        ]
        self.links.begin(self._arrays(self._at_places(self._carried_leaves())))
        flags = [builder.param(Spec((), BOOL), "same") for _ in self.links.flags]
        self.own[id(builder)] = [*values, *flags]
        rows = zip(values, self._carried_leaves(), self._places(), strict=True)
        given = [self._alias(*row) for row in rows]
        places = self._at_places(given)
        self.given = {at: leaf for at, leaf in places.items() if at[0] not in self.unset}
        self.links.apply(self._arrays(self.given), list(map(Tensor, flags)))
        variables = self._assemble(iter(given))
        for variable in (variables[k] for k in self.unset):
            if isinstance(variable, Undefined | Maybe):
                variable.name = RESULT
        self._write(variables)
        return variables[: len(self.names)]

    def _write(self, variables: Sequence[Any]) -> None:
        """Write what the slots hold, which comes after the state variables."""
        rows = list(zip(variables, self.entries, strict=True))[len(self.names) :]
        for slot, (value, entry) in zip(self.slots.values(), rows, strict=True):
            slot.join(value, entry.held)
        self.kept.renew()

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

    def _alias(self, value: Value, leaf: Any, place: Place | None) -> Tensor:
        tensor = Tensor(value)
        tensor._scalar = leaf.number if isinstance(leaf, Absent) else is_number(leaf)
        turned = frozenset() if place is None else self.turned.get(place, frozenset())
        mark(tensor, kinds_of(leaf) | turned or frozenset([class_of(tensor)]))
        plain = id(leaf) in self.plain or place in self.links.ambiguous
        if isinstance(leaf, Tensor) and not is_number(leaf) and not plain:
            tensor._base, tensor._view, tensor._seen = (
                leaf,
                (ALIAS, (), {"key": ()}),
                leaf._version,
            )
            self.aliased.add(id(leaf))
        return tensor

    def _keep_updated(self, after: list[Entry], slots: dict[Any, Slot]) -> bool:
        """Settle variables whose tensors the body updated in place; True if one was found."""
        found = False
        for k, (entry, new) in enumerate(zip(self.entries, after, strict=True)):
            if entry.treedef != new.treedef:
                continue
            free = not has_choice(entry.treedef)
            for j, leaf in enumerate(entry.leaves):
                if not self.dynamic[k][j]:
                    continue
                same = free and new.leaves[j] is self.given.get((k, j))
                if is_number(leaf):
                    if same and not isinstance(leaf, Absent) and (k, j) not in self.revived:
                        found = True  # the same number in every turn
                        self._drop(k, j)
                    continue
                if id(leaf) in self.plain or (k, j) in self.links.ambiguous:
                    continue
                if same:
                    found = True
                    self._drop(k, j)
                    continue
                if id(storage(leaf)) not in slots or id(leaf) not in self.aliased:
                    continue
                found = True
                if is_private(leaf):
                    self.plain.add(id(leaf))
                    slots.pop(id(leaf))
                else:
                    self.links.separate((k, j))
        return found

    def _revive(self, after: list[Entry]) -> bool:
        """Carry a number again that the turn left alone until the carry grew; True if one was."""
        before = len(self.revived)
        for k, (entry, new) in enumerate(zip(self.entries, after, strict=True)):
            if entry.bound is False or entry.treedef != new.treedef:
                continue
            pairs = enumerate(zip(entry.leaves, new.leaves, self.dynamic[k], strict=True))
            changed = {
                (k, j)
                for j, (old, leaf, dynamic) in pairs
                if is_number(old)
                and is_dynamic(old)
                and not dynamic
                and is_dynamic(leaf)
                and not same_static(old, leaf)
            }
            if changed:
                self.revived |= changed
                self._adopt(k, entry)
        return len(self.revived) > before

    def _drop(self, k: int, j: int) -> None:
        """Leaf j of entry k stays the tensor it is: its storage is carried instead."""
        position = self._position(k) + sum(self.dynamic[k][:j])
        self.dynamic[k][j] = False
        del self.specs[position]
        self.wild = {(p - (p > position), a) for p, a in self.wild if p != position}

    # --- widening ---

    def _unite(self, after: list[Entry], builder: Builder) -> bool:
        """Give the values after a turn the form of those before it; True if the carry needs
        another form itself: then it is of several kinds, depending on the turn."""
        changed = False
        for k, (entry, new) in enumerate(zip(self.entries, after, strict=True)):
            unbound = entry.bound is False or new.bound is False
            longer = None if unbound else self.lists.promoted(k, entry, new)
            if longer is not None:
                self._adopt(k, longer)
                changed = True
                continue
            changed |= self.lists.leave(k, entry, new, self._given_specs(k))
            if unbound or not self.choices or self._keeps_structure(k, new):
                continue
            before, now = unite(entry, new, (self.lists.frame, builder))
            if entry.contents and before.treedef.kind is Choice:
                continue
            after[k] = now
            if before.treedef != entry.treedef:
                self._adopt(k, before)
                changed = True
            else:
                changed |= self.lists.leave(k, entry, now, self._given_specs(k))
        return changed

    def _given_specs(self, k: int) -> list[Spec | None]:
        """Of each leaf of an entry, the spec in which it is carried."""
        specs = iter(self.specs[self._position(k) :])
        return [next(specs) if dynamic else None for dynamic in self.dynamic[k]]

    def _adopt(self, k: int, entry: Entry) -> None:
        """A variable in another form, with the specs that go with it."""
        self.links = LoopLinks()  # it knew the leaves by their places
        self.turned = {place: kinds for place, kinds in self.turned.items() if place[0] != k}
        start = self._position(k)
        stop = start + sum(self.dynamic[k])
        self.entries[k], self.dynamic[k] = entry, [is_dynamic(leaf) for leaf in entry.leaves]
        specs = [spec for spec in self._specs_of(k, entry) if spec is not None]
        self.specs[start:stop] = specs
        moved = len(specs) - (stop - start)
        self.wild = {
            (p + moved if p >= stop else p, axis) for p, axis in self.wild if not start <= p < stop
        }

    def _position(self, k: int) -> int:
        """Where the leaves of entry k begin among the specs."""
        return sum(sum(d) + f for d, f in zip(self.dynamic[:k], self.flagged[:k], strict=True))

    def _widen(self, after: list[Entry]) -> bool:
        """Make the carry cover what the body gives; True if it had to change."""
        unbound = [k for k, entry in enumerate(self.entries) if entry.bound is False]
        late = [k for k in unbound if after[k].bound is not False]
        for k in late:
            self._bind_late(k, after[k])
        changed = bool(late)
        position = 0
        for k, (entry, new) in enumerate(zip(self.entries, after, strict=True)):
            if entry.bound is False:  # and stays so
                continue
            if new.bound is False or not self._keeps_structure(k, new):
                where = ("before a turn of the loop", "after it")
                raise structure_error(entry.name, entry, new, where)
            for j, (leaf, dynamic) in enumerate(zip(new.leaves, self.dynamic[k], strict=True)):
                if dynamic:
                    changed |= self._widen_spec(position, entry.name, carried_spec(leaf))
                    changed |= self._widen_kinds((k, j), leaf)
                    position += 1
            position += self.flagged[k]
        return changed

    def _keeps_structure(self, k: int, new: Entry) -> bool:
        """Whether a variable has the same containers, and the same Python values in them, again."""
        entry = self.entries[k]
        return entry.treedef == new.treedef and all(
            is_dynamic(after) and (joinable if self.choices else count_alike)(before, after)
            if dynamic
            else same_static(before, after)
            for before, after, dynamic in zip(
                entry.leaves, new.leaves, self.dynamic[k], strict=True
            )
        )

    def _bind_late(self, k: int, new: Entry) -> None:
        """A name that the loop binds: from now on carried, with a flag that says whether it is."""
        entry = self.entries[k]
        specs = [carried_spec(leaf) if is_dynamic(leaf) else None for leaf in new.leaves]
        leaves = [
            leaf if spec is None else Absent(static_dims(spec, self.lists.frame), is_number(leaf))
            for leaf, spec in zip(new.leaves, specs, strict=True)
        ]
        self.entries[k] = Entry(entry.name, new.treedef, leaves, Tensor(np.asarray(False)))
        self.entries[k].held = new.held
        self.turned.update(((k, j), kinds_of(leaf)) for j, leaf in enumerate(new.leaves))
        self.dynamic[k] = [spec is not None for spec in specs]
        self.flagged[k] = True
        start = self._position(k)
        late = [spec for spec in self._specs_of(k, self.entries[k]) if spec is not None]
        self.specs[start:start] = [*late, Spec((), BOOL)]
        moved = len(late) + 1
        self.wild = {(p + moved if p >= start else p, axis) for p, axis in self.wild}

    def _widen_spec(self, position: int, name: str, result: Spec) -> bool:
        spec = self.specs[position]
        shape = list(spec.shape)
        joined = join_spec(name, spec, result, fresh_dims=False)
        for axis, (dim, new) in enumerate(zip(spec.shape, result.shape, strict=True)):
            if dim != new and (position, axis) not in self.wild and dim not in self.lists.rows:
                self.wild.add((position, axis))
                shape[axis] = fresh("w")
        wide = Spec(tuple(shape), joined.dtype, joined.weak)
        changed = wide != spec
        self.specs[position] = wide
        return changed

    def _widen_kinds(self, place: Place, leaf: Any) -> bool:
        """Note that a leaf is an array after a turn, or a number of some class."""
        k, j = place
        known = self.turned.get(place, frozenset())
        self.turned[place] = known | kinds_of(leaf)
        return not self.turned[place] <= known | kinds_of(self.entries[k].leaves[j])

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
        for flag in self.links.results():
            yield value_in(resolve(flag), builder)

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
        found = self._leaves_of([self.lists.reserve(k, e) for k, e in enumerate(self.entries)])
        leaves = [placeholder(leaf.spec) if isinstance(leaf, Absent) else leaf for leaf in found]
        carried = [fit(leaf, spec) for leaf, spec in zip(leaves, self.specs, strict=True)]
        return [*carried, *self.links.initial()]

    def finish(
        self,
        tensors: Sequence[Tensor],
        runs: bool = False,
        first: Callable[[], Tensor] | None = None,
    ) -> State:
        """The state after the loop; heap writes take effect in the current frame."""
        carried, flags = tensors[: len(self.specs)], tensors[len(self.specs) :]
        rows = zip(carried, self.specs, self._carried_leaves(), self.kinds, strict=True)
        for tensor, spec, leaf, after in rows:
            if not tensor.is_symbolic:  # evaluated on the spot
                tensor._weak = spec.weak
            mark(tensor, after if runs else after | kinds_of(leaf))
        self.links.finish(self._arrays(self._at_places(carried)), flags, runs, first)
        variables = self._assemble(iter(map(as_number, self._with_counts(carried))))
        if runs:
            variables = [
                certain(v) if a else v for v, a in zip(variables, self.always, strict=True)
            ]
        self._write(variables)
        return tuple(variables[: len(self.names)])

    def _with_counts(self, carried: Sequence[Tensor]) -> list[Tensor]:
        """What the loop gives; lengths of lists that can be told without it as such."""
        found = list(carried)
        for k, entry in enumerate(self.entries):
            for place, count in self.lists.finish(k, entry).items():
                found[self._position(k) + sum(self.dynamic[k][:place])] = count
        return found
