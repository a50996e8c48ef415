"""Why a call needs a trace of its own, in words.

shape_cause(call, concrete)    # "argument `x`, axis 0: 3 -> 4"
"""

from __future__ import annotations

from typing import Any

from graphify.api.concrete import ConcreteFunction
from graphify.api.structures import shape_text
from graphify.tracing.signature import SWITCHES, ArrayKey, Call, NumberKey, Pattern


def signature_text(call: Call, pattern: Pattern) -> str:
    shapes = dict(zip(call.positions, pattern.dims, strict=True))
    parts = []
    for position, key in enumerate(call.key[1]):
        name = call.name(position)
        if isinstance(key, ArrayKey):
            shape = shapes.get(position)
            text = shape_text(shape) if shape is not None else "same array"
            parts.append(f"{name}: {key.dtype.name}{text}")
        elif isinstance(key, NumberKey):
            parts.append(f"{name}={key.text}")
        else:
            value = call.leaves[position]
            parts.append(
                f"{name}={value!r:.40}" if isinstance(value, (str, bool, type(None))) else name
            )
    return ", ".join(parts)


def shape_cause(call: Call, concrete: ConcreteFunction) -> str:
    for position, dims, shape in zip(
        call.positions, concrete.pattern.dims, call.shapes, strict=True
    ):
        for axis, (old, new) in enumerate(zip(dims, shape, strict=True)):
            if old != new and isinstance(old, int):
                return f"argument `{call.name(position)}`, axis {axis}: {old} -> {new}"
    return "sizes that were equal differ"


def key_cause(call: Call, concrete: ConcreteFunction) -> str:
    old, new = concrete._keys, call.key
    if old[0] != new[0] or len(old[1]) != len(new[1]):
        return "arguments of another structure"
    for position, (before, after) in enumerate(zip(old[1], new[1], strict=True)):
        if before != after:
            return f"argument `{call.name(position)}`: {_key_text(before)} -> {_key_text(after)}"
    for name, before, after in zip(SWITCHES, old[2:], new[2:], strict=True):
        if before != after:
            return f"switch `{name}`: {before!r} -> {after!r}"
    return "what the last trace read from outside differs"


def _key_text(key: Any) -> str:
    if isinstance(key, ArrayKey):
        return f"{key.dtype.name} of rank {key.ndim}"
    if isinstance(key, NumberKey):
        return f"{key.kind.__name__} {key.text}"
    return (
        f"{key.value!r:.40}"
        if isinstance(key.value, (str, bool, type(None)))
        else f"another {key.kind.__name__}"
    )
