"""Runs the acceptance tests that acceptance.txt names, where their directory is there."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
ACCEPTANCE = PROJECT.parent / "shared" / "acceptance"


def listed() -> list[str]:
    """The node names of acceptance.txt, in order."""
    lines = (PROJECT / "tests" / "acceptance.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def test_no_name_is_listed_twice():
    names = listed()
    assert len(names) == len(set(names))


@pytest.mark.tensorflow
def test_listed_acceptance_tests_pass():
    if not ACCEPTANCE.is_dir():
        pytest.skip("the acceptance tests are not beside this checkout (../shared/acceptance)")
    names = listed()
    if not names:
        pytest.skip("tests/acceptance.txt names no test yet")
    # A process of its own: these tests bring their own settings, not those of this suite.
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        + [f"{ACCEPTANCE}/{name}" for name in names],
        cwd=PROJECT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
