"""iter, next, and the built-in functions and itertools that make or take iterators.

    next(g), list(g), sum(v * v for v in g), enumerate(g), itertools.islice(g, 3)

What Python's own functions do for Python's values is left to them. Where a generator is concerned,
or an array that only the run knows, the definitions of prelude.py take their place: a generator
that is enumerated is a generator again, and the loop over it may be staged.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

from graphify.autograph.operators import prelude
from graphify.autograph.operators.calls import OVERLOADS, call, converted, is_convertible
from graphify.autograph.operators.cursors import Cursor, is_endless, sequence_of_items
from graphify.autograph.operators.generators import Generator
from graphify.autograph.operators.iteration import Items, items_of
from graphify.autograph.operators.ordering import has_staged
from graphify.autograph.operators.state import Unstageable
from graphify.autograph.operators.undefined import certain
from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.location import here
from graphify.tracing.lists import is_grown

Plain = Callable[..., Any]


class Once(Iterator[Any]):
    """An iterator of Python's: what it gives is decided while tracing, so that it is of use only
    where it was made. A staged loop around would find it exhausted in its second turn."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator, self.builder = iterator, current_builder()

    def __next__(self) -> Any:
        if current_builder() is not self.builder:
            name = type(self.iterator).__name__
            raise Unstageable(
                f"staged control flow, which may run any number of times, consumes an iterator "
                f"({name}) that was made before it",
                location=here(),
                remedy="make it in the block that consumes it, or make a list of it",
            )
        return builtins.next(self.iterator)


def once(value: Any) -> Any:
    python = isinstance(value, Iterator) and not is_lazy(value) and not isinstance(value, Once)
    return Once(value) if python and current_builder() is not None else value


def is_lazy(value: Any) -> bool:
    """Whether this is an iterator of ours."""
    return isinstance(value, (Generator, Cursor))


def is_symbolic(value: Any) -> bool:
    """Whether only the run knows the items."""
    return is_lazy(value) or isinstance(value, (Items, Tensor)) and items_of(value) is not None


def run(function: Plain, *args: Any, **kwargs: Any) -> Any:
    """A function of the prelude, converted."""
    assert isinstance(function, FunctionType)
    return certain(converted(function)(*args, **kwargs))


def lazily(function: Plain, *args: Any, **kwargs: Any) -> Any:
    """A generator of the prelude."""
    assert isinstance(function, FunctionType)
    if current_builder() is None:
        return converted(function, form="pull")(*args, **kwargs)
    return Generator(function, args, kwargs)


# --- what a for statement goes over ---------------------------------------------------------------


def opened(iterable: Any) -> Any:
    """An iterable whose iterator the user has written, as a generator; else the iterable."""
    if current_builder() is None:
        return iterable
    if _has(iterable, "__iter__"):
        iterable = call(type(iterable).__iter__, iterable)
    if isinstance(iterable, Cursor):
        return lazily(prelude.rest_of, iterable)
    return lazily(prelude.drained, iterable) if _has(iterable, "__next__") else iterable


def _has(thing: Any, method: str) -> bool:
    """Whether its class has a method of the user's by that name."""
    found = getattr(type(thing), method, None)
    return isinstance(found, FunctionType) and is_convertible(found)


def iter_(iterable: Any, *sentinel: Any) -> Any:
    """The built-in iter."""
    if current_builder() is None:
        return builtins.iter(iterable, *sentinel)
    if sentinel:
        return lazily(prelude.called_until, iterable, sentinel[0])
    if is_lazy(iterable):
        return iterable
    sequence = sequence_of_items(iterable)
    if sequence is not None:
        return Cursor(sequence)
    if _has(iterable, "__iter__"):
        return call(type(iterable).__iter__, iterable)
    return builtins.iter(iterable)


def next_(iterator: Any, *default: Any) -> Any:
    """The built-in next."""
    builder = current_builder()
    if isinstance(iterator, Cursor):
        return iterator.take(*default)
    if isinstance(iterator, Generator) and iterator.starts_staged():
        return run(prelude.first_of, iterator, _otherwise(default))
    if builder is None or isinstance(iterator, Generator):
        return builtins.next(iterator, *default)
    if _has(iterator, "__next__"):
        if default:
            return run(prelude.next_or, iterator, *default)
        return call(type(iterator).__next__, iterator)
    if builder.parent is not None and not isinstance(iterator, Once):
        raise Unstageable(
            f"next() of a {type(iterator).__name__} in staged control flow",
            location=here(),
            remedy="take iter() of a list or an array, or use a for statement",
        )
    return builtins.next(iterator, *default)


def _otherwise(default: tuple[Any, ...]) -> Plain:
    return lambda: builtins.next(builtins.iter(()), *default)


# --- what makes iterators -------------------------------------------------------------------------


def generate(iterable: Any, *functions: Any) -> Any:
    """A generator expression of one `for`."""
    if not isinstance(iterable, Iterable):
        builtins.iter(iterable)  # says that it is none
    return lazily(prelude.generate, iterable, *functions)


def flatten(iterables: Any) -> Any:
    """A generator expression of several `for`."""
    return lazily(prelude.flatten, iterables)


def unpacked(count: int, function: Plain) -> Plain:
    """A function of several arguments as one of what holds them."""

    def unpack(item: Any) -> Any:
        values = builtins.list(item)
        if builtins.len(values) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
        if builtins.len(values) < count:
            found = builtins.len(values)
            raise ValueError(f"not enough values to unpack (expected {count}, got {found})")
        return function(*values)

    return unpack


def _enumerate(plain: Plain, iterable: Any, start: Any = 0) -> Any:
    return lazily(prelude.enumerated, iterable, start)


def _map(plain: Plain, function: Any, *iterables: Any) -> Any:
    if builtins.len(iterables) == 1:
        return lazily(prelude.mapped, function, iterables[0])
    return lazily(prelude.starmapped, function, OVERLOADS[builtins.zip](*iterables))


def _filter(plain: Plain, function: Any, iterable: Any) -> Any:
    return lazily(prelude.filtered, function, iterable)


def _zip(plain: Plain, *iterables: Any, strict: bool = False) -> Any:
    """zip: one generator is followed, the others have to have items at positions."""
    places = [i for i, it in enumerate(iterables) if is_lazy(it) and not is_endless(it)]
    others = [None if i in places else sequence_of_items(it) for i, it in enumerate(iterables)]
    fixed = [is_endless(it) or other is not None for it, other in zip(iterables, others)]  # noqa: B905
    if builtins.len(places) != 1 or strict or fixed.count(False) > 1:
        return builtins.zip(*iterables, strict=strict)
    (place,) = places
    known = [it if is_endless(it) else other for it, other in zip(iterables, others)]  # noqa: B905
    return lazily(
        prelude.zipped,
        builtins.tuple(known[:place]),
        opened(iterables[place]),
        builtins.tuple(known[place + 1 :]),
    )


MAKERS: dict[str, tuple[Plain, int | None]] = {  # with the number of the iterable among arguments
    "enumerate": (_enumerate, 0),
    "map": (_map, None),
    "filter": (_filter, 1),
    "reversed": (lambda plain, iterable: builtins.reversed(iterable), 0),
    "zip": (_zip, None),
}


# --- what takes them ------------------------------------------------------------------------------


def all_items(iterable: Any) -> Any:
    from graphify.autograph.operators.comprehensions import each, list_of

    return list_of(lambda add: each(iterable, add))


def _set(plain: Plain, iterable: Any) -> Any:
    from graphify.autograph.operators.comprehensions import each, set_of

    return set_of(lambda add: each(iterable, add))


def _dict(plain: Plain, pairs: Any, **more: Any) -> Any:
    from graphify.autograph.operators.comprehensions import dict_of, each

    made = dict_of(lambda add: each(pairs, unpacked(2, add)))
    return {**made, **more} if more else made


def _sum(plain: Plain, iterable: Any, /, start: Any = 0) -> Any:
    return run(prelude.sum_of, iterable, start)


def _extreme(sign: str) -> Plain:
    def extreme(plain: Plain, iterable: Any, **kwargs: Any) -> Any:
        key = kwargs.get("key")
        empty = (lambda: kwargs["default"]) if "default" in kwargs else (lambda: plain(()))
        return run(prelude.best_of, iterable, sign, key, empty)

    return extreme


def _whole(plain: Plain, iterable: Any, *args: Any, **kwargs: Any) -> Any:
    return plain(all_items(iterable), *args, **kwargs)


def _sorted(plain: Plain, iterable: Any, *args: Any, **kwargs: Any) -> Any:
    known = isinstance(iterable, Tensor) and iterable.ndim and isinstance(iterable.dims[0], int)
    if known:
        return plain(iterable, *args, **kwargs)
    return OVERLOADS[builtins.sorted](all_items(iterable), *args, **kwargs)


TAKERS: dict[str, Plain] = {
    "sum": _sum,
    "any": lambda plain, iterable: run(prelude.any_of, iterable),
    "all": lambda plain, iterable: run(prelude.all_of, iterable),
    "max": _extreme(">"),
    "min": _extreme("<"),
    "list": lambda plain, iterable: all_items(iterable),
    "tuple": _whole,
    "sorted": _sorted,
    "set": _set,
    "dict": _dict,
}


_TESTS: dict[str, Callable[[Any], bool]] = {
    "map": lambda value: is_symbolic(value) or is_grown(value),
    "filter": lambda value: isinstance(value, Iterable),  # the run may decide which items are left
}


def with_iterators(name: str, plain: Plain) -> Plain:
    """A built-in function that also knows the iterators of this module."""
    if name in TAKERS:
        taken = TAKERS[name]

        def take(*args: Any, **kwargs: Any) -> Any:
            one = builtins.len(args) == 1 or builtins.len(args) > 1 and name not in ("max", "min")
            if one and (_has(args[0], "__iter__") or _has(args[0], "__next__")):
                args = (opened(args[0]), *args[1:])
            lazy = one and (is_lazy(args[0]) or isinstance(args[0], Items))
            if lazy or one and kwargs and is_symbolic(args[0]):
                return taken(plain, *args, **kwargs)
            if builtins.len(args) > 0 and isinstance(args[0], Iterator):
                if current_builder() is None:
                    return getattr(builtins, name)(*args, **kwargs)
                items = builtins.list(args[0])  # it is looked at more than once
                if name in ("any", "all") and has_staged(items):
                    _refuse_walrus(name, args[0])
                args = (items, *args[1:])
            return plain(*args, **kwargs)

        take.__name__ = name
        return take
    made, place = MAKERS[name]

    def make(*args: Any, **kwargs: Any) -> Any:
        concerned = args[place : place + 1] if place is not None else args
        test = _TESTS.get(name, is_lazy)
        if builtins.any(test(arg) for arg in concerned) and current_builder() is not None:
            return once(made(plain, *args, **kwargs))
        return once(plain(*args, **kwargs))

    make.__name__ = name
    return make


def _refuse_walrus(name: str, iterator: Iterator[Any]) -> None:
    """Refuse an expression that assigns names until only the run knows where."""
    code = getattr(iterator, "gi_code", None)
    steps = () if code is None else dis.get_instructions(code)
    if builtins.any(step.opname in ("STORE_DEREF", "STORE_GLOBAL") for step in steps):
        raise TraceError(
            f"{name}() ends where only the run knows, and its generator expression assigns a name "
            "by :=",
            location=here(),
            remedy="write a for statement that assigns the name and breaks",
        )


def install(operators: dict[str, Any]) -> None:
    """Put the functions of this module in the place of the built-in ones."""
    operators.update(iter=iter_, next=next_)
    for name in (*MAKERS, *TAKERS):
        operators[name] = with_iterators(name, operators[name])
        OVERLOADS[getattr(builtins, name)] = operators[name]
    OVERLOADS[builtins.iter], OVERLOADS[builtins.next] = iter_, next_
    plain = operators["contains"]

    def contains(container: Any, item: Any) -> Any:
        if is_lazy(container):
            return run(prelude.contains, container, item)
        return plain(container, item)

    operators["contains"] = contains


def refuse_to_give_away(value: Any) -> None:
    """An iterator goes on where it stands, and each run would have to begin anew."""
    python = isinstance(value, Iterator) and type(value).__module__ == "builtins"
    if python or isinstance(value, Once) or is_lazy(value) or isinstance(value, Items):
        what = "an iterator" if not isinstance(value, Generator) else repr(value)
        raise TraceError(
            f"the function gives away {what}",
            location=getattr(value, "made", None),
            remedy="make a list(...) of it",
        )
