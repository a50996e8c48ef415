"""Random programs do the same in NumPy, as eager tensors, and staged on every engine.

`make fuzz` runs 2,000 of them; `python -m tests.fuzz 500 --shrink` makes failing ones small. The
environment variable FUZZ_TENSORFLOW=5 says that every fifth program runs on TensorFlow, too; 0
leaves it out.
"""

import os

import pytest

from tests.conftest import tensorflow_can_be_imported
from tests.fuzz.aliasing import aliasing_program
from tests.fuzz.generator import random_program
from tests.fuzz.iterating import iterating_program
from tests.fuzz.regressions import SOURCES, regression
from tests.fuzz.rows import rows_program
from tests.fuzz.running import compare
from tests.fuzz.tables import tables_program

EVERY = int(os.environ.get("FUZZ_TENSORFLOW", "5"))


def engines_for(seed: int) -> list[str]:
    with_tensorflow = EVERY and seed % EVERY == 0 and tensorflow_can_be_imported()
    return ["reference", "native", "tensorflow"] if with_tensorflow else ["reference", "native"]


def test_random_program(program_seed: int) -> None:
    verdict = compare(random_program(program_seed), engines_for(program_seed))
    assert verdict.difference is None, str(verdict.difference)


@pytest.mark.parametrize("seed", range(6))
def test_program_of_many_names(seed: int) -> None:
    verdict = compare(aliasing_program(seed), engines_for(seed))
    assert verdict.difference is None, str(verdict.difference)


# The sixth takes as long as all the other tests of this file.
@pytest.mark.parametrize("seed", [*range(5), pytest.param(5, marks=pytest.mark.slow)])
def test_program_of_iterators(seed: int) -> None:
    verdict = compare(iterating_program(seed), engines_for(seed))
    assert verdict.difference is None, str(verdict.difference)


@pytest.mark.parametrize("seed", range(8))
def test_program_of_rows(seed: int) -> None:
    verdict = compare(rows_program(seed), engines_for(seed))
    assert verdict.difference is None, str(verdict.difference)


@pytest.mark.parametrize("seed", range(8))
def test_program_of_tables(seed: int) -> None:
    verdict = compare(tables_program(seed), engines_for(seed))
    assert verdict.difference is None, str(verdict.difference)


@pytest.mark.parametrize(("number", "name"), list(enumerate(SOURCES)))
def test_regression(number: int, name: str) -> None:
    verdict = compare(regression(name), engines_for(number))
    assert verdict.difference is None, str(verdict.difference)
    assert verdict.refused is None, verdict.refused


def test_programs_are_the_same_each_time() -> None:
    assert random_program(7).source == random_program(7).source


def test_few_programs_are_refused() -> None:
    verdicts = [
        compare(random_program(seed), ["reference"], (0,)) for seed in range(10_000, 10_100)
    ]
    assert sum(verdict.refused is not None for verdict in verdicts) <= 3
