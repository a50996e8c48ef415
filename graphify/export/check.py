"""Examples run through the written model: its results must be graphify's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graphify.engines.base import get_engine
from graphify.errors import ExportError
from graphify.export.loaded import Loaded
from graphify.export.signature import Signature, as_arguments, examples_for, hidden_array
from graphify.ir.wrapping import as_tensor
from graphify.tracing.signature import is_array
from graphify.tree import flatten

# Relative tolerance by dtype: what another order of summation may cost.
_TOLERANCE = {
    "bfloat16": 5e-2,
    "float16": 1e-2,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float64": 1e-9,
    "complex128": 1e-9,
}


def check_examples(folder: Path, signatures: dict[str, Signature], examples: Any) -> None:
    """Run examples through the SavedModel in `folder`.

    Raises:
        ExportError: a result differs; names the signature, the output and the difference.
    """
    lists = {name: examples_for(examples, name, len(signatures)) for name in signatures}
    if not any(lists.values()):
        return
    loaded = Loaded(folder, None)  # a copy: its state is its own
    state: dict[int, Any] = {}  # the state that the model should be in, by outside object
    for name, signature in signatures.items():
        for example in lists[name]:
            _check(loaded, signature, _arrays(signature, example), state)


def _arrays(signature: Signature, example: Any) -> list[Any]:
    """The arrays among an example's arguments, in the signature's dtypes.

    Raises:
        ExportError: not as many as the signature takes.
    """
    leaves = flatten(as_arguments(example), is_leaf=is_array)[0]
    if len(leaves) != len(signature.inputs):
        leaves = [leaf for leaf in leaves if is_array(leaf)]
    if len(leaves) != len(signature.inputs):
        raise ExportError(
            f"save: an example for signature {signature.name!r}: expected "
            f"{len(signature.inputs)} arrays, got {len(leaves)}"
        )
    arrays = []
    for (name, spec), leaf in zip(signature.inputs, leaves, strict=True):
        array = as_tensor(leaf).numpy() if is_array(leaf) else np.asarray(leaf, spec.dtype)
        if array.dtype != spec.dtype or array.ndim != len(spec.shape):
            raise ExportError(
                f"save: an example for signature {signature.name!r}: argument {name!r}: "
                f"expected {spec}, got {array.dtype}{list(array.shape)}"
            )
        arrays.append(array)
    return arrays


def _check(loaded: Loaded, signature: Signature, arrays: list[Any], state: dict[int, Any]) -> None:
    hidden = [state.get(id(h.current()), hidden_array(h)) for h in signature.hidden]
    want = get_engine("reference").compile(signature.graph)([*arrays, *hidden])
    for position, index in signature.assigns.items():
        state[id(signature.hidden[position].current())] = np.array(want[index])
    names = [name for name, _ in signature.inputs]
    got = loaded.signatures[signature.name](**dict(zip(names, arrays, strict=True)))
    for leaf in signature.leaves:
        if leaf.index is not None:
            _compare(
                f"signature {signature.name!r}: output {leaf.name!r}",
                got[leaf.name].numpy(),
                want[leaf.index],
            )


def _compare(what: str, got: Any, want: Any) -> None:
    want = np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        raise ExportError(
            f"save: {what}: the written model gives {got.dtype}{list(got.shape)}, "
            f"graphify {want.dtype}{list(want.shape)}"
        )
    tolerance = _TOLERANCE.get(want.dtype.name, 0.0)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    if tolerance == 0.0:
        same = bool(np.array_equal(got, want))
    else:
        scale = (
            float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want))) if want.size else 0.0
        )
        same = np.allclose(
            got.astype(wide),
            want.astype(wide),
            rtol=tolerance,
            atol=tolerance * scale,
            equal_nan=True,
        )
    if not same:
        raise ExportError(
            f"save: {what}: the written model gives another result than graphify: "
            f"{np.array2string(got, threshold=8)} instead of {np.array2string(want, threshold=8)}"
        )
