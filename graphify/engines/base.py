"""What an engine is, and the engines there are.

    engine = get_engine("reference")
    executable = engine.compile(graph)
    results = executable([np.arange(3.0)])    # one array per parameter -> one array per result

An engine turns a `Graph` into something that runs on NumPy arrays. Engines are found by name and
imported when first asked for, so a heavy one costs nothing until it is used.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from graphify.errors import LoweringError
from graphify.ir.graph import Graph, Value
from graphify.ir.op import Op

Array: TypeAlias = np.ndarray[Any, Any]


class Executable(Protocol):
    """A compiled graph: arrays, one per parameter, to arrays, one per result."""

    def __call__(self, args: Sequence[Array]) -> list[Array]: ...


@runtime_checkable
class Engine(Protocol):
    """A way to run graphs."""

    @property
    def name(self) -> str: ...

    def supports(self, op: Op) -> bool:
        """Whether the engine has a form for this op."""
        ...

    def compile(self, graph: Graph) -> Executable:
        """An executable of the graph.

        Raises:
            LoweringError: the graph holds an op that the engine has no form for.
        """
        ...


# Where each engine that comes with graphify lives; the module holds it under the name ENGINE.
MODULES = {
    "reference": "graphify.engines.reference",
    "native": "graphify.engines.native.engine",
    "tensorflow": "graphify.engines.tensorflow.runtime",
}
# The library that each engine cannot do without.
NEEDS = {"native": "llvmlite", "tensorflow": "tensorflow"}
_engines: dict[str, Engine] = {}


class EngineMissing(LoweringError, ImportError):
    """An engine was asked for, and the library it is made of cannot be imported."""


def register_engine(engine: Engine) -> None:
    """Make an engine known under its name, in place of any other of that name."""
    _engines[engine.name] = engine


def get_engine(name: str) -> Engine:
    """The engine called `name`.

    Raises:
        TypeError: the name is not a string.
        ValueError: no engine has that name.
        EngineMissing: its library is not installed.
    """
    if not isinstance(name, str):
        raise TypeError(f"engine: expected the name of an engine, got {type(name).__name__}")
    engine = _engines.get(name)
    if engine is None:
        engine = _engines[name] = _load(name)
    return engine


def engine_names() -> list[str]:
    """The engines that can be asked for here."""
    found = {name for name, module in MODULES.items() if importlib.util.find_spec(module)}
    return sorted(found | set(_engines))


def _load(name: str) -> Engine:
    module = MODULES.get(name)
    if module is None or importlib.util.find_spec(module) is None:
        raise ValueError(f"engine: expected one of {engine_names()}, got {name!r}")
    try:
        engine: Engine = importlib.import_module(module).ENGINE
    except (ImportError, OSError) as error:  # OSError: a library of its own that does not load
        needs = NEEDS.get(name)
        if needs is None or (getattr(error, "name", None) or "").startswith("graphify"):
            raise
        raise EngineMissing(
            f"the {name} engine needs {needs}, which cannot be imported here ({error})",
            remedy=f"pip install {needs}, or choose another engine: "
            'GRAPHIFY_ENGINE=reference, graphify.function(..., engine="reference")',
        ) from error
    return engine


def check_support(engine: Engine, graph: Graph) -> None:
    """Refuse a graph with ops that the engine lacks, all of them in one message.

    Raises:
        LoweringError: names the ops and the user's line of the first one.
    """
    missing: dict[str, Any] = {}
    for inner in all_graphs(graph):
        for node in inner.nodes:
            if not engine.supports(node.op):
                missing.setdefault(node.op.name, node.source)
    if not missing:
        return
    first = next(iter(missing.values()))
    raise LoweringError(
        f"{engine.name}: no form for the op{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
        location=first.resolve() if first is not None else None,
        remedy='run it on another engine: graphify.function(..., engine="reference")',
    )


def all_graphs(graph: Graph) -> list[Graph]:
    """The graph and every sub-graph in it, outermost first."""
    found, index = [graph], 0
    while index < len(found):
        found += [inner for node in found[index].nodes for _, inner in node.subgraphs]
        index += 1
    return found


def check_args(params: Sequence[Value], args: Sequence[Any]) -> None:
    """Refuse arrays that do not fit the parameters.

    Raises:
        TypeError: a wrong number of arrays, or a wrong dtype.
        ValueError: a wrong shape; one size variable met by two lengths.
    """
    if len(params) != len(args):
        raise TypeError(f"expected {len(params)} arrays, one per parameter, got {len(args)}")
    sizes: dict[Any, int] = {}
    for position, (value, arg) in enumerate(zip(params, args, strict=True)):
        spec, name = value.spec, value.node.attrs.get("name") or position
        if arg.dtype != spec.dtype:
            raise TypeError(f"argument {name!r}: expected dtype {spec.dtype}, got {arg.dtype}")
        if len(arg.shape) != len(spec.shape):
            raise ValueError(f"argument {name!r}: expected shape {spec}, got {arg.shape}")
        for dim, length in zip(spec.shape, arg.shape, strict=True):
            if isinstance(dim, int):
                known = dim
            else:
                variable = dim.as_variable()
                known = length if variable is None else sizes.setdefault(variable, length)
            if known != length:
                raise ValueError(f"argument {name!r}: expected shape {spec}, got {arg.shape}")
