"""Einsum, two operands at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero, wider
from graphify.engines.tensorflow.kernels.elementwise import choose
from graphify.engines.tensorflow.kernels.table import kernel


@kernel("einsum")
def einsum(frame: Frame, *xs: Any, subscripts: str) -> Any:
    left, _, result = subscripts.partition("->")
    terms = left.split(",")
    dtype = xs[0].dtype
    wide = _wide(frame, dtype)
    operands = _equal_lengths(frame, [cast_to(frame, x, wide) for x in xs], terms)
    total, term = operands[0], terms[0]
    if len(terms) == 1:
        total = frame.raw.Einsum(inputs=[total], equation=subscripts)
    for i in range(1, len(terms)):
        later = set("".join(terms[i + 1 :]) + result)
        both = term + terms[i]
        kept = (
            "".join(c for c in dict.fromkeys(both) if c in later) if i < len(terms) - 1 else result
        )
        total = frame.raw.Einsum(inputs=[total, operands[i]], equation=f"{term},{terms[i]}->{kept}")
        term = kept
    return nonzero(frame, total) if dtype.is_bool else cast_to(frame, total, dtype)


def _wide(frame: Frame, dtype: Any) -> Any:
    """Einsum has no kernels for small integers and bools."""
    return wider(frame, dtype)


def _equal_lengths(frame: Frame, xs: Sequence[Any], terms: Sequence[str]) -> list[Any]:
    """Operands with axes of length one broadcast to the length that their letter has elsewhere."""
    lengths: dict[str, list[Any]] = {}
    for x, term in zip(xs, terms, strict=True):
        for letter, length in zip(term, frame.shape_of(x), strict=True):
            lengths.setdefault(letter, []).append(length)
    common = {letter: _common(frame, found) for letter, found in lengths.items()}
    result = []
    for x, term in zip(xs, terms, strict=True):
        shape = frame.shape_of(x)
        target = [common[letter] for letter in term]
        if all(
            isinstance(a, int) and isinstance(b, int) and a == b
            for a, b in zip(shape, target, strict=True)
        ):
            result.append(x)
        else:
            result.append(frame.raw.BroadcastTo(input=x, shape=frame.shape(target)))
    return result


def _common(frame: Frame, lengths: Sequence[Any]) -> Any:
    """The length that others broadcast to: the one that is not 1."""
    known = [n for n in lengths if isinstance(n, int) and n != 1]
    if known:
        return known[0]
    found: Any = 1
    for length in lengths:
        if isinstance(length, int) or length is found:
            continue
        if isinstance(found, int):
            found = length
        else:
            one = frame.constant(1, frame.tf.int64)
            found = choose(frame, frame.raw.Equal(x=found, y=one), length, found)
    return found
