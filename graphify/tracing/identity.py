"""Containers that staged control flow copies where Python would hold one of two.

    a, b = {"n": 0}, {"n": 1}
    c = a if s > 0 else b      # in the graph: a third dict, with the numbers of one of them
    c["n"] = 5                 # would have to reach a or b: refused, as long as they can be seen

A copy is as good as what it was made of while nobody changes either, or nobody sees both. Copies of
copies stand for what the first ones stand for: two containers may be one where these overlap.
"""

from __future__ import annotations

import gc
import operator
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import (
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder
from graphify.ir.tensor import Tensor
from graphify.location import LazyLoc, here, is_internal
from graphify.ops.inplace import set_either_check
from graphify.tracing import apart

MOST = 2000  # objects looked at for others that show a container
RETURNED = "retval_"  # what the converter calls a value to return; it is bound, but not in use yet

ById: TypeAlias = dict[int, Any]  # containers; they are kept, so that their ids stay their own


@dataclass(slots=True, eq=False)
class _Copies:
    """The copies that a trace made: their names, what they stand for, and what stands for it."""

    made: ById = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    places: dict[int, LazyLoc | None] = field(default_factory=dict)  # where they were made
    originals: dict[int, ById] = field(default_factory=dict)  # of a copy; they are no copies
    copies: dict[int, list[int]] = field(default_factory=dict)  # of an original
    homes: dict[int, Any] = field(default_factory=dict)  # of the frames that made them
    groups: dict[int, Any] = field(default_factory=dict)  # the same for copies of different ones
    elements: dict[type, Any] = field(default_factory=dict)  # by kind: stand for what is sealed

    def add(self, name: str, made: Any, originals: ById, group: Any = None) -> None:
        key = id(made)
        self.made[key], self.names[key], self.originals[key] = made, name, originals
        self.places[key], builder = here(), current_builder()
        # What a statement rebuilds in an inner frame may be an object from further out.
        own = None if builder is None else builder.home
        self.homes.setdefault(key, getattr(made, "home", own))
        self.groups[key] = group
        for each in originals:
            self.copies.setdefault(each, []).append(key)

    def element(self, thing: Any) -> Any:
        """Stands for all that is sealed of a kind: each turn of a loop reads other elements."""
        kind = _kind(thing)
        if kind not in self.elements:
            made = self.elements[kind] = _Gone(kind)
            sealed()[id(made)] = Sealed(made, None)
        return self.elements[kind]

    def may_be(self, key: int) -> Iterable[int]:
        """The ids of what a container stands for: of itself, if it is no copy."""
        return self.originals.get(key, (key,))


_copies: WeakKeyDictionary[Builder, _Copies] = WeakKeyDictionary()


def parts(value: Any) -> Iterator[Any]:
    """The containers in a value that can be changed."""
    return (part for part, _ in _levels(value))


def _levels(value: Any, objects: Container[int] = ()) -> Iterator[tuple[Any, int]]:
    """The containers in a value that can be changed, and how deep inside; also those in objects
    with some ids."""
    pending, seen = [(value, 0)], set[int]()
    while pending:
        value, depth = pending.pop()
        if not isinstance(value, (Tensor, str)) and tree.is_container(value):
            parameters = getattr(type(value), "__dataclass_params__", None)
            if isinstance(value, (list, dict)) or parameters is not None and not parameters.frozen:
                yield value, depth
            inside: Iterable[Any] = tree.flatten(value, partial(operator.is_not, value))[0]
        elif id(value) in objects and id(value) not in seen:
            seen.add(id(value))
            inside = attributes_of(value).values()
        else:
            continue
        depth += type(value) not in transparent
        pending += [(each, depth) for each in inside]


transparent: set[type] = set()  # containers of what stands in their place
kept_in_lists: set[type] = set()  # classes of containers whose lists nobody else has


def _kind(container: Any) -> type:
    """The kind of a container; the trace has lists of its own."""
    if isinstance(container, _Gone):
        return container.kind
    return list if isinstance(container, list) else type(container)


@dataclass(slots=True, eq=False)
class _Gone:
    """Stands for a container that several names held in a frame that is over."""

    kind: type


@dataclass(slots=True, eq=False)
class Held:
    """The containers in a value that leaves a frame: how often each is in it, by id and depth.

    Attributes:
        kinds: of the containers, by id.
        things: those that can be seen outside of the frame, and what stands for those that several
            values held; by id. Of the others, `settle` lets go.
        whole: ids of objects that are not copied.
    """

    counts: Counter[tuple[int, int]] = field(default_factory=Counter)
    kinds: dict[int, type] = field(default_factory=dict)
    things: ById = field(default_factory=dict)
    whole: frozenset[int] = frozenset()

    @classmethod
    def of(cls, value: Any, leaves: Sequence[Any], but: Any = None) -> Held:
        """The containers in a value with these leaves, less a container itself."""
        whole = frozenset(map(id, leaves))
        objects = getattr(_root(), "local_objects", {}).keys() - whole
        found = [(part, depth) for part, depth in _levels(value, objects) if part is not but]
        counts = Counter((id(part), depth) for part, depth in found)
        return cls(counts, {id(part): _kind(part) for part, _ in found}, {}, whole)

    def widen(self, other: Held) -> bool:
        """Include what there is on another path; True if that is more."""
        known, more = _known(), False
        for (key, depth), count in list(other.counts.items()):  # it may be this very one
            copied = key in known.made
            for each in known.may_be(key):
                place = each, depth
                more |= self.counts[place] == 0
                self.counts[place] = max(self.counts[place], _ALWAYS if copied else count)
                self.things[each] = known.originals[key][each] if copied else other.things[key]
        self.whole |= other.whole
        return more

    def joined(self, other: Held) -> Held:
        """What there is on either of two paths."""
        both = Held()
        both.widen(self)
        both.widen(other)
        return both


_ALWAYS = sys.maxsize  # more often than any value has it


def settle(held: Sequence[Held], gone: dict[Any, Any]) -> dict[Any, Any]:
    """Tell apart what can be seen when a frame is over, what several of the values that leave it
    have in common, and what nobody will miss.

    Args:
        gone: what stands for the second kind, so that it is found again when the frame is traced
            again; it is given back.
    """
    owners: dict[int, list[int]] = {}
    for number, each in enumerate(held):
        for (key, _), count in each.counts.items():
            owners.setdefault(key, []).extend([number] * count)
    if not owners:
        return gone
    known, elements = _known(), owners.keys() & sealed().keys()
    things: ById = {key: known.made[key] for key in owners.keys() & known.made.keys()}
    things |= {key: known.element(sealed()[key].thing) for key in elements}
    if len(things) < len(owners):
        things |= {id(seen): seen for seen in all_seen() if id(seen) in owners}
    for key, numbers in owners.items():
        if key not in things and len(numbers) > 1:
            kind = held[numbers[0]].kinds[key]
            things[key] = gone.setdefault((kind, tuple(numbers)), _Gone(kind))
    for each in held:
        found = [(things[k], d, n) for (k, d), n in each.counts.items() if k in things]
        each.counts = Counter({(id(thing), depth): n for thing, depth, n in found})
        each.things = {id(thing): thing for thing, _, _ in found}
    return gone


def picked(made: list[Any], items: list[Any]) -> None:
    """Note that a list holds copies of the containers in another one, in an order that only the
    run knows."""
    held = Held.of(items, (), items)
    settle([held], {})
    once = all(count == 1 for count in held.counts.values())
    note("an item", made, held, None, object() if once else None)


def note(name: str, made: Any, held: Held, holder: Any = None, group: Any = None) -> None:
    """Note that a variable is a copy of what was held on the paths that met.

    Args:
        holder: the list that has it as its contents. What nobody sees but through this list is one
            with the copy, and nobody can tell.
        group: the same for all copies of which no two are of one container.
    """
    if not held.things:
        return
    objects = getattr(_root(), "local_objects", {}).keys() - held.whole
    found = list(_levels(made, objects))
    left = held.counts - Counter((id(part), depth) for part, depth in found)
    new = [(part, depth) for part, depth in found if id(part) not in held.things]
    if not new or not left:
        return
    known = _known()
    hidden = {key: held.things[key] for key, _ in left}
    if holder is not None:
        shown = {id(seen) for seen in all_seen(holder)} | known.made.keys() | sealed().keys()
        shown |= {key for (key, _), count in held.counts.items() if count > 1}
        hidden = {k: v for k, v in hidden.items() if k in shown or isinstance(v, _Gone)}
    for part, depth in new:
        originals: ById = {}
        for key in (key for key, level in left if level == depth and key in hidden):
            originals |= known.originals.get(key, {key: hidden[key]})
        alike = {k: v for k, v in originals.items() if issubclass(_kind(v), _kind(part))}
        if alike:
            known.add(name, part, alike, group)


@dataclass(frozen=True, slots=True)
class Sealed:
    """What must not change any more, for it was copied, and where.

    Attributes:
        origin: see elements.py.
        around: the list that got an unknown length with this in it; in one branch of many, maybe.
    """

    thing: Any
    place: LazyLoc | None
    origin: Any = None
    around: Any = None


def sealed() -> dict[int, Sealed]:
    """All that is sealed, by id."""
    found: dict[int, Sealed] = getattr(_root(), "sealed", {})
    return found


def unseal(around: Any) -> None:
    """A list has a known length again: what it alone has copied may change as before."""
    known = sealed()
    for key in [key for key, entry in known.items() if entry.around is around]:
        del known[key]


def shows_elements() -> bool:
    """Whether a name shows a copy of something sealed."""
    known = _known()
    copies = {key for each in known.elements.values() for key in known.copies.get(id(each), ())}
    return bool(copies) and any(id(seen) in copies for seen in all_seen())


def called(name: str) -> str:
    """What messages call a variable."""
    return "the value that is returned" if name.startswith(RETURNED) else f"'{name}'"


def may_be(container: Any) -> Iterable[int]:
    """The ids of what a container stands for: its own, if it is no copy."""
    return _known().may_be(id(container))


def is_seen_beside(container: Any, variable: str) -> bool:
    """Whether anything shows a container, or what it may be, but a variable of the function that
    is being run; or may do so, as there is too much to look at."""
    known = _known()
    originals = set(known.may_be(id(container)))
    copies = (known.copies.get(each, ()) for each in originals)
    others = originals.union({id(container), id(REST)}, *copies)
    return any(
        id(value) in others
        and not (own and name == variable)
        or opened
        and any(id(inside) in others for inside in _inside(value))
        for value, name, opened, own in _named()
    )


def is_copy_of(container: Any, home: Any) -> bool:
    """Whether a container is a copy that the frame with this home made."""
    homes = _known().homes
    return id(container) in homes and homes[id(container)] is home


def check(thing: Any) -> None:
    """Refuse to change a copy, or what it is a copy of, where both can be seen.

    Raises:
        TraceError: they can.
    """
    known, key = _known(), id(thing)
    originals = known.may_be(key)
    others = {*originals, *(copy for each in originals for copy in known.copies.get(each, ()))}
    for kind, element in known.elements.items():
        if id(element) in others:  # it stands for all of these
            others |= {k for k, each in sealed().items() if _kind(each.thing) is kind}
    group = known.groups.get(key)
    others -= {key} if group is None else {k for k in others if known.groups.get(k) is group}
    if not others:
        return
    own = known.names.get(key, "")  # the name may still show what it was before the paths parted
    for seen, name in _seen():
        if id(seen) in others and (name != own or not own):
            text = own or known.names[id(seen)]
            what = "this value" if " " in text else called(text)
            error = TraceError(
                f"{what} is one {type(thing).__name__} or another, depending on the path, and a "
                "change of either would have to be seen through another name, too",
                location=here(),
                remedy="copy it where its name is bound, copy.copy(...), or pick it there from a "
                "list by its index",
            )
            raise apart.instead_of(error, [known.places.get(each) for each in (key, *others)])


def check_either(tensor: Tensor) -> None:
    """Refuse `a += b` where `a` is an array, or a number that another name holds, too.

    Raises:
        TraceError: the array would change for both names, the number for one.
    """
    alike = {id(tensor)}
    while tensor._base is not None:  # what it was before the loop
        tensor = tensor._base
        alike.add(id(tensor))
    names = {name for seen, name in _seen() if id(seen) in alike}
    if len(names) > 1:
        known = sorted(filter(None, names))
        shown = " and ".join(map(called, known)) if len(known) > 1 else "two names"
        raise TraceError(
            f"{shown} are one array on one path and a number on another: an update in place would "
            "change the array for both, and the number for one",
            location=here(),
            remedy="make it a number on both, x[()] or float(x), or an array, np.array(x)",
        )


set_either_check(check_either)


def is_viewed(tensor: Tensor) -> bool:
    """Whether a name shows a view of a tensor, or what may be the same array in some runs."""
    for seen in all_seen():
        while isinstance(seen, Tensor) and seen._base is not None:
            seen = seen._base
            if seen is tensor:
                return True
    return tensor._shared is not None


def may_be_one(a: Any, b: Any) -> bool:
    """Whether two containers may be one in Python, as one is a copy made where paths met."""
    known = _known()
    return a is not b and not set(known.may_be(id(a))).isdisjoint(known.may_be(id(b)))


def _root() -> Builder | None:
    builder = current_builder()
    while builder is not None and builder.parent is not None:
        builder = builder.parent
    return builder


def _known() -> _Copies:
    root = _root()
    return _Copies() if root is None else _copies.setdefault(root, _Copies())


def _seen(holder: Any = None) -> Iterator[tuple[Any, str]]:
    """What the names of the functions being traced show, with the name if it is that itself, or
    the list that it is kept in; less what is in `holder`."""
    for value, name, opened, _ in _named():
        yield value, name
        if opened:
            own = gc.get_referents(value) if type(value) in kept_in_lists else ()
            ids = set(map(id, own))
            yield from ((each, name if id(each) in ids else "") for each in _inside(value, holder))


def all_seen(holder: Any = None) -> Iterator[Any]:
    """All that names show, what is in containers, too, and REST if there is more."""
    looked_into = set[int]()
    for value, _, opened, _ in _named():
        yield value
        if opened:
            yield from _inside(value, holder, looked_into)


def _named() -> Iterator[tuple[Any, str, bool, bool]]:
    """What names show, and what has been written; with the name, whether to look inside, and
    whether it is a variable of the function that is being run."""
    for tracked in getattr(_root(), "tracked", ()):
        yield tracked.twin, "", False, False  # a container of the caller's
    for value in _written():
        yield value, "", True, False
    frame: FrameType | None = sys._getframe(1)
    own = True
    while frame is not None and not frame.f_code.co_filename.endswith("api/tracer.py"):
        filename = frame.f_code.co_filename
        if not is_internal(filename):
            for name, value in list(frame.f_locals.items()):
                yield value, name, not name.startswith(RETURNED), own
        elif filename.endswith("operators/calls.py"):
            own = False
        frame = frame.f_back


def _written() -> Iterator[Any]:
    """What the trace has put into attributes, closure cells and globals."""
    builder, root = current_builder(), _root()
    while builder is not None:
        for target, _ in builder.writes.values():
            if not isinstance(target, Tensor) and not hasattr(target, "is_local"):
                yield target.read()
        builder = builder.parent
    for space in getattr(root, "spaces", {}).values():
        yield from (space.twin.get(name) for name in space.written)


def attributes_of(obj: Any) -> dict[str, Any]:
    """The fields of an object, those in slots included."""
    found = dict(getattr(obj, "__dict__", {}))
    for kind in type(obj).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{kind.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__") and hasattr(obj, name):
                found[name] = getattr(obj, name)
    return found


def _inside(value: Any, holder: Any = None, seen: set[int] | None = None) -> Iterator[Any]:
    pending, seen = [value], set() if seen is None else seen
    most = len(seen) + MOST
    while pending and len(seen) < most:
        value = pending.pop()
        if value is holder or id(value) in seen:
            continue
        if isinstance(value, _CLOSED):
            continue
        seen.add(id(value))
        held: list[Any] = []
        if isinstance(value, (list, tuple, set)):
            held = list(value) if type(value).__len__ in _LENGTHS else []
        elif isinstance(value, dict):
            held = list(value.values())
        elif isinstance(value, FunctionType):
            cells = value.__closure__ or ()
            held = [cell.cell_contents for cell in cells if _is_bound(cell)]
        elif isinstance(value, MethodType):
            held = [value.__self__]
        else:
            held = gc.get_referents(value)  # attributes, slots, what an iterator or a partial has
        yield from held
        pending += held
    if pending:
        yield REST


REST = object()  # stands for what was not looked at
_CLOSED = (Tensor, ModuleType, type, str, int, float, CodeType, FrameType, TracebackType)
_LENGTHS = (list.__len__, tuple.__len__, set.__len__)  # not those that only the run knows


def _is_bound(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
