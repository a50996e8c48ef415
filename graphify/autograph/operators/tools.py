"""itertools in a trace: the functions of prelude.py, and Python's own where all is known.

    itertools.takewhile(lambda v: v < s, x)      # Generator(prelude.takewhile, ...)
    itertools.product("ab", range(2))            # Once(itertools.product(...))

Imported for its effect: it tells `ag.call` what stands for what.
"""

from __future__ import annotations

import builtins
import itertools
from typing import Any

import numpy as np

from graphify.autograph.operators import prelude
from graphify.autograph.operators.calls import OVERLOADS, call
from graphify.autograph.operators.comprehensions import list_
from graphify.autograph.operators.generators import Generator
from graphify.autograph.operators.growing import refused
from graphify.autograph.operators.iterators import Plain, all_items, is_lazy, lazily, once
from graphify.autograph.operators.lists import GrowingList
from graphify.ir.tensor import Tensor


def _fromiter(iterable: Any, dtype: Any, count: int = -1, **like: Any) -> Any:
    items = all_items(iterable) if is_lazy(iterable) else list_(iterable)
    if isinstance(items, GrowingList) and not isinstance(items.grown.count, int):
        if count >= 0:
            raise refused("np.fromiter is given count", "take a slice of what it gives")
        return call(np.array, items, dtype)
    if not builtins.any(isinstance(item, Tensor) for item in items[:1]):
        return np.fromiter(items, dtype, count, **like)
    return call(np.array, items if count < 0 else items[:count], dtype=dtype)


def _islice(iterable: Any, *bounds: Any) -> Any:
    start, stop, step = (0, *bounds, 1) if builtins.len(bounds) == 1 else (*bounds, None, None)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    return lazily(prelude.islice, iterable, start, stop, step)


def _count(start: Any = 0, step: Any = 1) -> Any:
    made = lazily(prelude.count, start, step)
    if isinstance(made, Generator):
        made.counts = True
    return made


def _made_once(function: Plain) -> Plain:
    return lambda *args, **kwargs: once(function(*args, **kwargs))


def _of_prelude(function: Plain) -> Plain:
    return lambda *args, **kwargs: lazily(function, *args, **kwargs)


OVERLOADS.update(
    {
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
