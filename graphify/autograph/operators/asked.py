"""The next call of converted code, asked for in another form; see attempted.py.

with asking(take):
    call(f, x)          # take(f, (x,), {})
    call(g, x)          # as always
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Take = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

_asked: ContextVar[Take | None] = ContextVar("graphify_asked", default=None)


@contextmanager
def asking(take: Take) -> Iterator[None]:
    """Hand the first call that is made inside to `take`."""
    token = _asked.set(take)
    try:
        yield
    finally:
        _asked.reset(token)


def asked() -> Take | None:
    """What takes this call; None for a call like any other."""
    take = _asked.get()
    if take is not None:
        _asked.set(None)
    return take
