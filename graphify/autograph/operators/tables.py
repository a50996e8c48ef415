"""Dicts and sets whose keys only the run knows: lists of their keys, and of the values.

    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1     # the trace is given up here, and made again: now `{}`
                                             # makes Dict(rows=[], held=[])

A key is found by a comparison with all keys, in one pass over their buffer; a new one is appended,
as is its value. The two lists do all that staged control flow has to know of (lists.py), as those
of a deque do. A dict whose keys are known while tracing stays Python's own. Here is what dicts
(dicts.py), sets (sets.py) and counters (counts.py) have in common.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from graphify import tree
from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators import listrows
from graphify.autograph.operators.branches import if_, if_exp
from graphify.autograph.operators.conditions import set_truth
from graphify.autograph.operators.growing import Grown
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.lists import GrowingList, start
from graphify.autograph.operators.state import Unstageable
from graphify.autograph.operators.unknown import Ended
from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor, resolve, value_needed
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core, effects, elementwise
from graphify.tracing import apart, identity
from graphify.tracing.capture import root_of
from graphify.tracing.lists import List, is_grown, is_staged_key
from graphify.tracing.places import log_contents

_gone_over: ContextVar[tuple[Any, ...]] = ContextVar("graphify_gone_over", default=())


def depends(key: Any) -> bool:
    """Whether only the run knows a key."""
    return is_staged_key(key) or isinstance(key, tuple) and any(map(depends, key))


def holds_keys(given: Any) -> bool:
    """Whether what a method of a dict or set is given is a key that only the run knows, or such a
    container, or the keys of one."""
    if isinstance(given, (list, set, tuple)) and not is_grown(given):
        return any(map(depends, given))
    return depends(given) or isinstance(given, Listed) or is_grown(given)


class Table(Listed):
    """A dict or set whose keys only the run knows.

    Attributes:
        rows: the keys, each once, in the order in which they came.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Any = None) -> None:
        super().__init__()
        self.rows = GrowingList.of(g.empty()) if rows is None else rows

    @property
    def whole(self) -> List:
        found: List = self.rows
        return found

    @property
    def size(self) -> Any:
        return GrowingList.of(grown_of(self.rows)).size

    def members(self) -> Any:
        return GrowingList.of(g.apart(grown_of(self.rows)))

    def __iter__(self) -> Any:
        return iter(self.line())

    @contextlib.contextmanager
    def gone_over(self) -> Iterator[None]:
        token = _gone_over.set((*_gone_over.get(), self.rows))
        try:
            yield
        finally:
            _gone_over.reset(token)

    @property
    def _is_gone_over(self) -> bool:
        return any(rows is self.rows for rows in _gone_over.get())

    # --- keys ---

    def find(self, key: Any) -> tuple[Any, Any]:
        """The place of a key, and whether it has one.

        Raises:
            TypeError: it cannot be a key.
        """
        treedef, leaves = _taken_apart(key)
        keys = grown_of(self.rows)
        empty = isinstance(keys.count, int) and not keys.count
        if empty or not keys.buffers or _nesting(keys.treedef) != _nesting(treedef):
            return 0, False
        place = listrows.found_at(keys, leaves)
        return place, elementwise.greater_equal(place, 0)

    def contains(self, key: Any) -> Any:
        """`key in self`, a truth value of the run, or False."""
        return self.find(key)[1]

    def __contains__(self, key: Any) -> Any:
        found = self.contains(key)
        if found is False:
            return False
        raise value_needed(found, "whether a dict or set contains a key")

    def _lists(self) -> list[Any]:
        return [self.rows]

    def _add(
        self, key: Any, value: Callable[[], Any], found: Any, there: Callable[[], Any]
    ) -> None:
        """Add a key with a new value, or do what is to be done where it has been found."""
        for rows in self._lists():
            make_grown(rows)
        if found is False and not self._is_gone_over:
            self._append(key, value())
        elif self._is_gone_over:
            _assert_found(found)
            there()
        else:
            if_(found, block(there), block(lambda: self._append(key, value())), (), ())

    def _append(self, key: Any, value: Any) -> None:
        _check_key(key)
        self.rows.append(key)

    def _remove(self, place: Any) -> None:
        self._loses()
        for rows in self._lists():
            rows._remove(place)

    def _loses(self) -> None:
        """Note that elements are about to be removed."""
        if self._is_gone_over:
            raise Unstageable(
                "a dict or set loses elements while a loop goes over it, which Python refuses "
                "where the loop goes on",
                location=here(),
                remedy="go over a copy of it: for k in list(d), or sorted(d)",
            )
        for rows in self._lists():
            make_grown(rows)

    def _check_there(self, key: Any, found: Any) -> None:
        """Fail where a key is not there."""
        from graphify.autograph.operators.raising import raise_  # which joins values

        if found is False:
            raise_(KeyError(key))
            raise Ended
        else:
            if_exp(found, lambda: None, lambda: raise_(KeyError(key)))

    def clear(self) -> None:
        self._loses()
        for rows in self._lists():
            rows.clear()

    def __ne__(self, other: object) -> Any:
        from graphify.autograph.operators.logical import not_

        return not_(self == other)

    def __repr__(self) -> str:
        return text_of(self)


def refused(what: str, why: str, remedy: str) -> Unstageable:
    """The error for what cannot be done."""
    held = "elements" if what == "a set" else "keys"
    text = f"the {held} of {what} are only known when the graph runs, and {why}"
    return Unstageable(text, location=here(), remedy=remedy)


def text_of(table: Listed) -> str:
    """Its `repr`, for messages; the user's is refused."""
    from graphify.autograph.operators import texts

    name = table.standing_for.__name__
    if texts.asked_by_user(3):
        raise refused(f"a {name}", "its text is asked for", "show a list of it: sorted(d.items())")
    return f"<{name}>"


# --- the lists ------------------------------------------------------------------------------------


def grown_of(rows: Any) -> Grown:
    """What a list of a table holds."""
    found: Grown = rows.grown if is_grown(rows) else start(rows) if rows else g.empty()
    return found


def make_grown(rows: Any) -> None:
    """A list of known length, as a copy of a table may have it, before it changes."""
    if not is_grown(rows):
        log_contents(rows)
        rows.become(GrowingList.of(grown_of(rows)))


def _taken_apart(key: Any) -> tuple[tree.TreeDef, list[Any]]:
    """A key's structure and the numbers in it.

    Raises:
        TypeError: it has no hash in plain Python.
    """
    treedef, leaves = g.take_apart(key)
    _check_hash(treedef)
    for leaf in leaves:
        number = isinstance(leaf, Tensor) and (leaf.spec.weak or leaf._scalar) and not leaf.dims
        if isinstance(leaf, (Tensor, np.ndarray)) and not number:
            raise TypeError("unhashable type: 'numpy.ndarray'")
    return treedef, [core.strong(resolve(as_tensor(leaf))) for leaf in leaves]


def _check_hash(treedef: tree.TreeDef) -> None:
    kind = treedef.kind
    if kind is None:
        return
    if kind.__hash__ is None:
        raise TypeError(f"unhashable type: '{kind.__name__}'")
    if not issubclass(kind, tuple):
        raise refused("a dict", f"one of them is a {kind.__name__}", "use a tuple of its fields")
    for child in treedef.children:
        _check_hash(child)


def _nesting(treedef: tree.TreeDef) -> Any:
    """What tuples have in common that may be equal, of whatever class they are."""
    return None if treedef.kind is None else tuple(map(_nesting, treedef.children))


def _check_key(key: Any) -> None:
    """Let the run refuse a NaN, which Python finds again only as the very object."""
    for leaf in _taken_apart(key)[1]:
        if leaf.dtype.kind in "fc":
            text = "a dict or set gets a key that is NaN, which is not equal to itself"
            error = effects.Raise(TraceError, (text,), remedy="leave it out: if v == v: ...")
            effects.assert_(elementwise.equal(leaf, leaf), exception=error)


def _assert_found(found: Any) -> None:
    """Let the run refuse a new key while a loop goes over the keys."""
    text = (
        "a dict or set gets a new key while a loop goes over it, which Python refuses where the "
        "loop goes on"
    )
    error = effects.Raise(TraceError, (text,), remedy="go over a copy of it: for k in list(d)")
    effects.assert_(as_tensor(found), exception=error)


def block(action: Callable[[], Any]) -> Callable[[], tuple[()]]:
    """The block of a statement that binds no names."""

    def turn() -> tuple[()]:
        action()
        return ()

    return turn


def members_of(value: Any) -> Any:
    """A container as a list of its elements, also a set's; anything else as it is."""
    return value.members() if isinstance(value, Listed) else value


def elements_of(iterable: Any) -> Any:
    """The elements of an iterable in a list, or an array."""
    from graphify.autograph.operators.calls import call  # not at the top: it makes tables

    array = isinstance(iterable, (Tensor, np.ndarray))
    return iterable if array else call(list, members_of(iterable))


def are_known(values: Any, key: Callable[[Any], Any] = lambda value: value) -> bool:
    """Whether tracing knows elements, or of pairs the keys."""
    if isinstance(values, Tensor) and values.is_symbolic or is_grown(values):
        return False
    return not any(depends(key(value)) for value in values)


# --- where they are made --------------------------------------------------------------------------


def refuse_new(table: Any) -> NoReturn:
    """Refuse a key that only the run knows, of a dict or set that is none of ours: if the trace has
    made it, it will be in another trace."""
    error = TraceError(
        "a dict or set gets a key that only the run knows, and the function has not made it",
        location=here(),
        remedy="work on a copy: counts = dict(counts), seen = set(seen)",
    )
    root = root_of(current_builder())
    if root is None:
        raise error
    known = root.made_at
    made = [known[key] for key in {id(table), *identity.may_be(table)} if key in known]
    if not made and not any(table is twin for _, twin in root.twins.values()):
        made = root.makes.get(_class_of(table), [])  # it is made of those, by an operator
    raise apart.instead_of_dicts(error, made) if made else error


def _class_of(table: Any) -> type:
    return dict if isinstance(table, dict) else set


def noted(made: Any) -> Any:
    """A dict or set that the trace has just made."""
    root, place = root_of(current_builder()), here()
    if root is not None and place is not None:
        root.made_at[id(made)] = place
        root.makes.setdefault(_class_of(made), []).append(place)
    return made


# --- functions that are written out, and converted as anyone's are --------------------------------


def run(function: Any, *args: Any) -> Any:
    """Call such a function."""
    from graphify.autograph.operators.iterators import run  # not at the top: it calls functions

    return run(function, *args)


def compared(sign: str, one: Any, other: Any) -> Any:
    """A comparison of two values, for such functions.

    Raises:
        TraceError: of arrays, which are equal for Python where they are one array.
    """
    from graphify.autograph.operators import ordering  # not at the top: it calls functions

    if any(isinstance(value, Tensor) and value.ndim for value in (one, other)):
        raise TraceError(
            "dicts of arrays are compared, and Python asks first whether two are one array",
            location=here(),
            remedy="compare the arrays: all((d[k] == e[k]).all() for k in d)",
        )
    return ordering.compared(sign, one, other)


# --- as trees -------------------------------------------------------------------------------------


def hashable(key: Any) -> Any:
    """A key that a run has given, as Python's own dict has it."""
    if isinstance(key, tuple):
        return getattr(type(key), "_make", tuple)(map(hashable, key))
    array = np.asarray(key)
    if array.ndim:
        raise Unstageable(
            "the lanes of a vmap have dicts or sets of different keys",
            remedy="return an array of one shape in every lane",
        )
    return array[()] if isinstance(key, (Tensor, np.ndarray)) else key


def register(kind: type[Table], names: tuple[str, ...], static: tuple[str, ...] = ()) -> None:
    """Make a class a tree of its lists, and a truth value.

    Args:
        names: of its attributes that are lists, as its class takes them.
        static: of others, which come after.
    """

    def build(keys: tuple[Any, ...], children: list[Any]) -> Any:
        if current_builder() is not None:
            return kind(*children, *keys)
        found, *held = children
        members = list(map(hashable, found))
        whole = dict(zip(members, *held, strict=True)) if held else members
        return kind.standing_for(*keys, whole)

    def open_(value: Any) -> tree.Opened:
        return tuple(getattr(value, n) for n in static), [getattr(value, n) for n in names]

    kind.__name__ = kind.__qualname__ = kind.standing_for.__name__  # for messages
    tree.register(kind, open_, build)
    register_truth(kind)


def register_truth(kind: type) -> None:
    set_truth(
        kind,
        lambda value: elementwise.greater(cells.number(as_tensor(value.size)), 0),
        lambda value: not isinstance(value.size, int),
    )
