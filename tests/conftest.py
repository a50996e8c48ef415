"""What every test gets: options, golden files, seeds, hypothesis profiles, skips with reasons.

The commands that this file adds or serves:

    pytest --update-golden          rewrite tests/golden/ from what the code prints now
    pytest --programs 2000          so many random programs, for tests that take `program_seed`
    pytest --hypothesis-profile ci  dev (default), ci, or long
    PYTHONPATH=tests/without_tensorflow pytest    as if TensorFlow were not installed
"""

import difflib
import importlib.util
import os
import random
from collections.abc import Callable
from pathlib import Path

import hypothesis
import numpy as np
import pytest

GOLDEN = Path(__file__).parent / "golden"
SEED = 20240229

# Seen before anything imports TensorFlow: its C++ start-up messages would land in captured output.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

for name, examples, derandomize in [("dev", 50, True), ("ci", 200, True), ("long", 5000, False)]:
    hypothesis.settings.register_profile(
        name,
        max_examples=examples,
        derandomize=derandomize,
        deadline=None,  # the first example traces and compiles
        suppress_health_check=[
            hypothesis.HealthCheck.too_slow,
            # Ours only sets seeds, which need not happen again before each example.
            hypothesis.HealthCheck.function_scoped_fixture,
        ],
    )
hypothesis.settings.load_profile("dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("graphify")
    group.addoption("--update-golden", action="store_true", help="rewrite tests/golden/")
    group.addoption("--programs", type=int, default=40, help="how many random programs to try")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program_seed" in metafunc.fixturenames:
        seeds = range(metafunc.config.getoption("--programs"))
        metafunc.parametrize(
            "program_seed", [pytest.param(seed, marks=pytest.mark.fuzz) for seed in seeds]
        )


def tensorflow_can_be_imported() -> bool:
    """Whether TensorFlow is there to import; asked without the seconds that importing it takes."""
    try:
        return importlib.util.find_spec("tensorflow") is not None
    except (ImportError, ValueError):
        return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if tensorflow_can_be_imported():
        return
    skip = pytest.mark.skip(reason="TensorFlow cannot be imported here")
    for item in items:
        if item.get_closest_marker("tensorflow"):
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def fixed_seeds() -> None:
    """The same random numbers in every run, whatever ran before in this process."""
    random.seed(SEED)
    np.random.seed(SEED)


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator of its own for a test that wants random input."""
    return np.random.default_rng(SEED)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares text with a file: `golden("graphs/relu.txt", str(graph))`.

    With --update-golden the file is written instead. Trailing blank lines do not count.
    """
    update = request.config.getoption("--update-golden")

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        text = text.rstrip("\n") + "\n"
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"no golden file {name}; write it with --update-golden", pytrace=False)
        want = path.read_text(encoding="utf-8")
        if text != want:
            lines = (want.splitlines(), text.splitlines())
            diff = "\n".join(difflib.unified_diff(*lines, name, "now", lineterm=""))
            pytest.fail(f"not as in the golden file:\n{diff}", pytrace=False)

    return compare
