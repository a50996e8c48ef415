"""Calls of TensorFlow's functions, by name: what is called, and arrays to call it with.

    "math.exp": [(lambda x: tf.exp(x), (F,))]

Each is run by TensorFlow itself and by graphify in test_table.py.
"""

# ruff: noqa: E731

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.tensorflow_names.inputs import (
    C64,
    CUBE,
    F32,
    I64,
    NO,
    POSITIVE,
    SMALL,
    SPECIAL,
    SQUARE,
    UNIT,
    VECTOR,
    B,
    C,
    F,
    G,
    I,
    J,
    Row,
    U,
    each,
)
from tests.tensorflow_names.rows_beyond import ALGEBRA, CONTROL, NETWORKS

ELEMENTWISE: dict[str, list[Row]] = {
    "math.abs": each(lambda x: tf.abs(x), F, I, C, C64, F32),
    "math.acos": each(lambda x: tf.acos(x), UNIT, C),
    "math.acosh": each(lambda x: tf.acosh(x), POSITIVE + 1),
    "math.angle": each(lambda x: tf.math.angle(x), C, C64, F),
    "math.asin": each(lambda x: tf.asin(x), UNIT, C),
    "math.asinh": each(lambda x: tf.asinh(x), F, C),
    "math.atan": each(lambda x: tf.atan(x), F, F32),
    "math.atanh": each(lambda x: tf.atanh(x), UNIT, C),
    "math.ceil": each(lambda x: tf.math.ceil(x), F, F32, SPECIAL),
    "math.conj": each(lambda x: tf.math.conj(x), C, C64, F, I),
    "math.cos": each(lambda x: tf.cos(x), F, C),
    "math.cosh": each(lambda x: tf.cosh(x), F, C),
    "math.erf": each(lambda x: tf.math.erf(x), F, F32, 100 * F),
    "math.erfc": each(lambda x: tf.math.erfc(x), F, F32, SPECIAL),
    "math.exp": each(lambda x: tf.exp(x), F, C, F32, SPECIAL),
    "math.expm1": each(lambda x: tf.math.expm1(x), F, F32),
    "math.floor": each(lambda x: tf.floor(x), F, F32, SPECIAL),
    "math.imag": each(lambda x: tf.math.imag(x), C, C64),
    "math.is_finite": each(lambda x: tf.math.is_finite(x), F, SPECIAL),
    "math.is_inf": each(lambda x: tf.math.is_inf(x), SPECIAL),
    "math.is_nan": each(lambda x: tf.math.is_nan(x), SPECIAL),
    "math.log": each(lambda x: tf.math.log(x), POSITIVE, C),
    "math.log1p": each(lambda x: tf.math.log1p(x), POSITIVE, F32**2),
    "math.log_sigmoid": each(lambda x: tf.math.log_sigmoid(x), F, 100 * F),
    "math.logical_not": each(lambda x: tf.logical_not(x), B),
    "math.negative": each(lambda x: tf.negative(x), F, I, C),
    "math.real": each(lambda x: tf.math.real(x), C, C64, F),
    "math.reciprocal": each(lambda x: tf.math.reciprocal(x), F, C, F32),
    "math.reciprocal_no_nan": each(lambda x: tf.math.reciprocal_no_nan(x), F, F - 0.3),
    "math.rint": each(lambda x: tf.math.rint(x), F, np.array([0.5, 1.5, -2.5])),
    "math.round": each(lambda x: tf.round(x), F, I, U, np.array([0.5, 1.5, -2.5])),
    "math.rsqrt": each(lambda x: tf.math.rsqrt(x), POSITIVE, C),
    "math.sigmoid": each(lambda x: tf.sigmoid(x), F, F32, 1000 * F),
    "math.sign": each(lambda x: tf.sign(x), F, I, C, np.array([0.0, np.nan])),
    "math.sin": each(lambda x: tf.sin(x), F, C),
    "math.sinh": each(lambda x: tf.sinh(x), F, C),
    "math.softplus": each(lambda x: tf.math.softplus(x), F, 100 * F),
    "math.sqrt": each(lambda x: tf.sqrt(x), POSITIVE, C, F32**2),
    "math.square": each(lambda x: tf.square(x), F, I, C, U),
    "math.tan": each(lambda x: tf.tan(x), F, C),
    "math.tanh": each(lambda x: tf.tanh(x), F, C),
    "math.add": [
        *each(lambda x, y: tf.add(x, y), (F, G), (I, J), (C, C), (U, U)),
        *each(lambda x: tf.add(x, 1), F, I, F32, C64),
        *each(lambda x: tf.add(x, 2.5), F, F32, C64),
        *each(lambda x: tf.math.add(x=x, y=[1.0, 2.0, 3.0], name="sum"), F, F32),
    ],
    "math.atan2": each(lambda y, x: tf.atan2(y, x), (F, G)),
    "math.divide": [
        *each(lambda x, y: tf.divide(x, y), (F, G), (I, J), (U, U), (C, C)),
        *each(lambda x: tf.divide(x, 2), F, I, F32, U),
    ],
    "math.divide_no_nan": each(lambda x, y: tf.math.divide_no_nan(x, y), (F, G), (F, G - 0.8)),
    "math.equal": [
        *each(lambda x, y: tf.equal(x, y), (F, F), (I, J), (B, NO), (C, C)),
        *each(lambda x: tf.equal(x, 2), I, F, U),
    ],
    "math.floordiv": each(lambda x, y: tf.math.floordiv(x, y), (F, G), (I, J), (U, U)),
    "math.floormod": each(lambda x, y: tf.math.floormod(x, y), (F, G), (I, J), (U, U)),
    "math.greater": [
        *each(lambda x, y: tf.greater(x, y), (F, G), (I, J), (SPECIAL, -SPECIAL)),
        *each(lambda x: tf.greater(x, 0), F, I, U, F32),
    ],
    "math.greater_equal": each(lambda x, y: tf.greater_equal(x, y), (F, F), (I, J)),
    "math.less": each(lambda x, y: tf.less(x, y), (F, G), (I, J)),
    "math.less_equal": each(lambda x, y: tf.less_equal(x, y), (F, F), (I, J)),
    "math.logical_and": each(lambda x, y: tf.logical_and(x, y), (B, NO)),
    "math.logical_or": each(lambda x, y: tf.logical_or(x, y), (B, NO)),
    "math.logical_xor": each(lambda x, y: tf.math.logical_xor(x, y), (B, B), (B, NO)),
    "math.maximum": [
        *each(lambda x, y: tf.maximum(x, y), (F, G), (I, J), (SPECIAL, SPECIAL[::-1].copy())),
        *each(lambda x: tf.maximum(x, 1), F, I, U),
    ],
    "math.minimum": each(lambda x, y: tf.minimum(x, y), (F, G), (I, J)),
    "math.multiply": each(lambda x, y: tf.multiply(x, y), (F, G), (I, J), (C, C), (F, VECTOR)),
    "math.multiply_no_nan": each(
        lambda x, y: tf.math.multiply_no_nan(x, y), (F, G), (SPECIAL, np.zeros(5))
    ),
    "math.not_equal": each(lambda x, y: tf.not_equal(x, y), (F, G), (I, J), (B, NO)),
    "math.pow": [
        *each(lambda x, y: tf.pow(x, y), (POSITIVE, G), (I, np.abs(J)), (C, C)),
        *each(lambda x: tf.pow(x, 2), F, I, F32),
        *each(lambda x: tf.pow(x, 0.5), POSITIVE),
    ],
    "math.squared_difference": each(
        lambda x, y: tf.math.squared_difference(x, y), (F, G), (I, J), (C, C.conj())
    ),
    "math.subtract": each(lambda x, y: tf.subtract(x, y), (F, G), (I, J), (F, VECTOR)),
    "math.truediv": each(lambda x, y: tf.truediv(x, y), (F, G), (I, J), (U, U), (I64, I64)),
    "math.xdivy": each(lambda x, y: tf.math.xdivy(x, y), (F, G), (0 * F, 0 * F)),
    "math.xlog1py": each(lambda x, y: tf.math.xlog1py(x, y), (F, POSITIVE), (0 * F, POSITIVE - 2)),
    "math.xlogy": each(lambda x, y: tf.math.xlogy(x, y), (F, POSITIVE), (0 * F, 0 * F)),
    "realdiv": each(lambda x, y: tf.realdiv(x, y), (F, G), (C, C)),
    "truncatediv": each(lambda x, y: tf.truncatediv(x, y), (I, J), (U, U), (F, G)),
    "truncatemod": each(lambda x, y: tf.truncatemod(x, y), (I, J), (F, G)),
    "cast": [
        *each(lambda x: tf.cast(x, tf.int32), F, I, B, U, 50 * F32),
        *each(lambda x: tf.cast(x, tf.float32), F, I, B, C),
        *each(lambda x: tf.cast(x, tf.bool), F, I),
        *each(lambda x: tf.cast(x, dtype=tf.uint8), I64, B),
        *each(lambda x: tf.cast(x, "complex64"), F, I),
        *each(lambda x: tf.cast(x, np.float64), F32),
    ],
    "clip_by_value": [
        *each(lambda x: tf.clip_by_value(x, -1, 1), F, I, F32, np.array([np.nan, 2.0])),
        *each(lambda x, y: tf.clip_by_value(x, clip_value_min=y, clip_value_max=2.0), (F, G)),
    ],
    "dtypes.complex": each(lambda x, y: tf.complex(x, y), (F, G), (F32, F32)),
    "math.add_n": each(lambda x, y: tf.add_n([x, y, x]), (F, G), (I, J)),
    "math.polyval": each(lambda x: tf.math.polyval([2.0, 1.0, 3.0], x), F32),
    "math.scalar_mul": each(lambda x: tf.math.scalar_mul(3, x), F, I),
}

REDUCTIONS: dict[str, list[Row]] = {
    f"math.reduce_{name}": [
        *[(lambda x, f=f: f(x), (x,)) for x in arrays],
        *[(lambda x, f=f: f(x, axis=1), (x,)) for x in arrays],
        *[(lambda x, f=f: f(x, [0, -1], True), (x,)) for x in arrays],
        *[(lambda x, f=f: f(input_tensor=x, axis=[0], keepdims=True), (x,)) for x in arrays[:1]],
    ]
    for name, f, arrays in (
        ("all", tf.reduce_all, (B,)),
        ("any", tf.reduce_any, (NO,)),
        ("euclidean_norm", tf.math.reduce_euclidean_norm, (F, F32, C)),
        ("logsumexp", tf.reduce_logsumexp, (F, 1000 * F)),
        ("max", tf.reduce_max, (F, I)),
        ("mean", tf.reduce_mean, (F, I, -np.abs(I64), C, F32)),
        ("min", tf.reduce_min, (F, I)),
        ("prod", tf.reduce_prod, (F, I, C)),
        ("std", tf.math.reduce_std, (F, F32)),
        ("sum", tf.reduce_sum, (F, I, C, F32)),
        ("variance", tf.math.reduce_variance, (F, C)),
    )
}
REDUCTIONS["math.reduce_sum"] += [
    *each(lambda x: tf.reduce_sum(x, axis=[]), F),
    *each(lambda x: tf.reduce_sum([x, x]), F),
    *each(lambda x: tf.reduce_sum(x), U),
]
REDUCTIONS["math.reduce_max"] += each(lambda x: tf.reduce_max(x), np.array([1.0, np.nan, 2.0]))
REDUCTIONS |= {
    "math.argmax": [
        *each(lambda x: tf.argmax(x), F, I, np.array([np.nan, 1.0, 2.0])),
        *each(lambda x: tf.argmax(x, axis=-1, output_type=tf.int32), F, np.array([2.0, np.nan, 3])),
    ],
    "math.argmin": each(lambda x: tf.argmin(x, 1), F, I),
    "math.count_nonzero": [
        *each(lambda x: tf.math.count_nonzero(x), F, I, B),
        *each(lambda x: tf.math.count_nonzero(x, axis=0, keepdims=True, dtype=tf.int32), B),
    ],
    "math.zero_fraction": each(lambda x: tf.math.zero_fraction(x), np.array([0.0, 1.0, 0.0, 2.0])),
    "math.cumsum": [
        *each(lambda x: tf.cumsum(x), F, I, F32),
        *each(lambda x: tf.cumsum(x, axis=1, exclusive=True), F, I),
        *each(lambda x: tf.cumsum(x, axis=-1, reverse=True), F),
        *each(lambda x: tf.cumsum(x, 1, True, True), F),
    ],
    "math.cumprod": each(lambda x: tf.math.cumprod(x, axis=1, exclusive=True), F, I),
    "math.top_k": [
        *each(lambda x: tf.math.top_k(x, k=2), F, I, np.array([1.0, 3.0, 2.0, 3.0])),
        *each(lambda x: tf.nn.top_k(x).values, F),
    ],
    "argsort": [
        *each(lambda x: tf.argsort(x), F, np.array([3, 1, 2, 1], np.int32)),
        *each(lambda x: tf.argsort(x, axis=0, direction="DESCENDING"), F, SMALL),
    ],
    "sort": [
        *each(lambda x: tf.sort(x), F, I),
        *each(lambda x: tf.sort(x, axis=0, direction="DESCENDING"), F, SMALL),
    ],
    "searchsorted": [
        *each(lambda a, x: tf.searchsorted(a, x), (np.array([1.0, 2.0, 4.0]), VECTOR)),
        *each(lambda a, x: tf.searchsorted(a, x, "right", tf.int64), (np.array([1, 2, 4]), I64[0])),
    ],
    "unique": each(lambda x: tf.unique(x), np.array([3, 1, 3, 2, 1], np.int32), VECTOR),
    "unique_with_counts": each(
        lambda x: tf.unique_with_counts(x, out_idx=tf.int64), np.array([3, 1, 3, 2, 1], np.int32)
    ),
}

IDS = np.array([0, -1, 2], np.int32)
ARRAYS: dict[str, list[Row]] = {
    "constant": [
        *each(lambda x: x + tf.constant([1.0, 2.0, 3.0], tf.float64), F),
        *each(lambda x: tf.constant(7, shape=[2, 3]) + x, I),
        *each(lambda x: tf.constant(4.0) * x, F32),
        *each(lambda x: tf.constant([1.0, 2.0, 3.0]) > x, F32),
    ],
    "convert_to_tensor": [
        *each(lambda x: tf.convert_to_tensor(x), F, I),
        *each(lambda x: tf.convert_to_tensor([x[0], x[1]]), F),
    ],
    "eye": [
        *each(lambda x: tf.eye(3, dtype=tf.float64) + x, SQUARE),
        *each(lambda x: tf.eye(tf.shape(x)[1], 4), F),
        *each(lambda x: tf.eye(tf.size(x), batch_shape=[2]), VECTOR),
    ],
    "fill": [
        *each(lambda x: tf.fill(tf.shape(x), 3), F),
        *each(lambda x: tf.fill([2, 2], x[0, 0]), F, I),
    ],
    "linspace": [
        *each(lambda x: tf.linspace(x[0], x[1], 5), VECTOR, SMALL),
        *each(lambda x, y: tf.linspace(x, y, 4, axis=-1), (F, G)),
    ],
    "meshgrid": [
        *each(lambda x, y: tf.meshgrid(x, y), (VECTOR, F[0]), (SMALL, IDS)),
        *each(lambda x, y: tf.meshgrid(x, y, indexing="ij"), (VECTOR, VECTOR)),
    ],
    "one_hot": [
        *each(lambda x: tf.one_hot(x, 3), SMALL, I),
        *each(lambda x: tf.one_hot(x, 3, axis=0, dtype=tf.int8), SMALL),
        *each(lambda x: tf.one_hot(x, depth=4, on_value=5, off_value=-1), SMALL),
        *each(lambda x: tf.one_hot(x, 3, 2.0, 0.5), SMALL),
    ],
    "ones": each(lambda x: tf.ones([2, 3]) * x, F32),
    "ones_like": each(lambda x: tf.ones_like(x, dtype=tf.int32), F),
    "range": [
        *each(lambda x: tf.range(x[0]), np.array([4, 1], np.int32)),
        *each(lambda x: tf.range(x[0], 10, x[1]), np.array([1, 4])),
        *each(lambda x: tf.range(x[0], 4.0, 0.5, dtype=tf.float32), np.array([1.0], np.float32)),
        *each(lambda x: tf.range(tf.size(x)), VECTOR),
    ],
    "sequence_mask": [
        *each(lambda x: tf.sequence_mask(x, 4), SMALL),
        *each(lambda x: tf.sequence_mask(x, dtype=tf.float32), SMALL),
    ],
    "zeros": each(lambda x: tf.zeros(tf.shape(x), tf.float64) + x, F),
    "zeros_like": each(lambda x: tf.zeros_like(x), F, I, B),
    "broadcast_to": each(lambda x: tf.broadcast_to(x, [4, 2, 3]), F, I),
    "concat": [
        *each(lambda x, y: tf.concat([x, y], 0), (F, G), (I, J)),
        *each(lambda x, y: tf.concat(values=[x, y, x], axis=-1), (F, G)),
    ],
    "ensure_shape": each(lambda x: tf.ensure_shape(x, [None, 3]), F),
    "expand_dims": each(lambda x: tf.expand_dims(x, -1), F, I),
    "identity": each(lambda x: tf.identity(x), F, I, B),
    "pad": [
        *each(lambda x: tf.pad(x, [[1, 0], [2, 1]]), F, I),
        *each(lambda x: tf.pad(x, [[1, 1], [0, 2]], constant_values=7), F, I),
        *each(lambda x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT"), F),
        *each(lambda x: tf.pad(x, [[1, 2], [2, 3]], mode="symmetric"), F),
    ],
    "rank": each(lambda x: tf.rank(x), F, VECTOR),
    "repeat": [
        *each(lambda x: tf.repeat(x, 2), VECTOR, F),
        *each(lambda x, n: tf.repeat(x, n, axis=1), (F, SMALL)),
    ],
    "reshape": [
        *each(lambda x: tf.reshape(x, [-1]), F, I),
        *each(lambda x: tf.reshape(x, (3, 2)), F),
        *each(lambda x: tf.reshape(x, [tf.shape(x)[1], -1]), F),
        *each(lambda x, y: tf.reshape(x, tf.shape(y)), (F, F.T.copy())),
    ],
    "reverse": each(lambda x: tf.reverse(x, [0, -1]), F, I),
    "roll": [
        *each(lambda x: tf.roll(x, 1, 0), F),
        *each(lambda x: tf.roll(x, shift=[1, -2], axis=[0, 1]), F, I),
    ],
    "shape": [
        *each(lambda x: tf.shape(x), F, CUBE),
        *each(lambda x: tf.shape(x, out_type=tf.int64)[0], F),
    ],
    "size": each(lambda x: tf.size(x), F, VECTOR),
    "split": [
        *each(lambda x: tf.split(x, 3, axis=1), F, I),
        *each(lambda x: tf.split(x, [1, -1], 1), F),
        *each(lambda x: tf.split(x, num_or_size_splits=[2, 1], axis=-1), F),
    ],
    "squeeze": [
        *each(lambda x: tf.squeeze(x, axis=[0]), F[None]),
        *each(lambda x: tf.squeeze(x), F[None]),
    ],
    "stack": [
        *each(lambda x, y: tf.stack([x, y]), (F, G), (I, J)),
        *each(lambda x, y: tf.stack([x, y], axis=-1), (F, G)),
        *each(lambda x: tf.stack([x[0, 0], 2, x[0, 1]]), F, I),
    ],
    "tile": each(lambda x: tf.tile(x, [2, 3]), F, I),
    "transpose": [
        *each(lambda x: tf.transpose(x), F, CUBE),
        *each(lambda x: tf.transpose(x, perm=[1, 2, 0]), CUBE),
        *each(lambda x: tf.transpose(x, conjugate=True), C),
    ],
    "unstack": [
        *each(lambda x: tf.unstack(x), F),
        *each(lambda x: tf.unstack(x, axis=1), F, I),
    ],
    "boolean_mask": [
        *each(lambda x, m: tf.boolean_mask(x, m), (F, B), (I, B)),
        *each(lambda x, m: tf.boolean_mask(x, m, axis=1), (F, B[0])),
    ],
    "gather": [
        *each(lambda x, i: tf.gather(x, i), (F, np.array([1, 0, 1])), (VECTOR, SMALL)),
        *each(lambda x, i: tf.gather(x, i, axis=1), (F, SMALL), (CUBE, SMALL[:, None])),
        *each(lambda x, i: tf.gather(x, i, batch_dims=1), (F, SMALL[None].repeat(2, 0))),
        *each(lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), (CUBE, SMALL[None].repeat(2, 0))),
    ],
    "gather_nd": [
        *each(lambda x, i: tf.gather_nd(x, i), (F, np.array([[0, 1], [1, 2]])), (F, [[1], [0]])),
        *each(lambda x, i: tf.gather_nd(x, i, batch_dims=1), (F, np.array([[2], [0]]))),
    ],
    "nn.embedding_lookup": each(lambda x, i: tf.nn.embedding_lookup(x, i), (F, [[1, 0], [0, 0]])),
    "scatter_nd": each(
        lambda i, x: tf.scatter_nd(i, x, [4, 3]),
        (np.array([[0], [2]]), F),
        (np.array([[1], [1]]), I),
    ),
    "slice": [
        *each(lambda x: tf.slice(x, [0, 1], [2, -1]), F, I),
        *each(lambda x, i: tf.slice(x, [i[0], 0], [1, 2]), (F, np.array([1], np.int32))),
    ],
    "tensor_scatter_nd_add": each(
        lambda x, i, y: tf.tensor_scatter_nd_add(x, i, y), (F, np.array([[1], [1]]), G)
    ),
    "tensor_scatter_nd_max": each(
        lambda x, i, y: tf.tensor_scatter_nd_max(x, i, y), (F, np.array([[1], [0]]), G)
    ),
    "tensor_scatter_nd_min": each(
        lambda x, i, y: tf.tensor_scatter_nd_min(x, i, y), (F, np.array([[1], [0]]), G)
    ),
    "tensor_scatter_nd_sub": each(
        lambda x, i, y: tf.tensor_scatter_nd_sub(x, i, y), (F, np.array([[0, 1]]), [2.0])
    ),
    "tensor_scatter_nd_update": each(
        lambda x, i, y: tf.tensor_scatter_nd_update(x, i, y),
        (F, np.array([[1], [0]]), G),
        (I, np.array([[1, 2], [0, 0]]), SMALL[:2]),
    ),
    "where": [
        *each(lambda c, x, y: tf.where(c, x, y), (B, F, G), (B, I, J), (B[0], F, G)),
        *each(lambda x: tf.where(x > 0, x, 0), F, I),
        *each(lambda x: tf.where(x), B, I),
    ],
    **{
        f"math.unsorted_segment_{name}": [
            *each(lambda x, i, f=f: f(x, i, 4), *[(x, IDS) for x in arrays]),
            *each(lambda x, i, f=f: f(x, i, 3), *[(x, SMALL[:2]) for x in (F,)]),
        ]
        for name, f, arrays in (
            ("max", tf.math.unsorted_segment_max, (VECTOR, SMALL)),
            ("mean", tf.math.unsorted_segment_mean, (VECTOR,)),
            ("min", tf.math.unsorted_segment_min, (VECTOR, SMALL)),
            ("prod", tf.math.unsorted_segment_prod, (VECTOR, SMALL)),
            ("sum", tf.math.unsorted_segment_sum, (VECTOR, SMALL)),
        )
    },
}

ROWS = ELEMENTWISE | REDUCTIONS | ARRAYS | ALGEBRA | NETWORKS | CONTROL
