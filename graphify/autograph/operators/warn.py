"""warnings.warn, np.errstate and np.seterr in converted code.

warnings.warn(f"norm {x.sum()}")    # at each run, if the run decides on it or on its text

Imported once for its effect on calls.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from graphify.autograph.operators import texts
from graphify.autograph.operators.calls import OVERLOADS
from graphify.errors import TraceError
from graphify.ir.bind import bind
from graphify.ir.context import current_builder
from graphify.ir.float_errors import refuse
from graphify.location import SourceLoc, here
from graphify.ops import effects
from graphify.ops.warn import warn as record
from graphify.tracing.capture import root_of


def warn(
    message: Any,
    category: type[Warning] | None = None,
    stacklevel: int = 1,
    source: Any = None,
    **more: Any,
) -> None:
    """`warnings.warn`: while tracing, where nothing about it is left to the run."""
    builder = current_builder()
    if isinstance(message, Warning):
        category, message = type(message), message.args[0] if message.args else ""
    if builder is None or builder.parent is None and not texts.has_symbols(message):
        warnings.warn(message, category, stacklevel + 1, source, **more)
        return
    root = root_of(builder)
    if root is not None and root.warnings is not warnings.filters and _is_ignored(category):
        return
    pieces, values = texts.pieces_of(message)
    place = _place(stacklevel)
    attrs = {
        "text": effects.Text(tuple(pieces), ""),
        "category": category or UserWarning,
        "filename": place.file if place is not None else "<unknown>",
        "line": place.line if place is not None else 0,
    }
    bind(record, values, attrs)


def _is_ignored(category: type[Warning] | None) -> bool:
    """Whether filters that the function itself has set for a while drop all such warnings.

    Raises:
        TraceError: they do something else with them.
    """
    kind = category or UserWarning
    action, text, _, module, line = next(f for f in warnings.filters if issubclass(kind, f[2]))
    if action == "ignore" and text is module is None and not line:
        return True
    raise TraceError(
        "a warning that is left to the run is given inside warnings.catch_warnings",
        location=here(),
        remedy='simplefilter("ignore") may be there; for the rest, set filters around the call',
    )


def _place(stacklevel: int) -> SourceLoc | None:
    """The line that a warning is of: that of the call, or of a caller's."""
    location = here()
    if location is None:
        return None
    chain = location.resolve().chain
    return chain[max(0, len(chain) - max(1, stacklevel))]


def errstate(**modes: Any) -> Any:
    """`np.errstate`: staged code computes as under "ignore".

    Raises:
        TraceError: something is to be raised or called.
    """
    refuse(modes, "errstate")
    return np.errstate(**modes)


def seterr(
    all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None
) -> Any:
    """`np.seterr`, likewise.

    Raises:
        TraceError: something is to be raised or called.
    """
    modes = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    refuse(modes, "seterr")
    return np.seterr(**modes)


OVERLOADS.update({warnings.warn: warn, np.errstate: errstate, np.seterr: seterr})
