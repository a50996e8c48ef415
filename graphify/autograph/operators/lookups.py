"""Items of dicts, tuples and ranges by a key that only the run knows.

item({0: x, 2: y}, k)          # the place of k among the keys, and the value there;
                               # KeyError, when the run gets here, if it is none of them
replace(counts, k, counts[k] + 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.choice import Choice
from graphify.autograph.operators.choosing import apply
from graphify.autograph.operators.conditions import is_staged
from graphify.autograph.operators.iteration import line_of
from graphify.autograph.operators.raising import raise_
from graphify.autograph.operators.tables import depends, refuse_new
from graphify.autograph.operators.undefined import Unreachable
from graphify.autograph.operators.unknown import Ended
from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_index
from graphify.location import here
from graphify.numpy._table import FUNCTIONS
from graphify.ops import core, effects, elementwise
from graphify.tracing import apart, lists
from graphify.tracing.places import log_contents

NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)
MOST_KEYS = 64  # of a dict that is changed
MOST_VALUES = 32  # that are told apart one by one


def item(table: Any, key: Any) -> Any:
    """`table[key]`."""
    if current_builder() is None or type(table) is Choice:
        return table[key]
    if isinstance(table, range):
        key = as_index(key)
    if type(key) is Choice and isinstance(table, (dict, tuple)):
        return apply(item, (table, key), {})
    if not is_staged(key):
        if isinstance(table, dict) and depends(key):
            refuse_new(table)
        return table[key]
    if key.spec.weak and key.dtype.kind == "b" and isinstance(table, (tuple, list)):
        key = core.cast(key, dtype=np.dtype(np.int64), weak=True)  # Python's True is 1
    if type(table) is tuple and key.ndim == 0 and key.dtype.kind in "iu":
        count = len(table)
        inside = elementwise.logical_and(key >= -count, key < count)
        effects.assert_(inside, exception=effects.Raise(IndexError, ("tuple index out of range",)))
        return value_at(list(table), elementwise.where(key < 0, key + count, key))
    if isinstance(table, range):
        return line_of(table)[key]
    if isinstance(table, dict) and type(table).__getitem__ is dict.__getitem__:
        missing = getattr(type(table), "__missing__", None)
        absent = lambda: refuse_new(table) if missing else raise_(KeyError(key))
        return _found(table, key, absent, raises=True)
    return table[key]


def indexed(obj: Any) -> Any:
    """NumPy's `r_`, `c_`, `mgrid` or `ogrid`, which a trace has of its own."""
    try:
        return obj if current_builder() is None else FUNCTIONS.get(obj, obj)
    except TypeError:  # not hashable, so none of these
        return obj


def get(table: Any, key: Any, default: Any = None) -> Any:
    """`table.get(key, default)`."""
    if current_builder() is not None and isinstance(table, dict):
        if type(key) is Choice:
            return apply(get, (table, key, default), {})
        if is_staged(key):
            return _found(table, key, lambda: default)
        if depends(key):
            refuse_new(table)
    from graphify.autograph.operators.calls import call  # they change items by `replace`

    return call(table.get, key) if default is None else call(table.get, key, default)


def replace(table: dict[Any, Any], key: Tensor, value: Any) -> None:
    """`table[key] = value`, where the run has found the key."""
    keys, _ = _candidates(table, key)
    if len(keys) > MOST_KEYS:
        raise TraceError(
            f"a dict of {len(keys)} keys is changed at one that only the run knows",
            location=here(),
            remedy="keep the values in an array, with np.searchsorted for the place of a key",
        )
    log_contents(table)
    for known in keys:
        before = table[known]
        table[known] = if_exp(elementwise.equal(key, known), lambda: value, lambda: before)  # noqa: B023


def _found(table: dict[Any, Any], key: Tensor, absent: Any, raises: bool = False) -> Any:
    """The value of a key, or what `absent` gives, unless it raises."""
    keys, numbers = _candidates(table, key)
    if not keys:
        if isinstance(value := absent(), Unreachable):
            raise Ended
        return value
    matches = elementwise.equal(numbers, key)
    place = core.cast(matches.argmax(), dtype=np.dtype(np.int64), weak=True)
    values = [table[known] for known in keys]
    if raises and apart.is_kept() and apart.can_change(values):  # a branch would give copies
        if_exp(matches.any(), lambda: None, absent)
        return value_at(values, place)
    return if_exp(matches.any(), lambda: value_at(values, place), absent)


def value_at(values: list[Any], place: Tensor) -> Any:
    """One of some values: numbers are an array, others are told apart one by one."""
    if len(values) == 1:
        return values[0]
    if apart.is_kept() and apart.can_change(values):
        return Choice(core.cast(place, dtype=np.dtype(np.int64), weak=True), values)
    if all(isinstance(v, NUMBERS) or isinstance(v, Tensor) and not v.dims for v in values):
        return lists.growing(values)[place]
    if len(values) > MOST_VALUES:
        raise TraceError(
            f"one of {len(values)} values that are no numbers is looked up by a key that only the "
            "run knows",
            location=here(),
            remedy="keep them in one array, and look up its row",
        )
    first, *rest = values
    others = lambda: value_at(rest, place - 1)
    return if_exp(elementwise.equal(place, 0), lambda: first, others)


def _candidates(table: dict[Any, Any], key: Tensor) -> tuple[list[Any], Any]:
    """The keys that a run-time number may be equal to, also as an array."""
    if key.ndim or not (key.spec.weak or key._scalar):
        raise TypeError("unhashable type: 'numpy.ndarray'")
    keys: list[Any] = [known for known in table if isinstance(known, NUMBERS)]
    numbers = np.asarray(keys)
    if numbers.dtype == object:
        keys = [known for known in keys if abs(known) < 2**63]
        numbers = np.asarray(keys)
    return keys, numbers
