"""Reverse derivatives of `loop`, `while` and `map`.

The reverse derivative of a loop is a loop over its turns from the last to the first. It needs the
carried values each turn began with: the forward loop runs once more and stacks those that the
derivative of the body really uses, no others (arrays that change their shape from turn to turn are
computed anew instead). A `while` is first run to count its turns, and is
then a loop of that length.

    loop(n, c, xs, k; body)  ->  saved = loop(n, c, xs, k; body and c)
                                 loop(n, gc, gk = 0, reversed saved, xs, gys; vjp of body)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.ir.graph import Graph
from graphify.ir.replay import replay
from graphify.ir.sizes import Dim, fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ops import core
from graphify.ops.control import loop, map_, set_rules, while_
from graphify.ops.elementwise import add
from graphify.ops.shape import as_dim, flip, iota
from graphify.transforms import build
from graphify.transforms.control import Maybe, asked, both, either, flags, present, spread
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


# --- reverse mode ---------------------------------------------------------------------------------


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
        self.uses = layout.split(used[1:])  # carried values, rows, constants that the step reads
        self.emits = layout.split(emit[1:])
        # Arrays of changing shape cannot be stacked: what a turn began with is computed anew, by
        # the turns before it. That takes time quadratic in the turns, and no memory.
        self.anew = any(on and self.changes(k) for k, on in enumerate(self.uses[0]))
        self.uses_index = used[0]
        self.rows_index = used[0] or self.anew

    def changes(self, k: int) -> bool:
        """Whether carried value k changes its shape from turn to turn."""
        return self.body.params[1 + k].spec.shape != self.body.specs[k].shape

    def gcarry_spec(self, k: int) -> Spec:
        """The spec of the cotangent of carried value k as the backward loop carries it."""
        spec, after = self.specs[1 + k], self.body.specs[k]
        changed = self.changes(k)
        shape = [
            fresh("w") if changed and before != now else dim
            for dim, before, now in zip(
                spec.shape, self.body.params[1 + k].spec.shape, after.shape, strict=True
            )
        ]
        return Spec(tuple(shape), spec.dtype)

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
        rows = self.saved() if any(keep_carry) and not self.anew else []
        rows += [x for x, on in zip(xs, keep_xs, strict=True) if on]
        rows += present(gs[layout.carry :])
        if self.rows_index:
            rows.append(iota(length=self.length, dtype=np.dtype(np.int64)))
        fixed = [c for c, on in zip(consts, keep_consts, strict=True) if on]
        fixed += self.operands if self.anew else []
        results = loop.several(
            *gcarry,
            *totals,
            *(flip(row, axes=(0,)) for row in rows),
            *fixed,
            length=self.length,
            body=self.backward_body(),
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
        return list(loop.several(*self.operands, **options)[carry:])

    def backward_body(self) -> Graph:
        """(j, gcarry, totals, [saved, x, gy, i]_j, consts) -> (gcarry, totals, gx_j)."""
        carried, xs, consts = self.layout.split(self.specs[1:])
        emit_consts = [
            build.strong_spec(s) for s, on in zip(consts, self.emits[2], strict=True) if on
        ]
        gcarry = [self.gcarry_spec(k) for k, on in enumerate(self.given[: self.layout.carry]) if on]
        keep_carry = [on and not self.anew for on in self.uses[0]]
        cut = [s for s, on in zip(carried, keep_carry, strict=True) if on]
        cut += [s for s, on in zip(xs, self.uses[1], strict=True) if on]
        cut += build.param_specs(self.step)[len(self.specs) + len(gcarry) :]  # cotangents of rows
        cut += [INDEX] * self.rows_index
        fixed = [s for s, on in zip(consts, self.uses[2], strict=True) if on]
        fixed += self.operand_specs() if self.anew else []
        groups = [len(gcarry), len(emit_consts), len(cut), len(fixed)]

        def backward(_: Tensor, *args: Tensor) -> list[Tensor]:
            g, totals, row, constants = _divide(args, groups)
            results = replay(self._step_of_used(), self._step_args(g, row, constants))
            return self._collect(results, totals)

        return build.trace(
            backward, [INDEX, *gcarry, *emit_consts, *cut, *fixed], f"{self.body.name}_back"
        )

    def operand_specs(self) -> list[Spec]:
        """Specs of the loop's own operands inside the backward loop."""
        carried, xs, consts = self.layout.split(self.specs[1:])
        count = self.length if isinstance(self.length, int) else fresh("turns")
        return [*carried, *(Spec((count, *x.shape), x.dtype) for x in xs), *consts]

    def before(self, index: Tensor, operands: Sequence[Tensor]) -> list[Tensor]:
        """The carried values that the step reads, as they were before a turn."""
        layout = self.layout
        options = {"body": self.body, "carry": layout.carry, "xs": layout.xs}
        carried = loop.several(*operands, length=as_dim(index), **options)[: layout.carry]
        return [c for c, on in zip(carried, self.uses[0], strict=True) if on]

    def _step_of_used(self) -> Graph:
        params = tuple(p for p, on in zip(self.step.params, self.used, strict=True) if on)
        return self.step.replace(params=params)

    def _step_args(
        self, g: list[Tensor], row: list[Tensor], constants: list[Tensor]
    ) -> list[Tensor]:
        """Arguments of the step, in the order of its parameters, without the unused ones."""
        index = [row.pop()] if self.rows_index else []
        if self.anew:
            known = sum(self.uses[2])
            row = [*self.before(index[0], constants[known:]), *row]
            constants = constants[:known]
        index = index if self.uses_index else []
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


# --- while ----------------------------------------------------------------------------------------


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

    return while_(
        Tensor(np.array(0)),
        *operands,
        cond=build.trace(test, [INDEX, *specs], f"{cond.name}_counting"),
        body=build.trace(turn, [INDEX, *specs], f"{body.name}_counting"),
        carry=carry + 1,
    )[0]


set_rules(loop, vjp=_loop_vjp)
set_rules(map_, vjp=_map_vjp)
set_rules(while_, vjp=_while_vjp)
