"""A call within a `try` whose callee changes something before it fails.

    raised, error, step = attempt_call(lambda: (call(withdraw, account, s),), (), kinds, True)

Usually a call is one step: a `failure` op says whether it fails, and it is made where it does not
(see attempts.py). That will not do for a callee that has changed an array, an attribute or what is
printed by then, or whose exception holds more than a text. Such a callee runs in its ATTEMPTED form
(see converters/callees.py), in which an exception is a value and every statement is attempted for
itself: what it did before it failed has been done, and nothing after that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from graphify.autograph.converters.callees import ATTEMPTED
from graphify.autograph.operators.activations import all_active
from graphify.autograph.operators.asked import asking
from graphify.autograph.operators.attempts import Outcome, Partial, attempt, attempt_whole
from graphify.autograph.operators.calls import (
    DO_NOT_CONVERT,
    call,
    converted,
    is_convertible,
    remember_local,
    starts_bare,
)
from graphify.autograph.operators.generators import is_generator_function
from graphify.autograph.operators.heap import State
from graphify.autograph.operators.recursion import enter
from graphify.autograph.operators.section import Section
from graphify.autograph.operators.thrown import Thrown, classes, pending
from graphify.autograph.operators.undefined import certain
from graphify.ir.context import current_builder
from graphify.syntax.loader import is_marked


def attempt_call(
    body: Callable[..., State], state: State, kinds: Callable[[], Any], text: bool
) -> Outcome:
    """`attempt` at a statement that is a single call."""
    try:
        return attempt_whole(body, state, kinds, text, fields=True)
    except Partial:
        builder, taken = current_builder(), _Taken(classes(kinds()))
        assert builder is not None
        section = Section(builder, body)
        with section, asking(taken):
            done = body(*state)
        if taken.raised is None:
            section.take_back()
            return attempt(body, state, kinds, text)
        return taken.raised, taken.error, lambda: tuple(map(certain, done))


@dataclass
class _Taken:
    """Takes a call: the callee runs in its ATTEMPTED form, if it has one."""

    kinds: tuple[type, ...]
    raised: Any = None  # not yet taken
    error: Any = None

    def __call__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(function, MethodType):
            return self(function.__func__, (function.__self__, *args), kwargs)
        if isinstance(function, functools.partial):
            given = {**function.keywords, **kwargs}
            return self(function.func, (*function.args, *args), given)
        if isinstance(function, type) and starts_bare(function):
            bare: Any = object.__new__(function)
            remember_local(bare)
            self._run(type(bare).__init__, (bare, *args), kwargs)
            return bare
        if not isinstance(function, FunctionType):
            user_call = getattr(type(function), "__call__", None)  # noqa: B004
            if isinstance(user_call, FunctionType) and self._takes(user_call):
                return self._run(user_call, (function, *args), kwargs)
        elif self._takes(function):
            return self._run(function, args, kwargs)
        return call(function, *args, **kwargs)

    def _takes(self, function: FunctionType) -> bool:
        """Whether a function has that form: one that the trace itself has defined has, too."""
        if is_generator_function(function) or function.__code__.co_name == "<lambda>":
            return False
        ours = is_marked(function) and not getattr(function, DO_NOT_CONVERT, False)
        recurs = any(a.is_of(function) for a in all_active())
        return (ours or is_convertible(function)) and not recurs

    def _run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = converted(function, form=ATTEMPTED, consumer=self.kinds)
        self.raised, errors, value = enter(function, made, args, kwargs)
        self.error = Thrown(list(pending(*errors).rest))
        return value
