"""Numbers and arrays that are integers on one path and floats on another.

    x = np.int32(3)
    if hot:
        x = np.float32(0.5)
    x // y          # y == 0: 0 of the integer, NaN of the float

The graph has a float for such a number, which gives what Python gives on either path, but for a few
operands: the run ends by a TraceError where it meets one of those. An array that has integers on
one path and floats on another may only get whole numbers for its elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import DTypeError, TraceError
from graphify.ir.kinds import is_integer_where, kinds_of, may_cut_off, operand_of_kind
from graphify.ir.promotion import Operand, ufunc_dtypes
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import is_complex, is_inexact
from graphify.ir.wrapping import as_tensor, constant_tensor
from graphify.location import here
from graphify.ops import core
from graphify.ops.rules import operand, promoted

_PYTHON = (bool, int, float, complex)
_BOUND = 2.0**63  # of what an int64 can hold


def _paths(*operands: Any) -> Iterator[tuple[Operand, ...]]:
    """How operands take part in promotion, for each combination of the classes that they have."""
    if any(isinstance(x, Tensor) and x._kinds for x in operands):
        tensors = map(as_tensor, operands)
        yield from itertools.product(
            *([operand_of_kind(kind, x) for kind in kinds_of(x)] for x in tensors)
        )


def _has_both(ufunc: np.ufunc, *operands: Any) -> bool:
    """Whether NumPy computes in integers on one path and in floats on another."""
    found = set()
    for chosen in _paths(*operands):
        try:
            _, (result,) = ufunc_dtypes(ufunc, chosen)
        except DTypeError:  # who comes this way gets an error
            continue
        found.add(is_inexact(result))
    # Of Python's numbers alone, it is Python's operator, which makes them alike.
    return len(found) == 2 and not all(as_tensor(x).spec.weak for x in operands)


def may_be_pythons(*operands: Any) -> bool:
    """Whether all operands are Python's on one path, and one is NumPy's on another."""
    return len({all(isinstance(own, type) for own in chosen) for chosen in _paths(*operands)}) == 2


def are_pythons(*operands: Any) -> bool:
    """Whether all operands are numbers of Python's that int64, float64 or complex128 hold."""
    return all(
        x.spec.weak
        if isinstance(x, Tensor)
        else type(x) in _PYTHON and not (type(x) is int and not -(2**63) <= x < 2**63)
        for x in operands
    )


def of_numpy(number: Any) -> Tensor:
    """A number of Python's as NumPy's functions take it."""
    x = as_tensor(number)
    result = core.strong(x)
    if x._kinds:
        result._kinds = frozenset(np.dtype(own).type for own in x._kinds)
    return result


def sure(value: Any, wrong: Tensor, what: str) -> Any:
    """The operand; a TraceError of the run where `wrong` is true.

    Args:
        what: what the run met there, such as "a division by zero".
    """
    return _unless(
        wrong,
        value,
        f"{what}, of a number that is an integer or Python's own on one path and not so on another:"
        " what Python gives depends on the path, and the graph has one number for both; make it a"
        " number of one class on each path, e.g. 0.0 for 0",
    )


def _unless(wrong: Tensor, value: Any, message: str) -> Any:
    """The value, unless the run finds that something is wrong."""
    from graphify.ops.elementwise import where
    from graphify.ops.shape import in_range

    if not wrong.is_symbolic and not wrong.numpy().any():
        return value
    x = as_tensor(value)
    low, high = (constant_tensor(np.asarray(limit, np.int64)) for limit in (0, 1))
    flag = core.cast(wrong, dtype=np.dtype(np.int64))
    zero = in_range(flag, low, high, error="TraceError", message=message)
    zero = core.cast(zero, dtype=x.dtype, weak=x.spec.weak)
    return core.cast(where(wrong, zero, x), dtype=x.dtype, weak=x.spec.weak)


def sure_divisor(b: Any) -> Any:
    from graphify.ops.elementwise import equal

    return sure(b, equal(b, 0), "a division by zero")


def division(ufunc: np.ufunc) -> Callable[..., list[Tensor]]:
    """A convert rule of divisions that integers and floats do differently: by zero."""

    def convert(a: Any, b: Any) -> list[Tensor]:
        return promoted(ufunc)(a, sure_divisor(b) if _has_both(ufunc, a, b) else b)

    return convert


def powers(ufunc: np.ufunc) -> Callable[..., list[Tensor]]:
    """The convert rule of powers: NumPy's integers have none of negative exponents."""

    def convert(a: Any, b: Any) -> list[Tensor]:
        from graphify.ops.elementwise import less

        if _has_both(ufunc, a, b):
            b = sure(b, less(b, 0), "a negative power")
        return promoted(ufunc)(a, b)

    return convert


def reciprocals(ufunc: np.ufunc) -> Callable[..., list[Tensor]]:
    """The convert rule of reciprocals, which integers cut off."""

    def convert(x: Any) -> list[Tensor]:
        if _has_both(ufunc, x):
            raise TraceError(
                f"the reciprocal of this {as_tensor(x).spec}, an integer on one path and a float on"
                " another, for which the graph has a float: of an integer it is an integer",
                location=here(),
                remedy="write 1 / x, or make it a number of one class on each path, e.g. 0.0 for 0",
            )
        return promoted(ufunc)(x)

    return convert


# --- arrays ---------------------------------------------------------------------------------------

_REMEDY = "make it an array of one dtype on each path, e.g. np.zeros(n) or x.astype(float)"


def whole(target: Tensor, value: Any, new: Tensor) -> Tensor:
    """What is stored in elements of an array; a TraceError of the run where an array of integers
    would cut it off and one of floats would not, and the target may be either.

    Args:
        value: as the program has it.
        new: the same in the target's dtype.
    """
    from graphify.ops.elementwise import absolute, greater_equal, logical_or, not_equal, trunc

    if not may_cut_off(target) or not _has_floats(value, target):
        return new
    if is_complex(new.dtype):
        refuse_floats(target, value)
    large = greater_equal(absolute(new), _BOUND)
    kept: Tensor = _unless(
        logical_or(large, not_equal(trunc(new), new)),
        new,
        "what is no whole number is stored in an array that has integers on one path and floats on"
        f" another: only the one of floats keeps it; {_REMEDY}",
    )
    return kept


def refuse_floats(target: Tensor, *values: Any) -> None:
    """Raise if floats are written to an array that may have integers, where NumPy says that they
    cannot be cast.

    Raises:
        TraceError: the target has integers on one path and floats on another.
    """
    if may_cut_off(target) and any(_has_floats(value, target) for value in values):
        raise TraceError(
            f"an array {target.spec} is updated in place with floats, and has integers on one path,"
            " which NumPy does not let be so updated, and floats on another",
            location=here(),
            remedy=_REMEDY,
        )


def refuse_at(ufunc: np.ufunc, target: Tensor, *others: Tensor) -> None:
    """Raise if `ufunc.at` would put floats in an array that may have integers.

    Raises:
        TraceError: the target has integers on one path and floats on another.
    """
    if may_cut_off(target):
        operands = [np.dtype(np.int64), *map(operand, others)]
        results = (np.ones((), dtype) for dtype in ufunc_dtypes(ufunc, operands)[1])
        refuse_floats(target, *others, *results)


def _has_floats(value: Any, target: Tensor) -> bool:
    """Whether floats may be among values where the target has integers."""
    leaves = tree.leaves(value) if isinstance(value, (list, tuple)) else [value]
    found = [x for x in map(as_tensor, leaves) if is_inexact(x.dtype)]
    return not all(is_integer_where(resolve(x), resolve(target)) for x in found)
