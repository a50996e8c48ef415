"""NumPy on tensors: `import graphify.numpy as gnp`, then write as with NumPy.

    gnp.sum(gnp.ones([2, 3]), axis=0)     # a Tensor, eager or symbolic

Every function takes what NumPy's takes and gives a `Tensor` where NumPy gives an array. `np.sum(t)`
on a tensor calls the same function. See `_table.py` for how a function is added.
"""

from __future__ import annotations

import importlib
from typing import Any

from graphify.numpy._table import NAMES
from graphify.ops import convert, operators  # noqa: F401  # for their effect

# In this order: a later file may use what an earlier one published.
_FILES = (
    "_dtypes",
    "elementwise",
    "reduction",
    "creation",
    "ranges",
    "tapers",
    "sorting",
    "quantiles",
    "covariance",
    "calculus",
    "nans",
    "manipulation",
    "joining",
    "rearrange",
    "padding",
    "indexing",
    "indices",
    "histograms",
    "grids",
    "updates",
    "at",
    "flat",
    "products",
    "contraction",
    "linalg",
    "norms",
    "fft",
    "polynomials",
    "random",
    "_methods",
    "_numbers",
)
for _file in _FILES:
    importlib.import_module(f"graphify.numpy.{_file}")

globals().update({name: value for name, value in NAMES.items() if not name.startswith("_")})

__all__ = sorted(name for name in NAMES if not name.startswith("_"))


def __getattr__(name: str) -> Any:
    import numpy as np

    if name.startswith("__"):
        raise AttributeError(name)
    where = "; NumPy has it: use it on tensors whose value is known" if hasattr(np, name) else ""
    raise AttributeError(f"graphify.numpy has no {name!r}{where}")


def __dir__() -> list[str]:
    return __all__
