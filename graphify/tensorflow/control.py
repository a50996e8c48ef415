"""Functions of functions, checks, printing."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify import debugging, tree
from graphify.api import control, derivative, mapping
from graphify.api.printing import print as run_print
from graphify.api.tape import GradientTape
from graphify.autograph.operators import calls
from graphify.autograph.operators.logical import and_
from graphify.errors import ShapeError, SpecError
from graphify.ir.tensor import Tensor
from graphify.ops import core
from graphify.tensorflow.values import gnp, only, same, tensor

Function = Callable[..., Any]


def _scalar(value: Any) -> Any:
    """A loop variable or index: TensorFlow makes tensors of Python's numbers."""
    return tree.map_structure(tensor, value)


def _cond(pred: Any, true_fn: Function, false_fn: Function) -> Any:
    test = pred if isinstance(pred, (bool, np.bool_)) else only("b", tensor(pred))
    return control.cond(test, lambda: calls.call(true_fn), lambda: calls.call(false_fn))


def _case(pairs: Any, default: Any = None, exclusive: Any = False, strict: Any = False) -> Any:
    items = list(pairs.items() if isinstance(pairs, dict) else pairs)
    if exclusive or strict or not items:
        raise SpecError("tf.case: expected pairs, and neither exclusive nor strict")
    (test, function), *rest = items
    if not rest and default is None:
        raise SpecError("tf.case: graphify needs a default")
    return _cond(test, function, (lambda: _case(rest, default)) if rest else default)


def _switch_case(branch_index: Any, branch_fns: Any, default: Any = None) -> Any:
    branches = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if branches and isinstance(branches[0], (tuple, list)):
        branches = [function for _, function in sorted(branches, key=lambda item: item[0])]
        if isinstance(branch_fns, dict) and sorted(branch_fns) != [*range(len(branches))]:
            raise SpecError(f"tf.switch_case: expected keys 0 to {len(branches) - 1}")
    if default is not None:
        branches.append(default)
    index = tensor(branch_index, kinds="i")
    last = core.full((), len(branches) - 1, index.dtype)
    index = gnp.where((index < 0) | (index > last), last, index)
    return control.switch(index, [lambda f=f: calls.call(f) for f in branches])


def _while_loop(
    cond: Function, body: Function, loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False,
    maximum_iterations: Any = None,
) -> Any:  # fmt: skip
    kind = type(loop_vars)

    def test(state: Any) -> Any:
        turn, variables = state
        holds = functools.partial(calls.call, cond, *variables)
        if maximum_iterations is None:
            return holds()
        return and_(lambda: turn < maximum_iterations, holds)

    def step(state: Any) -> Any:
        turn, variables = state
        after = calls.call(body, *variables)
        after = tuple(after) if isinstance(after, (list, tuple)) else (after,)
        return turn + 1, _scalar(after)

    start = tuple(_scalar(value) for value in loop_vars)
    after = control.while_loop(test, step, (core.full((), 0, np.int32), start))[1]
    return list(after) if kind is list else after


def _map_fn(fn: Function, elems: Any, *options: Any, **more: Any) -> Any:
    return mapping.map_fn(lambda item: _scalar(calls.call(fn, item)), _scalar(elems))


def _vectorized_map(fn: Function, elems: Any, *options: Any) -> Any:
    return mapping.vectorized_map(lambda item: _scalar(calls.call(fn, item)), _scalar(elems))


def _scanned(fn: Function, elems: Any, initializer: Any, reverse: bool) -> tuple[Any, Any]:
    rows, start = _scalar(elems), initializer
    if initializer is None:
        turned = tree.map_structure(lambda x: gnp.flip(x, axis=0), rows) if reverse else rows
        start = tree.map_structure(lambda x: core.copy(x[0]), turned)
        rest = tree.map_structure(lambda x: x[1:], turned)
        last, made = _scanned(fn, rest, start, False)
        whole = tree.map_structure(lambda a, b: gnp.concatenate([a[None], b]), start, made)
        turn_back = (lambda x: gnp.flip(x, axis=0)) if reverse else (lambda x: x)
        return last, tree.map_structure(turn_back, whole)

    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        after = _scalar(calls.call(fn, carry, row))
        return after, after

    return control.scan(step, _scalar(start), rows, reverse=reverse)


def _scan(
    fn: Function, elems: Any, initializer: Any = None, parallel_iterations: Any = 10,
    back_prop: Any = True, swap_memory: Any = False, infer_shape: Any = True, reverse: Any = False,
) -> Any:  # fmt: skip
    return _scanned(fn, elems, initializer, bool(reverse))[1]


def _fold(reverse: bool) -> Function:
    return lambda fn, elems, initializer=None, *options: _scanned(fn, elems, initializer, reverse)[
        0
    ]


# --- checks ---------------------------------------------------------------------------------------


def _check(name: str) -> Function:
    compare = getattr(debugging, f"assert_{name}")
    return lambda x, y, message=None, summarize=None: compare(*same("fiucb", x, y), message)


def _none_equal(x: Any, y: Any, summarize: Any = None, message: Any = None) -> None:
    _check("none_equal")(x, y, message)


def _against_zero(name: str) -> Function:
    return lambda x, message=None, summarize=None: _check(name)(x, 0, message)


def _near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: Any = None,
) -> None:
    a, b = same("f", x, y)
    slack = 10 * float(gnp.finfo(a.dtype).eps)
    allowed = tensor(slack if atol is None else atol, a.dtype)
    allowed = allowed + tensor(slack if rtol is None else rtol, a.dtype) * gnp.absolute(b)
    debugging.assert_less_equal(gnp.absolute(a - b), allowed, message)


def _all_finite(x: Any, message: Any) -> Tensor:
    value = tensor(x, kinds="f")
    debugging.assert_equal(gnp.isfinite(value), True, message)
    return value


def _assert(condition: Any, data: Any, summarize: Any = None) -> None:
    debugging.assert_equal(tensor(condition, kinds="b"), True)


def _rank(x: Any, rank: Any, message: Any = None) -> None:
    value = tensor(x)
    if value.ndim != rank:
        raise ShapeError(f"{message or 'assert_rank'}: expected {rank} axes, got {value.spec}")


def _print(*inputs: Any, **options: Any) -> None:
    stream = options.get("output_stream", sys.stderr)
    names = {id(sys.stdout): "stdout", id(sys.stderr): "stderr"}
    if id(stream) not in names:
        raise SpecError("tf.print: output_stream: expected sys.stdout or sys.stderr")
    sep, end = options.get("sep", " "), options.get("end", "\n")
    run_print(*inputs, sep=sep, end=end, output_stream=names[id(stream)])


OPS: dict[str, Function] = {
    "GradientTape": GradientTape,
    "case": _case,
    "cond": _cond,
    "debugging.Assert": _assert,
    "debugging.assert_all_finite": _all_finite,
    "debugging.assert_equal": _check("equal"),
    "debugging.assert_greater": _check("greater"),
    "debugging.assert_greater_equal": _check("greater_equal"),
    "debugging.assert_less": _check("less"),
    "debugging.assert_less_equal": _check("less_equal"),
    "debugging.assert_near": _near,
    "debugging.assert_negative": _against_zero("less"),
    "debugging.assert_non_negative": _against_zero("greater_equal"),
    "debugging.assert_non_positive": _against_zero("less_equal"),
    "debugging.assert_none_equal": _none_equal,
    "debugging.assert_positive": _against_zero("greater"),
    "debugging.assert_rank": _rank,
    "debugging.check_numerics": _all_finite,
    "foldl": _fold(False),
    "foldr": _fold(True),
    "map_fn": _map_fn,
    "print": _print,
    "scan": _scan,
    "stop_gradient": lambda x: derivative.stop_gradient(tensor(x)),
    "switch_case": _switch_case,
    "vectorized_map": _vectorized_map,
    "while_loop": _while_loop,
}
