"""The heap of staged control flow: what blocks write beside their state variables.

Tensors updated in place, attributes, containers and closure cells: each is a `Slot` that can be
read and written, found in the write log of the frame that traced the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any, TypeAlias

from graphify.autograph.operators.choice import narrowed
from graphify.autograph.operators.consumer import Consumer, Variable
from graphify.autograph.operators.made import Opener
from graphify.autograph.operators.state import Entry, take_apart
from graphify.autograph.operators.undefined import Undefined
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder, Value, param
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ir.wrapping import as_tensor
from graphify.tracing import identity
from graphify.tracing.capture import ABSENT, previous, root_of, undo
from graphify.tracing.guards import MISSING, Fields, Place
from graphify.tracing.identity import Held
from graphify.tracing.places import Contents, forget_local

State: TypeAlias = tuple[Any, ...]  # the values of the state variables
Names: TypeAlias = tuple[str, ...]


@dataclass(slots=True, eq=False)
class Slot:
    """A tensor's storage, an attribute or a closure cell that a block writes."""

    target: Tensor | Place | Contents | Variable
    before: Any

    @property
    def name(self) -> str:
        return _tensor_name(self.target) if isinstance(self.target, Tensor) else str(self.target)

    def read(self) -> Any:
        if isinstance(self.target, Tensor):
            return Tensor(self.target._value, weak=self.target._weak)
        value = self._lifted() if isinstance(self.target, Place) else self.target.read()
        if value is not MISSING:
            return value
        assert not isinstance(self.target, Contents)
        return Undefined(self.target.name)

    def _lifted(self) -> Any:
        """What a place holds; an attribute that no path wrote so far is read from outside."""
        place, builder = self.target, current_builder()
        root = root_of(builder)
        assert isinstance(place, Place)
        while builder is not None and place.key not in builder.writes:
            builder = builder.parent
        value = place.read()
        if builder is not None or root is None or place.kind != "attribute":
            return value
        if value is not MISSING:
            return root.guard(place)
        if id(place.holder) not in root.local_objects:
            root.present(place, False)
        return value

    def take_apart(self, opened: Opener | None = None, ahead: bool = False) -> Entry:
        """What it holds as an entry; `opened`: see made.py."""
        contents, whole = isinstance(self.target, Contents), self.read()
        value = narrowed(whole)
        if opened is not None:
            value = opened.inside(value) if contents else opened(value)
        if contents and isinstance(value, set):
            value = frozenset(value)  # which tells by its elements whether it is another one
        entry = take_apart(self.name, value, contents, ahead, whole)
        root = root_of(current_builder()) if contents else None
        entry.made = None if root is None else root.made_at.get(id(self.target.holder))
        entry.holder = self.target.holder if contents else None
        return entry

    def join(self, value: Any, held: Held) -> None:
        """Write what paths that met have in common, and note the containers that it is of."""
        if isinstance(self.target, Contents) and isinstance(value, (list, dict)):
            known = isinstance(value, dict) or type(value).__len__ is list.__len__
            inside = tuple(value.values() if isinstance(value, dict) else value) if known else ()
            identity.note("an element", inside, held, self.target.holder)
        self.write(value)

    def write(self, value: Any) -> None:
        """Write within the current frame, logged like any other write."""
        builder = current_builder()
        assert builder is not None
        key = id(self.target) if isinstance(self.target, Tensor) else self.target.key
        if isinstance(self.target, Tensor):
            outer = self.target._home is not builder.home
            builder.log_write(key, self.target, self.target._value, outer)
            self.target._value = value_in(resolve(as_tensor(value)), builder)
            self.target._version += 1
        else:
            before = previous(self.target)
            builder.log_write(key, self.target, before, not self._is_own(builder))
            if isinstance(value, Undefined) and getattr(self.target, "kind", "") == "attribute":
                undo([(self.target, ABSENT)])
            else:
                self.target.write(value)

    def _is_own(self, builder: Builder) -> bool:
        """Whether the frame itself made what the target is a part of."""
        if isinstance(self.target, Variable):
            return self.target.holder.builder is builder
        root = root_of(builder)
        if root is None or not isinstance(self.target, Place):
            return False
        _, home = root.local_objects.get(id(self.target.holder), (None, None))
        return home is builder.home


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


def slots_of(builder: Builder, shared: set[Any]) -> dict[Any, Slot]:
    """What the frame wrote, less state variables and containers that it made and dropped itself."""
    forget_local(builder)
    return {
        key: Slot(target, before)
        for key, (target, before) in builder.writes.items()
        if key not in shared
    }


def cells_of(functions: Sequence[Callable[..., Any]]) -> Iterator[tuple[str, CellType]]:
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
            if isinstance(content, Consumer):  # the body of a loop over a generator
                content = content.body
            if isinstance(content, FunctionType):
                pending.append(content)


def watch_cells(
    builder: Builder, functions: Sequence[Callable[..., Any]], fields: bool = True
) -> Callable[[], None]:
    """Log writes that generated functions make to cells they share with the code around them.

    Called at the start of a frame; what it returns is called at the end.

    Args:
        fields: objects that the trace made are watched, too.
    """
    places = [Place(cell, name, "cell") for name, cell in cells_of(functions)]
    watched = [(place, place.read()) for place in places if place.key not in builder.writes]

    objects = [(obj, dict(vars(obj))) for obj in _known_objects(builder)] if fields else []
    names, logged = _written_globals(builder), set(builder.writes)

    def log() -> None:
        for key, name in _written_globals(builder).items():
            old = names[key].now if key in names else name.first
            if key not in logged and (name.now is not old or key in builder.writes):
                builder.log_write(key, name.place, old)
                builder.writes[key] = (name.place, old)  # the write may have been logged late
        for place, old in watched:
            if place.read() is not old or place.key in builder.writes:  # here, too
                builder.writes[place.key] = (place, old)
                builder.history.write(place.key)
        for obj, before in objects:
            _log_fields(builder, obj, before)

    return log


@dataclass(frozen=True, slots=True, eq=False)
class _Global:
    """A global that functions of the trace assign: its value when the trace first saw it, and
    now."""

    place: Place
    first: Any
    now: Any


def _written_globals(builder: Builder) -> dict[Any, _Global]:
    """The globals that functions of the trace assign, by key. At the root of a trace they need no
    log: it looks at them when it is over."""
    root = root_of(builder)
    found: dict[Any, _Global] = {}
    if root is None or builder is root:
        return found
    for space in root.spaces.values():
        for name in space.written:
            place = Place(space.twin, name, "global")
            first = space.before.get(name, ABSENT)
            found[place.key] = _Global(place, first, space.twin.get(name, ABSENT))
    return found


def _known_objects(builder: Builder) -> list[Any]:
    """Objects whose fields code that is not converted, such as operators of a class, may write."""
    root = root_of(builder)
    if root is None:
        return []
    found = [obj for obj, _ in root.local_objects.values()]
    found += [guard.thing for guard in root.guards.values() if isinstance(guard, Fields)]
    return [obj for obj in found if isinstance(getattr(obj, "__dict__", None), dict)]


def _log_fields(builder: Builder, obj: Any, before: dict[str, Any]) -> None:
    for name in before.keys() | vars(obj).keys():
        place, old = Place(obj, name, "attribute"), before.get(name, ABSENT)
        if vars(obj).get(name, ABSENT) is not old and place.key not in builder.writes:
            builder.log_write(place.key, place, old)


def shared_cells(names: Names, functions: Sequence[Callable[..., Any]]) -> set[Any]:
    """Keys of the cells that hold state variables: they are passed as state, not as heap."""
    return {
        Place(cell, name, "cell").key
        for f in functions
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
        if name in names
    }
