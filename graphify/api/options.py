"""The options of `graphify.function`: what they may be, and arguments made to fit a signature.

fit([1, 2], TensorSpec((None,), np.float32), "f: argument x")    # a float32 tensor of shape (2,)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from graphify.api.concrete import TraceRecord
from graphify.engines.base import get_engine
from graphify.errors import GraphifyError
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType
from graphify.ir.wrapping import as_tensor
from graphify.ops import core
from graphify.syntax.parser import find_in
from graphify.tracing.signature import TensorSpec

OnRetrace = Literal["warn", "error"] | Callable[[TraceRecord], None] | None


class FunctionOptions(TypedDict, total=False):
    """The keywords of `graphify.function`; `Function` has their defaults."""

    input_signature: Sequence[TensorSpec] | None
    autograph: bool
    reduce_retracing: bool
    dynamic: bool | None
    max_traces: int | None
    on_retrace: OnRetrace
    engine: str | None
    source: str | None


def provide_source(function: Any, source: Any) -> None:
    """Note the text of a function that was passed as `source`.

    Raises:
        TypeError: it is no text, or the function is not written in Python.
        SyntaxUnsupported: the text does not hold the function.
    """
    if source is None:
        return
    if not isinstance(source, str):
        raise TypeError(f"function: source: expected the text of the function, got {source!r}")
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(getattr(function, "__func__", function), "__code__"):
        raise TypeError(f"function: source: {function!r} is not a Python function")
    find_in(function, source)


def checked_signature(signature: Any) -> tuple[TensorSpec, ...] | None:
    if signature is None:
        return None
    if not isinstance(signature, (list, tuple)):
        raise TypeError(f"input_signature: expected a list of TensorSpecs, got {signature!r}")
    for spec in signature:
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"input_signature: expected TensorSpec items, got {spec!r}")
    return tuple(signature)


def check_options(
    flags: dict[str, Any], dynamic: Any, max_traces: Any, on_retrace: Any, engine: Any
) -> None:
    """Refuse options of a wrong kind when the function is decorated, not when it is called."""
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"function: {name}: expected True or False, got {flag!r}")
    if (
        dynamic not in (True, False, None)
        or isinstance(dynamic, (int, float))
        and not isinstance(dynamic, bool)
    ):
        raise TypeError(f"function: dynamic: expected True, False or None, got {dynamic!r}")
    if max_traces is not None and (isinstance(max_traces, bool) or not isinstance(max_traces, int)):
        raise TypeError(f"function: max_traces: expected an int or None, got {max_traces!r}")
    if max_traces is not None and max_traces < 1:
        raise ValueError(f"function: max_traces: expected at least 1, got {max_traces}")
    if on_retrace not in (None, "warn", "error") and not callable(on_retrace):
        raise ValueError(
            f"function: on_retrace: expected 'warn', 'error' or a function, got {on_retrace!r}"
        )
    if engine is not None:
        get_engine(engine)


def fit(value: Any, spec: TensorSpec, where: str) -> Any:
    """An argument as a tensor of its spec; Python values are converted, arrays must fit."""
    if isinstance(value, TensorSpec):
        return value
    try:
        tensor = as_tensor(value)
    except (TypeError, ValueError) as error:
        message = error.message if isinstance(error, GraphifyError) else str(error)
        raise type(error)(f"{where}: expected {spec}: {message}") from error
    if tensor.dtype != spec.dtype or tensor.spec.weak:
        tensor = _converted(value, tensor, spec, where)
    shape = tensor.numpy().shape
    if not _shape_fits(shape, spec):
        raise ValueError(f"{where}: expected {spec}, got shape {shape}")
    return tensor


def _shape_fits(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    sizes: dict[Any, int] = {}
    return len(shape) == len(spec.shape) and all(
        d is None or (d if isinstance(d, int) else sizes.setdefault(d, s)) == s
        for d, s in zip(spec.shape, shape, strict=True)
    )


def _converted(value: Any, tensor: Tensor, spec: TensorSpec, where: str) -> Tensor:
    """A Python number or list in the dtype of the spec, unless that would lose something."""
    python = isinstance(value, (bool, int, float, complex, list, tuple))
    if not python or not _same_family(tensor.dtype, spec.dtype):
        raise TypeError(f"{where}: expected {spec}, got {tensor.spec}")
    try:
        return as_tensor(np.asarray(value, spec.dtype))
    except (TypeError, ValueError):  # a list with tensors in it
        return core.to_dtype(tensor, spec.dtype)


def _same_family(source: DType, target: DType) -> bool:
    """Whether Python numbers of `source` may be given where `target` is asked for."""
    kinds = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
    return kinds[source.kind] <= kinds[target.kind]
