"""The tf.Module that is saved: one tf.function per signature, one tf.Variable per Variable.

module, functions = build(tf, obj, signatures)
tf.saved_model.save(module, path, signatures=functions)
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from graphify.engines.tensorflow.lower import lower, static_shape
from graphify.engines.tensorflow.runtime import import_function
from graphify.errors import ExportError
from graphify.export.signature import Signature, hidden_array
from graphify.export.structures import unique
from graphify.syntax.loader import with_attributes
from graphify.tracing.capture import Hidden


def build(tf: Any, obj: Any, signatures: dict[str, Signature]) -> tuple[Any, dict[str, Any]]:
    """The module to save, and its signatures as concrete functions of TensorFlow's."""
    state = _State(tf, obj, signatures)
    module = tf.Module()
    module.graphify_variables = state.by_name
    functions: dict[str, Any] = {}
    made: dict[int, Any] = {}
    for name, signature in signatures.items():
        function = made.get(id(signature.concrete))
        if function is None:
            function = made[id(signature.concrete)] = _function(tf, signature, state)
        functions[name] = function.get_concrete_function()
        if name.isidentifier() and name != "signatures" and not hasattr(module, name):
            setattr(module, name, function)
    return module, functions


class _State:
    """The tf.Variables of an export, by the graphify object each stands for."""

    def __init__(self, tf: Any, obj: Any, signatures: dict[str, Signature]) -> None:
        self.tf = tf
        self._of: dict[int, Any] = {}
        self._kept: list[Any] = []  # ids stay unique while the objects live
        names = [(n, v) for n, v in getattr(obj, "named_variables", lambda: ())()]
        for signature in signatures.values():
            changed = {id(thing) for thing in signature.written()}
            names += [
                (_name(hidden), hidden.current())
                for hidden in signature.hidden
                if is_variable(hidden.current()) or id(hidden.current()) in changed
            ]
        distinct = {id(thing): (name, thing) for name, thing in reversed(names)}
        ordered = list(reversed(distinct.values()))
        _check_overlap([thing for _, thing in ordered], signatures)
        self.by_name = {}
        for name, (_, thing) in zip(unique([n for n, _ in ordered]), ordered, strict=True):
            self.by_name[name] = self._of[id(thing)] = self._variable(name, thing)
            self._kept.append(thing)

    def _variable(self, name: str, thing: Any) -> Any:
        array = np.array(thing.numpy() if hasattr(thing, "numpy") else thing)
        trainable = bool(getattr(thing, "trainable", False)) and array.dtype.kind in "fc"
        # Names go into the file: ASCII only, and a slash or a bracket would make scopes of them.
        clean = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "variable"
        return self.tf.Variable(array, trainable=trainable, name=clean)

    def variable(self, hidden: Hidden) -> Any:
        """The tf.Variable of a hidden input, None if it is a constant."""
        return self._of.get(id(hidden.current()))


def is_variable(thing: Any) -> bool:
    return hasattr(thing, "assign") and hasattr(thing, "trainable")


def _name(hidden: Hidden) -> str:
    thing = hidden.current()
    if is_variable(thing):
        return str(thing.name)
    return hidden.place.name if hidden.place is not None else "captured"


def _check_overlap(variables: list[Any], signatures: dict[str, Signature]) -> None:
    """Refuse state that shares memory with another input: in the model it no longer would."""
    things = {id(h.current()): h.current() for s in signatures.values() for h in s.hidden}
    things |= {id(v): v for v in variables}
    changed = {id(t) for s in signatures.values() for t in s.written()}
    arrays = {key: np.asarray(thing) for key, thing in things.items()}
    for key in changed:
        for other, array in arrays.items():
            if other != key and np.may_share_memory(arrays[key], array):
                raise ExportError(
                    "save: a function changes an array that shares memory with another one it uses",
                    remedy="copy one of them, or keep the state in a graphify.Variable",
                )


def _function(tf: Any, signature: Signature, state: _State) -> Any:
    """A tf.function from the signature's arguments to its dict of results."""
    wrapped = import_function(lower(signature.graph, portable=True))
    names = [name for name, _ in signature.inputs]

    def run(*args: Any, **named: Any) -> dict[str, Any]:
        inputs = [*args, *(named[name] for name in names[len(args) :])]
        hidden = [_hidden_tensor(tf, h, state) for h in signature.hidden]
        results = wrapped(*inputs, *hidden)
        for position, index in signature.assigns.items():
            state.variable(signature.hidden[position]).assign(results[index])
        return _outputs(tf, signature, results)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    with_attributes(
        run, __signature__=inspect.Signature([inspect.Parameter(n, kind) for n in names])
    )
    run.__name__ = signature.name if signature.name.isidentifier() else "run"
    specs = [
        tf.TensorSpec(static_shape(spec), tf.as_dtype(spec.dtype), name=name)
        for name, spec in signature.inputs
    ]
    return tf.function(run, input_signature=specs, autograph=False)


def _hidden_tensor(tf: Any, hidden: Hidden, state: _State) -> Any:
    variable = state.variable(hidden)
    return tf.constant(hidden_array(hidden)) if variable is None else variable.read_value()


def _outputs(tf: Any, signature: Signature, results: Any) -> dict[str, Any]:
    """Named results; a function that only changes state gives its flag of being done."""
    outputs = {}
    for leaf in signature.leaves:
        if leaf.index is not None:
            outputs[leaf.name] = tf.identity(results[leaf.index], name=leaf.name)
        elif leaf.is_number:
            outputs[leaf.name] = tf.constant(np.asarray(leaf.static))
    return outputs or {"done": tf.identity(results[-1])}
