"""The converted source of small functions, as text: what `to_code` shows, line for line."""

import pytest

from graphify.autograph import to_code
from tests.autograph.examples import EXAMPLES


def relative_lines(function):
    """The converted source, with lines counted from the `def`."""
    first = function.__code__.co_firstlineno
    lines = []
    for line in to_code(function).splitlines():
        text, mark, number = line.partition("  # line ")
        lines.append(f"{text}{mark}{int(number) - first + 1}" if mark else text)
    return "\n".join(lines)


@pytest.mark.parametrize("function", [e[0] for e in EXAMPLES], ids=lambda f: f.__name__)
def test_converted_source(function, golden):
    golden(f"converted/{function.__name__}.txt", relative_lines(function))


def test_a_short_function_stays_short():
    from tests.autograph.examples import simple_relu

    assert len(to_code(simple_relu).splitlines()) <= 4
