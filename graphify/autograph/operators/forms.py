"""What is known of the values that a recursive function takes, gives and changes.

    form = Form.of(("n", "acc"), (n, 0), treedef)     # n is carried, 0 stays the Python number 0
    form.accept((n, 1))                               # True: now `acc` is carried, too
    form.tensors((n, 1))                              # what is carried, in the form's dtypes

A form is widened by every call until it covers all of them: numbers that vary are carried, dtypes
join, axes whose length varies get a size of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.sharing import is_number
from graphify.autograph.operators.state import (
    NUMBERS,
    Unstageable,
    carried_spec,
    fit,
    is_dynamic,
    join_spec,
)
from graphify.ir.sizes import Dim, Size, SizeVar, fresh
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.location import here


@dataclass(slots=True, eq=False)
class Form:
    """Values in a tree: of each leaf the spec, or the very thing if it is always the same."""

    names: list[str]
    treedef: tree.TreeDef
    things: list[Any]  # leaves that are not carried
    specs: list[Spec | None]  # of those that are
    numbers: list[bool]  # and whether they are numbers, not arrays
    wild: set[SizeVar] = field(default_factory=set)  # lengths that vary from call to call

    @classmethod
    def of(cls, names: Sequence[str], leaves: Sequence[Any], treedef: tree.TreeDef) -> Form:
        specs = [carried_spec(leaf) if is_tensor(leaf) else None for leaf in leaves]
        things = [None if spec else leaf for leaf, spec in zip(leaves, specs, strict=True)]
        numbers = [spec is not None and is_number(x) for x, spec in zip(leaves, specs, strict=True)]
        return cls(list(names), treedef, things, specs, numbers)

    def with_own_sizes(self) -> Form:
        """The form of parameters: a length such as n - 1 gets a name, for who knows n inside."""
        named: dict[Dim, Size] = {}
        for i, spec in enumerate(self.specs):
            if spec is not None:
                shape = tuple(self._own(dim, named) for dim in spec.shape)
                self.specs[i] = Spec(shape, spec.dtype, spec.weak)
        return self

    def _own(self, dim: Dim, named: dict[Dim, Size]) -> Dim:
        if isinstance(dim, int) or dim.as_variable() is not None:
            return dim
        if dim not in named:
            named[dim] = fresh("w")
            self.wild.update(named[dim].variables())
        return named[dim]

    def accept(self, leaves: Sequence[Any]) -> bool:
        """Cover these leaves, too; True if the form had to change.

        Raises:
            Unstageable: they have nothing in common.
        """
        lengths: dict[SizeVar, Dim] = {}
        widened: dict[tuple[Dim, Dim], Size] = {}
        before = list(self.specs)
        for i, leaf in enumerate(leaves):
            self._accept(i, leaf, lengths, widened)
        return before != self.specs

    def _accept(
        self,
        i: int,
        leaf: Any,
        lengths: dict[SizeVar, Dim],
        widened: dict[tuple[Dim, Dim], Size],
    ) -> None:
        spec = self.specs[i]
        if spec is None:
            if same_thing(self.things[i], leaf):
                return
            if not (is_dynamic(self.things[i]) and is_dynamic(leaf)):
                raise self._varies(i, leaf)
            spec, self.numbers[i] = carried_spec(self.things[i]), is_number(self.things[i])
            self.things[i] = None
        elif not is_dynamic(leaf):
            raise self._varies(i, leaf)
        new = carried_spec(leaf)
        joined = join_spec(self.names[i], spec, new, fresh_dims=False)
        pairs = zip(spec.shape, new.shape, strict=True)
        shape = tuple(self._dim(old, dim, lengths, widened) for old, dim in pairs)
        self.specs[i] = Spec(shape, joined.dtype, joined.weak)
        self.numbers[i] = self.numbers[i] and is_number(leaf)

    def _dim(
        self,
        old: Dim,
        new: Dim,
        lengths: dict[SizeVar, Dim],
        widened: dict[tuple[Dim, Dim], Size],
    ) -> Dim:
        variable = old.as_variable() if isinstance(old, Size) else None
        if variable in self.wild and variable is not None:
            if lengths.setdefault(variable, new) == new:
                return old
        elif old == new:
            return old
        if (old, new) not in widened:  # axes that were equal, and are so again, stay equal
            size = widened[old, new] = fresh("w")
            self.wild.update(size.variables())
        return widened[old, new]

    def _varies(self, i: int, leaf: Any) -> Unstageable:
        shown = [_describe(x) for x in (self.specs[i] or self.things[i], leaf)]
        return Unstageable(
            f"'{self.names[i]}' of a recursive function is {shown[0]} in one call and {shown[1]} "
            "in another",
            location=here(),
            remedy=f"give '{self.names[i]}' the same kind of value in every call",
        )

    def carried(self, leaves: Sequence[Any]) -> Iterator[Any]:
        """The leaves that are carried."""
        return (leaf for leaf, s in zip(leaves, self.specs, strict=True) if s is not None)

    def tensors(self, leaves: Sequence[Any]) -> list[Tensor]:
        """The carried leaves as tensors of the form's dtypes."""
        pairs = zip(leaves, self.specs, strict=True)
        return [fit(leaf, spec) for leaf, spec in pairs if spec is not None]

    @property
    def carried_specs(self) -> list[Spec]:
        return [spec for spec in self.specs if spec is not None]

    def leaves(self, tensors: Iterator[Tensor]) -> list[Any]:
        """All leaves, the carried ones from these tensors."""
        found: list[Any] = []
        for thing, spec, number in zip(self.things, self.specs, self.numbers, strict=True):
            if spec is None:
                found.append(thing)
                continue
            tensor = next(tensors)
            tensor._scalar = number
            found.append(tensor)
        return found


def is_tensor(leaf: Any) -> bool:
    """Whether a leaf is carried from the first: arrays are, Python's numbers if they vary."""
    return isinstance(leaf, (Tensor, np.ndarray))


def same_thing(a: Any, b: Any) -> bool:
    """Whether nobody can tell two leaves apart: what can be changed must be one object."""
    if a is b:
        return True
    plain = (*NUMBERS, np.generic, str, bytes)
    if type(a) is not type(b) or not isinstance(a, plain):
        return False
    return bool(a == b) and repr(a) == repr(b)  # 0.0 is not -0.0


def _describe(thing: Any) -> str:
    if isinstance(thing, Tensor):
        return f"a tensor {thing.spec}"
    if isinstance(thing, Spec):
        return f"a tensor {thing}"
    plain = thing is None or isinstance(thing, (*NUMBERS, str))
    return repr(thing) if plain else f"a {type(thing).__name__}"
