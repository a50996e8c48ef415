"""Graphs for tests: built from functions of tensors, and at random with nested control flow.

    graph = build(lambda x, k: x[:k] * 2.0, x="f64[n,3]", k="i64[]")

`random_graph` draws straight-line code, branches, loops and calls over arrays of a few shapes and
dtypes; whatever it draws runs without an error.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify.ir.context import current_builder, recording
from graphify.ir.graph import Builder, Graph
from graphify.ir.sizes import Size, SizeVar, size
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ir.types import DTYPE_OF_SHORT_NAME, Spec
from graphify.ir.wrapping import as_tensor
from graphify.ops import (  # noqa: F401  # noqa: F401
    control,
    core,
    effects,
    elementwise,
    indexing,
    keys,
    linalg,
    operators,
    reduction,
    shape,
)


def spec_of(text: str, sizes: dict[str, Size]) -> Spec:
    """f64[n,3], with size variables of one name being one variable."""
    weak = text.endswith("~")
    dtype, _, rest = text.rstrip("~").partition("[")
    dims: list[Any] = []
    for part in filter(None, rest.rstrip("]").split(",")):
        if part.isdigit():
            dims.append(int(part))
        else:
            dims.append(sizes.setdefault(part, size(SizeVar(part))))
    return Spec(tuple(dims), DTYPE_OF_SHORT_NAME[dtype], weak)


def build(function: Callable[..., Any], name: str = "graph", **params: Any) -> Graph:
    """The graph of a function of tensors; one parameter per keyword: its spec, or its text."""
    sizes: dict[str, Size] = {}
    specs = {n: spec_of(s, sizes) if isinstance(s, str) else s for n, s in params.items()}
    return trace(function, list(specs.values()), list(specs), name)


def trace(
    function: Callable[..., Any], specs: Sequence[Spec], names: Sequence[str], name: str = "graph"
) -> Graph:
    builder = Builder(name=name)
    values = [builder.param(spec, n) for spec, n in zip(specs, names, strict=True)]
    with recording(builder), np.errstate(all="ignore"):
        results = function(*[Tensor(value) for value in values])
        if not isinstance(results, (tuple, list)):
            results = [results]
        outputs = [value_in(resolve(as_tensor(r)), builder) for r in results]
    return builder.finish(outputs)


def branch(function: Callable[..., Any], *operands: Any, name: str = "body") -> Graph:
    """A sub-graph for these operands."""
    specs = [as_tensor(t).spec for t in operands]
    return trace(function, specs, [f"p{i}" for i in range(len(specs))], name)


def cond(pred: Any, true: Any, false: Any, *operands: Any) -> Any:
    """control.cond of two functions."""
    graphs = {"true": branch(true, *operands), "false": branch(false, *operands)}
    return control.cond(pred, *operands, **graphs)


def while_(test: Any, body: Any, carry: Sequence[Any], *consts: Any) -> Any:
    """control.while_ of two functions of (*carry, *consts)."""
    operands = [*(as_tensor(t) for t in carry), *consts]
    graphs = {"cond": branch(test, *operands, name="cond"), "body": branch(body, *operands)}
    return control.while_(*operands, carry=len(carry), **graphs)


def loop(length: Any, body: Any, carry: Sequence[Any], xs: Sequence[Any] = (), *consts: Any) -> Any:
    """control.loop of a function of (i, *carry, *rows, *consts)."""
    operands = [*(as_tensor(t) for t in carry), *xs, *consts]
    rows = [Spec(t.dims[1:], t.dtype) for t in xs]
    specs = [Spec((), np.dtype(np.int64)), *(t.spec for t in operands[: len(carry)]), *rows]
    specs += [as_tensor(t).spec for t in consts]
    names = ["i", *(f"p{k}" for k in range(len(specs) - 1))]
    graph = trace(body, specs, names, "body")
    return control.loop(*operands, length=length, body=graph, carry=len(carry), xs=len(xs))


def map_(length: Any, body: Any, xs: Sequence[Any], *consts: Any) -> Any:
    """control.map_ of a function of (i, *rows, *consts)."""
    rows = [Spec(t.dims[1:], t.dtype) for t in xs]
    specs = [Spec((), np.dtype(np.int64)), *rows, *(as_tensor(t).spec for t in consts)]
    graph = trace(body, specs, ["i", *(f"p{k}" for k in range(len(specs) - 1))], "body")
    return control.map_(*xs, *consts, length=length, body=graph, xs=len(xs))


def call(body: Any, *operands: Any) -> Any:
    return control.call(*operands, body=branch(body, *operands))


# --- random programs --------------------------------------------------------------------------

PARAMS = {
    "x": "f64[n,3]",
    "y": "f64[n,3]",
    "v": "f64[3]",
    "s": "f64[]",
    "k": "i64[n,3]",
    "j": "i64[]",
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, float("nan"), float("inf"), -float("inf"), 0.5]
_FLOATS = [elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.maximum]
_FLOATS += [elementwise.minimum, elementwise.divide]
_UNARY = [elementwise.negative, elementwise.absolute, elementwise.exp, elementwise.sqrt]
_UNARY += [elementwise.positive, elementwise.conjugate]
_TESTS = [elementwise.less, elementwise.equal, elementwise.greater_equal, elementwise.not_equal]


def symbolic(array: np.ndarray[Any, Any]) -> Tensor:
    """A constant that what is made of it is recorded for, not evaluated at once."""
    builder = current_builder()
    assert builder is not None
    return Tensor(value_in(Tensor(array), builder))


class Program:
    """Draws statements; `pool` holds what they may use."""

    def __init__(self, rng: random.Random, depth: int = 2) -> None:
        self.rng, self.depth = rng, depth

    def __call__(self, *pool: Tensor) -> list[Tensor]:
        """Some values computed from the pool: the same number, specs and order as given."""
        values = list(pool)
        for _ in range(self.rng.randint(1, 6)):
            values += self.statement(values)
        return values[len(pool) :]

    def pick(self, pool: Sequence[Tensor], kind: str) -> Tensor:
        fitting = [t for t in pool if t.dtype.kind in kind]
        if not fitting or self.rng.random() < 0.15:
            number = self.rng.choice(SPECIAL) if kind == "f" else self.rng.choice([0, 1, 2, 3])
            return symbolic(np.asarray(number, np.float64 if kind == "f" else np.int64))
        return self.recent(fitting)

    def recent(self, pool: Sequence[Tensor]) -> Tensor:
        """Mostly something new: what nobody uses is pruned, and tests nothing else."""
        return self.rng.choice(pool[-4:] if self.rng.random() < 0.7 else pool)

    def statement(self, pool: list[Tensor]) -> list[Tensor]:
        kinds = [
            self.arithmetic,
            self.arithmetic,
            self.unary,
            self.choice,
            self.move,
            self.integers,
        ]
        if self.depth:
            kinds += [self.branch, self.turns, self.repeat, self.apply, self.masked]
        return self.rng.choice(kinds)(pool)

    def arithmetic(self, pool: list[Tensor]) -> list[Tensor]:
        op = self.rng.choice(_FLOATS)
        return [op(self.pick(pool, "f"), self.pick(pool, "f"))]

    def unary(self, pool: list[Tensor]) -> list[Tensor]:
        return [self.rng.choice(_UNARY)(self.pick(pool, "f"))]

    def integers(self, pool: list[Tensor]) -> list[Tensor]:
        op = self.rng.choice([elementwise.add, elementwise.multiply, elementwise.subtract])
        a, b = self.pick(pool, "i"), self.pick(pool, "i")
        power = elementwise.power(a, self.rng.choice([0, 1, 2, 3]))
        return [op(a, b), self.rng.choice([op(a, a), power])]

    def choice(self, pool: list[Tensor]) -> list[Tensor]:
        test = self.rng.choice(_TESTS)(self.pick(pool, "f"), self.pick(pool, "f"))
        return [elementwise.where(test, self.pick(pool, "f"), self.pick(pool, "f"))]

    def move(self, pool: list[Tensor]) -> list[Tensor]:
        t = self.pick(pool, "f")
        if t.ndim != 2:
            return [core.reshape(core.reshape(t, shape=(1, *t.dims)), shape=t.dims)]
        turned = shape.transpose(t, axes=(1, 0))
        part = keys.getitem(t, (slice(None), slice(0, 3)))
        whole = core.broadcast_to(keys.getitem(t, (slice(None), slice(1, 2))), shape=t.dims)
        return [shape.transpose(turned, axes=(1, 0)), part, whole]

    def inside(self) -> Program:
        return Program(self.rng, self.depth - 1)

    def scalar_test(self, pool: list[Tensor]) -> Tensor:
        scalars = [t for t in pool if t.ndim == 0]
        if self.rng.random() < 0.3 or not scalars:
            return symbolic(np.asarray(self.rng.random() < 0.5))
        return elementwise.less(self.rng.choice(scalars), 0)

    def branch(self, pool: list[Tensor]) -> list[Tensor]:
        operands = self.some(pool)

        def side(*args: Tensor) -> list[Tensor]:
            made = [*args, *self.inside()(*args)]
            return [self.like(made, args[0]), self.like(made, args[-1])]

        return list(cond(self.scalar_test(pool), side, side, *operands))

    def turns(self, pool: list[Tensor]) -> list[Tensor]:
        carry, consts = self.some(pool), self.some(pool)

        def body(i: Tensor, *args: Tensor) -> list[Tensor]:
            made = [*args, *self.inside()(*args)]
            nexts = [self.like(made, a) for a in args[: len(carry)]]
            return [elementwise.add(i, 1), *nexts]

        limit = self.rng.choice([0, 1, 3])
        start = Tensor(np.asarray(0))
        return list(
            while_(lambda i, *_: elementwise.less(i, limit), body, [start, *carry], *consts)
        )

    def repeat(self, pool: list[Tensor]) -> list[Tensor]:
        carry, consts = self.some(pool), self.some(pool)

        def body(i: Tensor, *args: Tensor) -> list[Tensor]:
            made = [*args, *self.inside()(i, *args)]
            nexts = [self.like(made, a) for a in args[: len(carry)]]
            return [*nexts, self.like(made, args[0])]

        length = self.rng.choice([1, 2, 3])
        return list(loop(length, body, carry, (), *consts))[:-1]

    def apply(self, pool: list[Tensor]) -> list[Tensor]:
        operands = self.some(pool)
        return list(call(lambda *args: [*self.inside()(*args), args[0]], *operands))

    def masked(self, pool: list[Tensor]) -> list[Tensor]:
        """A size known only when the graph runs."""
        t = self.pick(pool, "f")
        picked = keys.getitem(t, t > 0) if t.ndim else core.reshape(t, shape=(1,))
        twice = keys.getitem(t, t > 0) if t.ndim else picked
        total = reduction.reduce_sum(picked + twice, axes=(0,))
        count = core.cast(as_tensor(picked.dims[0]), dtype=np.dtype(np.int64))
        return [total, count]

    def some(self, pool: list[Tensor]) -> list[Tensor]:
        return [self.recent(pool) for _ in range(self.rng.randint(1, 3))]

    def like(self, pool: Sequence[Tensor], model: Tensor) -> Tensor:
        """A value of exactly the model's shape and dtype."""
        fitting = [t for t in pool if t.spec == model.spec]
        return self.recent(fitting) if fitting else model


def random_graph(rng: random.Random) -> Graph:
    """A graph over PARAMS with some of the values it computes as results."""

    def function(*params: Tensor) -> list[Tensor]:
        values = [*params]
        program = Program(rng)
        for _ in range(3):
            values += program(*values)
        return [*values[-3:], *rng.choices(values, k=2)]

    return build(function, **PARAMS)


def random_inputs(seed: int, n: int = 4) -> list[np.ndarray[Any, Any]]:
    """Arrays for PARAMS, with NaN, inf and -0.0 among them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = rng.choice(np.array(SPECIAL), size=(n, 3))
    v, s = rng.choice(np.array(SPECIAL), size=3), rng.normal(size=())
    return [x, y, v, np.asarray(s), rng.integers(-9, 9, (n, 3)), np.asarray(rng.integers(-2, 3))]


def assert_same(got: Sequence[Any], want: Sequence[Any]) -> None:
    """Equal to the bit, NaN equal to NaN whatever its payload; dtypes and shapes, too."""
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"), (a, b)
        if a.dtype.kind == "f":
            real = ~np.isnan(a)
            assert np.array_equal(np.signbit(a[real]), np.signbit(b[real])), (a, b)
