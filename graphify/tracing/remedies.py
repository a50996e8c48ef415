"""What to do about an error, for those that do not say it themselves.

    remedy_for(ShapeError("operands could not be ..."), "operands could not be ...")

A table of classes, words of the message, and remedies. The first row that fits is taken; the last
rows are for whole classes. An error of the user's own code gets none: what is wrong is theirs to
say.
"""

from __future__ import annotations

import re

LOOK = "breakpoint() before the line stops there, while tracing, with the operands to look at"

# Classes by name, so that NumPy's AxisError and the like need not be imported; of each, words and
# the remedy. An AxisError is a ValueError, too, and so stands before those.
REMEDIES: dict[str, dict[str, str]] = {
    "AxisError": {
        "": "axes are counted from 0 to ndim - 1, or from -1 backwards; x[None] adds one",
    },
    "ValueError": {
        "could not be broadcast|broadcast": (
            "give both the same shape, or length 1 where they may differ: x[:, None], reshape"
        ),
        "core dimension|matmul|dot|aligned|inner": (
            "the last axis of the first must be as long as the last but one of the second: "
            "transpose one of them (x.T)"
        ),
        "cannot reshape": (
            "a reshape keeps the number of elements; -1 stands for the length that fits"
        ),
        "einsum": "a letter stands for one length, and each operand has one letter per axis",
        "concatenat|stack|same shape|must match": (
            "all arrays must have one shape, but for the axis that they are joined along"
        ),
        "ambiguous": "use .any() or .all(), or np.where for a choice per element",
        "unpack": "give as many names as there are elements, or collect the rest: first, *rest = x",
        "read-only": "pass a writable array: x.copy()",
        "zero-size|empty": "test x.size first, or give initial=",
        "arg 3 must not be zero|step": "give a step other than 0",
        "negative integer powers|[Nn]egative.*powers": (
            "make the base a float: x.astype(float) ** n"
        ),
        "negative shift": "shift by 0 or more",
        "cannot convert float NaN": "test with np.isnan first, or use np.nan_to_num",
    },
    "IndexError": {
        "out of bounds|out of range": (
            "indices go from 0 to length - 1, or from -1 backwards: test the index, or np.clip it"
        ),
        "too many indices": "give at most one index per axis; None adds an axis",
        "boolean": "a mask has the shape of the array, or of its first axes",
        "": "index with integers, slices, None, ..., or arrays of integers or booleans",
    },
    "ZeroDivisionError": {
        "": "test the divisor first; NumPy floats divide by zero to inf: np.float64(x) / y",
    },
    "OverflowError": {
        "infinity": "test with np.isfinite first",
        "": "use a wider dtype, or floats",
    },
    "LinAlgError": {
        "[Ss]ingular": "test the matrix (np.linalg.cond), or use np.linalg.lstsq",
        "positive definite": "the matrix must be symmetric with positive eigenvalues",
        "square": "pass a matrix of as many rows as columns, or use np.linalg.lstsq",
        "": "pass matrices of finite numbers, two axes at least",
    },
    "UnboundLocalError": {
        "": "bind the name on every path before it is read",
    },
    "UFuncTypeError|TypeError": {
        "[Cc]annot cast|casting": "convert first: x.astype(dtype)",
    },
    "TypeError": {
        "not supported (between|for)|unsupported operand|not.*for the input types": (
            "convert the operands to dtypes that the operation takes: x.astype(dtype)"
        ),
        "unexpected keyword|positional argument|missing": "see NumPy's signature",
        "integer": "pass an integer: int(x), x.astype(int)",
    },
    "AttributeError": {
        "": "an array has the attributes and methods of np.ndarray",
    },
    "KeyError": {
        "": "test `key in mapping` first, or use .get",
    },
    "InternalError|PassError": {
        "": (
            "please report it with the text of the graph; GRAPHIFY_ENGINE=reference may do "
            "meanwhile"
        ),
    },
    "GraphifyError|ValueError|TypeError|ArithmeticError|LookupError": {
        "": LOOK,
    },
}


def remedy_for(error: BaseException, message: str) -> str | None:
    """One line of what to do instead; None where nothing is known."""
    classes = {kind.__name__ for kind in type(error).__mro__}
    for names, remedies in REMEDIES.items():
        if not classes.isdisjoint(names.split("|")):
            for words, remedy in remedies.items():
                if re.search(words, message):
                    return remedy
    return None
