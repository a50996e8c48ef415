"""The calls of the user's functions that are being traced, one inside the other.

with active(Activation(f, converted_f, (x,), {}, builder)):
    ...                    # all_active()[-1] is this call
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from graphify.autograph.operators.arguments import Arguments
from graphify.ir.graph import Builder
from graphify.location import enter_call, leave_call

if TYPE_CHECKING:
    from graphify.autograph.operators.graph_functions import Recursion


@dataclass(slots=True, eq=False)
class Activation:
    """A call of a function of the user's that is being traced."""

    function: FunctionType
    run: Callable[..., Any]  # what is called: the function's converted form
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    builder: Builder
    recursion: Recursion | None = None  # set where the function is traced by itself
    _bound: Arguments | None = None
    _opened: Arguments | None = None

    @property
    def code(self) -> CodeType:
        return self.run.__code__

    def is_of(self, function: FunctionType) -> bool:
        """Whether it is a call of this function: of this code, and with these very cells."""
        if self.function is function:
            return True
        mine, theirs = self.function.__closure__ or (), function.__closure__ or ()
        return self.function.__code__ is function.__code__ and all(
            a is b for a, b in zip(mine, theirs, strict=True)
        )

    def is_outside(self, builder: Builder) -> bool:
        """Whether a staged condition or loop lies between this call and the frame."""
        if self.builder is builder:
            return False
        outer = builder.parent
        while outer is not None and outer is not self.builder:
            outer = outer.parent
        return outer is not None

    def can_bind(self) -> bool:
        try:
            return self.bound is not None
        except (TypeError, ValueError):  # the call itself says what is wrong
            return False

    @property
    def bound(self) -> Arguments:
        if self._bound is None:
            self._bound = Arguments.of(self.run, self.args, self.kwargs)
        return self._bound

    @property
    def opened(self) -> Arguments:
        """The arguments with lists and dicts taken apart."""
        if self._opened is None:
            self._opened = Arguments.of(self.run, self.args, self.kwargs, opened=True)
        return self._opened

    def taken_apart(self, opened: bool) -> Arguments:
        return self.opened if opened else self.bound


_active: ContextVar[tuple[Activation, ...]] = ContextVar("graphify_active", default=())


@contextmanager
def active(call: Activation) -> Iterator[None]:
    token, place = _active.set((*_active.get(), call)), enter_call()
    try:
        yield
    finally:
        leave_call(place)
        _active.reset(token)


def all_active() -> tuple[Activation, ...]:
    """The calls that are being traced, the outermost first."""
    return _active.get()
