"""What `GRAPHIFY_CHECK=1` adds to a call: the engine's results compared with the reference.

compare_with_reference(graph, arrays, results, "f: engine tensorflow")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.engines.base import get_engine
from graphify.errors import InternalError
from graphify.ir.graph import Graph
from graphify.ir.types import DType, finfo, is_inexact

# Results may differ by this many units in the last place of the largest element: engines sum in
# orders of their own.
ULPS = 1e4


def compare_with_reference(
    graph: Graph, arrays: Sequence[Any], results: Sequence[Any], what: str
) -> None:
    """Run the graph again on the reference engine; effects must not happen twice, so not those.

    Raises:
        InternalError: a result differs.
    """
    if graph.effects:
        return
    expected = get_engine("reference").compile(graph)(arrays)
    for position, (want, got) in enumerate(zip(expected, results, strict=True)):
        if not _agree(np.asarray(want), np.asarray(got)):
            raise InternalError(
                f"{what}: result {position}: expected {want!r:.200} (reference), got {got!r:.200}"
            )


def _agree(want: Any, got: Any) -> bool:
    if want.dtype != got.dtype or want.shape != got.shape:
        return False
    if not is_inexact(want.dtype):
        return np.array_equal(want, got)
    finite = np.abs(want[np.isfinite(want)])
    scale = float(finite.max()) if finite.size else 0.0
    rtol = ULPS * _epsilon(want.dtype)
    return np.allclose(got, want, rtol=rtol, atol=rtol * scale, equal_nan=True)


def _epsilon(dtype: DType) -> float:
    return float(finfo(np.empty(0, dtype).real.dtype).eps)
