"""graphify.numpy.linalg: numpy.linalg on tensors.

    gnp.linalg.solve(a, b)        np.linalg.solve(tensor, b) is the same call

Errors are NumPy's: LinAlgError for matrices that are not square, singular or not positive definite
(the last two when the graph runs), TypeError for float16.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from graphify.errors import ConcreteValueNeeded
from graphify.ir.sizes import decide_equal, size_op
from graphify.ir.tensor import Tensor
from graphify.numpy import manipulation, products, reduction
from graphify.numpy._table import FUNCTIONS, NAMES, astype, axis_of, finish, to_tensor
from graphify.ops import core, eigen
from graphify.ops import decompositions as d
from graphify.ops import elementwise as e
from graphify.ops import factor as f
from graphify.ops import lstsq as least
from graphify.ops.keys import getitem
from graphify.ops.linalg import adjoint
from graphify.ops.linalg import matmul as matmul_op

F = TypeVar("F", bound=Callable[..., Any])
LinAlgError = np.linalg.LinAlgError


class EigResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


def implements(original: Any) -> Callable[[F], F]:
    """Register a function of this module as graphify's version of one of numpy.linalg."""

    def register(function: F) -> F:
        FUNCTIONS[original] = function
        return function

    return register


def _matrices(a: Any) -> Tensor:
    x = to_tensor(a)
    f.check_matrix(x.spec)
    return x


def _square(a: Any) -> Tensor:
    x = to_tensor(a)
    f.check_square(x.spec)
    return x


def _inexact(a: Any) -> Tensor:
    x = to_tensor(a)
    return astype(x, f.linalg_dtype(x.dtype))


# --- one square matrix ----------------------------------------------------------------------------


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Tensor:
    """The x with `a @ x == b`; a one-dimensional `b` is one vector."""
    x, y = _square(a), to_tensor(b)
    if y.ndim != 1:
        return f.solve(x, y)
    if decide_equal(x.dims[-1], y.dims[0]) is False:
        raise ValueError(
            "solve1: Input operand 1 has a mismatch in its core dimension 0, "
            "with gufunc signature "
            f"(m,m),(m)->(m) (size {y.dims[0]} is different from {x.dims[-1]})"
        )
    result = f.solve(x, f.column(y))
    return core.reshape(result, shape=result.dims[:-1])


@implements(np.linalg.inv)
def inv(a: Any) -> Tensor:
    """The inverse."""
    return f.inv(_square(a))


@implements(np.linalg.det)
def det(a: Any) -> Tensor:
    """The determinant."""
    return f.det(_square(a))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> SlogdetResult:
    """Sign and logarithm of the determinant."""
    return SlogdetResult(*f.slogdet(_square(a)))


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Tensor:
    """The triangular factor of a Hermitian positive definite matrix."""
    x = _square(a)
    return adjoint(f.cholesky(adjoint(x))) if upper else f.cholesky(x)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Tensor:
    """The matrix times itself, `n` times."""
    x = _square(a)
    try:
        n = operator.index(n)
    except ConcreteValueNeeded:
        raise
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        identity = NAMES["eye"](x.dims[-2], dtype=x.dtype)
        return core.copy(core.broadcast_to(identity, shape=x.dims))
    if n < 0:
        x, n = inv(x), -n
    power, result = x, None
    while n:
        if n % 2:
            result = power if result is None else matmul_op(result, power)
        n //= 2
        power = matmul_op(power, power) if n else power
    assert result is not None
    return core.copy(result) if result is x else result


# --- decompositions -------------------------------------------------------------------------------


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns times an upper triangle."""
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    x = _matrices(a)
    if mode == "r":
        return d.qr.several(x, mode="reduced")[1]
    q, r = d.qr.several(x, mode=mode)
    return (q, r) if mode == "raw" else QRResult(q, r)


@implements(np.linalg.svd)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular vectors and values."""
    x = _matrices(a)
    if hermitian:
        return _hermitian_svd(x, compute_uv)
    if not compute_uv:
        return d.svdvals(x)
    return SVDResult(*d.svd.several(x, full=bool(full_matrices)))


def _hermitian_svd(x: Tensor, vectors: bool) -> Any:
    """Singular values of a Hermitian matrix are the sizes of its eigenvalues."""
    f.check_square(x.spec)
    w, v = eigen.eigh.several(x, lower=True)
    signs, sizes = e.sign(w), e.absolute(w)
    order = getitem(NAMES["argsort"](sizes), (Ellipsis, slice(None, None, -1)))
    take = NAMES["take_along_axis"]
    s = take(sizes, order, -1)
    if not vectors:
        return s
    u = take(v, f.row(order), -1)
    signed = astype(take(signs, order, -1), u.dtype)
    return SVDResult(u, s, adjoint(u * f.row(signed)))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Tensor:
    """Singular values, the largest first."""
    return d.svdvals(_matrices(x))


def _lower(uplo: str) -> bool:
    if str(uplo).upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return str(uplo).upper() == "L"


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues and eigenvectors of a Hermitian matrix."""
    return EighResult(*eigen.eigh.several(_square(a), lower=_lower(UPLO)))


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Tensor:
    """Eigenvalues of a Hermitian matrix."""
    return eigen.eigvalsh(_square(a), lower=_lower(UPLO))


@implements(np.linalg.eig)
def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors; in a graph, of a complex matrix."""
    return EigResult(*eigen.eig.several(_finite(_square(a))))


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Tensor:
    """Eigenvalues; in a graph, of a complex matrix."""
    return eigen.eigvals(_finite(_square(a)))


def _finite(x: Tensor) -> Tensor:
    return x  # NumPy raises LinAlgError for NaN and inf when the op runs


# --- rank, pseudo-inverse, least squares ----------------------------------------------------------


def _no_value(value: Any) -> bool:
    return value is None or value is np._NoValue


def _epsilon(x: Tensor) -> float:
    return float(np.finfo(x.dtype).eps)


def _longer(x: Tensor) -> Tensor:
    from graphify.ops.shape import size_value

    return size_value(size=size_op("max", *x.dims[-2:]))


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """The number of singular values above a tolerance."""
    x = to_tensor(A)
    if tol is not None and not _no_value(rtol):
        raise ValueError("`tol` and `rtol` can't be both set.")
    if x.ndim < 2:
        some = e.logical_not(reduction.all_(e.equal(x, 0)))
        return core.cast(some, dtype=np.dtype(np.int64), weak=True)  # a Python int in NumPy
    s = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is None:
        relative = _longer(x) * _epsilon(s) if _no_value(rtol) else _last_axis(rtol)
        tolerance = reduction.max_(s, axis=-1, keepdims=True, initial=0) * relative
    else:
        tolerance = _last_axis(tol)
    return reduction.count_nonzero(e.greater(s, tolerance), axis=-1)


def _last_axis(value: Any) -> Tensor:
    t = to_tensor(value)
    return core.reshape(t, shape=(*t.dims, 1))


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Tensor:
    """The Moore-Penrose pseudo-inverse."""
    x = _inexact(_matrices(a))
    if rcond is not None and not _no_value(rtol):
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else rtol
    if rcond is None:
        rcond = _longer(x) * _epsilon(x)
    return least.pinv(x, rcond, hermitian=bool(hermitian))


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The least-squares solution, sums of squared residuals, the rank, and the singular values."""
    x, y = to_tensor(a), to_tensor(b)
    vector = y.ndim == 1
    y = f.column(y) if vector else y
    for t in (x, y):
        if t.ndim != 2:
            raise LinAlgError(f"{t.ndim}-dimensional array given. Array must be two-dimensional")
    x, y = f.inexact(x, y)
    if rcond is None:
        rcond = _longer(x) * float(np.finfo(np.float64 if x.dtype.char in "dD" else np.float32).eps)
    solution = least.lstsq(x, y, rcond)
    residuals, rank = least.lstsq_residuals.several(x, y, rcond)
    solution = core.reshape(solution, shape=solution.dims[:1]) if vector else solution
    return solution, residuals, rank, d.svdvals(x)


# --- products -------------------------------------------------------------------------------------


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Tensor:
    """The product of several matrices, multiplied in the cheapest order."""
    xs = [to_tensor(array) for array in arrays]
    if len(xs) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(xs) == 2:
        return products.dot(xs[0], xs[1], out)
    first, last = xs[0].ndim, xs[-1].ndim
    if first == 1:
        xs[0] = f.row(xs[0])
    if last == 1:
        xs[-1] = f.column(xs[-1])
    for x in xs:
        if x.ndim != 2:
            raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    result = _in_order(xs, _cheapest([x.dims for x in xs]), 0, len(xs) - 1)
    shape = result.dims[1 if first == 1 else 0 : 1 if last == 1 else 2]
    result = core.reshape(result, shape=shape) if shape != result.dims else result
    return finish(result, out)


def _cheapest(shapes: Sequence[Any]) -> dict[tuple[int, int], int]:
    """Where to split each run of factors (Source: Cormen et al., matrix-chain order)."""
    sizes = [shapes[0][0], *(shape[1] for shape in shapes)]
    n = len(shapes)
    if not all(isinstance(size, int) for size in sizes):
        return {(i, j): j - 1 for i in range(n) for j in range(i + 1, n)}  # from left to right
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], split[i, j] = min(options)
    return split


def _in_order(xs: Sequence[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return xs[i]
    k = split[i, j]
    return products.dot(_in_order(xs, split, i, k), _in_order(xs, split, k + 1, j))


@implements(np.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Tensor:
    """The matrix product."""
    return products.matmul(x1, x2)


@implements(np.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Tensor:
    """The outer product of two vectors."""
    a, b = to_tensor(x1), to_tensor(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={a.ndim} "
            f"and x2.ndim={b.ndim}."
        )
    return products.outer(a, b)


@implements(np.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors of three elements."""
    a, b = to_tensor(x1), to_tensor(x2)
    sizes = a.dims[axis_of(axis, a.ndim)], b.dims[axis_of(axis, b.ndim)]
    if any(isinstance(s, int) and s != 3 for s in sizes):
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return products.cross(a, b, axis=axis)


@implements(np.linalg.tensordot)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """Products summed over some axes of both."""
    return products.tensordot(x1, x2, axes)


@implements(np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Inner products along an axis."""
    return products.vecdot(x1, x2, axis=axis)


@implements(np.linalg.diagonal)
def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """The diagonals of a stack of matrices."""
    return products.diagonal(x, offset, -2, -1)


@implements(np.linalg.trace)
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The traces of a stack of matrices."""
    return products.trace(x, offset, -2, -1, dtype=dtype)


@implements(np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Tensor:
    """The last two axes swapped."""
    return manipulation.matrix_transpose(x)
