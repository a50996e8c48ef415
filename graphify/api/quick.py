"""What the native engine's entry point must know of a trace, to serve calls without Python.

    offer(function, concrete, call, args, kwargs)

Only the common cases are described: arguments that are arrays, immutable Python values or
containers of these, guards that can be told by identity. What the function changes outside itself
is changed by a Python function, which machine code calls when it has run the graph. Whatever is not of this
kind is simply not offered, and `Function.__call__` goes on serving it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from graphify.api import changes
from graphify.api.concrete import ConcreteFunction
from graphify.api.passed import NotQuick, Passed
from graphify.api.writing import Output
from graphify.config import config
from graphify.engines.native.entry import capi
from graphify.engines.native.entry.room import ABSENT, Input, Quick, Read, Same, Word
from graphify.ir.bind import Tensor
from graphify.tracing.capture import Hidden
from graphify.tracing.guards import SCALARS, ArraySpec, Guard, Identity, Place, fingerprint
from graphify.tracing.guards import same as agree
from graphify.tracing.signature import NUMBERS, Call
from graphify.tree import LEAF, TreeDef


def offer(
    function: Any,
    concrete: ConcreteFunction,
    call: Call,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> None:
    """Let the engine serve calls like this one, if it can and they are simple enough."""
    install = getattr(concrete._executable, "quick", None)
    if install is None or config.settings is not config._default or config.check:
        return
    try:
        quick = describe(concrete, call, Passed(function._signature, call, args, kwargs))
    except NotQuick:
        return
    install(function, quick)


def describe(concrete: ConcreteFunction, call: Call, passed: Passed) -> Quick:
    """The description of a trace and of calls like this one."""
    traced = concrete._traced
    if concrete.graph.effects:
        raise NotQuick
    inputs, same = _arguments(call, passed)
    inputs += [_hidden(each) for each in concrete.hidden]
    if len(inputs) != len(concrete.graph.params):
        raise NotQuick
    inputs = [replace(each, in_order=index in traced.in_order) for index, each in enumerate(inputs)]
    for hidden in concrete.hidden:
        same += _still_there(hidden.place)
    for guard in traced.guards:
        same += _guard(guard, concrete.hidden)
    # Other settings, other traces.
    same.append(Same(Read("item", config.__dict__, "_default"), config.settings))
    quick = Quick(passed.count, inputs, same, *_outcome(concrete))
    quick.names, quick.opened = passed.names, passed.opened
    if concrete.writes or any(output.origin is not None for output in concrete.outputs):
        quick.outputs, quick.numbers = list(range(len(concrete.graph.results))), {}
        quick.structure, quick.with_inputs = changes.finisher(concrete), True
    return quick


def _arguments(call: Call, passed: Passed) -> tuple[list[Input], list[Same]]:
    """The array arguments in order, and the others, which must be the same objects again."""
    inputs: list[Input] = []
    same = []
    for index, (position, leaf) in enumerate(passed.leaves):
        read, key = Read("argument", None, position), call.key[1][index]
        is_input = type(leaf) in (np.ndarray, Tensor) or index in call.general
        if position is None:
            if is_input:
                raise NotQuick
        elif is_input:
            kind = type(leaf) if type(leaf) in NUMBERS else Tensor
            if kind is Tensor and (key.weak or key.scalar) or key.first != len(inputs):
                raise NotQuick
            inputs.append(Input(read, kind, scattered=kind is Tensor and _scattered(leaf)))
        elif index not in call.positions and (
            type(leaf) in SCALARS or isinstance(_print(call, index), Identity)
        ):
            same.append(Same(read, leaf))
        else:
            raise NotQuick
    if len(inputs) != len(call.arrays):
        raise NotQuick
    return inputs, same


def _print(call: Call, position: int) -> Any:
    """The fingerprint of an argument that is neither array nor number."""
    return getattr(getattr(call.key[1][position], "value", None), "print_", None)


_KINDS: dict[Any, type] = {np.dtype(kind): kind for kind in NUMBERS}


def _outcome(concrete: ConcreteFunction) -> tuple[list[int], Any, dict[int, type]]:
    """The graph's result for each leaf of the function's result, what is made of the leaves, and
    which of them are Python numbers."""
    outputs, treedef = concrete.outputs, concrete.structured_outputs
    weak = {output.index for output in outputs if output.weak}
    weak -= {output.index for output in outputs if not output.weak}
    numbers = {
        i: _KINDS[spec.dtype]
        for i, spec in enumerate(concrete.graph.specs)
        if i in weak and spec.dtype in _KINDS and spec.shape == ()
    }
    done = [o.index for o in outputs if o.index is not None and o.weak == (o.index in numbers)]
    if len(done) == len(outputs) == len(set(done)) == len(concrete.graph.results):
        if treedef == LEAF:
            return done, None, numbers
        if treedef.kind in (tuple, list) and all(child == LEAF for child in treedef.children):
            return done, treedef.kind, numbers
    return list(range(len(concrete.graph.results))), _finisher(outputs, treedef), numbers


def _finisher(outputs: Sequence[Output], treedef: TreeDef) -> Callable[[list[Any]], Any]:
    """What makes the function's result of the graph's results."""

    def leaf(output: Output, results: list[Any]) -> Any:
        if output.index is None:
            return output.static
        result = results[output.index]
        return result.numpy().item() if output.weak and isinstance(result, Tensor) else result

    return lambda results: treedef.unflatten([leaf(output, results) for output in outputs])


# --- what is read from outside --------------------------------------------------------------------


def _hidden(hidden: Hidden) -> Input:
    """A parameter that no caller passes."""
    read = Read("fixed", hidden.thing, None) if hidden.place is None else _read(hidden.place)
    current = hidden.current()
    if not isinstance(current, (np.ndarray, Tensor)) or type(current) not in _array_types():
        raise NotQuick
    return Input(read, type(current), scattered=_scattered(current))


def _scattered(thing: Any) -> bool:
    return not getattr(thing, "_value", thing).flags.c_contiguous


def _array_types() -> tuple[type, ...]:
    from graphify.api.variable import Variable  # it imports functions

    return np.ndarray, Tensor, Variable


def _read(place: Any) -> Read:
    """How to read a place without Python."""
    if type(place) is not Place:
        raise NotQuick
    if place.kind == "cell":
        address = capi.cell_field(place.holder)
        if not address:
            raise NotQuick
        return Read("word", place.holder, address)
    holder = place.holder if place.kind == "global" else _fields(place.holder, place.name)
    if type(holder) is not dict or type(place.name) is not str or place.name not in holder:
        raise NotQuick
    return Read("item", holder, place.name)


def _fields(holder: Any, name: str) -> Any:
    """The dict in which an attribute of an object stands."""
    kind: Any = type(holder)
    plain = kind.__getattribute__ in (object.__getattribute__, ModuleType.__getattribute__)
    if not plain or isinstance(holder, type) or not hasattr(holder, "__dict__"):
        raise NotQuick
    if any(name in vars(each) for each in kind.__mro__):
        raise NotQuick  # a property, or a default that instances hide
    return holder.__dict__


def _still_there(place: Any) -> list[Same]:
    """What must be so for a `_read` of an attribute to find what Python would: the object keeps its
    class and its dict, and the class is not changed."""
    if place is None or place.kind != "attribute":
        return []
    holder, kind = place.holder, type(place.holder)
    if kind is ModuleType:
        return []  # neither can change
    fields, version = capi.dict_field(holder), capi.version_field(kind)
    if not fields or not version:
        raise NotQuick
    return [
        Same(Read("word", holder, id(holder) + capi.OBJECT_TYPE), kind),
        Same(Read("word", holder, fields), holder.__dict__),
        Same(Read("word", kind, version), Word(capi.word(version))),
    ]


def _guard(guard: Any, hidden: Sequence[Hidden]) -> list[Same]:
    """What must be the very same object for a guard to hold."""
    if type(guard) is not Guard:
        raise NotQuick
    expected = guard.expected
    if isinstance(expected, ArraySpec):
        # A hidden input's dtype and shape are looked at when it is taken.
        if any(isinstance(h.place, Place) and h.place.same(guard.place) for h in hidden):
            return []
        raise NotQuick
    value, read = guard.place.read(), _read(guard.place)
    if not agree(expected, fingerprint(value)):
        raise NotQuick  # the call itself has changed it
    same = [Same(read, value), *_still_there(guard.place)]
    if isinstance(expected, Identity) or type(value) in SCALARS:
        return same
    if type(value) is FunctionType:
        return same + _function(value)
    raise NotQuick


def _function(function: FunctionType) -> list[Same]:
    """What a function is made of: its code, its defaults and what it closes over."""
    fields = capi.function_fields()
    if not fields:
        raise NotQuick
    same = []
    for name, at in fields.items():
        part = getattr(function, name)
        expected = ABSENT if part is None else part
        same.append(Same(Read("word", function, id(function) + at), expected))
    for cell in function.__closure__ or ():
        same.append(Same(_read(Place(cell, "cell", "cell")), cell.cell_contents))
    return same
