"""tf.linalg, tf.signal, products."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from graphify.errors import ShapeError, SpecError
from graphify.ir.tensor import Tensor
from graphify.ops import core
from graphify.tensorflow import values as v
from graphify.tensorflow.values import fft, gnp, la, plain, same, table, tensor

LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


def _matrix(x: Tensor, least: int = 2) -> Tensor:
    """A stack of matrices.

    Raises:
        ShapeError: fewer axes.
    """
    if x.ndim < least:
        raise ShapeError(f"expected {least} axes or more, got {x.spec}")
    return x


def _flipped(x: Tensor, transposed: Any, adjoint: Any) -> Tensor:
    x = gnp.matrix_transpose(_matrix(x)) if transposed or adjoint else x
    return gnp.conjugate(x) if adjoint else x


def _plain_only(**options: Any) -> None:
    """Refuse arguments that only TensorFlow has a meaning for."""
    for name, value in options.items():
        if value:
            raise SpecError(f"{name}={value!r}: graphify has no form of this argument")


def _matmul(
    a: Any, b: Any, transpose_a: Any = False, transpose_b: Any = False, adjoint_a: Any = False,
    adjoint_b: Any = False, a_is_sparse: Any = False, b_is_sparse: Any = False,
    output_type: Any = None, grad_a: Any = False, grad_b: Any = False,
) -> Any:  # fmt: skip
    _plain_only(output_type=output_type)
    x, y = same("fiuc", a, b)
    left = _flipped(_matrix(x), transpose_a, adjoint_a)
    return gnp.matmul(left, _flipped(_matrix(y), transpose_b, adjoint_b))


def _matvec(a: Any, b: Any, transpose_a: Any = False, adjoint_a: Any = False, *_: Any) -> Any:
    x, y = same("fiuc", a, b)
    return gnp.matmul(_flipped(_matrix(x), transpose_a, adjoint_a), y[..., None])[..., 0]


def _solve(matrix: Any, rhs: Any, adjoint: Any = False) -> Any:
    a, b = same("fc", matrix, rhs)
    if b.ndim != a.ndim:
        raise ShapeError(f"solve: rhs: expected {a.ndim} axes as matrix has, got {b.spec}")
    return la.solve(_flipped(a, False, adjoint), b)


def _triangular_solve(matrix: Any, rhs: Any, lower: Any = True, adjoint: Any = False) -> Any:
    a, b = same("fc", matrix, rhs)
    return _solve((gnp.tril if lower else gnp.triu)(_matrix(a)), b, adjoint)


def _cholesky_solve(chol: Any, rhs: Any) -> Any:
    return _triangular_solve(chol, _triangular_solve(chol, rhs), adjoint=True)


def _slogdet(input: Any) -> Any:
    return LogMatrixDeterminant(*la.slogdet(tensor(input, kinds="fc")))


def _logdet(matrix: Any) -> Any:
    root = la.cholesky(tensor(matrix, kinds="fc"))
    return 2 * gnp.sum(gnp.log(gnp.real(_diagonal(root))), axis=-1)


def _singular_values(x: Any, full_matrices: Any = False, compute_uv: Any = True) -> Any:
    if compute_uv:
        raise SpecError(
            "tf.linalg.svd: which of the possible vectors it gives is TensorFlow's choice",
            remedy="write np.linalg.svd (its v is transposed), or give compute_uv=False",
        )
    return la.svdvals(tensor(x, kinds="fc"))


# --- norms ----------------------------------------------------------------------------------------


def _norm(x: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None) -> Any:
    value, places = tensor(x, kinds="fc"), plain(axis, "axis")
    if ord in ("euclidean", "fro") or places is None and ord == 2:
        squares = gnp.real(value * gnp.conjugate(value))
        chosen = v.axes(places, value)
        length = gnp.sqrt(gnp.sum(squares, axis=chosen, keepdims=bool(keepdims)))
        return core.cast(length, dtype=value.dtype)
    if places is None:
        if keepdims:
            raise SpecError("norm: graphify has no form of keepdims without axis")
        value = gnp.reshape(value, [-1])
    elif isinstance(places, list):
        places = places[0] if len(places) == 1 else tuple(places)
    return la.norm(value, ord, axis=places, keepdims=bool(keepdims))


def _normalize(x: Any, ord: Any = "euclidean", axis: Any = None) -> tuple[Tensor, Tensor]:
    value = tensor(x, kinds="fc")
    length = _norm(value, ord, v.axes(axis, value), True)
    return value / core.cast(length, dtype=value.dtype), length


def _l2_normalize(x: Any, axis: Any = None, epsilon: Any = 1e-12, dim: Any = None) -> Any:
    value = tensor(x, kinds="f")
    chosen = v.axes(axis if axis is not None else dim, value)
    squares = gnp.sum(gnp.square(value), axis=chosen, keepdims=True)
    return value / gnp.sqrt(gnp.maximum(squares, tensor(epsilon, value.dtype)))


def _global_norm(t_list: Any) -> Any:
    parts = same("f", *[x for x in t_list if x is not None])
    return gnp.sqrt(sum(gnp.sum(gnp.square(x)) for x in parts))


def _clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    x = tensor(t, kinds="f")
    limit = tensor(clip_norm, x.dtype)
    length = _norm(x, axis=v.axes(axes, x), keepdims=True)
    return x * limit / gnp.maximum(length, limit)


def _clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> Any:
    norm = _global_norm(t_list) if use_norm is None else tensor(use_norm)
    limit = tensor(clip_norm, norm.dtype)
    scale = limit / gnp.maximum(norm, limit)
    return [None if x is None else tensor(x) * scale for x in t_list], norm


# --- diagonals ------------------------------------------------------------------------------------


def _diagonal(x: Tensor) -> Any:
    return gnp.diagonal(_matrix(x), axis1=-2, axis2=-1)


def _plain_diagonal(k: Any, rows: Any = -1, columns: Any = -1, padding: Any = 0) -> None:
    _plain_only(
        k=plain(k, "k"),
        num_rows=rows != -1,
        num_cols=columns != -1,
        padding_value=padding,
    )


def _diag(
    diagonal: Any, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0,
    align: Any = None,
) -> Any:  # fmt: skip
    _plain_diagonal(k, num_rows, num_cols, padding_value)
    x = _matrix(tensor(diagonal), 1)
    return gnp.where(gnp.eye(x.shape[-1], dtype=bool), x[..., None], core.full((), 0, x.dtype))


def _diag_part(input: Any, k: Any = 0, padding_value: Any = 0, align: Any = None) -> Any:
    _plain_diagonal(k, padding=padding_value)
    return _diagonal(tensor(input))


def _set_diag(input: Any, diagonal: Any, k: Any = 0, align: Any = None) -> Tensor:
    _plain_diagonal(k)
    x, new = same(v.ANY, input, diagonal)
    result = core.copy(_matrix(x))
    places = gnp.arange(new.shape[-1])
    result[..., places, places] = new
    return result


def _band_part(input: Any, num_lower: Any, num_upper: Any) -> Any:
    x = _matrix(tensor(input))
    rows, columns = gnp.arange(x.shape[-2])[:, None], gnp.arange(x.shape[-1])
    keep = gnp.ones([x.shape[-2], x.shape[-1]], bool)
    for width, below in ((num_lower, rows - columns), (num_upper, columns - rows)):
        keep = keep & (gnp.less(width, 0) | gnp.less_equal(below, width))
    return gnp.where(keep, x, core.full((), 0, x.dtype))


def _trace(x: Any) -> Any:
    value = tensor(x, kinds="fiuc")
    return gnp.sum(_diagonal(value), axis=-1, dtype=value.dtype)


def _tensor_diag(function: Callable[[Any], Tensor], axes: int) -> Callable[[Any], Tensor]:
    def entry(x: Any) -> Tensor:
        value = tensor(x)
        if value.ndim != axes:
            raise SpecError(f"graphify has a form for {axes} axes, got {value.spec}")
        return function(value)

    return entry


# --- products -------------------------------------------------------------------------------------


def _tensordot(a: Any, b: Any, axes: Any) -> Any:
    return gnp.tensordot(*same("fiuc", a, b), axes=plain(axes, "axes"))


def _einsum(equation: Any, *inputs: Any, optimize: Any = None) -> Any:
    return gnp.einsum(equation.replace(" ", ""), *same("fiuc", *inputs))


# --- Fourier --------------------------------------------------------------------------------------


def _real_fourier(function: Callable[..., Any], kinds: str, axes: int) -> Callable[..., Tensor]:
    def entry(input_tensor: Any, fft_length: Any = None) -> Any:
        x = tensor(input_tensor, kinds=kinds)
        lengths = None if fft_length is None else v.sizes(fft_length)
        return function(x, lengths, axes=tuple(range(-axes, 0)))

    return entry


def _fourier(function: Callable[..., Any], axes: int) -> Callable[..., Tensor]:
    return lambda input: function(tensor(input, kinds="c"), axes=tuple(range(-axes, 0)))


def _shifted(function: Callable[..., Any]) -> Callable[..., Tensor]:
    return lambda x, axes=None: function(tensor(x), plain(axes, "axes"))


OPS: dict[str, Callable[..., Any]] = {
    **table(
        "fc",
        {
            "linalg.cholesky": la.cholesky,
            "linalg.det": la.det,
            "linalg.eigvalsh": la.eigvalsh,
        },
    ),
    **table("fi", {"linalg.cross": gnp.cross}),
    "einsum": _einsum,
    "linalg.adjoint": lambda matrix: _flipped(tensor(matrix), False, True),
    "linalg.band_part": _band_part,
    "linalg.cholesky_solve": _cholesky_solve,
    "linalg.diag": _diag,
    "linalg.diag_part": _diag_part,
    "linalg.global_norm": _global_norm,
    "linalg.inv": lambda x, adjoint=False: la.inv(_flipped(tensor(x, kinds="fc"), False, adjoint)),
    "linalg.logdet": _logdet,
    "linalg.matmul": _matmul,
    "linalg.matrix_transpose": lambda x, conjugate=False: _flipped(tensor(x), True, conjugate),
    "linalg.matvec": _matvec,
    "linalg.normalize": _normalize,
    "linalg.set_diag": _set_diag,
    "linalg.slogdet": _slogdet,
    "linalg.solve": _solve,
    "linalg.svd": _singular_values,
    "linalg.tensor_diag": _tensor_diag(_diag, 1),
    "linalg.tensor_diag_part": _tensor_diag(_diagonal, 2),
    "linalg.trace": _trace,
    "linalg.triangular_solve": _triangular_solve,
    "clip_by_global_norm": _clip_by_global_norm,
    "clip_by_norm": _clip_by_norm,
    "math.l2_normalize": _l2_normalize,
    "norm": _norm,
    "tensordot": _tensordot,
    "signal.fft": _fourier(fft.fftn, 1),
    "signal.fft2d": _fourier(fft.fftn, 2),
    "signal.fft3d": _fourier(fft.fftn, 3),
    "signal.fftshift": _shifted(fft.fftshift),
    "signal.ifft": _fourier(fft.ifftn, 1),
    "signal.ifft2d": _fourier(fft.ifftn, 2),
    "signal.ifft3d": _fourier(fft.ifftn, 3),
    "signal.ifftshift": _shifted(fft.ifftshift),
    "signal.irfft": _real_fourier(fft.irfftn, "c", 1),
    "signal.irfft2d": _real_fourier(fft.irfftn, "c", 2),
    "signal.rfft": _real_fourier(fft.rfftn, "f", 1),
    "signal.rfft2d": _real_fourier(fft.rfftn, "f", 2),
}
