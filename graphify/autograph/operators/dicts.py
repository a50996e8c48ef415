"""Dicts whose keys only the run knows (see tables.py): dict, OrderedDict, defaultdict.

counts = dict_([(v, 0) for v in x])     # Dict
counts[v] = 1                           # a branch: the value is replaced, or one is appended
for v, n in counts.items(): ...         # a loop over the two lists
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
from collections.abc import Callable
from typing import Any

from graphify import tree
from graphify.autograph.operators import elements
from graphify.autograph.operators import growing as g
from graphify.autograph.operators import listcells as cells
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.growing import Grown
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.lists import GrowingList, moved
from graphify.autograph.operators.tables import (
    Table,
    are_known,
    compared,
    elements_of,
    grown_of,
    noted,
    refused,
    register,
    register_truth,
    run,
    text_of,
)
from graphify.ir.context import current_builder
from graphify.ir.wrapping import as_tensor
from graphify.ops import effects, elementwise
from graphify.tracing import apart
from graphify.tracing.defaults import Defaults as KnownDefaults
from graphify.tracing.lists import List, is_grown


class Dict(Table):
    """A dict whose keys only the run knows.

    Attributes:
        held: the values, as the keys are in `rows`.
    """

    __slots__ = ("held",)
    standing_for: type = dict

    def __init__(self, rows: Any = None, held: Any = None) -> None:
        super().__init__(rows)
        self.held = GrowingList.of(g.empty()) if held is None else held

    def _lists(self) -> list[Any]:
        return [self.rows, self.held]

    # --- one item ---

    def __getitem__(self, key: Any) -> Any:
        place, found = self.find(key)
        self._check_there(key, found)
        return self.at(place)

    def at(self, place: Any) -> Any:
        """The value at a place where there is one."""
        held = grown_of(self.held)
        return self.held[place] if held.treedef.kind and is_grown(self.held) else (
            GrowingList.of(held).element(place)
        )  # fmt: skip

    def __setitem__(self, key: Any, value: Any) -> None:
        place, found = self.find(key)

        def new() -> Any:
            return moved(value, "")

        self._add(key, new, found, lambda: self._replace(place, new()))

    def _append(self, key: Any, value: Any) -> None:
        super()._append(key, value)
        self.held.append(_Nothing() if value is None else value)

    def _replace(self, place: Any, value: Any) -> None:
        value = _Nothing() if value is None else value
        if isinstance(value, (list, dict, Listed)):
            self.held[place] = value
        else:
            self.held.put(place, value)

    def _there_or(self, key: Any, default: Callable[[], Any]) -> Any:
        """The value of a key, which gets one if it has none."""
        place, found = self.find(key)
        count = grown_of(self.rows).count
        self._add(key, default, found, lambda: None)
        return self.at(count if found is False else elementwise.where(found, place, count))

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self._there_or(key, lambda: moved(default, ""))

    def get(self, key: Any, default: Any = None) -> Any:
        place, found = self.find(key)
        if found is False:
            return default
        return if_exp(found, lambda: self.at(place), lambda: default)

    def pop(self, key: Any, *default: Any) -> Any:
        place, found = self.find(key)
        if found is False and default:
            return default[0]

        def taken() -> Any:
            value = GrowingList.of(grown_of(self.held)).element(place)
            elements.note_taken(value)
            self._remove(place)
            return value

        if not default:
            self._check_there(key, found)
            return taken()
        self._loses()
        return if_exp(found, taken, lambda: default[0])

    def popitem(self) -> tuple[Any, Any]:
        self._loses()
        self._check_any("popitem(): dictionary is empty")
        count = grown_of(self.rows).count
        return self.rows.take_last(count), self.held.take_last(count)

    def _check_any(self, message: str) -> None:
        """Fail where there are no items."""
        size = self.size
        if not isinstance(size, int):
            some = elementwise.greater(as_tensor(size), 0)
            effects.assert_(some, exception=effects.Raise(KeyError, (message,)))
        elif not size:
            raise KeyError(message)

    def __delitem__(self, key: Any) -> None:
        place, found = self.find(key)
        self._check_there(key, found)
        self._remove(place)

    # --- all of them ---

    def keys(self) -> View:
        return View(self, "keys")

    def values(self) -> View:
        return View(self, "values")

    def items(self) -> View:
        return View(self, "items")

    def update(self, *others: Any, **named: Any) -> None:
        for other in (*others, named):
            table = isinstance(other, (dict, Dict))
            if other is not named or named:
                run(_filled, self, other.items() if table else other)

    def copy(self) -> Any:
        return self._like(self.members(), copied(self.held))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = self._like(copy.deepcopy(self.rows, memo), copy.deepcopy(self.held, memo))
        memo[id(self)] = made
        return made

    def _like(self, rows: Any, held: Any) -> Any:
        return type(self)(rows, held)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (dict, Dict)):
            return NotImplemented
        return run(_equal, self, as_dict(other))

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, (dict, Dict)):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        made = self._like(None, None)
        made.update(other)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self


class Defaults(Dict):
    """A defaultdict: what is read gets a value."""

    __slots__ = ("default_factory",)
    standing_for = collections.defaultdict

    def __init__(self, rows: Any = None, held: Any = None, factory: Any = None) -> None:
        super().__init__(rows, held)
        self.default_factory = factory

    def __getitem__(self, key: Any) -> Any:
        from graphify.autograph.operators.calls import call  # not at the top: it makes tables

        if self.default_factory is None:
            return super().__getitem__(key)
        return self._there_or(key, lambda: call(self.default_factory))

    def _like(self, rows: Any, held: Any) -> Any:
        return Defaults(rows, held, self.default_factory)


class Ordered(Dict):
    """An OrderedDict."""

    __slots__ = ()
    standing_for = collections.OrderedDict

    def popitem(self, last: bool = True) -> tuple[Any, Any]:
        if last:
            return super().popitem()
        self._loses()
        self._check_any("dictionary is empty")
        found = self.rows.element(0), GrowingList.of(grown_of(self.held)).element(0)
        self._remove(0)
        return found

    def move_to_end(self, key: Any, last: bool = True) -> None:
        if not last:
            raise refused("a dict", "one of them is moved to the front", "make a new dict")
        self[key] = self.pop(key)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, (collections.OrderedDict, Ordered)):
            raise refused("an OrderedDict", "its order is compared", "compare dict(a) == dict(b)")
        return super().__eq__(other)


class View(Listed):
    """The keys, values or items of a dict."""

    __slots__ = ("standing_for", "table", "what")

    def __init__(self, table: Dict, what: str) -> None:
        super().__init__()
        self.table, self.what = table, what
        self.standing_for = type(getattr({}, what)())

    @property
    def whole(self) -> List:
        return self.table.whole

    @property
    def size(self) -> Any:
        return self.table.size

    def members(self) -> Any:
        if self.what == "keys":
            return self.table.members()
        held = copied(self.table.held)
        return held if self.what == "values" else GrowingList.of(_paired(self.table))

    def gone_over(self) -> contextlib.AbstractContextManager[None]:
        return self.table.gone_over()

    def __iter__(self) -> Any:
        return iter(self.members())

    def __reversed__(self) -> Any:
        return reversed(self.members())

    def contains(self, value: Any) -> Any:
        if self.what == "keys":
            return self.table.contains(value)
        if self.what == "values":
            return self.members().contains(value)
        key, wanted = value
        place, found = self.table.find(key)
        if found is False:
            return False
        return if_exp(found, lambda: compared("==", self.table.at(place), wanted), lambda: False)

    def _with(self, name: str, other: Any) -> Any:
        if self.what != "keys":
            raise refused("a dict", f"its {self.what} are a set", "make a set of them")
        return getattr(_as_set(self), name)(other)

    def __or__(self, other: Any) -> Any:
        return self._with("union", other)

    def __and__(self, other: Any) -> Any:
        if isinstance(other, (set, frozenset)):  # they count as the first, on either side
            return self.__rand__(other)
        return self._with("intersection", other)

    def __sub__(self, other: Any) -> Any:
        return self._with("difference", other)

    def __xor__(self, other: Any) -> Any:
        return self._with("symmetric_difference", other)

    def __ror__(self, other: Any) -> Any:
        return _as_set(other) | self

    def __rand__(self, other: Any) -> Any:
        return _as_set(other) & self

    def __rsub__(self, other: Any) -> Any:
        return _as_set(other) - self

    def __rxor__(self, other: Any) -> Any:
        return _as_set(other) ^ self

    def __eq__(self, other: object) -> Any:
        if self.what == "values":
            return NotImplemented
        return self._with("__eq__", other)

    def __le__(self, other: Any) -> Any:
        return self._with("__le__", other)

    def __ge__(self, other: Any) -> Any:
        return self._with("__ge__", other)

    def __lt__(self, other: Any) -> Any:
        return self._with("__lt__", other)

    def __gt__(self, other: Any) -> Any:
        return self._with("__gt__", other)

    def __repr__(self) -> str:
        return text_of(self)


def _as_set(value: Any) -> Any:
    from graphify.autograph.operators.sets import as_set  # not at the top: it knows of views

    return as_set(value)


# --- the lists ------------------------------------------------------------------------------------


def _paired(table: Dict) -> Grown:
    """The items as the elements of one list."""
    keys, held = grown_of(table.rows), grown_of(table.held)
    elements.share(held.treedef)
    treedef = tree.TreeDef(tuple, (), (keys.treedef, held.treedef))
    kinds, buffers = (*keys.kinds, *held.kinds), (*keys.buffers, *held.buffers)
    return Grown(treedef, kinds, buffers, keys.count, cells.Room(cells.DOUBLING))


def copied(rows: Any) -> Any:
    """The values in a list of their own."""
    return GrowingList.of(grown_of(rows)).copy()


def as_dict(value: Any) -> Dict:
    """A dict of these items, in a trace."""
    if isinstance(value, Dict):
        return value
    made = Dict()
    made.update(value)
    return made


def by_value(key: Any) -> Any:
    """A key to sort by; for `counts.get` what gives the same wherever it gives no None."""
    table = getattr(key, "__self__", None)
    if not isinstance(table, Dict) or getattr(key, "__name__", "") != "get":
        return key
    return lambda k: Dict.__getitem__(table, k)


# --- written out: converted as anyone's functions are --------------------------------------------


def _filled(table: Any, pairs: Any) -> None:
    for key, value in pairs:
        table[key] = value


def _filled_with(table: Any, keys: Any, value: Any) -> None:
    for key in keys:
        table[key] = value


def _equal(one: Any, other: Any) -> Any:
    if len(one) != len(other):
        return False
    for key, value in one.items():
        if key not in other or compared("!=", other[key], value):
            return False
    return True


# --- how they are made ----------------------------------------------------------------------------


def dict_(*given: Any, **named: Any) -> Any:
    """The built-in dict, and dict displays."""
    if current_builder() is None or len(given) > 1:
        return builtins.dict(*given, **named)
    source = given[0] if given else ()
    if isinstance(source, Dict):
        made = Dict(source.members(), copied(source.held))
        made.update(**named)
        return made
    if hasattr(source, "keys"):
        pairs = [(key, source[key]) for key in source.keys()]
    else:
        pairs = elements_of(source)
    if are_known(pairs, lambda pair: pair[0]) and not apart.are_tables():
        return noted(builtins.dict(pairs, **named))
    made = Dict()
    made.update(pairs, **named)
    return made


def fromkeys(keys: Any, value: Any = None) -> Any:
    """`dict.fromkeys` in a trace."""
    if current_builder() is None:
        return builtins.dict.fromkeys(keys, value)
    keys = elements_of(keys)
    if are_known(keys) and not apart.are_tables():
        return noted(builtins.dict.fromkeys(keys, value))
    made = Dict()
    run(_filled_with, made, keys, value)
    return made


def defaults(*given: Any, **named: Any) -> Any:
    """`collections.defaultdict` in a trace."""
    if current_builder() is None:
        return collections.defaultdict(*given, **named)
    tables = isinstance(given[-1], Dict) if given else False
    if not (tables or apart.are_tables()) or named:
        return noted(KnownDefaults(*given, **named))
    made = Defaults(factory=given[0] if given else None)
    made.update(*given[1:])
    return made


def ordered(*given: Any, **named: Any) -> Any:
    """`collections.OrderedDict` in a trace."""
    if current_builder() is None or named:
        return collections.OrderedDict(*given, **named)
    made = dict_(*given)
    if isinstance(made, Dict):
        return Ordered(made.rows, made.held)
    return noted(collections.OrderedDict(made))


# --- as trees -------------------------------------------------------------------------------------


class _Nothing:
    """What is held in place of None."""

    __slots__ = ()


tree.register(_Nothing, lambda value: ((), []), lambda keys, children: None)
register(Dict, ("rows", "held"))
register(Ordered, ("rows", "held"))
register(Defaults, ("rows", "held"), ("default_factory",))
register_truth(View)
