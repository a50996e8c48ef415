"""What to do about an error, for those that do not say it themselves.

    remedy_for(ShapeError("operands could not be ..."), "operands could not be ...")

A table of class, words of the message, and the remedy. The first row that fits is taken; the last
rows are for whole classes. An error of the user's own code gets none: what is wrong is theirs to
say.
"""

from __future__ import annotations

import re

LOOK = "breakpoint() before the line stops there, while tracing, with the operands to look at"

# Classes by name, so that NumPy's AxisError and the like need not be imported.
REMEDIES: tuple[tuple[str, str, str], ...] = (
    # --- shapes ---
    (
        "ValueError",
        "could not be broadcast|broadcast",
        "give both the same shape, or length 1 where they may differ: x[:, None], reshape",
    ),
    (
        "ValueError",
        "core dimension|matmul|dot|aligned|inner",
        "the last axis of the first must be as long as the last but one of the second: "
        "transpose one of them (x.T)",
    ),
    (
        "ValueError",
        "cannot reshape",
        "a reshape keeps the number of elements; -1 stands for the length that fits",
    ),
    (
        "ValueError",
        "einsum",
        "a letter stands for one length, and each operand has one letter per axis",
    ),
    (
        "ValueError",
        "concatenat|stack|same shape|must match",
        "all arrays must have one shape, but for the axis that they are joined along",
    ),
    (
        "AxisError",
        "",
        "axes are counted from 0 to ndim - 1, or from -1 backwards; x[None] adds one",
    ),
    ("ValueError", "ambiguous", "use .any() or .all(), or np.where for a choice per element"),
    (
        "ValueError",
        "unpack",
        "give as many names as there are elements, or collect the rest: first, *rest = x",
    ),
    ("ValueError", "read-only", "pass a writable array: x.copy()"),
    ("ValueError", "zero-size|empty", "test x.size first, or give initial="),
    ("ValueError", "arg 3 must not be zero|step", "give a step other than 0"),
    (
        "ValueError",
        "negative integer powers|[Nn]egative.*powers",
        "make the base a float: x.astype(float) ** n",
    ),
    ("ValueError", "negative shift", "shift by 0 or more"),
    ("ValueError", "cannot convert float NaN", "test with np.isnan first, or use np.nan_to_num"),
    # --- indices ---
    (
        "IndexError",
        "out of bounds|out of range",
        "indices go from 0 to length - 1, or from -1 backwards: test the index, or np.clip it",
    ),
    ("IndexError", "too many indices", "give at most one index per axis; None adds an axis"),
    ("IndexError", "boolean", "a mask has the shape of the array, or of its first axes"),
    ("IndexError", "", "index with integers, slices, None, ..., or arrays of integers or booleans"),
    # --- numbers ---
    (
        "ZeroDivisionError",
        "",
        "test the divisor first; NumPy floats divide by zero to inf: np.float64(x) / y",
    ),
    ("OverflowError", "infinity", "test with np.isfinite first"),
    ("OverflowError", "", "use a wider dtype, or floats"),
    ("LinAlgError", "[Ss]ingular", "test the matrix (np.linalg.cond), or use np.linalg.lstsq"),
    ("LinAlgError", "positive definite", "the matrix must be symmetric with positive eigenvalues"),
    (
        "LinAlgError",
        "square",
        "pass a matrix of as many rows as columns, or use np.linalg.lstsq",
    ),
    ("LinAlgError", "", "pass matrices of finite numbers, two axes at least"),
    # --- names, dtypes ---
    ("UnboundLocalError", "", "bind the name on every path before it is read"),
    ("UFuncTypeError|TypeError", "[Cc]annot cast|casting", "convert first: x.astype(dtype)"),
    (
        "TypeError",
        "not supported|unsupported operand|not.*for the input types",
        "convert the operands to dtypes that the operation takes: x.astype(dtype)",
    ),
    ("TypeError", "unexpected keyword|positional argument|missing", "see NumPy's signature"),
    ("TypeError", "integer", "pass an integer: int(x), x.astype(int)"),
    ("AttributeError", "", "an array has the attributes and methods of np.ndarray"),
    ("KeyError", "", "test `key in mapping` first, or use .get"),
    # --- whole classes ---
    (
        "InternalError|PassError",
        "",
        "please report it with the text of the graph; GRAPHIFY_ENGINE=reference may do meanwhile",
    ),
    ("GraphifyError|ValueError|TypeError|ArithmeticError|LookupError", "", LOOK),
)


def remedy_for(error: BaseException, message: str) -> str | None:
    """One line of what to do instead; None where nothing is known."""
    classes = {kind.__name__ for kind in type(error).__mro__}
    for names, words, remedy in REMEDIES:
        if not classes.isdisjoint(names.split("|")) and re.search(words, message):
            return remedy
    return None
