"""Control flow: sub-graphs become functions, called by If, While and PartitionedCall.

The stateless forms are used where a sub-graph has no effects; a stateful one takes its place among
the effects of the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import nonzero
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.engines.tensorflow.lower import dtype_of, lower_function, lower_into, static_shape
from graphify.ir.graph import Graph
from graphify.ir.types import Spec


def _outputs(frame: Frame, specs: Sequence[Spec]) -> tuple[list[Any], list[Any]]:
    return [dtype_of(frame, s) for s in specs], [static_shape(s) for s in specs]


def _ran(frame: Frame, results: Any, stateful: bool) -> Any:
    if stateful:
        frame.ran(results[0].op if isinstance(results, list) and results else results)
    return results


@kernel("cond")
def cond(frame: Frame, pred: Any, *operands: Any, true: Graph, false: Graph) -> Any:
    then, then_acts = lower_function(frame, true)
    other, other_acts = lower_function(frame, false)
    stateful = then_acts or other_acts
    dtypes, shapes = _outputs(frame, frame.specs)
    results = frame.branch(nonzero(frame, pred), then, other, operands, (dtypes, shapes, stateful))
    return _ran(frame, results, stateful)


@kernel("custom_gradient")
def custom_gradient(frame: Frame, *operands: Any, inputs: int, outputs: int, backward: Any) -> Any:
    return [frame.raw.Identity(input=y) for y in operands[inputs : inputs + outputs]]


@kernel("call")
def call(frame: Frame, *operands: Any, body: Graph) -> Any:
    function, stateful = lower_function(frame, body)
    dtypes, _ = _outputs(frame, frame.specs)
    return _ran(frame, frame.call(function, operands, dtypes, stateful), stateful)


@kernel("while")
def while_(frame: Frame, *operands: Any, cond: Graph, body: Graph, carry: int) -> Any:
    params = [static_shape(value.spec) for value in body.params]

    def test(inside: Frame, *state: Any) -> Any:
        return nonzero(inside, lower_into(inside, cond, state)[0])

    def step(inside: Frame, *state: Any) -> list[Any]:
        return [*lower_into(inside, body, state), *state[carry:]]

    return frame.repeat(test, step, operands, params)[:carry]


@kernel("loop")
def loop(frame: Frame, *operands: Any, length: Any, body: Graph, carry: int, xs: int) -> Any:
    """State: i, the carry, one tensor list per stacked result, then what does not change."""
    tf, raw = frame.tf, frame.raw
    count = raw.Maximum(x=frame.scalar(length), y=frame.constant(0, tf.int64))
    rows = _row_shapes(frame, frame.specs[carry:])
    stacked = body.specs[carry:]
    lists = [
        raw.TensorListReserve(
            element_shape=frame.constant(-1, tf.int32),
            num_elements=raw.Cast(x=count, DstT=tf.int32),
            element_dtype=dtype_of(frame, spec),
        )
        for spec in stacked
    ]
    first_list = 1 + carry
    first_x = first_list + len(lists)

    def test(inside: Frame, i: Any, *state: Any) -> Any:
        return i < state[-1]

    def step(inside: Frame, i: Any, *state: Any) -> list[Any]:
        full = (i, *state)
        fixed = full[first_x:-1]
        zero = inside.constant(0, tf.int32)
        slices = [inside.raw.GatherV2(params=x, indices=i, axis=zero) for x in fixed[:xs]]
        results = lower_into(inside, body, [i, *full[1:first_list], *slices, *fixed[xs:]])
        filled = [
            inside.raw.TensorListSetItem(
                input_handle=handle, index=inside.raw.Cast(x=i, DstT=tf.int32), item=item
            )
            for handle, item in zip(full[first_list:first_x], results[carry:], strict=True)
        ]
        return [i + inside.constant(1, tf.int64), *results[:carry], *filled, *full[first_x:]]

    carried = [static_shape(value.spec) for value in body.params[1 : 1 + carry]]
    state = [frame.constant(0, tf.int64), *operands[:carry], *lists, *operands[carry:], count]
    shapes = [[], *carried, *([] for _ in lists), *(x.shape for x in operands[carry:]), []]
    results = frame.repeat(test, step, state, shapes)
    return [
        *results[1:first_list],
        *(
            _stack(frame, handle, spec, row, count)
            for handle, spec, row in zip(results[first_list:first_x], stacked, rows, strict=True)
        ),
    ]


@kernel("map")
def map_(frame: Frame, *operands: Any, length: Any, body: Graph, xs: int) -> Any:
    return loop(frame, *operands, length=length, body=body, carry=0, xs=xs)


def _row_shapes(frame: Frame, specs: Sequence[Spec]) -> list[list[Any]]:
    """The shape of one row of each stacked result, -1 for what only the body knows."""
    rows = [[frame.known(d) for d in spec.shape[1:]] for spec in specs]
    return [[-1 if d is None else d for d in row] for row in rows]


def _stack(frame: Frame, handle: Any, spec: Spec, row: list[Any], count: Any) -> Any:
    """The rows of a tensor list along a new first axis; unknown lengths of no rows are 0."""
    tf, raw = frame.tf, frame.raw
    shape = frame.shape(row)
    none = raw.Equal(x=count, y=frame.constant(0, tf.int64))
    at_least_0 = raw.Maximum(x=shape, y=frame.constant(0, tf.int64))
    shape = raw.SelectV2(condition=none, t=at_least_0, e=shape)
    return raw.TensorListStack(
        input_handle=handle,
        element_shape=raw.Cast(x=shape, DstT=tf.int32),
        element_dtype=dtype_of(frame, spec),
        num_elements=-1,
    )
