"""Derivatives and batching of tensors' work: tapes, vjp, jvp, vmap.

Importing the package gives the control-flow ops their rules.
"""

from graphify.transforms import control as _control
from graphify.transforms import loops as _loops
from graphify.transforms import lanes as _lanes

__all__: list[str] = []
