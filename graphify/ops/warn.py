"""warnings.warn at the run: an effect, in program order, with run-time values in its text.

The warning is of the user's line, so that filters by module and "once per line" work as they do in
plain Python.
"""

from __future__ import annotations

import warnings
from typing import Any

from graphify.ir.op import defop
from graphify.ops.effects import Text, no_result

_registry: dict[Any, Any] = {}  # which warnings were shown, by line, as the filters ask


def _warn_eval(
    *values: Any, text: Text, category: type[Warning], filename: str, line: int
) -> tuple[()]:
    warnings.warn_explicit(text.format(values), category, filename, line, registry=_registry)
    return ()


warn = defop(
    "warn",
    spec=no_result,
    eval=_warn_eval,
    effects=True,
    tf="warn",
    extra={"tuple": True},
    doc="warns as Python's warnings.warn does",
)
