"""What the native engine's entry point must know of a trace, to serve calls without Python.

    done = offer(function, concrete, call, args, kwargs, again=False)
    ...                               # the call itself
    done()

Only the common cases are described: arguments that are arrays, immutable Python values or
containers of these, guards that can be told by identity. What the function changes outside itself
is changed by a Python function, which machine code calls when it has run the graph. Whatever is not
of this kind is simply not offered, and `Function.__call__` goes on serving it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphify.api import changes
from graphify.api.building import builder
from graphify.api.concrete import ConcreteFunction
from graphify.api.outside import Outside, scattered
from graphify.api.passed import NotQuick, Passed
from graphify.config import config
from graphify.engines.native.entry import capi
from graphify.engines.native.entry.room import Input, Quick, Read, Same
from graphify.ir.tensor import Tensor
from graphify.tracing.guards import SCALARS, Identity, all_hold
from graphify.tracing.signature import NUMBERS, Call
from graphify.tree import LEAF


def offer(
    function: Any,
    concrete: ConcreteFunction,
    call: Call,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    again: bool,
) -> Callable[[], None] | None:
    """What lets the engine serve calls like this one, if they are simple enough.

    To be asked for before the call, which may change its arguments, and called after it, when what
    the trace reads from outside is as the next call will find it. Only calls that come `again` are
    worth compiling the entry point for.
    """
    try:
        passed = Passed(function._signature, call, args, kwargs)
    except NotQuick:
        return None
    return lambda: _install(function, concrete, call, passed, again)


def _install(
    function: Any, concrete: ConcreteFunction, call: Call, passed: Passed, again: bool
) -> None:
    install = getattr(concrete._executable, "quick", None)
    if install is None or config.settings is not config._default or config.check:
        return
    try:
        quick = describe(concrete, call, passed)
    except NotQuick:
        return
    install(function, quick, compile=again)


def describe(concrete: ConcreteFunction, call: Call, passed: Passed) -> Quick:
    """The description of a trace and of calls like this one."""
    traced = concrete._traced
    if traced.parts and concrete.graph.effects:
        raise NotQuick  # the engine cannot make a call that failed again, to see in which lane
    inputs, same = _arguments(call, passed)
    outside = Outside(passed.total)
    for guard in traced.guards:
        outside.guard(guard, concrete.hidden)
    inputs += [outside.hidden(each) for each in concrete.hidden]
    if len(inputs) != len(concrete.graph.params):
        raise NotQuick
    inputs = [replace(each, in_order=index in traced.in_order) for index, each in enumerate(inputs)]
    same += outside.same
    # Other settings, other traces.
    same.append(Same(Read("item", config.__dict__, "_default"), config.settings))
    quick = Quick(passed.count, inputs, same, *_outcome(concrete))
    if outside.asked:
        quick.ask = all_hold(outside.asked)
    quick.names, quick.opened = passed.names, [*passed.opened, *outside.opened]
    if concrete.writes or any(output.origin is not None for output in concrete.outputs):
        quick.outputs, quick.numbers = list(range(len(concrete.graph.results))), {}
        quick.structure, quick.with_inputs = changes.finisher(concrete, passed), True
    return quick


def _arguments(call: Call, passed: Passed) -> tuple[list[Input], list[Same]]:
    """The array arguments in order, and the others, which must be the same objects again."""
    inputs: list[Input] = []
    same = []
    for index, (position, leaf) in enumerate(passed.leaves):
        read, key = Read("argument", None, position), call.key[1][index]
        is_input = type(leaf) in (np.ndarray, Tensor) or index in call.general
        is_input = is_input or isinstance(leaf, np.generic)
        if position is None:
            if is_input:
                raise NotQuick
        elif is_input:
            is_array = type(leaf) in (np.ndarray, Tensor)
            if is_array and (key.weak or key.scalar) or key.first != len(inputs):
                raise NotQuick
            if isinstance(leaf, np.generic) and not capi.scalar_fits(leaf):
                raise NotQuick
            kind = Tensor if is_array else type(leaf)
            inputs.append(Input(read, kind, scattered=is_array and scattered(leaf)))
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
    everything = list(range(len(concrete.graph.results)))
    return everything, builder(outputs, treedef, numbers), numbers
