"""What `make bench` says is what was measured: ratios, goals, and the page they are shown on.

That the rows themselves run, `make bench-quick` shows.
"""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "bench"))

import report
from harness.contenders import Call, Contender
from harness.measure import QUICK, measure
from harness.record import Goal, Result, Row, Samples, duration


def result(ours, goal=Goal(0.7), group="loops", name="some row", **peers):
    contenders = {"graphify": Samples(ours), **{k: Samples(v) for k, v in peers.items()}}
    asked = {"ratio": goal.ratio, "seconds": goal.seconds}
    asked |= {"numpy": goal.numpy, "against": goal.against}
    return Result(group, name, asked, contenders)


def test_the_ratio_is_that_of_the_least_times_to_the_best_peer():
    measured = result((3e-6, 9e-6), Numba=(4e-6, 4e-6), jax=(8e-6, 1e-6))
    assert measured.best_peer() == "jax"
    assert measured.ratio() == pytest.approx(3.0)
    assert measured.ratio("median") == pytest.approx(6 / 4.5)
    assert measured.reached() is False


@pytest.mark.parametrize(
    ("goal", "reached"),
    [
        (Goal(0.7), True),
        (Goal(0.4), False),
        (Goal(0.7, seconds=2.5e-6), True),
        (Goal(0.7, seconds=1.5e-6), False),
        (Goal(0.7, numpy=0.5), True),
        (Goal(0.7, numpy=0.1), False),
        (Goal(0.3, against="NumPy"), True),
    ],
)
def test_every_part_of_a_goal_counts(goal, reached):
    measured = result((2e-6,), goal, Numba=(4e-6,), NumPy=(8e-6,))
    assert measured.reached() is reached


def test_a_row_that_fails_is_not_reached_and_one_without_peers_is_not_judged():
    failed = Result("loops", "x", vars_of(Goal()), {"graphify": Samples(error="KeyError: 'x'")})
    assert failed.reached() is False
    assert result((1e-6,)).reached() is None


def vars_of(goal):
    return {"ratio": goal.ratio, "seconds": None, "numpy": None, "against": None}


def test_results_survive_the_file_and_later_files_replace_rows(tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    rows = [result((2e-6,), Numba=(4e-6,)), result((1e-3,), name="another", Numba=(2e-3,))]
    again = result((1e-6,), Numba=(4e-6,))
    for path, results in ((first, rows), (second, [again])):
        data = {"machine": {"Day": path.stem}, "results": [r.to_json() for r in results]}
        path.write_text(json.dumps(data))
    machine, found = report.load([first, second])
    assert machine == {"Day": "second"}
    assert [each.ratio() for each in found] == [0.25, 0.5]


def test_the_page_names_losses_and_errors():
    lost = result((2e-6,), Numba=(1e-6,))
    failed = result((1e-6,), name="other", Numba=(2e-6,))
    failed.contenders["jax.jit"] = Samples(error="ValueError: no such thing")
    page = report.page({"Day": "today"}, [lost, failed], None)
    assert "| some row | 2.00 (2.00) | 0.7 | **no** | 2 us / 2 us | *1 us / 1 us* |  |" in page
    assert "| other | 0.50 (0.50) | 0.7 | yes | 1 us / 1 us | *2 us / 2 us* | ValueError |" in page
    assert "- other, jax.jit: `ValueError: no such thing`" in page
    assert "| loops | 1 of 2 | 1 of 2 | 1.00 | 2.00 |" in page


def test_only_right_results_are_timed():
    def contender(name, function):
        return Contender(name, "graphify", "graphify", lambda _, args: Call(function, args))

    def fail(x):
        raise ValueError("never\nmind")

    row = Row("loops", "double", lambda x: x * 2, lambda rng, n: (rng.random(n),), 9, 3)
    found = measure(
        row,
        [
            contender("right", lambda x: x + x),
            contender("wrong", lambda x: x + x + 1),
            contender("shape", lambda x: x[:-1]),
            contender("fails", fail),
        ],
        QUICK,
    ).contenders
    assert found["right"].values and not found["right"].error
    assert found["wrong"].error == "another result than NumPy's"
    assert found["shape"].error == "shape (2,) instead of (3,)"
    assert found["fails"].error == "ValueError: never"


def test_times_are_readable():
    assert [duration(s) for s in (2.5, 1.5e-3, 12.34e-6, 5e-9)] == [
        "2.5 s",
        "1.5 ms",
        "12.3 us",
        "5 ns",
    ]
