"""The lists that converted code makes: Python's own, able to become lists that grow in the run.

    rows = List()            # what `rows = []` makes in a trace
    rows.become(growing)     # the same object, now of a length that only the run knows

A list is known by many names, and by other containers and objects. Where paths meet on which it has
different lengths it therefore changes its class, not its identity (operators/lists.py has the other
class). On its own it is a plain list that logs what Python's operators change in place.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from graphify import tree
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_index
from graphify.location import LazyLoc, here
from graphify.tracing import identity
from graphify.tracing.places import log_contents


class List(list[Any]):
    """A list of known length.

    Attributes:
        home: of the frame that made it.
        grown: what the class of growing lists keeps.
        lines: where elements of which shapes were appended, for errors.
        place: of the comprehension or display that made it.
    """

    __slots__ = ("grown", "home", "lines", "place", "__weakref__")

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__(values)
        builder = current_builder()
        self.home: Any = None if builder is None else builder.home
        self.grown: Any = None
        self.lines: dict[Any, LazyLoc | None] = {}
        self.place: LazyLoc | None = None

    def note(self, value: Any) -> None:
        """Remember the line that appends an array of this shape."""
        if isinstance(value, Tensor) and value.is_symbolic:
            self.lines[value.dims] = here()

    def become(self, other: list[Any]) -> None:
        """Take over what another list is and holds; this object stays the same one."""
        if isinstance(other, List) and type(other) is not List:
            if type(self) is List:
                seal_elements(self)
            list.clear(self)
            self.__class__ = type(other)
            self.grown = other.grown
        else:
            if self.grown is not None:
                identity.unseal(self)
            self.__class__ = List
            self.grown = None
            list.__setitem__(self, slice(None), other)

    def _as_grown(self, change: Callable[[Any], Any]) -> Any:
        """Become a list of run-time length that has been changed; what fails changes nothing."""
        grown = growing(self)
        result = change(grown)
        log_contents(self)
        self.become(grown)
        return result

    def snapshot(self) -> List:
        """What it is and holds now, as `become` takes it."""
        return List(self)

    def copy(self) -> List:
        return List(self)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = List()
        for value in self:
            list.append(made, copy.deepcopy(value, memo))
        return made

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key)
        if is_staged_key(key):
            return element(self, key)
        found = list.__getitem__(self, key)
        return List(found) if isinstance(key, slice) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        key = as_index(key)
        if is_grown(value) and key == slice(None):
            log_contents(self)
            self.become(value.copy())
        elif is_staged_key(key) or isinstance(key, slice) and is_grown(value):
            self._as_grown(lambda grown: operator.setitem(grown, key, value))
        else:
            list.__setitem__(self, key, value)

    def __delitem__(self, key: Any) -> None:
        key = as_index(key)
        if is_staged_key(key):
            self._as_grown(lambda grown: operator.delitem(grown, key))
        else:
            list.__delitem__(self, key)

    def append(self, value: Any) -> None:
        log_contents(self)
        self.note(value)
        list.append(self, value)

    def may_hold_choices(self) -> bool:
        """Whether an element may be a value of one kind or another (see choice.py)."""
        return True

    def append_inside(self, places: Sequence[Any], value: Any) -> bool:
        """Append to the list at a place, or to one at a place in that, without a copy of it; False
        if that cannot be done. The value is one that such a list has taken before."""
        return False

    def insert(self, index: Any, value: Any) -> None:
        index = as_index(index)
        if is_staged_key(index) and self:
            self._as_grown(lambda grown: grown.insert(index, value))
        else:
            log_contents(self)
            list.insert(self, index if self else 0, value)

    def pop(self, index: Any = -1) -> Any:
        index = as_index(index)
        if is_staged_key(index):
            return self._as_grown(lambda grown: grown.pop(index))
        log_contents(self)
        return list.pop(self, index)

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        if key is None and any(map(is_staged_key, self)):
            self._as_grown(lambda grown: grown.sort(reverse=reverse))
        else:
            log_contents(self)
            list.sort(self, key=key, reverse=reverse)

    def _is_searched_by_run(self, value: Any) -> bool:
        return len(self) > 0 and any(map(is_staged_key, (value, *self)))

    def remove(self, value: Any) -> None:
        if self._is_searched_by_run(value):
            self._as_grown(lambda grown: grown.remove(value))
        else:
            log_contents(self)
            list.remove(self, value)

    def index(self, value: Any, *bounds: Any) -> Any:
        if self._is_searched_by_run(value):
            return growing(self).index(value, *bounds)
        return list.index(self, value, *bounds)

    def count(self, value: Any) -> Any:
        if self._is_searched_by_run(value):
            return growing(self).count(value)
        return list.count(self, value)

    def extend(self, values: Any) -> None:
        if is_grown(values):
            log_contents(self)
            self.become(growing(self) + values if self else values.copy())
        else:
            log_contents(self)
            list.extend(self, values)

    def __add__(self, other: Any) -> Any:
        if is_grown(other):
            return growing(self) + other if self else other.copy()
        return List(list.__add__(self, other)) if isinstance(other, list) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        times = as_index(times)
        if _is_array(times) or not hasattr(times, "__index__"):  # an array multiplies the elements
            return NotImplemented
        if is_staged_key(times) and self:
            return growing(self) * times
        return List(list.__mul__(self, times if self else _count(times)))

    __rmul__ = __mul__

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __imul__(self, times: Any) -> Any:
        times = as_index(times)
        if _is_array(times):
            return NotImplemented
        if is_staged_key(times) and self:
            self._as_grown(lambda grown: grown.__imul__(times))
        else:
            log_contents(self)
            list.__imul__(self, times if self else _count(times))
        return self


List.__name__ = List.__qualname__ = "list"  # for messages: what it is to the user


def _is_array(value: Any) -> bool:
    """Whether it is an array, and no number."""
    if isinstance(value, Tensor):
        return not (value.spec.weak or value._scalar) or value.ndim > 0
    return isinstance(value, np.ndarray)


def _count(times: Any) -> Any:
    """How often to repeat nothing: of a traced integer, no matter."""
    whole = isinstance(times, Tensor) and times.dtype.kind in ("iub" if times.spec.weak else "iu")
    return 1 if whole else times


def is_grown(value: Any) -> bool:
    return isinstance(value, List) and type(value) is not List


def is_staged_key(key: Any) -> bool:
    """Whether only the run knows an index, or a bound of a slice."""
    parts = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
    return any(isinstance(part, Tensor) and part.is_symbolic for part in parts)


def _no_growing(values: list[Any]) -> Any:
    raise NotImplementedError


growing: Callable[[list[Any]], Any] = _no_growing
seal_elements: Callable[[Any], None] = _no_growing


element: Callable[[list[Any], Any], Any] = lambda values, key: growing(values)[key]


def set_element_hook(hook: Callable[[list[Any], Any], Any]) -> None:
    """How an element is looked up by an index that only the run knows (operators/choosing.py)."""
    global element
    element = hook


def set_growing_hooks(make: Callable[[list[Any]], Any], seal: Callable[[Any], None]) -> None:
    """How a list becomes one of a length that only the run knows, and what then happens to the
    elements that it had (autograph/operators/lists.py)."""
    global growing, seal_elements
    growing, seal_elements = make, seal


def _build(keys: tuple[Any, ...], children: list[Any]) -> list[Any]:
    return children if current_builder() is None else List(children)


tree.register(list, lambda value: ((), list(value)), _build)
tree.register_same(List, list)
