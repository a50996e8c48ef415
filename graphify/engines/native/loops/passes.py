"""The passes on loop-level programs, in order.

program = optimise(lower(graph))
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from graphify.config import config
from graphify.engines.native.loops.check import check
from graphify.engines.native.loops.choose import choose
from graphify.engines.native.loops.counters import trust_counters
from graphify.engines.native.loops.epilogues import epilogues
from graphify.engines.native.loops.forward import drop_dead, forward
from graphify.engines.native.loops.fuse import fuse
from graphify.engines.native.loops.jam import jam
from graphify.engines.native.loops.memory import free, hoist_allocations
from graphify.engines.native.loops.partial import in_parts
from graphify.engines.native.loops.program import Block, Program
from graphify.engines.native.loops.raising import raise_checks
from graphify.engines.native.loops.ranges import drop_checks
from graphify.engines.native.loops.schedule import schedule
from graphify.engines.native.loops.sections import gather, side_by_side
from graphify.engines.native.loops.share import contract, share
from graphify.engines.native.loops.swap import swap
from graphify.engines.native.loops.tidy import inline, tidy
from graphify.errors import InternalError, PassError

PASSES: list[tuple[str, Callable[[Block], Block]]] = [
    ("trust counters", trust_counters),
    ("tidy", tidy),  # indices by their own names: fusion compares them
    ("raise checks", raise_checks),  # loops do not pass them
    ("gather", gather),  # before loops that depend on one call fuse with what another one needs
    ("fuse", fuse),
    ("forward", forward),  # what fused loops hand on stays in registers
    ("drop dead", drop_dead),  # and then need not be stored
    ("share", share),  # before contract: no memory at all is better than rows
    ("contract", contract),
    ("forward again", forward),  # rows of one element are registers
    ("tidy again", tidy),
    ("choose", choose),
    ("inline", inline),
    ("drop dead again", drop_dead),
    ("epilogues", epilogues),
    ("drop dead products", drop_dead),  # those made in place elsewhere
    ("swap", swap),
    ("in parts", in_parts),
    ("schedule", schedule),
    ("jam", jam),  # loops that are neither for lanes nor for threads
    ("side by side", side_by_side),  # when it is known what one thread does alone
    ("hoist allocations", hoist_allocations),
    ("free", free),
]


def optimise(program: Program) -> Program:
    """The program with every pass run over it.

    Raises:
        PassError: a pass failed, or broke the law (check.py) while `config.check` is on.
    """
    _verify(program, "lowering")
    program = _run("tidy", functools.partial(_on_body, tidy), program)  # one name for one index
    program = _run("drop checks", drop_checks, program)  # early: checks are in the way of fusion
    for name, change in PASSES:
        program = _run(name, functools.partial(_on_body, change), program)
    return program


def _on_body(change: Callable[[Block], Block], program: Program) -> Program:
    return replace(program, body=change(program.body))


def _run(name: str, change: Callable[[Program], Program], program: Program) -> Program:
    """One pass; what goes wrong in it, or is wrong after it, is told under its name."""
    try:
        program = change(program)
    except Exception as error:
        raise PassError(_failure(program, name, error)) from error
    _verify(program, name)
    return program


def _verify(program: Program, after: str) -> None:
    if not config.check:
        return
    try:
        check(program)
    except InternalError as error:
        raise PassError(_failure(program, after, error)) from error


def _failure(program: Program, name: str, error: Exception) -> str:
    return f"loops of {program.name}, pass {name}: {type(error).__name__}: {error}"
