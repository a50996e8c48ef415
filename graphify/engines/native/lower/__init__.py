"""Graph -> loop-level program: `lower`, and one rule for each op it knows.

The ops without a rule are run by their reference meaning from inside the compiled code.
"""

from graphify.engines.native.lower import (  # noqa: F401  (each registers its rules)
    checks,
    control,
    convolution,
    counted,
    draws,
    effects,
    elementwise,
    failing,
    host,
    indexing,
    least_squares,
    library,
    products,
    random,
    recursion,
    reductions,
    solving,
    sorting,
    spectral,
    views,
    windows,
)
from graphify.engines.native.lower.lowering import RULES, Lowering
from graphify.engines.native.lower.whole import lower

__all__ = ["RULES", "Lowering", "lower"]
