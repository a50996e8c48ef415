"""Comparisons, truth, tests for NaN and infinity, and the choice of the larger or smaller.

Complex numbers are ordered by their real parts, equal ones by the imaginary parts, as NumPy orders
them; int64 and uint64 compare by value, not by bits.
"""

from __future__ import annotations

from graphify.engines.native.elements.cast import FLOAT16, truth, widen
from graphify.engines.native.elements.element import Element, select
from graphify.engines.native.elements.rule import Rule, plain, test
from graphify.engines.native.llvm import Function, V
from graphify.ir.types import DType, bfloat16, is_complex, is_float

# predicate name -> ordered float, signed, unsigned
_PREDICATES = {
    "eq": ("oeq", "eq", "eq"),
    "ne": ("une", "ne", "ne"),
    "lt": ("olt", "slt", "ult"),
    "le": ("ole", "sle", "ule"),
    "gt": ("ogt", "sgt", "ugt"),
    "ge": ("oge", "sge", "uge"),
}


def compare(f: Function, name: str, a: Element, b: Element) -> V:
    """`name`: eq, ne, lt, le, gt, ge."""
    floating, signed, unsigned = _PREDICATES[name]
    if is_complex(a.dtype):
        return _compare_complex(f, name, a, b)
    if is_float(a.dtype):
        return f.fcmp(floating, widen(f, a), widen(f, b))
    if a.dtype.kind != b.dtype.kind:
        return _compare_mixed(f, name, a, b)
    return f.icmp(signed if a.dtype.kind == "i" else unsigned, a.value, b.value)


def comparison(name: str) -> Rule:
    return test(lambda f, a, b: compare(f, name, a, b))


def _compare_mixed(f: Function, name: str, a: Element, b: Element) -> V:
    """int64 with uint64: the bits compare as unsigned unless the signed one is negative."""
    signed = a if a.dtype.kind == "i" else b
    below = f.icmp("slt", signed.value, f.const(signed.value.type, 0))
    smaller = ("lt", "le", "ne") if signed is a else ("gt", "ge", "ne")
    answer = f.const(below.type, name in smaller)
    bits = f.icmp(_PREDICATES[name][2], a.value, b.value)
    return f.select(below, answer, bits)


def _compare_complex(f: Function, name: str, a: Element, b: Element) -> V:
    (ar, ai), (br, bi) = a.parts, b.parts
    floating = _PREDICATES[name][0]
    if name == "ne":
        return f.or_(f.fcmp("une", ar, br), f.fcmp("une", ai, bi))
    if name == "eq":
        return f.and_(f.fcmp("oeq", ar, br), f.fcmp("oeq", ai, bi))
    strict = "olt" if name in ("lt", "le") else "ogt"
    real = f.and_(f.fcmp(strict, ar, br), f.fcmp("ord", ai, bi))
    tie = f.and_(f.fcmp("oeq", ar, br), f.fcmp(floating, ai, bi))
    return f.or_(real, tie)


# --- tests --------------------------------------------------------------------------------------


def is_nan(f: Function, x: Element) -> V:
    if not is_float(x.dtype) and not is_complex(x.dtype):
        return f.const(x.value.type.like("i1"), False)
    parts = x.parts if is_complex(x.dtype) else (widen(f, x),) * 2
    return f.fcmp("uno", *parts)


def _magnitude_test(predicate: str, combine: str, of_integers: bool) -> Rule:
    """How |x| compares with infinity."""

    def rule(f: Function, x: Element) -> V:
        if not is_float(x.dtype) and not is_complex(x.dtype):
            return f.const(x.value.type.like("i1"), of_integers)
        parts = x.parts if is_complex(x.dtype) else (widen(f, x),)
        infinity = f.const(parts[0].type, float("inf"))
        tests = [f.fcmp(predicate, f.intrinsic("fabs", p), infinity) for p in parts]
        return tests[0] if len(tests) == 1 else f.binary(combine, tests[0], tests[1])

    return test(rule)


def sign_bit(f: Function, x: Element) -> V:
    bits = x.value if x.dtype == bfloat16 else f.bits(x.value)
    return f.icmp("slt", bits, f.const(bits.type, 0))


def _logic(opcode: str) -> Rule:
    return test(lambda f, a, b: f.binary(opcode, truth(f, a), truth(f, b)))


TESTS: dict[str, Rule] = {
    "equal": comparison("eq"),
    "not_equal": comparison("ne"),
    "less": comparison("lt"),
    "less_equal": comparison("le"),
    "greater": comparison("gt"),
    "greater_equal": comparison("ge"),
    "logical_and": _logic("and"),
    "logical_or": _logic("or"),
    "logical_xor": _logic("xor"),
    "logical_not": test(lambda f, x: f.not_(truth(f, x))),
    "isnan": test(is_nan),
    "isinf": _magnitude_test("oeq", "or", False),
    "isfinite": _magnitude_test("olt", "and", True),
    "signbit": test(sign_bit),
}

# --- the larger and the smaller -----------------------------------------------------------------


def extreme_by_order(name: str, skips_nan: bool) -> Rule:
    """The operand that compares `name` with the other; NaN wins, or loses if `skips_nan`."""

    def rule(f: Function, dtype: DType, a: Element, b: Element) -> Element:
        first = f.or_(compare(f, name, a, b), is_nan(f, b if skips_nan else a))
        return select(f, first, a, b)

    return rule


def extreme_of_small(larger: bool, skips_nan: bool) -> Rule:
    """Of 16-bit floats: of equal zeros, float16 gives the first operand, bfloat16 the second."""
    name = "g" if larger else "l"
    half, brain = (extreme_by_order(name + end, skips_nan) for end in ("e", "t"))

    def rule(f: Function, dtype: DType, a: Element, b: Element) -> Element:
        result = (half if dtype == FLOAT16 else brain)(f, dtype, a, b)
        assert isinstance(result, Element)
        return result

    return rule


def extreme_of_bools(larger: bool) -> Rule:
    return plain(lambda f, a, b: f.binary("or" if larger else "and", a, b))
