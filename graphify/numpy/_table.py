"""The table of graphify.numpy: adding a function is one decorated definition.

    @implements(np.flatnonzero)
    def flatnonzero(a: Any) -> Tensor:
        return nonzero(to_tensor(a).reshape(-1))[0]

`implements` publishes the function in `graphify.numpy` under NumPy's name (and `names`), and makes
`np.flatnonzero(tensor)` call it. Functions take what NumPy's take, in the same order and with the
same keywords, and give tensors.

A NumPy function without an entry still works on eager tensors: NumPy itself runs and its arrays
are wrapped. On a symbolic tensor it raises.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from graphify import tree
from graphify.errors import ConcreteValueNeeded, DTypeError, ShapeError, SpecError
from graphify.ir.assign import assign
from graphify.ir.context import active_tapes, check_leaving, current_builder
from graphify.ir.promotion import python_dtype
from graphify.ir.sizes import Dim, Shape, decide_equal, decide_less
from graphify.ir.tensor import Tensor, dims_of, resolve
from graphify.ir.types import DType, canonical_dtype
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core, mixed
from graphify.ops.effects import Raise, assert_
from graphify.ops.elementwise import equal, greater_equal
from graphify.ops.shape import are_equal, as_length, checked_dim, iota, size_value

F = TypeVar("F", bound=Callable[..., Any])
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]  # as NumPy's `casting=`

NAMES: dict[str, Any] = {}  # what graphify.numpy publishes
FUNCTIONS: dict[
    Any, Any
] = {}  # NumPy function -> ours, also for NumPy functions that do not dispatch
NO_VALUE: Any = getattr(np, "_NoValue", None)  # NumPy's mark of an argument that was not given


def implements(*originals: Any, names: Iterable[str] = (), zero_d: str = "") -> Callable[[F], F]:
    """Publish a function as graphify's version of NumPy functions.

    Args:
        originals: the NumPy functions; the published names are theirs.
        names: further names, such as aliases or functions that NumPy lacks.
        zero_d: what NumPy gives where the result has no axes, if the function does not see to that:
            an "array", which updates in place change, or a "scalar".
    """

    def register(function: F) -> F:
        if zero_d:
            function = _giving(zero_d == "scalar", function)
        published = [*(original.__name__ for original in originals), *names]
        for original in originals:
            FUNCTIONS[original] = function
        for name in published:
            NAMES[name] = function
        function.__name__ = published[0]
        return function

    return register


def _giving(scalar: bool, function: Callable[..., Any]) -> Any:
    """A function with results of no axes that are scalars, or arrays."""

    def settled(result: Any) -> Any:
        if not isinstance(result, Tensor) or result.dims or result._scalar is scalar:
            return result
        made = Tensor(result._value) if result.is_symbolic else core.copy(result)
        made._scalar = scalar
        return made

    @functools.wraps(function)
    def given(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return tuple(map(settled, result)) if type(result) is tuple else settled(result)

    return given


def named(name: str) -> Callable[..., Tensor]:
    """The published function of a name, for files that come before its own."""
    function: Callable[..., Tensor] = NAMES[name]
    return function


def publish(**names: Any) -> None:
    """Constants, dtypes and submodules of the namespace."""
    NAMES.update(names)


# --- arguments ---------------------------------------------------------------------------------


def to_tensor(value: Any) -> Tensor:
    """Any array-like as a tensor of settled dtype; in a trace, its twin there."""
    return core.strong(resolve(as_tensor(value)))


def default_float() -> DType:
    """float64, or float32 where it is preferred."""
    return python_dtype(float)


def dtype_or(dtype: Any, default: DType) -> DType:
    return default if dtype is None else canonical_dtype(dtype)


def astype(x: Any, dtype: Any) -> Tensor:
    """`x` in a dtype: itself where it has it."""
    return core.to_dtype(x, dtype)


def shape_of(shape: Any, argument: str = "shape") -> Shape:
    """A shape argument: an integer or a sequence of them, any of them traced."""
    if isinstance(shape, Tensor) and shape.ndim == 1:
        length = shape.dims[0]
        if not isinstance(length, int):
            raise SpecError(f"{argument}: expected a shape of known rank, got {shape.spec}")
        items: list[Any] = [shape[i] for i in range(length)]
    elif isinstance(shape, (list, tuple)) or (isinstance(shape, np.ndarray) and shape.ndim):
        items = list(shape)
    else:
        items = [shape]
    return tuple(as_length(item, argument) for item in items)


def axis_of(axis: Any, ndim: int, argument: str = "axis") -> int:
    """One axis, not negative.

    Raises:
        numpy.exceptions.AxisError: out of range.
    """
    if isinstance(axis, Tensor):
        axis = axis.__index__()
    try:
        index = int(axis.__index__())
    except AttributeError:
        kind = type(axis).__name__
        raise TypeError(f"{argument}: expected an integer, got {kind} {axis!r:.40}") from None
    if not -ndim <= index < ndim:
        raise np.exceptions.AxisError(index, ndim)
    return index % ndim if ndim else 0


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that a reduction is over: NumPy lets a number have one, which is 0 or -1."""
    if not ndim and axis is not None and not isinstance(axis, (tuple, list)):
        axis_of(axis, 1)
        return ()
    return axes_of(axis, ndim)


def axes_of(axis: Any, ndim: int, argument: str = "axis") -> tuple[int, ...]:
    """Axes as a tuple, not negative; None is all of them."""
    if axis is None:
        return tuple(range(ndim))
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_of(item, ndim, argument) for item in items)
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in '{argument}'")
    return axes


def check_options(casting: Any, order: Any) -> None:
    """NumPy's errors for a casting rule or a memory order that there is not."""
    if not (isinstance(casting, str) and casting == "same_kind" and order == "K"):
        np.add(0, 0, casting=casting, order=order)


def cast_operand(function: str, x: Tensor, dtype: Any, casting: Casting) -> Tensor:
    """An operand in the dtype that `dtype=` asks for; itself where that is None.

    Raises:
        TypeError: it does not cast to that.
    """
    if dtype is None:
        return x
    target = canonical_dtype(dtype)
    if not np.can_cast(x.dtype, target, casting):
        raise DTypeError(
            f"{function}: cannot cast an operand from {x.dtype} to {target} with casting rule "
            f"'{casting}'"
        )
    return astype(x, target)


def integer_of(value: Any, message: str) -> int:
    """A value that is to be an integer, and no bool.

    Raises:
        TypeError: it is none. ConcreteValueNeeded: only the run knows it.
    """
    if isinstance(value, bool):
        raise TypeError(message)
    try:
        return operator.index(value)
    except ConcreteValueNeeded:
        raise
    except TypeError as error:
        raise TypeError(message) from error


def broadcast_dims(*shapes: Shape) -> Shape:
    """NumPy's broadcast shape; a length that only the run can decide is computed there.

    Raises:
        ShapeError: the shapes never fit.
    """
    dims = core.broadcast_shapes(*shapes)
    axes = range(-len(dims), 0)
    return tuple(
        _decided([shape[axis] for shape in shapes if -axis <= len(shape)], dims[axis])
        for axis in axes
    )


def _decided(lengths: Sequence[Dim], joint: Dim) -> Dim:
    if joint == 1 or joint in lengths:
        return joint
    first, *rest = (iota(length=n, dtype=np.dtype(np.int64)) for n in dict.fromkeys(lengths))
    for other in rest:
        first = equal(first, other)
    return first.dims[0]


def same_size(a: Dim, b: Dim) -> bool:
    """Whether two sizes may be equal."""
    return decide_equal(a, b) is not False


def may_equal(one: Shape, two: Shape) -> bool:
    """Whether two shapes may be equal."""
    return len(one) == len(two) and all(map(same_size, one, two))


def of_shape(x: Tensor, shape: Shape, message: str) -> Tensor:
    """`x`, which must have this shape: checked now, or by the run that uses the result.

    Raises:
        ShapeError: it has another one in every run.
    """
    if not may_equal(x.dims, shape):
        raise ShapeError(message)
    dims = tuple(checked_dim(n, m, message) for n, m in zip(x.dims, shape, strict=True))
    return x if x.dims == shape else core.reshape(core.reshape(x, shape=dims), shape=shape)


def at_least(length: Dim, least: int, message: str, error: type[Exception] = ValueError) -> None:
    """Check that a length is no smaller: now, or when the program runs.

    Raises:
        error: it is smaller in every run.
    """
    short = decide_less(length, least)
    if short is True:
        raise error(message)
    if short is None:
        _assert(greater_equal(size_value(size=length), least), message, error)


def equal_lengths(one: Dim, two: Dim, message: str, error: type[Exception] = ShapeError) -> None:
    """Check that two lengths are equal: now, or when the program runs.

    Raises:
        error: they differ in every run.
    """
    if not are_equal(one, two, message, error):
        _assert(equal(size_value(size=one), size_value(size=two)), message, error)


def _assert(condition: Tensor, message: str, error: type[Exception]) -> None:
    text: Any = message
    assert_(condition, exception=Raise(error, (text,)))


# --- results -----------------------------------------------------------------------------------


def store(out: Any, result: Tensor, casting: Casting = "same_kind", name: str = "out") -> Tensor:
    """Write a result into an `out=` argument, as NumPy does; returns the tensor written.

    Raises:
        TypeError: the argument is no array, or the result's dtype does not cast to its dtype.
        ValueError: the shapes differ, or the array is read-only.
    """
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if not isinstance(out, (Tensor, np.ndarray)):
        raise SpecError(f"{name}: expected an array to write to, got {type(out).__name__}")
    check_written(out, result)
    target = as_tensor(out)
    if target.spec.weak:
        raise SpecError(f"{name}: expected an array to write to, got a Python number")
    if not np.can_cast(result.dtype, target.dtype, casting):
        raise DTypeError(
            f"{name}: cannot cast the result from {result.dtype} to {target.dtype} "
            f"with casting rule '{casting}'"
        )
    dims = resolve(target).dims
    if len(dims) != result.ndim and result.ndim > len(dims):
        raise ShapeError(f"{name}: expected shape {result.dims}, got {dims}")
    core._broadcast_spec(result.spec, dims)
    mixed.refuse_floats(target, result)
    assign(target, core.like(result, resolve(target)))
    return out if isinstance(out, Tensor) else target


def check_written(target: Any, *values: Any) -> None:
    """Raise if a derivative would be lost in an array of NumPy's own that these are written to."""
    if isinstance(target, np.ndarray) and active_tapes() and current_builder() is None:
        for value in tree.leaves(values):
            if isinstance(value, Tensor):
                check_leaving(value, "an update of a NumPy array in place")


def finish(result: Tensor, out: Any, casting: Casting = "same_kind") -> Tensor:
    """The result, or what `out=` names after writing it there; shapes must be equal."""
    if out is None:
        result._scalar |= not result.dims  # NumPy gives a scalar here, never a 0-d array
        return result
    target = out[0] if isinstance(out, tuple) else out
    dims = dims_of(target)
    message = f"out: expected an array of shape {result.dims}, got {dims}"
    return store(target, of_shape(result, dims, message), casting)


# --- dispatch from NumPy -----------------------------------------------------------------------


def array_function(
    self: Tensor, func: Any, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`Tensor.__array_function__`: a NumPy function was called with a tensor."""
    if not all(issubclass(t, (Tensor, np.ndarray)) or not _overrides(t) for t in types):
        return NotImplemented
    known = FUNCTIONS.get(func)
    if known is not None:
        return known(*args, **kwargs)
    return fall_back(func, args, kwargs)


def _overrides(kind: type) -> bool:
    return getattr(kind, "__array_function__", None) is not None


def fall_back(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function that graphify does not have: run it on eager tensors' arrays.

    Raises:
        SpecError: a tensor is symbolic.
    """
    leaves, treedef = tree.flatten((args, kwargs))
    plain_args, plain_kwargs = treedef.unflatten([_array(leaf, function) for leaf in leaves])
    return _wrap(function(*plain_args, **plain_kwargs))


def _array(leaf: Any, function: Any) -> Any:
    if not isinstance(leaf, (Tensor, np.ndarray)):
        return leaf
    if isinstance(leaf, np.ndarray) and current_builder() is None:
        return leaf
    tensor = resolve(as_tensor(leaf))
    if tensor.is_symbolic:
        name = _full_name(function)
        location = here()
        if isinstance(function, np.ufunc) and name.endswith(" (vectorized)"):
            raise SpecError(
                "np.frompyfunc: the function that it makes gives arrays of objects",
                location=location.resolve() if location else None,
                remedy="use np.vectorize(f, otypes=[float]), which gives arrays of numbers",
            )
        raise SpecError(
            f"{name}: graphify has no version of this function for tensors known only at run time",
            location=location.resolve() if location else None,
            remedy=_REMEDIES.get(
                name,
                f"call {name} outside the graphify.function, or write it with functions of "
                "graphify.numpy",
            ),
        )
    check_leaving(tensor, _full_name(function))
    return tensor.numpy()


_WRITE = "return the array, and write it outside the graphify.function"
_REMEDIES = {
    "numpy.save": _WRITE,
    "numpy.savetxt": _WRITE,
    "numpy.savez": _WRITE,
    "numpy.savez_compressed": _WRITE,
    "numpy.array2string": "print the array: print(x) is staged",
    "numpy.min_scalar_type": "the dtype of a result must not depend on values: name it",
    "numpy.real_if_close": "the dtype of a result must not depend on values: take x.real",
}


def _full_name(function: Any) -> str:
    """The public name: "numpy.linalg.norm", "numpy.add.reduceat"."""
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return f"numpy.{function.__self__.__name__}.{function.__name__}"
    module = (getattr(function, "__module__", None) or "numpy").replace("numpy._core", "numpy")
    return f"{module}.{getattr(function, '__name__', function)}"


def _wrap(result: Any) -> Any:
    leaves, treedef = tree.flatten(result)
    return treedef.unflatten([_tensor(leaf) for leaf in leaves])


def _tensor(leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "biufcV":
        try:
            canonical_dtype(leaf.dtype)
        except SpecError:
            return leaf
        return as_tensor(leaf)
    return leaf
