"""Which expressions are index arithmetic: what may be computed early, and even for nothing.

is_arithmetic(plus(i, times(n, index(2))))     # True: it is put in front of the loops inside i's
"""

from __future__ import annotations

from graphify.engines.native.loops.program import INDEX, Apply, Const, Expr, Var

SUM = {"add": "add", "subtract": "sub", "multiply": "mul", "bitwise_and": "and"}
COMPARE = {
    "equal": "eq",
    "not_equal": "ne",
    "less": "slt",
    "less_equal": "sle",
    "greater": "sgt",
    "greater_equal": "sge",
}
DIVIDE = ("floor_divide", "floordiv", "remainder", "mod")
_OTHER = ("maximum", "minimum", "negative", "where", "logical_and", "logical_or", "logical_not")
_PURE = frozenset([*SUM, *COMPARE, *DIVIDE, *_OTHER])


def is_arithmetic(expr: Expr) -> bool:
    """Whether it is made of int64 sums, products, comparisons and the like, which may run early."""
    match expr:
        case Const(_, dtype):
            return dtype == INDEX or dtype.kind == "b"
        case Var(_, dtype):
            return dtype == INDEX or dtype.kind == "b"
        case Apply(op, args, dtype):
            if op not in _PURE or not (dtype == INDEX or dtype.kind == "b"):
                return False
            return all(is_arithmetic(a) for a in args) and _same_kind(op, args)
    return False


def _same_kind(op: str, args: tuple[Expr, ...]) -> bool:
    """Operands of a kind that the few operations here have a meaning for."""
    kinds = {a.dtype for a in args}
    if op.startswith("logical"):
        return all(d.kind == "b" for d in kinds)
    if op == "where":
        return args[0].dtype.kind == "b" and args[1].dtype == args[2].dtype
    return kinds == {INDEX}
