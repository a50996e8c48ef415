"""The documentation is true: its programs run, its outputs are real, its quotations are exact."""

import doctest
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
DOCS = PROJECT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("recipes/*.md"), PROJECT / "README.md"])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
MARK = "---next---"


def blocks(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page: language and text."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run(path: Path, *import_first: Path) -> str:
    """What a program prints, run in a Python of its own."""
    paths = os.pathsep.join(map(str, [*import_first, PROJECT]))
    result = subprocess.run(
        [sys.executable, str(path)],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


DRIVER = """
space = {{"__name__": "__main__"}}
for block in {blocks!r}:
    exec(compile(block, "example.py", "exec"), space)
    print({mark!r})
"""


@pytest.mark.parametrize(
    "page",
    [PROJECT / "README.md", DOCS / "nn.md", DOCS / "native.md", DOCS / "debugging.md"],
    ids=lambda p: p.name,
)
def test_the_page_prints_what_it_says(page, tmp_path):
    found = blocks(page)
    programs = [text for language, text in found if language == "python"]
    outputs = [text for language, text in found if language == "text"]
    assert len(programs) == len(outputs) > 0, "each program is followed by its output"
    # One file, so that errors and graphs name its lines; run block by block.
    (tmp_path / "example.py").write_text("".join(programs))
    starts = [0, *itertools.accumulate(text.count("\n") for text in programs)]
    padded = ["\n" * start + text for start, text in zip(starts, programs, strict=False)]
    (tmp_path / "driver.py").write_text(DRIVER.format(blocks=padded, mark=MARK))
    for want, got in zip(outputs, run(tmp_path / "driver.py").split(f"{MARK}\n"), strict=False):
        same = doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)
        assert same, f"{want}\n--- but ---\n{got}"


def test_the_tutorial_runs_without_tensorflow():
    run(DOCS / "tutorial.py", PROJECT / "tests" / "without_tensorflow")


@pytest.mark.tensorflow
def test_the_tutorial_runs():
    run(DOCS / "tutorial.py")


def test_the_tutorial_stays_short():
    assert len((DOCS / "tutorial.py").read_text(encoding="utf-8").splitlines()) <= 300


def test_the_tutorial_becomes_a_page():
    sys.path.insert(0, str(DOCS))
    try:
        from generate_tutorial import page
    finally:
        sys.path.remove(str(DOCS))
    made = page('"""Head.\n\nMore."""\n\nimport os\n\n# ## Part\n#\n# Text.\n\nx = 1\n')
    assert made == (
        "# Tutorial\n\nHead.\n\nMore.\n\n```python\nimport os\n```\n\n## Part\n\nText.\n\n"
        "```python\nx = 1\n```\n"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_quotations_are_exact(page):
    """A block that opens with the path of a file is found in that file."""
    for _, text in blocks(page):
        first, _, rest = text.partition("\n")
        if re.fullmatch(r"# graphify/[\w/]+\.py", first):
            assert rest in (PROJECT / first[2:]).read_text(encoding="utf-8"), first


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_links_lead_somewhere(page):
    made = {"tutorial.md", "ops.md"}  # by `make docs`
    links = LINK.findall(page.read_text(encoding="utf-8"))
    broken = [link for link in links if link not in made and not (page.parent / link).exists()]
    assert broken == []


RECIPE_OP = """
from typing import Any
import numpy as np
import graphify
from graphify.errors import ShapeError
from graphify.ir.op import Op, defop
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ops import core
from graphify.ops.shape import concatenate

{recipe}

@graphify.function
def f(x):
    return moving_sum(x, width=3)

def plain(x):
    return np.stack([x[..., i : x.shape[-1] - 2 + i] for i in range(3)]).sum(0)

for length in (4, 6, 3):
    x = np.arange(float(length)) ** 2
    assert np.array_equal(f(x), plain(x))
assert len(f.traces()) == 2
assert np.array_equal(graphify.grad(lambda x: f(x).sum())(np.ones(5)), [1, 2, 3, 2, 1])
rows = np.arange(10.0).reshape(2, 5)
assert np.array_equal(graphify.vmap(f)(rows), plain(rows))
try:
    f(np.array(1.0))
except ShapeError as error:
    assert "expected 3 or more elements" in str(error)
else:
    raise AssertionError("expected a ShapeError")
"""


def test_the_op_of_the_recipe_works(tmp_path):
    [recipe] = [t for _, t in blocks(DOCS / "recipes" / "add-an-op.md") if "defop(" in t]
    (tmp_path / "recipe.py").write_text(RECIPE_OP.format(recipe=recipe))
    run(tmp_path / "recipe.py")


RECIPE_LOWERING = """
import {op}
import {rule}
import numpy as np
import graphify

@graphify.function(engine="native")
def f(x):
    return {op}.moving_sum(x, width=3) / 3

with graphify.config(check=True):
    for length in (4, 6, 3):
        x = np.arange(float(length)) ** 2
        means = [x[i : i + 3].sum() / 3 for i in range(length - 2)]
        np.testing.assert_allclose(f(x), means, rtol=1e-15)
    assert np.array_equal(f(np.arange(12.0).reshape(2, 6).T[::2].T), [[2.0], [8.0]])
[concrete] = f.concrete_functions[1:2]
print(concrete.lower().text.partition("-> ")[2])
"""


def test_the_lowering_of_the_recipe_works(tmp_path):
    [op] = [t for _, t in blocks(DOCS / "recipes" / "add-an-op.md") if "defop(" in t]
    page = blocks(DOCS / "recipes" / "lower-an-op.md")
    [rule] = [text for _, text in page if '@rule("moving_sum")' in text]
    [shown] = [text for language, text in page if language == "text"]
    head, _, _ = RECIPE_OP.partition("{recipe}")
    (tmp_path / "op.py").write_text(head + op)
    (tmp_path / "rule.py").write_text(rule)
    (tmp_path / "use.py").write_text(RECIPE_LOWERING.format(op="op", rule="rule"))
    printed = run(tmp_path / "use.py")
    assert "host" not in printed and printed.count("vector for") == 1
    for line in shown.splitlines():
        assert line.strip() in printed, printed


RECIPE_PASS = """
import numpy as np
import graphify
from graphify.optimise import pipeline
from quiet import quiet

pipeline.PASSES.insert(-1, ("quiet", quiet))

@graphify.function
def f(x):
    if x.sum() > 0:
        print("positive", x)
    return x * 2

with graphify.config(check=True):
    assert np.array_equal(f(np.ones(2)), [2, 2])
assert "silenced" in str(f.concrete_functions[0].graph.report())
with graphify.config(passes="-quiet"):
    f(np.ones(2))
"""


def test_the_pass_of_the_recipe_works(tmp_path):
    [recipe] = [t for _, t in blocks(DOCS / "recipes" / "add-a-pass.md") if "def quiet" in t]
    (tmp_path / "quiet.py").write_text(recipe)
    (tmp_path / "use.py").write_text(RECIPE_PASS)
    assert run(tmp_path / "use.py") == "positive [1. 1.]\n"
