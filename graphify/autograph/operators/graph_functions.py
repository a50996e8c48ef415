"""Recursive functions of the user's as functions of the graph: traced in rounds, then called.

    recursion = Recursion(call)
    recursion.trace()              # to a fixed point of what it takes, gives and changes
    recursion.call(call.bound)     # records a recursive_call

While it is traced, the calls that it makes of itself come to `call_inside`: they widen what it
takes, and wait (see unknown.py) until it is known what it gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.activations import Activation, active, all_active
from graphify.autograph.operators.arguments import Arguments, local
from graphify.autograph.operators.forms import Form, same_thing
from graphify.autograph.operators.heap import Slot, slots_of, watch_cells
from graphify.autograph.operators.results import GivenBack, Shown, given_back
from graphify.autograph.operators.sharing import is_number
from graphify.autograph.operators.state import Unstageable, is_dynamic, take_apart
from graphify.autograph.operators.undefined import Undefined, Unreachable, certain
from graphify.autograph.operators.unknown import Unknown, ending
from graphify.ir.assign import assign
from graphify.ir.context import current_builder
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Builder, Graph, Value
from graphify.ir.same import same_function
from graphify.ir.sharing import is_shared, storage
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ir.types import Spec
from graphify.location import here
from graphify.ops import core
from graphify.ops.recursion import recursive_call
from graphify.tracing.capture import Root, captured, frame, root_of

MAX_ROUNDS = 24


@dataclass(slots=True, eq=False)
class Written:
    """What the function writes beside its arguments: what it holds before a call and after it."""

    slot: Slot
    before: Form
    after: Form | None = None

    @classmethod
    def of(cls, slot: Slot) -> Written:
        return cls(slot, Form.of(*cls.read(slot)).with_own_sizes())

    @staticmethod
    def read(slot: Slot) -> tuple[list[str], list[Any], tree.TreeDef]:
        entry = take_apart(slot.name, slot.read())
        if entry.bound is not True:
            raise Unstageable(f"'{slot.name}' is bound by some calls only", location=here())
        names = [entry.name] * len(entry.leaves)
        return names, [local(v) for v in entry.leaves], entry.treedef

    def leaves(self) -> list[Any]:
        """What the place holds now."""
        names, leaves, treedef = self.read(self.slot)
        if treedef != self.before.treedef:
            raise changes_structure(self.slot.name)
        return leaves

    def write(self, form: Form, tensors: Iterator[Tensor]) -> None:
        self.slot.write(form.treedef.unflatten(form.leaves(tensors)))


def changes_structure(name: str) -> Unstageable:
    return Unstageable(
        f"'{name}' of a recursive function changes its structure from call to call",
        location=here(),
        remedy=f"give '{name}' the same structure in every call",
    )


class Recursion:
    """A function that calls itself, as a graph."""

    def __init__(self, call: Activation, bound: Arguments) -> None:
        self.origin, self.bound = call, bound
        self.name = call.function.__name__
        self.args = Form.of(bound.leaf_names, bound.leaves, bound.treedef).with_own_sizes()
        self.written: dict[Any, Written] = {}
        self.captures: list[Value] = []  # what it uses of the frames around it
        self.updated: list[int] = []  # arguments that it updates in place
        self.result: Form | None = None
        self.shown: list[Shown] = []
        self.effects = self.changed = self.widened = False
        self.builder: Builder | None = None  # of the round
        self.function: GraphFunction | None = None

    def takes(self, bound: Arguments) -> bool:
        """Whether a call can be one of this graph: under a condition, with the same things."""
        if current_builder() is self.builder or bound.treedef != self.bound.treedef:
            return False
        return all(
            _covers(spec, thing, leaf)
            for spec, thing, leaf in zip(
                self.args.specs, self.args.things, bound.leaves, strict=True
            )
        )

    # --- rounds ---

    def trace(self) -> None:
        """Trace the function until nothing new turns up.

        Raises:
            Unstageable: it cannot be a graph of its own.
        """
        for _ in range(MAX_ROUNDS):
            if self.widened:  # what it uses may have been of the narrow form only
                self.captures = []
            self.changed = self.widened = False
            self.function = self._declared()
            graph = self._round()
            if graph is not None:
                self.function.complete(graph)
                return
        raise Unstageable(
            f"the arguments or results of {self.name} change their kind from call to call",
            location=here(),
        )

    def share(self, root: Root) -> None:
        """Use a function that was traced before, at another place, if it is the same."""
        for known in root.functions:
            if self.function is not None and same_function(self.function, known):
                self.function = known
                return
        if self.function is not None and self._is_settled():
            root.functions.append(self.function)

    @staticmethod
    def _is_settled() -> bool:
        """Whether no function around this one is still being traced, which it might call."""
        return all(a.recursion is None for a in all_active())

    def _declared(self) -> GraphFunction:
        params = [*self.args.carried_specs]
        params += [spec for w in self.written.values() for spec in w.before.carried_specs]
        params += [value.spec for value in self.captures]
        results = [] if self.result is None else self.result.carried_specs
        results += [spec for i in self.updated if (spec := self.args.specs[i]) is not None]
        results += [s for w in self.written.values() if w.after for s in w.after.carried_specs]
        return GraphFunction(self.name, tuple(params), tuple(results), self.effects)

    def _round(self) -> Graph | None:
        """Trace once; None if that turned up something new."""
        with frame(self.name) as builder:
            self.builder = builder
            given = self._parameters(builder)
            try:
                outcome = self._body(builder, given)
            except Unknown as unknown:
                self._check_unknown(unknown.raises)
                return None
            except Exception:
                if self.changed:
                    return None
                raise
            slots = slots_of(builder, set())
            values = self._learn(builder, outcome, given)
        for key in slots.keys() - self.written.keys():
            self.written[key] = Written.of(slots[key])
            self.changed = True
        if self.changed:
            return None
        return Graph(tuple(builder.params), tuple(builder.nodes), tuple(values), self.name)

    def _parameters(self, builder: Builder) -> list[Any]:
        """The arguments of the round; what the function writes is set."""
        pairs = zip(self.args.names, self.args.specs, strict=True)
        tensors = [Tensor(builder.param(spec, name)) for name, spec in pairs if spec is not None]
        given = self.args.leaves(iter(tensors))
        for written in self.written.values():
            form = written.before
            rows = zip(form.names, form.specs, strict=True)
            held = [Tensor(builder.param(spec, name)) for name, spec in rows if spec is not None]
            written.write(form, iter(held))
        for value in self.captures:
            builder.own(value)
        return given

    def _body(self, builder: Builder, given: list[Any]) -> Any:
        origin = self.origin
        inside = Activation(origin.function, origin.run, (), {}, builder, self)
        with active(inside), _arguments(builder, given):
            log = watch_cells(builder, (origin.run,))
            outcome = certain(ending(self.bound.pass_to, origin.run, given))
            log()
        return outcome

    def _check_unknown(self, raises: bool) -> None:
        """The whole function is unknown as yet: it waits for another one, ends only by raising, or
        never ends."""
        if raises and self.result is None:
            self.result, self.shown = Form.of(["the result"], [None], tree.LEAF), [Shown()]
            self.changed = True
        others = [a.recursion for a in all_active() if a.recursion is not None]
        if any(other.changed or other.result is None for other in others):
            raise Unknown
        if not self.changed:
            raise Unstageable(
                f"{self.name} calls itself on every path, so it never ends", location=here()
            )

    def _learn(self, builder: Builder, outcome: Any, given: list[Any]) -> list[Value]:
        """Note what a round gives and changes; the values of its results."""
        if isinstance(outcome, Unreachable):
            outcome = None
        if isinstance(outcome, Undefined):
            raise Unstageable(f"{self.name} never returns", location=here())
        tensors = self._learn_result(builder, outcome, given)
        updated = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t._version]
        tensors += [given[i] for i in updated]
        for written in self.written.values():
            tensors += self._learn_written(written)
        values = [value_in(resolve(tensor), builder) for tensor in tensors]
        effects, captures = any(node.effects for node in builder.nodes), captured(builder)
        now, known = (updated, effects, captures), (self.updated, self.effects, self.captures)
        self.changed |= now != known
        self.updated, self.effects, self.captures = now
        return values

    def _learn_result(self, builder: Builder, outcome: Any, given: list[Any]) -> list[Tensor]:
        leaves, treedef = tree.flatten(outcome, is_leaf=lambda v: any(v is g for g in given))
        leaves = [local(leaf) for leaf in leaves]
        if self.result is None:
            names = ["the result"] * len(leaves)
            self.result = Form.of(names, [_given_back(v, given) for v in leaves], treedef)
            self.shown = [Shown() for _ in leaves]
            self.changed = True
        elif treedef != self.result.treedef:
            raise changes_structure("the result")
        form = self.result
        for k, leaf in enumerate(leaves):
            known, again = form.things[k], _given_back(leaf, given)
            if not isinstance(known, GivenBack):
                continue
            if isinstance(again, GivenBack) and again == known:
                leaves[k] = again
            else:  # not always
                form.specs[k], form.things[k] = self.args.specs[known.index], None
                self.changed = True
        self.changed |= form.accept(leaves)
        for shown, leaf in zip(self.shown, leaves, strict=True):
            self.changed |= shown.widen(Shown.by(leaf, given, builder))
        return form.tensors(leaves)

    def _learn_written(self, written: Written) -> list[Tensor]:
        leaves = written.leaves()
        if written.after is None:
            written.after = Form.of(*written.read(written.slot))
            self.changed = True
        self.changed |= written.after.accept(leaves)
        return written.after.tensors(leaves)

    # --- calls ---

    def call_inside(self, bound: Arguments) -> Any:
        """A call by the function itself, while it is being traced."""
        self.widened |= self.args.accept(bound.leaves)
        for written in self.written.values():
            self.widened |= written.before.accept(written.leaves())
        self.changed |= self.widened
        if self.changed or self.result is None:
            raise Unknown
        self.check_sharing(bound.leaves)
        return self.call(bound)

    def call(self, bound: Arguments) -> Any:
        """Record a call: its results, and what it changes is changed."""
        assert self.result is not None and self.function is not None
        leaves = bound.leaves
        operands = self.args.tensors(leaves)
        for written in self.written.values():
            operands += written.before.tensors(written.leaves())
        operands += map(Tensor, self.captures)
        results = iter(_recorded(self.function, operands))
        made = self.result.leaves(results)
        for i in self.updated:
            assign(leaves[i], _fitted(next(results), leaves[i]))
        for written in self.written.values():
            assert written.after is not None
            written.write(written.after, results)
        for k, (leaf, shown) in enumerate(zip(made, self.shown, strict=True)):
            if isinstance(leaf, GivenBack):
                made[k] = leaves[leaf.index]
            elif isinstance(leaf, Tensor):
                shown.link(leaf, leaves)
        return self.result.treedef.unflatten(made)

    def check_sharing(self, leaves: Sequence[Any]) -> None:
        """Refuse a call that updates in place what the function sees under another name, too.

        Raises:
            Unstageable: an updated array is shared, or of another dtype in some calls.
        """
        owners = {i: storage(v) for i, v in enumerate(leaves) if _is_array(v)}
        held = [w.slot.target for w in self.written.values() if isinstance(w.slot.target, Tensor)]
        for i, owner in owners.items():
            if any(owner is other for other in held):
                raise self._shared(i)
        for i in self.updated:
            others = [other for j, other in owners.items() if j != i]
            spec = self.args.specs[i]
            if any(owners[i] is other for other in others) or is_shared(owners[i]):
                raise self._shared(i)
            if owners[i]._value in self.captures or leaves[i].dtype != (spec and spec.dtype):
                raise self._shared(i)

    def _shared(self, i: int) -> Unstageable:
        name = self.args.names[i]
        return Unstageable(
            f"{self.name} updates '{name}' in place, and sees the same array by another name",
            location=here(),
            remedy=f"give it an array of its own: {name}.copy()",
        )


def _covers(spec: Spec | None, thing: Any, leaf: Any) -> bool:
    if spec is None and not is_dynamic(thing):
        return same_thing(thing, leaf)
    return is_dynamic(leaf) and np.ndim(thing) * (spec is None) + (spec.ndim if spec else 0) == (
        leaf.ndim if isinstance(leaf, Tensor) else np.ndim(leaf)
    )


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and not is_number(leaf)


def _given_back(leaf: Any, given: Sequence[Any]) -> Any:
    """A leaf, or that it is the very array that was passed."""
    found = [i for i, other in enumerate(given) if other is leaf] if _is_array(leaf) else []
    return given_back(found[0]) if found else leaf


def _recorded(function: GraphFunction, operands: Sequence[Tensor]) -> Sequence[Tensor]:
    """The call as a node: never evaluated on the spot, it may take its time."""
    builder = current_builder()
    assert builder is not None
    tensors = [Tensor(value_in(t, builder), weak=t._weak) for t in operands]
    if tensors:
        return recursive_call.several(*tensors, function=function)
    return [Tensor(value) for value in builder.add(recursive_call, (), {"function": function})]


def _fitted(tensor: Tensor, like: Tensor) -> Tensor:
    return tensor if tensor.dims == like.dims else core.reshape(tensor, shape=like.dims)


@contextmanager
def _arguments(builder: Builder, given: Sequence[Any]) -> Iterator[None]:
    """Arrays that the callers see, like those that the trace itself was given: what the function
    does to them in place is not its own business."""
    root = root_of(builder)
    assert root is not None
    arrays = {id(t): t for t in given if _is_array(t)}
    root.arguments.update(arrays)
    try:
        yield
    finally:
        for key in arrays:
            del root.arguments[key]
