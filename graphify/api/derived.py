"""Transformations of a `graphify.function`: compiled themselves, once per kind of arguments.

    slope = grad(f)          # f = graphify.function(...)
    slope(x)                 # traces f and its derivative as one graph, runs that from then on

Who decorates a function has it traced; a plain one runs as plain Python under a transformation, too
(it may print, or draw from `random`, at each call).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from graphify import tree
from graphify.api.function import DISTINCT_NUMBERS, Function
from graphify.ir.context import active_tapes, current_builder
from graphify.tracing.tracebacks import user_facing


class Derived(Function):
    """A transformed function that traces itself into graphs, as its original does."""

    def __init__(
        self, wrapper: Callable[..., Any], original: Function, places: int | Sequence[int]
    ) -> None:
        super().__init__(
            wrapper,
            autograph=original.autograph,
            reduce_retracing=original._distinct < DISTINCT_NUMBERS,
            dynamic=original._dynamic,
            engine=original.engine,
        )
        self._places = (places,) if isinstance(places, int) else tuple(places)

    @user_facing
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current_builder() is not None or active_tapes() or self._takes_numbers(args):
            return self._python_function(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def _takes_numbers(self, args: Sequence[Any]) -> bool:
        """Whether a derivative is by a number: it would be traced for each value anew."""
        for place in self._places:
            if not isinstance(place, int) or not -len(args) <= place < len(args):
                return True  # the wrapper says what is wrong
            leaves, _ = tree.flatten_arrays(args[place])
            if any(isinstance(leaf, (int, float, complex, np.generic)) for leaf in leaves):
                return True
        return False


def compiled(
    function: Any,
    make: Callable[[], Callable[..., Any]],
    what: tuple[Hashable, ...],
    places: Any = (),
) -> Callable[..., Any]:
    """What `make` makes of a function; the same object again where it is a `graphify.function`.

    Args:
        what: the transformation and its options.
        places: positions of the arguments that derivatives are by.
    """
    known_kind = type(function) in (Function, Derived)
    if not known_kind or not isinstance(places, (int, tuple, list)):
        return make()
    known: dict[Any, Derived] = function.__dict__.setdefault("_derived", {})
    key = (what, places if isinstance(places, int) else tuple(places))
    try:
        found = known.get(key)
    except TypeError:  # options that cannot be looked up
        return make()
    if found is None or found.engine != function.engine:
        found = known[key] = Derived(make(), function, places)
    return found
