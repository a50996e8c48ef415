"""The defaultdicts of a trace: Python's own, which also change where they are read.

counts = Defaults(int)     # what `defaultdict(int)` makes in a trace
counts["a"]                # a new key: logged, so that staged control flow can see it
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from graphify import tree
from graphify.ir.context import current_builder
from graphify.tracing.places import log_contents


class Defaults(defaultdict[Any, Any]):
    __slots__ = ()

    def __missing__(self, key: Any) -> Any:
        if self.default_factory is None:
            raise KeyError(key)
        value = call(self.default_factory)
        log_contents(self)
        self[key] = value
        return value


Defaults.__name__ = Defaults.__qualname__ = "defaultdict"  # for messages: what it is to the user

call: Callable[[Any], Any] = lambda factory: factory()


def set_call_hook(hook: Callable[[Any], Any]) -> None:
    """How the user's function for new values is called (autograph/operators/calls.py)."""
    global call
    call = hook


def _open(value: Any) -> tree.Opened:
    return (value.default_factory, *value), list(value.values())


def _build(keys: tuple[Any, ...], children: list[Any]) -> defaultdict[Any, Any]:
    kind = defaultdict if current_builder() is None else Defaults
    return kind(keys[0], zip(keys[1:], children, strict=True))


tree.register(defaultdict, _open, _build)
tree.register_same(Defaults, defaultdict)
