"""The signature of a call: what decides which trace serves it.

    call = Call(inspect.signature(f), (x, 3), {})     # x an array
    call.key       # structure, dtypes, ranks, static values
    call.shapes    # one shape per array

Arrays count by dtype and rank (and shape, see `Pattern`); Python numbers, strings and None by
value; functions by code and closure; anything else by identity.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.config import config
from graphify.errors import SpecError, TraceError
from graphify.ir.sizes import Dim, Shape, SizeVar, size
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, canonical_dtype, in_c_order
from graphify.ir.wrapping import as_tensor
from graphify.tracing.guards import Identity, fingerprint, fits_64_bits

NUMBERS = (int, float, complex)
STATIC = (bool, str, bytes, type(None))


@dataclass(frozen=True, slots=True)
class ArrayKey:
    """An array argument, without its shape."""

    dtype: DType
    ndim: int
    first: int  # which of the distinct arrays it is
    weak: bool = False  # a generalised Python number
    scalar: bool = False  # a NumPy scalar: cannot be updated in place


@dataclass(frozen=True, slots=True)
class NumberKey:
    """A Python number: by value, or by its type alone once it is generalised."""

    kind: type
    value: Any

    @property
    def text(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class StaticKey:
    """Any other leaf."""

    kind: type
    value: Any


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """What an array argument may be, for `input_signature` and `get_concrete_function`.

    Args:
        shape: ints, None for an axis of any size, or a name for a size; equal names, equal sizes.
        dtype: any dtype NumPy takes.
        name: a name for the argument.

    Raises:
        TypeError: the shape is no tuple, or graphify does not have the dtype.
        ValueError: a size that is none.

    Example:
        >>> TensorSpec(("n", 3), np.float32)
        TensorSpec(shape=('n', 3), dtype=float32, name=None)
    """

    shape: tuple[int | str | None, ...]
    dtype: DType = np.dtype(np.float32)
    name: str | None = None

    def __post_init__(self) -> None:
        shape: Any = self.shape  # whatever the caller gave
        if isinstance(shape, str) or not hasattr(shape, "__iter__"):
            raise TypeError(f"TensorSpec: shape: expected a tuple of sizes, got {self.shape!r}")
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"TensorSpec: name: expected a string or None, got {self.name!r}")
        object.__setattr__(self, "dtype", canonical_dtype(self.dtype))
        object.__setattr__(self, "shape", tuple(map(_spec_dim, self.shape)))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype.name}, name={self.name!r})"


def _spec_dim(dim: Any) -> int | str | None:
    if dim is None or isinstance(dim, str) and dim.isidentifier():
        return dim
    if not isinstance(dim, (bool, str)) and hasattr(dim, "__index__") and operator.index(dim) >= 0:
        return operator.index(dim)
    raise ValueError(f"TensorSpec: shape: expected sizes, names or None, got {dim!r}")


class _Thing:
    """Hashable stand-in for a fingerprint of a function or object."""

    __slots__ = ("print_", "_hash")

    def __init__(self, print_: Any) -> None:
        self.print_ = print_
        self._hash = hash(_flat(print_))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Thing) and _flat(self.print_) == _flat(other.print_)


def _flat(print_: Any) -> Any:
    if isinstance(print_, Identity):
        return id(print_.thing)
    return tuple(map(_flat, print_)) if type(print_) is tuple else print_


# Switches that change the graph or what runs it: each value has traces of its own.
SWITCHES = ("promotion", "prefer_float32", "passes", "engine")
_switches = operator.attrgetter(*SWITCHES)


class Call:
    """One call taken apart: bound arguments, their tree, array leaves and the key.

    Args:
        general: positions of Python numbers that are traced as weak scalars instead of by value.
    """

    __slots__ = (
        "arguments",
        "arrays",
        "bound",
        "general",
        "key",
        "leaves",
        "masked",
        "names",
        "positions",
        "shapes",
        "treedef",
    )

    def __init__(
        self,
        signature: inspect.Signature,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        general: frozenset[int] = frozenset(),
    ) -> None:
        self.arguments, self.general = (args, kwargs), general
        self.bound = _bound(signature, args, kwargs)
        self.leaves, self.treedef = tree.flatten(dict(self.bound), is_leaf=_is_leaf)
        self.names: list[str] = []  # filled on demand by `name`
        self.arrays: list[Tensor | TensorSpec] = []  # distinct ones
        self.positions: list[int] = []  # of those, among the leaves
        self.masked: list[int] = []  # positions of Python numbers
        seen: dict[int, int] = {}
        keys = tuple(self._leaf_key(i, leaf, seen) for i, leaf in enumerate(self.leaves))
        self.shapes = tuple(
            a.shape if isinstance(a, TensorSpec) else a.numpy().shape for a in self.arrays
        )
        self.key = (self.treedef, keys, *_switches(config.settings))

    @property
    def scattered(self) -> set[int]:
        """Which of the arrays do not lie in memory in C order."""
        return {i for i, a in enumerate(self.arrays) if not in_c_order(getattr(a, "_value", a))}

    @property
    def has_specs(self) -> bool:
        """Whether an array is given by its `TensorSpec`, not by itself."""
        return any(isinstance(a, TensorSpec) for a in self.arrays)

    def name(self, position: int) -> str:
        """The argument's name as Python writes it: x, x[0], model['w']."""
        if not self.names:
            self.names = [_spoken(path) for path in self.treedef.paths()]
        return self.names[position]

    def number_key(self) -> Any:
        """The key with every Python number's value left out."""
        blank = tuple(
            NumberKey(k.kind, None) if isinstance(k, NumberKey) else k for k in self.key[1]
        )
        return (self.key[0], blank, *self.key[2:])

    def _leaf_key(self, position: int, leaf: Any, seen: dict[int, int]) -> Any:
        if isinstance(leaf, TensorSpec):
            self.arrays.append(leaf)
            self.positions.append(position)
            return ArrayKey(leaf.dtype, len(leaf.shape), len(self.arrays) - 1)
        kind = type(leaf)
        if kind in NUMBERS:
            self.masked.append(position)
            if position not in self.general or not fits_64_bits(leaf):
                return NumberKey(kind, _number(leaf))
        if is_array(leaf) or kind in NUMBERS:
            tensor = as_tensor(leaf)
            first = seen.setdefault(id(leaf), len(self.arrays))
            if first == len(self.arrays):
                self.arrays.append(tensor)
                self.positions.append(position)
            value = tensor.numpy()
            return ArrayKey(value.dtype, value.ndim, first, tensor._weak, tensor._scalar)
        if kind in STATIC:
            return StaticKey(kind, leaf)
        if isinstance(leaf, (np.ndarray, np.generic)):
            raise _bad_array(self.name(position), leaf)
        if isinstance(leaf, Iterator):
            raise TraceError(
                f"argument {self.name(position)}: got a {kind.__name__}: "
                "what it gives is used up by the first call",
                remedy="pass a list or an array, such as list(...) of it",
            )
        return StaticKey(kind, _Thing(fingerprint(leaf)))


def _bound(
    signature: inspect.Signature, args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """What each parameter gets."""
    parameters = signature.parameters
    simple = not kwargs and len(args) == len(parameters)
    if simple and all(p.kind in _BY_POSITION for p in parameters.values()):
        return dict(zip(parameters, args, strict=True))
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _spoken(path: str) -> str:
    """`['x'][0]`, a path into the dict of arguments, as `x[0]`."""
    name, _, rest = path[2:].partition("']")
    return name + rest


def _number(value: Any) -> Any:
    """A number as a key: NaN equals itself, 0.0 and -0.0 differ."""
    return value if isinstance(value, int) else repr(value)


def is_array(leaf: Any) -> bool:
    """Whether an argument is traced: arrays and what converts to them, not Variables."""
    if type(leaf) is Tensor:
        return True
    if isinstance(leaf, Tensor):
        return not hasattr(leaf, "assign")
    if isinstance(leaf, (np.ndarray, np.generic)):
        try:
            canonical_dtype(leaf.dtype)
        except SpecError:
            return False
        return True
    return not isinstance(leaf, type) and (
        hasattr(leaf, "__array__") or hasattr(leaf, "__dlpack__")
    )


def _is_leaf(value: Any) -> bool:
    return isinstance(value, (Tensor, np.ndarray, TensorSpec))


def _bad_array(name: str, value: Any) -> SpecError:
    return SpecError(
        f"argument {name}: expected bool, integer, float or complex data, got dtype {value.dtype}",
        remedy="convert it with .astype(...), "
        "or pass it as a list of strings or objects to keep it static",
    )


# --- shapes -------------------------------------------------------------------------------------

_LETTERS = [*"nmkpqrstuvwabcdefgh", *(f"n{i}" for i in range(1, 1000))]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The shapes a trace serves: ints, and names of sizes; equal names mean equal sizes."""

    dims: tuple[tuple[int | str, ...], ...]

    @classmethod
    def of(cls, shapes: Sequence[Sequence[int | str | None]], any_size: bool = False) -> Pattern:
        """The pattern of given shapes; None (with `any_size`: every axis) is a size of its own."""
        letters = iter(_LETTERS)
        taken = {d for shape in shapes for d in shape if isinstance(d, str)}
        free = (c for c in letters if c not in taken)

        def dim(d: int | str | None) -> int | str:
            return next(free) if d is None or any_size and isinstance(d, int) else d

        return cls(tuple(tuple(dim(d) for d in shape) for shape in shapes))

    def matches(self, shapes: Sequence[tuple[Any, ...]]) -> bool:
        if self.dims == shapes:
            return True
        sizes: dict[str, Any] = {}
        for dims, shape in zip(self.dims, shapes, strict=True):
            for dim, actual in zip(dims, shape, strict=True):
                if isinstance(dim, str):
                    if sizes.setdefault(dim, actual) != actual:
                        return False
                elif dim != actual:
                    return False
        return True

    def generalise(
        self, shapes: Sequence[tuple[Any, ...]], frozen: set[tuple[int, int]]
    ) -> Pattern:
        """A pattern for these shapes, too: axes that changed become sizes.

        Axes that changed alike share a name; `frozen` axes stay exact.
        """
        names: dict[tuple[int | str, int], str] = {}
        taken = {d for dims in self.dims for d in dims if isinstance(d, str)}
        letters = (c for c in _LETTERS if c not in taken)
        result = []
        for a, (dims, shape) in enumerate(zip(self.dims, shapes, strict=True)):
            row: list[int | str] = []
            for axis, (dim, actual) in enumerate(zip(dims, shape, strict=True)):
                if dim == actual or (a, axis) in frozen:
                    row.append(actual)
                    continue
                if (dim, actual) not in names:
                    names[(dim, actual)] = next(letters)
                row.append(names[(dim, actual)])
            result.append(tuple(row))
        return Pattern(tuple(result))

    def symbolic(self) -> list[Shape]:
        """Shapes with a size variable for each name."""
        variables: dict[str, Dim] = {}
        return [
            tuple(
                d if isinstance(d, int) else variables.setdefault(d, size(SizeVar(d))) for d in dims
            )
            for dims in self.dims
        ]

    @property
    def is_exact(self) -> bool:
        return all(isinstance(d, int) for dims in self.dims for d in dims)
