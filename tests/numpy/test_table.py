"""Every function of graphify.numpy against NumPy: one row per way of calling it."""

from typing import Any

import numpy as np
import pytest

import graphify.numpy as gnp
from graphify.numpy._table import NAMES
from graphify.numpy._ufunc import Ufunc
from tests.numpy.harness import (
    ALL,
    MODES,
    NUMBERS,
    REAL,
    A,
    Fixed,
    M,
    N,
    P,
    Row,
    S,
    check,
    row,
    warned,
)

MASK = Fixed([[True, False, True], [False, True, True]])
ROWS: list[Row] = []


def rows(*items: Row) -> None:
    ROWS.extend(items)


# --- ufuncs ------------------------------------------------------------------------------------

UFUNCS = sorted(
    name for name, f in NAMES.items() if isinstance(f, Ufunc) and not name.startswith("_")
)
for name in UFUNCS:
    if NAMES[name].nin == 1:
        rows(
            row(name, A(2, 3)),
            row(name, N(5)),
            row(name, A(0)),
            row(name, A()),
            row(name, 1),
            row(name, 0.5),
        )
        rows(row(name, A(2, 3, order="F")), row(name, [1, 2]), row(name, True))
    else:
        rows(
            row(name, A(2, 3), P(3)),
            row(name, N(6), P(6)),
            row(name, A(0, 3), A(3)),
            row(name, A(), P(2, 1)),
        )
        rows(
            row(name, A(4), 2),
            row(name, 2, P(4)),
            row(name, A(4), 0.5),
            row(name, A(4), 1j),
            row(name, 2, 3),
        )
        rows(
            row(name, 2, 0.5),
            row(name, A(4), True),
            row(name, A(2), A(3)),
            row(name, A(3), 2.0**40),
        )
for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
    rows(
        row(name, A(4), 300), row(name, -1, A(4)), row(name, A(4), 2**70), row(name, A(4), -(2**70))
    )
rows(
    row("add", A(4), 300),
    row("add", A(4), -1),
    row("add", A(4), 2**63),
    row("add", A(4), 2**70, dtypes="?bilBLefdFD"),
    row("add", A(3), A(3), dtype="d"),
    row("add", A(3), A(3), dtype="f"),
    row("add", A(3), A(3), casting="no"),
    row("sin", A(3), dtype="f"),
    row("add", A(3, dtype="i"), A(3)),
    row("add", A(3, dtype="f"), A(3)),
    row("add", A(3, dtype="L"), A(3)),
    row("add.reduce", A(2, 3)),
    row("add.reduce", A(2, 3), axis=1, keepdims=True),
    row("add.reduce", A(2, 3), axis=None),
    row("multiply.reduce", A(2, 3)),
    row("maximum.reduce", A(2, 3)),
    row("minimum.reduce", A(2, 3), axis=(0, 1)),
    row("logical_and.reduce", A(2, 3)),
    row("logical_or.reduce", A(2, 3)),
    row("logical_xor.reduce", A(2, 3), sized=False),
    row("subtract.reduce", A(2, 3), axis=1, sized=False),
    row("bitwise_or.reduce", A(2, 3), sized=False),
    row("fmax.reduce", N(2, 3), sized=False, dtypes=REAL),
    row("add.accumulate", A(2, 3)),
    row("multiply.accumulate", A(2, 3), axis=1),
    row("maximum.accumulate", A(2, 3), axis=1),
    row("minimum.accumulate", A(5)),
    row("subtract.accumulate", A(4), sized=False),
    row("add.outer", A(2), A(3)),
    row("multiply.outer", A(2, 2), 3),
    row("less.outer", A(2), A(2, 2)),
)

# --- elementwise functions ---------------------------------------------------------------------

rows(
    row("where", MASK, A(2, 3), A(3)),
    row("where", MASK, A(2, 3), 0),
    row("where", MASK, 1, 0.5),
    row("where", A(3), A(3), A(3, dtype="d")),
    row("where", MASK),
    row("clip", A(5), -1, 2),
    row("clip", A(5), None, 2),
    row("clip", A(5), 0, None),
    row("clip", A(5), None, None),
    row("clip", A(2, 3), A(3), 2.5),
    row("clip", A(5), min=0, max=1),
    row("clip", N(5), 0, 1),
    row("round", A(5)),
    row("round", A(5), 1),
    row("round", A(5), decimals=-1),
    row("around", N(5)),
    row("fix", A(5)),
    row("nan_to_num", N(5)),
    row("nan_to_num", N(5), nan=1.0, posinf=2.0, neginf=-3.0),
    row("real", A(2, 3)),
    row("imag", A(2, 3)),
    row("angle", A(2, 3)),
    row("angle", A(3), deg=True),
    row("isclose", A(4), A(4)),
    row("isclose", N(5), N(5), equal_nan=True),
    row("isclose", A(4), 0),
    row("allclose", A(4), A(4)),
    row("allclose", A(4), P(4)),
    row("array_equal", A(4), A(4)),
    row("array_equal", A(4), P(4)),
    row("array_equal", A(4), P(2, 2)),
    row("array_equal", N(5), N(5)),
    row("array_equal", N(5), N(5), equal_nan=True),
    row("array_equiv", A(1, 3), A(3)),
    row("isposinf", N(5), dtypes=REAL),
    row("isneginf", N(5), dtypes=REAL),
    row("iscomplex", A(3)),
    row("isreal", A(3)),
    row("iscomplexobj", A(3)),
    row("isrealobj", A(3)),
    row("sinc", A(4), dtypes="ilfdD"),
    row("sinc", Fixed([0.0, 0.5, 1.0])),
    row("sinc", Fixed(np.array([0.0, -0.0], np.float16))),
    row("unwrap", P(6), dtypes="fd", loss=4),
    row("unwrap", Fixed([0.0, 3.0, 6.5, 1.0, -3.0]), loss=4),
    row("unwrap", Fixed([[0, 3, 8], [1, 9, 2]]), period=4),
)

# --- reductions --------------------------------------------------------------------------------

for name in (
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "any",
    "all",
    "amax",
    "amin",
    "ptp",
    "count_nonzero",
):
    for axis in (None, 0, -1, (0, 1), (), (2, 0)):
        rows(row(name, A(2, 3, 4), axis=axis, loss=10))
    rows(
        row(name, A(2, 3), axis=1, keepdims=True), row(name, A(2, 3), keepdims=True), row(name, A())
    )
    numbers = (
        NUMBERS if name == "ptp" else ALL
    )  # of no elements and of bools there are two errors to choose from
    rows(row(name, A(0), dtypes=numbers), row(name, A(0, 3), axis=0, dtypes=numbers))
    rows(row(name, A(0, 3), axis=1), row(name, N(2, 3), axis=1))
    rows(
        row(name, A(2, 3), axis=2),
        row(name, A(2, 3), axis=(0, 0)),
        row(name, A(3, 2, order="F"), axis=0),
    )
    rows(row(name, [1, 2, 3]), row(name, 5), row(name, 2.5))
for name in ("sum", "prod", "mean", "cumsum", "cumprod", "nansum", "nanmean"):
    rows(row(name, A(2, 3), dtype="d"), row(name, A(2, 3), dtype="f", dtypes="bilBefd"))
    rows(
        row(name, A(2, 3), dtype="i", dtypes="bil")
        if name not in ("mean", "nanmean")
        else row(name, A(3), dtype="F", dtypes="fd")
    )
for name in ("sum", "prod"):
    rows(
        row(name, A(2, 3), initial=3),
        row(name, A(2, 3), axis=1, where=MASK),
        row(name, A(0), initial=2),
    )
    rows(row(name, A(2, 3), axis=1, where=MASK, initial=2, keepdims=True))
for name in ("max", "min"):
    rows(row(name, A(2, 3), axis=0, initial=1), row(name, A(0, 3), axis=0, initial=1))
    rows(row(name, A(2, 3), axis=1, where=MASK, initial=0), row(name, A(2, 3), where=MASK))
for name in ("mean", "std", "var", "any", "all"):
    rows(row(name, A(2, 3), axis=1, where=MASK), row(name, A(2, 3), where=MASK, keepdims=True))
for name in ("std", "var"):
    rows(
        row(name, A(2, 3), axis=1, ddof=1),
        row(name, A(1), ddof=1),
        row(name, A(5), correction=1),
        row(name, A(4), ddof=0.5),
    )
for name in ("argmax", "argmin"):
    rows(
        row(name, A(2, 3)),
        row(name, A(2, 3), axis=0),
        row(name, A(2, 3), axis=-1, keepdims=True),
        row(name, A()),
    )
    rows(
        row(name, N(5)),
        row(name, A(0)),
        row(name, A(2, 0), axis=0),
        row(name, A(2, 3), keepdims=True),
        row(name, A(3), axis=1),
    )
for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
    rows(
        row(name, A(2, 3)),
        row(name, A(2, 3), axis=0),
        row(name, A(2, 3), axis=-1),
        row(name, A(0)),
        row(name, A()),
    )
    rows(row(name, M(6)), row(name, A(3), axis=1))
rows(
    row("cumulative_sum", A(4), include_initial=True),
    row("cumulative_sum", A(2, 3), axis=1),
    row("cumulative_prod", A(2, 3), axis=0, include_initial=True),
    row("average", A(2, 3)),
    row("average", A(2, 3), axis=1),
    row("average", A(2, 3), axis=0, weights=P(2, 3), dtypes=NUMBERS),
    row("average", A(2, 3), axis=1, weights=P(3), dtypes=NUMBERS),
    row("average", A(2, 3), axis=1, weights=P(3), returned=True, dtypes="ifd"),
    row("average", A(2, 3), returned=True, dtypes="ifd"),
)
for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"):
    rows(
        row(name, M(2, 3)),
        row(name, M(2, 3), axis=0),
        row(name, M(2, 3), axis=1, keepdims=True),
        row(name, A(2, 3)),
    )
    rows(row(name, A(0)), row(name, Fixed([[np.nan, np.nan], [1.0, np.nan]]), axis=1))
rows(
    row("nanargmax", M(2, 4), axis=1),
    row("nanargmin", M(6)),
    row("nanargmax", Fixed([np.nan, np.nan])),
    row("nanmedian", M(5), dtypes="ilfd"),
    row("nanmedian", M(3, 4), axis=1, dtypes="ifd"),
    row("nanmedian", M(3, 4), axis=0, keepdims=True, dtypes="fd"),
    row("nanpercentile", M(3, 4), 30, axis=1, dtypes="fd"),
    row("nanpercentile", M(8), [10, 50], dtypes="ifd"),
    row("nanquantile", M(3, 4), [0.1, 0.9], axis=0, dtypes="fd"),
    row("median", A(5), dtypes=REAL),
    row("median", A(6), dtypes=REAL),
    row("median", A(3, 4), axis=0, dtypes=REAL),
    row("median", A(3, 4), axis=(0, 1), keepdims=True, dtypes="ifd"),
    row("median", N(5), dtypes="fd"),
    row("median", A(0), dtypes="fd"),
    row("percentile", A(5), 50, dtypes="bilBLfd"),
    row("percentile", A(3, 4), [0, 25, 50, 100], dtypes="ilfd"),
    row("percentile", A(3, 4), 30, axis=1, dtypes="ilfd"),
    row("percentile", A(3, 4), [10, 90], axis=0, keepdims=True, dtypes="fd"),
    row("percentile", N(5), 50, dtypes="fd"),
    row("quantile", A(5), 0.25, dtypes="ilfd"),
    row("quantile", A(2, 5), [0.1, 0.5], axis=1, dtypes="fd"),
    row("percentile", A(5), 101, dtypes="fd"),
    row("quantile", A(5), [[0.2, 0.4], [0.6, 1.0]], dtypes="d"),
)
for method in (
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
    "interpolated_inverted_cdf",
):
    rows(row("quantile", P(7), [0.0, 0.13, 0.5, 0.77, 1.0], method=method, dtypes="fd"))

# --- sorting and searching ---------------------------------------------------------------------

for name in ("sort", "argsort"):
    rows(
        row(name, A(2, 3)),
        row(name, A(2, 3), axis=0),
        row(name, A(2, 3), axis=None),
        row(name, N(5)),
        row(name, A(0)),
    )
    rows(
        row(name, A(5), kind="stable"),
        row(name, A(5), stable=True),
        row(name, A(2, 3), axis=2),
        row(name, A()),
    )
for side in ("left", "right"):
    rows(
        row("searchsorted", S(5), A(2, 3), side=side),
        row("searchsorted", S(5), 2, side=side),
        row("searchsorted", S(5), N(5), side=side),
    )
rows(
    row("searchsorted", S(5), [1, 2.5]),
    row("searchsorted", A(4), A(2), sorter=Fixed([2, 0, 1, 3])),
    row("searchsorted", A(2, 2), 1),
    row("lexsort", [A(5), P(5)]),
    row("lexsort", [A(4), A(4)]),
    row("partition", S(5), 2),
    row("digitize", A(5), Fixed([-1.0, 0.0, 1.0]), dtypes=REAL),
    row("digitize", A(5), Fixed([-1.0, 0.0, 1.0]), right=True, dtypes=REAL),
    row("digitize", A(5), Fixed([2.0, 0.0, -1.0]), dtypes=REAL),
    row("nonzero", A(2, 3)),
    row("nonzero", A()),
    row("flatnonzero", A(2, 3)),
    row("argwhere", A(2, 3)),
    row("extract", MASK, A(2, 3)),
    row("unique", A(6)),
    row("unique", A(2, 3)),
    row("unique", N(5)),
    row("unique", A(0)),
    row("unique", A(6), return_index=True),
    row("unique", A(2, 3), return_inverse=True),
    row("unique", A(6), return_counts=True),
    row("unique", A(6), True, True, True),
    row("unique", Fixed([[1, 2], [0, 3], [1, 2]]), axis=0),
    row("unique", Fixed([[1, 2], [0, 3], [1, 2]]), axis=0, return_inverse=True, return_counts=True),
    row("unique", Fixed([[1, 2, 1], [0, 3, 0]]), axis=1),
    row("unique_values", Fixed([3, 1, 3])),
    row("unique_counts", Fixed([3, 1, 3])),
    row("unique_inverse", Fixed([3, 1, 3])),
    row("unique_all", Fixed([3, 1, 3])),
    row("isin", A(2, 3), [1, 2, 3]),
    row("isin", A(6), A(3), invert=True),
    row("isin", N(5), N(5)),
    row("union1d", A(4), A(5)),
    row("intersect1d", A(6), P(4)),
    row("intersect1d", Fixed([1, 3, 4, 3]), Fixed([3, 1, 2, 1]), return_indices=True),
    row("setdiff1d", A(6), [1, 2]),
    row("setxor1d", A(6), P(4)),
    row("bincount", Fixed([0, 3, 1, 3])),
    row("bincount", Fixed([0, 3, 1, 3]), minlength=6),
    row("bincount", Fixed([0, 3, 1, 3]), weights=Fixed([0.5, 1.0, 2.0, 3.0])),
    row("bincount", Fixed([], int)),
    row("bincount", Fixed([-1, 2])),
    row("bincount", Fixed([0.5])),
    row("histogram", A(9), dtypes="bilBLfd"),
    row("histogram", A(9), 4, range=(-2, 2), dtypes="ilfd"),
    row("histogram", A(9), [-3, -1, 0, 4], dtypes="ilfd"),
    row("histogram", A(9), 5, density=True, dtypes="ifd"),
    row("histogram", A(9), 3, weights=P(9), dtypes="fd", loss=4),
    row("histogram", A(0), dtypes="d"),
    row("histogram", Fixed([2.0, 2.0])),
    row("histogram_bin_edges", A(5), 4, dtypes="fd"),
    row("cov", A(2, 5), dtypes="ilfdD", loss=10, sized=False),
    row("cov", A(5), dtypes="fd", loss=10),
    row("cov", A(5), P(5), dtypes="fd", loss=10),
    row("cov", A(5, 2), rowvar=False, dtypes="fd", loss=10, sized=False),
    row("cov", A(2, 5), bias=True, dtypes="fd", loss=10, sized=False),
    row(
        "cov", A(2, 5), aweights=Fixed([1.0, 2.0, 3.0, 1.0, 1.0]), dtypes="d", loss=10, sized=False
    ),
    row("cov", A(2, 5), fweights=Fixed([1, 2, 3, 1, 1]), dtypes="d", loss=10, sized=False),
    row("corrcoef", A(3, 5), dtypes="ifdD", loss=10, sized=False),
    row("corrcoef", A(5), P(5), dtypes="fd", loss=10),
    row("sort_complex", A(4), dtypes="bilBefdFD"),
)

# --- differences and interpolation -------------------------------------------------------------

rows(
    row("diff", A(5)),
    row("diff", A(2, 3), axis=0),
    row("diff", A(6), 2),
    row("diff", A(5), n=0),
    row("diff", A(2, 3), prepend=0, append=A(2, 1)),
    row("diff", A()),
    row("diff", A(0)),
    row("ediff1d", A(5)),
    row("ediff1d", A(5), to_begin=A(1), to_end=A(2), dtypes=NUMBERS),
    row("gradient", A(5), dtypes="ilfdD"),
    row("gradient", A(5), 2.0, dtypes="ilfdD"),
    row("gradient", A(3, 4), dtypes="fd"),
    row("gradient", A(3, 4), 2.0, 0.5, dtypes="fd"),
    row("gradient", A(3, 4), axis=1, dtypes="fd"),
    row("gradient", A(5), S(5), dtypes="fd"),
    row("gradient", A(5), edge_order=2, dtypes="fd"),
    row("gradient", A(5), S(5), edge_order=2, dtypes="fd", loss=4),
    row("gradient", A(1), dtypes="d"),
    row("trapezoid", A(5), dtypes="ilfdD"),
    row("trapezoid", A(2, 5), dx=0.5, dtypes="fd"),
    row("trapezoid", A(2, 5), S(5), dtypes="fd"),
    row("trapezoid", A(5, 2), S(5), axis=0, dtypes="fd"),
    row("polyval", A(4), A(2, 3), dtypes=NUMBERS, sized=False),
    row("polyval", [1, 2, 3], A(3)),
    row("interp", A(2, 3), S(5), A(5), dtypes="ilfd", loss=10),
    row("interp", 2.5, S(5), A(5), dtypes="ilfd", loss=10),
    row("interp", A(6), S(5), A(5), left=-1.0, right=9.0, dtypes="fd", loss=10),
    row("interp", A(6), S(5), A(5), period=3.0, dtypes="d", loss=100),
    row("interp", N(5), S(5), A(5), dtypes="d", loss=10),
    row("interp", Fixed([0.5, 1.5]), Fixed([1.0]), Fixed([3.0])),
    row("interp", Fixed([0.5, 1.5]), Fixed([1.0, 2.0]), Fixed([3.0, 1j])),
)

# --- creation ----------------------------------------------------------------------------------

for name in ("zeros", "ones"):
    rows(
        row(name, 3),
        row(name, (2, 3)),
        row(name, ()),
        row(name, (0, 2)),
        row(name, 3, dtype="i"),
        row(name, [2], "F"),
    )
    rows(row(name, -1), row(name, 2.5), row(name, (2, 3), dtype=bool))
for name in ("zeros_like", "ones_like"):
    rows(
        row(name, A(2, 3)),
        row(name, A(2, 3), dtype="f"),
        row(name, A(2, 3), shape=(4,)),
        row(name, 3),
        row(name, [1.5]),
    )
rows(
    row("full", (2, 3), 7),
    row("full", (2, 3), 7.5),
    row("full", 3, A()),
    row("full", (2, 3), A(3)),
    row("full", (2,), 2.5, dtype="i"),
    row("full_like", A(2, 3), 1),
    row("full_like", A(2, 3), A(3)),
    row("full_like", A(2, 3), 2, dtype="d"),
    row("eye", 3),
    row("eye", 3, 4, 1),
    row("eye", 3, k=-1, dtype="i"),
    row("identity", 3),
    row("tri", 3, 4),
    row("tri", 3, k=1, dtype=bool),
    row("tril", A(3, 4)),
    row("tril", A(2, 3, 3), -1),
    row("triu", A(3, 4), 1),
    row("triu", A(4)),
    row("diag", A(3)),
    row("diag", A(3), 1),
    row("diag", A(3), -2),
    row("diag", A(3, 4)),
    row("diag", A(3, 4), k=1),
    row("diag", A()),
    row("diagflat", A(2, 2)),
    row("diagflat", A(2, 2), 1),
    row("vander", A(3), dtypes="bilBefdFD"),
    row("vander", A(3), 2, increasing=True, dtypes="ifd"),
    row("vander", A(3), 5, dtypes="ifd"),
    row("arange", 5),
    row("arange", 2, 5),
    row("arange", 5, 2, -1),
    row("arange", 0, 1, 0.1),
    row("arange", 5.0),
    row("arange", 5, dtype="f"),
    row("arange", 5, 2),
    row("arange", Fixed(5)),
    row("arange", Fixed(2), Fixed(9), Fixed(3)),
    row("arange", Fixed(0.5), Fixed(4.0)),
    row("arange", Fixed(5, np.int8)),
    row("arange", Fixed(4, "f")),
    row("arange", Fixed(4, np.uint64)),
    row("linspace", 0, 1),
    row("linspace", 0, 1, 5),
    row("linspace", 0, 1, 5, endpoint=False),
    row("linspace", 0, 1, 1),
    row("linspace", 0, 1, 0),
    row("linspace", 0, 10, 4, dtype="i"),
    row("linspace", 0, 1, 5, retstep=True),
    row("linspace", A(3), P(3), 4, dtypes="ilfdD"),
    row("linspace", A(3), P(3), 4, axis=1, dtypes="fd"),
    row("linspace", A(), 1, 4),
    row("linspace", 3, 3, 4),
    row("linspace", 0, 1, -1),
    row("logspace", 0, 2, 5, loss=4),
    row("logspace", 0, 2, 5, base=2.0, loss=4),
    row("logspace", P(3), 2, 4, dtypes="d", loss=10),
    row("geomspace", 1, 1000, 4, loss=4),
    row("geomspace", -1.0, -1000.0, 4, loss=4),
    row("geomspace", 1, 256, 9, dtype="i"),
    row("geomspace", np.float32(2.5), 1, 4),
    row("geomspace", np.float32(2.5), np.float16(1), 4, dtype="f"),
    row("meshgrid", A(3), P(2)),
    row("meshgrid", A(3), P(2), indexing="ij"),
    row("meshgrid", A(3), P(2), A(4), sparse=True),
    row("indices", (2, 3)),
    row("indices", (2, 3), sparse=True),
    row("fromfunction", lambda i, j: i + 2 * j, (2, 3)),
    row("array", [[1, 2], [3, 4]]),
    row("array", [1, 2.5]),
    row("array", [True, False]),
    row("array", []),
    row("array", 5),
    row("array", A(2, 3)),
    row("array", A(2, 3), dtype="f"),
    row("array", A(3), ndmin=3),
    row("array", [1, 2], "F"),
    row("array", [[1], [2, 3]]),
    row("array", 2**63),
    row("array", [1j, 2]),
    row("asarray", A(2, 3)),
    row("asarray", A(2, 3), "d"),
    row("asarray", [1, 2]),
    row("ascontiguousarray", A(3, 2, order="F")),
    row("ascontiguousarray", A()),
    row("copy", A(2, 3)),
    row("astype", A(2, 3), "f"),
    row("astype", A(2, 3), "i"),
    row("astype", A(2, 3), bool),
    row("astype", A(2, 3), "D"),
)

# --- dtypes and shapes -------------------------------------------------------------------------

rows(
    row("result_type", A(3), A(3, dtype="f")),
    row("result_type", A(3), 1.5),
    row("result_type", A(3), "i"),
    row("promote_types", "i", "f"),
    row("can_cast", "i", "f"),
    row("shape", A(2, 3), sized=False),
    row("ndim", A(2, 3)),
    row("size", A(2, 3)),
    row("size", A(2, 3), 1),
)

# --- methods -----------------------------------------------------------------------------------

METHODS = [
    row(".sum", A(2, 3), 0),
    row(".sum", A(2, 3), axis=1, keepdims=True),
    row(".mean", A(2, 3)),
    row(".std", A(2, 3), 1),
    row(".var", A(2, 3), ddof=1),
    row(".prod", A(2, 3), 1),
    row(".max", A(2, 3), 0),
    row(".min", A(2, 3)),
    row(".any", A(2, 3), 1),
    row(".all", A(2, 3), 1),
    row(".argmax", A(2, 3), 1),
    row(".argmin", A(2, 3)),
    row(".argsort", A(5), kind="stable"),
    row(".cumsum", A(2, 3), 1),
    row(".cumprod", A(2, 3), 0),
    row(".clip", A(5), 0, 1),
    row(".clip", A(5), max=1),
    row(".clip", A(5), 1),
    row(".clip", A(5)),
    row(".round", A(5), 1),
    row(".astype", A(5), "f"),
    row(".astype", A(5), np.int16),
    row(".conj", A(5)),
    row(".conjugate", A(5)),
    row(".copy", A(5)),
    row(".nonzero", A(5)),
    row(".searchsorted", S(5), A(3)),
    row(".flatten", A(2, 3)),
    row(".ravel", A(2, 3)),
    row(".reshape", A(2, 3), 3, 2),
    row(".reshape", A(2, 3), (6,)),
    row(".reshape", A(2, 3), -1),
    row(".transpose", A(2, 3)),
    row(".transpose", A(2, 3, 4), 2, 0, 1),
    row(".transpose", A(2, 3, 4), (2, 0, 1)),
    row(".swapaxes", A(2, 3), 0, 1),
    row(".squeeze", A(1, 3), 0),
    row(".repeat", A(3), 2),
    row(".take", A(5), [0, 3]),
    row(".diagonal", A(3, 3)),
    row(".trace", A(3, 3)),
    row(".dot", A(2, 3), A(3), loss=4),
    row(".__divmod__", A(4, dtype="i"), 3),
]


def identify(item: Any) -> str | None:
    return str(item) if isinstance(item, Row) else None


@pytest.mark.parametrize("item", ROWS, ids=identify)
@pytest.mark.parametrize("mode", MODES)
def test_function_equals_numpys(item: Row, mode: str) -> None:
    if mode == "sized" and not item.sized:
        pytest.skip("needs lengths known while tracing")
    check(item, mode)


@pytest.mark.parametrize("item", METHODS, ids=identify)
@pytest.mark.parametrize("mode", ["eager", "staged", "sized"])
def test_method_equals_ndarrays(item: Row, mode: str) -> None:
    check(item, mode)


def test_eager_calls_warn_only_where_numpy_does() -> None:
    surprising = []
    for item in ROWS + METHODS:
        for dtype in item.dtypes:
            heard = warned(gnp, item, dtype)
            if heard and warned(np, item, dtype) == []:
                surprising.append(f"{item} of {np.dtype(dtype)}: {heard}")
    assert surprising == []
