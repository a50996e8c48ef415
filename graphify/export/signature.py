"""What is exported: concrete functions, what they take from outside, what they change.

signature = Signature("serving_default", concrete)
signature.inputs, signature.captures, signature.assigns, signature.outputs
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.errors import ExportError
from graphify.export.structures import argument_names, leaf_names, treedef_to_json
from graphify.ir.graph import Graph
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.tracing.capture import Hidden

_STATIC = (bool, int, float, complex, str, type(None))


@dataclass(frozen=True)
class Leaf:
    """A leaf of a signature's result: result `index` of the graph, or a value known beforehand."""

    name: str
    index: int | None
    weak: bool = False  # a Python number
    static: Any = None

    def to_json(self) -> dict[str, Any]:
        static = self.static
        if isinstance(static, complex):
            static = {"complex": [static.real, static.imag]}
        return {"name": self.name, "index": self.index, "weak": self.weak, "static": static}

    @property
    def is_number(self) -> bool:
        """Whether it is a Python number known beforehand, which stock TensorFlow is given, too."""
        return self.index is None and isinstance(self.static, (bool, int, float, complex))


class Signature:
    """A concrete function as a SavedModel's signature.

    Args:
        name: of the signature.
        concrete: a `graphify.ConcreteFunction`.

    Raises:
        ExportError: it changes something outside that a SavedModel does not have.
    """

    def __init__(self, name: str, concrete: Any) -> None:
        self.name, self.concrete = name, concrete
        self.graph: Graph = concrete.graph
        self.hidden: list[Hidden] = concrete.hidden
        count = len(self.graph.params) - len(self.hidden)
        names = list(concrete.structured_input_signature)
        self.inputs: list[tuple[str, Spec]] = [
            (n + "_" if keyword.iskeyword(n) else n, v.spec)
            for n, v in zip(argument_names(names), self.graph.params[:count], strict=True)
        ]
        self.leaves = self._leaves()
        self.assigns = self._assigns()  # position of a hidden input -> index of its new value
        if (
            not any(leaf.index is not None or leaf.is_number for leaf in self.leaves)
            and not self.assigns
        ):
            raise ExportError(
                f"signature {name!r}: expected a result or a changed Variable, got neither"
            )

    def _leaves(self) -> list[Leaf]:
        leaves = []
        names = leaf_names(self.concrete.structured_outputs)
        for name, output in zip(names, self.concrete.outputs, strict=True):
            if output.index is None and not isinstance(output.static, _STATIC):
                raise ExportError(
                    f"signature {self.name!r}: output {name}: expected a tensor, number, string or "
                    f"None, got {type(output.static).__name__}"
                )
            leaves.append(Leaf(name, output.index, output.weak, output.static))
        return leaves

    def _assigns(self) -> dict[int, int]:
        assigns = {}
        for write in self.concrete.writes:
            if not isinstance(write.target, Hidden):
                raise self._foreign_write(write.target)
            position = next(i for i, h in enumerate(self.hidden) if h is write.target)
            assigns[position] = write.outputs[0].index
        return assigns

    def _foreign_write(self, target: Any) -> ExportError:
        if isinstance(target, int):
            what = f"argument {self.inputs[target][0]!r} in place"
            remedy = "work on x.copy() and return it: arguments of a SavedModel do not come back"
        else:
            what, remedy = str(target), "keep the state in a graphify.Variable"
        return ExportError(f"signature {self.name!r}: the function changes {what}", remedy=remedy)

    def written(self) -> list[Any]:
        """The outside objects that the signature changes."""
        return [self.hidden[position].current() for position in self.assigns]

    def to_json(self) -> dict[str, Any]:
        """What `load` needs to call it and to restore its result."""
        inputs = [
            {"name": name, "dtype": spec.dtype.name, "weak": spec.weak}
            for name, spec in self.inputs
        ]
        return {
            "inputs": inputs,
            "outputs": [leaf.to_json() for leaf in self.leaves],
            "structure": treedef_to_json(self.concrete.structured_outputs),
        }


def hidden_array(hidden: Hidden) -> Any:
    """The value of a hidden input now, as an array in the graph's dtype."""
    return np.asarray(as_tensor(hidden.current()).numpy(), hidden.param.spec.dtype)


def signatures_of(obj: Any, signatures: Any, examples: Any) -> dict[str, Signature]:
    """The signatures to export.

    Args:
        obj: what is saved.
        signatures: None, a function, or a dict of name to function.
        examples: as for `save`; they say how to trace functions that were not called yet.

    Raises:
        ExportError: nothing to export, or more traces than one to choose from.
        TypeError: something that is no graphify function; examples that are no list or dict.
        ValueError: no signatures, or examples for a signature that there is not.
    """
    if signatures is None:
        chosen = _functions_of(obj)
    elif isinstance(signatures, dict):
        chosen = dict(signatures)
    else:
        chosen = {"serving_default": signatures}
    for name in chosen:
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"save: argument 'signatures': expected names of signatures, got {name!r}"
            )
    if not chosen:
        raise ValueError("save: argument 'signatures': expected at least one function, got none")
    _check_examples(examples, chosen)
    return {
        name: Signature(
            name, _concrete(name, function, _known_examples(examples, function, chosen))
        )
        for name, function in chosen.items()
    }


def _check_examples(examples: Any, chosen: dict[str, Any]) -> None:
    if isinstance(examples, dict):
        unknown = [name for name in examples if name not in chosen]
        if unknown:
            raise ValueError(
                f"save: argument 'examples': expected names of signatures {sorted(chosen)}, "
                f"got {unknown[0]!r}"
            )
        named = examples
    else:
        named = {} if examples is None else {"": examples}
    for given in named.values():
        if not isinstance(given, (list, tuple)):
            raise TypeError(
                "save: argument 'examples': expected a list of argument tuples, or a dict of them, "
                f"got {type(given).__name__}"
            )


def _known_examples(examples: Any, function: Any, chosen: dict[str, Any]) -> list[Any]:
    """The examples of a function, under whatever name."""
    names = [name for name, other in chosen.items() if other is function]
    return [e for name in names for e in examples_for(examples, name, len(chosen))]


def is_function(value: Any) -> bool:
    """Whether it is a graphify function, a method of one, or one of its traces."""
    return (
        is_concrete(value)
        or hasattr(value, "get_concrete_function")
        and hasattr(value, "concrete_functions")
    )


def is_concrete(value: Any) -> bool:
    return hasattr(value, "structured_outputs") and hasattr(value, "writes")


def _functions_of(obj: Any) -> dict[str, Any]:
    if is_function(obj):
        return {"serving_default": obj}
    found = {}
    if is_function(getattr(obj, "__call__", None)):  # noqa: B004
        found["serving_default"] = obj.__call__
    for name in dir(type(obj)) + list(getattr(obj, "__dict__", ())):
        if not name.startswith("__") and is_function(getattr(obj, name, None)):
            found[name] = getattr(obj, name)
    if not found:
        raise ExportError(
            f"save: argument 'obj': expected a graphify function or its owner, got {obj!r:.80}",
            remedy="decorate a method with @graphify.function, or pass signatures=",
        )
    if len(found) == 1:
        return {"serving_default": next(iter(found.values())), **found}
    return found


def _concrete(name: str, function: Any, examples: Sequence[Any]) -> Any:
    if is_concrete(function):
        return function
    if not is_function(function):
        raise TypeError(
            f"save: signature {name!r}: expected a graphify function, got {function!r:.80}"
        )
    if function.input_signature is not None:
        return function.get_concrete_function()
    known = [c for c in function.concrete_functions if c.holds() and _is_of(c, function)]
    if known and all(_covers(known[-1], other) for other in known):
        return known[-1]
    if not known and examples:
        return function.get_concrete_function(*as_arguments(examples[0]))
    state = f"{len(known)} traces" if known else "no trace yet"
    raise ExportError(
        f"save: signature {name!r}: expected a function with one trace, got one with {state}",
        remedy="pass f.get_concrete_function(...), or give the function an input_signature",
    )


def _is_of(concrete: Any, function: Any) -> bool:
    """Whether a trace of a method is of the instance that the method is bound to."""
    instance = getattr(function, "__self__", None)
    if instance is None:
        return True
    first = getattr(getattr(concrete._keys[1][0], "value", None), "print_", None)
    return getattr(first, "thing", None) is instance


def _covers(general: Any, other: Any) -> bool:
    """Whether one trace serves every call that another one serves."""
    return general._keys == other._keys and bool(general.pattern.matches(other.pattern.dims))


def as_arguments(example: Any) -> tuple[Any, ...]:
    return example if isinstance(example, tuple) else (example,)


def examples_for(examples: Any, name: str, count: int) -> list[Any]:
    """The examples of one signature.

    Raises:
        TypeError: a bare list where there are several signatures.
    """
    if examples is None:
        return []
    if isinstance(examples, dict):
        return list(examples.get(name, ()))
    if count > 1 and name != "serving_default":
        return []
    return list(examples)
