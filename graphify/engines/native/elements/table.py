"""The meaning of every elementwise op on elements: a table from the op's name to its rule.

    y = apply(f, "add", [x, x], x.dtype)

`dtype` is what the op's spec gives. Operands of dtypes that the op takes but does not compute in
are converted first, as NumPy's ufunc does.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from graphify.engines.native.elements import integers
from graphify.engines.native.elements.cast import cast
from graphify.engines.native.elements.comparison import TESTS, extreme_of_bools
from graphify.engines.native.elements.complex_calls import FUNCTIONS
from graphify.engines.native.elements.complex_power import power as complex_power
from graphify.engines.native.elements.complexes import COMPLEXES
from graphify.engines.native.elements.element import Element, constant, select
from graphify.engines.native.elements.floats import FLOATS
from graphify.engines.native.elements.rule import Rule, by_kind, integer, plain, same
from graphify.engines.native.llvm import Function
from graphify.errors import InternalError
from graphify.ir.op import REGISTRY
from graphify.ir.types import DType, canonical_dtype, is_complex

_ALL_COMPLEX: dict[str, Rule] = {
    **COMPLEXES,
    **FUNCTIONS,
    "power": complex_power,
    "float_power": complex_power,
}

_INTEGERS: dict[str, Rule] = {
    "add": plain(Function.add),
    "subtract": plain(Function.sub),
    "multiply": plain(Function.mul),
    "floor_divide": integer(integers.floor_divide),
    "remainder": integer(integers.remainder),
    "fmod": integer(integers.fmod),
    "power": integers.power,
    "square": integer(integers.square),
    "reciprocal": integer(integers.reciprocal),
    "negative": integer(integers.negative),
    "absolute": integer(integers.absolute),
    "sign": integer(integers.sign),
    "maximum": integers.extreme("max"),
    "minimum": integers.extreme("min"),
    "fmax": integers.extreme("max"),
    "fmin": integers.extreme("min"),
    "bitwise_and": plain(Function.and_),
    "bitwise_or": plain(Function.or_),
    "bitwise_xor": plain(Function.xor),
    "invert": plain(Function.not_),
    "left_shift": integer(integers.left_shift),
    "right_shift": integer(integers.right_shift),
    "bitwise_count": integer(integers.bitwise_count),
    "gcd": integer(integers.gcd),
    "lcm": integer(integers.lcm),
    **dict.fromkeys(("positive", "conjugate", "floor", "ceil", "trunc"), same),
}

_BOOLS: dict[str, Rule] = {
    "add": plain(Function.or_),
    "multiply": plain(Function.and_),
    "maximum": extreme_of_bools(True),
    "minimum": extreme_of_bools(False),
    "fmax": extreme_of_bools(True),
    "fmin": extreme_of_bools(False),
    "bitwise_and": plain(Function.and_),
    "bitwise_or": plain(Function.or_),
    "bitwise_xor": plain(Function.xor),
    "invert": plain(Function.not_),
    **dict.fromkeys(("absolute", "floor", "ceil", "trunc"), same),
}


def _where(f: Function, dtype: DType, condition: Element, a: Element, b: Element) -> Element:
    return select(f, condition.value, cast(f, a, dtype), cast(f, b, dtype))


def _real(f: Function, dtype: DType, x: Element) -> Element:
    return Element(dtype, x.parts[:1])


def _imag(f: Function, dtype: DType, x: Element) -> Element:
    return Element(dtype, x.parts[1:]) if is_complex(x.dtype) else constant(f, dtype, 0, x.lanes)


def _complex(f: Function, dtype: DType, re: Element, im: Element) -> Element:
    return Element(dtype, (re.value, im.value))


def _cast(f: Function, dtype: DType, x: Element) -> Element:
    return cast(f, x, dtype)


def _tables() -> dict[str, Rule]:
    """One rule per op: by the kind of its operands, where that matters."""
    families = {"b": _BOOLS, "iu": _INTEGERS, "f": {**FLOATS, "positive": same, "conjugate": same}}
    families["c"] = {**_ALL_COMPLEX, "positive": same}
    names = dict.fromkeys(name for family in families.values() for name in family)
    return {
        name: by_kind(**{k: family[name] for k, family in families.items() if name in family})
        for name in names
    }


SCALARS: dict[str, Rule] = {
    **_tables(),
    **TESTS,
    "where": _where,
    "real": _real,
    "imag": _imag,
    "complex": _complex,
    "cast": _cast,
    "copy": same,
    "identity": same,
    "stop_gradient": same,
}


def apply(
    f: Function, name: str, args: Sequence[Element], dtype: DType
) -> Element | tuple[Element, ...]:
    """Write an op; its result has `dtype`. frexp gives two results.

    Raises:
        InternalError: no rule for the op, or for these operands.
    """
    rule = SCALARS.get(name)
    if rule is None:
        raise InternalError(f"native engine: no rule for the op {name!r} on elements")
    ufunc = REGISTRY[name].extra.get("ufunc") if name in REGISTRY else None
    if ufunc is None:
        return rule(f, dtype, *args)
    operands, results = loop_dtypes(ufunc, tuple(a.dtype for a in args))
    converted = [cast(f, a, d) for a, d in zip(args, operands, strict=True)]
    result = rule(f, results[0], *converted)
    return cast(f, result, dtype) if isinstance(result, Element) else result


@functools.lru_cache(maxsize=4096)
def loop_dtypes(
    ufunc: np.ufunc, operands: tuple[DType, ...]
) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
    """The dtypes that a ufunc computes in for these operands, and those of its results."""
    try:
        resolved = ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))
    except TypeError as error:
        names = ", ".join(d.name for d in operands)
        raise InternalError(f"{ufunc.__name__}: no rule for operands of dtype {names}") from error
    dtypes = tuple(canonical_dtype(d) for d in resolved)
    return dtypes[: ufunc.nin], dtypes[ufunc.nin :]
