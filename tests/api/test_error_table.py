"""Bad programs, and what is said of each: class, line, caret, operands, remedy, the user's frames.

The programs are in bad_programs.py. The plain function raises the same class, unless the program is
refused.
"""

import linecache
import os
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from tests.api.bad_programs import BIG, CASES, V3, V4, Case


def load(source: str, folder: Any) -> tuple[str, dict[str, Any]]:
    path = os.path.join(folder, "model.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    linecache.checkcache(path)
    space: dict[str, Any] = {"__name__": "model"}
    exec(compile(source, path, "exec"), space)
    return path, space


def copied(args: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def raised(call: Callable[..., Any], args: tuple[Any, ...]) -> BaseException:
    with pytest.raises(BaseException) as caught, np.errstate(all="ignore"):
        call(*copied(args))
    return caught.value


def frames_in(error: BaseException, path: str) -> list[traceback.FrameSummary]:
    """The frames below this test's; each must be the program's."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if f.filename != __file__]
    assert all(f.filename == path for f in inside), [f.filename for f in inside]
    return inside


def quoted(case: Case) -> list[str]:
    """The lines with carets, as a message shows them."""
    first, start, last, end = case.span
    lines = case.text.splitlines()[first - 1 : last]
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    shown = []
    for number, line in enumerate(lines):
        left = start if number == 0 else len(line) - len(line.lstrip())
        right = end if number == len(lines) - 1 else len(line)
        shown += [line[indent:], " " * (left - indent) + "^" * (right - left)]
    return shown


def check(
    case: Case,
    function: Callable[..., Any],
    path: str,
    plain: Callable[..., Any],
    all_operands: bool = True,
) -> None:
    error = raised(function, case.args)
    assert isinstance(error, case.kind), repr(error)
    text = str(error)
    if case.plain:
        want = raised(plain, case.args)
        assert isinstance(want, case.kind), want
        if case.own:
            assert text == str(want) and type(error) is type(want)
    names = [f.name for f in frames_in(error, path) if f.name != "<listcomp>"]
    assert names == case.frames.split(), names
    if names:
        deepest = frames_in(error, path)[-1]
        assert deepest.lineno == case.span[0] and deepest.line, deepest
    if case.own:
        return
    lines = text.splitlines()
    assert f'    File "{path}", line {case.span[0]}, in ' in text, text
    at = next(i for i, line in enumerate(lines) if line.startswith("    File"))
    body = [line[6:] for line in lines[at + 1 :] if line.startswith("      ")]
    want_lines = quoted(case)
    assert body[: len(want_lines)] == want_lines, text
    operands = (body[len(want_lines) :] or [""])[0]
    if case.operands is not None and all_operands:
        assert operands == case.operands, text
    elif case.operands is not None:
        assert set(operands.split(", ")) - {""} <= set(case.operands.split(", ")), text
    remedies = [line for line in lines if line.startswith("remedy: ")]
    assert len(remedies) == 1 and lines[-1] == remedies[0], text


ids = [c.name for c in CASES]


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_native(case: Case, tmp_path: Any) -> None:
    path, space = load(case.text, tmp_path)
    function = graphify.function(space["f"], engine="native")
    for _ in range(3):  # later calls may be served by machine code
        check(case, function, path, space["f"])


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_reference(case: Case, tmp_path: Any) -> None:
    path, space = load(case.text, tmp_path)
    check(case, graphify.function(space["f"], engine="reference"), path, space["f"])


# Errors of the run: the others come before there is an engine.
RUNNING = [
    c for c in CASES if "run-time" in c.name or "when it runs" in c.name or " in a " in c.name
]
RUNNING += [c for c in CASES if c.name in ("fancy index", "division by zero", "singular matrix")]


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", RUNNING, ids=lambda c: c.name)
def test_tensorflow(case: Case, tmp_path: Any) -> None:
    path, space = load(case.text, tmp_path)
    # What fails there may be a step of the op, which takes some of the operands alone.
    function = graphify.function(space["f"], engine="tensorflow")
    check(case, function, path, space["f"], all_operands=False)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_full_traceback(case: Case, tmp_path: Any) -> None:
    """On request graphify's own frames stay, beside those of the user."""
    path, space = load(case.text, tmp_path)
    with graphify.config(full_traceback=True):
        error = raised(graphify.function(space["f"]), case.args)
    frames = traceback.extract_tb(error.__traceback__)
    assert any("/graphify/api/" in f.filename for f in frames)


def test_there_are_many() -> None:
    assert len({c.name for c in CASES}) == len(CASES) >= 90


# --- calls that machine code serves, transformations, several threads ---------------------------


def checked(x):
    if x.sum() > 5:
        raise ValueError(f"sum {x.sum()}")
    print(end="")
    return x


def outer(x):
    y = checked(x)
    return y * 2


def picked(x, i):
    y = x * 2.0
    return (y[i] * x).sum()


def joined(x, y):
    return (x * 2 + y).sum()


def shown_by(call: Callable[[], Any]) -> tuple[BaseException, list[str]]:
    """An error, and the functions in its traceback below the call; none of them graphify's."""
    with pytest.raises(Exception) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert not [f.filename for f in frames if "/graphify/" in f.filename]
    shown = "".join(traceback.format_exception(caught.value))
    assert "/graphify/" not in shown and "During handling" not in shown, shown
    return caught.value, [f.name for f in frames if f.name not in ("shown_by", "<lambda>")]


def test_after_calls_that_machine_code_served() -> None:
    f, g = graphify.function(outer), graphify.function(picked)
    for _ in range(5):
        f(np.ones(3))
        g(np.ones(3), np.array(1))
    error, names = shown_by(lambda: f(np.full(3, 9.0)))
    assert (str(error), names) == ("sum 27.0", ["outer", "checked"])
    error, names = shown_by(lambda: g(np.ones(3), np.array(9)))
    assert names == ["picked"] and "y: f64[3], i: i64[]" in str(error)


ROWS, PLACES, TWO = np.ones((2, 3)), np.array([1, 7]), np.ones((2, 4))
TRANSFORMED = {
    "grad": lambda: graphify.grad(joined)(V3, V4),
    "grad of a function": lambda: graphify.grad(graphify.function(joined))(V3, V4),
    "grad in a function": lambda: graphify.function(graphify.grad(joined))(V3, V4),
    "value_and_grad": lambda: graphify.value_and_grad(joined)(V3, V4),
    "jvp": lambda: graphify.jvp(joined, (V3, V4), (V3, V4)),
    "vjp": lambda: graphify.vjp(joined, V3, V4),
    "hessian": lambda: graphify.hessian(joined)(V3, V4),
    "jacobian": lambda: graphify.jacobian(joined)(V3, V4),
    "vmap": lambda: graphify.vmap(joined)(ROWS, TWO),
    "vmap of a function": lambda: graphify.vmap(graphify.function(joined))(ROWS, TWO),
    "vmap of grad": lambda: graphify.vmap(graphify.grad(joined))(ROWS, TWO),
}
RUN_TIME = {
    "grad": lambda: graphify.grad(graphify.function(picked))(V3, BIG),
    "grad in a function": lambda: graphify.function(graphify.grad(picked))(V3, BIG),
    "vmap": lambda: graphify.vmap(graphify.function(picked))(ROWS, PLACES),
    "vmap in a function": lambda: graphify.function(graphify.vmap(picked))(ROWS, PLACES),
    "vmap of grad": lambda: graphify.function(graphify.vmap(graphify.grad(picked)))(ROWS, PLACES),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_shapes_in_transformations(name: str) -> None:
    error, names = shown_by(TRANSFORMED[name])
    assert isinstance(error, ValueError) and names[-1] == "joined"
    assert "return (x * 2 + y).sum()\n" in str(error) and "\n              ^^^^^^^^^" in str(error)
    assert str(error).count("remedy: ") == 1 and "y: f64[4]" in str(error)


@pytest.mark.parametrize("name", RUN_TIME)
def test_indices_in_transformations(name: str) -> None:
    error, names = shown_by(RUN_TIME[name])
    assert isinstance(error, IndexError) and names[-1] == "picked"
    assert "      return (y[i] * x).sum()\n              ^^^^\n" in str(error)
    assert str(error).count("remedy: ") == 1


def test_an_error_passes_through_several_functions_once() -> None:
    inner = graphify.function(picked)
    error, names = shown_by(lambda: graphify.function(lambda x, i: inner(x, i) + 1)(V3, BIG))
    assert names[-1] == "picked" and str(error).count("in user code:") == 1


def test_causes_of_the_users_own_stay() -> None:
    def wraps(x: Any) -> Any:
        try:
            return x.no_such
        except AttributeError as error:
            raise ValueError("wrapped") from error

    error, names = shown_by(lambda: graphify.function(wraps)(V3))
    assert str(error) == "wrapped" and names == ["wraps"]
    assert isinstance(error.__cause__, AttributeError)


def test_equal_functions_of_two_files_keep_their_files(tmp_path: Any) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        path, space = load("def f(x):\n    return x[9]\n", tmp_path / folder)
        error = raised(graphify.function(space["f"]), (V3,))
        assert f'File "{path}"' in str(error)
