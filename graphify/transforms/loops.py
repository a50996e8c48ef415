"""Derivatives of `loop`, `while` and `map`.

The reverse derivative of a loop is a loop over its turns from the last to the first. It needs the
carried values each turn began with: the forward loop runs once more and stacks those that the
derivative of the body really uses, no others. A `while` is first run to count its turns, and is
then a loop of that length.

    loop(n, c, xs, k; body)  ->  saved = loop(n, c, xs, k; body and c)
                                 loop(n, gc, gk = 0, reversed saved, xs, gys; vjp of body)

The forward derivative carries tangents beside the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.errors import TransformError
from graphify.ir.bind import Tensor
from graphify.ir.graph import Graph
from graphify.ir.replay import replay
from graphify.ir.sizes import Dim
from graphify.ir.types import Spec
from graphify.location import here
from graphify.ops import core
from graphify.ops.control import loop, map_, set_rules, while_
from graphify.ops.elementwise import add
from graphify.ops.shape import as_dim, flip, iota
from graphify.transforms import build
from graphify.transforms.control import Maybe, asked, both, either, flags, present, spread
from graphify.transforms.jvp import jvp_graph
from graphify.transforms.vjp import vjp_graph

INDEX = Spec((), np.dtype(np.int64))


@dataclass(frozen=True, slots=True)
class Layout:
    """How operands and parameters of a loop divide: index, carried values, rows, constants."""

    carry: int
    xs: int
    consts: int

    def split(self, items: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Carried values, rows and constants among the operands."""
        middle = self.carry + self.xs
        return list(items[: self.carry]), list(items[self.carry : middle]), list(items[middle:])


def layout_of(operands: Sequence[Tensor], carry: int, xs: int) -> Layout:
    return Layout(carry, xs, len(operands) - carry - xs)


def active_carry(body: Graph, layout: Layout, active: Sequence[bool]) -> tuple[bool, ...]:
    """The operands that depend on active ones once the loop has turned."""
    state = tuple(active)
    while True:
        reached = build.depends(body, (False, *state))[: layout.carry]
        grown = (*either(state[: layout.carry], reached), *state[layout.carry :])
        if grown == state:
            return state
        state = grown


# --- reverse mode -----------------------------------------------------------------------------------


def _loop_vjp(
    gs: Maybe,
    ys: Sequence[Tensor],
    *operands: Tensor,
    length: Dim,
    body: Graph,
    carry: int,
    xs: int,
    wanted: Sequence[bool] | None = None,
) -> list[Tensor | None]:
    layout = layout_of(operands, carry, xs)
    body = build.without_effects(body)
    want = asked(operands, wanted)
    active = active_carry(body, layout, want)
    given = _given(body, layout, active, flags(gs))
    mask = vjp_graph(body, (False, *active), given).mask
    emit = (False, *given[:carry], *mask[1 + carry :])
    reverse = _Reverse(body, layout, active, given, emit, operands, length)
    grads = reverse.run([g if on else None for g, on in zip(gs, given, strict=True)], ys)
    return [g if on else None for g, on in zip(grads, want, strict=True)]


def _given(
    body: Graph, layout: Layout, active: Sequence[bool], start: Sequence[bool]
) -> tuple[bool, ...]:
    """Which results of the body get a cotangent in some turn."""
    carry = layout.carry
    smooth = build.inexact(body.specs)
    given = both(start, (*both(active[:carry], smooth[:carry]), *smooth[carry:]))
    while True:
        mask = vjp_graph(body, (False, *active), given).mask
        grown = (*either(given[:carry], mask[1 : 1 + carry]), *given[carry:])
        if grown == given:
            return given
        given = grown


class _Reverse:
    """The backward loop of a loop: its body, its operands, and the forward loop that feeds it."""

    def __init__(
        self,
        body: Graph,
        layout: Layout,
        active: tuple[bool, ...],
        given: tuple[bool, ...],
        emit: tuple[bool, ...],
        operands: Sequence[Tensor],
        length: Dim,
    ) -> None:
        self.body, self.layout, self.given, self.emit = body, layout, given, emit
        self.operands, self.length = operands, length
        self.step = vjp_graph(body, (False, *active), given, emit).graph
        self.specs = build.param_specs(body)
        self.used = build.used_params(self.step)
        used = self.used[: len(self.specs)]
        self.uses_index = used[0]
        self.uses = layout.split(used[1:])  # carried values, rows, constants that the step reads
        self.emits = layout.split(emit[1:])
        self.refuse_changing_shapes()

    def refuse_changing_shapes(self) -> None:
        carried = [value.spec for value in self.body.params[1 : 1 + self.layout.carry]]
        for spec, result, *needs in zip(
            carried, self.body.specs, self.uses[0], self.given, strict=False
        ):
            if any(needs) and spec.shape != result.shape:
                raise TransformError(
                    f"loop: its derivative needs a carried array of one shape, got {spec} before a turn "
                    f"and {result} after it",
                    location=here(),
                    remedy="carry an array of the final size and fill it in place",
                )

    def run(self, gs: Maybe, ys: Sequence[Tensor]) -> list[Tensor | None]:
        """The cotangents of the operands."""
        layout = self.layout
        _, xs, consts = layout.split(self.operands)
        keep_carry, keep_xs, keep_consts = self.uses
        _, _, emit_consts = self.emits
        start = [
            g if g is not None else core.zeros_like(y)
            for g, y in zip(gs[: layout.carry], ys, strict=False)
        ]
        gcarry = [core.strong(g) for g, on in zip(start, self.given, strict=False) if on]
        totals = [core.zeros_like(c) for c, on in zip(consts, emit_consts, strict=True) if on]
        rows = self.saved() if any(keep_carry) else []
        rows += [x for x, on in zip(xs, keep_xs, strict=True) if on]
        rows += present(gs[layout.carry :])
        if self.uses_index:
            rows.append(iota(length=self.length, dtype=np.dtype(np.int64)))
        fixed = [c for c, on in zip(consts, keep_consts, strict=True) if on]
        results = loop(
            *gcarry,
            *totals,
            *(flip(row, axes=(0,)) for row in rows),
            *fixed,
            length=self.length,
            body=self.backward_body([row.spec for row in rows]),
            carry=len(gcarry) + len(totals),
            xs=len(rows),
        )
        return self.arrange(results, len(gcarry), len(totals))

    def arrange(self, results: Sequence[Tensor], carried: int, totals: int) -> list[Tensor | None]:
        _, emit_xs, emit_consts = self.emits
        gcarry = spread(results[:carried], self.given[: self.layout.carry])
        gconsts = spread(results[carried : carried + totals], emit_consts)
        grows = [flip(row, axes=(0,)) for row in results[carried + totals :]]
        return [*gcarry, *spread(grows, emit_xs), *gconsts]

    def saved(self) -> list[Tensor]:
        """The carried values at the start of each turn, stacked, of those the step reads."""
        keep, carry = self.uses[0], self.layout.carry

        def forward(*args: Tensor) -> list[Tensor]:
            results = replay(self.body, args)
            return [*results[:carry], *(a for a, on in zip(args[1:], keep, strict=False) if on)]

        graph = build.prune(build.trace(forward, self.specs, f"{self.body.name}_saving"))
        options = {"length": self.length, "body": graph, "carry": carry, "xs": self.layout.xs}
        return list(loop(*self.operands, **options)[carry:])

    def backward_body(self, rows: Sequence[Spec]) -> Graph:
        """(j, gcarry, totals, [saved, x, gy, i]_j, consts) -> (gcarry, totals, gx_j)."""
        carried, xs, consts = self.layout.split(self.specs[1:])
        emit_consts = [
            build.strong_spec(s) for s, on in zip(consts, self.emits[2], strict=True) if on
        ]
        gcarry = [build.strong_spec(s) for s, on in zip(carried, self.given, strict=False) if on]
        cut = [
            s
            for group, keep in zip((carried, xs), self.uses, strict=False)
            for s, on in zip(group, keep, strict=True)
            if on
        ]
        cut += build.param_specs(self.step)[len(self.specs) + len(gcarry) :]  # cotangents of rows
        cut += [INDEX] * self.uses_index
        fixed = [s for s, on in zip(consts, self.uses[2], strict=True) if on]
        groups = [len(gcarry), len(emit_consts), len(cut), len(fixed)]

        def backward(_: Tensor, *args: Tensor) -> list[Tensor]:
            g, totals, row, constants = _divide(args, groups)
            results = replay(self._step_of_used(), self._step_args(g, row, constants))
            return self._collect(results, totals)

        return build.trace(
            backward, [INDEX, *gcarry, *emit_consts, *cut, *fixed], f"{self.body.name}_back"
        )

    def _step_of_used(self) -> Graph:
        params = tuple(p for p, on in zip(self.step.params, self.used, strict=True) if on)
        return self.step.replace(params=params)

    def _step_args(
        self, g: list[Tensor], row: list[Tensor], constants: list[Tensor]
    ) -> list[Tensor]:
        """Arguments of the step, in the order of its parameters, without the unused ones."""
        index = [row.pop()] if self.uses_index else []
        values = sum(self.uses[0]) + sum(self.uses[1])
        before = [*index, *row[:values], *constants]
        after = zip([*g, *row[values:]], self.used[len(self.specs) :], strict=True)
        return [*before, *(value for value, on in after if on)]

    def _collect(self, results: list[Tensor], totals: list[Tensor]) -> list[Tensor]:
        counts = [sum(self.given[: self.layout.carry]), sum(self.emits[1]), sum(self.emits[2])]
        gcarry, gxs, gconsts = _divide(results, counts)
        return [*gcarry, *(add(t, g) for t, g in zip(totals, gconsts, strict=True)), *gxs]


def _divide(items: Sequence[Tensor], counts: Sequence[int]) -> list[list[Tensor]]:
    groups, start = [], 0
    for count in counts:
        groups.append(list(items[start : start + count]))
        start += count
    return groups


def _map_vjp(
    gs: Maybe, ys: Any, *operands: Tensor, length: Dim, body: Graph, xs: int, wanted: Any = None
) -> list[Tensor | None]:
    return _loop_vjp(gs, ys, *operands, length=length, body=body, carry=0, xs=xs, wanted=wanted)


# --- while -----------------------------------------------------------------------------------------


def _while_vjp(
    gs: Maybe,
    ys: Sequence[Tensor],
    *operands: Tensor,
    cond: Graph,
    body: Graph,
    carry: int,
    wanted: Any = None,
) -> list[Tensor | None]:
    cond, body = build.without_effects(cond), build.without_effects(body)
    length = as_dim(_count_turns(operands, cond, body, carry))
    turn = build.trace(
        lambda i, *args: replay(body, args), [INDEX, *build.param_specs(body)], body.name
    )
    return _loop_vjp(gs, ys, *operands, length=length, body=turn, carry=carry, xs=0, wanted=wanted)


def _count_turns(operands: Sequence[Tensor], cond: Graph, body: Graph, carry: int) -> Tensor:
    """How often a while loop turns."""
    specs = build.param_specs(body)

    def test(count: Tensor, *args: Tensor) -> list[Tensor]:
        return replay(cond, args)

    def turn(count: Tensor, *args: Tensor) -> list[Tensor]:
        return [add(count, Tensor(np.array(1))), *replay(body, args)]

    return while_(  # type: ignore[no-any-return]
        Tensor(np.array(0)),
        *operands,
        cond=build.trace(test, [INDEX, *specs], f"{cond.name}_counting"),
        body=build.trace(turn, [INDEX, *specs], f"{body.name}_counting"),
        carry=carry + 1,
    )[0]


# --- forward mode -------------------------------------------------------------------------------------


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
    outputs = loop(
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
    return forward.results(map_(*arguments, length=length, body=forward.graph(), xs=rows))


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
    return forward.results(while_(*arguments, cond=test, body=forward.graph(), carry=turning))


set_rules(loop, vjp=_loop_vjp, jvp=_loop_jvp)
set_rules(map_, vjp=_map_vjp, jvp=_map_jvp)
set_rules(while_, vjp=_while_vjp, jvp=_while_jvp)
