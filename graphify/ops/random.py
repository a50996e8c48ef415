"""Random numbers: draws from NumPy's own generators, and pure bits made from a key.

    random_draw(loc, scale, source=source, method="normal", ...)   # an effect: draws at each run
    random_bits(key, start, shape=(3,), width=32)                  # a pure function of its operands

A draw advances a NumPy generator that lives outside the graph, so it runs in program order, in this
process, and equals what NumPy gives from the same state. `random_bits` is Threefry-2x32, 20 rounds,
one block per counter, so that every engine can compute the same bits.

Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.op import defop
from graphify.ir.sizes import Shape
from graphify.ir.tensor import Tensor
from graphify.ir.types import DType, Spec
from graphify.ops import core

# --- generators behind draws ----------------------------------------------------------------------


class Source:
    """Where draws come from: a NumPy Generator or RandomState that lives outside the graph.

    Args:
        state: the generator itself; None for one that the program makes while it runs.
        make: `seed -> generator` for such a one. Each thread that runs the program has its own.
    """

    def __init__(self, state: Any = None, make: Any = None) -> None:
        self._state, self._make = state, make
        self._made = threading.local()

    @property
    def is_made(self) -> bool:
        """Whether the program makes the generator while it runs."""
        return self._make is not None

    def current(self) -> Any:
        """The generator; None where the path that makes it was not taken."""
        return getattr(self._made, "state", None) if self.is_made else self._state

    @property
    def kind(self) -> type:
        """The class of the generator."""
        if self._make is not None:
            return np.random.Generator if self._make is np.random.default_rng else self._make
        return type(self._state)

    def seed(self, seed: Any) -> None:
        if self._make is not None:
            self._made.state = self._make(seed)
        else:
            self._state.seed(seed)

    def shared(self, known: dict[Any, Any]) -> Source:
        """The source for a run whose parts run in threads of their own.

        Args:
            known: the sources of such runs, which are never two at a time.
        """
        if self._make is None:
            return self
        if self not in known:
            known[self] = _Shared(make=self._make)
        shared: Source = known[self]
        return shared

    def __repr__(self) -> str:
        kind = self._make if self._make is not None else type(self._state)
        return f"<{getattr(kind, '__name__', kind)}>"


class _Shared(Source):
    """A generator made while the program runs, the same one in all threads."""

    def __init__(self, make: Any) -> None:
        super().__init__(make=make)
        self._generator: Any = None

    def current(self) -> Any:
        return self._generator

    def seed(self, seed: Any) -> None:
        self._generator = self._make(seed)


class Held:
    """Any object as an attribute: compared by identity."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __repr__(self) -> str:
        return repr(self.thing)


def _plain(x: Any) -> Any:
    return x[()] if x.ndim == 0 else x


def _seed_eval(*operands: Any, source: Source, seed: Any = None) -> tuple[()]:
    source.seed(_plain(operands[0]) if operands else getattr(seed, "thing", seed))
    return ()


random_seed = defop(
    "random_seed",
    spec=lambda *operands, source, seed=None: (),
    eval=_seed_eval,
    effects=True,
    tf="host",
    extra={"tuple": True, "host": True},
    doc="seeds or makes the generator that later draws use",
)


def _draw_eval(
    *params: Any,
    source: Source,
    method: str,
    size: Any,
    shape: Shape,
    dtype: DType,
    options: Any = (),
    weak: bool = False,
) -> Any:
    arguments = dict(options)
    if size is not None:
        arguments["size"] = size
    result = getattr(source.current(), method)(*map(_plain, params), **arguments)
    return np.asarray(result, dtype)


def _draw_vjp(g: Tensor, y: Tensor, *params: Tensor, method: str, **attrs: Any) -> list[Tensor]:
    """Draws that move and stretch with their parameters are differentiable in them."""
    if method not in ("normal", "uniform") or len(params) != 2:
        raise SpecError(
            f"random.{method}: a draw has no derivative in its parameters",
            remedy="wrap the parameters in graphify.stop_gradient, or draw with normal or uniform",
        )
    a, b = params
    rate = (y - a) / (b if method == "normal" else b - a)
    first = g if method == "normal" else g * (1 - rate)
    return [core.unbroadcast(first, a), core.unbroadcast(g * rate, b)]


def _draw_jvp(ts: Any, y: Tensor, *params: Tensor, method: str, **attrs: Any) -> Tensor:
    if method not in ("normal", "uniform") or len(params) != 2:
        _draw_vjp(y, y, *params, method=method, **attrs)
    a, b = params
    ta, tb = (core.zeros_like(p) if t is None else t for t, p in zip(ts, params, strict=True))
    rate = (y - a) / (b if method == "normal" else b - a)
    return core.like(ta + tb * rate if method == "normal" else ta * (1 - rate) + tb * rate, y)


random_draw = defop(
    "random_draw",
    spec=lambda *params, source, method, size, shape, dtype, options=(), weak=False: Spec(
        shape, dtype, weak
    ),
    eval=_draw_eval,
    effects=True,
    vjp=_draw_vjp,
    jvp=_draw_jvp,
    tf="host",
    extra={"host": True},
    doc="a draw from one of NumPy's generators, in program order",
)

# --- bits from a key ------------------------------------------------------------------------------

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def threefry(key0: Any, key1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """One block per counter: Threefry-2x32 with 20 rounds, on uint32 arrays that wrap around.

    Written with +, ^, |, << and >> alone, so that it runs on arrays of any library that has them.
    """
    keys = (key0, key1, key0 ^ key1 ^ np.uint32(PARITY))
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(turn)) | (x1 >> np.uint32(32 - turn))
            x1 = x0 ^ x1
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1


def _bits_spec(key: Spec, start: Spec, shape: Shape, width: int) -> Spec:
    if key.dtype != np.uint32 or not key.ndim or key.shape[-1] != 2:
        raise SpecError(
            f"key: expected an array of two uint32 numbers, got {key}",
            remedy="make one with graphify.random.key(seed)",
        )
    lead = core.broadcast_shapes(key.shape[:-1], start.shape)
    return Spec((*lead, *shape), np.dtype(f"uint{width}"))


def _bits_eval(key: Any, start: Any, shape: Any, width: int) -> Any:
    if key.dtype != np.uint32 or not key.ndim or key.shape[-1] != 2:
        _bits_spec(Spec(key.shape, key.dtype), Spec(start.shape, start.dtype), shape, width)
    lead = np.broadcast_shapes(key.shape[:-1], start.shape)
    count = int(np.prod(shape, dtype=np.int64))
    counters = start.astype(np.uint64)[..., None] + np.arange(count, dtype=np.uint64)
    high, low = (counters >> np.uint64(32)).astype(np.uint32), counters.astype(np.uint32)
    x0, x1 = threefry(key[..., 0, None], key[..., 1, None], high, low)
    if width == 64:
        bits = (x0.astype(np.uint64) << np.uint64(32)) | x1
    else:
        bits = (x0 ^ x1).astype(f"u{width // 8}")
    return np.broadcast_to(bits, (*lead, count)).reshape((*lead, *shape))


def _bits_vmap(args: Any, batched: Any, shape: Shape, width: int) -> Tensor:
    from graphify.ops.rules import align

    key, start = args
    rank = max(key.ndim - 1 - batched[0], start.ndim - batched[1])
    key = align(key, rank + 1) if batched[0] else key
    start = align(start, rank) if batched[1] else start
    return random_bits(key, start, shape=shape, width=width)


random_bits = defop(
    "random_bits",
    spec=_bits_spec,
    eval=_bits_eval,
    vmap=_bits_vmap,
    tf="random_bits",
    sample=lambda: [
        ((np.array([1, 2], np.uint32), np.array(0, np.uint64)), {"shape": (2, 3), "width": w})
        for w in (8, 16, 32, 64)
    ],
    differentiable=(),
    doc="uniform random bits: Threefry-2x32 of a key and the counters from a start on",
)
