"""Order of staged values: sequences compared item by item, `in`, sorted.

(d, i) < best                  # the first items that differ decide
k in {1, 3}, k in range(0, n)  # compared with each
sorted(pairs, key=lambda p: p[1], reverse=True)
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.calls import call
from graphify.autograph.operators.choosing import joined
from graphify.autograph.operators.conditions import decider, is_staged, truth
from graphify.autograph.operators.dicts import by_value
from graphify.autograph.operators.listrows import has_order
from graphify.autograph.operators.lookups import value_at
from graphify.errors import TraceError
from graphify.ir.sharing import link
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core, elementwise, shape
from graphify.ops import library as ops
from graphify.tracing import identity, special
from graphify.tracing.lists import is_grown

SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


METHODS = {sign: f"__{compare.__name__}__" for sign, compare in SIGNS.items()}

MOST_OBJECTS = 16  # that are sorted by methods of their own: each is compared with each

# --- comparison ---------------------------------------------------------------------------------


def compared(sign: str, a: Any, b: Any) -> Any:
    """A comparison of two values, also of sequences that hold staged ones."""
    if isinstance(a, list) and isinstance(b, list) and (is_grown(a) or is_grown(b)):
        from graphify.autograph.operators import listcompare  # not at the top: it calls functions

        return listcompare.compared(sign, a, b)
    kind = list if isinstance(a, list) and isinstance(b, list) else tuple
    told = special.method(a, METHODS[sign]) is not None
    if not told and isinstance(a, kind) and isinstance(b, kind) and may_depend_on_run((a, b)):
        return _equal(sign, a, b) if sign in ("==", "!=") else _ordered(sign, a, b)
    if not told and isinstance(a, dict) and isinstance(b, dict) and may_depend_on_run((a, b)):
        same: Any = a.keys() == b.keys()
        return _equal(sign, [*a.values()], [b[k] for k in a]) if same else sign == "!="
    return SIGNS[sign](a, b)


def has_staged(value: Any) -> bool:
    """Whether a container holds a staged value, at any depth."""
    if is_staged(value):
        return True
    if isinstance(value, dict):
        value = value.values()
    return isinstance(value, (list, tuple, type({}.values()))) and any(map(has_staged, value))


def may_depend_on_run(value: Any) -> bool:
    """Whether a comparison of a value may be left to the run: it holds staged values, or objects
    of the user's that compare by methods of their own."""
    if is_staged(value):
        return True
    if isinstance(value, dict):
        value = value.values()
    inside = isinstance(value, (list, tuple, type({}.values())))
    own = any(special.method(value, name) is not None for name in METHODS.values())
    return own or inside and any(map(may_depend_on_run, value))


def same(a: Any, b: Any) -> Any:
    """Whether two items count as equal, as a container has it: identical, or ==."""
    return True if a is b else compared("==", a, b)


def _equal(sign: str, a: Any, b: Any) -> Any:
    equal: Any = len(a) == len(b)
    for x, y in zip(a, b, strict=True) if equal else ():
        equal = _both(equal, same(x, y))
    if not is_staged(equal):
        return bool(equal) == (sign == "==")
    verdict = equal if sign == "==" else core.cast(equal, dtype=BOOL) == False  # noqa: E712
    return core.cast(verdict, dtype=BOOL, weak=True)


def _both(a: Any, b: Any) -> Any:
    if is_staged(a) and is_staged(b):
        return truth(a) & truth(b)
    return (b if a else False) if not is_staged(a) else (a if b else False)


def _ordered(sign: str, a: Any, b: Any) -> Any:
    """The first items that differ decide; where none does, the shorter one is less."""
    if not len(a) or not len(b):
        return SIGNS[sign](len(a), len(b))
    equal = same(a[0], b[0])
    if not is_staged(equal):
        return _ordered(sign, a[1:], b[1:]) if equal else compared(sign, a[0], b[0])
    rest, here_ = (lambda: _ordered(sign, a[1:], b[1:])), (lambda: compared(sign, a[0], b[0]))
    return if_exp(equal, rest, here_)


# --- membership -----------------------------------------------------------------------------------


def found_in(container: Any, item: Any) -> Any:
    """`item in container` where something is staged; None where Python is to search."""
    if isinstance(container, builtins.range) and is_staged(item):
        return _in_range(container, item)
    if isinstance(container, (dict, set, frozenset)) and is_staged(item):
        return one_of([key for key in container if _is_number(key)], item)
    if isinstance(container, (list, tuple)) and may_depend_on_run([container, item]):
        return one_of(list(container), item)
    return None


def one_of(values: list[Any], item: Any) -> Any:
    """Whether an item is one of these values: a Python bool, as `in` gives."""
    found: Any = False
    for value in values:
        match = same(value, item)
        if not is_staged(match):
            if match:
                return True
            continue
        found = truth(match) if found is False else found | truth(match)
    return core.cast(found, dtype=BOOL, weak=True) if is_staged(found) else found


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic))


def _in_range(numbers: builtins.range, item: Tensor) -> Any:
    if not len(numbers):
        return False
    low, high = sorted((numbers[0], numbers[-1]))
    step = abs(numbers.step)
    inside = truth(item >= low) & truth(item <= high)
    if item.dtype.kind == "c":
        return one_of(list(numbers), item)
    return core.cast(inside & truth((item - low) % step == 0), dtype=BOOL, weak=True)


# --- sorted ---------------------------------------------------------------------------------------


def sorted_(iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """sorted of a known number of items, some of which are staged."""
    items, key = list(iterable), by_value(key)
    keys = items if key is None else [call(key, item) for item in items]
    if isinstance(iterable, Tensor) and is_staged(iterable) and len(items) > 1:
        order = ops.python_argsort(*_columns(keys), reverse=bool(reverse))
        return [iterable[order[i]] for i in range(len(items))]  # rows are views
    if len(items) > 1 and not has_staged(keys) and may_depend_on_run(keys):
        return _sorted_by_methods(items, keys, reverse)
    if len(items) < 2 or not has_staged(keys):
        known = builtins.sorted(range(len(items)), key=lambda i: keys[i], reverse=reverse)
        return [items[i] for i in known]
    order = ops.python_argsort(*_columns(keys), reverse=bool(reverse))
    return _permuted(items, order)


def _sorted_by_methods(items: list[Any], keys: list[Any], reverse: Any) -> list[Any]:
    """Items in the order of objects of the user's: each pair is compared once, and the place of an
    item is the number of those that go before it."""
    if len(items) > MOST_OBJECTS:
        raise _unsortable(
            f"they are {len(items)} objects with a method __lt__",
            "sort by a key that is a number: key=lambda v: v.size",
        )
    places: list[Any] = [0] * len(items)
    for i, later in enumerate(keys):
        for j, earlier in enumerate(keys[:i]):
            pair = (earlier, later) if reverse else (later, earlier)
            first = decider(compared("<", *pair))  # whether the later one goes before the other
            first = truth(first) if is_staged(first) else bool(first)
            places[i] += elementwise.where(first, 0, 1) if is_staged(first) else int(not first)
            places[j] += elementwise.where(first, 1, 0) if is_staged(first) else int(first)
    if not any(map(is_staged, places)):
        return [items[place] for place in sorted(range(len(items)), key=places.__getitem__)]
    order = shape.stack([core.strong(as_tensor(place)) for place in places]).argsort()
    return [value_at(items, order[i]) for i in range(len(items))]


def _columns(keys: list[Any]) -> list[Tensor]:
    """What the keys compare by: vectors of numbers, the first one first."""
    leaves, structures = zip(*(tree.flatten(joined(key)) for key in keys), strict=True)
    if len(set(structures)) > 1:
        raise _unsortable("the keys differ in structure", "give all items a key of one structure")
    if not has_order(structures[0]):
        raise _unsortable("a key is no number", "sort by a key that is one: key=lambda v: v[0]")
    return [vector for column in zip(*leaves, strict=True) for vector in _compared(column)]


def _compared(column: Any) -> list[Tensor]:
    """What the keys at one position compare by: NumPy's complex numbers by their real parts first;
    Python's have no order."""
    vector = _vector(column)
    if vector.dtype.kind != "c" or all(resolve(as_tensor(value)).spec.weak for value in column):
        return [vector]
    return [elementwise.real(vector), elementwise.imag(vector)]


def _vector(column: Any) -> Tensor:
    tensors = [resolve(as_tensor(value)) for value in column if _is_number(value) or _tensor(value)]
    if len(tensors) < len(column) or any(t.dims for t in tensors):
        raise _unsortable("a key is no number", "sort by a key that is one: key=lambda v: v.sum()")
    dtype = np.result_type(*(t.dtype for t in tensors))
    return shape.stack([core.to_dtype(core.strong(t), dtype) for t in tensors])


def _tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _unsortable(why: str, remedy: str) -> TraceError:
    return TraceError(
        f"items are sorted in an order that only the run knows, and {why}",
        location=here(),
        remedy=remedy,
    )


def _permuted(items: list[Any], order: Tensor) -> list[Any]:
    leaves, structures = zip(*(tree.flatten(item) for item in items), strict=True)
    if len(set(structures)) > 1:
        raise _unsortable("the items differ in structure", "make them alike")
    places = [order[i] for i in range(len(items))]
    columns = [_picked(column, places) for column in zip(*leaves, strict=True)]
    rows = range(len(items))
    made = [structures[0].unflatten([column[i] for column in columns]) for i in rows]
    identity.picked(made, items)
    return made


def _picked(column: Any, places: list[Tensor]) -> list[Any]:
    """The leaves at one position of all items, in their new order."""
    if all(value is column[0] for value in column):
        return list(column)
    if not all(_is_number(v) or _tensor(v) for v in column):
        raise _unsortable("they hold what is no number", "sort numbers, and their places with them")
    tensors = [resolve(as_tensor(value)) for value in column]
    numbers = [
        t.spec.weak or _is_number(v) or v._scalar for v, t in zip(column, tensors, strict=True)
    ]
    weak = {t.spec.weak for t in tensors}  # Python's numbers among NumPy's scalars become such
    alike = len({t.dtype for t in tensors}) == 1 and (len(weak) == 1 or all(numbers))
    if any(t.dims for t in tensors) or not alike:
        raise _unsortable(
            "they hold arrays, or numbers of several kinds",
            "sort the places: order = sorted(range(n), key=...), then rows[order[i]]",
        )
    together = shape.stack([core.strong(t) for t in tensors])
    found = [together[place] for place in places]
    if weak == {True}:
        return [core.cast(f, dtype=f.dtype, weak=True) for f in found]
    if not all(numbers):  # each is one of the arrays, no copy
        for one in found:
            one._scalar = False
            for other in column:
                if _tensor(other) and not other._scalar:
                    link(one, other, None)
    return found
