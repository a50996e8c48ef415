"""Functions over many examples: vmap, vectorized_map, map_fn.

    >>> vectorized_map(lambda x: gnp.sum(x * x), np.arange(6.0).reshape(3, 2)).numpy().tolist()
    [1.0, 13.0, 41.0]

`vmap` and `vectorized_map` trace the function for one example and run the trace on all of them at
once; what cannot run at once becomes a loop over the examples, with the same results. `map_fn`
calls the function example after example. Arguments and results may be containers of arrays, in
which None stands for no array. A function that updates its example in place updates the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.api import structures
from graphify.api.derived import compiled
from graphify.api.lane_errors import Part, in_lane
from graphify.config import config
from graphify.errors import SpecError
from graphify.ir.context import current_builder
from graphify.ir.graph import Graph
from graphify.ir.sizes import Dim, decide_equal
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec
from graphify.ops import core
from graphify.ops.control import map_
from graphify.ops.keys import getitem
from graphify.ops.shape import move_axis, stack
from graphify.tracing.capture import SubGraph, subgraph
from graphify.tracing.tracebacks import user_facing
from graphify.transforms.vmap import Lanes, batch_graph

Function = Callable[..., Any]


@dataclass(slots=True)
class _Leaf:
    """One leaf of the arguments: mapped over `axis`, or passed as it is (None)."""

    value: Any
    axis: int | None
    path: str

    def lanes(self) -> Tensor:
        """The array with the examples at axis 0."""
        assert self.axis is not None
        return move_axis(core.strong(self.value), self.axis, 0)


def _leaves(
    what: str, function: Function, args: Sequence[Any], axes: Any
) -> tuple[list[_Leaf], tree.TreeDef]:
    """The leaves of the arguments with their axes.

    Raises:
        TypeError, ValueError: a mapped leaf is no array or has no such axis; a bad `in_axes`.
    """
    values, treedef = tree.flatten_arrays(list(args))
    flat = structures.prefix_leaves(axes, list(args), f"{what}: in_axes")
    paths = [
        f"{what}: {structures.parameter_name(function, place)}" + (path and f" at {path}")
        for place, arg in enumerate(args)
        for path in tree.flatten_arrays(arg)[1].paths()
    ]
    return [_leaf(v, a, p) for v, a, p in zip(values, flat, paths, strict=True)], treedef


def _leaf(value: Any, axis: Any, path: str) -> _Leaf:
    if axis is None:
        return _Leaf(value, None, path)
    tensor = structures.array_leaf(value, path)
    if tensor.ndim == 0:
        raise ValueError(
            f"{path}: expected an array with an axis to map over, got a scalar {tensor.spec}"
        )
    return _Leaf(tensor, structures.normal_axis(axis, tensor.ndim, f"{path}: in_axes"), path)


def _count(what: str, leaves: Sequence[_Leaf], size: Any) -> Dim:
    """How many examples there are.

    Raises:
        ValueError: the mapped arrays disagree, or nothing is mapped.
    """
    mapped = [leaf for leaf in leaves if leaf.axis is not None]
    dims = [leaf.value.dims[leaf.axis] for leaf in mapped]
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ValueError(f"{what}: axis_size: expected an int of 0 or more, got {size!r}")
        dims.append(size)
    if not dims:
        raise ValueError(f"{what}: expected at least one array to map over, or axis_size")
    known = [dim for dim in dims if isinstance(dim, int)]
    count: Dim = known[0] if known else dims[0]
    if size is not None and decide_equal(size, count) is False:
        raise ValueError(
            f"{what}: axis_size: expected {count}, as many as the examples, got {size}"
        )
    for leaf, dim in zip(mapped, dims, strict=False):
        if decide_equal(dim, count) is False:
            raise ValueError(
                f"{leaf.path}: expected {count} examples along axis {leaf.axis}, got {dim}"
            )
    return count


def vmap(
    function: Function, in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None
) -> Function:
    """A function that applies `function` to every slice of its arguments at once.

    Args:
        function: written for one example.
        in_axes: the axis of the examples in each positional argument: an int for all, or a tuple
            with one entry per argument, each an int, None (not mapped) or a container of these.
            Keyword arguments are mapped over axis 0.
        out_axes: where the examples go in each result: an int, or a container of ints and Nones in
            the structure of the result (None: a result that is the same for every example).
        axis_size: the number of examples, where no argument is mapped.

    Returns:
        A function of the same arguments, with the axis of examples in them, and in its results.

    Raises:
        TypeError: a mapped argument is no array.
        ValueError: arrays with different numbers of examples, or without the axis; a result whose
            shape differs from example to example; `out_axes` None for a result that differs.
        TraceError: the function updates something that it was not given, or updates its example in
            place while the array shares memory with another one.

    Example:
        >>> dot = vmap(lambda a, b: gnp.sum(a * b), in_axes=(0, None))
        >>> dot(np.eye(2), np.array([3.0, 4.0])).numpy().tolist()
        [3.0, 4.0]
    """
    structures.check_callable(function, "vmap")
    if in_axes is not None and not isinstance(in_axes, (int, tuple, list)):
        raise TypeError(
            f"vmap: in_axes: expected an int, None, or a tuple of these, got {in_axes!r}"
        )
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    return compiled(
        function,
        lambda: _vmap(function, in_axes, out_axes, axis_size),
        ("vmap", axes, out_axes, axis_size),
    )


def _vmap(function: Function, in_axes: Any, out_axes: Any, axis_size: int | None) -> Function:
    @user_facing
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        axes = list(in_axes) if isinstance(in_axes, (tuple, list)) else in_axes
        if isinstance(axes, list) and len(axes) != len(args):
            raise ValueError(
                f"vmap: in_axes: expected {len(args)} entries, one per argument, got {in_axes!r}"
            )
        names = list(kwargs)
        everything = [*args, *kwargs.values()]
        if names:
            axes = [*(axes if isinstance(axes, list) else [axes] * len(args)), *[0] * len(names)]
        leaves, treedef = _leaves("vmap", function, everything, axes)

        def one(*values: Any) -> Any:
            positional, named = values[: len(args)], values[len(args) :]
            given = dict(zip(names, named, strict=True))
            return structures.result_of(function, *positional, **given)

        return _vectorise("vmap", one, leaves, treedef, out_axes, axis_size)

    wrapper.__name__ = f"vmap_{getattr(function, '__name__', 'function')}"
    return wrapper


@user_facing
def vectorized_map(fn: Function, elems: Any) -> Any:
    """`fn` applied to every element of `elems` along axis 0, all at once.

    Args:
        fn: takes one element: the structure of `elems` with arrays less their first axis.
        elems: an array or a container of arrays with equally many rows, `[n, ...]`.

    Returns:
        The structure that `fn` returns, with arrays `[n, ...]`. It equals `map_fn(fn, elems)`; an
        operation that cannot be done for all rows at once is done row by row.

    Raises:
        TypeError: a leaf of `elems` is no array.
        ValueError: arrays with different numbers of rows, or scalars; results whose shapes differ
            from row to row.
        TraceError: the function updates something that it was not given, or updates its example in
            place while the array shares memory with another one.

    Example:
        >>> vectorized_map(lambda x: x + 1, np.array([1.0, 2.0])).numpy().tolist()
        [2.0, 3.0]
    """
    structures.check_callable(fn, "vectorized_map")
    leaves, treedef = _leaves("vectorized_map", fn, [elems], 0)
    one = lambda x: structures.result_of(fn, x)
    return _vectorise("vectorized_map", one, leaves, treedef, 0, None)


def _vectorise(
    what: str,
    function: Function,
    leaves: Sequence[_Leaf],
    treedef: tree.TreeDef,
    out_axes: Any,
    size: Any,
) -> Any:
    count = _count(what, leaves, size)
    mapped = [leaf for leaf in leaves if leaf.axis is not None]
    rows = [_aligned(leaf, count) for leaf in mapped]
    sub, changed = _lane_graph(what, function, leaves, treedef, rows)
    batched = [True] * len(rows) + [False] * len(sub.captures)
    found, flags = _in_lanes(sub, [*rows, *sub.captures], batched, count)
    structure, _ = sub.treedef.children
    results = found[: structure.num_leaves]
    axes = structures.prefix_leaves(out_axes, structure.unflatten(results), f"{what}: out_axes")
    axes += [mapped[place].axis for place in changed]
    placed = [
        _placed(what, r, on, axis, count) for r, on, axis in zip(found, flags, axes, strict=True)
    ]
    _update(what, mapped, sub.captures, changed, placed[len(results) :])
    return structure.unflatten(placed[: len(results)])


def _in_lanes(sub: SubGraph, args: Sequence[Tensor], batched: Sequence[bool], count: Dim) -> Lanes:
    """A graph on every lane; an error at the run names the lane."""
    builder = current_builder()
    if builder is not None:
        values = tuple(value_in(arg, builder) for arg in args)
        builder.parts.append(Part(sub.graph, values, tuple(batched), sub.parts))
    try:
        return batch_graph(sub.graph, args, batched, count)
    except Exception as error:
        if builder is not None:
            raise
        arrays = tuple(arg.numpy() for arg in args)
        part = Part(sub.graph, arrays, tuple(batched), sub.parts)
        found = in_lane(error, Graph((), (), ()), [part], (), config.engine)
        if found is error:
            raise
        raise found from found.__cause__


def _update(
    what: str,
    mapped: Sequence[_Leaf],
    captures: Sequence[Tensor],
    changed: Sequence[int],
    arrays: Sequence[Tensor],
) -> None:
    """Update the arguments whose rows the function updates in place, as a loop over rows does."""
    used = [*(leaf.value for leaf in mapped), *captures]
    for place, array in zip(changed, arrays, strict=True):
        structures.write_back(what, place, array, used)


def _aligned(leaf: _Leaf, count: Dim) -> Tensor:
    """The examples at axis 0, as many as agreed; sizes known only at run time are checked there."""
    rows = leaf.lanes()
    if rows.dims[0] == count:
        return rows
    return core.reshape(rows, shape=(count, *rows.dims[1:]))


def _lane_graph(
    what: str,
    function: Function,
    leaves: Sequence[_Leaf],
    treedef: tree.TreeDef,
    rows: Sequence[Tensor],
) -> tuple[SubGraph, list[int]]:
    """The graph of one example, and which examples it updates in place: further results."""
    changed: list[int] = []

    def lane(*examples: Tensor) -> Any:
        structures.mark_rows(examples)
        before, rest = [example._value for example in examples], iter(examples)
        values = [leaf.value if leaf.axis is None else next(rest) for leaf in leaves]
        result = _arrays(what, function(*treedef.unflatten(values)))
        changed[:] = structures.updated(examples, before)
        return result, [examples[place] for place in changed]

    specs = [Spec(row.dims[1:], row.dtype) for row in rows]
    return subgraph(lane, specs, "lane", what), changed


def _arrays(what: str, result: Any) -> Any:
    """A result whose leaves are tensors."""
    return structures.each(lambda x: structures.array_leaf(x, f"{what}: the result"), result)


def _placed(what: str, result: Tensor, batched: bool, axis: Any, count: Dim) -> Tensor:
    """A result with its examples at the asked axis; many Python numbers make an array."""
    if axis is None:
        if batched:
            raise ValueError(
                f"{what}: out_axes: None, but this result differs between examples: {result.spec}"
            )
        return result
    result = core.strong(result)
    if not batched:
        result = core.copy(core.broadcast_to(result, shape=(count, *result.dims)))
    return move_axis(result, 0, structures.normal_axis(axis, result.ndim, f"{what}: out_axes"))


@user_facing
def map_fn(fn: Function, elems: Any) -> Any:
    """`fn` applied to every element of `elems` along axis 0, one after the other.

    Args:
        fn: takes one element: the structure of `elems` with arrays less their first axis.
        elems: an array or a container of arrays with equally many rows, `[n, ...]`.

    Returns:
        The structure that `fn` returns, with arrays `[n, ...]`.

    Raises:
        TypeError: a leaf of `elems` is no array.
        ValueError: arrays with different numbers of rows, or scalars; results whose shapes differ
            from row to row.
        TraceError: in a trace, the function updates something that it was not given.

    Example:
        >>> map_fn(lambda x: x * 2, np.array([1.0, 2.0])).numpy().tolist()
        [2.0, 4.0]
    """
    structures.check_callable(fn, "map_fn")
    leaves, treedef = _leaves("map_fn", fn, [elems], 0)
    count = _count("map_fn", leaves, None)
    rows = [_aligned(leaf, count) for leaf in leaves]
    if current_builder() is None and isinstance(count, int) and count:
        return _python_map(fn, treedef, rows, count)
    index = Spec((), np.dtype(np.int64))
    specs = [index, *(Spec(row.dims[1:], row.dtype) for row in rows)]
    changed: list[int] = []

    def lane(_: Tensor, *examples: Tensor) -> Any:
        structures.mark_rows(examples)
        before = [example._value for example in examples]
        result = structures.result_of(fn, *treedef.unflatten(examples))
        changed[:] = structures.updated(examples, before)
        result = structures.each(core.strong, _arrays("map_fn", result))
        return result, [examples[place] for place in changed]

    sub = subgraph(lane, specs, "row", "map_fn")
    found = map_.several(*rows, *sub.captures, length=count, body=sub.graph, xs=len(rows))
    structure, _ = sub.treedef.children
    _update("map_fn", leaves, sub.captures, changed, found[structure.num_leaves :])
    return structure.unflatten(found)


def _python_map(fn: Function, treedef: tree.TreeDef, rows: Sequence[Tensor], count: int) -> Any:
    outcomes = []
    for i in range(count):
        examples = [getitem(row, i) for row in rows]
        outcomes.append(structures.result_of(fn, *treedef.unflatten(examples)))
    return stack_trees("map_fn", outcomes)


def stack_trees(what: str, trees: Sequence[Any]) -> Any:
    """Equal structures of arrays as one structure of stacked arrays.

    Raises:
        ValueError: structures or shapes differ. TypeError: a leaf is no array.
    """
    flat = [tree.flatten_arrays(t) for t in trees]
    first = flat[0][1]
    if any(treedef != first for _, treedef in flat):
        raise ValueError(f"{what}: the function returns different structures for different rows")
    columns = zip(*(leaves for leaves, _ in flat), strict=True)
    return first.unflatten([_stacked(what, column) for column in columns])


def _stacked(what: str, column: Sequence[Any]) -> Tensor:
    tensors = [core.strong(structures.array_leaf(leaf, f"{what}: the result")) for leaf in column]
    shapes = list(dict.fromkeys(t.dims for t in tensors))
    if len(shapes) > 1:
        raise ValueError(
            f"{what}: results of different rows must have one shape, got {shapes[0]}, {shapes[1]}"
        )
    if len({t.dtype for t in tensors}) > 1:
        raise SpecError(f"{what}: results of different rows must have one dtype")
    return stack(tensors)
