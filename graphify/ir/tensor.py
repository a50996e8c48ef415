"""Tensors: arrays whose value is a NumPy buffer (eager) or a value of a graph (symbolic).

A `Tensor` is an object whose current value is rebound by in-place updates (`graphify.ir.assign`).
A basic slice, a reshape or a transpose is a view: it remembers its base and the op that views it,
so an update of either is seen by both, while the graph itself stays functional.

    >>> t = Tensor(np.arange(3.0))
    >>> t.shape
    (3,)

`resolve` gives the tensor to work on, its value up to date; `value_in` its value in a graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphify.errors import ConcreteValueNeeded, TraceError
from graphify.ir.context import FRAME, recording, taping_in
from graphify.ir.graph import Builder, Literal, Value, constant, leaked
from graphify.ir.op import Op
from graphify.ir.sharing import Sharing
from graphify.ir.sizes import Dim, Shape, Size
from graphify.ir.types import Array, DType, Spec
from graphify.location import here, library_call


class Tensor:
    """An n-dimensional array: eager (holds a NumPy buffer) or symbolic (names a graph value).

    `graphify.numpy.ndarray` is this class. NumPy's methods and operators are attached by
    `graphify.ops.operators` and `graphify.numpy`; they give what NumPy's give, and raise what they
    raise. Build tensors with `graphify.numpy.asarray`.

    Args:
        value: a NumPy array (shared, not copied) or a `Value`.
        base, view: for views: the viewed tensor and `(op, operands, attrs)` that views it.
        weak: the tensor stands for a Python scalar (NEP 50).

    Example:
        >>> x = gnp.asarray([[1.0, 2.0], [3.0, 4.0]])
        >>> x[0] += 1.0
        >>> x.sum(axis=0)
        Tensor([5., 7.], shape=(2,), dtype=float64)
    """

    __slots__ = (
        "_value",
        "_base",
        "_view",
        "_seen",
        "_version",
        "_home",
        "_made",
        "_weak",
        "_scalar",
        "_kinds",
        "_shared",
        "__weakref__",
    )

    _value: Any
    __array_priority__ = 100.0

    def __hash__(self) -> int:
        if self.dims or not self.is_symbolic:
            raise TypeError(f"unhashable type: {type(self).__name__!r}")
        raise value_needed(resolve(self), "the hash")

    def __init__(
        self,
        value: Array | Value,
        base: Tensor | None = None,
        view: tuple[Op, tuple[Any, ...], dict[str, Any]] | None = None,
        weak: bool = False,
    ) -> None:
        builder = FRAME.get()
        self._value, self._base, self._view, self._weak = value, base, view, weak
        # In whose memory lies what updates make of it; of an array, noted by the first of them.
        self._made: Any = value if type(value) is Value else None
        self._scalar = False  # a NumPy scalar: `s += 1` rebinds the name, the tensor stays
        self._kinds: frozenset[type] = frozenset()  # its classes, if paths have several
        self._shared: Sharing | None = None  # other tensors that may be the same array
        self._version, self._seen = 0, 0 if base is None else base._version
        self._home = None if builder is None else builder.home

    def __getstate__(self) -> Any:
        """For pickle: a view becomes an array of its own, as with NumPy's."""
        refresh(self)
        if self.is_symbolic:
            raise value_needed(self, "the value")
        _, fields = cast(tuple[None, dict[str, Any]], object.__getstate__(self))
        return None, {**fields, "_base": None, "_view": None, "_home": None, "_made": None}

    # --- what is known without running anything ---

    @property
    def spec(self) -> Spec:
        """Shape, dtype and weakness."""
        value = self._value
        if type(value) is Value:
            return value.spec
        return Spec(value.shape, value.dtype, self._weak)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape; an axis of symbolic size is an integer tensor that acts as an int."""
        return tuple(d if isinstance(d, int) else shown(d) for d in self.spec.shape)

    @property
    def dims(self) -> Shape:
        """The shape as ints and symbolic sizes."""
        return self.spec.shape

    @property
    def dtype(self) -> DType:
        """The NumPy dtype; bfloat16 is that of ml_dtypes."""
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.spec.shape)

    @property
    def is_symbolic(self) -> bool:
        """Whether the value is known only when the graph runs."""
        return type(self._value) is Value

    if TYPE_CHECKING:  # attached by graphify.ops.operators and graphify.numpy._methods

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __lshift__(self, other: Any) -> Tensor: ...
        def __rshift__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def __len__(self) -> int: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __getattr__(self, name: str) -> Any: ...  # NumPy's methods

        flat: Any
        conjugate: Any

    # --- leaving for Python ---

    def numpy(self) -> Array:
        """The tensor's NumPy array: shared, not copied.

        Raises:
            ConcreteValueNeeded: the tensor is symbolic, or comes from outside the current trace
                (its value may be another one when the graph runs).
        """
        known = resolve(self)
        if type(known._value) is Value:
            raise value_needed(known, "the values")
        array: Array = known._value
        return array


def dims_of(value: Any) -> tuple[Dim, ...]:
    """Ints and sizes of a tensor, array or number's shape."""
    return value.dims if isinstance(value, Tensor) else np.shape(value)


# --- sizes that the run tells -------------------------------------------------------------------

_size_hook: Callable[[Size], Any] = lambda dim: dim  # noqa: E731  # set by graphify.ops.shape
_dim_hook: Callable[[Any], Dim] = int  # set by graphify.ops.shape


def shown(dim: Size) -> Tensor:
    """A symbolic size as the user sees it: a weak integer tensor."""
    tensor: Tensor = _size_hook(dim)
    return tensor


def set_size_hook(hook: Callable[[Size], Any]) -> None:
    """How a symbolic size is shown to the user."""
    global _size_hook
    _size_hook = hook


def axis_length(tensor: Any) -> Dim:
    """An integer tensor as an axis length."""
    return _dim_hook(tensor)


def set_dim_hook(hook: Callable[[Any], Dim]) -> None:
    """How an integer tensor becomes an axis length: graphify.ops.shape.as_dim."""
    global _dim_hook
    _dim_hook = hook


# --- the value of a tensor ----------------------------------------------------------------------


def is_number(tensor: Tensor) -> bool:
    """Whether a tensor is a Python number or a NumPy scalar: these have no views."""
    return tensor._scalar or not tensor.dims and tensor.spec.weak


def resolve(tensor: Tensor) -> Tensor:
    """The tensor to work on: itself, its value up to date, or in a trace the twin of a tensor from
    outside."""
    builder = FRAME.get()
    if builder is None:
        return tensor
    if tensor._base is not None:
        refresh(tensor)
    if type(tensor._value) is Value or is_local(tensor):
        return tensor
    twin: Tensor = builder.external(tensor)
    return twin


def is_local(tensor: Tensor) -> bool:
    """Whether an eager tensor was made by a trace that is still being recorded."""
    return tensor._home is not None and tensor._home.open


def refresh(tensor: Tensor) -> None:
    """Recompute the value of a view whose base was rebound since."""
    base = tensor._base
    if base is None:
        return
    refresh(base)
    if tensor._seen == base._version:
        return
    from graphify.ir.bind import bind  # an upward look: what is bound are tensors

    op, operands, attrs = viewing(tensor)
    frame = _frame_of(tensor, base, *operands)
    with taping_in(frame), recording(frame):  # in this order: from the inner frame outwards
        tensor._value = bind(op, (base, *operands), attrs, view=False)._value
        if frame is not None and type(tensor._value) is Value:
            frame.history.forget(tensor._value.node)
    tensor._seen = base._version
    tensor._version += 1


def viewing(tensor: Tensor) -> tuple[Op, tuple[Any, ...], dict[str, Any]]:
    """The op that views the base of a view, with its other operands and its attributes."""
    assert tensor._view is not None
    return tensor._view


def _frame_of(view: Tensor, *operands: Any) -> Builder | None:
    """The innermost frame that one of the operands belongs to: a view of them belongs there, too,
    whatever frame happens to look at it first. But not outside of the frame that made it: the view
    may fail (`x[k]`) where that frame is not reached."""
    values = [t._value for t in operands if isinstance(t, Tensor) and type(t._value) is Value]
    builder = current = FRAME.get()
    while builder is not None and not any(builder.owns(value) for value in values):
        if builder.home is view._home:
            break
        builder = builder.parent
    # Sizes of a view of what is known while tracing may be of the frame that made it.
    return builder if builder is not None or values else current


def value_in(tensor: Tensor, builder: Builder) -> Value:
    """The graph value that stands for `tensor` in the frame of `builder`."""
    refresh(tensor)
    value = tensor._value
    if type(value) is Value:
        return builder.own(value)
    attrs: dict[str, Any] = {"value": Literal(value.copy())}
    if tensor._weak:
        attrs["weak"] = True
    return builder.add(constant, (), attrs)[0]


# --- when Python asks for the value --------------------------------------------------------------


def value_needed(tensor: Tensor, what: str) -> TraceError:
    """The error for Python asking a symbolic tensor for its value."""
    tensor = resolve(tensor)  # a view of what a branch wrote to has a value of that branch
    builder = FRAME.get()
    while builder is not None and not builder.owns(tensor._value):
        builder = builder.parent
    return leaked(tensor._value) if builder is None else not_known(tensor, what)


def not_known(tensor: Tensor, what: str) -> ConcreteValueNeeded:
    """The error for Python asking for what only the run tells."""
    location = here()
    source = tensor._value.node.source
    made = f", made at {source}," if source is not None else ""
    library = library_call()
    return ConcreteValueNeeded(
        f"{library or 'Python'} needs {what} of a tensor {tensor.spec}{made} "
        "that is only known when the graph runs",
        location=location,
        remedy=_KEEP if library is None else _OUTSIDE.format(library),
    )


_KEEP = (
    "keep it a tensor (np.where, a staged `if`/`while` in converted code), pass it as a "
    "Python number, or leave the function undecorated"
)
_OUTSIDE = (
    "call {} outside the graphify.function, on arrays, or write it with functions of graphify.numpy"
)
