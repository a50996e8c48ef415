"""The work of converting, tracing and optimising grows with a program as its size does.

Counted are lines of Python and nodes of graphs, the same on every machine: see scaling.py.
"""

import pytest

from tests.scaling import PROGRAMS, measure

SIZES = (4, 8, 16)
MOST = 2.3  # times as much for the second doubling as for the first; what is quadratic takes 4

STEEPER = {
    "deep_loops": "the size is not the depth",
    "deep_whiles": "a loop is traced to a fixed point in each turn of the one around it",
    "dicts_filled": "a dict is joined as a whole",
    "new_or_old": "too many arrays may be the one that is updated: refused",
    "views_of_views": "an update goes through all views below",
}


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - STEEPER.keys()))
def test_work_grows_with_the_program(name: str) -> None:
    small, middle, large = (measure(PROGRAMS[name](size)) for size in SIZES)
    for count in ("lines", "nodes", "kept"):
        first = getattr(middle, count) - getattr(small, count)
        second = getattr(large, count) - getattr(middle, count)
        assert second <= MOST * first + 20, f"{count}: {small}, {middle}, {large}"


@pytest.mark.parametrize("name", ["swaps", "deep_conditional_expressions", "returns", "elifs"])
def test_large_programs(name: str) -> None:
    """What once took exponential or quadratic time."""
    assert measure(PROGRAMS[name](60), counts=False).nodes > 100
