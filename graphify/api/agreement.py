"""`f.check(*args)`: plain Python, the graph and the engine on the same arguments, side by side.

    report = f.check(x)
    report.agreed       # True, or
    print(report)       # the first line of the user's, or node of the graph, where two of them part

The plain function is watched line by line, the graph node by node (by the reference engine, as it
was traced), and values of the same variable at the same line are held against each other, turn by
turn of a loop. Where the engine differs from the reference, the node is searched for: all values of
the graph are asked of both, then those of the loop body or branch inside that differs.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

from graphify.api.comparing import difference_of, first_difference, is_numeric, plain, show
from graphify.api.concrete import ConcreteFunction, Traced
from graphify.api.outcomes import Outcome, Scene
from graphify.api.parting import Parting, first_node
from graphify.api.watching import Line, is_fresh, watched
from graphify.config import config
from graphify.ir.graph import Node, Value
from graphify.ir.interpret import observing
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.location import SourceLoc

KEPT = 1 << 28  # bytes of variables' values that a plain run keeps

Key = tuple[str, int, str]  # file, line, variable


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs part.

    Attributes:
        what: "result", "argument", "error", "output", "variable", "node", ...
        name: of the value: "result[0]", "x", "total".
        sides: what the two runs are called, "plain Python" and "graph".
        values: what each has.
        text: how they differ.
        file, line, source: the user's line, where one is known.
        turn: which run of the line it is, counted from 1; None where it runs once.
        node: the text form of the node, if it is a node.
        op: the name of its op.
    """

    what: str
    name: str
    sides: tuple[str, str]
    values: tuple[Any, Any]
    text: str
    file: str | None = None
    line: int | None = None
    source: str = ""
    turn: int | None = None
    node: str = ""
    op: str = ""

    def __str__(self) -> str:
        head = f"{self.what} {self.name}".strip() + f": {self.sides[0]} and {self.sides[1]} differ"
        lines = [head]
        if self.line is not None:
            turn = f", run {self.turn}" if self.turn is not None else ""
            lines += [f'  File "{self.file}", line {self.line}{turn}', f"    {self.source}"]
        if self.node:
            lines.append(f"  node: {self.node}")
        width = max(map(len, self.sides))
        lines += [f"  {s:{width}}: {show(v)}" for s, v in zip(self.sides, self.values, strict=True)]
        return "\n".join([*lines, f"  {self.text}"])


@dataclass(slots=True)
class Report:
    """What `f.check` found.

    Attributes:
        name, engine: of the function, and what runs it.
        differences: what plain Python, graph and engine do not agree in, outermost first.
        line: the first line and variable where plain Python and the graph part.
        node: the first node where the engine parts from the reference.
        nodes, values: how many nodes of the graph ran, and how many values of variables in the
            plain run had one of the graph to be compared with.
        error: what plain Python raised, if it did.
    """

    name: str
    engine: str
    differences: list[Difference] = field(default_factory=list)
    line: Difference | None = None
    node: Difference | None = None
    nodes: int = 0
    values: int = 0
    error: Exception | None = None

    @property
    def agreed(self) -> bool:
        return not self.differences

    def __bool__(self) -> bool:
        return self.agreed

    def __str__(self) -> str:
        compared = f"{self.nodes} nodes run, {self.values} values of variables compared"
        if self.agreed:
            ends = f"all raise {type(self.error).__name__}" if self.error is not None else "agreed"
            return f"{self.name}: plain Python, graph and engine {self.engine}: {ends} ({compared})"
        parts = [f"{self.name}: plain Python, graph and engine {self.engine} part ({compared})"]
        parts += [str(d) for d in self.differences]
        if self.line is not None:
            parts.append(f"first line to part: {self.line}")
        if self.node is not None:
            parts.append(f"first node to part: {self.node}")
        return "\n".join(parts)


# --- values of variables ------------------------------------------------------------------------


class Variables:
    """What variables hold after each line: arrays of a plain run, or values of a graph."""

    def __init__(self) -> None:
        self.timeline: list[tuple[Key, Any, Line]] = []
        self.keys: dict[Value, list[Key]] = {}
        self.assigned: set[Key] = set()  # of which the run has the values
        self.known: dict[Key, list[Any]] = {}  # numbers that a trace knows
        self._bytes = 0

    def note_arrays(self, frame: FrameType, line: Line, before: tuple[Any, ...]) -> None:
        """A plain run came past a line."""
        for name in line.names:
            value = plain(frame.f_locals.get(name))
            if is_numeric(value) and self._bytes < KEPT:
                array = np.array(value)
                self._bytes += array.nbytes
                self.timeline.append(((line.file, line.number, name), array, line))

    def note_values(self, frame: FrameType, line: Line, before: tuple[Any, ...]) -> None:
        """A trace came past a line. A line that became a function of one expression leaves the
        variable as it was."""
        for name, old in zip(line.names, before, strict=True):
            key, value = (line.file, line.number, name), frame.f_locals.get(name)
            if not isinstance(value, Tensor):
                if is_numeric(value) and value is not old:  # the mark of a number is the number
                    self.known.setdefault(key, []).append(value)
            elif value.is_symbolic and is_fresh(value) and not _same(old, value._value):
                self.keys.setdefault(value._value, []).append(key)
                self.assigned.add(key)

    def known_for(self, key: Key, count: int) -> list[Any]:
        """The numbers of a variable that the trace knows, one for each of the plain run's; none
        where they cannot be told apart from what only the run knows."""
        known = self.known.get(key, [])
        if not known:
            return []
        alike = all(difference_of(known[0], value) is None for value in known)
        return known if len(known) == count else known[:1] * count if alike else []


def _mark(value: Any) -> Any:
    """What changes when a variable does: an update in place keeps the tensor, not its value."""
    return value._value if isinstance(value, Tensor) else value


def _same(old: Any, new: Value) -> bool:
    return isinstance(old, Value) and old == new


class Run:
    """The values that a run of the traced graph gives to variables, in order."""

    def __init__(self, symbols: Variables) -> None:
        self.symbols, self.keys = symbols, symbols.keys
        self.found: dict[Key, list[Any]] = {}
        self.lines: dict[Key, list[Any]] = {}  # of lines that no statement of a trace stands for
        self.nodes = 0

    def enter(self, params: tuple[Value, ...], values: list[Any]) -> None:
        pass

    def before(self, node: Node, inputs: list[Any], values: list[Any]) -> None:
        self.nodes += 1

    def after(self, node: Node, outputs: list[Any], values: list[Any]) -> None:
        for value, output in zip(node.outputs, outputs, strict=True):
            for key in self.keys.get(value, ()):
                self.found.setdefault(key, []).append(np.array(output))
        place = node.source.resolve() if node.source is not None and len(outputs) == 1 else None
        if place is not None and place.variable is not None and _is_assigned(place):
            self.lines.setdefault((place.file, place.line, place.variable), []).append(
                np.array(outputs[0])
            )

    def values(self, key: Key, count: int) -> list[Any]:
        """What the graph has for a variable at a line, if it can be told for each of its runs."""
        if key in self.symbols.assigned:
            found = self.found.get(key, [])
        else:
            found = self.lines.get(key, []) or self.symbols.known_for(key, count)
        return found if len(found) == count else []


def _is_assigned(place: SourceLoc) -> bool:
    """Whether an expression is all that its line assigns."""
    line = linecache.getline(place.file, place.line)
    if place.start is None or place.end is None or place.last is not None:
        return False
    before, after = line.encode()[: place.start].strip(), line.encode()[place.end :].strip()
    return (not before or before.endswith(b"=")) and (not after or after.startswith(b"#"))


def _first_line(timeline: list[tuple[Key, Any, Line]], run: Run) -> tuple[Difference | None, int]:
    """The first difference in the order of the plain run, and how many values were compared."""
    counts: dict[Key, int] = {}
    for key, _, _ in timeline:
        counts[key] = counts.get(key, 0) + 1
    seen: dict[Key, int] = {}
    values_of: dict[Key, list[Any]] = {}
    compared = 0
    for key, array, line in timeline:
        turn = seen[key] = seen.get(key, -1) + 1
        if key not in values_of:
            values_of[key] = run.values(key, counts[key])
        values = values_of[key]
        if not values:  # which belongs to which cannot be told
            continue
        compared += 1
        value = np.asarray(values[turn])
        told = difference_of(array, value if array.dtype == value.dtype else _cast(value, array))
        if told is not None:
            return Difference(
                "variable",
                key[2],
                ("plain Python", "graph"),
                (array, values[turn]),
                told,
                line.file,
                line.number,
                line.text,
                turn + 1 if counts[key] > 1 else None,
            ), compared
    return None, compared


def _cast(value: Any, like: Any) -> Any:
    """A value where the graph may hold another dtype meanwhile: joins are made by promotion."""
    cast = value.astype(like.dtype)
    return cast if np.array_equal(cast, value) else value


# --- the check ----------------------------------------------------------------------------------


def check(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    trace: Callable[[], tuple[Any, Traced]],
    concrete: Callable[[Traced, str], ConcreteFunction],
    engine: str,
) -> Report:
    """Compare the runs of one call.

    Args:
        trace: traces the call; gives the call taken apart, and the trace.
        concrete: what runs a trace on an engine.
    """
    report = Report(name, engine)
    symbols, arrays = Variables(), Variables()
    with watched(symbols.note_values, _mark):
        take, traced = trace()
    scene, run = Scene(function, traced, args, kwargs), Run(symbols)

    def on(traced: Traced, engine: str) -> Outcome:
        def go(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            call = take(args, kwargs)
            return concrete(traced, engine).run([as_tensor(a) for a in call.arrays], call)

        return scene.play(go)

    with watched(arrays.note_arrays), config(disable=True):
        want = scene.play(lambda args, kwargs: function(*args, **kwargs))
    with observing(run):
        graph = on(replace(traced, optimised=traced.graph), "reference")
    report.error, report.nodes = want.error, run.nodes
    report.differences += _differences(want, graph, ("plain Python", "graph"))
    report.line, report.values = _first_line(arrays.timeline, run)
    if not report.differences:  # a value on the way may be another, as long as nobody sees it
        report.line = None
    optimised = on(traced, "reference")
    report.differences += _differences(graph, optimised, ("graph", "optimised graph"))
    got = optimised if engine == "reference" else on(traced, engine)
    parted = list(_differences(optimised, got, ("reference", f"engine {engine}")))
    report.differences += parted
    if parted:
        call = take(*scene.copies())
        inputs = [*call.arrays, *(h.current() for h in traced.hidden)]
        found = first_node(traced.optimised, [as_tensor(a).numpy() for a in inputs], engine)
        report.node = None if found is None else _at_node(found, engine)
    return report


def _at_node(found: Parting, engine: str) -> Difference:
    place = found.place
    return Difference(
        "node",
        found.name,
        ("reference", f"engine {engine}"),
        found.values,
        found.text,
        place.file if place else None,
        place.line if place else None,
        place.text if place else "",
        found.turn,
        found.node_text,
        found.node.op.name,
    )


def _differences(left: Outcome, right: Outcome, sides: tuple[str, str]) -> Iterator[Difference]:
    if left.error is not None or right.error is not None:
        if not _same_error(left.error, right.error):
            yield _error_difference(left.error, right.error, sides)
    else:
        yield from _in_trees("result", left.result, right.result, "result", sides)
    yield from _in_trees("argument", left.arguments[0], right.arguments[0], "args", sides)
    yield from _in_trees("argument", left.arguments[1], right.arguments[1], "kwargs", sides)
    for name in left.outside:
        yield from _in_trees("outside", left.outside[name], right.outside[name], name, sides)
    if left.printed != right.printed:
        values = (left.printed, right.printed)
        text = "the programs print different texts"
        yield Difference("output", "", sides, values, text)


def _in_trees(
    what: str, left: Any, right: Any, root: str, sides: tuple[str, str]
) -> Iterator[Difference]:
    found = first_difference(left, right, root)
    if found is not None:
        name, a, b, text = found
        yield Difference(what, "" if name == what else name, sides, (a, b), text)


def _same_error(left: Exception | None, right: Exception | None) -> bool:
    if left is None or right is None:
        return False
    return isinstance(left, type(right)) or isinstance(right, type(left))


def _error_difference(
    left: Exception | None, right: Exception | None, sides: tuple[str, str]
) -> Difference:
    texts = ["no error" if e is None else type(e).__name__ for e in (left, right)]
    place = getattr(right if left is None else left, "location", None)
    where = (place.file, place.line, place.text) if place is not None else (None, None, "")
    return Difference("error", "", sides, (left, right), " and ".join(texts), *where)
