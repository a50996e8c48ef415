"""Functions that call themselves, with an end that only the run knows.

def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)

`enter` runs each of the user's functions in a trace, and knows which ones are being run further
out. One that is entered again under a staged condition, with arguments that differ in nothing that
Python could decide by, would be traced without end. It is traced once instead, as a
`GraphFunction`; what calls it, itself included, records a `recursive_call`.

What it gives is found like what a loop carries: at first only the paths that do not recur are
traced (see unknown.py), then all of them with what those gave, until nothing new turns up.
Arguments that Python could decide by (a depth that is counted down) are first followed a few calls
deep. Where a function cannot be traced like that, it is inlined as often as it calls itself.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.forms import Form, is_tensor, same_thing
from graphify.autograph.operators.heap import Slot, slots_of, watch_cells
from graphify.autograph.operators.results import GivenBack, Shown
from graphify.autograph.operators.sharing import is_number
from graphify.autograph.operators.state import Unstageable, is_dynamic, take_apart
from graphify.autograph.operators.undefined import Undefined, Unreachable, certain
from graphify.autograph.operators.unknown import Unknown
from graphify.errors import LeakedTracer, SyntaxUnsupported
from graphify.ir.bind import Tensor, as_tensor, assign, current_builder, resolve, value_in
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Builder, Graph, Value
from graphify.ir.same import same_function
from graphify.ir.sharing import is_shared, storage
from graphify.ir.types import Spec
from graphify.location import enter_call, here, leave_call
from graphify.ops import core
from graphify.ops.recursion import recursive_call
from graphify.tracing.capture import Root, captured, frame, root_of

FOLLOWED = 3  # calls, one inside the other, that differ in what Python could decide by
MAX_ROUNDS = 24
MOST_LEAVES = 1000


@dataclass(slots=True, eq=False)
class Activation:
    """A call of a function of the user's that is being traced."""

    function: FunctionType
    run: Callable[..., Any]  # what is called: the function's converted form
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    builder: Builder
    recursion: Recursion | None = None  # set where the function is traced by itself
    _bound: Arguments | None = None

    @property
    def code(self) -> CodeType:
        return self.run.__code__  # type: ignore[attr-defined, no-any-return]

    def is_of(self, function: FunctionType) -> bool:
        """Whether it is a call of this function: of this code, and with these very cells."""
        if self.function is function:
            return True
        mine, theirs = self.function.__closure__ or (), function.__closure__ or ()
        return self.function.__code__ is function.__code__ and all(
            a is b for a, b in zip(mine, theirs, strict=True)
        )

    def is_outside(self, builder: Builder) -> bool:
        """Whether a staged condition or loop lies between this call and the frame."""
        if self.builder is builder:
            return False
        outer = builder.parent
        while outer is not None and outer is not self.builder:
            outer = outer.parent
        return outer is not None

    def can_bind(self) -> bool:
        try:
            return self.bound is not None
        except (TypeError, ValueError):  # the call itself says what is wrong
            return False

    @property
    def bound(self) -> Arguments:
        if self._bound is None:
            self._bound = Arguments.of(self.run, self.args, self.kwargs)
        return self._bound


_active: ContextVar[tuple[Activation, ...]] = ContextVar("graphify_active", default=())


def enter(
    function: FunctionType, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function of the user's, or a graph made of it if it recurs."""
    builder = current_builder()
    if builder is None:
        return run(*args, **kwargs)
    call = Activation(function, run, args, kwargs, builder)
    outer = [a for a in _active.get() if a.is_of(function) and a.is_outside(builder)]
    if outer and call.can_bind():
        for activation in reversed(outer):
            known = activation.recursion
            if known is not None and known.takes(call.bound):
                return known.call_inside(call.bound)
        if _may_not_end(call, outer):
            recursion = _traced(call)
            if recursion is not None:
                return recursion.call(call.bound)
    with active(call):
        return certain(run(*args, **kwargs))


@contextmanager
def active(call: Activation) -> Iterator[None]:
    token, place = _active.set((*_active.get(), call)), enter_call()
    try:
        yield
    finally:
        leave_call(place)
        _active.reset(token)


def _may_not_end(call: Activation, outer: Sequence[Activation]) -> bool:
    """Whether nothing that Python knows ends the recursion, as far as can be seen."""
    root = root_of(call.builder)
    if root is None or call.code in root.inlined:
        return False
    marks = [k for k, a in enumerate(_active.get()) if a.recursion is not None]
    since = _active.get()[marks[-1] + 1 if marks else 0 :]
    alike = [call.bound.compare(a.bound) for a in outer if a in since and a.can_bind()]
    return "same" in alike or alike.count("varies") >= FOLLOWED


def _traced(call: Activation) -> Recursion | None:
    """The function as a graph; None if it cannot be one, and is to be inlined."""
    recursion, root = Recursion(call), root_of(call.builder)
    assert root is not None
    try:
        recursion.trace()
        recursion.check_sharing(call.bound.leaves)
        recursion.share(root)
    except (LeakedTracer, SyntaxUnsupported, RecursionError):
        raise
    except Exception as error:
        if any(a.recursion.changed for a in _active.get() if a.recursion is not None):
            raise Unknown from None  # what the outer one is like is not known yet
        root.inlined[call.code] = error
        root.notes.append(f"{here()}: recursion inlined: {getattr(error, 'message', error)}")
        return None
    return recursion


# --- arguments ----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Arguments:
    """The arguments of a call as leaves: arrays, numbers, and what is passed on as it is."""

    signature: inspect.Signature
    names: tuple[str, ...]
    leaves: list[Any]
    treedef: tree.TreeDef

    @classmethod
    def of(cls, run: Callable[..., Any], args: Any, kwargs: Any) -> Arguments:
        """Raises TypeError where the arguments do not fit."""
        signature = inspect.signature(run, follow_wrapped=False)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        rest = [
            bound.arguments[name]
            for name, parameter in signature.parameters.items()
            if parameter.kind is inspect.Parameter.VAR_KEYWORD
        ]
        steps = itertools.count()  # containers that hold each other twice have no end
        leaves, treedef = tree.flatten(
            values, is_leaf=lambda v: not _is_open(v, rest) or next(steps) > MOST_LEAVES
        )
        return cls(signature, tuple(bound.arguments), [local(v) for v in leaves], treedef)

    @property
    def leaf_names(self) -> list[str]:
        pairs = zip(self.names, self.treedef.children, strict=True)
        return [path for name, child in pairs for path in child.paths(name)]

    def pass_to(self, run: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        """Call with these leaves instead."""
        values = dict(zip(self.names, self.treedef.unflatten(leaves), strict=True))
        bound = inspect.BoundArguments(self.signature, values)
        return run(*bound.args, **bound.kwargs)

    def compare(self, other: Arguments) -> str:
        """Whether the two are the "same" as far as Python can tell; "varies" where only numbers,
        lengths or dtypes differ; else "differs"."""
        if self.treedef != other.treedef:
            return "differs"
        found = {_compare(a, b) for a, b in zip(self.leaves, other.leaves, strict=True)}
        return "differs" if "differs" in found else "varies" if "varies" in found else "same"


def _is_open(value: Any, rest: Sequence[Any]) -> bool:
    """Whether a container is nothing but its elements: lists and objects may change."""
    return isinstance(value, tuple) or any(value is r for r in rest)


def local(leaf: Any) -> Any:
    """A leaf as the current frame sees it."""
    return resolve(as_tensor(leaf)) if isinstance(leaf, (Tensor, np.ndarray)) else leaf


def _compare(a: Any, b: Any) -> str:
    if is_tensor(a) and is_tensor(b):
        return _compare_specs(a, b)
    if same_thing(a, b):
        return "same"
    return "varies" if is_dynamic(a) and is_dynamic(b) else "differs"


def _compare_specs(a: Tensor, b: Tensor) -> str:
    one, two = a.spec, b.spec
    if one.ndim != two.ndim:
        return "differs"
    known = [(d, e) for d, e in zip(one.shape, two.shape, strict=True) if type(d) is type(e) is int]
    same = (one.dtype, one.weak, is_number(a)) == (two.dtype, two.weak, is_number(b))
    return "same" if same and all(d == e for d, e in known) else "varies"


# --- tracing ------------------------------------------------------------------------------------


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
        return entry.treedef.paths(entry.name), [local(v) for v in entry.leaves], entry.treedef

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

    def __init__(self, call: Activation) -> None:
        bound = call.bound
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
        return all(a.recursion is None for a in _active.get())

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
            except Unknown:
                self._check_unknown()
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
        inside = Activation(origin.function, origin.run, (), {}, builder, self, self.bound)
        with active(inside), _arguments(builder, given):
            log = watch_cells(builder, (origin.run,))
            outcome = certain(self.bound.pass_to(origin.run, given))
            log()
        return outcome

    def _check_unknown(self) -> None:
        """The whole function is unknown as yet: it waits for another one, or it never ends."""
        others = [a.recursion for a in _active.get() if a.recursion is not None]
        if any(other.changed or other.result is None for other in others):
            raise Unknown
        if not self.changed:
            raise Unstageable(
                f"{self.name} calls itself on every path, so it never ends", location=here()
            )

    def _learn(self, builder: Builder, outcome: Any, given: list[Any]) -> list[Value]:
        """Note what a round gives and changes; the values of its results."""
        if isinstance(outcome, (Unreachable, Undefined)):
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
            names = treedef.paths("the result")
            self.result = Form.of(names, [_given_back(v, given) for v in leaves], treedef)
            self.shown = [Shown() for _ in leaves]
            self.changed = True
        elif treedef != self.result.treedef:
            raise changes_structure("the result")
        form = self.result
        for k, leaf in enumerate(leaves):
            known, again = form.things[k], _given_back(leaf, given)
            if isinstance(known, GivenBack) and known != again:  # not always
                form.specs[k], form.things[k] = self.args.specs[known.index], None
                self.changed = True
            elif known == again and isinstance(known, GivenBack):
                leaves[k] = again
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
    return GivenBack(found[0]) if found else leaf


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
