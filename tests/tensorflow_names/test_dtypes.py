"""Functions of one or two tensors, of every kind of dtype: TensorFlow's dtypes, or an error."""

import inspect

import ml_dtypes
import numpy as np
import pytest

import graphify
from graphify.errors import DTypeError
from graphify.tensorflow import elementwise, reductions

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow

DTYPES = (
    bool,
    np.int8,
    np.int64,
    np.uint8,
    np.uint32,
    np.float16,
    ml_dtypes.bfloat16,
    np.complex64,
)
OTHERS = {"cast", "clip_by_value", "math.add_n", "math.polyval", "math.scalar_mul", "searchsorted"}
NAMES = sorted({*elementwise.OPS, *reductions.OPS} - OTHERS)
STRICTER = {"math.divide_no_nan", "math.imag"}  # TensorFlow takes integers of 8 bits, and bools
DIGITS = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 1e-4, "complex64": 1e-4}


def values(dtype, rng):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random((2, 3)) > 0.5
    if kind in "iu":
        signs = rng.choice([-1, 1], (2, 3)) if kind == "i" else 1
        return (rng.integers(1, 9, (2, 3)) * signs).astype(dtype)
    return (rng.normal(size=(2, 3)) + (1j if kind == "c" else 0)).astype(dtype)


def results(made):
    return [x.numpy() for x in tf.nest.flatten(made)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_tensorflows_dtype_or_an_error(name, rng):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    parameters = inspect.signature(function).parameters.values()
    count = sum(p.default is p.empty for p in parameters)
    for dtype in DTYPES:
        args = [values(dtype, rng) for _ in range(count)]
        try:
            expected = results(function(*map(tf.constant, args)))
        except Exception:  # noqa: BLE001  # whatever TensorFlow refuses may be refused
            expected = None
        try:
            got = results(
                graphify.function(lambda *args: function(*args), engine="reference")(*args)
            )
        except DTypeError as error:
            assert "TensorFlow" in str(error)
            assert expected is None or name in STRICTER, dtype
            continue
        except Exception:
            assert expected is None
            continue
        for g, w in zip(got, expected or (), strict=bool(expected)):
            assert g.dtype == w.dtype and g.shape == w.shape
            rounding = DIGITS.get(w.dtype.name, 0)
            wide = np.complex128 if w.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(
                g.astype(wide), w.astype(wide), rtol=rounding, atol=rounding, err_msg=str(dtype)
            )
