"""np.vectorize in a trace: a staged loop over the places of the arrays, which it broadcasts.

    f = np.vectorize(lambda a, b: a - b if a > b else a + b)
    f(x, 2.0)                              # np.array([f of each pair]).reshape(x.shape)
    np.vectorize(g, signature="(n)->()")   # each row of the array is an array of its own

The function gets Python's numbers, as NumPy gives them. Without `otypes` NumPy takes the dtype of
the result from what the function gives for the first element: where that is up to the run, or where
NumPy would ask with a scalar of another dtype than Python's numbers, the call is refused.

Imported once for its effect on calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.autograph.operators.calls import OVERLOADS, call
from graphify.autograph.operators.comprehensions import each, list_of
from graphify.autograph.operators.iteration import Items
from graphify.autograph.operators.lists import GrowingList
from graphify.autograph.operators.places import place_of
from graphify.errors import SpecError
from graphify.ir.context import current_builder
from graphify.ir.sizes import Dim, Shape, decide_equal, product
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import astype, broadcast_dims, to_tensor
from graphify.ops import core
from graphify.ops import elementwise as e
from graphify.ops.effects import Raise, assert_
from graphify.tracing.capture import root_of

PYTHONS = [np.dtype(kind) for kind in (np.int64, np.float64, np.complex128)]
EMPTY = "cannot call `vectorize` on size 0 inputs unless `otypes` is set"


def vectorized(self: np.vectorize, *args: Any, **kwargs: Any) -> Any:
    """What an object of np.vectorize is called for."""
    if current_builder() is None or not callable(self.pyfunc):
        return _NUMPYS(self, *args, **kwargs)
    function, given = _without_excluded(self, args, kwargs)
    if self.signature is not None:
        return _by_signature(self, function, given)
    if not given:
        return call(function)
    return _by_element(self, function, [to_tensor(value) for value in given])


def _without_excluded(
    self: np.vectorize, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """The function of the arguments that are looped over, and those."""
    places = [i for i in range(len(args)) if i not in self.excluded]
    names = [name for name in kwargs if name not in self.excluded]

    def function(*values: Any) -> Any:
        own, options = list(args), dict(kwargs)
        for i, value in zip(places, values, strict=False):
            own[i] = value
        options.update(zip(names, values[len(places) :], strict=True))
        return call(self.pyfunc, *own, **options)

    return function, [args[i] for i in places] + [kwargs[name] for name in names]


def of_one_kind(name: str, make: Callable[[], Any], more: str = "") -> Any:
    """What is made of a function's results, all of which have one dtype on every path.

    Raises:
        SpecError: NumPy's answer would depend on the path that the first call takes.
    """
    root = root_of(current_builder())
    assert root is not None
    before, root.promoted = root.promoted, {}
    try:
        made = make()
    finally:
        promoted, root.promoted = root.promoted, {**before, **root.promoted}
    if promoted:
        raise SpecError(
            f"{name}: NumPy takes the dtype of the result from what the function gives first, and "
            f"here that is {next(iter(promoted.values()))}",
            remedy=f"give numbers of one kind{more}",
        )
    return made


def _refused(why: str, remedy: str) -> SpecError:
    return SpecError(f"np.vectorize: {why}", remedy=remedy)


# --- of numbers -----------------------------------------------------------------------------------


def _by_element(self: np.vectorize, function: Callable[..., Any], arrays: list[Tensor]) -> Any:
    dims = broadcast_dims(*(x.dims for x in arrays))
    arrays = [_broadcast(x, dims) for x in arrays]
    if self.otypes is None:
        _check_first(arrays, product(dims))
        if not self.cache:  # NumPy asks once more, for what it prints or draws
            function(*(_element(x, (0,) * len(dims)) for x in arrays))

    def turn(i: Any) -> Any:
        place = place_of(i, dims)
        return function(*(_element(x, place) for x in arrays))

    rows, count = _rows(Items(product(dims), turn, shown=tuple(arrays)), self.otypes)
    columns = [_column(rows, k if count else None, self.otypes, dims) for k in range(count or 1)]
    return tuple(columns) if count else columns[0]


def _broadcast(x: Tensor, dims: Shape) -> Tensor:
    """An array of the joint shape, if only the run knows which of its lengths are one."""
    own = dims[len(dims) - x.ndim :]
    known = all(n == 1 or decide_equal(n, m) for n, m in zip(x.dims, own, strict=True))
    return x if known else core.broadcast_to(x, shape=dims)


def _check_first(arrays: list[Tensor], length: Dim) -> None:
    """NumPy asks the function with NumPy's scalars first; there must be some."""
    _check_some(length)
    for x in arrays:
        if x.dtype not in PYTHONS:
            raise _refused(
                f"the dtype of the result would be up to what the function gives for a {x.dtype}",
                "say what it is, np.vectorize(f, otypes=[float])",
            )


def _check_some(length: Dim) -> None:
    if length == 0:
        raise ValueError(EMPTY)
    if not isinstance(length, int):
        assert_(e.not_equal(as_tensor(length), 0), exception=Raise(ValueError, (EMPTY,)))


def _element(x: Tensor, place: tuple[Any, ...]) -> Any:
    """A number of an array, broadcast, as a Python number."""
    own = place[len(place) - x.ndim :]
    index = tuple(0 if dim == 1 else i for dim, i in zip(x.dims, own, strict=True))
    return x[index].item() if index else x.item()


def _rows(items: Items, otypes: str | None) -> tuple[Any, int]:
    """What the function gives in each turn; of how many results, 0 where it is no tuple."""
    counts: list[int] = []

    def body(add: Any) -> Callable[[Any], None]:
        def turn(value: Any) -> None:
            counts.append(len(value) if isinstance(value, tuple) else 0)
            add(_numbers(value))

        return turn

    make: Callable[[], Any] = lambda: list_of(lambda add: each(items, body(add)))
    more = ", or otypes: np.vectorize(f, otypes=[float])"
    rows = make() if otypes is not None else of_one_kind("np.vectorize", make, more)
    if not counts:  # there is nothing to call it for
        return rows, len(otypes) if otypes is not None and len(otypes) > 1 else 0
    return rows, counts[0]


def _numbers(value: Any) -> Any:
    """One result, or a tuple of some, each a number."""
    if isinstance(value, tuple):
        return tuple(map(_numbers, value))
    if value is None or resolve(as_tensor(value)).ndim:
        raise _refused(
            f"the function gives {'None' if value is None else 'an array'}, no number",
            "give a number; arrays of arguments need a signature, np.vectorize(f, signature=...)",
        )
    return value


def _column(rows: Any, k: int | None, otypes: str | None, dims: Shape) -> Tensor:
    """One of the results of all turns, as an array."""
    values = rows if k is None else _at(rows, k)
    dtype = None if otypes is None else np.dtype(otypes[k or 0])
    return core.reshape(_joined(values, dtype, (product(dims),)), shape=dims)


def _at(rows: Any, k: int) -> Any:
    """[row[k] for row in rows]"""
    return list_of(lambda add: each(rows, lambda row: add(row[k])))


def _joined(values: Any, dtype: Any, empty: Shape) -> Tensor:
    if isinstance(values, GrowingList):
        grown: Tensor = call(np.array, values, dtype)
        return grown
    if not values:
        return core.full(empty, 0, dtype)
    whole: Tensor = call(np.array, values)
    return whole if dtype is None else astype(whole, dtype)


# --- of arrays ------------------------------------------------------------------------------------


def _by_signature(self: np.vectorize, function: Callable[..., Any], given: list[Any]) -> Any:
    inner, outer = (_axes(side) for side in str(self.signature).split("->"))
    if len(given) != len(inner):
        raise TypeError(
            f"wrong number of positional arguments: expected {len(inner)}, got {len(given)}"
        )
    arrays = [to_tensor(value) for value in given]
    _check_axes(arrays, inner)
    loops = [x.dims[: x.ndim - len(own)] for x, own in zip(arrays, inner, strict=True)]
    dims = broadcast_dims(*loops)

    def turn(i: Any) -> Any:
        place = place_of(i, dims)
        values = [_part(x, place, loop) for x, loop in zip(arrays, loops, strict=True)]
        results = function(*values)
        single = len(outer) == 1 and not isinstance(results, tuple)
        return tuple(map(to_tensor, (results,) if single else results))

    if product(dims) == 0 and self.otypes is not None:
        raise _refused("there is nothing to call the function for", "test x.size first")
    if self.otypes is None:
        _check_some(product(dims))
    items = Items(product(dims), turn, shown=tuple(arrays))
    rows = list_of(lambda add: each(items, add))
    columns = []
    for k, axes in enumerate(outer):
        whole = _joined(_at(rows, k), None if self.otypes is None else np.dtype(self.otypes[k]), ())
        if whole.ndim != len(axes) + 1:
            raise ValueError(f"wrong output dimensions: expected {axes}, got {whole.dims[1:]}")
        columns.append(core.reshape(whole, shape=(*dims, *whole.dims[1:])))
    return columns[0] if len(columns) == 1 else tuple(columns)


def _axes(side: str) -> list[tuple[str, ...]]:
    """The names of the axes of each operand: "(m,n),(n)"."""
    inside = re.findall(r"\(([^()]*)\)", side)
    return [tuple(re.findall(r"\w+", names)) for names in inside]


def _check_axes(arrays: list[Tensor], inner: list[tuple[str, ...]]) -> None:
    lengths: dict[str, Dim] = {}
    for x, names in zip(arrays, inner, strict=True):
        if x.ndim < len(names):
            raise ValueError(
                f"{x.ndim}-dimensional argument does not have enough dimensions for all core "
                f"dimensions {names!r}"
            )
        for name, dim in zip(names, x.dims[x.ndim - len(names) :], strict=True):
            if decide_equal(lengths.setdefault(name, dim), dim) is False:
                raise ValueError(
                    f"inconsistent size for core dimension {name!r}: {dim} vs {lengths[name]}"
                )


def _part(x: Tensor, place: tuple[Any, ...], loop: Shape) -> Tensor:
    own = place[len(place) - len(loop) :]
    part: Tensor = x[(*(0 if d == 1 else i for d, i in zip(loop, own, strict=True)), ...)]
    return part


_NUMPYS = np.vectorize.__call__
OVERLOADS[_NUMPYS] = vectorized
