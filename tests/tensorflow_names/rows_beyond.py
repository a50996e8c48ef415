"""More rows: linear algebra, Fourier transforms, neural networks, functions of functions."""

# ruff: noqa: E731

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.tensorflow_names.inputs import (
    C64,
    CUBE,
    F32,
    IMAGE,
    POSITIVE,
    SHARES,
    SIGNAL,
    SMALL,
    SQUARE,
    STACK,
    UNIT,
    VECTOR,
    VOLUME,
    C,
    F,
    G,
    I,
    J,
    Row,
    each,
    rng,
)

ALGEBRA: dict[str, list[Row]] = {
    "einsum": [
        *each(lambda x, y: tf.einsum("ij,kj->ik", x, y), (F, G), (C, C)),
        *each(lambda x: tf.einsum("bij -> bji", x), CUBE),
    ],
    "linalg.adjoint": each(lambda x: tf.linalg.adjoint(x), F, C),
    "linalg.band_part": [
        *each(lambda x: tf.linalg.band_part(x, 0, -1), SQUARE, STACK),
        *each(lambda x: tf.linalg.band_part(x, 1, 0), SQUARE, I),
    ],
    "linalg.cholesky": each(lambda x: tf.linalg.cholesky(x), SQUARE, STACK),
    "linalg.cholesky_solve": each(
        lambda x, y: tf.linalg.cholesky_solve(tf.linalg.cholesky(x), y), (SQUARE, F.T.copy())
    ),
    "linalg.cross": each(lambda x, y: tf.linalg.cross(x, y), (F, G), (I, J)),
    "linalg.det": each(lambda x: tf.linalg.det(x), SQUARE, STACK),
    "linalg.diag": each(lambda x: tf.linalg.diag(x), VECTOR, F, I),
    "linalg.diag_part": each(lambda x: tf.linalg.diag_part(x), SQUARE, F, STACK),
    "linalg.eigvalsh": each(lambda x: tf.linalg.eigvalsh(x), SQUARE, STACK),
    "linalg.global_norm": each(lambda x, y: tf.linalg.global_norm([x, y]), (F, VECTOR)),
    "linalg.inv": [
        *each(lambda x: tf.linalg.inv(x), SQUARE, STACK),
        *each(lambda x: tf.linalg.inv(x, adjoint=True), SQUARE + np.triu(SQUARE)),
    ],
    "linalg.logdet": each(lambda x: tf.linalg.logdet(x), SQUARE, STACK),
    "linalg.matmul": [
        *each(lambda x, y: tf.matmul(x, y), (SQUARE, F.T.copy()), (STACK, SQUARE), (C, C.T.copy())),
        *each(lambda x, y: tf.matmul(x, y, transpose_b=True), (F, G), (I, J)),
        *each(lambda x, y: tf.matmul(a=x, b=y, adjoint_a=True), (C, C)),
        *each(lambda x: tf.matmul(x, [[1.0], [2.0], [3.0]]), F, F32),
    ],
    "linalg.matrix_transpose": each(lambda x: tf.linalg.matrix_transpose(x), F, CUBE),
    "linalg.matvec": each(lambda x, y: tf.linalg.matvec(x, y), (F, VECTOR), (STACK, F)),
    "linalg.normalize": each(lambda x: tf.linalg.normalize(x, axis=1), F),
    "linalg.set_diag": each(lambda x, y: tf.linalg.set_diag(x, y), (SQUARE, VECTOR)),
    "linalg.slogdet": each(lambda x: tf.linalg.slogdet(x), SQUARE, -STACK),
    "linalg.solve": each(
        lambda x, y: tf.linalg.solve(x, y), (SQUARE, F.T.copy()), (STACK, CUBE.transpose(0, 1, 2))
    ),
    "linalg.svd": each(lambda x: tf.linalg.svd(x, compute_uv=False), F, STACK),
    "linalg.tensor_diag": each(lambda x: tf.linalg.tensor_diag(x), VECTOR),
    "linalg.tensor_diag_part": each(lambda x: tf.linalg.tensor_diag_part(x), SQUARE),
    "linalg.trace": each(lambda x: tf.linalg.trace(x), SQUARE, STACK, I),
    "linalg.triangular_solve": [
        *each(lambda x, y: tf.linalg.triangular_solve(x, y), (SQUARE, F.T.copy())),
        *each(lambda x, y: tf.linalg.triangular_solve(x, y, False), (SQUARE, F.T.copy())),
        *each(lambda x, y: tf.linalg.triangular_solve(x, y, adjoint=True), (SQUARE, F.T.copy())),
    ],
    "clip_by_global_norm": each(lambda x, y: tf.clip_by_global_norm([x, y], 2.0), (F, VECTOR)),
    "clip_by_norm": [
        *each(lambda x: tf.clip_by_norm(x, 2.0), F, UNIT / 4),
        *each(lambda x: tf.clip_by_norm(x, 2.0, axes=[0]), F),
    ],
    "math.l2_normalize": each(lambda x: tf.nn.l2_normalize(x, axis=1), F, 0 * F),
    "norm": [
        *each(lambda x: tf.norm(x), F, VECTOR, C),
        *each(lambda x: tf.norm(x, axis=1), F),
        *each(lambda x: tf.norm(x, ord=1, axis=0, keepdims=True), F),
        *each(lambda x: tf.norm(x, np.inf), F, VECTOR),
        *each(lambda x: tf.linalg.norm(x, ord=3, axis=-1), F),
        *each(lambda x: tf.norm(x, ord="fro", axis=[0, 1]), F),
        *each(lambda x: tf.norm(x, ord=1, axis=(0, 1)), F),
    ],
    "tensordot": [
        *each(lambda x, y: tf.tensordot(x, y, 1), (F, VECTOR), (SQUARE, SQUARE)),
        *each(lambda x, y: tf.tensordot(x, y, axes=[[0], [0]]), (F, G), (I, J)),
    ],
    "signal.fft": each(lambda x: tf.signal.fft(x), C, C64),
    "signal.fft2d": each(lambda x: tf.signal.fft2d(x), C),
    "signal.fft3d": each(lambda x: tf.signal.fft3d(x), CUBE * (1 + 1j)),
    "signal.fftshift": each(lambda x: tf.signal.fftshift(x, axes=1), F, I),
    "signal.ifft": each(lambda x: tf.signal.ifft(x), C, C64),
    "signal.ifft2d": each(lambda x: tf.signal.ifft2d(x), C),
    "signal.ifft3d": each(lambda x: tf.signal.ifft3d(x), CUBE * (1 + 1j)),
    "signal.ifftshift": each(lambda x: tf.signal.ifftshift(x), F),
    "signal.irfft": each(lambda x: tf.signal.irfft(x), C64),
    "signal.irfft2d": each(lambda x: tf.signal.irfft2d(x), C64),
    "signal.rfft": [
        *each(lambda x: tf.signal.rfft(x), F32, CUBE.astype(np.float32)),
        *each(lambda x: tf.signal.rfft(x, fft_length=[5]), F32),
    ],
    "signal.rfft2d": each(lambda x: tf.signal.rfft2d(x), F32),
}

K2 = rng.normal(size=(3, 2, 3, 4))
K1 = rng.normal(size=(3, 3, 2))
NETWORKS: dict[str, list[Row]] = {
    "nn.avg_pool": each(lambda x: tf.nn.avg_pool(x, 2, 2, "SAME"), IMAGE),
    "nn.avg_pool1d": each(lambda x: tf.nn.avg_pool1d(x, 3, 2, "VALID"), SIGNAL),
    "nn.avg_pool2d": each(lambda x: tf.nn.avg_pool2d(x, [2, 3], [1, 2], "VALID"), IMAGE),
    "nn.avg_pool3d": each(lambda x: tf.nn.avg_pool3d(x, 2, 2, "VALID"), VOLUME),
    "nn.batch_normalization": [
        *each(
            lambda x, m, s: tf.nn.batch_normalization(x, m, s, None, None, 1e-3),
            (F, VECTOR, VECTOR**2),
        ),
        *each(
            lambda x, m, s: tf.nn.batch_normalization(
                x, m, s, offset=m, scale=s, variance_epsilon=0.1
            ),
            (F, VECTOR, VECTOR**2),
        ),
    ],
    "nn.bias_add": each(lambda x, b: tf.nn.bias_add(x, b), (F, VECTOR), (IMAGE, VECTOR)),
    "nn.conv1d": [
        *each(lambda x, k: tf.nn.conv1d(x, k, 2, "SAME"), (SIGNAL, K1)),
        *each(lambda x, k: tf.nn.conv1d(x, k, stride=1, padding="VALID"), (SIGNAL, K1)),
    ],
    "nn.conv1d_transpose": each(
        lambda x, k: tf.nn.conv1d_transpose(x, k, [2, 16, 3], strides=2), (SIGNAL[..., :2], K1)
    ),
    "nn.conv2d": [
        *each(lambda x, k: tf.nn.conv2d(x, k, 1, "SAME"), (IMAGE, K2)),
        *each(lambda x, k: tf.nn.conv2d(x, k, strides=[1, 2, 2, 1], padding="VALID"), (IMAGE, K2)),
        *each(lambda x, k: tf.nn.conv2d(x, k, 1, "VALID", dilations=2), (IMAGE, K2[:2])),
    ],
    "nn.conv2d_transpose": each(
        lambda x, k: tf.nn.conv2d_transpose(x, k, [2, 12, 10, 4], strides=2),
        (IMAGE, K2.transpose(0, 1, 3, 2).copy()),
    ),
    "nn.conv3d": each(
        lambda x, k: tf.nn.conv3d(x, k, [1, 1, 1, 1, 1], "SAME"),
        (VOLUME, rng.normal(size=(2, 2, 2, 2, 3)).astype(np.float32)),
    ),
    "nn.conv3d_transpose": each(
        lambda x, k: tf.nn.conv3d_transpose(x, k, [1, 8, 8, 8, 3], strides=2),
        (VOLUME, rng.normal(size=(2, 2, 2, 3, 2)).astype(np.float32)),
    ),
    "nn.convolution": each(lambda x, k: tf.nn.convolution(x, k), (SIGNAL, K1), (IMAGE, K2)),
    "nn.crelu": each(lambda x: tf.nn.crelu(x), F),
    "nn.depthwise_conv2d": each(
        lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"),
        (IMAGE, rng.normal(size=(3, 3, 3, 2))),
    ),
    "nn.elu": each(lambda x: tf.nn.elu(x), F, F32),
    "nn.gelu": [
        *each(lambda x: tf.nn.gelu(x), F32),
        *each(lambda x: tf.nn.gelu(x, approximate=True), F32),
    ],
    "nn.l2_loss": each(lambda x: tf.nn.l2_loss(x), F),
    "nn.leaky_relu": [
        *each(lambda x: tf.nn.leaky_relu(x), F, I),
        *each(lambda x: tf.nn.leaky_relu(x, alpha=0.3), F),
    ],
    "nn.log_softmax": each(lambda x: tf.nn.log_softmax(x, axis=0), F),
    "nn.max_pool": each(lambda x: tf.nn.max_pool(x, 2, 1, "VALID"), IMAGE),
    "nn.max_pool1d": each(lambda x: tf.nn.max_pool1d(x, 2, 2, "SAME"), SIGNAL),
    "nn.max_pool2d": each(lambda x: tf.nn.max_pool2d(x, [1, 2, 2, 1], 2, "SAME"), IMAGE),
    "nn.max_pool3d": each(lambda x: tf.nn.max_pool3d(x, 2, 2, "VALID"), VOLUME),
    "nn.moments": [
        *each(lambda x: tf.nn.moments(x, [0]), F, F32),
        *each(lambda x: tf.nn.moments(x, axes=[0, 1], keepdims=True), F),
    ],
    "nn.relu": each(lambda x: tf.nn.relu(x), F, I, F32, np.array([np.nan, -1.0])),
    "nn.relu6": each(lambda x: tf.nn.relu6(x), 3 * F, I),
    "nn.selu": each(lambda x: tf.nn.selu(x), F),
    "nn.sigmoid_cross_entropy_with_logits": each(
        lambda y, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x), (UNIT**2, F)
    ),
    "nn.silu": [
        *each(lambda x: tf.nn.silu(x), F),
        *each(lambda x: tf.nn.swish(x, 2.0), F),
    ],
    "nn.softmax": [
        *each(lambda x: tf.nn.softmax(x), F, F32, 1000 * F),
        *each(lambda x: tf.nn.softmax(x, axis=0), F),
    ],
    "nn.softmax_cross_entropy_with_logits": each(
        lambda y, x: tf.nn.softmax_cross_entropy_with_logits(y, x), (SHARES, F)
    ),
    "nn.softsign": each(lambda x: tf.nn.softsign(x), F),
    "nn.sparse_softmax_cross_entropy_with_logits": each(
        lambda y, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x),
        (SMALL[:2], F),
    ),
}


def _turns(x: Any) -> Any:
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 2), (0, x))


def _until_large(x: Any) -> Any:
    return tf.while_loop(
        lambda s: tf.reduce_sum(s) < 100.0, lambda s: [s + 1], [x], maximum_iterations=5
    )


def _case(x: Any) -> Any:
    total = tf.reduce_sum(x)
    return tf.case(
        [(tf.less(total, 0), lambda: -x), (tf.greater(total, 100), lambda: x * 0)],
        default=lambda: x + 1,
    )


def _checked(x: Any) -> Any:
    tf.debugging.assert_positive(x)
    tf.debugging.assert_non_negative(x)
    tf.debugging.assert_negative(-x)
    tf.debugging.assert_non_positive(-x)
    tf.debugging.assert_greater(x, -1.0, message="large")
    tf.debugging.assert_greater_equal(x, x)
    tf.debugging.assert_less(x, 100.0)
    tf.debugging.assert_less_equal(x, x)
    tf.debugging.assert_equal(x, x)
    tf.debugging.assert_none_equal(x, x + 1)
    tf.debugging.assert_near(x, x * (1 + 1e-12))
    tf.debugging.assert_all_finite(x, "finite")
    tf.debugging.assert_rank(x, 2)
    tf.debugging.Assert(tf.reduce_all(x > 0), [x])
    return tf.debugging.check_numerics(x, "finite") * 2


def _tape(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * x)
    return tape.gradient(y, x)


CONTROL: dict[str, list[Row]] = {
    "GradientTape": each(_tape, F, F32),
    "case": each(_case, F, -F),
    "cond": [
        *each(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x), F, -F),
        *each(lambda x: tf.cond(x[0, 0] > 1, true_fn=lambda: x + 1, false_fn=lambda: x), F, I),
    ],
    "foldl": [
        *each(lambda x: tf.foldl(lambda a, b: a + b * 2, x), F),
        *each(lambda x: tf.foldl(lambda a, b: a * b, x, initializer=tf.ones([3], x.dtype)), F),
    ],
    "foldr": each(lambda x: tf.foldr(lambda a, b: a - b, x), F),
    "map_fn": [
        *each(lambda x: tf.map_fn(lambda row: row * 2 + 1, x), F, I),
        *each(lambda x, y: tf.map_fn(lambda r: r[0] * r[1], (x, y), x.dtype), (F, G)),
        *each(lambda x: tf.map_fn(tf.reduce_sum, x), F),
    ],
    "print": [],
    "scan": [
        *each(lambda x: tf.scan(lambda a, b: a + b, x), F, I),
        *each(lambda x: tf.scan(lambda a, b: a * 0.5 + b, x, initializer=x[1]), F),
        *each(lambda x: tf.scan(lambda a, b: a - b, x, reverse=True), F),
    ],
    "stop_gradient": each(lambda x: tf.stop_gradient(x) * x, F),
    "switch_case": each(
        lambda i, x: tf.switch_case(i, [lambda: x, lambda: x * 2], default=lambda: x * 0),
        (np.array(0, np.int32), F),
        (np.array(1, np.int32), F),
        (np.array(-4, np.int32), F),
        (np.array(9, np.int32), F),
    ),
    "vectorized_map": each(lambda x: tf.vectorized_map(lambda r: tf.reduce_sum(r) * r, x), F),
    "while_loop": [*each(_turns, F, I), *each(_until_large, F)],
    **{
        name: each(_checked, POSITIVE.astype(np.float32))
        for name in (
            *("debugging.Assert", "debugging.assert_all_finite", "debugging.assert_equal"),
            *("debugging.assert_greater", "debugging.assert_greater_equal"),
            *("debugging.assert_less", "debugging.assert_less_equal", "debugging.assert_near"),
            *("debugging.assert_negative", "debugging.assert_non_negative"),
            *("debugging.assert_non_positive", "debugging.assert_none_equal"),
            *("debugging.assert_positive", "debugging.assert_rank", "debugging.check_numerics"),
        )
    },
}
