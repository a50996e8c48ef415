"""Where llvmlite cannot be imported, the native engine says so, and the others work."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
HIDES = PROJECT / "tests" / "without_llvmlite"
START = """
import numpy as np
import graphify

def double(x):
    return x * 2

"""


def run(program: str, folder: Path, **variables: str) -> str:
    """What a program prints, and the error that ends it, where llvmlite is hidden."""
    script = folder / "program.py"
    script.write_text(START + program)
    paths = os.pathsep.join([str(HIDES), str(PROJECT)])
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def test_the_default_engine_names_what_is_missing(tmp_path: Path) -> None:
    output = run("graphify.function(double)(np.ones(3))", tmp_path, GRAPHIFY_ENGINE="native")
    assert "EngineMissing: the native engine needs llvmlite, which cannot be imported" in output
    assert "remedy: pip install llvmlite, or choose another engine" in output


def test_another_engine_works(tmp_path: Path) -> None:
    program = "print(graphify.function(double)(np.ones(3)).sum(), graphify.grad(np.sin)(0.0))"
    output = run(program, tmp_path, GRAPHIFY_ENGINE="reference")
    assert output.startswith("Tensor(6.")


def test_eager_code_needs_no_engine(tmp_path: Path) -> None:
    output = run("print(graphify.numpy.arange(3.0).sum() * 2)", tmp_path)
    assert output.startswith("Tensor(6.")
