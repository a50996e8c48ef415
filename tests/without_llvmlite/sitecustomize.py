"""Hides llvmlite from a Python that has this directory on PYTHONPATH, and from its children."""

import sys

sys.modules["llvmlite"] = None  # type: ignore[assignment]  # `import llvmlite` now fails
