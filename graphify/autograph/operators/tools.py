"""itertools in a trace: the functions of prelude.py, and Python's own where all is known.

    itertools.takewhile(lambda v: v < s, x)      # Generator(prelude.takewhile, ...)
    itertools.product("ab", range(2))            # Once(itertools.product(...))

Imported for its effect: it tells `ag.call` what stands for what.
"""

from __future__ import annotations

import builtins
import collections
import itertools
from typing import Any

import numpy as np

from graphify.autograph.operators import counts, deques, dicts, prelude, sets
from graphify.autograph.operators.calls import OVERLOADS, call
from graphify.autograph.operators.comprehensions import list_
from graphify.autograph.operators.generators import Generator
from graphify.autograph.operators.iterators import Plain, all_items, is_lazy, lazily, once
from graphify.autograph.operators.listcells import refused
from graphify.autograph.operators.lists import GrowingList
from graphify.ir.kinds import wrong_kind
from graphify.ir.tensor import Tensor
from graphify.ops.shape import as_int64, in_range
from graphify.tracing import defaults
from graphify.tracing.lists import is_staged_key


def _fromiter(iterable: Any, dtype: Any, count: int = -1, **like: Any) -> Any:
    items = all_items(iterable) if is_lazy(iterable) else list_(iterable)
    if isinstance(items, GrowingList) and not isinstance(items.grown.count, int):
        if count >= 0:
            raise refused("np.fromiter is given count", "take a slice of what it gives")
        return call(np.array, items, dtype)
    if not builtins.any(isinstance(item, Tensor) for item in items[:1]):
        return np.fromiter(items, dtype, count, **like)
    return call(np.array, items if count < 0 else items[:count], dtype=dtype)


_WRONG_STEP = "Step for islice() must be a positive integer or None."
_WRONG = "{} for islice() must be None or an integer: 0 <= x <= sys.maxsize."


def _islice(iterable: Any, *bounds: Any) -> Any:
    itertools.islice(
        (), *(1 if is_staged_key(b) else b for b in bounds)
    )  # raises what Python raises
    names = ("Stop argument",) if builtins.len(bounds) == 1 else ("Indices", "Stop argument")
    messages = [*map(_WRONG.format, names), _WRONG_STEP]
    bounds = tuple(_bound(b, m) for b, m in builtins.zip(bounds, messages, strict=False))
    start, stop, step = (0, *bounds, 1) if builtins.len(bounds) == 1 else (*bounds, None, None)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    return lazily(prelude.islice, iterable, start, stop, step)


def _bound(bound: Any, message: str) -> Any:
    """What `islice` is told: the run checks that it is no less than it may be."""
    if not is_staged_key(bound):
        return bound
    if bound.ndim or bound.dtype.kind not in "iu":
        raise wrong_kind(ValueError(message), bound)
    least = 1 if message == _WRONG_STEP else 0
    return in_range(as_int64(bound), least, 2**63 - 1, error="ValueError", message=message)


def _count(start: Any = 0, step: Any = 1) -> Any:
    made = lazily(prelude.count, start, step)
    if isinstance(made, Generator):
        made.counts = True
    return made


def _made_once(function: Plain) -> Plain:
    return lambda *args, **kwargs: once(function(*args, **kwargs))


def _of_prelude(function: Plain) -> Plain:
    return lambda *args, **kwargs: lazily(function, *args, **kwargs)


def _copied_counter(counter: Any) -> Any:
    own = type(counter)
    return counts.counter(counter) if own in _COUNTERS else own(counter)


_COUNTERS = (collections.Counter, counts.Counter)

OVERLOADS.update(
    {
        collections.deque: deques.made,
        builtins.dict: dicts.dict_,
        builtins.set: sets.set_,
        builtins.dict.fromkeys: dicts.fromkeys,
        collections.Counter: counts.counter,
        collections.OrderedDict: dicts.ordered,
        collections.defaultdict: dicts.defaults,
        builtins.dict.copy: dicts.dict_,
        builtins.set.copy: sets.set_,
        collections.Counter.copy: _copied_counter,
        collections.OrderedDict.copy: dicts.ordered,
        collections.defaultdict.copy: lambda made: dicts.defaults(made.default_factory, made),
        **sets.METHODS,
        np.fromiter: _fromiter,
        itertools.islice: _islice,
        itertools.count: _count,
        itertools.chain.from_iterable: _of_prelude(prelude.flatten),
        itertools.starmap: _of_prelude(prelude.starmapped),
        **{
            getattr(itertools, name): _made_once(getattr(itertools, name))
            for name in (
                "combinations",
                "combinations_with_replacement",
                "groupby",
                "permutations",
                "product",
                "zip_longest",
            )
        },
        **{
            getattr(itertools, function.__name__): _of_prelude(function)
            for function in (
                prelude.accumulate,
                prelude.chain,
                prelude.compress,
                prelude.cycle,
                prelude.dropwhile,
                prelude.filterfalse,
                prelude.pairwise,
                prelude.repeat,
                prelude.takewhile,
            )
        },
    }
)

defaults.set_call_hook(call)
