"""numpy.testing in a trace: the assertions are NumPy's own, made when the run gets there.

np.testing.assert_allclose(y, x * 2, rtol=1e-6)      # AssertionError of the run, NumPy's text
"""

from __future__ import annotations

from typing import Any

from graphify import tree
from graphify.autograph.operators import texts
from graphify.autograph.operators.conditions import is_staged
from graphify.ir.tensor import resolve
from graphify.ops import effects

ASSERTIONS = frozenset(
    """
    assert_ assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal
    assert_array_almost_equal_nulp assert_array_equal assert_array_less assert_equal
""".split()
)


def is_left_to_the_run(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call is an assertion of NumPy's about values that only the run has."""
    module = getattr(function, "__module__", None) or ""
    known = module.startswith("numpy.testing") and function.__name__ in ASSERTIONS
    return known and any(map(is_staged, tree.leaves((args, kwargs))))


def record(function: Any, args: Any, kwargs: Any) -> None:
    """Record the call."""
    leaves, treedef = tree.flatten((args, kwargs))
    values = [resolve(leaf) for leaf in leaves if is_staged(leaf)]
    parts = [
        effects.Gap("", False, texts.kind_of(leaf)) if is_staged(leaf) else leaf for leaf in leaves
    ]
    arguments = effects.Nested(treedef, tuple(parts))
    effects.numpy_assert(*values, function=function.__name__, arguments=arguments)
