"""How much of a program's result is rounding: the program run again with every rounding shaken.

    shaken = shaken_function(program.source, "program", seed)
    shaken(*arguments)          # the program, with a few ulp of noise wherever NumPy had to round

Two correct engines differ only where an operation rounds (and in the sign of a zero that a
reduction gives). The noise goes just there: each operation is done once more in a longer precision,
and what comes out the same is exact and left alone. So a program of exact steps gets no noise at
all, and one that divides by the rest of a cancellation shows that its result means nothing.
"""

import ast
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.kinds import SPACE

ULPS = 4  # of a rounded result, on either side
ERRORS = 8  # times the error that NumPy itself made
# What adds up or picks in an order of its own, where +0 and -0 may come out either way.
REDUCING = {"sum", "mean", "cumsum", "prod", "dot", "std", "matmul", "minimum", "maximum", "min",
            "max", "clip", "sort", "outer"}  # fmt: skip
SUMMING = {"sum", "mean", "cumsum", "std"}  # in any order
WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow,
    "MatMult": operator.matmul, "BitAnd": operator.and_, "BitOr": operator.or_,
    "BitXor": operator.xor,
}  # fmt: skip
UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, f"i{function.__name__.strip('_')}")
    for name, function in OPERATORS.items()
}


def shaken_function(source: str, name: str, seed: int) -> Callable[..., Any]:
    """The function of a program, with noise in its rounding."""
    tree = ast.fix_missing_locations(_Shaking().visit(ast.parse(source)))
    space = {**SPACE, **_Noise(seed).functions()}
    exec(compile(tree, "<shaken program>", "exec"), space)
    return space[name]  # type: ignore[no-any-return]


class _Shaking(ast.NodeTransformer):
    """`a + b` becomes `_binary("Add", a, b)`; so do calls and updates in place."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _calling("_binary", _name_of(node.op), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        old = ast.parse(ast.unparse(node.target), mode="eval").body
        value = _calling("_update", _name_of(node.op), self.visit(old), node.value)
        return ast.Assign([node.target], value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_call", ast.Load()), [node.func, *node.args], node.keywords)


def _name_of(op: ast.operator) -> ast.Constant:
    return ast.Constant(type(op).__name__)


def _calling(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(args), [])


class _Noise:
    """What the shaken program calls."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.coin = random.Random(seed)

    def functions(self) -> dict[str, Callable[..., Any]]:
        return {"_binary": self.binary, "_update": self.update, "_call": self.call}

    def binary(self, name: str, a: Any, b: Any) -> Any:
        function = OPERATORS[name]
        return self.shaken(function(a, b), function, (a, b), {}, name == "MatMult")

    def update(self, name: str, a: Any, b: Any) -> Any:
        if not isinstance(a, np.ndarray):
            return self.shaken(UPDATES[name](a, b), OPERATORS[name], (a, b), {}, False)
        before, other = a.copy(), np.array(b)  # b may be a part of a
        a = UPDATES[name](a, b)
        a[...] = self.shaken(a, OPERATORS[name], (before, other), {}, name == "MatMult")
        return a

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        owner = getattr(function, "__self__", None)
        result = function(*args, **kwargs)
        if isinstance(owner, np.ndarray | np.generic):
            name = function.__name__
            again = lambda x, *rest, **named: getattr(x, name)(*rest, **named)  # noqa: E731
            return self.shaken(result, again, (owner, *args), kwargs, name in REDUCING, name)
        name = getattr(function, "__name__", "")
        if getattr(np, name, None) is function or function is sum and _is_there_twice(args[0]):
            return self.shaken(result, function, args, kwargs, name in REDUCING, name)
        return result

    def shaken(
        self, result: Any, function: Any, args: Any, kwargs: Any, reducing: bool, name: str = ""
    ) -> Any:
        """The result with noise where `function`, in a longer precision, says that it rounds."""
        if not isinstance(result, float | np.floating | np.ndarray):
            return result
        array = np.asarray(result)
        if array.dtype not in WIDER:
            return result
        try:
            whole = reducing or isinstance(function, np.ufunc)  # whole numbers are operands, too
            exact = np.asarray(function(*(_wide(arg, whole) for arg in args), **kwargs))
            reach = np.asarray(function(*map(_size, args), **kwargs)) if reducing else exact * 0
        except Exception:  # not meant for such operands
            return result
        if exact.shape != array.shape or reach.shape != array.shape:
            return result
        uneven = name in SUMMING and _depends_on_order(args[0], reach, array.dtype)
        noisy = self._noisy(array, exact, reach, reducing, uneven)
        return noisy if isinstance(result, np.ndarray) else type(result)(noisy)

    def _noisy(self, array: Any, exact: Any, reach: Any, reducing: bool, uneven: Any) -> Any:
        error = np.abs(array - exact)
        rounded = np.isfinite(array) & ((error > 0) | uneven)
        span = ULPS * np.spacing(np.abs(array)) + ERRORS * error
        span = span + ULPS * np.finfo(array.dtype).eps * np.abs(reach)
        noise = np.where(rounded, span * self.rng.uniform(-1, 1, array.shape), 0)
        noisy = (array + noise).astype(array.dtype)
        if reducing and self.coin.random() < 0.5:
            noisy = np.where(noisy == 0, -noisy, noisy)
        return noisy


def _is_there_twice(values: Any) -> bool:
    """Whether values are there again once something has gone over them."""
    return isinstance(values, np.ndarray | list | tuple)


def _depends_on_order(parts: Any, reach: Any, dtype: Any) -> Any:
    """Whether a sum may round in some order of its parts, if not in this one: it is so long that
    some bits of the smallest parts are below its last one."""
    values = np.abs(np.asarray(parts, np.float64)).ravel()
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        return False
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    last = np.ldexp((whole & -whole).astype(float), exponents - 53).min()
    return np.asarray(reach) * float(np.finfo(dtype).eps) > last


def _wide(value: Any, whole: bool = False) -> Any:
    """An operand in longer precision; `whole`: integers of NumPy, too."""
    if isinstance(value, float):  # np.float64, too
        return np.longdouble(value)
    if isinstance(value, list | tuple):
        return type(value)(_wide(item, whole) for item in value)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    if whole and value.dtype.kind in "iu":
        return value.astype(np.longdouble)
    return value.astype(WIDER[value.dtype]) if value.dtype in WIDER else value


def _size(value: Any) -> Any:
    """Operands of the same size, all positive: how far the parts of a sum reach."""
    if isinstance(value, list | tuple):
        return type(value)(map(_size, value))
    if isinstance(value, np.ndarray | np.floating | float):
        return np.abs(_wide(value))
    return value
