"""What happens when an op is applied to tensors: record a node, or evaluate now.

    bind(sin, (x,), {})         # a node of the current frame if x is symbolic, else NumPy's sine

Three rules decide between recording and evaluating: outside a trace everything is evaluated; inside
one an op is recorded if an operand is symbolic, comes from outside the trace, or the op has
effects; what a trace makes out of its own constants is evaluated on the spot.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from inspect import CO_OPTIMIZED
from typing import Any

import numpy as np

from graphify.errors import DTypeError, InternalError
from graphify.ir import float_errors
from graphify.ir.context import FRAME, TAPES
from graphify.ir.graph import Graph, Value, leaked, origin
from graphify.ir.kinds import (
    OF_EITHER,
    class_of,
    is_array,
    kinds_of,
    may_be_integers,
    operand_of_kind,
)
from graphify.ir.op import Op
from graphify.ir.promotion import ufunc_dtypes
from graphify.ir.sizes import Size, dim_variables
from graphify.ir.tensor import Tensor, is_number, refresh, resolve, value_in
from graphify.ir.types import Array, is_inexact
from graphify.ir.wrapping import as_tensor
from graphify.location import LazyLoc, here, is_standing, location_of, user_frame


def bind(
    op: Op,
    args: Sequence[Any],
    attrs: dict[str, Any],
    *,
    view: bool = True,
    convert: bool = True,
    source: LazyLoc | None = None,
) -> Any:
    """Apply an op to tensors: record it in the current trace or evaluate it now.

    Args:
        view: a result that NumPy would make a view remembers its base.
        convert: promote the operands by the op's rule.
        source: the user's line; the caller's own line if None.
    """
    operands = op.convert(*args) if convert and op.convert else args
    tensors = [resolve(as_tensor(arg)) for arg in operands]
    builder = FRAME.get()
    if builder is None:
        outputs, single = _evaluate(op, tensors, attrs)
    elif (
        op.effects
        or any(type(t._value) is Value for t in tensors)
        or any(isinstance(v, Graph) and v.effects or _is_sized(v) for v in attrs.values())
    ):
        float_errors.check()
        operand_values = [value_in(t, builder) for t in tensors]
        source = source if source is not None else _located((*operands, *tensors), operand_values)
        values = builder.add(op, operand_values, attrs, source, intern=not TAPES.get())
        outputs, single = [Tensor(value) for value in values], len(values) == 1
    else:
        outputs, single = _evaluate(op, tensors, attrs)
    if op.put is not None and view and is_number(tensors[0]):
        _keep_apart(outputs[0])
    elif op.put is not None and view and _is_view(outputs[0], tensors[0]):
        outputs[0]._base, outputs[0]._view = tensors[0], (op, tuple(tensors[1:]), attrs)
        outputs[0]._seen = tensors[0]._version
    for output in outputs:
        output._scalar = not output.dims and _gives_scalar(op, tensors)
    if single and any(isinstance(x, Tensor) and x._kinds for x in args):
        outputs[0]._kinds = _kinds_of_result(op, args, attrs, convert, outputs[0])
    for tape in TAPES.get():
        tape.record(op, tensors, attrs, outputs)
    return outputs[0] if single and not op.extra.get("tuple") else tuple(outputs)


def _located(things: Sequence[Any], values: Sequence[Value]) -> LazyLoc | None:
    """The user's line, with the names that it has for the operands of an op.

    Args:
        things: the operands as they were given, and as tensors.
    """
    frame = user_frame()
    if frame is None or is_standing():
        return here()
    names = {}
    if frame.f_code.co_flags & CO_OPTIMIZED:  # else these are a module's names, too many
        known = {id(thing): i % len(values) for i, thing in enumerate(things) if values}
        names = {known[id(v)]: n for n, v in frame.f_locals.items() if id(v) in known}
    location = location_of(frame)
    location.note_inputs(
        tuple((names.get(i) or origin(value), value.spec) for i, value in enumerate(values))
    )
    return location


def _gives_scalar(op: Op, tensors: Sequence[Tensor]) -> bool:
    """Whether NumPy gives a scalar and not a 0-d array: ufuncs and reductions do, a reshape, a cast
    or a copy keeps what it is given."""
    kind = op.extra.get("zero_d")
    if kind == "array":
        return False
    kept = kind == "same" or op.put is not None
    return tensors[0]._scalar if kept and tensors else True


def _kinds_of_result(
    op: Op, args: Sequence[Any], attrs: dict[str, Any], convert: bool, output: Tensor
) -> frozenset[type]:
    """The classes that a result has in plain Python, computed from what has several: of numbers,
    what the op gives of a number of each. None if it has one."""
    tensors = [as_tensor(arg) for arg in args]
    classes = [kinds_of(tensor) for tensor in tensors]
    operands = zip(tensors, classes, strict=True)
    if output.dims or any(t.dims or any(map(is_array, own)) for t, own in operands):
        return _kinds_of_arrays(op, tensors, classes, output)
    if op.effects or any(isinstance(v, Graph) or _is_sized(v) for v in attrs.values()):
        return frozenset()
    found = set()
    for chosen in itertools.product(*classes):
        with contextlib.suppress(TypeError, ValueError):  # who comes this way gets an error
            found.add(class_of(bind(op, [own(1) for own in chosen], attrs, convert=convert)))
    return frozenset(found) if len(found) > 1 else frozenset()


def _kinds_of_arrays(
    op: Op, tensors: Sequence[Tensor], classes: Sequence[frozenset[type]], output: Tensor
) -> frozenset[type]:
    """As for numbers, where arrays are among the operands: only whether they hold integers counts.

    What is no ufunc gives elements of its operands, or sums and the like of them.
    """
    if not is_inexact(output.dtype) or output._weak:
        return frozenset()
    ufunc = op.extra.get("ufunc")
    if not (may_be_integers(tensors) if ufunc is None else _gives_either(ufunc, tensors, classes)):
        return frozenset()
    return frozenset((np.int64, output.dtype.type)) if output._scalar else OF_EITHER


def _gives_either(
    ufunc: np.ufunc, tensors: Sequence[Tensor], classes: Sequence[frozenset[type]]
) -> bool:
    """Whether a ufunc gives integers for some classes of its operands, and floats for others."""
    found = set()
    for chosen in itertools.product(*classes):
        operands = [operand_of_kind(own, t) for own, t in zip(chosen, tensors, strict=True)]
        with contextlib.suppress(DTypeError):  # who comes this way gets an error
            found.add(is_inexact(ufunc_dtypes(ufunc, operands)[1][0]))
    return len(found) == 2


def _evaluate(
    op: Op, tensors: Sequence[Tensor], attrs: dict[str, Any]
) -> tuple[list[Tensor], bool]:
    arrays = []
    for tensor in tensors:
        refresh(tensor)
        if type(tensor._value) is Value:
            raise leaked(tensor._value)
        arrays.append(tensor._value)
    weak = bool(attrs.get("weak"))
    if not weak and op.extra.get("weak") and tensors:
        weak = all(t._weak for t in tensors)
    meaning = op.meaning(weak)
    if meaning is None:
        raise InternalError(f"op {op.name} has no meaning to evaluate")
    result = meaning(*arrays, **attrs)
    if isinstance(result, (tuple, list)):
        return [Tensor(_own_object(r, arrays)) for r in result], False
    return [Tensor(_own_object(result, arrays), weak=weak)], True


def _keep_apart(result: Tensor) -> None:
    """See to it that updates of a result reach no operand."""
    if type(result._value) is not Value:
        result._value = result._value.copy()


def _is_view(result: Tensor, base: Tensor) -> bool:
    """Whether an eager result shares memory with its base (reshape may copy); symbolic ones do."""
    value = result._value
    return type(value) is Value or not value.size or np.may_share_memory(value, base._value)


def _own_object(result: Any, operands: Sequence[Array]) -> Array:
    """A result as an array object other than the operands: tapes know eager values by object."""
    array = np.asarray(result)
    return array.view() if any(array is operand for operand in operands) else array


def _is_sized(attr: Any) -> bool:
    """Whether an attribute holds a size known only when the graph runs."""
    return isinstance(attr, (tuple, Size)) and next(dim_variables(attr), None) is not None
