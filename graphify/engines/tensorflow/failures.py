"""From an error of TensorFlow's back to the Python exception and the user's line.

A check of ours fails as `assertion failed: [graphify IndexError at a.py:12: index {} ...] [5]`;
any other error names the node that failed, whose name scope is the index of the user's line.
"""

from __future__ import annotations

import builtins
import re
from typing import Any
from urllib.parse import unquote

import numpy as np

from graphify import errors
from graphify.engines.tensorflow.frame import MARKER, Unit

_CHECK = re.compile(rf"assertion failed: \[{MARKER} (\w+) at [^\]]*?: ([^\]]*)\]((?: \[[^\]]*\])*)")
_HOST = re.compile(rf"{MARKER}-host-\d+")
_NODE = re.compile(r"\{\{node ([^}]*)\}\}|at node (\S+) defined")
_SCOPE = re.compile(r"(?:^|/)L(\d+)/")

# What a failing kernel says, and what NumPy says and raises in its place.
_KNOWN: list[tuple[str, type[Exception], str]] = [
    (r"not invertible", np.linalg.LinAlgError, "Singular matrix"),
    (
        r"Cholesky decomposition was not successful",
        np.linalg.LinAlgError,
        "Matrix is not positive definite",
    ),
    (
        r"decomposition was not successful",
        np.linalg.LinAlgError,
        "the decomposition did not converge",
    ),
]


def translate(error: Any, unit: Unit | None) -> BaseException:
    """The exception that an error of a running graph stands for; without a unit, without a line."""
    text = error.message or str(error)
    host = _HOST.search(text)
    location = _location(text, unit)
    if host and unit is not None and host.group() in unit.pending:
        return errors.at(unit.pending.pop(host.group()), location)
    check = _CHECK.search(text)
    if check:
        kind, template, values = check.groups()
        return errors.at(_class(kind)(_fill(unquote(template), values)), location)
    for pattern, known, message in _KNOWN:
        if re.search(pattern, text):
            return errors.at(known(message), location)
    return errors.at(_by_code(error)(_first_line(text)), location)


def _location(text: str, unit: Unit | None) -> Any:
    """The innermost line named by the first node that is named at all."""
    if unit is None:
        return None
    for names in _NODE.findall(text):
        indices = _SCOPE.findall("".join(names))
        if indices:
            return unit.locations[int(indices[-1])]
    return None


def _class(name: str) -> type[Exception]:
    found = (
        getattr(builtins, name, None)
        or getattr(errors, name, None)
        or getattr(np.linalg, name, None)
    )
    return found if isinstance(found, type) and issubclass(found, Exception) else RuntimeError


def _fill(template: str, values: str) -> str:
    for value in re.findall(r" \[([^\]]*)\]", values):
        template = template.replace("{}", value, 1)
    return template


def _by_code(error: Any) -> type[Exception]:
    """The Python class nearest to one of TensorFlow's status codes."""
    return {
        "InvalidArgumentError": ValueError,
        "OutOfRangeError": IndexError,
        "ResourceExhaustedError": MemoryError,
        "UnimplementedError": NotImplementedError,
    }.get(type(error).__name__, RuntimeError)


def _first_line(text: str) -> str:
    """What TensorFlow says went wrong, without where."""
    noise = ("[[", "Detected at", "Graph execution", "<stack traces", "\t")
    kept = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.strip().startswith(noise)
    ]
    return kept[0] if kept else text
