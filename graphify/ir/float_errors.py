"""What NumPy is told to do where floats overflow or divide by zero: graphs compute as under
"ignore".

    np.seterr(divide="raise")
    staged(x)                  # TraceError: it would go on with inf, silently

"ignore" and "warn" pass. Asked at each call and for each op recorded, so the state that was last
looked at is remembered, in a place where machine code can compare with it.
"""

from __future__ import annotations

import ctypes
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy._core import umath

from graphify.errors import TraceError
from graphify.location import here

# NumPy's own variable; each np.errstate and np.seterr puts another object into it.
STATE: ContextVar[Any] = umath._extobj_contextvar
HARMLESS = ctypes.c_void_p()  # the address of the last one that was looked at and passed
_kept: list[Any] = []  # that object, so that no other one comes to be at its address


def check() -> None:
    """Refuse to go on where floats shall raise or call something.

    Raises:
        TraceError: np.errstate or np.seterr says so.
    """
    state = STATE.get()
    if id(state) != HARMLESS.value:
        refuse(dict(np.geterr()), "np.errstate")
        HARMLESS.value = id(state)
        _kept[:] = [state]


def refuse(modes: dict[str, Any], what: str) -> None:
    """Raise an error for the first of some modes that says something is to be raised or called."""
    for name, mode in modes.items():
        if mode not in ("ignore", "warn", None):
            raise TraceError(
                f"{what}: {name}={mode!r} has no meaning in staged code, which goes on with "
                "inf and nan",
                location=here(),
                remedy='test with np.isfinite and raise; or call it under np.errstate(all="ignore")'
                ", or unstaged",
            )
