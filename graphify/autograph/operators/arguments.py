"""The arguments of a call of a function of the user's, taken apart to be compared and replaced.

arguments = Arguments.of(run, (x, 3), {"by": 2.0})
arguments.leaves                       # [x, 3, 2.0]: defaults included
arguments.pass_to(run, [y, 3, 2.0])    # run(y, 3, by=2.0)
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.forms import is_tensor, same_thing
from graphify.autograph.operators.sharing import is_number
from graphify.autograph.operators.state import is_dynamic
from graphify.ir.bind import Tensor, as_tensor, resolve

MOST_LEAVES = 1000


@dataclass(slots=True, eq=False)
class Arguments:
    """The arguments of a call as leaves: arrays, numbers, and what is passed on as it is."""

    signature: inspect.Signature
    names: tuple[str, ...]
    leaves: list[Any]
    treedef: tree.TreeDef

    @classmethod
    def of(cls, run: Callable[..., Any], args: Any, kwargs: Any) -> Arguments:
        """Raises TypeError where the arguments do not fit."""
        signature = inspect.signature(run, follow_wrapped=False)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        rest = [
            bound.arguments[name]
            for name, parameter in signature.parameters.items()
            if parameter.kind is inspect.Parameter.VAR_KEYWORD
        ]
        steps = itertools.count()  # containers that hold each other twice have no end
        leaves, treedef = tree.flatten(
            values, is_leaf=lambda v: not _is_open(v, rest) or next(steps) > MOST_LEAVES
        )
        return cls(signature, tuple(bound.arguments), [local(v) for v in leaves], treedef)

    @property
    def leaf_names(self) -> list[str]:
        pairs = zip(self.names, self.treedef.children, strict=True)
        return [path for name, child in pairs for path in child.paths(name)]

    def pass_to(self, run: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        """Call with these leaves instead."""
        values = dict(zip(self.names, self.treedef.unflatten(leaves), strict=True))
        bound = inspect.BoundArguments(self.signature, values)
        return run(*bound.args, **bound.kwargs)

    def compare(self, other: Arguments) -> str:
        """Whether the two are the "same" as far as Python can tell; "varies" where only numbers,
        lengths or dtypes differ; else "differs"."""
        if self.treedef != other.treedef:
            return "differs"
        found = {_compare(a, b) for a, b in zip(self.leaves, other.leaves, strict=True)}
        return "differs" if "differs" in found else "varies" if "varies" in found else "same"


def _is_open(value: Any, rest: Sequence[Any]) -> bool:
    """Whether a container is nothing but its elements: lists and objects may change."""
    return isinstance(value, tuple) or any(value is r for r in rest)


def local(leaf: Any) -> Any:
    """A leaf as the current frame sees it."""
    return resolve(as_tensor(leaf)) if isinstance(leaf, (Tensor, np.ndarray)) else leaf


def _compare(a: Any, b: Any) -> str:
    if is_tensor(a) and is_tensor(b):
        return _compare_specs(a, b)
    if same_thing(a, b):
        return "same"
    return "varies" if is_dynamic(a) and is_dynamic(b) else "differs"


def _compare_specs(a: Tensor, b: Tensor) -> str:
    one, two = a.spec, b.spec
    if one.ndim != two.ndim:
        return "differs"
    known = [(d, e) for d, e in zip(one.shape, two.shape, strict=True) if type(d) is type(e) is int]
    same = (one.dtype, one.weak, is_number(a)) == (two.dtype, two.weak, is_number(b))
    return "same" if same and all(d == e for d, e in known) else "varies"
