"""Context managers around staged code.

    manager = ag.manager(f(x))                          # with f(x) as v:
    v = manager.enter()
    ...                                                 #     ...
    raised, error = manager.leave(raised, error_1)      # its __exit__, with what is pending

`__enter__` and `__exit__` are converted like any other call, so that they may change staged state.
Where only the run knows whether the body raises, `__exit__` is traced for each exception that may
be pending, and for none. The generator of a `@contextmanager` becomes a function that enters and
one that leaves (see converters/managed.py); one that is too involved for that stays a generator,
which can go on only once: it is refused where only the run knows how.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from graphify.autograph.converters.managed import MANAGED
from graphify.autograph.operators.branches import if_
from graphify.autograph.operators.calls import call, converted, is_convertible
from graphify.autograph.operators.conditions import is_staged, truth
from graphify.autograph.operators.logical import and_, not_
from graphify.autograph.operators.recursion import enter
from graphify.autograph.operators.thrown import Pending, Thrown, classes, pending
from graphify.autograph.operators.undefined import Undefined, certain
from graphify.errors import SyntaxUnsupported, TraceError
from graphify.ir.context import current_builder
from graphify.location import here

Kinds = Callable[[], Any]
NOTHING = Undefined("the exception")


def manager(value: Any, kinds: Kinds = lambda: ()) -> Manager:
    """What a `with` statement enters and leaves.

    Args:
        kinds: gives the classes that handlers around the statement catch.
    """
    if isinstance(value, contextlib._GeneratorContextManager):
        return _Generator(value, kinds)
    return Manager(value)


class Manager:
    """A context manager, entered and left through converted code."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def enter(self) -> Any:
        """`__enter__`."""
        return call(type(self.value).__enter__, self.value)

    def exit(self, error: BaseException | None) -> Any:
        """`__exit__`; what it gives says whether the exception is swallowed."""
        told = (None,) * 3 if error is None else (type(error), error, error.__traceback__)
        result = call(type(self.value).__exit__, self.value, *told)
        return result if is_staged(result) else bool(result)

    @property
    def kinds(self) -> Any:
        """The classes of exceptions that it is to be told of."""
        if isinstance(self.value, contextlib.suppress):
            return vars(self.value)["_exceptions"]
        leave = type(self.value).__exit__
        return BaseException if isinstance(leave, FunctionType) else ()

    def leave(self, raised: Any, *errors: Any) -> tuple[Any, Any]:
        """Leave the context with what may be pending; what is pending afterwards."""
        if not is_staged(raised):
            if not raised:
                self.exit(None)
                return False, NOTHING
            waiting = pending(*errors)
            every = list(waiting.rest)
            return not_(self._told(waiting)), Thrown(every)
        waiting = pending(*errors)
        every = list(waiting.rest)
        swallowed = self._staged(raised, waiting)
        return and_(lambda: raised, lambda: not_(swallowed)), Thrown(every)

    def _told(self, waiting: Pending) -> Any:
        """Tell it of whatever is pending; whether that is swallowed."""
        caught = waiting.catch(lambda: None, True)
        decide = lambda flag, yes, no: if_(
            flag, lambda _: yes(), lambda _: no(), (False,), ("swallowed",)
        )
        told = caught.branch(decide, lambda: (self.exit(caught.exception),), lambda: (False,))
        return told[0]

    def _staged(self, raised: Any, waiting: Pending) -> Any:
        """Leave it where the run knows whether something is pending; whether that is swallowed."""

        if isinstance(self.value, contextlib.ExitStack):  # it forgets what it has called
            raise TraceError(
                "only the run knows whether an ExitStack is left by an exception",
                location=here(),
                remedy="write a with statement for each context, and try and finally for callbacks",
            )

        def after_one(_: Any) -> tuple[Any]:
            return (self._told(waiting),)

        def after_none(_: Any) -> tuple[Any]:
            self.exit(None)
            return (False,)

        return if_(truth(raised), after_one, after_none, (False,), ("swallowed",))[0]


class _Generator(Manager):
    """What `@contextmanager` makes of a generator function: the user's own is converted."""

    def __init__(self, value: Any, caught: Kinds) -> None:
        super().__init__(value)
        self.made = (value.func, value.args, value.kwds)
        self.caught = caught
        self.after: Any = None  # the rest of the generator, if it is a function of its own

    def enter(self) -> Any:
        function, args, kwargs = self.made
        if current_builder() is None or not is_convertible(function):
            return self.value.__enter__()
        try:
            run = converted(function, form=MANAGED, consumer=classes(self.caught()))
        except SyntaxUnsupported:
            self.value.gen = converted(function, form="pull")(*args, **kwargs)
            self.value.func, self.value.args, self.value.kwds = self.made
            return self.value.__enter__()
        value, self.after = enter(function, run, args, kwargs)
        return certain(value)

    def exit(self, error: BaseException | None) -> Any:
        told = (None,) * 3 if error is None else (type(error), error, error.__traceback__)
        return bool(self.value.__exit__(*told))

    @property
    def kinds(self) -> Any:
        return BaseException

    def leave(self, raised: Any, *errors: Any) -> tuple[Any, Any]:
        if self.after is None:
            return super().leave(raised, *errors)
        raised, errors, _ = enter(self.after, self.after, (raised, pending(*errors)), {})
        return raised, Thrown(list(pending(*errors).rest))

    def _told(self, waiting: Pending) -> Any:
        if len(waiting.rest) == 1 and not is_staged(waiting.rest[0].flag):
            return super()._told(waiting)
        raise self._refused()

    def _staged(self, raised: Any, waiting: Pending) -> Any:
        raise self._refused()

    def _refused(self) -> TraceError:
        return TraceError(
            f"the generator of {self.made[0].__name__} is left by an exception that only the run "
            "knows of, and does more than to yield once",
            location=here(),
            remedy="write a class with __enter__ and __exit__, or handle it in a try statement "
            "inside the with statement",
        )
