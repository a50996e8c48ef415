"""Tensors, and what happens when an op is applied to them: record a node, or evaluate now.

A `Tensor` is an object whose current value is rebound by in-place updates. Its value is a NumPy
array (eager) or a `Value` of the graph being recorded (symbolic). A basic slice, a reshape or a
transpose is a view: it remembers its base and the op that views it, so an update of either is seen
by both, while the graph itself stays functional.

    >>> t = Tensor(np.arange(3.0))
    >>> t.shape
    (3,)

Three rules decide between recording and evaluating (`bind`): outside a trace everything is
evaluated; inside one an op is recorded if an operand is symbolic, comes from outside the trace, or
the op has effects; what a trace makes out of its own constants is evaluated on the spot.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from inspect import CO_OPTIMIZED
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from graphify.errors import (
    ConcreteValueNeeded,
    InternalError,
    LeakedTracer,
    SpecError,
    TraceError,
    TransformError,
)
from graphify.ir.graph import Builder, Graph, Literal, Value, constant, leaked, origin
from graphify.ir.op import Op
from graphify.ir.promotion import python_dtype
from graphify.ir.sharing import Sharing, is_shared, storage, updates
from graphify.ir.sizes import Dim, Shape, Size, dim_variables
from graphify.ir.types import DType, Spec, canonical_dtype
from graphify.location import LazyLoc, here, is_standing, location_of, user_frame

Array: TypeAlias = np.ndarray[Any, Any]

_builder: ContextVar[Builder | None] = ContextVar("graphify_builder", default=None)
_tapes: ContextVar[tuple[Tape, ...]] = ContextVar("graphify_tapes", default=())
# Tapes that refer to eager arrays: they hear of updates also when they no longer record.
_keepers: weakref.WeakSet[Tape] = weakref.WeakSet()


class Tape(Protocol):
    """What wants to hear of every op bound while it is active (see transforms/tape.py)."""

    strict: bool  # values it tracks may not leave for Python at all

    def record(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], outputs: Sequence[Tensor]
    ) -> None: ...

    def tracks(self, tensor: Tensor) -> bool: ...  # its value depends on a watched one

    # `buffer` is about to be overwritten with `new`; `copies` shares snapshots between tapes.
    def rebind(self, buffer: Array, new: Array, copies: dict[int, Array]) -> None: ...


def tracked(tensor: Tensor) -> bool:
    """Whether a derivative is being taken with respect to something the tensor depends on."""
    return any(tape.tracks(tensor) for tape in _tapes.get())


def check_leaving(tensor: Tensor, how: str, lenient: bool = False) -> None:
    """Raise if a derivative would be lost when the tensor's value leaves for NumPy or Python.

    Args:
        lenient: a tape that the user runs lets it pass: they may only want to look at it.

    Raises:
        TransformError: the value is being differentiated.
    """
    if any((tape.strict or not lenient) and tape.tracks(tensor) for tape in _tapes.get()):
        # NOTE: no TypeError. NumPy would swallow it and go on to complain about a sequence.
        raise TransformError(
            f"{how} takes the value of a tensor {tensor.spec} whose derivative is being computed; "
            "the derivative would be lost",
            location=here(),
            remedy="create arrays with graphify.numpy, or decorate the function with "
            "graphify.function; t.numpy() and graphify.stop_gradient(t) take the value alone",
        )


def current_builder() -> Builder | None:
    """The builder of the innermost frame being traced, None outside a trace."""
    return _builder.get()


@contextlib.contextmanager
def recording(builder: Builder | None) -> Iterator[None]:
    """Make `builder` the current frame."""
    token = _builder.set(builder)
    try:
        yield
    finally:
        _builder.reset(token)


def active_tapes() -> tuple[Tape, ...]:
    return _tapes.get()


@contextlib.contextmanager
def taping(*tapes: Tape) -> Iterator[None]:
    """Add tapes to the active ones."""
    token = _tapes.set((*_tapes.get(), *tapes))
    try:
        yield
    finally:
        _tapes.reset(token)


@contextlib.contextmanager
def not_taping() -> Iterator[None]:
    """No tape hears of what is bound inside."""
    builder = _builder.get()
    if builder is not None and builder.suspended is None:
        builder.suspended = _tapes.get()
    token = _tapes.set(())
    try:
        yield
    finally:
        _tapes.reset(token)


@contextlib.contextmanager
def taping_in(frame: Builder | None) -> Iterator[None]:
    """The tapes that listen to an enclosing frame, while a frame inside it is recorded."""
    builder, tapes = _builder.get(), _tapes.get()
    while builder is not None and builder is not frame:
        if builder.suspended is not None:
            tapes = builder.suspended
        builder = builder.parent
    token = _tapes.set(tapes)
    try:
        yield
    finally:
        _tapes.reset(token)


class Tensor:
    """An n-dimensional array: eager (holds a NumPy buffer) or symbolic (names a graph value).

    `graphify.numpy.ndarray` is this class. NumPy's methods and operators are attached by
    `graphify.ops.operators` and `graphify.numpy`. Build tensors with `graphify.numpy.asarray`.

    Args:
        value: a NumPy array (shared, not copied) or a `Value`.
        base, view: for views: the viewed tensor and `(op, operands, attrs)` that views it.
        weak: the tensor stands for a Python scalar (NEP 50).
    """

    __slots__ = (
        "_value",
        "_base",
        "_view",
        "_seen",
        "_version",
        "_home",
        "_weak",
        "_scalar",
        "_shared",
        "__weakref__",
    )

    _value: Any
    __hash__ = None  # type: ignore[assignment]  # equality is elementwise, as in NumPy
    __array_priority__ = 100.0

    def __init__(
        self,
        value: Array | Value,
        base: Tensor | None = None,
        view: tuple[Op, tuple[Any, ...], dict[str, Any]] | None = None,
        weak: bool = False,
    ) -> None:
        builder = _builder.get()
        self._value, self._base, self._view, self._weak = value, base, view, weak
        self._scalar = False  # a NumPy scalar: `s += 1` rebinds the name, the tensor stays
        self._shared: Sharing | None = None  # other tensors that may be the same array
        self._version, self._seen = 0, 0 if base is None else base._version
        self._home = None if builder is None else builder.home

    # --- what is known without running anything ---

    @property
    def spec(self) -> Spec:
        value = self._value
        if type(value) is Value:
            return value.spec
        return Spec(value.shape, value.dtype, self._weak)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape; an axis of symbolic size is an integer tensor that acts as an int."""
        return tuple(d if isinstance(d, int) else _size_hook(d) for d in self.spec.shape)

    @property
    def dims(self) -> Shape:
        """The shape as ints and symbolic sizes."""
        return self.spec.shape

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
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

    # --- leaving for Python ---

    def numpy(self) -> Array:
        """The tensor's NumPy array: shared, not copied.

        Raises:
            ConcreteValueNeeded: the tensor is symbolic, or comes from outside the current trace
                (its value may be another one when the graph runs).
        """
        known = resolve(self)
        if type(known._value) is Value:
            raise value_needed(known, "its NumPy array")
        return known._value  # type: ignore[no-any-return]


_size_hook: Callable[[Size], Any] = lambda dim: dim  # noqa: E731  # set by graphify.ops.shape


def set_size_hook(hook: Callable[[Size], Any]) -> None:
    """How a symbolic size is shown to the user: as a weak integer tensor."""
    global _size_hook
    _size_hook = hook


dim_hook: Callable[[Any], Dim] = int  # set by graphify.ops.shape


def set_dim_hook(hook: Callable[[Any], Dim]) -> None:
    """How an integer tensor becomes an axis length: graphify.ops.shape.as_dim."""
    global dim_hook
    dim_hook = hook


def value_needed(tensor: Tensor, what: str) -> TraceError:
    """The error for Python asking a symbolic tensor for its value."""
    builder = _builder.get()
    while builder is not None and not builder.owns(tensor._value):
        builder = builder.parent
    return leaked(tensor._value) if builder is None else not_known(tensor, what)


def not_known(tensor: Tensor, what: str) -> ConcreteValueNeeded:
    """The error for Python asking for what only the run tells."""
    location = here()
    source = tensor._value.node.source
    made = f", made at {source}," if source is not None else ""
    return ConcreteValueNeeded(
        f"Python needs {what} of a tensor {tensor.spec}{made} "
        "that is only known when the graph runs",
        location=location,
        remedy="keep it a tensor (np.where, a staged `if`/`while` in converted code), pass it as a "
        "Python number, or leave the function undecorated",
    )


# --- making tensors ---------------------------------------------------------------------------


def as_tensor(value: Any) -> Tensor:
    """`value` as a tensor; Python scalars become weak ones, arrays are shared.

    Raises:
        SpecError: object, string and other foreign dtypes; ragged lists.
        OverflowError: a Python int that no 64-bit integer holds.
    """
    if isinstance(value, Tensor):
        return value
    kind = type(value)
    if kind is bool:
        return Tensor(np.asarray(value))
    if kind is int or kind is float or kind is complex:
        return Tensor(_python_scalar(value), weak=True)
    if isinstance(value, Size):
        return _size_hook(value)  # type: ignore[no-any-return]
    if isinstance(value, np.ndarray):
        return _wrap_array(value)
    tensor = asarray_hook(value)
    tensor._scalar = isinstance(value, np.generic)
    return tensor


def _python_scalar(value: int | float | complex) -> Array:
    try:
        return np.asarray(value, python_dtype(type(value)))
    except OverflowError:
        if isinstance(value, int) and 0 <= value < 2**64:
            return np.asarray(value, np.uint64)
        raise OverflowError(f"Python integer {value} is too large for a 64-bit integer") from None


def _wrap_array(array: Array) -> Tensor:
    if type(array) is not np.ndarray and isinstance(array, (np.matrix, np.ma.MaskedArray)):
        raise SpecError(
            f"a numpy {type(array).__name__} means other things by its operators "
            "than an array does",
            remedy="pass a plain array: np.asarray(matrix), masked.filled(value)",
        )
    dtype = canonical_dtype(array.dtype)
    builder = _builder.get()
    if builder is not None:
        known = builder.external(array)
        if isinstance(known, Tensor):
            return known
    return Tensor(_native(array, dtype))


def _native(array: Array, dtype: DType) -> Array:
    """The array itself, shared. One of foreign byte order is copied; the copy cannot be written,
    because what is written there would not reach the array."""
    plain = np.asarray(array)
    if plain.dtype == dtype:
        return plain if plain.dtype.char == dtype.char else plain.view(dtype)
    converted = plain.astype(dtype)
    converted.flags.writeable = False
    return converted


def _asarray_concrete(value: Any) -> Tensor:
    if not isinstance(value, np.generic):
        raise SpecError(f"expected an array or a number, got {type(value).__name__} {value!r:.80}")
    array = np.asarray(value)
    return Tensor(array.astype(canonical_dtype(array.dtype), copy=False))


asarray_hook: Callable[[Any], Tensor] = _asarray_concrete


def set_asarray_hook(hook: Callable[[Any], Tensor]) -> None:
    """How lists and foreign array objects become tensors (graphify.ops.convert)."""
    global asarray_hook
    asarray_hook = hook


def constant_tensor(array: Array, weak: bool = False) -> Tensor:
    """An eager tensor; inside a trace it counts as the trace's own constant."""
    return Tensor(array, weak=weak)


# --- the value of a tensor ----------------------------------------------------------------------


def resolve(tensor: Tensor) -> Tensor:
    """The tensor to work on: itself, its value up to date, or in a trace the twin of a tensor from
    outside."""
    builder = _builder.get()
    if builder is None:
        return tensor
    if tensor._base is not None:
        refresh(tensor)
    if type(tensor._value) is Value or is_local(tensor):
        return tensor
    return builder.external(tensor)  # type: ignore[no-any-return]


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
    op, operands, attrs = tensor._view  # type: ignore[misc]
    frame = _frame_of(base, *operands)
    with taping_in(frame), recording(frame):  # in this order: from the inner frame outwards
        tensor._value = bind(op, (base, *operands), attrs, view=False)._value
        if frame is not None and type(tensor._value) is Value:
            frame.history.forget(tensor._value.node)
    tensor._seen = base._version
    tensor._version += 1


def _frame_of(*operands: Any) -> Builder | None:
    """The innermost frame that one of the operands belongs to: a view of them belongs there, too,
    whatever frame happens to look at it first."""
    values = [t._value for t in operands if isinstance(t, Tensor) and type(t._value) is Value]
    builder = _builder.get()
    if not values:
        return builder
    while builder is not None and not any(builder.owns(value) for value in values):
        builder = builder.parent
    return builder


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


# --- applying ops -------------------------------------------------------------------------------


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
    builder = _builder.get()
    if builder is None:
        outputs, single = _evaluate(op, tensors, attrs)
    elif (
        op.effects
        or any(type(t._value) is Value for t in tensors)
        or any(isinstance(v, Graph) and v.effects or _is_sized(v) for v in attrs.values())
    ):
        operand_values = [value_in(t, builder) for t in tensors]
        source = source if source is not None else _located((*operands, *tensors), operand_values)
        values = builder.add(op, operand_values, attrs, source, intern=not _tapes.get())
        outputs, single = [Tensor(value) for value in values], len(values) == 1
    else:
        outputs, single = _evaluate(op, tensors, attrs)
    if op.put is not None and view and _is_view(outputs[0], tensors[0]):
        outputs[0]._base, outputs[0]._view = tensors[0], (op, tuple(tensors[1:]), attrs)
        outputs[0]._seen = tensors[0]._version
    for output in outputs:
        output._scalar = not output.dims and _gives_scalar(op, tensors)
    for tape in _tapes.get():
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
    """Whether NumPy gives a scalar and not a 0-d array: ufuncs and reductions do, reshapes do not,
    a cast or a copy keeps what it is given."""
    kind = op.extra.get("zero_d")
    if kind == "array" or op.put is not None:
        return False
    return tensors[0]._scalar if kind == "same" and tensors else True


def _evaluate(
    op: Op, tensors: Sequence[Tensor], attrs: dict[str, Any]
) -> tuple[list[Tensor], bool]:
    arrays = []
    for tensor in tensors:
        refresh(tensor)
        if type(tensor._value) is Value:
            raise leaked(tensor._value)
        arrays.append(tensor._value)
    if op.eval is None:
        raise InternalError(f"op {op.name} has no meaning to evaluate")
    weak = bool(attrs.get("weak"))
    if not weak and op.extra.get("weak") and tensors:
        weak = all(t._weak for t in tensors)
    result = op.meaning(weak)(*arrays, **attrs)  # type: ignore[misc]
    if isinstance(result, (tuple, list)):
        return [Tensor(_own_object(r, arrays)) for r in result], False
    return [Tensor(_own_object(result, arrays), weak=weak)], True


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


# --- in-place updates ---------------------------------------------------------------------------


def assign(target: Tensor, new: Tensor) -> None:
    """Rebind all of `target` to `new` (same shape and dtype), as seen by its base, its views and
    what may be the same array (see ir/sharing.py).

    Raises:
        ValueError: the target is a read-only array.
        TraceError: only the run will tell who else sees the update.
    """
    target = resolve(target)
    builder = _builder.get()
    refresh(target)
    if type(target._value) is not Value and type(new._value) is not Value:
        if builder is None or _home_is(target, builder) and not is_shared(storage(target)):
            _assign_eager(target, new)
            return
    if target._base is not None:
        _assign_through_base(target, new)
        return
    if builder is None:
        raise LeakedTracer("a symbolic tensor is assigned outside the trace that made it")
    follow = updates(target)
    store(target, new, builder)
    for update in follow:
        changed = _select_hook(update.when, update.changed, update.tensor)
        if update.tensor._base is not None:
            _assign_through_base(update.tensor, changed)
        else:
            store(resolve(update.tensor), changed, builder)


def store(target: Tensor, new: Tensor, builder: Builder) -> None:
    builder.log_write(id(target), target, target._value, not _home_is(target, builder))
    target._value = value_in(new, builder)
    target._version += 1


_select_hook: Callable[[Any, Any, Any], Tensor] = lambda pred, a, b: a  # noqa: E731


def set_select_hook(hook: Callable[[Any, Any, Any], Tensor]) -> None:
    """How to choose, by a condition, between what a tensor becomes and what it is: see
    graphify.autograph.operators.updates."""
    global _select_hook
    _select_hook = hook


def _assign_through_base(view: Tensor, new: Tensor) -> None:
    op, operands, attrs = view._view  # type: ignore[misc]
    assert op.put is not None and view._base is not None
    assign(view._base, op.put(view._base, new, *operands, **attrs))
    refresh(view)


def _assign_eager(target: Tensor, new: Tensor) -> None:
    array: Array = target._value
    if not array.flags.writeable:
        raise ValueError("assignment destination is read-only")
    tapes = _tapes.get()
    if tapes and target._base is not None:
        _assign_through_base(target, new)
        return
    tell_tapes(array, new._value)
    array[...] = new._value
    target._version += bool(tapes)


def tell_tapes(buffer: Array, new: Array) -> None:
    """Tell every tape that `buffer` is about to become `new`. With `new` the buffer itself, tapes
    stop relying on it: whoever owns it may then write to it unseen."""
    if _keepers:
        copies: dict[int, Array] = {}
        for tape in list(_keepers):
            tape.rebind(buffer, new, copies)


def keep_for(tape: Tape) -> None:
    """From now on the tape refers to eager arrays."""
    _keepers.add(tape)


def _home_is(tensor: Tensor, builder: Builder) -> bool:
    """Whether the storage of `tensor` belongs to this frame, so that updating it stays inside."""
    while tensor._base is not None:
        tensor = tensor._base
    return tensor._home is builder.home


def dims_of(value: Any) -> tuple[Dim, ...]:
    """Ints and sizes of a tensor, array or number's shape."""
    return value.dims if isinstance(value, Tensor) else np.shape(value)
