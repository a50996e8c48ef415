"""GradientTape: record what is computed, then ask for its derivatives.

>>> x = np.array(3.0)
>>> with GradientTape() as tape:
...     tape.watch(x)
...     y = gnp.square(x)
>>> float(tape.gradient(y, x))
6.0
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from graphify import tree
from graphify.api import structures
from graphify.api.linearised import of_graph
from graphify.api.pullback import batch_rows, reverse_jacobian
from graphify.errors import SpecError
from graphify.ir.assign import store
from graphify.ir.context import current_builder, taping, tell_tapes
from graphify.ir.sizes import decide_equal
from graphify.ir.tensor import Tensor, refresh
from graphify.ir.types import is_inexact
from graphify.ops import core
from graphify.tracing.tracebacks import user_facing
from graphify.transforms.tape import Key, Tape, tensor_of
from graphify.transforms.vjp import adopt, backprop

UNCONNECTED = ("none", "zero")
ONCE = (
    "A non-persistent GradientTape can only be used to compute one set of gradients "
    "(or jacobians); make it GradientTape(persistent=True)"
)


class GradientTape:
    """Records the operations that depend on watched tensors, for differentiation afterwards.

    Works eager and inside `graphify.function`; tapes nest, and a tape records the gradient
    computations of the tapes inside it. In-place updates of watched arrays through tensors are
    differentiated; the derivative is by the value that the array had when it was watched.

    Args:
        persistent: `gradient` and the Jacobians may be called more than once.
        watch_accessed_variables: trainable Variables are watched when they are first used.

    Raises:
        RuntimeError: asking a non-persistent tape twice; entering a tape that is recording.

    Example:
        >>> x = np.array(3.0)
        >>> with GradientTape() as outer:
        ...     outer.watch(x)
        ...     with GradientTape() as inner:
        ...         inner.watch(x)
        ...         y = gnp.power(x, 3)
        ...     slope = inner.gradient(y, x)
        >>> float(outer.gradient(slope, x))
        18.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = bool(persistent)
        self._watch_variables = bool(watch_accessed_variables)
        self._recording: contextlib.AbstractContextManager[None] | None = None
        self._spent = False
        self._clear()

    def _clear(self) -> None:
        self._tape = Tape(self._accessed if self._watch_variables else None)
        self._origins: dict[int, tuple[Any, Key]] = {}  # id of a watched tensor or array
        self._variables: dict[int, Any] = {}
        self._arrays: list[np.ndarray[Any, Any]] = []

    # --- recording ---

    def __enter__(self) -> Self:
        if self._recording is not None:
            raise RuntimeError("GradientTape: this tape is already recording")
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        for array in self._arrays:  # NumPy's own arrays: their owner may change them unseen
            tell_tapes(array, array)
        if (cause := structures.masked(error)) is not None:
            raise cause from None

    def _start(self) -> None:
        self._recording = taping(self._tape)
        self._recording.__enter__()

    def _stop(self) -> None:
        if self._recording is not None:
            self._recording.__exit__(None, None, None)
            self._recording = None

    def watch(self, tensor: Any) -> None:
        """Record what depends on these tensors.

        Args:
            tensor: a tensor, Variable or array, or a container of them. Integer arrays are accepted
                and have no gradient.

        Raises:
            TypeError: a leaf is no array; a Python number cannot be watched.
        """
        for leaf in tree.flatten_arrays(tensor)[0]:
            resolved = _source(leaf, "watch: argument 'tensor'")
            _put_in_graph(resolved)
            self._note(leaf, resolved)

    def _note(self, leaf: Any, resolved: Tensor) -> None:
        key = self._tape.watch(resolved)
        if isinstance(leaf, np.ndarray) and not resolved.is_symbolic:
            self._arrays.append(leaf)
        self._origins[_identity(leaf, resolved)] = (
            leaf if isinstance(leaf, Tensor) else resolved,
            key,
        )
        self._origins[id(resolved)] = (resolved, key)

    def _accessed(self, tensor: Tensor) -> None:
        """An operand that is a Variable, or stands for one in a trace, is watched by itself."""
        if not getattr(tensor, "trainable", False) or id(tensor) in self._origins:
            return
        self._variables[id(tensor)] = getattr(tensor, "variable", tensor)
        if is_inexact(tensor.dtype):
            self._origins[id(tensor)] = (tensor, self._tape.watch(tensor))

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Operations inside the `with` block are not recorded.

        Raises:
            RuntimeError: the tape is not recording.
        """
        if self._recording is None:
            raise RuntimeError("GradientTape.stop_recording: the tape is not recording")
        before, self._tape.paused = self._tape.paused, True
        try:
            yield
        finally:
            self._tape.paused = before

    def reset(self) -> None:
        """Forget everything recorded and watched, and start anew if recording."""
        recording = self._recording is not None
        self._stop()
        self._clear()
        self._spent = False
        if recording:
            self._start()

    def watched_variables(self) -> tuple[Any, ...]:
        """The Variables watched so far, in the order of their first use."""
        watched = [
            leaf
            for leaf, _ in self._origins.values()
            if getattr(leaf, "trainable", None) is not None
        ]
        found = [getattr(leaf, "variable", leaf) for leaf in (*self._variables.values(), *watched)]
        return tuple({id(variable): variable for variable in found}.values())

    # --- derivatives ---

    @user_facing
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """The gradient of the sum of the targets with respect to each source.

        Args:
            target: a tensor or a container of tensors, float or complex.
            sources: a tensor, Variable or array that was watched, or one computed from those, or a
                container of such.
            output_gradients: for each target, what to multiply its gradient with: the target's
                structure and shapes (None: ones).
            unconnected_gradients: for a source that no target depends on, "none" gives None and
                "zero" gives zeros. Integer sources are never connected.

        Returns:
            The structure of `sources`, with tensors of the sources' shapes and dtypes.

        Raises:
            RuntimeError: a second call on a tape that is not persistent.
            TypeError: a target or source is not an array, or a target is an integer.
            ValueError: `output_gradients` does not fit; an unknown `unconnected_gradients`.
            TransformError: an operation on the way has no gradient.
        """
        with self._asking("gradient", unconnected_gradients):
            leaves, treedef = tree.flatten_arrays(target)
            targets = [_target(leaf, "gradient: argument 'target'") for leaf in leaves]
            gs = _output_gradients(output_gradients, treedef, targets)
            flat, structure = tree.flatten_arrays(sources)
            keys = [self._key(leaf, "gradient: argument 'sources'") for leaf in flat]
            grads = backprop(self._tape.records, [self._tape.key(t) for t in targets], gs, keys)
            settled = self._settled(grads, keys, unconnected_gradients, ())
            return structure.unflatten(structures.released(settled, gs))

    @user_facing
    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str = "none") -> Any:
        """All first derivatives of one target with respect to each source.

        Args:
            target: a float or complex tensor `[*out]`.
            sources: as for `gradient`.
            unconnected_gradients: "none" or "zero".

        Returns:
            The structure of `sources`; for a source `[*in]` a tensor `[*out, *in]`.

        Raises:
            RuntimeError, TypeError, ValueError, TransformError: as `gradient` does.
        """
        with self._asking("jacobian", unconnected_gradients):
            y = _target(target, "jacobian: argument 'target'")
            flat, structure = tree.flatten_arrays(sources)
            keys = [self._key(leaf, "jacobian: argument 'sources'") for leaf in flat]
            rows = reverse_jacobian(self._tape, self._tape.key(y), keys)
            return structure.unflatten(self._settled(rows, keys, unconnected_gradients, y.dims))

    @user_facing
    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: str = "none") -> Any:
        """The Jacobian of each example of a batch.

        Example `i` of the target must depend on example `i` of the source alone; this is not
        checked.

        Args:
            target: a float or complex tensor `[batch, *out]`.
            source: a watched tensor `[batch, *in]`.
            unconnected_gradients: "none" or "zero".

        Returns:
            A tensor `[batch, *out, *in]`.

        Raises:
            ValueError: the first axes of target and source differ, or are missing.
            RuntimeError, TypeError, TransformError: as `gradient` does.
        """
        with self._asking("batch_jacobian", unconnected_gradients):
            y = _target(target, "batch_jacobian: argument 'target'")
            key = self._key(source, "batch_jacobian: argument 'source'")
            x = tensor_of(key)
            if not y.ndim or not x.ndim or decide_equal(y.dims[0], x.dims[0]) is False:
                shapes = [structures.shape_text(t.dims) for t in (y, x)]
                raise ValueError(
                    "batch_jacobian: expected target and source with one batch axis in front, "
                    f"got shapes {shapes[0]} and {shapes[1]}"
                )
            rows = (
                batch_rows(self._tape, self._tape.key(y), key) if self._tape.follows(key) else None
            )
            if rows is None and unconnected_gradients == "zero":
                return core.full((*y.dims, *x.dims[1:]), 0, x.dtype)
            return rows

    @contextlib.contextmanager
    def _asking(self, what: str, unconnected: str) -> Iterator[None]:
        """One question to the tape; a persistent one goes on recording meanwhile."""
        if unconnected not in UNCONNECTED:
            raise ValueError(
                f"{what}: unconnected_gradients: expected one of {UNCONNECTED}, got {unconnected!r}"
            )
        if self._spent:
            raise RuntimeError(ONCE)
        before = self._tape.paused
        self._tape.paused = before or not self._persistent
        try:
            yield
        finally:
            self._tape.paused = before
        if not self._persistent:
            self._spent = True
            self._stop()
            self._clear()

    def _key(self, leaf: Any, what: str) -> Key:
        """The value a source stood for when it was watched, or stands for now."""
        resolved = _source(leaf, what)
        origin = self._origins.get(id(resolved)) or self._origins.get(_identity(leaf, resolved))
        return self._tape.key(resolved) if origin is None else origin[1]

    def _settled(
        self, found: Sequence[Tensor | None], keys: Sequence[Key], unconnected: str, lead: Any
    ) -> list[Tensor | None]:
        """Derivatives in the order of the sources, missing ones as asked."""
        found = [g if self._tape.follows(key) else None for g, key in zip(found, keys, strict=True)]
        if unconnected == "none":
            return found
        xs = [tensor_of(key) for key in keys]
        return [
            core.full((*lead, *x.dims), 0, x.dtype) if g is None else g
            for g, x in zip(found, xs, strict=True)
        ]


def _put_in_graph(tensor: Tensor) -> None:
    """In a trace, make an array that it knows a value of the graph, as staged blocks have to."""
    builder, root = current_builder(), tensor
    while root._base is not None:
        root = root._base
    if builder is not None and not root.is_symbolic:
        store(root, of_graph(Tensor(root._value, weak=root._weak)), builder)
        refresh(tensor)


def _source(leaf: Any, what: str) -> Tensor:
    if isinstance(leaf, (bool, int, float, complex)) or not structures.is_array(leaf):
        raise SpecError(
            f"{what}: expected tensors, Variables or arrays, got {type(leaf).__name__} "
            f"{leaf!r:.60}",
            remedy="make it a tensor first: x = graphify.numpy.asarray(x)",
        )
    tensor = structures.array_leaf(leaf, what)
    refresh(tensor)
    return tensor


def _target(leaf: Any, what: str) -> Tensor:
    if isinstance(leaf, (np.ndarray, np.generic)) and current_builder() is None:
        raise SpecError(
            f"{what}: expected a tensor, got {type(leaf).__name__}: NumPy computed it, "
            "and no tape recorded that",
            remedy="make the arrays tensors, x = graphify.numpy.asarray(x), or stage the function",
        )
    tensor = structures.inexact_leaf(leaf, what)
    refresh(tensor)
    return tensor


def _identity(leaf: Any, resolved: Tensor) -> int:
    """What tells one array from another: an array wrapped twice is one array."""
    return id(resolved if isinstance(leaf, Tensor) else resolved._value)


def _output_gradients(
    given: Any, treedef: tree.TreeDef, targets: Sequence[Tensor]
) -> list[Tensor | None]:
    if given is None:
        return [core.ones_like(target) for target in targets]
    what = "gradient: argument 'output_gradients'"
    leaves = tree.flatten_like(given, treedef)
    if leaves is None:
        raise ValueError(f"{what}: expected the structure of the target, got {given!r:.80}")
    result: list[Tensor | None] = []
    for leaf, target in zip(leaves, targets, strict=True):
        if leaf is None:
            result.append(core.ones_like(target))
            continue
        g = structures.array_leaf(leaf, what)
        if structures.differ(g, target):
            shapes = [structures.shape_text(t.dims) for t in (target, g)]
            raise ValueError(f"{what}: expected shape {shapes[0]}, got {shapes[1]}")
        structures.check_real(g, target, what)
        result.append(adopt(g, target))
    return result
