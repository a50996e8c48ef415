"""Derivatives and batching of tensors' work: tapes, vjp, jvp, vmap.

Importing the package gives the control-flow ops their rules.
"""

from graphify.transforms import control, functions, lanes, loop_tangents, loops

__all__ = ["control", "functions", "lanes", "loop_tangents", "loops"]
