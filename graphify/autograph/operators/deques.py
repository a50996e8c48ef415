"""collections.deque in a trace: a list, and how many of its first elements are gone.

    q = deque([s], maxlen=3)     # Deque(List([s]), List([0]), 3)
    q.append(x)                  # the list grows at its end
    q.popleft()                  # one more is gone; nothing moves

The two lists do all that staged control flow has to know of: they keep what they are, are carried
and joined as any others (lists.py). A deque of known length holds just its elements, and none is
gone. One of run-time length moves its elements only for what is done in its middle, for an
`appendleft` with no room before the first, and where its buffers would otherwise become longer
while half of them holds elements that are gone: `append`, `pop` and `popleft` take constant time.
"""

from __future__ import annotations

import copy
import operator
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from graphify import tree
from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators import listrows
from graphify.autograph.operators.conditions import set_truth
from graphify.autograph.operators.listed import Listed, opened
from graphify.autograph.operators.lists import GrowingList, integer, stack_of
from graphify.autograph.operators.state import Unstageable, as_number
from graphify.errors import TraceError
from graphify.ir.context import current_builder, in_bounds
from graphify.ir.tensor import resolve, value_needed
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core, effects, elementwise
from graphify.ops.convert import set_conversion
from graphify.ops.shape import in_range
from graphify.tracing.lists import List, growing, is_grown, is_staged_key
from graphify.tracing.places import log_contents

RANGE = "deque index out of range"
EMPTY = "pop from an empty deque"
FULL = "deque already at its maximum size"


class Deque(Listed):
    """A deque that a trace has made.

    Attributes:
        rows: its elements, after those that are gone.
        gone: the one number in it says how many those are.
    """

    __slots__ = ("rows", "gone", "maxlen")
    standing_for = deque

    def __init__(self, rows: Any, gone: Any = None, maxlen: int | None = None) -> None:
        super().__init__()
        self.rows, self.gone, self.maxlen = rows, List([0]) if gone is None else gone, maxlen

    @property  # type: ignore[misc]  # that of `object` can be set, this cannot
    def __class__(self) -> Any:
        """What it is to isinstance."""
        return deque

    # --- size ---

    @property
    def is_known(self) -> bool:
        """Whether tracing tells which elements there are."""
        if is_grown(self.rows):
            return False
        return not self.rows or type(self._first) is int and not self._first

    @property
    def size(self) -> Any:
        """The number of elements as a Python int, known now or by the run."""
        if self.is_known:
            return len(self.rows)
        return as_number(_whole(cells.number(self._grown.count) - self._first))

    @property
    def _first(self) -> Any:
        return as_number(self.gone[0])

    @property
    def _grown(self) -> g.Grown:
        """The list as one of run-time length, which it is unless it is a copy of an element."""
        grown: g.Grown = (self.rows if is_grown(self.rows) else growing(self.rows)).grown
        return grown

    # --- elements ---

    @property
    def whole(self) -> List:
        return self.gone

    def members(self) -> Any:
        return List(self.rows) if self.is_known else GrowingList.of(self._moved()).copy()

    def _moved(self) -> g.Grown:
        """Its elements from the first row on."""
        grown, first = self._grown, self._first
        if isinstance(first, int) and not first:
            return grown
        moved = listrows.reordered(grown, lambda i: i + cells.number(first))
        room = replace(grown.room, added=None)
        return replace(moved, count=g.plus(grown.count, -cells.number(first)), room=room)

    def _flat(self) -> Any:
        """The list of its elements, none of them gone: what changes it changes the deque."""
        if not self.is_known:
            self.rows._change(self._moved())
        self._set_gone(0)
        return self.rows

    def _set_gone(self, count: Any) -> None:
        if count is not self.gone[0]:
            log_contents(self.gone)
            list.__setitem__(self.gone, 0, count)

    def _place(self, index: Any) -> Any:
        """The row where the element of an index is: the run checks that there is one."""
        if isinstance(index, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        index, size = integer(index, "sequence index must be integer"), self.size
        if isinstance(index, int) and isinstance(size, int):
            if -size <= index < size:
                return index % size + self._first
            size = 0
        if isinstance(size, int) and not size:
            raise IndexError(RANGE)
        index, size = core.strong(as_tensor(index)), cells.number(size)
        place = elementwise.where(elementwise.less(index, 0), index + size, index)
        place = in_range(place, cells.number(0), size, error="IndexError", message=RANGE)
        return place + cells.number(self._first)

    def __getitem__(self, index: Any) -> Any:
        place = self._place(index)
        return self.rows.element(place) if is_grown(self.rows) else self.rows[place]

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._place(index)
        log_contents(self.rows)
        self.rows[place] = value

    def __delitem__(self, index: Any) -> None:
        self._changes()
        place = self._place(index) - self._first
        rows = self._flat()
        log_contents(rows)
        del rows[place]

    def __iter__(self) -> Iterator[Any]:
        if not self.is_known:  # see `reader` for loops over it
            yield from self.members()
            return
        before = list(self.rows)
        for item in before:
            self._check_same(before)
            yield item
        self._check_same(before)

    def _check_same(self, before: list[Any]) -> None:
        """Fail where it is not what it was when a loop over it, turn by turn, began."""
        if not is_grown(self.rows) and len(self.rows) != len(before):
            raise RuntimeError("deque mutated during iteration")
        if is_grown(self.rows) or any(map(operator.is_not, self.rows, before)):
            raise Unstageable(
                "a deque changes while a loop goes over it, which Python refuses where the loop "
                "goes on",
                location=here(),
                remedy="go over a copy of it: for v in list(q)",
            )

    def reader(self) -> Callable[[Any], Any]:
        """What gives its elements to a loop, by their places."""

        def element(place: Any) -> Any:
            return GrowingList.of(self._grown).element(g.plus(cells.number(self._first), place))

        return element

    def __reversed__(self) -> Iterator[Any]:
        yield from reversed(self.members())

    def __contains__(self, value: Any) -> Any:
        return value in self.members()

    # --- growing ---

    def append(self, value: Any) -> None:
        self._changes()
        if self.maxlen != 0:
            self._reclaim()
            self.rows.append(value)
            self._drop_first()

    def appendleft(self, value: Any) -> None:
        self._changes()
        if self.maxlen == 0:
            return
        self._drop_last()
        first = self._first
        if isinstance(first, int) and not first:
            self.rows.insert(0, value)
            return

        def before() -> tuple[()]:
            self._set_gone(_whole(self._first - 1))
            self.rows[self._first] = value
            return ()

        def anew() -> tuple[()]:
            self.rows.insert(0, value)
            return ()

        from graphify.autograph.operators.branches import if_  # which joins deques

        with in_bounds():
            if_(elementwise.greater(cells.number(first), 0), before, anew, (), ())

    def extend(self, values: Any) -> None:
        self._changes()
        if self.maxlen != 0:
            self.rows.extend(_list_of(values))
            self._drop_first()

    def extendleft(self, values: Any) -> None:
        from graphify.autograph.operators.loops import for_  # not at the top: it goes over deques

        def turn(value: Any) -> tuple[()]:
            self.appendleft(value)
            return ()

        for_(_list_of(values), turn, (), ())

    def insert(self, index: Any, value: Any) -> None:
        self._changes()
        if self.maxlen is not None:
            _check(self.size, self.maxlen, FULL)
        self._flat().insert(index, value)

    def _drop_first(self) -> None:
        """Without the first elements, if there are more than there may be."""
        if self.maxlen is None:
            return
        if self.is_known:
            del self.rows[: max(len(self.rows) - self.maxlen, 0)]
        else:
            least = elementwise.subtract(cells.number(self.rows.grown.count), self.maxlen)
            self._set_gone(_whole(elementwise.maximum(cells.number(self._first), least)))

    def _drop_last(self) -> None:
        """Without the last element, if there is no room for one more."""
        if self.maxlen is None:
            return
        if self.is_known:
            del self.rows[self.maxlen - 1 :]
        else:
            grown, most = self.rows.grown, cells.number(self._first) + (self.maxlen - 1)
            count = elementwise.minimum(cells.number(grown.count), most)
            self.rows._change(replace(grown, count=count, room=replace(grown.room, added=None)))

    def _reclaim(self) -> None:
        """Use the rows of elements that are gone, before longer buffers are made."""
        if self.is_known or self.rows.grown.room.mode != cells.DOUBLING:
            return
        from graphify.autograph.operators.branches import if_  # which joins deques

        grown, first = self.rows.grown, cells.number(self._first)
        full = elementwise.greater_equal(cells.number(grown.count), cells.number(grown.capacity))
        half = elementwise.greater(first * 2, cells.number(grown.capacity))

        def flat() -> tuple[()]:
            self._flat()
            return ()

        if_(elementwise.logical_and(full, half), flat, lambda: (), (), ())

    # --- shrinking ---

    def popleft(self) -> Any:
        self._changes()
        if self.is_known:
            return _popped(self.rows, 0)
        count = g.checked(self.size, 1, EMPTY)
        place = _whole(cells.number(self.rows.grown.count) - count)  # the first, after the check
        found = self.rows.element(place)
        self._set_gone(_whole(place + 1))
        return found

    def pop(self) -> Any:
        self._changes()
        if self.is_known:
            return _popped(self.rows, -1)
        count = g.checked(self.size, 1, EMPTY)
        return self.rows.take_last(g.plus(count, self._first))

    def remove(self, value: Any) -> None:
        self._changes()
        if self._is_searched_now(value):
            self._remade(lambda known: known.remove(value))
        else:
            rows = self._as_grown()
            rows._remove(rows.index(value, message=_missing(value)))

    def clear(self) -> None:
        self._changes()
        log_contents(self.rows)
        self.rows.clear()
        self._set_gone(0)

    # --- order ---

    def reverse(self) -> None:
        self._changes()
        rows = self._flat()
        log_contents(rows)
        rows.reverse()

    def rotate(self, n: Any = 1) -> None:
        self._changes()
        if self.is_known and not is_staged(n):
            self._remade(lambda known: known.rotate(n))
        elif not self.is_known or self.rows:
            by, rows = (
                cells.number(as_tensor(integer(n, "an integer is required"))),
                self._as_grown(),
            )
            size = elementwise.maximum(cells.number(rows.grown.count), 1)
            places = lambda i: elementwise.remainder(i - by, size)
            rows._change(listrows.reordered(rows.grown, places))

    def _as_grown(self) -> Any:
        rows = self._flat()
        if not is_grown(rows):
            log_contents(rows)
            rows.become(growing(rows))
        return rows

    def _remade(self, change: Any) -> None:
        """Change it as Python changes a deque of the same elements."""
        known = deque(self.rows, self.maxlen)
        change(known)
        log_contents(self.rows)
        list.__setitem__(self.rows, slice(None), list(known))

    # --- searching ---

    def count(self, value: Any) -> Any:
        return self.members().count(value)

    def index(self, value: Any, *bounds: Any) -> Any:
        if self._is_searched_now(value):
            return deque(self.rows).index(value, *bounds)
        rows = growing(self.rows) if self.is_known else self.members()
        return rows.index(value, *bounds, message=_missing(value))

    def _is_searched_now(self, value: Any) -> bool:
        if self.is_known and not self.rows and is_staged(value):
            raise ValueError(_missing(value))
        return self.is_known and not is_staged(value, *self.rows)

    # --- copies and operators ---

    def copy(self) -> Deque:
        return Deque(self.members(), None, self.maxlen)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Deque:
        made = memo[id(self)] = Deque(copy.deepcopy(self.members(), memo), None, self.maxlen)
        return made

    def __add__(self, other: Any) -> Deque:
        from graphify.autograph.operators.choice import Choice  # not at the top: it imports this

        if type(other) is Choice:
            return NotImplemented
        if not isinstance(other, deque):
            name = type(other).__name__
            raise TypeError(f'can only concatenate deque (not "{name}") to deque')
        made = self.copy()
        made.extend(other)
        return made

    def __iadd__(self, other: Any) -> Deque:
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> Deque:
        made = Deque(self.members() * operator.index(times), None, self.maxlen)
        made._drop_first()
        return made

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> Deque:
        self._changes()
        made = self * times
        self._flat()[:] = made.members()
        return self

    def _compare(self, sign: str, other: Any) -> Any:
        from graphify.autograph.operators.ordering import compared  # not at the top: it calls

        if not isinstance(other, deque):
            return NotImplemented
        return compared(sign, self.members(), _list_of(other))

    def __eq__(self, other: object) -> Any:
        return self._compare("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("!=", other)

    def __lt__(self, other: object) -> Any:
        return self._compare("<", other)

    def __le__(self, other: object) -> Any:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> Any:
        return self._compare(">", other)

    def __ge__(self, other: object) -> Any:
        return self._compare(">=", other)

    def __repr__(self) -> str:
        from graphify.autograph.operators import texts  # not at the top: it knows of lists

        return self.marked() if texts.asked_by_user(2) else "<deque>"

    def marked(self) -> str:
        """The mark of its text; see `GrowingList.marked`."""
        from graphify.autograph.operators import texts

        members, most = self.members(), "" if self.maxlen is None else f", maxlen={self.maxlen}"
        inside = members.marked() if is_grown(members) else texts.marked_text(list(members))
        return texts.staged(f"deque({inside}{most})")

    def __tensor__(self, dtype: Any = None) -> Any:
        rows = self.members()
        return stack_of(rows, empty=dtype is not None) if is_grown(rows) else as_tensor(rows)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise value_needed(resolve(as_tensor(self.size)), "the elements of a deque, of that length")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """A function of NumPy takes the elements as an array."""
        return function(*map(opened, args), **{k: opened(v) for k, v in kwargs.items()})

    def _changes(self) -> None:
        """Note that it is about to change."""
        if not self.is_known and not is_grown(self.rows):
            log_contents(self.rows)
            self.rows.become(growing(self.rows))


Deque.__name__ = Deque.__qualname__ = "collections.deque"  # for messages: what it is to the user


def made(iterable: Any = (), maxlen: Any = None) -> Deque:
    """`deque(iterable, maxlen)` in a trace."""
    if is_staged(maxlen):
        raise TraceError(
            "the maxlen of a deque is only known when the graph runs",
            location=here(),
            remedy="give it a Python int, or none and popleft() what is too much",
        )
    most = deque((), maxlen).maxlen  # raises what Python raises
    found = Deque(_list_of(iterable), None, most)
    found._drop_first()
    return found


def is_staged(*values: Any) -> bool:
    return any(map(is_staged_key, values))


def _list_of(values: Any) -> List:
    """The elements of an iterable in a new list."""
    from graphify.autograph.operators.calls import call  # not at the top: it makes deques

    items: List = call(list, values)
    return items


def _whole(number: Any) -> Any:
    """A count as a Python int, known now or by the run."""
    if isinstance(number, int):
        return number
    return core.cast(as_tensor(number), dtype=cells.INT, weak=True)


def _popped(rows: List, place: int) -> Any:
    if not rows:
        raise IndexError(EMPTY)
    return rows.pop(place)


def _missing(value: Any) -> str:
    return f"{'value' if is_staged(value) else repr(value)} is not in deque"


def _check(size: Any, most: int, message: str) -> None:
    """Fail, now or at the run, where a size is not less than that."""
    if isinstance(size, int):
        if size >= most:
            raise IndexError(message)
    else:
        effects.assert_(size < most, exception=effects.Raise(IndexError, (message,)))


# --- as a tree ------------------------------------------------------------------------------------


def _open(value: Deque) -> tuple[tuple[Any, ...], list[Any]]:
    return (value.maxlen,), [value.rows, value.gone]


def _build(keys: tuple[Any, ...], children: list[Any]) -> Any:
    """A deque of the trace; outside of one, Python's own."""
    rows, gone = children
    if current_builder() is not None:
        return Deque(rows, gone, *keys)
    counts = np.asarray(gone[0])
    if counts.size and (counts != counts.flat[0]).any():
        raise Unstageable(
            f"the lanes of a vmap have taken different numbers of elements from a deque: "
            f"{counts.tolist()}",
            remedy="return an array of one shape in every lane",
        )
    return deque(rows[int(counts.flat[0]) if counts.size else 0 :], *keys)


tree.register(Deque, _open, _build)
set_conversion(Deque, lambda value: value.__tensor__())
set_truth(
    Deque,
    lambda value: elementwise.greater(cells.number(value.size), 0),
    lambda value: not isinstance(value.size, int),
)
