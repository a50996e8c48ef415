"""Derivatives and batching of tensors' work: tapes, vjp, jvp, vmap.

Importing the package gives the control-flow ops their rules.
"""

from graphify.transforms import control, lanes, loop_tangents, loops

__all__ = ["control", "lanes", "loop_tangents", "loops"]
