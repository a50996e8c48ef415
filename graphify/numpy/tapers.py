"""Window functions: bartlett, blackman, hamming, hanning, also of a length that the run knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.ir.sizes import size_op
from graphify.ir.tensor import Tensor
from graphify.numpy._table import implements, to_tensor
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.shape import as_dim, iota, size_value

FLOAT = np.dtype(np.float64)


def _taper(original: Any, heights: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Publish a window function by its heights at odd places from 1 - M to M - 1, and M - 1."""

    @implements(original)
    def function(M: Any) -> Tensor:
        if not isinstance(M, Tensor) or not M.is_symbolic:
            return to_tensor(original(np.asarray(M)[()]))
        length = as_dim(M, "M")
        last = core.to_dtype(size_value(size=length - 1), FLOAT)
        places = iota(length=size_op("max", length, 0), dtype=FLOAT) * 2.0 - last
        return e.where(e.equal(last, 0.0), 1.0, heights(places, last))

    function.__doc__ = f"The {original.__name__} window of `M` points."


def _cosine(n: Tensor, last: Tensor, turns: float = 1.0) -> Tensor:
    return e.cos(turns * np.pi * n / last)


_taper(np.bartlett, lambda n, last: e.where(e.less_equal(n, 0.0), 1 + n / last, 1 - n / last))
_taper(np.hanning, lambda n, last: 0.5 + 0.5 * _cosine(n, last))
_taper(np.hamming, lambda n, last: 0.54 + 0.46 * _cosine(n, last))
_taper(np.blackman, lambda n, last: 0.42 + 0.5 * _cosine(n, last) + 0.08 * _cosine(n, last, 2.0))
