"""A function run under a tape at a point: what grad, vjp, jvp and jacobian start from."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphify import tree
from graphify.api import structures
from graphify.errors import TraceError
from graphify.ir.assign import store
from graphify.ir.context import current_builder, taping, tell_tapes
from graphify.ir.graph import Value
from graphify.ir.tensor import Tensor, refresh, value_in
from graphify.ir.types import is_inexact
from graphify.location import here
from graphify.ops import core, derivative
from graphify.syntax.loader import with_attributes
from graphify.transforms.tape import Key, Tape
from graphify.transforms.vjp import backprop

Function = Callable[..., Any]


class Linearised:
    """A function's result at a point, with the tape that leads there."""

    def __init__(
        self,
        what: str,
        function: Function,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        places: Sequence[int],
    ) -> None:
        self.what, self.function, self.tape = what, function, Tape(strict=True)
        self.sources: list[Tensor] = []
        self.keys: list[Key] = []
        self.treedefs: list[tree.TreeDef] = []
        self.owners: list[_Owner] = []
        call_args = list(args)
        for place in places:
            call_args[place] = self._watched(args[place], place)
        try:
            with taping(self.tape):
                self.result = structures.result_of(function, *call_args, **kwargs)
        except ValueError as error:
            if (cause := structures.masked(error)) is not None:
                raise cause from None
            raise
        finally:
            for owner in reversed(self.owners):
                owner.end(what)

    def _watched(self, value: Any, place: int) -> Any:
        """An argument whose arrays are new values, so that only this use of them counts."""
        leaves, treedef = tree.flatten_arrays(value)
        name = f"{self.what}: {structures.parameter_name(self.function, place)}"
        fresh = []
        for leaf, path in zip(leaves, treedef.paths(), strict=True):
            tensor = of_graph(
                derivative.identity(structures.inexact_leaf(leaf, name + (path and f" at {path}")))
            )
            self.keys.append(self.tape.watch(tensor))
            if tensor._base is not None and type(tensor._value) is Value:
                self.owners.append(_Owner(tensor))
            self.sources.append(tensor_now(tensor))
            fresh.append(tensor)
        self.treedefs.append(treedef)
        return treedef.unflatten(fresh)

    def target(self, value: Any) -> Tensor:
        return structures.array_leaf(value, f"{self.what}: the result")

    def key(self, target: Tensor) -> Key:
        """A result as the tape knows it, whatever later happens to the tensor in place."""
        return self.tape.key(target)

    def pull(self, keys: Sequence[Key], gs: Sequence[Tensor | None]) -> list[Tensor]:
        """Cotangents of all watched arrays, zeros for those without influence."""
        found = backprop(self.tape.records, keys, gs, self.keys)
        grads = [
            core.zeros_like(x) if g is None else g for g, x in zip(found, self.sources, strict=True)
        ]
        return structures.released(grads, gs)

    def let_go(self, args: Sequence[Any]) -> None:
        """Keep copies of NumPy's own arrays, which their owner may change unseen."""
        for leaf in tree.leaves(list(args)):
            if isinstance(leaf, np.ndarray) and current_builder() is None:
                tell_tapes(leaf, leaf)

    def arranged(self, leaves: Sequence[Any]) -> list[Any]:
        """One tree per watched argument."""
        rest = iter(leaves)
        return [
            treedef.unflatten([next(rest) for _ in range(treedef.num_leaves)])
            for treedef in self.treedefs
        ]


def of_graph(tensor: Tensor) -> Tensor:
    """The tensor; in a trace a known number as a value of the graph: what only a graph's blocks
    use, a tape does not see, and they would take the number for a constant."""
    builder = current_builder()
    if builder is None or type(tensor._value) is Value:
        return tensor
    (value,) = builder.add(derivative.identity, (value_in(tensor, builder),), {})
    return Tensor(value, weak=tensor._weak)


class _Owner:
    """A watched twin of an argument in a trace, in whose place it is the storage meanwhile.

    Staged control flow carries storages, and sets them back after a trial. Were the argument the
    storage, and the twin a view of it, the value that the tape knows would be lost by that.
    """

    def __init__(self, twin: Tensor) -> None:
        assert twin._base is not None and twin._view is not None
        self.twin, self.argument = twin, twin._base
        self.values = twin._value, self.argument._value
        self.plain = self.argument._base is None
        if self.plain:
            twin._base, self.argument._base = None, twin
            twin._home = self.argument._home
            self.argument._view, self.argument._seen = twin._view, twin._version

    def end(self, what: str) -> None:
        """The argument is the storage again, with what was written to its twin.

        Raises:
            TraceError: what was written belongs to a view, whose storage stayed the base.
        """
        twin, argument = self.twin, self.argument
        refresh(twin)
        written = twin._value is not self.values[0]
        if not self.plain:
            if written:
                raise TraceError(
                    f"{what}: the function updates an argument that is a view of an array",
                    location=here(),
                    remedy="pass a copy, x[1:].copy(), and assign the result afterwards",
                )
            return
        builder = current_builder()
        assert builder is not None
        builder.writes.pop(id(twin), None)
        argument._base, argument._value = None, self.values[1]
        if written:
            store(argument, Tensor(twin._value), builder)
        twin._base, twin._seen = argument, argument._version


def tensor_now(tensor: Tensor) -> Tensor:
    """The tensor's present value, whatever later happens to the tensor in place."""
    return Tensor(tensor._value, weak=tensor._weak)


def places_of(argnums: int | Sequence[int], args: Sequence[Any], what: str) -> tuple[int, ...]:
    """Positions of the arguments to differentiate by.

    Raises:
        TypeError: not an int or ints. ValueError: there is no such argument, or one is named twice.
    """
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(numbers, (tuple, list)) or not all(type(n) is int for n in numbers):
        raise TypeError(f"{what}: argnums: expected an int or a tuple of ints, got {argnums!r}")
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"{what}: argnums: expected positions of the {len(args)} positional arguments, "
                f"got {argnums!r}"
            )
    places = tuple(number % len(args) for number in numbers)
    if len(set(places)) < len(places):
        raise ValueError(f"{what}: argnums: expected different positions, got {argnums!r}")
    return places


def split_aux(result: Any, has_aux: bool, what: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{what}: has_aux=True: expected the function to return (value, aux), "
            f"got {result!r:.80}"
        )
    return result


def named(wrapper: Function, function: Function, what: str) -> Function:
    name = getattr(function, "__name__", type(function).__name__)
    wrapper.__name__ = f"{what}_{name}"
    with contextlib.suppress(TypeError, ValueError):  # a built-in function may have no signature
        with_attributes(wrapper, __signature__=inspect.signature(function))
    wrapper.__doc__ = f"{what} of {name}.\n\n{getattr(function, '__doc__', None) or ''}"
    return wrapper


def matching(
    value: Any, treedef: tree.TreeDef, models: Sequence[Tensor], what: str
) -> list[Tensor | None]:
    """Leaves of a tangent or cotangent; None for integer arrays, which have none.

    Raises:
        ValueError: another structure or shape.
    """
    leaves = tree.flatten_like(value, treedef)
    if leaves is None:
        raise ValueError(f"{what}: expected the structure of the values, got {value!r:.80}")
    result: list[Tensor | None] = []
    for leaf, model in zip(leaves, models, strict=True):
        if not is_inexact(model.dtype):
            result.append(None)
            continue
        tensor = structures.array_leaf(leaf, what)
        if structures.differ(tensor, model):
            shapes = [structures.shape_text(t.dims) for t in (model, tensor)]
            raise ValueError(f"{what}: expected shape {shapes[0]}, got {shapes[1]}")
        structures.check_real(tensor, model, what)
        result.append(tensor)
    return result
