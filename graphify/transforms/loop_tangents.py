"""Forward derivatives of `loop`, `while` and `map`: tangents are carried beside the values.

loop(n, c, xs, k; body)  ->  loop(n, c, tc, xs, txs, k, tk; body and jvp of body)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphify.ir.graph import Graph
from graphify.ir.replay import replay
from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ops import core
from graphify.ops.control import loop, map_, set_rules, while_
from graphify.transforms import build
from graphify.transforms.control import Maybe, either, flags, spread
from graphify.transforms.jvp import jvp_graph
from graphify.transforms.loops import INDEX, Layout, layout_of


class _Forward:
    """A body that carries tangents beside the values."""

    def __init__(
        self, ts: Maybe, operands: Sequence[Tensor], body: Graph, layout: Layout, index: int
    ) -> None:
        self.body, self.layout, self.index = build.without_effects(body), layout, index
        self.operands = operands
        carry = layout.carry
        state = flags(ts)
        while True:
            self.mask = jvp_graph(self.body, (*[False] * index, *state)).mask
            grown = (*either(state[:carry], self.mask[:carry]), *state[carry:])
            if grown == state:
                break
            state = grown
        self.active = state
        self.emit = (*state[:carry], *self.mask[carry:])
        self.ts = [
            (core.zeros_like(x) if t is None else core.strong(t)) if on else None
            for t, x, on in zip(ts, operands, state, strict=True)
        ]

    def interleaved(self, values: Sequence[Any], extra: Sequence[Any]) -> list[Any]:
        """Values and, after each group of them, the derivatives of that group."""
        result: list[Any] = []
        for group, added in zip(self.layout.split(values), self.layout.split(extra), strict=True):
            result += [*group, *(item for item in added if item is not None)]
        return result

    def specs(self) -> list[Spec]:
        own = build.param_specs(self.body)[self.index :]
        tangents = [
            build.strong_spec(s) if on else None for s, on in zip(own, self.active, strict=True)
        ]
        return self.interleaved(own, tangents)

    def divide(self, args: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """The values and the tangents among interleaved arguments."""
        places: list[tuple[bool, int]] = self.interleaved(
            [(False, k) for k in range(len(self.active))],
            [(True, k) if on else None for k, on in enumerate(self.active)],
        )
        pairs = sorted(zip(places, args, strict=True), key=lambda pair: pair[0])
        return [a for (t, _), a in pairs if not t], [a for (t, _), a in pairs if t]

    def turn(self, *args: Tensor) -> list[Tensor]:
        """One turn: the carried values, their tangents, the tangents of the rows."""
        index, values = args[: self.index], args[self.index :]
        xs, ts = self.divide(values)
        derived = jvp_graph(self.body, (*[False] * self.index, *self.active), self.emit)
        return [
            *replay(self.body, [*index, *xs])[: self.layout.carry],
            *replay(derived.graph, [*index, *xs, *ts]),
        ]

    def results(self, outputs: Sequence[Tensor]) -> list[Tensor | None]:
        return spread(outputs[self.layout.carry :], self.emit)

    def graph(self) -> Graph:
        specs = [*[INDEX] * self.index, *self.specs()]
        return build.prune(build.trace(self.turn, specs, f"{self.body.name}_jvp"))


def _loop_jvp(
    ts: Maybe, ys: Any, *operands: Tensor, length: Dim, body: Graph, carry: int, xs: int
) -> list[Tensor | None]:
    forward = _Forward(ts, operands, body, layout_of(operands, carry, xs), 1)
    inside = forward.layout.split(forward.active)
    outputs = loop.several(
        *forward.interleaved(operands, forward.ts),
        length=length,
        body=forward.graph(),
        carry=carry + sum(inside[0]),
        xs=xs + sum(inside[1]),
    )
    return forward.results(outputs)


def _map_jvp(
    ts: Maybe, ys: Any, *operands: Tensor, length: Dim, body: Graph, xs: int
) -> list[Tensor | None]:
    forward = _Forward(ts, operands, body, layout_of(operands, 0, xs), 1)
    rows = xs + sum(forward.layout.split(forward.active)[1])
    arguments = forward.interleaved(operands, forward.ts)
    return forward.results(map_.several(*arguments, length=length, body=forward.graph(), xs=rows))


def _while_jvp(
    ts: Maybe, ys: Any, *operands: Tensor, cond: Graph, body: Graph, carry: int
) -> list[Tensor | None]:
    forward = _Forward(ts, operands, body, layout_of(operands, carry, 0), 0)
    pure = build.without_effects(cond)
    test = build.trace(
        lambda *args: replay(pure, forward.divide(args)[0]), forward.specs(), cond.name
    )
    turning = carry + sum(forward.active[:carry])
    arguments = forward.interleaved(operands, forward.ts)
    return forward.results(
        while_.several(*arguments, cond=test, body=forward.graph(), carry=turning)
    )


set_rules(loop, jvp=_loop_jvp)
set_rules(map_, jvp=_map_jvp)
set_rules(while_, jvp=_while_jvp)
