"""The names that examples in docstrings may use without importing them: np, gnp, graphify."""

from typing import Any

import numpy as np
import pytest

import graphify


@pytest.fixture(autouse=True)
def names_of_examples(doctest_namespace: dict[str, Any]) -> None:
    """What a reader of a docstring takes for granted."""
    doctest_namespace.update(np=np, gnp=graphify.numpy, graphify=graphify)
