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
from collections.abc import Container, Iterable, Iterator
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

    def add(self, name: str, made: Any, originals: ById) -> None:
        key = id(made)
        self.made[key], self.names[key], self.originals[key] = made, name, originals
        self.places[key] = here()
        for each in originals:
            self.copies.setdefault(each, []).append(key)

    def may_be(self, key: int) -> Iterable[int]:
        """The ids of what a container stands for: of itself, if it is no copy."""
        return self.originals.get(key, (key,))


_copies: WeakKeyDictionary[Builder, _Copies] = WeakKeyDictionary()


def parts(value: Any, objects: Container[int] = ()) -> Iterator[Any]:
    """The containers in a value that can be changed; also those in objects with some ids."""
    pending = [value]
    while pending:
        value = pending.pop()
        if id(value) in objects:
            pending += attributes_of(value).values()
        if isinstance(value, (Tensor, str)) or not tree.is_container(value):
            continue
        parameters = getattr(type(value), "__dataclass_params__", None)
        if isinstance(value, (list, dict)) or parameters is not None and not parameters.frozen:
            yield value
        pending += tree.flatten(value, partial(operator.is_not, value))[0]


def called(name: str) -> str:
    """What messages call a variable."""
    return "the value that is returned" if name.startswith(RETURNED) else f"'{name}'"


def note(name: str, made: Any, ids: Iterable[int], holder: Any = None) -> None:
    """Note that a variable is a copy of what had these ids on the paths that met.

    Args:
        holder: the list that has it as its contents. What nobody sees but through this list is one
            with the copy, and nobody can tell.
    """
    new = list(parts(made, getattr(_root(), "local_objects", ())))
    wanted = set(ids) - set(map(id, new))
    if not new or not wanted:
        return
    known = _known()
    originals: ById = {}
    for each in wanted & known.made.keys():
        originals |= known.originals[each]
    wanted -= known.made.keys()
    if wanted:
        originals |= {id(seen): seen for seen, _ in _seen(holder) if id(seen) in wanted}
    for each in new:
        kind = list if isinstance(each, list) else type(each)  # the trace has lists of its own
        alike = {key: value for key, value in originals.items() if isinstance(value, kind)}
        if alike:
            known.add(name, each, alike)


def check(thing: Any) -> None:
    """Refuse to change a copy, or what it is a copy of, where both can be seen.

    Raises:
        TraceError: they can.
    """
    known, key = _known(), id(thing)
    originals = known.may_be(key)
    others = {*originals, *(copy for each in originals for copy in known.copies.get(each, ()))}
    others.discard(key)
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
    for seen, _ in _seen():
        while isinstance(seen, Tensor) and seen._base is not None:
            seen = seen._base
            if seen is tensor:
                return True
    return tensor._shared is not None


def originals_of(ids: Iterable[int]) -> list[int]:
    """The ids of what the copies with these ids stand for."""
    known = _known()
    return [each for key in ids for each in known.originals.get(key, ())]


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
    """What the names of the functions being traced show, with the name if it is that itself; less
    what is in `holder`."""
    for tracked in getattr(_root(), "tracked", ()):
        yield tracked.twin, ""  # a container of the caller's
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.endswith("api/tracer.py"):
        if not is_internal(frame.f_code.co_filename):
            for name, value in list(frame.f_locals.items()):
                yield value, name
                if not name.startswith(RETURNED):
                    yield from ((inside, "") for inside in _inside(value, holder))
        frame = frame.f_back


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


def _inside(value: Any, holder: Any = None) -> Iterator[Any]:
    pending, seen = [value], set[int]()
    while pending and len(seen) < MOST:
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


_CLOSED = (Tensor, ModuleType, type, str, int, float, CodeType, FrameType, TracebackType)
_LENGTHS = (list.__len__, tuple.__len__, set.__len__)  # not those that only the run knows


def _is_bound(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
