"""Tracing one call of a Python function: arguments to parameters, the result to outputs.

traced = trace(f, call, pattern, autograph=True)
traced.graph, traced.writes, traced.guards
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from graphify import tree
from graphify.api.concrete import Traced
from graphify.api.inspection import remember_report
from graphify.api.writing import Origin, Output, Write
from graphify.autograph.operators.calls import call as converted_call
from graphify.autograph.operators.iteration import Items
from graphify.autograph.operators.iterators import refuse_to_give_away
from graphify.autograph.operators.raising import raised_at_the_run
from graphify.autograph.operators.texts import check_marks, check_texts, refuse_as_result
from graphify.autograph.operators.undefined import Maybe, Undefined, Unreachable
from graphify.autograph.operators.unknown import Ended, ending
from graphify.config import config
from graphify.engines.base import get_engine
from graphify.errors import InternalError, TraceError, at
from graphify.ir import pretty
from graphify.ir.context import not_taping, recording
from graphify.ir.graph import Graph, Value, attr_sizes
from graphify.ir.sizes import SizeVar
from graphify.ir.tensor import Tensor, resolve, value_in, viewing
from graphify.ir.types import Spec, in_c_order
from graphify.ir.wrapping import as_tensor
from graphify.location import leave_call, start_trace
from graphify.optimise.pipeline import optimise
from graphify.tracing import garbage
from graphify.tracing.apart import retracing
from graphify.tracing.capture import Root, restore
from graphify.tracing.containers import (
    COPIED,
    Argument,
    Tracked,
    elements,
    fields_of,
    is_record,
    replace,
)
from graphify.tracing.guards import Place
from graphify.tracing.identity import MOST, attributes_of
from graphify.tracing.recursion import deep_recursion, deep_stack
from graphify.tracing.signature import Call, Pattern, TensorSpec
from graphify.tracing.tracebacks import is_users, place_of


def trace(
    function: Callable[..., Any],
    signature: inspect.Signature,
    call: Call,
    pattern: Pattern,
    autograph: bool,
    moving: frozenset[Any] = frozenset(),
    engine: str = "reference",
) -> Traced:
    """Run `function` on symbolic tensors of the call's kind and record what they do.

    Args:
        moving: keys of the places whose Python numbers become hidden inputs instead of guards.
        engine: what runs long loops over what is known while tracing.
    """
    with garbage.young():
        return retracing(
            lambda: _trace(function, signature, call, pattern, autograph, moving, engine)
        )


def _trace(
    function: Callable[..., Any],
    signature: inspect.Signature,
    call: Call,
    pattern: Pattern,
    autograph: bool,
    moving: frozenset[Any],
    engine: str,
) -> Traced:
    root = Root(getattr(function, "__name__", "function"), moving)
    root.run = functools.partial(_run_known, engine) if engine == "native" else None
    if not autograph:
        root.met = None
    token = start_trace()
    try:
        with recording(root), not_taping(), deep_stack():
            params, arguments = _parameters(root, call, pattern)
            bound = inspect.BoundArguments(signature, _ordered(root, call, arguments))
            run = converted_call if autograph else _plain_call
            try:
                result = ending(run, function, *bound.args, **bound.kwargs)
            except Exception as error:
                exact = pattern.is_exact and not call.general
                if not raised_at_the_run(error, place_of(error), exact):
                    raise
                result = None
            return _finish(root, params, None if isinstance(result, Unreachable) else result)
    except Exception as error:
        deep = deep_recursion(error, root.inlined)
        if deep is not None:
            raise deep from None  # the traceback has a thousand lines
        located = error if is_users(error) else at(error, place_of(error))
        raise located from (error.__cause__ if located is error else error)
    except Ended as ended:
        raise InternalError("a path that always raises ends a frame around it") from ended
    finally:
        leave_call(token)
        restore(root)
        root.close()


def _run_known(engine: str, graph: Graph, arrays: Sequence[Any]) -> Sequence[Any]:
    with recording(None):
        return get_engine(engine).compile(optimise(graph).graph)(arrays)


def _plain_call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _parameters(root: Root, call: Call, pattern: Pattern) -> tuple[list[Value], list[Tensor]]:
    params, tensors = [], []
    for array, shape, position in zip(call.arrays, pattern.symbolic(), call.positions, strict=True):
        weak = isinstance(array, Tensor) and array._weak
        value = root.param(Spec(shape, array.dtype, weak), _parameter_name(call, array, position))
        tensor = Tensor(value)
        tensor._scalar = isinstance(array, Tensor) and array._scalar
        if not in_c_order(getattr(array, "_value", array)):
            root.scattered.add(value)
        root.arguments[id(tensor)] = tensor
        params.append(value)
        tensors.append(tensor)
    return params, tensors


def _parameter_name(call: Call, array: Any, position: int) -> str:
    named = array.name if isinstance(array, TensorSpec) else None
    return named or call.name(position)


def _ordered(root: Root, call: Call, tensors: list[Tensor]) -> Any:
    """The bound arguments with tensors in place of arrays; their containers are tracked."""
    leaves = list(call.leaves)
    for position, key in enumerate(call.key[1]):
        first = getattr(key, "first", None)
        if first is not None:
            leaves[position] = tensors[first]
    bound = call.treedef.unflatten(leaves)
    for name, value in bound.items():
        _track(root, value, (("item", name),))
    return bound


def _track(root: Root, twin: Any, steps: tuple[Any, ...]) -> None:
    """Watch the containers of an argument: what happens to them happens to the caller's."""
    if isinstance(twin, (Tensor, np.ndarray)):
        return
    root.meet(type(twin))
    if not is_record(twin):
        root.watch(twin)
    record = is_record(twin)
    if record or type(twin) in COPIED:
        root.tracked.append(Tracked(twin, Argument(steps)))
    if record:
        root.local_objects[id(twin)] = (twin, root.home)
    for step, child in fields_of(twin) if record else elements(twin) or ():
        _track(root, child, (*steps, step))


class _Collector:
    """Collects graph results; one tensor object is one result."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.values: list[Value] = []
        self._known: dict[int, tuple[Any, int]] = {}

    def output(self, leaf: Any) -> Output:
        if isinstance(leaf, (Maybe, Undefined)):
            raise TraceError(
                f"'{leaf.name}' has a value on some paths only, and the function returns it",
                remedy="return a value of one structure on every path "
                "(Python returns None at the end)",
            )
        if not isinstance(leaf, (Tensor, np.ndarray, np.generic)):
            refuse_to_give_away(leaf)
            refuse_as_result(leaf)
            _refuse_traced_fields(leaf, self.root.writes)
            return Output(static=leaf)
        tensor = resolve(as_tensor(leaf))
        known = self._known.get(id(tensor))
        if known is None:
            self.values.append(value_in(tensor, self.root))
            known = self._known[id(tensor)] = (tensor, len(self.values) - 1)
        index = known[1]
        weak = self.values[index].spec.weak
        return Output(index=index, weak=weak, origin=None if weak else self._origin(tensor))

    def _origin(self, tensor: Tensor) -> Origin | None:
        """The argument or captured object that the tensor is, or is a plain view of."""
        views, sizes = [], set[SizeVar]()
        while tensor._base is not None:
            op, operands, attrs = viewing(tensor)
            views.append((op, attrs))
            sizes.update(attr_sizes(attrs))
            if operands:
                return None
            tensor = tensor._base
        views.reverse()
        specs = tuple(argument.spec for argument in self.root.arguments.values()) if sizes else ()
        known = {d.as_variable() for s in specs for d in s.shape if not isinstance(d, int)}
        if not sizes <= known:  # the run computes them
            return None
        for position, argument in enumerate(self.root.arguments.values()):
            if tensor is argument:
                return Origin(position, tuple(views), specs)
        for hidden in self.root.hidden:
            if self.root.outside.get(id(hidden.thing), (None, None))[1] is tensor:
                return Origin(hidden, tuple(views), specs)
        return None

    def tree(self, value: Any) -> tuple[tree.TreeDef, list[Output]]:
        leaves, treedef = tree.flatten(value, is_leaf=is_whole)
        return treedef, [self.output(leaf) for leaf in leaves]


def is_whole(value: Any) -> bool:
    """Whether a value is a leaf of the result, whatever it consists of."""
    return isinstance(value, (Tensor, np.ndarray, Items))


def _refuse_traced_fields(thing: Any, written: Container[Any]) -> None:
    """Refuse to give out what holds tensors of the trace inside: each run has its own. It writes
    those in the fields with some keys, which are of objects from outside.
    """
    pending, seen = [thing], set[int]()
    while pending and len(seen) < MOST:
        holder = pending.pop()
        seen.add(id(holder))
        for what, name, value in _inside(holder):
            if what == "field" and (id(holder), name) in written:
                continue
            for leaf in tree.leaves(value):
                if holder is thing:
                    refuse_as_result(leaf)
                if isinstance(leaf, Tensor) and leaf.is_symbolic:
                    raise _traced_inside(holder, what, name, leaf)
                if not isinstance(leaf, (Tensor, np.ndarray)) and id(leaf) not in seen:
                    pending.append(leaf)


def _traced_inside(holder: Any, what: str, name: str, tensor: Tensor) -> TraceError:
    source = tensor._value.node.source
    return TraceError(
        f"the function gives away a {type(holder).__name__} whose {what} '{name}' "
        "is computed by the graph",
        location=source.resolve() if source else None,
        remedy={
            "field": "return its fields in a tuple or dict, or make the class a dataclass",
            "element": "return them in a list, tuple, dict or set of Python's own",
        }.get(what, "return the value itself, in a tuple or dict"),
    )


def _inside(thing: Any) -> Iterator[tuple[str, str, Any]]:
    """What an object or a function holds: as what, under which name, and the thing held."""
    if isinstance(thing, (type, types.ModuleType)):
        return
    for name, value in tree.held(thing):
        yield "element", name, value
    if isinstance(thing, types.MethodType):
        yield "object", type(thing.__self__).__name__, vars_of(thing.__self__)
        return
    if isinstance(thing, functools.partial):
        yield "argument", "args", (thing.args, thing.keywords)
        return
    if isinstance(thing, BaseException):
        yield "argument", "args", thing.args
    for name, value in attributes_of(thing).items():
        yield "field", name, value
    if isinstance(thing, types.FunctionType):
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # not bound
                yield "variable", name, cell.cell_contents
        yield "default", "argument", (thing.__defaults__, thing.__kwdefaults__)


def vars_of(thing: Any) -> dict[str, Any]:
    return dict(getattr(thing, "__dict__", {}))


def _finish(root: Root, params: list[Value], result: Any) -> Traced:
    check_marks(root)
    collect = _Collector(root)
    treedef, outputs = collect.tree(result)
    writes = _writes(root, collect)
    restore(root)
    check_texts(root)
    graph = root.finish(collect.values)
    if config.dump or config.debug >= 3:
        text = pretty.to_text(graph)
        config.write(f"{graph.name}.traced.txt", text)
        config.log(3, f"--- as traced ---\n{text}")
    done = optimise(graph)
    if config.dump:
        config.write(f"{graph.name}.optimised.txt", pretty.to_text(done.graph))
    remember_report(done.graph, done.report)
    for container, contents in root.logs:
        replace(container, contents)
    guards = list(root.guards.values())
    return Traced(
        graph,
        done.graph,
        done.report,
        params,
        root.hidden,
        outputs,
        treedef,
        writes,
        guards,
        root.notes,
        in_order={i for i, value in enumerate(params) if value in root.needs_order},
        parts=root.parts,
    )


def _writes(root: Root, collect: _Collector) -> list[Write]:
    """Arguments, captured arrays and fields that the function changed."""
    writes = []
    for position, tensor in enumerate(root.arguments.values()):
        if tensor._version:
            writes.append(Write(position, *collect.tree(tensor)))
    for hidden in root.hidden:
        known = root.outside.get(id(hidden.thing))
        if known is None:  # a Python number
            continue
        twin = known[1]
        if twin._version:
            _check_writable(hidden.thing)
            writes.append(Write(hidden, *collect.tree(twin)))
    twins = {id(twin) for _, twin, _ in root.cells.values()}
    twins |= {id(space.twin) for space in root.spaces.values()}
    for target, _ in root.writes.values():
        if isinstance(target, Place) and id(target.holder) not in twins:
            value = target.read()
            if target.kind == "cell" and isinstance(value, (Maybe, Undefined)):
                continue  # a name of a function that was traced, shared with functions in it
            writes.append(Write(target, *collect.tree(value)))
    for place, value in root.rebound():
        writes.append(Write(place, *collect.tree(value)))
    for tracked in root.tracked:
        contents = tracked.contents()
        if contents is not None and isinstance(tracked.place, Place) and tracked.is_log(contents):
            root.log(tracked, contents)
        elif contents is not None:
            writes.append(Write(tracked.place, *collect.tree(contents), container=True))
    return writes


def _check_writable(thing: Any) -> None:
    array = thing._value if isinstance(thing, Tensor) else thing
    if not array.flags.writeable:
        raise ValueError("assignment destination is read-only")
