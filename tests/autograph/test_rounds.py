"""How often the body of a loop is traced: until its state has one form, whatever its depth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.autograph.operators.carry import Carry

Plain = Callable[..., Any]


def defined(lines: list[str], **names: Any) -> tuple[Plain, Plain]:
    """A function with these lines as its body, in plain Python and staged."""
    source = "def f(x, n):\n" + "".join(f"    {line}\n" for line in lines)
    space: dict[str, Any] = {"np": np, **names}
    exec(source, space)
    return space["f"], graphify.function(space["f"], source=source)


def nest(depth: int, change: str) -> list[str]:
    loops = [f"{'    ' * d}for i{d} in range(n):" for d in range(depth)]
    return [*loops, f"{'    ' * depth}{change}"]


@dataclass
class Sum:
    total: float = 0.0


CHANGES = {  # what comes before, the innermost statement, the last line; rounds for six loops
    "an array": (["s = np.zeros(2)"], "s[i0 % 2] += x[i1] * 0.5", "return s", 30),
    "an argument": ([], "x[i1] += 0.25 * i0", "return x", 30),
    "an attribute": (["s = Sum()"], "s.total += x[i1] * i0", "return s.total", 90),
    "a list": (["s = []"], "s.append(x[i1] * i0)", "return sum(s), len(s)", 150),
    "a cell": (["s = [0.0]"], "s[0] += x[i1] * i0", "return s[0]", 90),
}


@pytest.mark.parametrize("name", CHANGES)
def test_deep_nests_are_not_traced_over_and_over(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = 0
    parameters = Carry.parameters

    def counted(*args: Any) -> Any:
        nonlocal rounds
        rounds += 1
        return parameters(*args)

    monkeypatch.setattr(Carry, "parameters", counted)
    first, change, last, most = CHANGES[name]
    for depth in (2, 4, 6):
        plain, staged = defined([*first, *nest(depth, change), last], Sum=Sum)
        rounds, x = 0, np.arange(3.0)
        found = staged(x.copy(), np.int64(2))
        np.testing.assert_allclose(found, plain(x.copy(), 2))
    assert rounds < most


def test_a_loop_in_a_branch_of_a_turn_is_told_from_its_twin() -> None:
    """Loops in a body are told by their order: which there are may differ, trace by trace."""

    @graphify.function
    def f(x: Any, n: int) -> Any:
        rows, total, last = [np.zeros(2), np.zeros(2)], 0.0, None
        for i in range(n):
            for row in rows:
                if last is None:
                    for j in range(n):
                        row[0] += x[j]
                else:
                    for j in range(n):
                        row[1] += last * x[j]
            last = x[i]
            total += rows[i % 2][1]
        return rows, total, last

    x = np.arange(1.0, 5.0)
    found, wanted = f(x, np.int64(4)), f.python_function(x, 4)
    np.testing.assert_array_equal(np.stack(found[0]), np.stack(wanted[0]))
    np.testing.assert_array_equal(found[1:], wanted[1:])


def test_many_names_that_a_loop_binds() -> None:
    names = [f"v{k}" for k in range(20)]
    body = [f"    {name} = i * {k}.5" for k, name in enumerate(names)]
    lines = ["i = 0", "while i < n:", *body, "    i += 1", f"return {', '.join(names)}"]
    plain, staged = defined(lines)
    np.testing.assert_array_equal(staged(0, np.int64(3)), plain(0, 3))
    with pytest.raises(UnboundLocalError, match="v0"):
        staged(0, np.int64(0))


def test_kinds_that_pass_from_name_to_name() -> None:
    names = [f"v{k}" for k in range(18)]
    start = [f"{', '.join(names)} = {', '.join('0' * len(names))}"]
    shift = f"    {', '.join(names)} = {', '.join(names[1:])}, v17 + x[i % 3]"
    plain, staged = defined([*start, "for i in range(n):", shift, f"return {', '.join(names)}"])
    x = np.arange(3.0) + 0.5
    for n in (0, 1, 5, 40):
        np.testing.assert_array_equal(staged(x, np.int64(n)), plain(x, n))
