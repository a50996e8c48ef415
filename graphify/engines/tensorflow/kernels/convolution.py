"""Convolution and its two transposes.

A convolution of floats along one, two or three axes is TensorFlow's own, which is fast; what that
cannot do (integers, complex numbers, groups, dilated kernels in gradients) is a matrix product of
unrolled windows. Which way is taken depends on the graph alone, not on the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphify.engines.tensorflow.frame import Frame
from graphify.engines.tensorflow.kernels.casting import cast_to, nonzero, wider
from graphify.engines.tensorflow.kernels.elementwise import choose
from graphify.engines.tensorflow.kernels.reductions import vector
from graphify.engines.tensorflow.kernels.table import kernel
from graphify.engines.tensorflow.kernels.windows import (
    add_windows,
    fits,
    places,
    take_windows,
)

# --- convolution ----------------------------------------------------------------------------------


class _Geometry:
    """Lengths and steps of a convolution; lengths are ints or int64 scalars."""

    def __init__(
        self, frame: Frame, attrs: dict[str, Any], lengths: Any, kernel: Any, out: Any
    ) -> None:
        self.frame = frame
        self.lengths, self.kernel, self.out = list(lengths), list(kernel), list(out)
        self.strides, self.dilations = attrs["strides"], attrs["dilations"]
        self.padding = [frame.size(p) for p in attrs["padding"]]
        self.groups = frame.size(attrs.get("groups", 1))

    @property
    def rank(self) -> int:
        return len(self.lengths)

    def places(self, axis: int) -> Any:
        return places(
            self.frame,
            self.out[axis],
            self.kernel[axis],
            self.strides[axis],
            self.dilations[axis],
            self.padding[axis],
        )

    def native(self, dtype: Any, others: Sequence[Any], gradient: bool) -> bool:
        """Whether TensorFlow's kernels for the CPU do this, too."""
        lengths = (*self.kernel, *self.out, *self.lengths, *others)
        known = [n for n in lengths if isinstance(n, int)]
        return (
            dtype.is_floating
            and self.rank in (1, 2, 3)
            and isinstance(self.groups, int)
            and self.groups == 1
            and all(isinstance(k, int) for k in self.kernel)
            and min(known) > 0
            and (max(self.dilations) == 1 or not gradient and self.rank < 3)
            and (len(set(self.strides)) == 1 or not gradient or self.rank == 3)
        )

    def reach(self, axis: int) -> Any:
        """The length that the windows span, from the first place to the last."""
        k, d, s = self.kernel[axis], self.dilations[axis], self.strides[axis]
        reach = (self.out[axis] - 1) * s + (k - 1) * d + 1
        zero = self.frame.constant(0, self.frame.tf.int64)
        return max(reach, 0) if isinstance(reach, int) else self.frame.raw.Maximum(x=reach, y=zero)


def _cut(frame: Frame, x: Any, starts: Sequence[Any], lengths: Sequence[Any]) -> Any:
    """The box of the spatial axes from `starts` with `lengths`, zero where that is outside of x.

    A negative start lies before x.
    """
    raw, tf = frame.raw, frame.tf
    have = frame.shape_of(x)[1:-1]
    if all(isinstance(s, int) and s == 0 for s in starts) and all(
        isinstance(a, int) and isinstance(b, int) and a == b
        for a, b in zip(have, lengths, strict=True)
    ):
        return x
    zero = frame.constant(0, tf.int64)
    pads, begins = [], []
    for start, length, n in zip(starts, lengths, have, strict=True):
        first, last = frame.scalar(start), frame.scalar(start) + frame.scalar(length)
        pads.append(
            raw.Pack(
                values=[
                    raw.Maximum(x=-first, y=zero),
                    raw.Maximum(x=last - frame.scalar(n), y=zero),
                ]
            )
        )
        begins.append(raw.Maximum(x=first, y=zero))
    none = raw.Pack(values=[zero, zero])
    padded = raw.Pad(input=x, paddings=raw.Pack(values=[none, *pads, none]))
    sizes = [frame.constant(-1, tf.int64), *(frame.scalar(n) for n in lengths)]
    return raw.Slice(
        input=padded,
        begin=raw.Pack(values=[zero, *begins, zero]),
        size=raw.Pack(values=[*sizes, frame.constant(-1, tf.int64)]),
    )


def _equal(frame: Frame, x: Any, got: Any, expected: Any, what: str) -> Any:
    """`x`, if two lengths are equal. TensorFlow's own kernels would take some for groups."""
    if isinstance(got, int) and isinstance(expected, int):
        return x
    same = frame.raw.Equal(x=frame.scalar(got), y=frame.scalar(expected))
    text = f"convolution: {what}: expected {{}}, got {{}}"
    return frame.after(x, frame.check(same, ValueError, text, *map(frame.scalar, (expected, got))))


def _unless_empty(frame: Frame, sums: Any, y: Any) -> Any:
    """Sums over the places of y: for an empty y, TensorFlow leaves what was in memory."""
    dims = frame.shape_of(y)
    if all(isinstance(n, int) for n in dims):
        return sums
    empty = frame.raw.Equal(x=frame.scalar(_product(dims)), y=frame.constant(0, frame.tf.int64))
    return choose(frame, empty, 0, sums)


def _lift(frame: Frame, x: Any, rank: int, axis: int) -> Any:
    """One spatial axis becomes two, the first of length one, for kernels that want two."""
    if rank != 1:
        return x
    return frame.raw.ExpandDims(input=x, axis=frame.constant(axis, frame.tf.int32))


def _drop(frame: Frame, x: Any, rank: int, axis: int) -> Any:
    return frame.raw.Squeeze(input=x, axis=[axis]) if rank == 1 else x


def _options(geometry: _Geometry) -> dict[str, Any]:
    lead = [1] * (2 if geometry.rank == 1 else 1)
    return {
        "strides": [*lead, *geometry.strides, 1],
        "dilations": [*lead, *geometry.dilations, 1],
        "padding": "VALID",
    }


def _halves(frame: Frame, dtype: Any) -> Any:
    return frame.tf.float32 if dtype.size == 2 and dtype.is_floating else dtype


def _raw(frame: Frame, geometry: _Geometry, name: str, **operands: Any) -> Any:
    op = f"Conv{max(geometry.rank, 2)}D{name}"
    return getattr(frame.raw, op)(**operands, **_options(geometry))


def _shape_of_lifted(frame: Frame, shape: Sequence[Any], rank: int, axis: int) -> Any:
    dims = list(shape)
    if rank == 1:
        dims.insert(axis, 1)
    return frame.raw.Cast(x=frame.shape(dims), DstT=frame.tf.int32)


@kernel("convolution")
def convolution(frame: Frame, x: Any, w: Any, size: Any, **attrs: Any) -> Any:
    out = [fits(frame, frame.size(n)) for n in size]
    g = _Geometry(frame, attrs, frame.shape_of(x)[1:-1], frame.shape_of(w)[:-2], out)
    others = (frame.shape_of(x)[-1], *frame.shape_of(w)[-2:], frame.shape_of(x)[0])
    x = _equal(frame, x, others[0], others[1] * g.groups, "channels of the input")
    if not g.native(x.dtype, others, gradient=False):
        return _in_wider(frame, _forward, g, x, w)
    wide = _halves(frame, x.dtype)
    x_cut = _cut(frame, x, [-p for p in g.padding], [g.reach(a) for a in range(g.rank)])
    y = _raw(
        frame,
        g,
        "",
        input=_lift(frame, cast_to(frame, x_cut, wide), g.rank, 1),
        filter=_lift(frame, cast_to(frame, w, wide), g.rank, 0),
    )
    return cast_to(frame, _drop(frame, y, g.rank, 1), x.dtype)


@kernel("convolution_input")
def convolution_input(frame: Frame, y: Any, w: Any, size: Any, **attrs: Any) -> Any:
    lengths = [fits(frame, frame.size(n)) for n in size]
    g = _Geometry(frame, attrs, lengths, frame.shape_of(w)[:-2], frame.shape_of(y)[1:-1])
    others = (frame.shape_of(y)[-1], *frame.shape_of(w)[-2:], frame.shape_of(y)[0])
    y = _equal(frame, y, others[0], others[2], "channels of argument 1")
    if not g.native(y.dtype, others, gradient=True):
        return _in_wider(frame, _to_input, g, y, w)
    wide = _halves(frame, y.dtype)
    reach = [g.reach(a) for a in range(g.rank)]
    shape = [frame.shape_of(y)[0], *reach, frame.shape_of(w)[-2]]
    x = _raw(
        frame,
        g,
        "BackpropInput" + ("V2" if g.rank == 3 else ""),
        input_sizes=_shape_of_lifted(frame, shape, g.rank, 1),
        filter=_lift(frame, cast_to(frame, w, wide), g.rank, 0),
        out_backprop=_lift(frame, cast_to(frame, y, wide), g.rank, 1),
    )
    x = cast_to(frame, _unless_empty(frame, _drop(frame, x, g.rank, 1), y), y.dtype)
    return _cut(frame, x, g.padding, lengths)


@kernel("convolution_kernel")
def convolution_kernel(frame: Frame, x: Any, y: Any, size: Any, **attrs: Any) -> Any:
    kernel_ = [fits(frame, frame.size(n)) for n in size]
    g = _Geometry(frame, attrs, frame.shape_of(x)[1:-1], kernel_, frame.shape_of(y)[1:-1])
    others = (frame.shape_of(x)[-1], frame.shape_of(y)[-1], frame.shape_of(y)[0])
    y = _equal(frame, y, frame.shape_of(y)[0], frame.shape_of(x)[0], "samples of argument 2")
    if not g.native(x.dtype, others, gradient=True):
        return _in_wider(frame, _to_kernel, g, x, y)
    wide = _halves(frame, x.dtype)
    x_cut = _cut(frame, x, [-p for p in g.padding], [g.reach(a) for a in range(g.rank)])
    shape = [*kernel_, frame.shape_of(x)[-1], frame.shape_of(y)[-1]]
    w = _raw(
        frame,
        g,
        "BackpropFilter" + ("V2" if g.rank == 3 else ""),
        input=_lift(frame, cast_to(frame, x_cut, wide), g.rank, 1),
        filter_sizes=_shape_of_lifted(frame, shape, g.rank, 0),
        out_backprop=_lift(frame, cast_to(frame, y, wide), g.rank, 1),
    )
    return cast_to(frame, _unless_empty(frame, _drop(frame, w, g.rank, 0), y), x.dtype)


# --- convolution as a matrix product --------------------------------------------------------------


def _in_wider(frame: Frame, function: Any, g: _Geometry, a: Any, b: Any) -> Any:
    dtype = a.dtype
    wide = wider(frame, dtype)
    y = function(frame, g, cast_to(frame, a, wide), cast_to(frame, b, wide))
    return nonzero(frame, y) if dtype.is_bool else cast_to(frame, y, dtype)


def _product(dims: Sequence[Any]) -> Any:
    total: Any = 1
    for dim in dims:
        total = total * dim
    return total


def _over(frame: Frame, total: Any, groups: Any) -> Any:
    if isinstance(total, int) and isinstance(groups, int):
        return total // groups
    return frame.raw.FloorDiv(x=frame.scalar(total), y=frame.scalar(groups))


def _reshape(frame: Frame, x: Any, dims: Sequence[Any]) -> Any:
    return frame.raw.Reshape(tensor=x, shape=frame.shape(dims))


def _permute(frame: Frame, x: Any, order: Sequence[int]) -> Any:
    return frame.raw.Transpose(x=x, perm=vector(frame, order))


def _unroll(frame: Frame, g: _Geometry, x: Any) -> Any:
    """x as [groups, samples * places of y, places of w * channels of a group]."""
    samples, channels = frame.shape_of(x)[0], frame.shape_of(x)[-1]
    for axis in range(g.rank):  # N, O1, K1, O2, K2, ..., channels
        x = take_windows(frame, x, g.places(axis), 1 + 2 * axis)
    each = _over(frame, channels, g.groups)
    last = 1 + 2 * g.rank
    x = _reshape(frame, x, [samples, *_pairs(g), g.groups, each])
    x = _permute(frame, x, [last, 0, *range(1, last, 2), *range(2, last, 2), last + 1])
    return _reshape(frame, x, [g.groups, samples * _product(g.out), _product(g.kernel) * each])


def _pairs(g: _Geometry) -> list[Any]:
    return [n for pair in zip(g.out, g.kernel, strict=True) for n in pair]


def _roll(frame: Frame, g: _Geometry, rows: Any, samples: Any, each: Any) -> Any:
    """The transpose of `_unroll`."""
    x = _reshape(frame, rows, [g.groups, samples, *g.out, *g.kernel, each])
    order = [1]
    for axis in range(g.rank):
        order += [2 + axis, 2 + g.rank + axis]
    x = _permute(frame, x, [*order, 0, 2 + 2 * g.rank])
    x = _reshape(frame, x, [samples, *_pairs(g), g.groups * each])
    for axis in range(g.rank):
        x = add_windows(frame, x, g.places(axis), 1 + axis, g.lengths[axis])
    return x


def _grouped(frame: Frame, g: _Geometry, x: Any) -> Any:
    """[..., groups * channels] as [groups, ..., channels], the axes between as one."""
    *lead, channels = frame.shape_of(x)
    split = _reshape(frame, x, [_product(lead), g.groups, _over(frame, channels, g.groups)])
    return _permute(frame, split, [1, 0, 2])


def _forward(frame: Frame, g: _Geometry, x: Any, w: Any) -> Any:
    y = frame.raw.BatchMatMulV2(x=_unroll(frame, g, x), y=_grouped(frame, g, w))
    y = _permute(frame, y, [1, 0, 2])
    return _reshape(frame, y, [frame.shape_of(x)[0], *g.out, frame.shape_of(w)[-1]])


def _to_input(frame: Frame, g: _Geometry, y: Any, w: Any) -> Any:
    kernel_ = _permute(frame, _grouped(frame, g, w), [0, 2, 1])
    rows = frame.raw.BatchMatMulV2(x=_grouped(frame, g, y), y=kernel_)
    return _roll(frame, g, rows, frame.shape_of(y)[0], frame.shape_of(w)[-2])


def _to_kernel(frame: Frame, g: _Geometry, x: Any, y: Any) -> Any:
    rows = _permute(frame, _unroll(frame, g, x), [0, 2, 1])
    w = frame.raw.BatchMatMulV2(x=rows, y=_grouped(frame, g, y))
    w = _permute(frame, w, [1, 0, 2])
    each = _over(frame, frame.shape_of(x)[-1], g.groups)
    return _reshape(frame, w, [*g.kernel, each, frame.shape_of(y)[-1]])
