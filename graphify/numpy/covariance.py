"""Covariances and correlations of variables, one to a row.

    gnp.cov(x)     # [rows, rows]

Observations may have weights, and be complex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.sizes import decide_equal, product
from graphify.ir.tensor import Tensor
from graphify.ir.types import is_complex
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import NAMES, implements, to_tensor
from graphify.numpy.reduction import average, sum_
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.core import to_dtype
from graphify.ops.effects import Raise, assert_
from graphify.ops.linalg import matmul, matrix_transpose
from graphify.ops.shape import concatenate


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Tensor:
    """The covariance matrix of variables in rows (or columns).

    Raises:
        ValueError: a weight is negative, or `ddof` no integer.
        TypeError: frequencies are no integers.
        RuntimeError: weights are not as many as the observations.
    """
    if ddof is not None and not isinstance(ddof, Tensor) and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _observations(m, rowvar, dtype, *([y] if y is not None else []))
    if x.dims[0] == 0:
        return Tensor(np.zeros((0, 0)))
    if y is not None:
        rows = rowvar or to_tensor(y).dims[:1] == (1,)  # NumPy leaves one row of these as it is
        x = concatenate(x, _observations(y, rows, x.dtype, m, dtype), axis=0)
    weights = _covariance_weights(fweights, aweights, x)
    taken = (1 if bias == 0 else 0) if ddof is None else ddof
    centre, total = average(x, axis=1, weights=weights, returned=True)
    total = total[0]
    if weights is None:
        freedom = e.subtract(as_tensor(x.dims[1]), taken)
    elif aweights is None or taken == 0:
        freedom = e.subtract(total, taken)
    else:
        spread = sum_(e.multiply(weights, to_tensor(aweights)))
        freedom = e.subtract(total, e.divide(e.multiply(taken, spread), total))
    centred = e.subtract(x, core.reshape(centre, shape=(*centre.dims, 1)))
    right = centred if weights is None else e.multiply(centred, weights)
    product_ = matmul(centred, e.conjugate(matrix_transpose(right)))
    scaled = e.multiply(
        product_,
        e.divide(1, core.cast(core.strong(e.maximum(freedom, 0)), dtype=np.dtype(np.float64))),
    )
    scaled = to_dtype(scaled, x.dtype)
    count = x.dims[0]
    if not isinstance(count, int):
        raise SpecError(
            f"cov: the number of variables must be known while tracing, got {count}: "
            "of one variable the result is a scalar, of more a matrix"
        )
    return core.reshape(scaled, shape=()) if count == 1 else scaled


def _observations(m: Any, rowvar: bool, dtype: Any, *others: Any) -> Tensor:
    x = to_tensor(m)
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    kinds = [x.dtype, np.dtype(np.float64)] + [
        to_tensor(o).dtype for o in others if not isinstance(o, np.dtype) and o is not None
    ]
    x = to_dtype(x, np.result_type(*kinds) if dtype is None else dtype)
    if x.ndim < 2:
        x = core.reshape(x, shape=(1, product(x.dims)))
    elif not rowvar:
        x = matrix_transpose(x)
    return x


def _covariance_weights(fweights: Any, aweights: Any, x: Tensor) -> Tensor | None:
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            w = to_dtype(to_tensor(given), np.float64)
            if name == "fweights":
                whole: Any = "fweights must be integer"
                assert_(e.equal(w, e.rint(w)), exception=Raise(TypeError, (whole,)))
            if w.ndim > 1:
                raise RuntimeError(f"cannot handle multidimensional {name}")
            if not w.ndim or decide_equal(w.dims[0], x.dims[1]) is False:
                raise RuntimeError(f"incompatible numbers of samples and {name}")
            negative: Any = f"{name} cannot be negative"
            within = e.logical_not(e.less(w, 0))
            assert_(within, exception=Raise(ValueError, (negative,)))
            weights = w if weights is None else e.multiply(weights, w)
    return weights


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Tensor:
    """The correlation matrix of variables in rows (or columns)."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return e.divide(c, c)
    deviation = e.sqrt(e.real(NAMES["diagonal"](c)))
    n = deviation.dims[0]
    c = e.divide(
        e.divide(c, core.reshape(deviation, shape=(n, 1))), core.reshape(deviation, shape=(1, n))
    )
    if is_complex(c.dtype):
        return e.make_complex(_unit(e.real(c)), _unit(e.imag(c)))
    return _unit(c)


def _unit(x: Tensor) -> Tensor:
    return e.minimum(e.maximum(x, -1), 1)
