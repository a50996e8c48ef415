"""Conversions, rounding and kinds: the built-ins about numbers, on staged values.

int(x), round(x, 2), complex(re, im), pow(a, b, mod)     # Python numbers, known at the run
type(x), isinstance(x, float)                            # what the value is in plain Python
"""

from __future__ import annotations

import builtins
import operator
from collections import defaultdict
from types import UnionType
from typing import Any, NoReturn

import numpy as np

from graphify.autograph.operators.choice import Choice
from graphify.autograph.operators.choosing import decide
from graphify.autograph.operators.conditions import decider, is_staged, truth
from graphify.autograph.operators.listed import Listed
from graphify.autograph.operators.logical import python_bool
from graphify.autograph.operators.texts import StagedText, refuse_text
from graphify.ir.kinds import class_of, of_all_kinds
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.wrapping import as_tensor
from graphify.ops import core, elementwise
from graphify.ops.library import integer_call, math_call
from graphify.ops.operators import to_int
from graphify.tracing import special
from graphify.tracing.defaults import Defaults
from graphify.tracing.lists import List

FLOAT, COMPLEX, INT = np.dtype(np.float64), np.dtype(np.complex128), np.dtype(np.int64)

# --- conversions --------------------------------------------------------------------------------


def int(value: Any = 0, *args: Any, **kwargs: Any) -> Any:
    if not args and not kwargs:
        value = _converted(value, builtins.int, "__int__", "__index__")
    if not is_staged(value) or args or kwargs:
        if builtins.isinstance(value, StagedText):
            refuse_text(value)
        return builtins.int(value, *args, **kwargs)
    number = scalar_of(value)
    if number.dtype.kind == "c":
        _not_real("int() argument must be a string, a bytes-like object or a real number", value)
    return to_int(elementwise.trunc(number) if number.dtype.kind == "f" else number)


def float(value: Any = 0.0) -> Any:
    value = _converted(value, builtins.float, "__float__", "__index__")
    if not is_staged(value):
        if builtins.isinstance(value, StagedText):
            refuse_text(value)
        return builtins.float(value)
    number = scalar_of(value)
    if number.dtype.kind == "c":
        _not_real("float() argument must be a string or a real number", value)
    return core.cast(number, dtype=FLOAT, weak=True)


def _not_real(wanted: str, value: Tensor) -> NoReturn:
    raise TypeError(f"{wanted}, not '{type_name(value)}'")


def complex(real: Any = 0, *imag: Any, **parts: Any) -> Any:
    if not imag and not parts:
        real = _converted(real, builtins.complex, "__complex__", "__float__", "__index__")
    given = (real, *imag, *parts.values())
    if not builtins.any(is_staged(v) for v in given):
        return builtins.complex(real, *imag, **parts)
    re, im = (*given, 0)[:2]
    if builtins.len(given) == 1:
        return core.cast(scalar_of(real), dtype=COMPLEX, weak=True)
    if builtins.any(as_tensor(v).dtype.kind == "c" for v in (re, im)):
        return complex(re) + complex(im) * 1j
    number = elementwise.make_complex(*(core.strong(float(v)) for v in (re, im)))
    return core.cast(number, dtype=COMPLEX, weak=True)


def _converted(value: Any, kind: Any, *names: str) -> Any:
    """What the first of some special methods gives, where it is the user's.

    Raises:
        TypeError: the method gives what Python does not take of it.
    """
    for name in names:
        if hasattr(builtins.type(value), name):
            break
    own = special.method(value, name)
    if own is None:
        return value
    number = own()
    wanted = {"__index__": builtins.int, "__float__": builtins.float}.get(name, kind)
    if not isinstance(number, wanted):
        what = f"non-{wanted.__name__} (type {type_name(number)})"
        raise TypeError(f"{type_name(value)}.{name} returned {what}")
    return number


def bool(value: Any = False) -> Any:
    value = decider(value)
    return python_bool(truth(value)) if is_staged(value) else builtins.bool(value)


def index(value: Any) -> Any:
    """operator.index: an integer as a Python int."""
    value = _converted(value, builtins.int, "__index__")
    if not is_staged(value):
        return operator.index(value)
    number = scalar_of(value)
    if number.dtype.kind not in "iu" and not (number.dtype.kind == "b" and number.spec.weak):
        raise TypeError(f"'{type_name(value)}' object cannot be interpreted as an integer")
    return core.cast(number, dtype=INT, weak=True)


# Until 2.4, NumPy took an array of one element for its element.
_ONE_ELEMENT_IS_A_NUMBER = tuple(builtins.map(builtins.int, np.__version__.split(".")[:2])) < (2, 4)


def scalar_of(value: Tensor) -> Tensor:
    """A tensor as a scalar, as float(array) has it."""
    tensor = resolve(value)
    if tensor.dims == ():
        return tensor
    if _ONE_ELEMENT_IS_A_NUMBER and builtins.all(d == 1 for d in tensor.dims):
        return core.reshape(tensor, shape=())
    raise TypeError("only 0-dimensional arrays can be converted to Python scalars")


# --- rounding and powers --------------------------------------------------------------------------


def round(value: Any, ndigits: Any = None) -> Any:
    if not is_staged(value) and not is_staged(ndigits):
        return builtins.round(value, ndigits)
    number = scalar_of(value) if builtins.isinstance(value, Tensor) else as_tensor(value)
    kind = number.dtype.kind
    if kind == "c" or kind == "b" and not number.spec.weak:
        raise TypeError(f"type {type_name(value)} doesn't define __round__ method")
    if ndigits is None:
        return to_int(elementwise.rint(number) if kind == "f" else number)
    if not number.spec.weak:
        return value.round(ndigits)
    digits = as_tensor(ndigits)
    if kind == "f":  # the decimal number that is nearest, which no formula of floats gives
        return math_call(elementwise.rint(number), number, digits, function=".round")
    return integer_call(core.cast(number, dtype=INT, weak=True), digits, function="round")


def type_name(value: Any) -> str:
    """The name of a value's class as Python's errors have it."""
    kind = kind_of(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def pow(base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None or not builtins.any(is_staged(v) for v in (base, exp, mod)):
        return builtins.pow(base, exp, *(() if mod is None else (mod,)))
    numbers = [as_tensor(v) for v in (base, exp, mod)]
    if not builtins.all(n.spec.weak and n.dtype.kind in "ib" for n in numbers):
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return integer_call(*(core.cast(n, dtype=INT, weak=True) for n in numbers), function="pow")


# --- kinds --------------------------------------------------------------------------------------


def kind_of(value: Any) -> builtins.type:
    """The class of a value; of a tensor, that of what stands in its place in plain Python."""
    if builtins.isinstance(value, List):
        return builtins.list
    if builtins.isinstance(value, Listed):
        return value.standing_for
    if builtins.isinstance(value, Defaults):
        return defaultdict
    if not builtins.isinstance(value, Tensor) or not is_staged(value):
        return builtins.type(value)
    return class_of(value)


def type(value: Any, *rest: Any, **kwargs: Any) -> Any:
    """The class of a value, or with three arguments a new class."""
    if rest:
        return builtins.type(value, *rest, **kwargs)
    if builtins.type(value) is Choice:
        return decide(value, type)
    if builtins.isinstance(value, Tensor) and is_staged(value):
        return of_all_kinds(value, lambda own: own)
    return kind_of(value)


def isinstance(value: Any, kinds: Any) -> builtins.bool:
    """isinstance; a tensor is also what stands in its place when nothing is staged."""
    if builtins.type(value) is Choice:
        answer: builtins.bool = decide(value, lambda chosen: isinstance(chosen, kinds))
        return answer
    if builtins.isinstance(value, Listed):
        return builtins.issubclass(value.standing_for, kinds)
    if builtins.isinstance(value, kinds) or not builtins.isinstance(value, Tensor):
        return builtins.isinstance(value, kinds)
    wanted = builtins.list(_single_kinds(kinds))
    return of_all_kinds(
        value, lambda own: builtins.any(builtins.issubclass(own, kind) for kind in wanted)
    )


def _single_kinds(kinds: Any) -> Any:
    if builtins.isinstance(kinds, UnionType):
        kinds = kinds.__args__
    if not builtins.isinstance(kinds, tuple):
        return [kinds]
    return [single for kind in kinds for single in _single_kinds(kind)]
