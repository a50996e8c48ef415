"""The optimiser: its passes in their order, and the driver that runs them.

    graph, report = optimise(graph)

A pass is a function `(Graph, Report) -> Graph` that returns the very graph it was given if it has
nothing to do. The list is run again until a round changes nothing, since a folded predicate lets a
branch be inlined, whose constants fold, and so on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from graphify.config import config
from graphify.errors import PassError
from graphify.ir.check import check
from graphify.ir.graph import Graph
from graphify.ir.pretty import to_text
from graphify.optimise.algebra import algebra
from graphify.optimise.control import control
from graphify.optimise.cse import cse
from graphify.optimise.fold import fold
from graphify.optimise.hoist import hoist
from graphify.optimise.prune import prune
from graphify.optimise.report import Report, measure

Pass: TypeAlias = Callable[[Graph, Report], Graph]

MAX_ROUNDS = 4  # each round can only help the next one; four have been enough for nested control

# In this order:
PASSES: list[tuple[str, Pass]] = [
    # First, so that the others do not work on what nobody needs.
    ("prune", prune),
    # Before control: a folded predicate or trip count is what control looks for.
    ("fold", fold),
    ("control", control),
    # After control, which puts nodes side by side that were apart.
    ("algebra", algebra),
    # After algebra, which makes equal what was written differently.
    ("cse", cse),
    # After cse: equal work is moved out of a loop once. Before the last pruning: it leaves
    # parameters behind that nothing uses any more.
    ("hoist", hoist),
    # Last, since every pass above leaves dead nodes to it.
    ("prune", prune),
]

# Passes that engines run by themselves under the same switch.
ELSEWHERE = ("fuse", "decompose")


class Optimised(NamedTuple):
    """An optimised graph and what was done to it."""

    graph: Graph
    report: Report


def optimise(graph: Graph) -> Optimised:
    """A graph that gives the same answers with less work.

    `config.passes` leaves passes out ("-cse,-fold") or names the only ones to run ("prune,cse").

    Raises:
        PassError: a pass failed, or broke the law of graphs while `config.check` is on.
        ValueError: `config.passes` names a pass that does not exist.
    """
    passes = selected(config.passes)
    report = Report(before=measure(graph))
    changed = bool(passes)
    while changed and report.rounds < MAX_ROUNDS:
        report.rounds += 1
        before = graph
        for name, run in passes:
            graph = _run(name, run, graph, report)
        changed = graph is not before
    report.after = measure(graph)
    return Optimised(graph, report)


def selected(text: str) -> list[tuple[str, Pass]]:
    """The passes that a switch such as "-cse,-fold" or "prune,cse" leaves.

    Raises:
        ValueError: an unknown name.
    """
    names = [part.strip() for part in text.split(",") if part.strip()]
    known = list(dict.fromkeys(name for name, _ in PASSES))
    for name in names:
        if name.lstrip("+-") not in (*known, *ELSEWHERE):
            raise ValueError(f"config.passes: expected names of {known}, got {name!r}")
    only = {name.lstrip("+") for name in names if not name.startswith("-")}
    without = {name[1:] for name in names if name.startswith("-")}
    return [
        (name, run) for name, run in PASSES if name not in without and (not only or name in only)
    ]


def _run(name: str, run: Pass, graph: Graph, report: Report) -> Graph:
    """One pass: timed, printed, checked."""
    start = time.perf_counter()
    try:
        result = run(graph, report)
        if config.check and result is not graph:
            check(result)
    except Exception as error:
        raise PassError(_failure(name, report.passes, error)) from error
    report.passes.append(name)
    report.seconds[name] = report.seconds.get(name, 0.0) + time.perf_counter() - start
    if config.debug >= 3 and result is not graph:
        config.log(3, f"--- after {name} ---\n{to_text(result)}")
    return result


def _failure(name: str, ran: Sequence[str], error: Exception) -> str:
    after = f", after {', '.join(ran)}" if ran else ""
    return f"pass {name}{after}: {type(error).__name__}: {error}"
