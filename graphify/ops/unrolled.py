"""What the convolution ops mean, in NumPy: windows unrolled to rows, then one matrix product.

    forward(x, w, size=(3,), strides=(1,), dilations=(1,), padding=(0,))

`graphify.ops.convolution` says what the operands and attributes are. Sums of half precision are
made in float32.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphify.errors import ShapeError

Ints = tuple[int, ...]

# How many elements of unrolled windows are made at a time.
CHUNK = 1 << 22


class _Windows:
    """The windows of x as rows of a matrix, for some samples and one group at a time."""

    def __init__(
        self, kernel: Ints, out: Ints, strides: Ints, dilations: Ints, padding: Ints
    ) -> None:
        if min((*kernel, *out), default=0) < 0:
            raise ShapeError(f"convolution: the kernel {kernel} does not fit into the input")
        self.kernel, self.out, self.padding = kernel, out, padding
        self.strides, self.dilations = strides, dilations
        # What the windows reach, were x padded: exactly from first to last place.
        self.reach = tuple(
            (o - 1) * s + (k - 1) * d + 1 if o and k else 0
            for o, k, s, d in zip(out, kernel, strides, dilations, strict=True)
        )

    def chunks(self, samples: int, channels: int) -> Iterator[slice]:
        """Samples whose windows together are not too large."""
        row = int(np.prod(self.kernel)) * channels * int(np.prod(self.out))
        step = max(1, CHUNK // max(row, 1))
        return (slice(start, start + step) for start in range(0, samples, step))

    def overlap(self, lengths: Ints) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Where x lies in its padded form, and which part of x that is."""
        ends = [
            (max(p, 0), max(min(n + p, r), p, 0))
            for n, p, r in zip(lengths, self.padding, self.reach, strict=True)
        ]
        inside = tuple(slice(a, b) for a, b in ends)
        part = tuple(slice(a - p, b - p) for (a, b), p in zip(ends, self.padding, strict=True))
        return (slice(None), *inside), (slice(None), *part)

    def rows(self, x: Any) -> Any:
        """[samples * places of y, places of w * channels]."""
        padded = np.zeros((len(x), *self.reach, x.shape[-1]), x.dtype)
        inside, part = self.overlap(x.shape[1:-1])
        padded[inside] = x[part]
        first, *spatial, last = padded.strides
        view = np.lib.stride_tricks.as_strided(
            padded,
            (len(x), *self.out, *self.kernel, x.shape[-1]),
            (
                first,
                *(b * s for b, s in zip(spatial, self.strides, strict=True)),
                *(b * d for b, d in zip(spatial, self.dilations, strict=True)),
                last,
            ),
        )
        return view.reshape(self.matrix(len(x), x.shape[-1]))

    def matrix(self, samples: int, channels: int) -> tuple[int, int]:
        places = int(np.prod(self.out, dtype=np.int64))
        return samples * places, int(np.prod(self.kernel, dtype=np.int64)) * channels

    def add_up(self, rows: Any, x: Any) -> None:
        """The transpose of `rows`: adds each element of the rows to where it comes from in x."""
        padded = np.zeros((len(x), *self.reach, x.shape[-1]), x.dtype)
        tensor = rows.reshape(len(x), *self.out, *self.kernel, x.shape[-1])
        every = (slice(None),) * (1 + len(self.out))
        for place in itertools.product(*map(range, self.kernel)):
            target = tuple(
                slice(k * d, k * d + (o - 1) * s + 1, s) if o else slice(0, 0)
                for k, d, o, s in zip(place, self.dilations, self.out, self.strides, strict=True)
            )
            padded[(slice(None), *target)] += tensor[(*every, *place)]
        inside, part = self.overlap(x.shape[1:-1])
        x[part] = padded[inside]


def _accurately(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Half precision is computed in float32, and rounded once."""

    def wrapped(a: Any, b: Any, **attrs: Any) -> Any:
        if a.dtype.kind in "fV" and a.dtype.itemsize == 2:
            return evaluate(a.astype(np.float32), b.astype(np.float32), **attrs).astype(a.dtype)
        return evaluate(a, b, **attrs)

    return wrapped


def _group(x: Any, r: int, groups: int) -> Any:
    """The channels of one group."""
    count = x.shape[-1] // groups
    return x[..., r * count : (r + 1) * count]


def _flat(x: Any) -> Any:
    """All axes but the last as one."""
    return x.reshape(int(np.prod(x.shape[:-1], dtype=np.int64)), x.shape[-1])


@_accurately
def forward(x: Any, w: Any, size: Ints, groups: int = 1, **geometry: Any) -> Any:
    windows = _Windows(w.shape[:-2], size, **geometry)
    y = np.empty((len(x), *size, w.shape[-1]), x.dtype)
    for r in range(groups):
        xr, yr, wr = _group(x, r, groups), _group(y, r, groups), _group(w, r, groups)
        kernel = wr.reshape(-1, wr.shape[-1]) if w.size else np.zeros((0, wr.shape[-1]), x.dtype)
        for part in windows.chunks(len(x), xr.shape[-1]):
            yr[part] = (windows.rows(xr[part]) @ kernel).reshape(yr[part].shape)
    return y


@_accurately
def input(y: Any, w: Any, size: Ints, groups: int = 1, **geometry: Any) -> Any:
    windows = _Windows(w.shape[:-2], y.shape[1:-1], **geometry)
    x = np.zeros((len(y), *size, w.shape[-2] * groups), y.dtype)
    for r in range(groups):
        xr, yr, wr = _group(x, r, groups), _group(y, r, groups), _flat(_group(w, r, groups))
        for part in windows.chunks(len(x), xr.shape[-1]):
            windows.add_up(_flat(yr[part]) @ wr.T, xr[part])
    return x


@_accurately
def kernel(x: Any, y: Any, size: Ints, groups: int = 1, **geometry: Any) -> Any:
    windows = _Windows(size, y.shape[1:-1], **geometry)
    w = np.zeros((*size, x.shape[-1] // groups, y.shape[-1]), x.dtype)
    for r in range(groups):
        xr, yr, wr = _group(x, r, groups), _group(y, r, groups), _group(w, r, groups)
        for part in windows.chunks(len(x), xr.shape[-1]):
            wr += (windows.rows(xr[part]).T @ _flat(yr[part])).reshape(wr.shape)
    return w
