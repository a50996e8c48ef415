"""Values where kernels and NumPy tend to part: extremes of dtypes, zeros, NaN and infinities."""

from typing import Any

import numpy as np
import pytest

from graphify.engines.base import get_engine
from graphify.errors import SpecError
from graphify.ir.context import recording
from graphify.ir.graph import Builder
from graphify.ir.op import REGISTRY
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, DTYPES, Spec, bfloat16
from tests.engines import ops as _ops  # noqa: F401  # registers every op
from tests.engines.test_tensorflow import compare

pytestmark = pytest.mark.tensorflow

ELEMENTWISE = sorted(name for name, op in REGISTRY.items() if op.extra.get("ufunc") is not None)

# Where the last bits of a wide range of results differ between libraries.
LOSS = {"power": 1e3, "float_power": 1e3, "exp2": 1e2, "exp": 1e2, "tan": 1e3}


def edges(dtype: Any) -> Any:
    """Values of a dtype at which something special happens."""
    if dtype == BOOL:
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, 7, 31, info.max, info.max - 1]
        return np.array(values + ([-1, -2, -7, info.min] if dtype.kind == "i" else []), dtype)
    reals = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        -1.5,
        2.0,
        -2.5,
        3.0,
        8.0,
        1000.0,
        np.nan,
        np.inf,
        -np.inf,
    ]
    if dtype.kind == "c":
        return np.array([complex(a, b) for a in reals[:9] for b in reals[:9:3]], dtype)
    return np.array(reals, dtype)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_edges(name: str) -> None:
    op = REGISTRY[name]
    builder, feeds, results = Builder(), [], []
    with recording(builder):
        for dtype in DTYPES:
            if dtype == bfloat16:
                continue
            values = edges(dtype)
            arrays = [values] if op.extra["ufunc"].nin == 1 else [values[:, None], values[None, :]]
            if name == "power" and dtype.kind == "i":
                arrays[1] = arrays[1][arrays[1] >= 0][None, :]
            params = [Tensor(builder.param(Spec(a.shape, a.dtype))) for a in arrays]
            try:
                y = op(*params)
            except (SpecError, TypeError):  # NumPy has no such loop
                builder.params[len(builder.params) - len(params) :] = []
                continue
            feeds += arrays
            results += [t._value for t in (y if isinstance(y, tuple) else [y])]
    with np.errstate(all="ignore"):
        compare(builder.finish(results), feeds, loss=LOSS.get(name, 10))


def build(function: Any, *specs: Spec) -> Any:
    """The graph that a function of tensors records."""
    builder = Builder()
    with recording(builder):
        results = function(*(Tensor(builder.param(spec)) for spec in specs))
        results = results if isinstance(results, (tuple, list)) else [results]
        return builder.finish([r._value for r in results])


def call(name: str, **attrs: Any) -> Any:
    return lambda *tensors: REGISTRY[name](*tensors, **attrs)


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_cast_to_every_dtype(source: Any) -> None:
    values = edges(source) if source != bfloat16 else np.array([0, 1.5, -2, 300]).astype(bfloat16)
    if source.kind == "f":
        large = [300.7, -300.7, 70000.0, -70000.0, 3e9, -3e9, 1e18, 1.5e19, 1e30]
        with np.errstate(over="ignore"):
            values = np.concatenate([values, np.array(large).astype(source)])
    cast = REGISTRY["cast"]
    targets = list(DTYPES)
    graph = build(lambda x: [cast(x, dtype=d) for d in targets], Spec(values.shape, values.dtype))
    with np.errstate(all="ignore"):
        compare(graph, [values])


REDUCTIONS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_of_every_dtype(dtype: Any, rng: np.random.Generator) -> None:
    x = rng.integers(0, 4, (2, 3, 4)).astype(dtype)
    if dtype.kind in "fc":
        x[0, 1, 2] = x[1, 2, 0] = np.nan

    def function(t: Any) -> Any:
        both = [
            REGISTRY[n](t, axes=a)
            for n in REDUCTIONS
            for a in [(1,), (0, 2), ()]
            if allowed(n, dtype)
        ]
        return both + [REGISTRY[n](t, axis=1) for n in ("argmax", "argmin", "cumsum", "cumprod")]

    compare(build(function, Spec(x.shape, x.dtype)), [x], loss=100)


def allowed(name: str, dtype: Any) -> bool:
    """any and all take bools only."""
    return dtype == BOOL or name not in ("reduce_any", "reduce_all")


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != bfloat16], ids=str)
def test_running_extremes(name: str, dtype: Any) -> None:
    x = edges(dtype)
    compare(build(call(name, axis=0), Spec(x.shape, x.dtype)), [x])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != bfloat16], ids=str)
def test_sorting_every_dtype(dtype: Any, rng: np.random.Generator) -> None:
    x = rng.permutation(np.concatenate([edges(dtype)] * 2))

    def function(t: Any) -> Any:
        ordered = REGISTRY["sort"](t, axis=0)
        found = [REGISTRY["searchsorted"](ordered, t, side=s) for s in ("left", "right")]
        unique = [REGISTRY["unique"](t, axis=0, equal_nan=e) for e in (True, False)]
        return [
            ordered,
            REGISTRY["argsort"](t, axis=0, stable=True),
            *found,
            *unique[0],
            *unique[1],
        ]

    compare(build(function, Spec(x.shape, x.dtype)), [x])


def test_unique_rows(rng: np.random.Generator) -> None:
    x = rng.integers(0, 3, (20, 2, 2)).astype(float)
    compare(build(call("unique", axis=0, equal_nan=True), Spec(x.shape, x.dtype)), [x])
    x = rng.integers(-2, 2, (2, 30)).astype(np.int8)
    compare(build(call("unique", axis=1, equal_nan=True), Spec(x.shape, x.dtype)), [x])


EMPTY = [
    ("reduce_max", {"axes": (0,)}, (0, 3), ValueError),
    ("reduce_min", {"axes": (1,)}, (0, 3), None),
    ("reduce_sum", {"axes": (0,)}, (0, 3), None),
    ("reduce_prod", {"axes": (0, 1)}, (0, 3), None),
    ("argmax", {"axis": 0}, (0, 3), ValueError),
    ("argmin", {"axis": 1}, (0, 3), None),
    ("cumsum", {"axis": 0}, (0, 3), None),
    ("cummax", {"axis": 0}, (0, 3), None),
    ("sort", {"axis": 0}, (0, 3), None),
    ("argsort", {"axis": 1}, (0, 3), None),
    ("flip", {"axes": (0,)}, (0, 3), None),
    ("unique", {"axis": 0, "equal_nan": True}, (0,), None),
    ("nonzero", {}, (0, 3), None),
]


@pytest.mark.parametrize(("name", "attrs", "shape", "error"), EMPTY, ids=lambda v: str(v))
def test_empty_arrays(name: str, attrs: Any, shape: Any, error: Any) -> None:
    x = np.zeros(shape)
    graph = build(call(name, **attrs), Spec(x.shape, x.dtype))
    if error is None:
        compare(graph, [x])
        return
    messages = []
    for engine in ("reference", "tensorflow"):
        with pytest.raises(error) as caught:
            get_engine(engine).compile(graph)([x])
        messages.append(str(caught.value).splitlines()[0])
    assert messages[0] == messages[1]


def test_matrices_with_nan_and_singular_ones() -> None:
    matrices = [[[1, np.nan], [2, 3]], [[np.inf, 0], [0, 3]], [[1, 1], [1, 1]], [[4, 1], [1, 2]]]
    x = np.array(matrices, float)
    compare(build(call("inv", check=False), Spec(x.shape, x.dtype)), [x])
    for matrix in x[[0, 1, 3]]:
        compare(build(call("inv"), Spec((2, 2), x.dtype)), [matrix])
        compare(build(lambda a: REGISTRY["solve"](a, a), Spec((2, 2), x.dtype)), [matrix])


def test_complex_infinities() -> None:
    parts = [0.0, 1.0, np.inf, -np.inf, np.nan]
    x = np.array([complex(a, b) for a in parts for b in parts])
    compare(build(call("sign"), Spec(x.shape, x.dtype)), [x])


def test_an_empty_power_has_no_negative_exponent() -> None:
    specs = (Spec((0, 3), np.dtype("int8")), Spec((3,), np.dtype("int8")))
    compare(build(call("power"), *specs), [np.zeros((0, 3), "int8"), np.full(3, -1, "int8")])


def test_products_are_not_reordered() -> None:
    """TensorFlow's own optimiser would multiply the two smaller operands first, and overflow."""
    multiply = REGISTRY["multiply"]
    shapes = [(3, 1), (1, 3), (1, 3)]
    graph = build(
        lambda x, y, z: multiply(multiply(x, y), z), *(Spec(s, np.dtype("float64")) for s in shapes)
    )
    feeds = [np.full(s, v) for s, v in zip(shapes, (1e-300, 1e200, 1e200), strict=True)]
    compare(graph, feeds)
