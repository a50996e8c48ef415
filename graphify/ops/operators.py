"""Python's operators and conversions on tensors: `a + b`, `a[i] = v`, `bool(a)`, `len(a)`.

Imported once for its effect: it attaches the special methods to `Tensor`.
"""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np

from graphify.errors import IntegerOverflow, SpecError
from graphify.ir.context import check_leaving
from graphify.ir.kinds import wrong_kind
from graphify.ir.op import Op, defop
from graphify.ir.promotion import python_dtype
from graphify.ir.sizes import Dim, decide_equal, decide_less
from graphify.ir.tensor import Tensor, refresh, resolve, value_needed
from graphify.ir.types import BOOL, Spec, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.location import here, is_library_class
from graphify.ops import core, elementwise, keys, shape
from graphify.ops.inplace import update_inplace
from graphify.ops.linalg import matmul
from graphify.ops.mixed import may_be_pythons, sure, sure_divisor
from graphify.ops.rules import numbers

# --- Python scalars divide as Python does --------------------------------------------------------


def _nonzero_divisor_eval(x: Any, message: str = "division by zero") -> Any:
    if not np.all(x):
        raise ZeroDivisionError(message)
    return x


def _of_zero(function: Callable[[Any, Any], Any], one: Any) -> str:
    """What Python says of a division by zero: that differs by operator, kind and version."""
    try:
        function(one, 0)
    except ZeroDivisionError as error:
        return str(error)
    except TypeError:  # complex numbers have no remainders
        return ""
    raise AssertionError(function)


_DIVISIONS = {"/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "divmod": divmod}
_OF_ZERO = {
    (name, np.asarray(one).dtype.kind): _of_zero(function, one)
    for name, function in _DIVISIONS.items()
    for one in (1, 1.0, 1j)
}


_ZERO_POWER = _of_zero(lambda one, zero: zero**-one, 1j)

nonzero_divisor: Op = defop(
    "nonzero_divisor",
    spec=lambda x, message="": x,
    eval=_nonzero_divisor_eval,
    vjp=lambda g, y, x, message="": [g],
    jvp="linear",
    vmap=lambda args, batched, **attrs: nonzero_divisor(args[0], **attrs),
    tf="nonzero_divisor",
    sample=numbers(1, 1, 5),
    extra={"weak": True},
    doc="the operand; ZeroDivisionError where it is zero, as Python's own numbers have it",
)


def _to_int_eval(x: Any) -> Any:
    if x.dtype.kind in "bi":  # as floats, the largest ones would not fit
        return np.asarray(x).astype(np.int64)
    if np.any(np.isnan(x)):
        raise ValueError("cannot convert float NaN to integer")
    if np.any(np.isinf(x)):
        raise OverflowError("cannot convert float infinity to integer")
    inside = (x >= -(2.0**63)) & (x < 2.0**63)
    if not np.all(inside):
        worst = np.extract(~inside, x)[0]
        raise IntegerOverflow(f"the Python integer int({worst}) does not fit into 64 bits")
    return np.asarray(x).astype(np.int64)


to_int: Op = defop(
    "to_int",
    spec=lambda x: Spec(x.shape, np.dtype(np.int64), True),
    eval=_to_int_eval,
    vmap=lambda args, batched: core.strong(to_int(args[0])),
    tf="to_int",
    sample=lambda: [((np.asarray(-2.7),), {}), ((np.asarray(3),), {})],
    differentiable=(),
    doc="int(x) of a scalar: truncates; ValueError for NaN, IntegerOverflow outside of 64 bits",
)


def _python_division(op: Op, name: str) -> Callable[[Any, Any], Any]:
    def divide(a: Any, b: Any) -> Any:
        a, b = as_tensor(a), as_tensor(b)
        if a.spec.weak and b.spec.weak:
            kind = np.result_type(a.dtype, b.dtype, np.int64).kind
            b = nonzero_divisor(b, message=_OF_ZERO[name, kind])
        elif may_be_pythons(a, b):
            b = sure_divisor(b)
        return op(a, b)

    return divide


_true_divide = _python_division(elementwise.divide, "/")
_floor_divide = _python_division(elementwise.floor_divide, "//")
_remainder = _python_division(elementwise.remainder, "%")
_quotient = _python_division(elementwise.floor_divide, "divmod")
_rest = _python_division(elementwise.remainder, "divmod")


def _arithmetic(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator of arithmetic: Python's bools are Python's integers there."""

    def apply(a: Any, b: Any) -> Any:
        if not (_is_python(a) and _is_python(b)):
            return op(_settled(a), _settled(b))
        return op(_as_number(a), _as_number(b))

    return apply


def _as_number(value: Any) -> Any:
    if type(value) is bool:
        return int(value)
    if isinstance(value, Tensor) and value.spec.weak and value.dtype == BOOL:
        return core.cast(value, dtype=np.dtype(np.int64), weak=True)
    return value


def _is_python(value: Any) -> bool:
    """Whether this is a number of Python's own, known or traced."""
    return (
        value.spec.weak if isinstance(value, Tensor) else type(value) in (bool, int, float, complex)
    )


def _settled(value: Any) -> Any:
    """A number beside NumPy's: a traced bool of Python's counts as one of NumPy's."""
    if isinstance(value, Tensor) and value.spec.weak and value.dtype == BOOL:
        return core.strong(value)
    return value


def _of_bits(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator between bits: of Python's numbers, a number of Python's."""
    return lambda a, b: op(_known_bool(a, b), _known_bool(b, a))


def _known_bool(value: Any, other: Any) -> Any:
    """True or False beside a traced number of Python's."""
    if type(value) is bool and isinstance(other, Tensor) and other.spec.weak:
        return Tensor(np.asarray(value), weak=True)
    return value


def _power(a: Any, b: Any) -> Any:
    """`a ** b`; a traced Python int to a negative power is a float."""
    if type(b) is int and b < 0 and isinstance(a, Tensor) and a.spec.weak and a.dtype.kind == "i":
        a = core.cast(a, dtype=python_dtype(float), weak=True)
    if type(b) is int and b == 2 and isinstance(a, Tensor) and a.dtype == BOOL:
        if a._scalar:
            return core.cast(a, dtype=np.dtype(np.int64))
        return elementwise.square(a)  # as ndarray.__pow__ has it: the result is int8
    if type(b) in (int, float) and isinstance(a, Tensor) and not (a.spec.weak or a._scalar):
        kinds, op = _OF_ARRAYS.get((type(b), b), ("", None))
        if op and a.dtype.kind in kinds:
            return op(a)
    if _is_python(a) and _is_python(b) and "c" in (_kind(a), _kind(b)):
        a = _base(a, b)
    return _unsure_power(a, b) if may_be_pythons(a, b) else elementwise.power(a, b)


def _unsure_power(a: Any, b: Any) -> Any:
    """The power of numbers that are Python's on one path and NumPy's on another, which give an
    infinity or a NaN where Python's raise, are complex or, of integers, floats."""
    if "f" not in (_kind(a), _kind(b)):
        return elementwise.power(a, sure(b, elementwise.less(b, 0), "a negative power"))
    result = elementwise.power(a, b)
    finite = elementwise.logical_and(elementwise.isfinite(a), elementwise.isfinite(b))
    wrong = elementwise.logical_and(finite, elementwise.logical_not(elementwise.isfinite(result)))
    return sure(result, wrong, "a power that is no finite number")


# What ndarray.__pow__ calls instead of power, for exponents of Python's: others in infinities and
# signs of zero. Kinds of dtype for which power itself does the same are left out.
_OF_ARRAYS: dict[tuple[type, float], tuple[str, Op | None]] = {
    (int, 2): ("c", elementwise.square),
    (int, -1): ("c", elementwise.reciprocal),
    (float, 0.5): ("fc", elementwise.sqrt),
}


def _kind(number: Any) -> str:
    return as_tensor(number).dtype.kind


def _base(a: Any, b: Any) -> Any:
    """The base of a power of Python's complex numbers, which must not be zero if the exponent is
    negative or complex."""
    if not isinstance(a, Tensor) and a or not isinstance(b, Tensor) and b.real >= 0 == b.imag:
        return a
    base, power = as_tensor(a), as_tensor(b)
    wrong = elementwise.logical_or(
        elementwise.less(elementwise.real(power), 0),
        elementwise.not_equal(elementwise.imag(power), 0),
    )
    wrong = elementwise.logical_and(wrong, elementwise.equal(base, 0))
    right = nonzero_divisor(elementwise.logical_not(wrong), message=_ZERO_POWER)
    return core.cast(elementwise.where(right, base, 1.0), dtype=base.dtype, weak=True)


# --- comparison of sizes ------------------------------------------------------------------------


_ORDER = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}


def _compare(op: Op) -> Callable[[Any, Any], Any]:
    """A comparison; of two sizes, a Python bool where every run agrees."""

    def compare(a: Any, b: Any) -> Any:
        a, b = _known_bool(a, b), _known_bool(b, a)
        if any(isinstance(t, Tensor) and t.is_symbolic and t.spec.weak for t in (a, b)):
            x, y = as_tensor(a), as_tensor(b)
            numbers_of_python = x.spec.weak and y.spec.weak
            if numbers_of_python and op.name in _ORDER and "c" in (x.dtype.kind, y.dtype.kind):
                raise TypeError(f"'{_ORDER[op.name]}' not supported for complex numbers")
            decided = _decide(op.name, x, y) if numbers_of_python else None
            if decided is not None:
                return decided
        if op.name in _ORDER and _has_complex(a, b) and _is_scalar(a) and _is_scalar(b):
            return _in_order(op, a, b)
        return op(a, b)

    return compare


_STRICT = {"less_equal": elementwise.less, "greater_equal": elementwise.greater}


def _in_order(op: Op, a: Any, b: Any) -> Tensor:
    """Whether a complex scalar comes before another: unlike in arrays, a NaN in the one part does
    not matter where the other part decides."""
    first = _STRICT.get(op.name, op)(a.real, b.real)
    return elementwise.logical_or(
        first, elementwise.logical_and(elementwise.equal(a.real, b.real), op(a.imag, b.imag))
    )


def _has_complex(*operands: Any) -> bool:
    return any(
        t.dtype.kind == "c" if isinstance(t, (Tensor, np.generic)) else isinstance(t, complex)
        for t in operands
    )


def _is_scalar(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        return operand.spec.weak or operand._scalar
    return isinstance(operand, (bool, int, float, complex, np.generic))


def _decide(name: str, a: Tensor, b: Tensor) -> bool | None:
    left, right = _known_size(a), _known_size(b)
    if left is None or right is None:
        return None
    match name:
        case "equal":
            return decide_equal(left, right)
        case "not_equal":
            return _negate(decide_equal(left, right))
        case "less":
            return decide_less(left, right)
        case "greater":
            return decide_less(right, left)
        case "less_equal":
            return _negate(decide_less(right, left))
        case _:
            return _negate(decide_less(left, right))


def _known_size(tensor: Tensor) -> Dim | None:
    """The size that an integer scalar stands for, if it is arithmetic of sizes."""
    if tensor.is_symbolic:
        return shape._size_of(tensor._value)
    return int(tensor.numpy()) if tensor.dtype.kind == "i" else None


def _negate(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


# --- attaching ----------------------------------------------------------------------------------

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": _arithmetic(elementwise.add),
    "sub": _arithmetic(elementwise.subtract),
    "mul": _arithmetic(elementwise.multiply),
    "truediv": _arithmetic(_true_divide),
    "floordiv": _arithmetic(_floor_divide),
    "mod": _arithmetic(_remainder),
    "pow": _arithmetic(_power),
    "matmul": matmul,
    "and": _of_bits(elementwise.bitwise_and),
    "or": _of_bits(elementwise.bitwise_or),
    "xor": _of_bits(elementwise.bitwise_xor),
    "lshift": _arithmetic(elementwise.left_shift),
    "rshift": _arithmetic(elementwise.right_shift),
}
_COMPARE = {
    "lt": elementwise.less,
    "le": elementwise.less_equal,
    "gt": elementwise.greater,
    "ge": elementwise.greater_equal,
    "eq": elementwise.equal,
    "ne": elementwise.not_equal,
}
_UNARY = {
    "neg": elementwise.negative,
    "pos": elementwise.positive,
    "abs": elementwise.absolute,
    "invert": elementwise.invert,
}


def _takes(value: Any) -> bool:
    """Whether an operator accepts this other operand (else Python tries the other's method)."""
    if isinstance(value, (Tensor, bool, int, float, complex, np.ndarray, np.generic, list, tuple)):
        return True
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def _forward(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Tensor, Any], Any]:
    other_way = f"__{_SWAPPED.get(name, 'r' + name)}__"

    def operate(self: Tensor, other: Any) -> Any:
        if _meets(name, self, other):
            return function(self, other)
        if not self.spec.weak and hasattr(type(other), other_way) and not defers_to(other):
            _refuse_object(self, other)
        return NotImplemented

    return operate


def _reflected(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Tensor, Any], Any]:
    return lambda self, other: (
        function(other, self) if _meets(name, self, other) else NotImplemented
    )


def _meets(name: str, self: Tensor, other: Any) -> bool:
    """Whether to operate on these two: a number repeats a list, an array is a factor of each of
    its elements; to add to a list, a scalar of NumPy's is an array."""
    if isinstance(other, (list, tuple)):
        return not (self.spec.weak or name == "mul" and self._scalar)
    return _takes(other)


_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def defers_to(other: Any) -> bool:
    """Whether NumPy leaves an operator between an array and an object to the object's class."""
    kind = type(other)
    return hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_priority__")


def _refuse_object(array: Tensor, other: Any) -> None:
    """Refuse what makes arrays of objects, or of the items of one, beside an array of NumPy's.

    Raises:
        SpecError: it does.
    """
    kind = type(other)
    if is_library_class(kind):
        return
    sequence = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    if not sequence and not array.ndim:
        return
    what = "an array of its items" if sequence else "an object in each place of an array"
    raise SpecError(
        f"beside an array or a scalar of its own, NumPy takes a {kind.__name__} for {what}",
        location=here(),
        remedy="put the object on the left, or give its class __array_ufunc__ = None, which leaves "
        "the operator to the class",
    )


_SPREADS: dict[type, Callable[[Any, Callable[[Any], Any]], Any]] = {}


def set_spread(kind: type, spread: Callable[[Any, Callable[[Any], Any]], Any]) -> None:
    """How an update by a value of a class of ours is done to what the value stands for."""
    _SPREADS[kind] = spread


def _inplace(
    function: Callable[[Any, Any], Any], plain: Callable[[Any, Any], Any]
) -> Callable[[Tensor, Any], Tensor]:
    """`a += b`: the tensor itself is updated, as ndarray's is; a scalar is rebound."""

    def update(self: Tensor, other: Any) -> Any:
        if type(other) in _SPREADS:
            return _SPREADS[type(other)](other, lambda value: plain(self, value))
        if not _takes(other):
            return NotImplemented
        if self.spec.weak or self._scalar:
            return function(self, other)
        update_inplace(self, function, other)
        return self

    return update


def _install() -> None:
    for name, function in _BINARY.items():
        setattr(Tensor, f"__{name}__", _forward(name, function))
        setattr(Tensor, f"__r{name}__", _reflected(name, function))
        setattr(Tensor, f"__i{name}__", _inplace(function, getattr(operator, f"i{name}")))
    for name, op in _COMPARE.items():
        setattr(Tensor, f"__{name}__", _forward(name, _compare(op)))
    for name, op in _UNARY.items():
        setattr(Tensor, f"__{name}__", lambda self, op=op: op(_as_number(self)))
    for name, convert in {"bool": bool, "int": int, "float": float, "complex": complex}.items():
        setattr(Tensor, f"__{name}__", _conversion(convert))
    for name, method in _OTHERS.items():
        setattr(Tensor, name, method)


def _getitem(self: Tensor, key: Any) -> Tensor:
    parts = key if isinstance(key, tuple) else (key,)
    for place, part in enumerate(parts):
        if type(part) in _SPREADS:
            return _each_item(self, parts, place)
    return keys.getitem(resolve(self), key)


def _each_item(self: Tensor, key: tuple[Any, ...], place: int) -> Tensor:
    """Items by a key of which a part stands for several values."""
    before, part, after = key[:place], key[place], key[place + 1 :]
    spread = _SPREADS[type(part)]
    items: Tensor = spread(part, lambda value: _getitem(self, (*before, value, *after)))
    return items


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    target = resolve(self)
    if target._scalar:
        raise TypeError(f"'{target.dtype.name}' scalar does not support item assignment")
    if isinstance(value, Tensor) and value._base is target and value.is_symbolic:
        refresh(value)  # `a[i] += v` ends by storing the view `a[i]` into itself
    if type(value) is int and value.bit_length() > 63 and is_inexact(target.dtype):
        value = float(value)
    keys.setitem(target, key, value)


def _len(self: Tensor) -> int:
    if self.ndim == 0:
        raise TypeError("len() of unsized object")
    dim = self.dims[0]
    if not isinstance(dim, int):
        raise value_needed(self, "the length")
    return dim


def _iter(self: Tensor) -> Iterator[Tensor]:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    return (_getitem(self, i) for i in range(_len(self)))


def _conversion(convert: type) -> Callable[[Tensor], Any]:
    def method(self: Tensor) -> Any:
        self = resolve(self)
        if self.is_symbolic:
            raise value_needed(self, f"the {convert.__name__}")
        if convert in (float, complex):
            what = f"{convert.__name__}()"
            check_leaving(self, what, lenient=not _stores_item(sys._getframe(1)))
        return convert(self.numpy())

    return method


def _stores_item(caller: FrameType) -> bool:
    """Whether NumPy asks, to put the number into an array: `array[i] = tensor`."""
    return caller.f_code.co_code[caller.f_lasti] == _STORE_SUBSCR


_STORE_SUBSCR = dis.opmap["STORE_SUBSCR"]


def _index(self: Tensor) -> int:
    self = resolve(self)
    if self.dtype.kind not in "iub":
        kind = "float" if self.spec.weak else f"numpy.{self.dtype.name}"
        error = TypeError(f"'{kind}' object cannot be interpreted as an integer")
        raise wrong_kind(error, self)
    if self.is_symbolic:
        raise value_needed(self, "the integer")
    return self.numpy().__index__()


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    return np.array(array, dtype=dtype, copy=copy)


def _repr(self: Tensor) -> str:
    if self.is_symbolic:
        return _repr_hook(self) or f"<symbolic Tensor {self.spec}>"
    body = np.array2string(self.numpy(), separator=", ", prefix="Tensor(")
    return f"Tensor({body}, shape={self.numpy().shape}, dtype={self.dtype.name})"


_text_hook: Callable[..., str] = lambda tensor, *how: _repr(tensor)  # noqa: E731


_repr_hook: Callable[[Tensor], str | None] = lambda tensor: None  # noqa: E731


def set_repr_hook(hook: Callable[[Tensor], str | None]) -> None:
    """What stands for the repr of a symbolic tensor where user code asks for it."""
    global _repr_hook
    _repr_hook = hook


def set_text_hook(hook: Callable[..., str]) -> None:
    """What stands for the text of a symbolic tensor: autograph.operators.texts."""
    global _text_hook
    _text_hook = hook


def _str(self: Tensor) -> str:
    return _text_hook(self, "") if self.is_symbolic else repr(self)


def _format(self: Tensor, spec: str) -> str:
    if self.is_symbolic:
        return _text_hook(self, spec, False, True)
    value = self.numpy()
    if self._scalar and not spec:
        return format(value[()], spec)
    return format(value.item() if spec and value.ndim == 0 else value, spec)


_OTHERS: dict[str, Callable[..., Any]] = {
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "__len__": _len,
    "__iter__": _iter,
    "__divmod__": lambda a, b: (_quotient(a, b), _rest(a, b)),
    "__rdivmod__": lambda a, b: (_quotient(b, a), _rest(b, a)),
    "__index__": _index,
    "__repr__": _repr,
    "__format__": _format,
    "__str__": _str,
    "__array__": _array,
    "conj": lambda self: elementwise.conjugate(self),
}
_install()
