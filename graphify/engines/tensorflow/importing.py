"""TensorFlow, imported when something first needs it.

tf = tensorflow("the tensorflow engine")
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from graphify.errors import LoweringError


class TensorFlowMissing(LoweringError, ImportError):
    """TensorFlow is needed and cannot be imported."""


def tensorflow(purpose: str) -> Any:
    """The module `tensorflow`.

    Args:
        purpose: what needs it, for the message.

    Raises:
        TensorFlowMissing: it is not installed.
    """
    # NOTE: without this its start-up notes about drivers land on the user's terminal.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        return importlib.import_module("tensorflow")
    except ImportError as error:
        raise TensorFlowMissing(
            f"{purpose} needs TensorFlow, which cannot be imported here ({error})",
            remedy="pip install tensorflow",
        ) from error
