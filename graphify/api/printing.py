"""`graphify.print`: prints when the graph runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphify.autograph.operators.builtins import staged_print
from graphify.ir.wrapping import as_tensor


def print(*values: Any, sep: str = " ", end: str = "\n", output_stream: str = "stdout") -> None:
    """Print values each time the graph gets here, in program order.

    Unlike Python's own `print` at the top level of a function, it prints at each run, also when
    nothing of what it prints depends on the run.

    Args:
        values: tensors, arrays and anything with a `str`.
        output_stream: "stdout" or "stderr": Python's sys.stdout or sys.stderr.

    Raises:
        ValueError: another output_stream.

    Example:
        >>> print("x is", 3)
        x is 3
    """
    if output_stream not in ("stdout", "stderr"):
        raise ValueError(
            f"print: output_stream: expected 'stdout' or 'stderr', got {output_stream!r}"
        )
    converted = [as_tensor(v) if isinstance(v, np.ndarray) else v for v in values]
    staged_print(converted, sep, end, output_stream)
