"""The arguments of a call of a function of the user's, taken apart to be compared and replaced.

arguments = Arguments.of(run, (x, 3), {"by": 2.0})
arguments.leaves                       # [x, 3, 2.0]: defaults included
arguments.pass_to(run, [y, 3, 2.0])    # run(y, 3, by=2.0)
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.forms import is_tensor, same_thing
from graphify.autograph.operators.sharing import is_number
from graphify.autograph.operators.state import Unstageable, is_dynamic
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.tracing.lists import List

MOST_LEAVES = 1000


@dataclass(slots=True, eq=False)
class Arguments:
    """The arguments of a call as leaves: arrays, numbers, and what is passed on as it is."""

    signature: inspect.Signature
    names: tuple[str, ...]
    leaves: list[Any]
    treedef: tree.TreeDef
    opened: bool  # lists and dicts are taken apart, too

    @classmethod
    def of(cls, run: Callable[..., Any], args: Any, kwargs: Any, opened: bool = False) -> Arguments:
        """Raises TypeError where the arguments do not fit."""
        signature = inspect.signature(run, follow_wrapped=False)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        leaves, treedef = _flat(signature, bound.arguments, opened)
        names = tuple(bound.arguments)
        return cls(signature, names, [local(v) for v in leaves], treedef, opened)

    @property
    def leaf_names(self) -> list[str]:
        pairs = zip(self.names, self.treedef.children, strict=True)
        return [path for name, child in pairs for path in child.paths(name)]

    def pass_to(self, run: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        """Call with these leaves instead.

        Raises:
            Unstageable: a list or dict that was made anew of its elements is not only read.
        """
        values = dict(zip(self.names, self.treedef.unflatten(leaves), strict=True))
        bound = inspect.BoundArguments(self.signature, dict(values))
        containers = set(_containers(list(values.values()))) if self.opened else set()
        outcome = run(*bound.args, **bound.kwargs)
        if containers and not self._only_read(values, leaves, containers, outcome):
            raise Unstageable(
                "a list or dict that is made anew for each call of a recursive function is "
                "changed, or given back, by the function",
                location=here(),
                remedy="pass a tuple, or the same list in every call",
            )
        return outcome

    def _only_read(
        self, values: dict[str, Any], leaves: Sequence[Any], containers: set[int], outcome: Any
    ) -> bool:
        now, treedef = _flat(self.signature, values, True)
        same = treedef == self.treedef and all(a is b for a, b in zip(now, leaves, strict=True))
        return same and containers.isdisjoint(_containers(outcome))

    def compare(self, other: Arguments) -> str:
        """Whether the two are the "same" as far as Python can tell; "varies" where only numbers,
        lengths or dtypes differ; else "differs"."""
        if self.treedef != other.treedef:
            return "differs"
        found = {_compare(a, b) for a, b in zip(self.leaves, other.leaves, strict=True)}
        return "differs" if "differs" in found else "varies" if "varies" in found else "same"


def _flat(
    signature: inspect.Signature, values: Mapping[str, Any], opened: bool
) -> tuple[list[Any], tree.TreeDef]:
    """The leaves of arguments by name, and the shape of the tuple of them."""
    kinds = [(name, parameter.kind) for name, parameter in signature.parameters.items()]
    rest = [values[name] for name, kind in kinds if kind is inspect.Parameter.VAR_KEYWORD]
    steps = itertools.count()  # containers that hold each other twice have no end

    def is_leaf(value: Any) -> bool:
        is_open = _is_fixed(value) or opened and type(value) in (list, List, dict)
        return not (is_open or any(value is r for r in rest)) or next(steps) > MOST_LEAVES

    return tree.flatten(tuple(values.values()), is_leaf)


def _is_fixed(value: Any) -> bool:
    """Whether a container is nothing but its elements: lists and objects may change."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return isinstance(value, tuple) or parameters is not None and bool(parameters.frozen)


def _containers(value: Any) -> Iterator[int]:
    """The lists and dicts in a value, by identity."""
    if isinstance(value, (list, dict)):
        yield id(value)
    if isinstance(value, (list, tuple)):
        yield from (found for item in value for found in _containers(item))
    elif isinstance(value, dict):
        yield from (found for item in value.values() for found in _containers(item))


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
