"""Control flow as functions: cond, switch, while_loop, fori_loop, scan.

    >>> float(fori_loop(0, 4, lambda i, total: total + i, 0.0))
    6.0

They follow JAX's signatures. Where the decision is a Python value or an eager tensor, Python
decides and only what is chosen runs. In a trace, a decision known only at run time becomes one op
of the graph. What branches return, and what loops carry, may be containers of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.api.mapping import stack_trees
from graphify.api.structures import (
    apply,
    array_leaf,
    each,
    mark_rows,
    result_of,
    updated,
    write_back,
)
from graphify.autograph.operators import iteration, loops
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.state import fit, join_spec
from graphify.errors import ShapeError, SpecError, TraceError
from graphify.ir.context import current_builder
from graphify.ir.sizes import Dim, decide_equal
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.ops import control, core
from graphify.ops.indexing import gather
from graphify.ops.shape import flip, iota
from graphify.tracing.capture import SubGraph, subgraph
from graphify.tracing.tracebacks import user_facing

Function = Callable[..., Any]


def _functions(what: str, **functions: Any) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(
                f"{what}: argument '{name}': expected a function, got {type(function).__name__}"
            )


def _decision(what: str, name: str, value: Any) -> Any:
    """A truth value: a Python bool, or a scalar tensor that is only known at run time."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    tensor = array_leaf(value, f"{what}: {name}")
    if tensor.ndim:
        raise ShapeError(f"{what}: {name}: expected a scalar, got shape {tensor.dims}")
    return tensor if tensor.is_symbolic else bool(tensor.numpy())


@user_facing
def cond(pred: Any, true_fun: Function, false_fun: Function, *operands: Any) -> Any:
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; only one of them runs.

    Args:
        pred: a boolean (or numeric) scalar.
        true_fun, false_fun: return one structure of arrays; dtypes are joined by promotion, axes of
            different length become an axis of unknown size.
        operands: what the chosen function is called with.

    Returns:
        The functions' structure; arrays as tensors.

    Raises:
        TypeError: no function, or `pred` is no number.
        ValueError: `pred` is not a scalar.
        TraceError: in a trace, the functions return different structures or ranks.

    Example:
        >>> float(cond(True, lambda x: x + 1, lambda x: x - 1, 3.0))
        4.0
    """
    _functions("cond", true_fun=true_fun, false_fun=false_fun)
    decision = _decision("cond", "argument 'pred'", pred)
    return if_exp(decision, lambda: apply(true_fun, *operands), lambda: apply(false_fun, *operands))


@user_facing
def switch(index: Any, branches: Sequence[Function], *operands: Any) -> Any:
    """`branches[index](*operands)`; only that branch runs.

    Args:
        index: an integer scalar; negative ones count from the end, as in Python.
        branches: functions that return one structure of arrays.
        operands: what the chosen function is called with.

    Returns:
        The branches' structure; arrays as tensors.

    Raises:
        IndexError: the index is out of range (in a trace: when the graph runs).
        TypeError: the index is no integer, or a branch no function.
        ValueError: no branches; the index is not a scalar.

    Example:
        >>> float(switch(1, [lambda x: x + 1, lambda x: x * 10], 3.0))
        30.0
    """
    if not isinstance(branches, (list, tuple)):
        raise TypeError(
            "switch: argument 'branches': expected a list of functions, "
            f"got {type(branches).__name__}"
        )
    if not branches:
        raise ValueError("switch: argument 'branches': expected at least one function, got none")
    _functions("switch", **{f"branches[{k}]": branch for k, branch in enumerate(branches)})
    tensor = array_leaf(index, "switch: argument 'index'")
    if tensor.dtype.kind not in "iu":
        raise SpecError(f"switch: argument 'index': expected an integer, got {tensor.dtype.name}")
    if tensor.ndim:
        raise ShapeError(f"switch: argument 'index': expected a scalar, got shape {tensor.dims}")
    if not tensor.is_symbolic:
        place = int(tensor.numpy())
        if not -len(branches) <= place < len(branches):
            raise IndexError(
                f"switch: argument 'index': {place} is out of range for {len(branches)} branches"
            )
        return apply(branches[place], *operands)
    # Looking the index up in 0, 1, ... settles negative ones and raises for those out of range.
    chosen = gather(iota(length=len(branches), dtype=np.dtype(np.int64)), tensor, axes=(0,))
    return _switch(chosen, branches, 0, operands)


def _switch(index: Any, branches: Sequence[Function], first: int, operands: Any) -> Any:
    if first == len(branches) - 1:
        return apply(branches[first], *operands)
    return if_exp(
        index == first,
        lambda: apply(branches[first], *operands),
        lambda: _switch(index, branches, first + 1, operands),
    )


@user_facing
def while_loop(cond_fun: Function, body_fun: Function, init_val: Any) -> Any:
    """Repeat `val = body_fun(val)` while `cond_fun(val)` holds.

    Args:
        cond_fun: takes the value, returns a boolean scalar.
        body_fun: takes the value, returns the next one, of the same structure.
        init_val: an array or a container of arrays.

    Returns:
        The value for which `cond_fun` first does not hold.

    Raises:
        TypeError: no function, or the condition is no number.
        ValueError: the condition is not a scalar.
        TraceError: in a trace, the body returns another structure or rank.

    Example:
        >>> int(while_loop(lambda n: n < 100, lambda n: n * 3, 1))
        243
    """
    _functions("while_loop", cond_fun=cond_fun, body_fun=body_fun)

    def test(value: Any) -> Any:
        return _decision("while_loop", "the condition", apply(cond_fun, value))

    def body(value: Any) -> tuple[Any]:
        return (apply(body_fun, value),)

    return loops.while_(test, body, (init_val,), ("the carried value",))[0]


@user_facing
def fori_loop(lower: Any, upper: Any, body_fun: Function, init_val: Any) -> Any:
    """`for i in range(lower, upper): val = body_fun(i, val)`.

    Args:
        lower, upper: integers, which in a trace may be known only at run time.
        body_fun: takes the index and the value, returns the next value, of the same structure.
        init_val: an array or a container of arrays.

    Returns:
        The last value; `init_val` if there are no turns.

    Raises:
        TypeError: no function, or a bound that is no integer.
        TraceError: in a trace, the body returns another structure or rank.

    Example:
        >>> int(fori_loop(1, 5, lambda i, product: product * i, 1))
        24
    """
    _functions("fori_loop", body_fun=body_fun)

    def body(i: Any, value: Any) -> tuple[Any]:
        return (apply(body_fun, i, value),)

    bounds = [_bound("fori_loop", name, b) for name, b in (("lower", lower), ("upper", upper))]
    turns = iteration.range(*bounds)
    return loops.for_(turns, body, (init_val,), ("the carried value",))[0]


def _bound(what: str, name: str, value: Any) -> Any:
    """A number of turns: a Python int, or an integer tensor that is only known at run time."""
    tensor = array_leaf(value, f"{what}: argument '{name}'")
    if tensor.ndim or tensor.dtype.kind not in "iub":
        raise TypeError(f"{what}: argument '{name}': expected an integer, got {tensor.spec}")
    return tensor if tensor.is_symbolic else int(tensor.numpy())


@user_facing
def scan(
    f: Function, init: Any, xs: Any, length: Any = None, reverse: bool = False
) -> tuple[Any, Any]:
    """Carry a value along the rows of arrays, and stack what each step gives.

    Args:
        f: takes `(carry, x)`, returns `(carry, y)`; `x` has the structure of `xs` with arrays less
            their first axis, the carry keeps its structure.
        init: the first carry: an array or a container of arrays.
        xs: an array or a container of arrays with equally many rows, `[n, ...]`, or None.
        length: the number of steps, needed where `xs` is None.
        reverse: from the last row to the first; the `y` of a row still stands in its place.

    Returns:
        The last carry, and the structure of `y` with arrays `[n, ...]`.

    Raises:
        TypeError: `f` is no function or returns no pair; a leaf of `xs` is no array.
        ValueError: different numbers of rows; neither rows nor length.
        TraceError: in a trace, the carry changes its structure or rank, or a step updates an array
            of the carry in place and gives back another one.

    Example:
        >>> total, sums = scan(lambda c, x: (c + x, c + x), 0.0, np.array([1.0, 2.0, 3.0]))
        >>> float(total), sums.numpy().tolist()
        (6.0, [1.0, 3.0, 6.0])
    """
    _functions("scan", f=f)
    leaves, treedef = tree.flatten_arrays(xs)
    rows = [core.strong(array_leaf(leaf, "scan: argument 'xs'")) for leaf in leaves]
    count = _scan_length(rows, length)

    def step(carry: Any, *row: Any) -> tuple[Any, Any]:
        outcome = result_of(f, carry, treedef.unflatten(row))
        if not isinstance(outcome, tuple) or len(outcome) != 2:
            raise TypeError(
                f"scan: expected the function to return (carry, y), got {outcome!r:.80}"
            )
        return outcome

    if current_builder() is None and isinstance(count, int) and count:
        return _python_scan(step, init, rows, count, reverse)
    if reverse:
        rows = [flip(row, axes=(0,)) for row in rows]
    carry, ys = _staged_scan(step, init, rows, count)
    return carry, each(lambda y: flip(y, axes=(0,)), ys) if reverse else ys


def _scan_length(rows: Sequence[Tensor], length: Any) -> Dim:
    dims: list[Dim] = [] if length is None else [_bound("scan", "length", length)]
    if dims and isinstance(dims[0], int) and dims[0] < 0:
        raise ValueError(f"scan: argument 'length': expected an int of 0 or more, got {dims[0]}")
    for row in rows:
        if not row.ndim:
            raise ShapeError("scan: argument 'xs': expected arrays with rows, got a scalar")
        dims.append(row.dims[0])
    if not dims:
        raise ValueError("scan: expected rows in 'xs' or a 'length', got neither")
    if any(decide_equal(dims[0], dim) is False for dim in dims[1:]):
        raise ValueError(f"scan: expected one number of rows, got {', '.join(map(str, dims))}")
    return dims[0]


def _python_scan(
    step: Function, carry: Any, rows: Sequence[Any], count: int, reverse: bool
) -> tuple[Any, Any]:
    ys = []
    for i in reversed(range(count)) if reverse else range(count):
        carry, y = step(carry, *(row[i] for row in rows))
        ys.append(each(lambda leaf: core.copy(_strong(leaf)), y))  # it may be updated later
    return carry, stack_trees("scan", ys[::-1] if reverse else ys)


ROUNDS = 8  # a carry whose dtype grows settles in two or three


def _staged_scan(step: Function, init: Any, rows: Sequence[Tensor], count: Dim) -> tuple[Any, Any]:
    """The scan as a `loop`; the carry's dtypes grow until a turn keeps them."""
    flat, treedef = tree.flatten_arrays(init)
    start = [array_leaf(leaf, "scan: argument 'init'") for leaf in flat]
    specs = [tensor.spec for tensor in start]
    examples = [Spec(row.dims[1:], row.dtype) for row in rows]
    scalar = [tensor._scalar for tensor in start]
    for _ in range(ROUNDS):
        turn = _trace_step(step, treedef, specs, scalar, examples)
        if turn.after == specs:
            break
        specs = turn.after
    else:
        raise TraceError("scan: the carry keeps changing its dtype from step to step")
    sub = turn.graph
    operands = [fit(tensor, spec) for tensor, spec in zip(start, specs, strict=True)]
    results = control.loop.several(
        *operands,
        *rows,
        *sub.captures,
        length=count,
        body=sub.graph,
        carry=len(specs),
        xs=len(rows),
    )
    _, y_treedef, _ = sub.treedef.children
    last, ys = list(results[: len(specs)]), results[len(specs) :]
    arrays, updates = [*start, *rows, *sub.captures], iter(ys[y_treedef.num_leaves :])
    for place in turn.changed:
        in_carry = place < len(specs)
        write_back("scan", place, last[place] if in_carry else next(updates), arrays)
        if in_carry:
            last[place] = start[place]  # each step gives back the array that it was given
    return treedef.unflatten(last), y_treedef.unflatten(ys)


@dataclass(slots=True)
class _Turn:
    """One traced step."""

    graph: SubGraph  # of (carry, y, updated rows)
    after: list[Spec]  # what covers the carry before and after
    changed: list[int]  # which of the carry and the row, counted on, it updates in place


def _trace_step(
    step: Function,
    treedef: tree.TreeDef,
    specs: Sequence[Spec],
    scalar: Sequence[bool],
    examples: Sequence[Spec],
) -> _Turn:
    after: list[Spec] = []
    changed: list[int] = []

    def turn(_: Tensor, *values: Tensor) -> Any:
        for value, is_scalar in zip(values, scalar, strict=False):
            value._scalar = is_scalar
        mark_rows(values[len(specs) :])
        before = [value._value for value in values]
        carry, y = step(treedef.unflatten(values[: len(specs)]), *values[len(specs) :])
        leaves, own = tree.flatten_arrays(carry)
        if own != treedef:
            raise TraceError("scan: the carry after a step has another structure than before it")
        changed[:] = updated(values, before)
        _check_carry(values, leaves, changed)
        tensors = [resolve(as_tensor(leaf)) for leaf in leaves]
        after[:] = [_joined(spec, tensor) for spec, tensor in zip(specs, tensors, strict=True)]
        fitted = [fit(tensor, spec) for tensor, spec in zip(tensors, after, strict=True)]
        rows = [values[place] for place in changed if place >= len(specs)]
        return treedef.unflatten(fitted), each(_strong, y), rows

    index = Spec((), np.dtype(np.int64))
    return _Turn(subgraph(turn, [index, *specs, *examples], "step", "scan"), after, changed)


def _check_carry(values: Sequence[Tensor], after: Sequence[Any], changed: Sequence[int]) -> None:
    """Refuse a step that updates an array of the carry in place and carries on with another one:
    only the first step would then update the array that `scan` was given."""
    for place in changed:
        if place < len(after) and after[place] is not values[place]:
            raise TraceError(
                "scan: the step updates an array of the carry in place, and gives back another one",
                remedy="update a copy, carry = carry.copy(), or give back the updated array",
            )


def _strong(leaf: Any) -> Tensor:
    return core.strong(array_leaf(leaf, "scan: the result 'y'"))


def _joined(spec: Spec, tensor: Tensor) -> Spec:
    joined = join_spec("the carry", spec, tensor.spec, fresh_dims=False)
    if any(decide_equal(a, b) is not True for a, b in zip(spec.shape, tensor.dims, strict=True)):
        raise TraceError(
            f"scan: the carry must keep its shape, got {spec} before a step, {tensor.spec} after",
            remedy="carry an array of the final size and fill it in place",
        )
    return joined
