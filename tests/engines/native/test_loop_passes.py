"""Passes on loop-level programs change nothing: run in Python, without LLVM.

Each graph is lowered, and its loops are run by the interpreter as they come from the lowering and
as they are after the passes, the turns of independent loops backwards. Both give what the reference
evaluator gives. Where they do not, the error names the pass after which they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.api.concrete import ConcreteFunction
from graphify.config import config
from graphify.engines.native.loops import passes
from graphify.engines.native.loops.interpret import Failed, interpret
from graphify.engines.native.loops.program import Call, Program
from graphify.engines.native.loops.walk import statements
from graphify.engines.native.lower import lower
from graphify.engines.native.translate import costs
from graphify.ir.graph import Graph
from graphify.ir.interpret import run
from graphify.ir.op import REGISTRY
from tests.engines.ops import SAMPLED, samples, table_graph
from tests.fuzz import generator
from tests.fuzz.regressions import SOURCES, regression
from tests.fuzz.running import _run
from tests.test_samples import SAMPLES, program_of
from tests.thinning import one_of_three
from tests.tolerances import assert_close

INTERPRETED = ("matmul", "copy", "host")  # the calls that the interpreter knows
VARIANTS = (0, 1, 2)
LARGE = 3000  # programs from this size on take too long here

# Programs that passes once got wrong: a result that is allocated late was given to a temporary.
FOUND = (3_000_072,)

Arrays = list[np.ndarray[Any, Any]]


def stages(graph: Graph) -> Iterator[tuple[str, Program]]:
    """The program of a graph after each pass, with the pass's name."""
    found: list[tuple[str, Program]] = []
    original = passes._run

    def noted(name: str, change: Callable[[Program], Program], program: Program) -> Program:
        found.append((name, after := original(name, change, program)))
        return after

    program = lower(graph)
    passes._run = noted
    try:
        passes.optimise(program)
    finally:
        passes._run = original
    yield "lowering", program
    yield from found


def outcome(function: Callable[[], Arrays]) -> Arrays | str:
    """The results, or that there are none."""
    try:
        return function()
    except (Failed, ArithmeticError, IndexError, ValueError) as error:
        return f"an exception: {error!r}"


def agrees(program: Program, arrays: Arrays, want: Arrays | str) -> str | None:
    """What is wrong with a program's results, if anything."""
    try:
        got = outcome(lambda: interpret(program, [np.array(a) for a in arrays], order=reversed))
        if isinstance(got, str) or isinstance(want, str):
            assert isinstance(got, str) and isinstance(want, str), f"got {got}, expected {want}"
            return None
        for g, w in zip(got, want, strict=True):
            assert_close(g, w, loss=100)
    except AssertionError as error:
        return str(error)
    return None


def check(graph: Graph, cases: list[Arrays]) -> None:
    """All stages of a graph's program agree with its evaluation."""
    with config(check=True):
        program = passes.optimise(lower(graph))
    if any(isinstance(s, Call) and s.function not in INTERPRETED for s in statements(program.body)):
        pytest.skip("calls what the interpreter does not know")
    for arrays in cases:
        with np.errstate(all="ignore"):
            want = outcome(lambda: run(graph, [np.array(a) for a in arrays]))
        if agrees(program, arrays, want) is None:
            continue
        for name, stage in stages(graph):
            problem = agrees(stage, arrays, want)
            assert problem is None, f"after {name}: {problem}"


# --- graphs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", SAMPLED)
def test_op(name: str, symbolic: bool) -> None:
    op = REGISTRY[name]
    small = [case for case in samples(op) if sum(a.size for a in case[0]) < 200]
    if not small:
        pytest.skip("no small sample")
    for case in small[:6]:
        try:
            graph, feeds = table_graph(op, [case], symbolic)
        except graphify.errors.GraphifyError:
            continue  # needs static shapes
        check(graph, [feeds])


def graphs_of(program: generator.Program) -> list[tuple[Graph, list[Arrays]]]:
    """The graphs that calls of a function make, each with the arrays that it was run on."""
    ran: dict[int, tuple[Graph, list[Arrays]]] = {}
    original = ConcreteFunction.execute

    def noted(self: ConcreteFunction, arrays: Any) -> Any:
        copies = [np.array(a) for a in arrays]
        ran.setdefault(id(self), (self.graph, []))[1].append(copies)
        return original(self, arrays)

    function = graphify.function(program.function, engine="reference")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConcreteFunction, "execute", noted)
        for variant in VARIANTS:
            _run("reference", function, program.arguments(variant))
    return list(ran.values())


def check_program(program: generator.Program) -> None:
    for graph, cases in graphs_of(program):
        if costs.size(lower(graph).body) < LARGE:
            check(graph, cases)


@pytest.mark.parametrize("function", one_of_three(SAMPLES, first=1), ids=lambda f: f.__name__)
def test_sample(function: Callable[..., Any]) -> None:
    check_program(program_of(function))


@pytest.mark.parametrize("name", SOURCES)
def test_regression(name: str) -> None:
    check_program(regression(name))


@pytest.mark.parametrize("seed", [*range(30), *FOUND])
def test_random_program(seed: int) -> None:
    check_program(generator.random_program(seed))
