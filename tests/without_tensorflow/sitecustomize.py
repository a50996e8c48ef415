"""Hides TensorFlow from a Python that has this directory on PYTHONPATH, and from its children."""

import sys

sys.modules["tensorflow"] = None  # type: ignore[assignment]  # `import tensorflow` now fails
