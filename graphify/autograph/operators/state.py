"""The state of a staged statement, taken apart into values a graph can carry, and joined again.

A state variable is a container tree; its arrays and numbers are carried, everything else must stay
what it is. `Entry` is one variable taken apart:

    take_apart("acc", (x, 3, None))   ->  Entry(treedef, leaves=[x, 3, None], bound=True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators import references
from graphify.autograph.operators.references import Reference
from graphify.autograph.operators.texts import StagedText
from graphify.autograph.operators.undefined import Maybe, Undefined, Unreachable
from graphify.errors import InternalError, TraceError, text_of
from graphify.ir.context import current_builder, recording
from graphify.ir.graph import Builder, Literal, constant
from graphify.ir.promotion import result_type
from graphify.ir.sizes import Dim, Size, fresh
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ir.types import BOOL, DType, Spec, is_integer
from graphify.ir.wrapping import as_tensor
from graphify.location import LazyLoc, here, is_library_class
from graphify.ops import core
from graphify.ops.rules import operand_of
from graphify.tracing import apart, identity
from graphify.tracing.capture import root_of
from graphify.tracing.identity import Held, called
from graphify.tracing.lists import is_grown

NUMBERS = (bool, int, float, complex)


class Unstageable(TraceError):
    """A loop that cannot be staged as it is; a loop of known length is unrolled instead."""


class DifferentKinds(Unstageable):
    """What a variable holds has no common form on two paths."""


@dataclass(slots=True)
class Entry:
    """One state variable: `bound` is True, False, or a staged truth value."""

    name: str
    treedef: tree.TreeDef
    leaves: list[Any]
    bound: Any = True
    unreachable: bool = False
    frozen: list[Any] | None = None  # the leaves' values at the end of their branch
    contents: bool = False  # what one list or dict holds, and not a name that may be rebound
    held: Held = field(default_factory=Held)  # its containers: see graphify.tracing.identity
    made: LazyLoc | None = None  # where the trace has made the dict or set of which this is
    holder: Any = None  # the list or dict of which this is the contents

    def freeze(self) -> None:
        """Note the leaves' values: a storage that the branch wrote is given back afterwards."""
        self.frozen = [_snapshot(leaf) for leaf in self.leaves]

    def build(self) -> Any:
        """The variable again."""
        if self.bound is False:
            return Undefined(self.name)
        leaves = references.targets(self.leaves)
        value = self.treedef.unflatten(leaves)
        if self.made is not None and (root := root_of(current_builder())) is not None:
            root.made_at[id(value)] = self.made
        _remember_records(self.treedef, value, leaves)
        if not self.contents:
            identity.note(self.name, value, self.held)
        return value if self.bound is True else Maybe(self.name, value, self.bound)

    def lacks(self, leaf: int) -> bool:
        """Whether nothing stands at a leaf."""
        return self.bound is False or isinstance(self.leaves[leaf], Absent)

    def replaced(self, leaves: Sequence[Any], bound: Any) -> Entry:
        return replace(self, leaves=list(leaves), bound=bound, unreachable=False, frozen=None)


def take_apart(
    name: str, value: Any, contents: bool = False, ahead: bool = False, of: Any = None
) -> Entry:
    """A state variable as an entry; `contents` and `ahead`: see references.py.

    Args:
        of: what the value is a view of, with objects instead of their fields.
    """
    whole = value if of is None else of
    if isinstance(value, Undefined):
        return Entry(name, tree.LEAF, [None], False)
    if isinstance(value, Unreachable):
        return Entry(name, tree.LEAF, [None], False, unreachable=True)
    if isinstance(value, Maybe):
        leaves, treedef = references.flatten(value.value, ahead=ahead)
        held = Held.of(whole.value if isinstance(whole, Maybe) else whole, leaves)
        return Entry(name, treedef, leaves, value.bound, held=held)
    leaves, treedef = references.flatten(value, contents, ahead)
    held = Held.of(whole, leaves, whole if contents else None)  # that is a snapshot
    table = isinstance(value, (dict, set))
    root = root_of(current_builder()) if table else None
    made = None if root is None else root.made_at.get(id(value))
    return Entry(name, treedef, leaves, contents=contents, held=held, made=made)


def _remember_records(treedef: tree.TreeDef, value: Any, leaves: Sequence[Any]) -> None:
    """Note that the trace made the dataclasses in a value: their fields need no guards."""
    builder = current_builder()
    root = root_of(builder)
    if root is None or builder is None or not _has_records(treedef):
        return
    given, pending = set(map(id, leaves)), [value]
    while pending:
        value = pending.pop()
        if id(value) not in given:
            if tree.is_record(type(value)):
                root.local_objects[id(value)] = (value, builder.home)
            pending += tree.children_of(value) or ()


def _has_records(treedef: tree.TreeDef) -> bool:
    own = treedef.kind is not None and tree.is_record(treedef.kind)
    return own or any(map(_has_records, treedef.children))


def _snapshot(leaf: Any) -> Any:
    builder = current_builder()
    if isinstance(leaf, Reference):
        return leaf.frozen(_snapshot)
    if not isinstance(leaf, Tensor) or builder is None:
        return leaf
    tensor = resolve(leaf)
    frozen = Tensor(value_in(tensor, builder), weak=tensor._weak)
    frozen._scalar, frozen._kinds = tensor._scalar, tensor._kinds
    return frozen


@dataclass(frozen=True, slots=True)
class Absent:
    """Stands for a leaf on a path that has none; there, a graph carries zeros that nobody reads.

    `number`: elsewhere it is a number, which no update in place can change.
    """

    spec: Spec
    number: bool


def is_dynamic(leaf: Any) -> bool:
    """Whether a leaf can be carried by a graph."""
    return isinstance(leaf, (Tensor, np.ndarray, np.generic, Size, Absent, *NUMBERS))


def fits(a: Entry, b: Entry) -> bool:
    """Whether two values of a variable join leaf by leaf."""
    return a.treedef == b.treedef and all(map(joinable, a.leaves, b.leaves))


def same_static(a: Any, b: Any) -> bool:
    """Whether two leaves are one and the same Python value, so that nothing needs carrying."""
    if a is b:
        return True
    if isinstance(a, (Tensor, np.ndarray)) or isinstance(b, (Tensor, np.ndarray)):
        return False
    kind = type(a)
    if kind is not type(b) or kind.__hash__ is None or not is_library_class(kind):
        return False  # it may change, and one of two that are equal is not the other
    try:
        return bool(a == b)
    except Exception:
        return False


def carried_spec(leaf: Any) -> Spec:
    # A view of a graph is not looked at again: the frame in which it can be may be over.
    known = isinstance(leaf, Absent) or isinstance(leaf, Tensor) and leaf.is_symbolic
    return leaf.spec if known else _tensor(leaf).spec


def _tensor(leaf: Any) -> Tensor:
    if type(leaf) is bool:  # Python's own, of which two add up to 2
        return Tensor(np.asarray(leaf), weak=True)
    return resolve(as_tensor(leaf))


def joinable(a: Any, b: Any) -> bool:
    """Whether one leaf can stand for two: numbers join, and arrays of one rank."""
    if same_static(a, b):
        return True
    if not (is_dynamic(a) and is_dynamic(b)):
        return False
    x, y = carried_spec(a), carried_spec(b)
    alike = x.ndim == y.ndim and (x.dtype == BOOL) == (y.dtype == BOOL)
    return alike and count_alike(a, b)


def count_alike(a: Any, b: Any) -> bool:
    """Whether two leaves can have one dtype and be computed with as before: sums wrap around at
    the same number.

    An int64 wraps around so late that it joins with floats, and with Python's int.
    """
    x, y = carried_spec(a), carried_spec(b)
    return x.dtype == y.dtype or not _wraps(x) and not _wraps(y)


def _wraps(spec: Spec) -> bool:
    return is_integer(spec.dtype) and not spec.weak and spec.dtype != np.int64


def can_hold_each_other(a: Any, b: Any) -> bool:
    """Whether the dtype of each of two leaves has the value of the other, as far as it is known."""
    if isinstance(a, Absent) or isinstance(b, Absent):
        return True
    return _can_hold(carried_spec(b), a) and _can_hold(carried_spec(a), b)


def _can_hold(spec: Spec, leaf: Any) -> bool:
    """Whether a dtype has a value, if that is known: no uint8 is Python's -1."""
    if spec.weak or not is_integer(spec.dtype) or not is_dynamic(leaf):
        return True
    own = carried_spec(leaf)
    is_number = own.weak and is_integer(own.dtype) and not own.shape
    if not is_number or isinstance(leaf, Tensor) and leaf.is_symbolic:
        return True
    limits = np.iinfo(spec.dtype)
    return bool(limits.min <= int(_tensor(leaf).numpy()) <= limits.max)


def join_dtype(a: Spec, b: Spec) -> tuple[DType, bool]:
    """The common dtype of two specs, and whether it is still a Python scalar's."""
    if a.dtype == b.dtype:
        return a.dtype, a.weak and b.weak
    weak = (a.weak or a.dtype == BOOL and not a.shape) and (
        b.weak or b.dtype == BOOL and not b.shape
    )
    return result_type(operand_of(a), operand_of(b)), weak and (a.weak or b.weak)


def join_spec(name: str, a: Spec, b: Spec, *, fresh_dims: bool = True) -> Spec:
    """A spec that covers both.

    Raises:
        Unstageable: the ranks differ.
    """
    dtype, weak = join_dtype(a, b)
    if (a.dtype == BOOL) != (b.dtype == BOOL):
        raise DifferentKinds(
            f"{called(name)} holds truth values on one path and numbers on the other: {a} and {b}",
            location=here(),
            remedy=f"convert one of them, e.g. {name}.astype(int): masks are not numbers",
        )
    if a.ndim != b.ndim:
        location = here()
        raise DifferentKinds(
            f"{called(name)} changes its number of dimensions: {a} and {b}",
            location=location,
            remedy=f"give {called(name)} one rank on every path, e.g. start it as np.zeros(shape)",
        )
    root = root_of(current_builder())
    if a.dtype != b.dtype and root is not None:
        root.promoted[name] = f"{a.dtype} on one path and {b.dtype} on another"
    shape = tuple(
        d if d == e else (fresh("d") if fresh_dims else d)
        for d, e in zip(a.shape, b.shape, strict=True)
    )
    return Spec(shape, dtype, weak)


def fit(leaf: Any, spec: Spec) -> Tensor:
    """A leaf as a tensor of the joined dtype."""
    if isinstance(leaf, Absent):
        return placeholder(spec)
    tensor = _tensor(leaf)
    if tensor.dtype != spec.dtype or tensor.spec.weak != spec.weak:
        tensor = core.cast(_fitting(tensor, spec), dtype=spec.dtype, weak=spec.weak)
    return tensor


def _fitting(tensor: Tensor, spec: Spec) -> Tensor:
    """A Python int that gets the integer dtype which it has on another path: the run checks it."""
    smaller = tensor.spec.weak and not spec.weak and tensor.dtype != spec.dtype
    if not smaller or not (is_integer(tensor.dtype) and is_integer(spec.dtype)):
        return tensor
    if not tensor.is_symbolic:
        if _can_hold(spec, tensor):
            return tensor
        builder = current_builder()
        assert builder is not None
        (value,) = builder.add(constant, (), {"value": Literal(tensor.numpy())})
        tensor = Tensor(value, weak=True)
    message = (
        "a Python int, {bad}, is of dtype {dtype} on another path, which cannot hold it; make it "
        "an int(...) on every path"
    )
    return core.must_fit(tensor, spec.dtype, "TraceError", message)


def placeholder(spec: Spec) -> Tensor:
    """Zeros that nobody reads, for a path on which a name is not bound; recorded, not stored."""
    zero = np.zeros((), spec.dtype)
    builder = current_builder()
    if builder is None or not spec.shape:
        return Tensor(zero, weak=spec.weak)
    shape = tuple(known_dim(d) for d in spec.shape)
    (scalar,) = builder.add(constant, (), {"value": Literal(zero)})
    return Tensor(builder.add(core.broadcast_to, (scalar,), {"shape": shape})[0])


def known_dim(dim: Dim) -> Dim:
    """A size where the current frame knows it, else 0."""
    builder = current_builder()
    if isinstance(dim, int) or builder is None:
        return dim
    try:
        for variable in dim.variables():
            builder.ensure_size(variable)
    except InternalError:
        return 0
    return dim


def structure_error(name: str, a: Entry, b: Entry, where: tuple[str, str]) -> TraceError:
    location, one, other = here(), a.build(), b.build()
    error = DifferentKinds(
        f"{called(name)} is {describe(one)} {where[0]} and {describe(other)} {where[1]}",
        location=location,
        remedy=f"give {called(name)} the same structure on every path",
    )
    made = [place for place in (a.made, b.made) if place is not None]
    known = [each for each in (one, other) if isinstance(each, (dict, set, frozenset))]
    if made and all(_may_be_of_the_run(key) for each in known for key in each):
        apart.instead_of_dicts(error, made)
    return error


def _may_be_of_the_run(key: Any) -> bool:
    """Whether a key of a dict could as well be one that only the run knows."""
    return all(map(_may_be_of_the_run, key)) if isinstance(key, tuple) else isinstance(key, NUMBERS)


def describe(value: Any) -> str:
    """A value's kind, for messages."""
    if isinstance(value, Reference):
        value = value.target
    if isinstance(value, (Tensor, Absent)):
        return f"a tensor {value.spec}"
    if isinstance(value, dict):
        if not value:
            return "an empty dict"
        return f"a dict with the keys {', '.join(map(repr, value))}"
    if isinstance(value, (set, frozenset)):
        return f"{set(value)!r:.60}"
    if isinstance(value, (list, tuple)):
        length = "run-time length" if is_grown(value) else len(value)
        return f"a {type(value).__name__} of {length}"
    if isinstance(value, StagedText):
        return "a text"
    return (
        text_of(value)
        if value is None or isinstance(value, (*NUMBERS, str))
        else f"a {type(value).__name__}"
    )


def as_number(leaf: Any) -> Any:
    """A number of Python's as such, where a loop over what is known has given it."""
    known = isinstance(leaf, Tensor) and leaf._weak and not leaf.is_symbolic and not leaf.dims
    return leaf.numpy().item() if known else leaf


def as_local(leaf: Any) -> Any:
    return resolve(as_tensor(leaf)) if isinstance(leaf, (Tensor, np.ndarray, np.generic)) else leaf


def static_dims(spec: Spec, frame: Builder | None) -> Spec:
    """A spec of which only the sizes that are known before the loop are kept."""
    with recording(frame):
        shape = tuple(d if known_dim(d) == d else fresh("w") for d in spec.shape)
    return Spec(shape, spec.dtype, spec.weak)
