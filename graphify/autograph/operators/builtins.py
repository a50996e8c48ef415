"""Python's built-in functions on staged values; on everything else they are Python's own."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.autograph.operators import (
    dicts,
    iteration,
    listrows,
    numbers,
    ordering,
    sets,
    texts,
)
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.calls import OVERLOADS, call
from graphify.autograph.operators.conditions import decider, has_decider, is_staged, truth
from graphify.autograph.operators.logical import and_, contains, not_, or_, python_bool
from graphify.autograph.operators.loops import for_
from graphify.autograph.operators.sharing import mark
from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.kinds import kinds_of
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core, effects, elementwise
from graphify.ops.shape import in_range, size_value
from graphify.tracing.capture import root_of
from graphify.tracing.lists import List
from graphify.tracing.places import log_contents

list = builtins.list
tuple: Any = builtins.tuple
dict = dicts.dict_
set = sets.set_
iter = builtins.iter
next = builtins.next
abs = builtins.abs
int = numbers.int
float = numbers.float
complex = numbers.complex
bool = numbers.bool
round = numbers.round
pow = numbers.pow
type = numbers.type
isinstance = numbers.isinstance
divmod = builtins.divmod
range = iteration.range
len = iteration.len
enumerate = iteration.enumerate
zip = iteration.zip
reversed = iteration.reversed

NUMBERS = (builtins.bool, builtins.int, builtins.float, builtins.complex, np.generic)

# --- output --------------------------------------------------------------------------------------


def print(
    *values: Any,
    sep: str | None = " ",
    end: str | None = "\n",
    file: Any = None,
    flush: builtins.bool = False,
) -> None:
    """print: of run-time values, or under staged control flow, an effect of the graph.

    With nothing but Python values at the top level of a function it runs while tracing, as any
    other Python side effect does.
    """
    builder = current_builder()
    staged = any(is_staged(v) or texts.has_symbols(v) for v in values)
    if builder is None or not (staged or builder.parent is not None):
        shown = values if builder is None else builtins.map(texts.known, values)
        builtins.print(*shown, sep=sep, end=end, file=file, flush=flush)
        return
    stream = _stream(builder, file)
    staged_print(values, " " if sep is None else sep, "\n" if end is None else end, stream)


def _stream(builder: Any, file: Any) -> str:
    """The name of the stream that each run is to print to.

    Raises:
        TraceError: it is a file, or the function itself has redirected the stream.
    """
    root = root_of(builder)
    streams = (sys.stdout, sys.stderr) if root is None else root.streams
    file = sys.stdout if file is None else file
    for name, stream in builtins.zip(("stdout", "stderr"), streams, strict=True):
        if file is stream:
            return name
    raise TraceError(
        "what only the run knows is printed to a file, or to a stream that is redirected",
        location=here(),
        remedy="print to sys.stdout or sys.stderr, redirect around the call, or return the values",
    )


def staged_print(values: Any, sep: str, end: str, stream: str) -> None:
    """Record a print of Python and run-time values."""
    parts = [texts.pieces_of(value) for value in values]
    tensors = [tensor for _, shown in parts for tensor in shown]
    if builtins.all(builtins.len(pieces) == 1 for pieces, _ in parts):
        text = effects.Text(builtins.tuple(pieces[0] for pieces, _ in parts), sep)
    else:
        spaced = [p for pieces, _ in parts for p in (sep, *pieces)]
        text = effects.Text(builtins.tuple(spaced[1:]), "")
    effects.print_(*tensors, text=text, end=end, stream=stream)


# --- over iterables -----------------------------------------------------------------------------


def min(*args: Any, **kwargs: Any) -> Any:
    return _extreme(builtins.min, "<", args, kwargs)


def max(*args: Any, **kwargs: Any) -> Any:
    return _extreme(builtins.max, ">", args, kwargs)


def _extreme(plain: Any, sign: str, args: Any, kwargs: Any) -> Any:
    values = args[0] if builtins.len(args) == 1 else args
    if builtins.isinstance(values, Tensor) and is_staged(values) and not kwargs:
        rows = iteration.items_of(values)
        assert rows is not None
        better, first = ordering.SIGNS[sign], rows.item(_first_place(plain, rows.length))
        return for_(
            values[1:], lambda row, best: (_choose(better, row, best),), (first,), ("best",)
        )[0]
    if builtins.isinstance(values, Tensor):
        return plain(*args, **kwargs)
    values, key = builtins.list(values), kwargs.get("key")
    ranks = values if key is None else [call(key, value) for value in values]
    if not ordering.may_depend_on_run(ranks):
        places = plain(builtins.range(builtins.len(values)), key=ranks.__getitem__, default=None)
        return plain(values, **kwargs) if places is None else values[places]
    return _first_extreme(sign, values, ranks)


def _first_place(plain: Any, length: Any) -> Any:
    """0, where there are elements; else the error is Python's."""
    if builtins.isinstance(length, builtins.int):
        return 0 if length else plain(())
    try:
        plain(())
    except ValueError as error:
        message = builtins.str(error)
    zero, count = core.strong(0), size_value(size=length)
    return in_range(zero, zero, count, error="ValueError", message=message)


def _first_extreme(sign: str, values: Any, ranks: Any) -> Any:
    """The first of the values with the largest, or least, rank."""
    best, rank = values[0], ranks[0]
    for value, new in builtins.zip(values[1:], ranks[1:], strict=True):
        wins = ordering.compared(sign, new, rank)
        if not is_staged(wins):
            best, rank = (value, new) if wins else (best, rank)
            continue
        same = value is new and best is rank
        best = _where(wins, value, best)
        rank = best if same else _where(wins, new, rank)
    return best


def _choose(better: Callable[[Any, Any], Any], new: Any, best: Any) -> Any:
    return _where(better(new, best), new, best)


def _where(test: Any, new: Any, best: Any) -> Any:
    """np.where; between Python numbers the result is a Python number, too."""
    if not builtins.all(builtins.isinstance(v, (Tensor, *NUMBERS)) for v in (new, best)):
        return if_exp(test, lambda: new, lambda: best)
    a, b = as_tensor(new), as_tensor(best)
    mixed = a.spec.weak != b.spec.weak and a.dtype != b.dtype  # Python's int may not fit the other
    if mixed or not all_numbers(a, b):  # 0-d arrays: the result is one of them, not a copy
        return if_exp(test, lambda: new, lambda: best)
    chosen = elementwise.where(truth(test), a, b)
    if a.spec.weak and b.spec.weak:
        chosen = core.cast(chosen, dtype=chosen.dtype, weak=True)
    mark(chosen, kinds_of(a) | kinds_of(b))
    return chosen


def all_numbers(*tensors: Tensor) -> builtins.bool:
    """Whether these are Python numbers and NumPy scalars."""
    return builtins.all(t.spec.weak or t._scalar for t in tensors)


def sum(iterable: Any, /, start: Any = 0) -> Any:
    if not (builtins.isinstance(iterable, Tensor) and is_staged(iterable) and iterable.dims):
        return builtins.sum(iterable, start)
    length = iterable.dims[0]

    def total() -> Any:
        first = start + iterable[0]
        return for_(iterable[1:], lambda row, total: (total + row,), (first,), ("total",))[0]

    if builtins.isinstance(length, builtins.int):
        return total() if length else start
    if iterable.ndim > 1:
        text = "sum(): of no rows Python gives the number 0; x.sum(axis=0) gives a row of zeros"
        effects.assert_(as_tensor(length) > 0, exception=effects.Raise(TraceError, (text,)))
        return total()
    return if_exp(as_tensor(length) > 0, total, lambda: start)


def any(iterable: Any) -> Any:
    return _joined_truth(iterable, builtins.any, or_)


def all(iterable: Any) -> Any:
    return _joined_truth(iterable, builtins.all, and_)


def _joined_truth(iterable: Any, plain: Callable[[Any], Any], join: Callable[..., Any]) -> Any:
    if builtins.isinstance(iterable, Tensor) and is_staged(iterable) and iterable.dims:
        vector = _vector(iterable, plain.__name__)
        return python_bool(getattr(vector, plain.__name__)())
    values: Any = builtins.list(iterable) if not builtins.isinstance(iterable, Tensor) else iterable
    if not builtins.any(is_staged(v) or has_decider(v) for v in values):
        return plain(values)
    return truth_of(join(*(lambda v=v: v for v in values)))


def truth_of(value: Any) -> Any:
    value = decider(value)
    return python_bool(truth(value)) if is_staged(value) else builtins.bool(value)


def _vector(value: Tensor, name: str) -> Any:
    if value.ndim != 1:
        raise ValueError(
            f"{name}(): the truth value of an array row is ambiguous; use np.{name}(x)"
        )
    return value


def map(function: Any, *iterables: Any) -> Any:
    return builtins.map(lambda *items: call(function, *items), *iterables)


def filter(function: Any, iterable: Any) -> Any:
    if function is None:
        return builtins.filter(None, iterable)
    return builtins.filter(lambda item: call(function, item), iterable)


def sorted(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    if (
        builtins.isinstance(iterable, Tensor)
        and is_staged(iterable)
        and key is None
        and iterable.ndim == 1
    ):
        ordered = listrows.ordered(as_tensor(iterable)[::1], builtins.bool(reverse))
        if not builtins.isinstance(ordered.dims[0], builtins.int):
            return OVERLOADS[builtins.list](ordered)
        found = builtins.list(ordered)
    else:
        found = ordering.sorted_(iterable, key=key, reverse=reverse)
    plain = current_builder() is None or builtins.type(found) is not builtins.list
    return found if plain else List(found)


def _sort(values: Any, *, key: Any = None, reverse: Any = False) -> None:
    """list.sort of a list that converted code has made."""
    if ordering.has_staged(builtins.list(values)) or key is not None:
        log_contents(values)
        values[:] = ordering.sorted_(values, key=key, reverse=reverse)
    else:
        List.sort(values, key=key, reverse=reverse)


OVERLOADS[List.sort] = _sort


# A built-in that reaches a call as a value (`apply(len, x)`) is overloaded, too.
OVERLOADS.update(
    {
        getattr(builtins, f.__name__): f
        for f in (
            print,
            int,
            float,
            complex,
            bool,
            round,
            pow,
            type,
            isinstance,
            min,
            max,
            sum,
            any,
            all,
            map,
            filter,
            sorted,
        )
    },
)
OVERLOADS.update({getattr(builtins, f.__name__): f for f in (range, len, enumerate, zip, reversed)})
OVERLOADS.update(
    {
        operator.contains: contains,
        operator.index: numbers.index,
        operator.not_: not_,
        operator.truth: numbers.bool,
    }
)
