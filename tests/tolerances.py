"""How far two correct answers may be apart, by dtype: the table that `graphify.check` uses, too.

Two engines may sum in another order and fuse a multiply with an add; nothing else may differ.
Integers, booleans and strings must be equal.

    assert_close(got, want)                 # value, dtype and shape
    assert_close(got, want, loss=100)       # an ill-conditioned result: 100 times the tolerance
"""

from typing import Any

import numpy as np

from graphify.api.comparing import TOLERANCES

# Central differences in float64: truncation and cancellation leave about half of the digits, and a
# second derivative half of those again.
FINITE_DIFFERENCES = {1: (1e-5, 1e-6), 2: (1e-3, 1e-4)}


def tolerance(dtype: Any) -> tuple[float, float]:
    """The relative and absolute tolerance for results of `dtype`; zero for exact dtypes."""
    return TOLERANCES.get(np.dtype(dtype).name, (0.0, 0.0))


def assert_close(got: Any, want: Any, *, loss: float = 1.0) -> None:
    """Asserts equal dtype and shape, and values within the tolerance of that dtype.

    NaN equals NaN, infinities must match with their sign. `loss` multiplies both tolerances.
    """
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, f"dtype: expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"shape: expected {want.shape}, got {got.shape}"
    relative, absolute = tolerance(want.dtype)
    if relative == 0.0:
        np.testing.assert_array_equal(got, want)
    else:
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            got.astype(wide), want.astype(wide), rtol=relative * loss, atol=absolute * loss
        )
