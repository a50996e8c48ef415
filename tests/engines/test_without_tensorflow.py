"""Where TensorFlow cannot be imported, graphify works and what needs it says what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
HIDES = PROJECT / "tests" / "without_tensorflow"
START = """
import tempfile
import numpy as np
import graphify

def double(x):
    return x * 2

one = graphify.function(double).get_concrete_function(np.ones(3))
"""


def run(program: str, folder: Path) -> str:
    """What a program prints, and the error that ends it, where TensorFlow is hidden."""
    script = folder / "program.py"
    script.write_text(START + program)
    paths = os.pathsep.join([str(HIDES), str(PROJECT)])
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def test_functions_run(tmp_path: Path) -> None:
    output = run("print(graphify.function(double)(np.ones(3)).sum())", tmp_path)
    assert output.startswith("Tensor(6.")


@pytest.mark.parametrize(
    "program, needs",
    [
        (
            'graphify.function(double, engine="tensorflow")(np.ones(3))',
            "the tensorflow engine",
        ),
        (
            'with graphify.config(engine="tensorflow"): graphify.function(double)(np.ones(3))',
            "the tensorflow engine",
        ),
        ("one.graph.as_graph_def()", "the tensorflow engine"),
        ("graphify.saved_model.save(one, tempfile.mkdtemp())", "graphify.saved_model.save"),
        ("graphify.saved_model.load(tempfile.mkdtemp())", "graphify.saved_model.load"),
    ],
)
def test_what_is_missing_is_named(program: str, needs: str, tmp_path: Path) -> None:
    output = run(program, tmp_path)
    assert "TensorFlowMissing" in output
    assert f"{needs} needs TensorFlow, which cannot be imported here" in output
    assert output.rstrip().endswith("remedy: pip install tensorflow")
