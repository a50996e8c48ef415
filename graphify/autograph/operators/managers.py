"""Context managers around staged code.

    manager = ag.manager(f(x))                          # with f(x) as v:
    v = manager.enter()
    ...                                                 #     ...
    raised, error = manager.leave(raised, error_1)      # its __exit__, with what is pending

`__enter__` and `__exit__` are converted like any other call, so that they may change staged state.
Where only the run knows whether the body raises, `__exit__` is traced for each exception that may
be pending, and for none. The generator of a `@contextmanager` can go on only once: it is refused
where the two paths would differ inside it.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from graphify.autograph.operators.branches import if_
from graphify.autograph.operators.calls import call, converted, is_convertible
from graphify.autograph.operators.conditions import is_staged, truth
from graphify.autograph.operators.logical import and_, not_
from graphify.autograph.operators.thrown import Pending, Thrown, pending
from graphify.autograph.operators.undefined import Undefined
from graphify.errors import TraceError
from graphify.ir.context import current_builder
from graphify.location import here

NOTHING = Undefined("the exception")


def manager(value: Any) -> Manager:
    """What a `with` statement enters and leaves."""
    if isinstance(value, contextlib._GeneratorContextManager):
        return _Generator(value)
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
            return self.value._exceptions  # type: ignore[attr-defined]
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

        def after_one(_: Any) -> tuple[Any]:
            return (self._told(waiting),)

        def after_none(_: Any) -> tuple[Any]:
            self.exit(None)
            return (False,)

        return if_(truth(raised), after_one, after_none, (False,), ("swallowed",))[0]


class _Generator(Manager):
    """What `@contextmanager` makes of a generator function: the user's own is converted."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.made = (value.func, value.args, value.kwds)

    def enter(self) -> Any:
        function, args, kwargs = self.made
        if current_builder() is not None and is_convertible(function):
            self.value.gen = converted(function, form="pull")(*args, **kwargs)
            self.value.func, self.value.args, self.value.kwds = self.made
        return self.value.__enter__()

    def exit(self, error: BaseException | None) -> Any:
        told = (None,) * 3 if error is None else (type(error), error, error.__traceback__)
        return bool(self.value.__exit__(*told))

    @property
    def kinds(self) -> Any:
        return () if self._form() == "after" else BaseException

    def _told(self, waiting: Pending) -> Any:
        if len(waiting.rest) == 1 and not is_staged(waiting.rest[0].flag):
            return super()._told(waiting)
        return self._as_any("finally", lambda: self.exit(None), lambda: False)

    def _staged(self, raised: Any, waiting: Pending) -> Any:
        none = lambda swallowed: (self.exit(None),)
        rest = lambda: if_(truth(raised), lambda _: (False,), none, (False,), ("swallowed",))[0]
        return self._as_any("finally", lambda: self.exit(None), rest)

    def _as_any(self, same: str, both: Callable[[], Any], rest: Callable[[], Any]) -> Any:
        """What it does for any exception: the same as for none, or else nothing."""
        form = self._form()
        if form == same:
            return both()
        if form != "after":
            raise TraceError(
                f"the generator of {self.made[0].__name__} handles an exception that only the run "
                "knows of",
                location=here(),
                remedy="write a class with __enter__ and __exit__, or handle it in a try statement "
                "inside the with statement",
            )
        return rest()

    def _form(self) -> str:
        """What the generator does when its `yield` raises: "finally" if it runs the same code as
        otherwise, "after" if it runs nothing, "" if it may do anything."""
        with contextlib.suppress(OSError, TypeError, SyntaxError):
            text = textwrap.dedent(inspect.getsource(inspect.unwrap(self.made[0])))
            body = ast.parse(text).body[0].body  # type: ignore[attr-defined]
            return _form_of(body) if _count(body) == 1 else ""
        return ""


def _count(body: Sequence[ast.AST]) -> int:
    yields = (ast.Yield, ast.YieldFrom)
    return sum(isinstance(n, yields) for node in body for n in ast.walk(node))


def _form_of(body: Sequence[Any]) -> str:
    (index,) = (i for i, node in enumerate(body) if _count([node]))
    node, last = body[index], index == len(body) - 1
    if isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign)):
        return "after"
    if isinstance(node, ast.Try) and not node.handlers and _count(node.body):
        inner = node.body[-1]
        return "finally" if last and isinstance(inner, ast.Expr) and _count([inner]) else ""
    return ""
