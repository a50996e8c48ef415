"""Variables: tensors with a name and a life of their own, and modules that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphify import tree
from graphify.errors import TraceError
from graphify.ir.assign import assign
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import core
from graphify.ops.convert import convert


class Variable(Tensor):
    """A tensor that keeps its identity: functions read and change it by reference.

    Args:
        initial_value: anything `graphify.numpy.asarray` takes; it is copied.
        trainable: whether tapes watch it by themselves.
        name: a name for messages and exports.
        dtype: the dtype; that of the initial value if None.

    Raises:
        TypeError: data of a foreign dtype.

    Example:
        >>> counter = Variable(0)
        >>> counter.assign_add(2).numpy()
        array(2)
    """

    __slots__ = ("name", "trainable")

    def __init__(
        self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None
    ) -> None:
        if current_builder() is not None:
            raise TraceError(
                "a Variable is made inside a function that is being traced",
                location=here(),
                remedy="make it once, before the first call, such as in __init__",
            )
        tensor = core.strong(
            initial_value if isinstance(initial_value, Tensor) else convert(initial_value)
        )
        if dtype is not None:
            tensor = core.to_dtype(tensor, dtype)
        super().__init__(np.array(tensor.numpy(), order="C"))
        self._home = None
        self.name, self.trainable = name or "Variable", trainable

    def value(self) -> Tensor:
        """The current value as a tensor that later assignments do not change."""
        return core.copy(resolve(self))

    def read_value(self) -> Tensor:
        """The same as `value()`."""
        return self.value()

    def assign(self, value: Any) -> Variable:
        """Replace the value.

        Raises:
            ValueError: another shape. TypeError: a dtype that does not cast safely.
        """
        new = as_tensor(value) if not isinstance(value, (list, tuple)) else convert(value)
        if new.dims != self.dims:
            raise ValueError(
                f"assign: argument 'value': expected shape {self.dims}, got {new.dims}"
            )
        if not new.spec.weak and not np.can_cast(new.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"assign: argument 'value': expected dtype {self.dtype}, got {new.dtype}"
            )
        assign(self, core.to_dtype(new, self.dtype))
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add to the value; returns the Variable.

        Raises:
            ValueError, TypeError: as `assign` does.
        """
        return self.assign(resolve(self) + as_tensor(delta))

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract from the value; returns the Variable.

        Raises:
            ValueError, TypeError: as `assign` does.
        """
        return self.assign(resolve(self) - as_tensor(delta))

    def __repr__(self) -> str:
        array = self.numpy()
        return f"<Variable {self.name!r} shape={array.shape} dtype={self.dtype.name}, {array}>"


class Module:
    """A holder of Variables and functions, the unit of `graphify.saved_model.save`.

    Example:
        >>> class Dense(Module):
        ...     def __init__(self):
        ...         self.w = Variable([[1.0]])
        >>> [v.name for v in Dense().variables]
        ['w']
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Variable) and value.name == "Variable":
            value.name = name
        object.__setattr__(self, name, value)

    @property
    def variables(self) -> list[Variable]:
        """Every Variable in the attributes of this module and of modules inside it."""
        return list(dict(self.named_variables()).values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those of `variables` that are trainable."""
        return [v for v in self.variables if v.trainable]

    def named_variables(self) -> Iterator[tuple[str, Variable]]:
        """Pairs of dotted path and Variable; each Variable once."""
        seen: set[int] = set()
        for path, variable in _walk(self, ""):
            if id(variable) not in seen:
                seen.add(id(variable))
                yield path, variable


def _walk(value: Any, path: str) -> Iterator[tuple[str, Variable]]:
    if isinstance(value, Variable):
        yield path, value
    elif isinstance(value, Module):
        for name, child in vars(value).items():
            yield from _walk(child, f"{path}.{name}" if path else name)
    elif tree.is_container(value):
        leaves, treedef = tree.flatten(value, is_leaf=lambda v: isinstance(v, (Tensor, Module)))
        for leaf, step in zip(leaves, treedef.paths(), strict=True):
            if isinstance(leaf, (Variable, Module)):
                yield from _walk(leaf, path + step)
