"""Names that may not be bound: `Undefined` before they are, `Maybe` when a run decides.

y = Undefined("y")     # y is assigned on one path only
defined(y)             # raises UnboundLocalError, as reading y would
"""

from __future__ import annotations

from typing import Any

from graphify.ir.tensor import Tensor
from graphify.ops import effects

RESULT = "what is returned"  # the name of what a function returns, before it does


class Undefined:
    """A local name that is not bound."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"


class Maybe:
    """A name bound on some paths: the value there, and a staged truth value that says so."""

    __slots__ = ("name", "value", "bound")

    def __init__(self, name: str, value: Any, bound: Tensor) -> None:
        self.name, self.value, self.bound = name, value, bound


class Unreachable:
    """The result of a branch that always raises; joins with anything."""

    __slots__ = ()


UNREACHABLE = Unreachable()


def defined(value: Any) -> Any:
    """`value`, or UnboundLocalError: now if it is known, when the run gets here if not."""
    if isinstance(value, Undefined):
        raise UnboundLocalError(_message(value.name))
    if isinstance(value, Maybe):
        error = effects.Raise(UnboundLocalError, (_message(value.name),))
        effects.assert_(value.bound, exception=error)
        return value.value
    return value


def certain(value: Any) -> Any:
    """The value of a name that the converter itself knows to be bound (the user's own reads go
    through `defined`): a return value, under the flag that says it was set."""
    return value.value if isinstance(value, Maybe) else value


def settled(value: Any) -> Any:
    """The value of a name that is bound where the body of a `try` has come to its end; where it is
    not, no run comes there."""
    return UNREACHABLE if isinstance(value, Undefined) else certain(value)


def _message(name: str) -> str:
    return f"cannot access local variable '{name}' where it is not associated with a value"
