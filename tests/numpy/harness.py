"""What the table tests share: rows, their arguments, and the comparison with NumPy.

    Row("sum", A(2, 3), axis=0)     # np.sum(a, axis=0) against graphify.numpy.sum(a, axis=0)

`A` and its kin stand for an array of each dtype of the row. A row runs four ways: eager; through
NumPy's own dispatch (`np.sum(tensor)`); recorded in a graph of static shapes; recorded in a graph
whose axes longer than one have symbolic sizes. Where NumPy raises, graphify must raise that kind of
error.
"""

import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import graphify.numpy as gnp
from graphify.ir.context import recording
from graphify.ir.graph import Builder
from graphify.ir.interpret import run
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec, canonical_dtype
from graphify.ir.wrapping import as_tensor
from graphify.tree import flatten
from tests.tolerances import assert_close

ALL = "?bilBLefdFD"
REAL = "?bilBLefd"
NUMBERS = "bilBLefdFD"
FLOATS = "efdFD"


class A:
    """An array argument: random values of the row's dtype."""

    def __init__(self, *shape: int, dtype: str | None = None, order: str = "C") -> None:
        self.shape, self.dtype, self.order = shape, dtype, order

    def make(self, dtype: str) -> np.ndarray:
        dtype = self.dtype or dtype
        rng = np.random.default_rng(sum(self.shape) + 7 * len(self.shape))
        values = self.values(rng, np.dtype(dtype))
        return np.array(values.astype(dtype), order=self.order)  # type: ignore[call-overload]

    def values(self, rng: np.random.Generator, dtype: np.dtype) -> np.ndarray:
        if dtype.kind == "b":
            return rng.integers(0, 2, self.shape)
        if dtype.kind in "iu":
            return rng.integers(0 if dtype.kind == "u" else -6, 7, self.shape)
        real = rng.normal(size=self.shape) * 2
        return real + 1j * rng.normal(size=self.shape) if dtype.kind == "c" else real


class P(A):
    """Positive values, without repetitions."""

    def values(self, rng, dtype):
        return np.arange(1, 1 + int(np.prod(self.shape))).reshape(self.shape) * (
            1 if dtype.kind in "iub" else 0.37
        )


class S(P):
    """Rising values."""


class N(A):
    """Values with NaN and infinities, where the dtype has them."""

    def values(self, rng, dtype):
        values = super().values(rng, dtype)
        if dtype.kind in "fc" and values.size > 3:
            flat = values.reshape(-1)
            flat[0], flat[-1] = np.nan, np.inf
        return values


class M(A):
    """Values with NaN in them, otherwise finite."""

    def values(self, rng, dtype):
        values = super().values(rng, dtype)
        if dtype.kind in "fc" and values.size > 3:
            values.reshape(-1)[[1, 2]] = np.nan
        return values


class Fixed(A):
    """One given array, whatever the dtype of the row."""

    def __init__(self, value: Any, dtype: Any = None) -> None:
        self.value = np.asarray(value, dtype)

    def make(self, dtype: str) -> np.ndarray:
        return self.value.copy()


@dataclass
class Row:
    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    dtypes: str = ALL
    loss: float = 1.0
    sized: bool = True  # False: needs lengths known while tracing
    staged: bool = True  # False: refuses symbolic tensors

    def __str__(self) -> str:
        shapes = ",".join(_label(a) for a in self.args)
        options = ",".join(f"{k}={_label(v)}" for k, v in self.kwargs.items())
        return f"{self.name}({shapes}{';' + options if options else ''})"


def row(
    name: str,
    *args: Any,
    dtypes: str = ALL,
    loss: float = 1.0,
    sized: bool = True,
    staged: bool = True,
    **kwargs: Any,
) -> Row:
    return Row(name, args, kwargs, dtypes, loss, sized, staged)


def _label(value: Any) -> str:
    if isinstance(value, Fixed):
        return f"{value.value.dtype}{list(value.value.shape)}"
    if isinstance(value, A):
        return f"{type(value).__name__}{list(value.shape)}".replace(" ", "")
    if isinstance(value, np.ndarray):
        return f"array{list(value.shape)}"
    if callable(value):  # an address would not be the same in every process
        return getattr(value, "__name__", "function")
    return repr(value).replace(" ", "")[:30]


def of(namespace: Any, name: str) -> Callable[..., Any]:
    """The function of a dotted name; `.method` is a method of the first argument."""
    if name.startswith("."):
        return lambda x, *args, **kwargs: getattr(x, name[1:])(*args, **kwargs)
    return operator.attrgetter(name)(namespace)


def arguments(row: Row, dtype: str) -> tuple[list[Any], Any]:
    leaves, treedef = flatten((list(row.args), dict(row.kwargs)))
    return [leaf.make(dtype) if isinstance(leaf, A) else leaf for leaf in leaves], treedef


def is_argument(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray)


def quietly(function: Callable[[], Any]) -> Any:
    """The result of a call, or the exception it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function()
        except Exception as error:
            return error


def call(namespace: Any, row: Row, leaves: list[Any], treedef: Any) -> Any:
    args, kwargs = treedef.unflatten(leaves)
    return of(namespace, row.name)(*args, **kwargs)


def with_numpy(row: Row, dtype: str) -> Any:
    leaves, treedef = arguments(row, dtype)
    return quietly(lambda: call(np, row, leaves, treedef))


def eager(row: Row, dtype: str) -> Any:
    leaves, treedef = arguments(row, dtype)
    tensors = [as_tensor(leaf) if is_argument(leaf) else leaf for leaf in leaves]
    return quietly(lambda: call(gnp, row, tensors, treedef))


def dispatched(row: Row, dtype: str) -> Any:
    """NumPy's function, given tensors."""
    leaves, treedef = arguments(row, dtype)
    tensors = [as_tensor(leaf) if is_argument(leaf) else leaf for leaf in leaves]
    return quietly(lambda: call(np, row, tensors, treedef))


def warned(namespace: Any, row: Row, dtype: str) -> list[str] | None:
    """What an eager call of NumPy or graphify warns of; None if it raises."""
    leaves, treedef = arguments(row, dtype)
    if namespace is gnp:
        leaves = [as_tensor(leaf) if is_argument(leaf) else leaf for leaf in leaves]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            call(namespace, row, leaves, treedef)
        except Exception:
            return None
    return [str(warning.message) for warning in heard]


def staged(row: Row, dtype: str, symbolic: bool = False) -> Any:
    """Recorded in a graph, which the reference semantics then runs."""
    leaves, treedef = arguments(row, dtype)
    return quietly(lambda: _record_and_run(row, leaves, treedef, symbolic))


def sized(row: Row, dtype: str) -> Any:
    return staged(row, dtype, symbolic=True)


def _record_and_run(row: Row, leaves: list[Any], treedef: Any, symbolic: bool) -> Any:
    builder = Builder()
    sizes: dict[int, Any] = {}
    arrays = [leaf for leaf in leaves if is_argument(leaf)]
    with recording(builder):
        tensors = iter(
            [Tensor(builder.param(_spec(a, sizes if symbolic else None))) for a in arrays]
        )
        result = call(
            gnp, row, [next(tensors) if is_argument(leaf) else leaf for leaf in leaves], treedef
        )
        out, out_def = flatten(result)
        places = [i for i, leaf in enumerate(out) if isinstance(leaf, Tensor)]
        values = [value_in(out[i], builder) for i in places]
    given = [np.asarray(a, canonical_dtype(a.dtype)) for a in arrays]
    for place, array in zip(places, run(builder.finish(values), given), strict=True):
        out[place] = array
    return out_def.unflatten(out)


def _spec(array: np.ndarray, sizes: dict[int, Any] | None) -> Spec:
    shape = array.shape
    if sizes is not None:  # axes of equal length share a size, as user code would have it
        shape = tuple(n if n < 2 else sizes.setdefault(n, fresh("n")) for n in shape)
    return Spec(shape, canonical_dtype(array.dtype))


MODES = {"eager": eager, "dispatched": dispatched, "staged": staged, "sized": sized}


def check(row: Row, mode: str) -> None:
    """Compare a row with NumPy, dtype by dtype."""
    for dtype in row.dtypes:
        want = with_numpy(row, dtype)
        got = MODES[mode](row, dtype)
        try:
            compare(got, want, row.loss)
        except AssertionError as error:
            raise AssertionError(
                f"{row} of {np.dtype(dtype)}, {mode}: {error}\ngot {got!r}\nwant {want!r}"
            ) from (got if isinstance(got, Exception) else None)


def compare(got: Any, want: Any, loss: float = 1.0) -> None:
    if isinstance(want, Exception):
        kind = builtin_class(want)
        assert isinstance(got, kind), f"expected {type(want).__name__} {want}, got {got!r}"
        return
    assert not isinstance(got, Exception), f"{type(got).__name__}: {got}"
    want_leaves, got_leaves = flatten(_lists(want))[0], flatten(_lists(got))[0]
    assert len(want_leaves) == len(got_leaves), (
        f"expected {len(want_leaves)} results, got {len(got_leaves)}"
    )
    for g, w in zip(got_leaves, want_leaves, strict=True):
        if isinstance(w, (np.ndarray, np.generic)):
            assert isinstance(g, (Tensor, np.ndarray, np.generic)), f"expected a tensor, got {g!r}"
            assert_close(np.asarray(g), w, loss=loss)
        elif isinstance(w, (bool, int, float, complex)):
            assert np.asarray(g) == w or (w != w), f"expected {w}, got {g}"
        else:
            assert g == w, f"expected {w}, got {g}"


def _lists(value: Any) -> Any:
    """Named and plain tuples alike, as lists."""
    if isinstance(value, (tuple, list)):
        return [_lists(item) for item in value]
    return value


def builtin_class(error: Exception) -> type[BaseException]:
    """The first class of Python's own that an exception is."""
    if isinstance(error, np.linalg.LinAlgError):
        return np.linalg.LinAlgError
    for kind in type(error).__mro__:
        if kind.__module__ == "builtins" and kind is not Exception:
            return kind
    return Exception
