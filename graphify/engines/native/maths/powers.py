"""Powers and roots."""

from __future__ import annotations

from graphify.engines.native.maths.formula import X, rule


@rule("sqrt")
def sqrt(x: X) -> X:
    return x.sqrt()
