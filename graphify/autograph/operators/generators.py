"""Generators: what a call of a generator function gives in a trace, and how it is consumed.

    squares = Generator(function, args, kwargs)
    next(squares)                       # pulled: Python's own generator, of converted code
    push(squares, Consumer(...))        # pushed: a `for` statement, which may be staged

See converters/generators.py for the forms of the code. A generator is at one place of its code at a
time, which a graph cannot hold: it is consumed in the block of code that made it, and one that a
staged `break` has left half-way is not taken up again.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NoReturn

from graphify.autograph.operators.conditions import is_staged
from graphify.autograph.operators.consumer import Consumer
from graphify.autograph.operators.heap import watch_cells
from graphify.autograph.operators.iteration import Items, items_of
from graphify.autograph.operators.state import Unstageable
from graphify.autograph.operators.undefined import certain
from graphify.autograph.operators.unknown import Ended
from graphify.errors import LeakedTracer, TraceError
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.tracing.capture import frame


def is_generator_function(function: FunctionType) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


class NotKnown(TraceError):
    """A generator that is pulled would have to decide what only the run knows."""


class Generator(Iterator[Any]):
    """A generator of a function that is converted when it is consumed.

    Args:
        function: a generator function, as the user wrote it.
        args, kwargs: what it was called with.
    """

    def __init__(self, function: FunctionType, args: Any, kwargs: Any) -> None:
        function(*args, **kwargs)  # raises what Python raises for wrong arguments
        self.function, self.args, self.kwargs = function, args, kwargs
        self.builder, self.made = current_builder(), here()
        self.status = "new"  # then "pulled" or "pushed", and "finished" or "left"
        self.running: Any = None
        self.value: Any = None  # of its return statement
        self.counts = False  # it is itertools.count(*args)

    def __repr__(self) -> str:
        return f"<generator {self.function.__qualname__}>"

    # --- pulled ---

    def __next__(self) -> Any:
        source = self._source()
        if source is not self:
            return next(source)
        if self.status == "finished":
            raise StopIteration
        if self.status == "new":
            self.status = "pulled"
            self.running = self._form("pull")(*self.args, **self.kwargs)
        try:
            return next(self.running)
        except StopIteration as end:
            self.status, self.value = "finished", end.value
            raise

    def send(self, value: Any) -> Any:
        """As next() for None; Python's meaning for anything else needs a generator of its own."""
        if value is None:
            return next(self)
        self._refuse("a value is sent into", "pass what it needs as an argument, or use an object")

    def throw(self, *error: Any) -> NoReturn:
        self._refuse("an exception is thrown into", "let the generator test for it")

    def close(self) -> None:
        """End the generator where it stands."""
        self._source()
        if self.running is not None:
            self.running.close()
        self.status = "finished"

    def starts_staged(self) -> bool:
        """Whether only the run knows what a new generator yields first."""
        if self.status != "new" or current_builder() is not self.builder:
            return False
        try:
            with frame("trial") as builder:
                log = watch_cells(builder, (self.function,))
                try:
                    next(Generator(self.function, self.args, self.kwargs))
                finally:
                    log()
        except NotKnown:
            return True
        except (Exception, Ended):  # to be met again
            return False
        return False

    # --- pushed ---

    def must_pull(self, kept: bool) -> bool:
        """Whether a `for` statement, too, has to take one value at a time; `kept`: it may leave
        half-way a generator that the program takes up again."""
        from graphify.autograph.pipeline import convert

        return kept or self.status == "pulled" or not convert(self.function).whole

    def push(self, consumer: Consumer) -> None:
        """Run to the end, or to where the consumer leaves."""
        source = self._source()
        if source is not self:
            return source.push(consumer)
        if self.status == "finished":
            return
        self.status = "pushed"
        function = self._form("each" if consumer.test is None else "until", consumer)
        value = certain(function(*self.args, **self.kwargs))
        wanted = consumer.goes_on()
        left = is_staged(wanted) or not wanted
        self.status, self.value = "left" if left else "finished", value

    def _form(self, form: str, consumer: Consumer | None = None) -> Any:
        from graphify.autograph.operators.calls import converted

        return converted(self.function, form=form, consumer=consumer)

    # --- refusals ---

    def _source(self) -> Generator:
        """The generator, if it may be consumed here. In a staged branch a new one goes on as its
        own twin: afterwards, only the run knows whether it is still new."""
        builder = current_builder()
        if not (self.builder is not None and self.builder.home.open and builder is not None):
            raise LeakedTracer(
                f"{self!r} is consumed outside the function that made it",
                location=self.made,
                remedy="consume it in the function, or return list(...) of it",
            )
        if self.status == "left":
            self._refuse(
                "a staged branch, or a loop that may have been left half-way, consumed",
                "make a new generator, or go on in the same loop",
            )
        if self.status == "pushed":
            raise ValueError("generator already executing")
        if builder is self.builder:
            return self
        if self.status != "new" or not self._only_branches(builder):
            self._refuse(
                "staged control flow, which may run any number of times, consumes",
                "make the generator in the block that consumes it",
            )
        self.status = "left"
        twin = Generator(self.function, self.args, self.kwargs)
        twin.made, twin.counts = self.made, self.counts
        return twin

    def _only_branches(self, builder: Builder | None) -> bool:
        """Whether a frame is reached by branches alone from where the generator was made."""
        while builder is not None and builder is not self.builder:
            if builder.name not in ("true", "false"):
                return False
            builder = builder.parent
        return builder is not None

    def _refuse(self, what: str, remedy: str) -> NoReturn:
        raise Unstageable(f"{what} {self!r}", location=here(), remedy=remedy)


# --- what generator functions call ---------------------------------------------------------------


def emit(consumer: Consumer, item: Any) -> Any:
    """Hand an item to the consumer; tells whether it has enough."""
    from graphify.autograph.operators.logical import not_

    consumer.emit(item)
    return not_(consumer.goes_on())


def returned(source: Any) -> Any:
    """What `yield from source` gives: the value of the return statement of a generator."""
    return source.value if isinstance(source, Generator) else None


def known(test: Any) -> Any:
    """The test of a statement that yields, in a generator that is pulled."""
    if is_staged(test):
        raise NotKnown(
            "whether the generator yields here is only known when the graph runs",
            location=here(),
            remedy="make a list of it first, zip(list(first), list(second)), or consume it with "
            "one `for` statement, not by next(), zip() or *, and yield outside `try` and `with`",
        )
    return test


def known_items(iterable: Any) -> Any:
    """What a loop that yields goes over, in a generator that is pulled."""
    items = items_of(iterable)
    if isinstance(items, Items):
        if not isinstance(items.length, int):
            known(Tensor(as_tensor(items.length)._value))
        return items.concrete()
    return iterable


def push(generator: Generator, body: Any, state: Any, names: Any, test: Any) -> tuple[Any, ...]:
    """The for statement over a generator."""
    consumer = Consumer(body, state, names, test)
    wanted = consumer.goes_on()
    if not is_staged(wanted) and not wanted:
        return tuple(state)
    generator.push(consumer)
    return consumer.result()
