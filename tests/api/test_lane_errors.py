"""An error under vmap is the one that a loop over the lanes meets first, and names the lane."""

import warnings

import numpy as np
import pytest

import graphify

ENGINES = ("reference", "native", pytest.param("tensorflow", marks=pytest.mark.tensorflow))


def looked_up(a, i):
    return a[i] * 2


def updated(a, i):
    a = a.copy()
    a[i] += 1.0
    return a


def in_a_branch(a, i):
    if i > 1:
        return a[i]
    return a[0]


def in_a_loop(a, i):
    s = 0.0
    while i < 5:
        s += a[i]
        i += 1
    return s


def whole(a, i):
    return int(a[0] / 0.0) if i > 2 else int(a[1])


def divided(a, i):
    return a[0] + 7 // int(3 - i)


def solved(a, i):
    return np.linalg.inv(np.eye(2) * (i - 3))


def checked(a, i):
    graphify.debugging.assert_less(i, 3, message="small")
    return a * i


def asserted(a, i):
    assert i < 3, "large"
    return a[5 * (i == 0)]


def two_lines(a, i):
    first = a[i]
    return first + a[5 * (i == 2)]


def warned(a, i):
    if i == 1:
        warnings.warn("one", stacklevel=2)
    return a[i]


PROGRAMS = [
    *(looked_up, updated, in_a_branch, in_a_loop, whole, divided, solved),
    *(checked, asserted, two_lines, warned),
]


def first_failure(f, *columns):
    """The class and text of what a loop over the lanes meets first, and the lane."""
    for lane, row in enumerate(zip(*columns, strict=True)):
        try:
            f(*row)
        except Exception as error:
            return type(error), str(error).splitlines()[0], lane
    return None


def raised(f, *args):
    with pytest.raises(Exception) as caught:
        f(*args)
    notes = [n for n in getattr(caught.value, "__notes__", ()) if "of a vmap" in n]
    return type(caught.value), str(caught.value).splitlines()[0], notes


@pytest.mark.filterwarnings("ignore:one", "ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", PROGRAMS)
def test_an_error_is_that_of_the_first_lane_that_fails(f, engine):
    rng = np.random.default_rng(5)
    mapped = graphify.function(graphify.vmap(f), engine=engine)
    alone = graphify.function(f, engine=engine)
    failed = 0
    for turn in range(8):
        a, i = rng.normal(size=(6, 3)), rng.integers(-1, 5 if turn % 2 else 3, size=6)
        want = first_failure(alone, a, i)
        if want is None:
            mapped(a, i)
            continue
        failed += 1
        kind, text, lane = want
        assert raised(mapped, a, i) == (kind, text, [f"in lane {lane} of a vmap"])
    assert failed


def test_outside_a_trace_and_by_vectorized_map():
    rows, places = np.arange(12.0).reshape(4, 3), np.array([0, 2, -4, 3])
    want = (
        IndexError,
        "index -4 is out of bounds for axis 0 with size 3",
        ["in lane 2 of a vmap"],
    )
    assert raised(graphify.vmap(looked_up), rows, places) == want
    assert raised(graphify.vectorized_map, lambda p: looked_up(*p), (rows, places)) == want
    assert raised(graphify.vmap(looked_up, in_axes=(1, 0)), rows.T, places) == want


def test_the_lanes_of_a_vmap_in_a_vmap_and_of_values_made_on_the_way():
    rows, places = np.arange(12.0).reshape(4, 3), np.array([[0, 1], [2, 2], [1, 5], [7, 0]])

    @graphify.function
    def f(rows, places):
        shifted = np.sort(places - 1, axis=1) + 1
        each = graphify.vmap(looked_up, in_axes=(None, 0))
        return graphify.vmap(each)(np.sin(rows), shifted).sum()

    kind, text, notes = raised(f, rows, places)
    assert (kind, text) == (IndexError, "index 5 is out of bounds for axis 0 with size 3")
    assert notes == ["in lane 2, 1 of a vmap"]


def test_nothing_is_printed_twice_and_calls_that_went_well_before_do_not_matter(capsys):
    def shown(a, i):
        print("at", i)
        return a[i]

    f = graphify.function(graphify.vmap(shown))
    rows = np.zeros((3, 2))
    for _ in range(5):
        f(rows, np.array([0, 1, 1]))
    capsys.readouterr()
    for _ in range(2):
        assert raised(f, rows, np.array([0, 2, 3]))[2] == ["in lane 1 of a vmap"]
        assert capsys.readouterr().out == "lane 0: at 0\nlane 1: at 2\n"


def test_an_error_beside_the_vmap_names_no_lane():
    @graphify.function
    def f(rows, places, k):
        return graphify.vmap(looked_up)(rows, places).sum() + rows[0][k]

    rows = np.arange(12.0).reshape(4, 3)
    assert raised(f, rows, np.array([0, 1, 2, 0]), np.array(9))[2] == []
    assert raised(f, rows, np.array([0, 1, 7, 0]), np.array(2))[2] == ["in lane 2 of a vmap"]
