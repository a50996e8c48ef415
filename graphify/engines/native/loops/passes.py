"""The passes on loop-level programs, in order.

program = optimise(lower(graph))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graphify.engines.native.loops.forward import drop_dead, forward
from graphify.engines.native.loops.fuse import fuse
from graphify.engines.native.loops.memory import free, hoist_allocations
from graphify.engines.native.loops.program import Block, Program
from graphify.engines.native.loops.ranges import drop_checks
from graphify.engines.native.loops.schedule import schedule
from graphify.engines.native.loops.share import contract, share
from graphify.engines.native.loops.tidy import inline, tidy

PASSES: list[tuple[str, Callable[[Block], Block]]] = [
    ("tidy", tidy),  # indices by their own names: fusion compares them
    ("fuse", fuse),
    ("forward", forward),  # what fused loops hand on stays in registers
    ("drop dead", drop_dead),  # and then need not be stored
    ("share", share),  # before contract: no memory at all is better than rows
    ("contract", contract),
    ("forward again", forward),  # rows of one element are registers
    ("tidy again", tidy),
    ("inline", inline),
    ("drop dead again", drop_dead),
    ("schedule", schedule),
    ("hoist allocations", hoist_allocations),
    ("free", free),
]


def optimise(program: Program) -> Program:
    """The program with every pass run over it."""
    program = drop_checks(program)  # first: checks are in the way of fusion
    body = program.body
    for _, change in PASSES:
        body = change(body)
    return replace(program, body=body)
