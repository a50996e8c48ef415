"""The law of loop-level programs."""

from graphify.engines.native.loops.program import Program


def check(program: Program) -> None:
    """To be written."""
