"""Rules of graphify.nn's ops: windows of an axis, convolutions."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphify.engines.base import get_engine
from graphify.ir.op import REGISTRY
from tests.engines.native.lowered import agree, complains, graph_of

BF16 = np.dtype(ml_dtypes.bfloat16)
RNG = np.random.default_rng(0)
NAMES = ("window_sum", "window_spread", "window_max", "window_argmax")

# length, window, stride, dilation, padding, size
GEOMETRIES = [
    (6, 2, 2, 1, 0, 3),
    (7, 3, 2, 1, 1, 4),
    (9, 3, 1, 3, 3, 9),
    (40, 20, 3, 1, 5, 10),
    (5, 1, 4, 1, 0, 2),
    (8, 2, 1, 1, -3, 4),
]


def attributes(case: tuple[int, ...], spread: bool) -> tuple[int, dict[str, int]]:
    """The length of the operand, and the attributes of an op."""
    length, window, stride, dilation, padding, size = case
    attrs = {"window": window, "stride": stride, "dilation": dilation, "padding": padding}
    return (size, {**attrs, "size": length}) if spread else (length, {**attrs, "size": size})


@pytest.mark.parametrize("case", GEOMETRIES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["d", "e", BF16, "l", "?", "H"])
def test_windows(name: str, case: tuple[int, ...], dtype: Any) -> None:
    length, attrs = attributes(case, name == "window_spread")
    x = np.abs(RNG.normal(size=(length, 5)) * 4).astype(dtype)
    agree(REGISTRY[name], [x], host=False, axis=0, **attrs)
    agree(REGISTRY[name], [x.T.copy()], host=False, static=False, axis=1, **attrs)


@pytest.mark.parametrize("name", ["window_max", "window_argmax"])
def test_nan_is_the_greatest(name: str) -> None:
    x = RNG.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], (30, 4))
    for window, padding in ((3, 1), (15, 7)):
        attrs = {"window": window, "stride": 2, "dilation": 1, "padding": padding, "size": 14}
        agree(REGISTRY[name], [x], exact=name == "window_argmax", axis=0, **attrs)
    agree(REGISTRY[name], [np.full((30, 4), -np.inf)], axis=0, **attrs)


@pytest.mark.parametrize("name", ["window_max", "window_argmax"])
def test_windows_outside(name: str) -> None:
    attrs = {"window": 2, "stride": 1, "dilation": 1, "padding": 3, "size": 8}
    complains(REGISTRY[name], [np.ones((5, 2))], axis=0, **attrs)
    attrs = {"window": 20, "stride": 1, "dilation": 9, "padding": 300, "size": 8}
    complains(REGISTRY[name], [np.ones((5, 2))], axis=0, **attrs)


def test_sum_of_nothing() -> None:
    attrs = {"window": 2, "stride": 1, "dilation": 1, "padding": 3, "size": 12}
    agree(REGISTRY["window_sum"], [np.ones((5, 2))], axis=0, **attrs)
    agree(REGISTRY["window_sum"], [np.ones((0, 2))], axis=0, **attrs)
    agree(REGISTRY["window_sum"], [np.ones((5, 0))], axis=0, **attrs)


# --- convolution ----------------------------------------------------------------------------------

# spatial lengths of x, kernel, strides, dilations, padding, of y, groups, C, Q
CASES: list[Any] = [
    ((20, 17), (3, 3), (1, 1), (1, 1), (1, 1), (20, 17), 1, 8, 16),
    ((11, 12), (3, 2), (2, 3), (1, 2), (0, 1), (5, 4), 2, 3, 4),
    ((6, 5, 4), (2, 2, 2), (1, 1, 1), (1, 1, 1), (0, 0, 0), (5, 4, 3), 1, 2, 3),
    ((3, 3, 3, 3), (2, 2, 2, 2), (1,) * 4, (1,) * 4, (0,) * 4, (2,) * 4, 1, 2, 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case[0])}d")
@pytest.mark.parametrize("dtype", ["f", "D", "l"])
@pytest.mark.parametrize("operands", ["xw", "yw", "xy"])
def test_convolution(case: Any, dtype: str, operands: str) -> None:
    n, k, strides, dilations, padding, out, groups, c, q = case
    shapes = {"x": (2, *n, groups * c), "w": (*k, c, groups * q), "y": (2, *out, groups * q)}
    name, size = {
        "xw": ("convolution", out),
        "yw": ("convolution_input", n),
        "xy": ("convolution_kernel", k),
    }[operands]
    arrays = [(RNG.normal(size=shapes[o]) * 3).astype(dtype) for o in operands]
    attrs = {"size": size, "strides": strides, "dilations": dilations, "padding": padding}
    agree(
        REGISTRY[name],
        arrays,
        loss=100,
        host=len(n) > 3,
        static=len(n) == 2,
        groups=groups,
        **attrs,
    )


def test_channels_that_do_not_fit() -> None:
    attrs = {"size": (3,), "strides": (1,), "dilations": (1,), "padding": (0,), "groups": 1}
    graph = graph_of(REGISTRY["convolution"], [np.ones((1, 5, 2)), np.ones((3, 2, 4))], True, attrs)
    executable = get_engine("native").compile(graph)
    with pytest.raises(ValueError, match="channels of the input: expected 3, got 2"):
        executable([np.ones((1, 5, 2)), np.ones((3, 3, 4))])
