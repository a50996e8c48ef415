"""Whatever the passes do, the numbers stay: random programs with nested control flow."""

import random

from hypothesis import given
from hypothesis import strategies as st

from graphify.config import config
from graphify.ir.check import check
from graphify.ir.interpret import run
from graphify.ir.parse import parse
from graphify.ir.pretty import to_text
from graphify.optimise.pipeline import PASSES, optimise
from graphify.optimise.report import Report
from tests.ir.building import assert_same, random_graph, random_inputs


def test_optimised_programs_give_the_same(program_seed):
    graph = random_graph(random.Random(program_seed))
    check(graph)
    inputs = random_inputs(program_seed)
    want = run(graph, inputs)
    with config(check=True):
        optimised = optimise(graph).graph
    assert_same(run(optimised, inputs), want)
    again = optimise(optimised).graph
    assert_same(run(again, inputs), want)


@given(st.randoms(use_true_random=False))
def test_programs_that_hypothesis_draws(rng):
    """As above, but a failure is shrunk to a small program."""
    graph = random_graph(rng)
    inputs = random_inputs(0)
    with config(check=True):
        optimised = optimise(graph).graph
    assert_same(run(optimised, inputs), run(graph, inputs))


def test_each_pass_alone_gives_the_same(program_seed):
    graph = random_graph(random.Random(program_seed + 1000))
    inputs = random_inputs(program_seed)
    want = run(graph, inputs)
    for _, run_pass in PASSES[1:]:
        changed = run_pass(graph, Report())
        check(changed)
        assert_same(run(changed, inputs), want)


def test_text_of_programs_parses_back(program_seed):
    graph = random_graph(random.Random(program_seed + 2000))
    text = to_text(graph, full=True)
    read = parse(text)
    assert to_text(read, full=True) == text
    check(read)
    inputs = random_inputs(program_seed)
    assert_same(run(read, inputs), run(graph, inputs))
