"""erf and erfc to half a unit in the last place of double, where C's long double is wider.

    erfc(np.array([0.83]))

SciPy's own and C's for double are off by several.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from typing import Any

import numpy as np


def _of_long_double(name: str) -> Callable[[Any], Any]:
    """C's function of long doubles on arrays; ctypes hands it doubles and rounds its results."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function = library[name]
    function.restype, function.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
    return np.vectorize(function, otypes=[np.float64])


erf, erfc = _of_long_double("erfl"), _of_long_double("erfcl")
