"""The loops of whole functions, as text: what `concrete.lower()` shows, line for line."""

import re

import pytest

import graphify
from graphify.config import config
from graphify.engines.native.engine import loops
from graphify.engines.native.loops import pretty
from tests.engines.native.written import EXAMPLES


def relative_lines(function, text):
    """The text of loops, with the user's lines counted from the `def`."""
    first = function.__code__.co_firstlineno

    def shift(match):
        return f"{match[1]}{int(match[2]) - first}"

    text = re.sub(r"^(# written\.py:)(\d+)", shift, text, flags=re.MULTILINE)
    return re.sub(r"(  # )(\d+)$", shift, text, flags=re.MULTILINE)


@pytest.mark.parametrize("function, specs", EXAMPLES, ids=[f.__name__ for f, _ in EXAMPLES])
def test_loops(function, specs, golden):
    given = [graphify.TensorSpec(shape, dtype) for shape, dtype in specs]
    graph = graphify.function(function).get_concrete_function(*given).graph
    with config(check=True):
        golden(
            f"loops/{function.__name__}.txt", relative_lines(function, pretty.text(loops(graph)))
        )
