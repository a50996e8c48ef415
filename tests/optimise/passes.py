"""What the tests of passes do with graphs."""

import numpy as np

from graphify.ir.check import check
from graphify.ir.interpret import run
from graphify.optimise.prune import prune
from graphify.optimise.report import Report
from tests.ir.building import assert_same, symbolic


def const(value):
    return symbolic(np.asarray(value))


def after(step, graph, *inputs):
    """The graph after a pass and pruning: checked, and run against the original."""
    return checked(prune(step(graph, Report()), Report()), graph, *inputs)


def pruned(graph, *inputs):
    """The pruned graph: checked, and run against the original."""
    return checked(prune(graph, Report()), graph, *inputs)


def checked(result, graph, *inputs):
    check(result)
    if inputs:
        assert_same(run(result, inputs), run(graph, inputs))
    return result


def names(graph):
    return [node.op.name for node in graph.nodes if node.op.name != "constant"]


def only(graph, name):
    (node,) = [node for node in graph.nodes if node.op.name == name]
    return node
