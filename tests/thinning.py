"""What `make test` takes of a long row of cases: the others are marked slow, for `make test-all`.

@pytest.mark.parametrize("function", one_of_three(SAMPLES), ids=lambda f: f.__name__)
"""

from collections.abc import Iterable
from typing import Any

import pytest


def one_of_three(cases: Iterable[Any], first: int = 0) -> list[Any]:
    """All cases, of which two out of three are slow; `first` is one that is not."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] if (number - first) % 3 else [])
        for number, case in enumerate(cases)
    ]
