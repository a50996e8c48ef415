"""The text form of a graph: one node per line, stable, read by people, tests and `parse`.

    graph kmeans(points: f64[n,2], k: i64[]) {
      total: f64[2] = sum(points, axes=(0,))  # demo.py:3
      i: i64[], best: f64[2] = while(0, total, points, carry=2) {  # demo.py:4
        cond(i: i64[], best: f64[2], points: f64[n,2]) {
          %0: bool[] = less(i, 10)  # demo.py:4
          return %0
        }
        body(...) {...}
      }
      return best
    }

Values are called as the user called them: a node gets the name that its line assigns to if it is
the last node of that line; others are numbered. Names are made unique within a graph, names of
sizes within the text. Functions that call themselves follow the graph, each once. Scalar constants
stand where they are used: `1.0` is float64, `1` int64, `f32(1.0)` any other dtype, `1.0~` a Python
number (weak). Arrays of more than eight elements are elided to a hash unless `full=True`; only the
full text parses back. What has no text at all, such as a function of the user's, is written
`<function f>`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Literal, Node, Value, constant, param
from graphify.ir.sizes import Dim, Size, SizeOp, SizeVar, dim_variables
from graphify.ir.types import DTYPE_OF_SHORT_NAME, DType, Spec, short_name
from graphify.ir.walk import functions_of
from graphify.location import LazyLoc, SourceLoc

ELIDED_ABOVE = 8  # elements of an array that are still written out
RESERVED = {"nan", "inf", "True", "False", "None", "return", "graph", "complex", "slice", "literal"}
RESERVED |= {"floordiv", "mod", "max", "min", "wrap", *DTYPE_OF_SHORT_NAME}
PLAIN = {np.dtype(t) for t in (np.bool_, np.int64, np.float64)}  # dtypes that literals need not say

Lines: TypeAlias = Iterator[Any]  # lines, and iterators of lines for nested graphs


def to_text(graph: Graph, *, full: bool = False) -> str:
    """The text of a graph.

    Args:
        full: write out all elements of constants, so that `parse` can read the text back.
    """
    printer = Printer(full)
    lines = list(_flatten(printer.graph_lines("graph", graph, 0)))
    for function in functions_of(graph):
        lines += ["", *_flatten(printer.function_lines(function))]
    return "\n".join(lines)


def _flatten(lines: Lines) -> Iterator[str]:
    stack = [lines]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, str):
            yield item
        else:
            stack.append(item)


class NamedLoc(LazyLoc):
    """A location read from a text form: it knows file, line and what the values are called."""

    __slots__ = ("file", "names")

    def __init__(self, file: str, line: int, names: tuple[str, ...]) -> None:
        super().__init__(_NO_CODE, 0, line)
        self.file, self.names = file, names

    def resolve(self) -> SourceLoc:
        return SourceLoc(self.file, self._line, "")

    def __str__(self) -> str:
        return f"{self.file}:{self._line}" if self.file else ""


_NO_CODE = compile("", "", "exec")


class Unique:
    """Makes names unique: loss, loss_1, loss_2."""

    def __init__(self) -> None:
        self._taken: set[str] = set(RESERVED)
        self._counts: dict[str, int] = {}

    def __call__(self, base: str) -> str:
        name = base
        while name in self._taken:
            self._counts[base] = count = self._counts.get(base, 0) + 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name


# --- names of values ---------------------------------------


def value_names(graph: Graph) -> dict[Value, str]:
    """What each value of a graph is called in its text."""
    names: dict[Value, str] = {}
    unique, count = Unique(), 0
    shown = [n for n in graph.nodes if not is_inline(n)]
    following: list[Node | None] = [*shown[1:], None] if shown else []
    nodes = [*((value.node, None) for value in graph.params), *zip(shown, following, strict=True)]
    for node, after in nodes:
        for index, base in enumerate(_bases(node, after)):
            if base is None:
                names[Value(node, index)] = f"%{count}"
                count += 1
            else:
                names[Value(node, index)] = unique(base)
    return names


def _bases(node: Node, after: Node | None) -> list[str | None]:
    if isinstance(node.source, NamedLoc) and len(node.source.names) == len(node.specs):
        return [None if name.startswith("%") else name for name in node.source.names]
    if node.op is param:
        return [identifier(node.attrs.get("name"))]
    carried = _carried_names(node)
    if carried:
        return carried + [None] * (len(node.specs) - len(carried))
    name = _variable(node, after)
    return [name] * len(node.specs)


def _carried_names(node: Node) -> list[str | None]:
    """What a loop calls the values it carries."""
    body, carry = node.attrs.get("body"), node.attrs.get("carry", 0)
    if not isinstance(body, Graph) or not carry:
        return []
    params = body.params[1:] if "length" in node.attrs else body.params
    return [identifier(p.node.attrs.get("name")) for p in params[:carry]]


def identifier(name: str | None) -> str | None:
    """A name as an identifier: `x[0].w` is x_0_w; None where nothing is left of it."""
    text = re.sub(r"\W+", "_", name or "").strip("_")
    return None if not text or text[0].isdigit() else text


def _variable(node: Node, after: Node | None) -> str | None:
    """The variable that the node's line assigns to, if the node is the last one of that line."""
    if node.source is None:
        return None
    here = node.source.resolve()
    name = here.variable
    if name is None or after is None or after.source is None:
        return name
    then = after.source.resolve()
    if (then.file, then.line) != (here.file, here.line):
        return name
    ends_later = here.end is None or then.end is None or then.end >= here.end
    return None if ends_later else name


def is_inline(node: Node) -> bool:
    """Whether a node is written where it is used: scalar constants are."""
    return node.op is constant and not node.specs[0].shape


# --- sizes ---------------------------------------


class SizeNames:
    """Names of size variables, and dims as text.

    Terms are ordered by the variables' first appearance in the text, not by their identity, so the
    text depends on nothing but the graph.
    """

    def __init__(self) -> None:
        self._names: dict[SizeVar, str] = {}
        self._order: dict[SizeVar, int] = {}
        self._unique = Unique()

    def name(self, variable: SizeVar) -> str:
        if variable not in self._names:
            self._names[variable] = self._unique(identifier(variable.name) or "n")
            self._order[variable] = len(self._order)
        return self._names[variable]

    def dim(self, dim: Dim) -> str:
        if not isinstance(dim, Size):
            return str(dim)
        for variable in dim_variables(dim):
            self.name(variable)
        terms = []
        for monomial, coefficient in dim.terms:
            factors = sorted((self._rank(atom), power) for atom, power in monomial)
            terms.append((-sum(power for _, power in factors), factors, coefficient))
        return _polynomial(sorted(terms))

    def _rank(self, atom: SizeVar | SizeOp) -> tuple[int, str]:
        if isinstance(atom, SizeVar):
            return (self._order[atom], self._names[atom])
        arguments = ", ".join(self.dim(arg) for arg in atom.args)
        return (1 << 60, f"{atom.name}({arguments})")

    def spec(self, spec: Spec) -> str:
        dims = ",".join(self.dim(dim).replace(" ", "") for dim in spec.shape)
        return f"{short_name(spec.dtype)}[{dims}]" + ("~" if spec.weak else "")


def _polynomial(terms: list[tuple[int, list[tuple[tuple[int, str], int]], int]]) -> str:
    text = ""
    for _, factors, coefficient in terms:
        parts = [name if power == 1 else f"{name}**{power}" for (_, name), power in factors]
        if abs(coefficient) != 1 or not parts:
            parts.insert(0, str(abs(coefficient)))
        body = "*".join(parts)
        if text:
            text += (" - " if coefficient < 0 else " + ") + body
        else:
            text = ("-" if coefficient < 0 else "") + body
    return text


# --- literals ---------------------------------------


def scalar_text(scalar: Any, dtype: DType) -> str:
    """One element of an array, such that reading it in that dtype gives the same bits back."""
    if dtype.kind == "c":
        return (
            f"({scalar_text(scalar.real, _half(dtype))}, {scalar_text(scalar.imag, _half(dtype))})"
        )
    if dtype.kind in "biu":
        return str(scalar.item())
    # str() of float16, float32 and float64 is the shortest text that reads back.
    return str(scalar) if dtype.kind == "f" else str(float(scalar))


def _half(dtype: DType) -> DType:
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


def array_text(array: np.ndarray[Any, Any], full: bool) -> str:
    """The elements of an array as nested lists, or its hash in angle brackets."""
    if array.size > ELIDED_ABOVE and not full:
        data = np.ascontiguousarray(array)
        digest = hashlib.sha256(f"{data.dtype}{data.shape}".encode() + data.tobytes())
        return f"<#{digest.hexdigest()[:8]}>"
    if array.ndim == 0:
        return scalar_text(array[()], array.dtype)
    return _nested([scalar_text(x, array.dtype) for x in array.reshape(-1)], array.shape)


def _nested(items: list[str], shape: tuple[int, ...]) -> str:
    if 0 in shape:
        return "[]"
    for length in reversed(shape):
        items = ["[" + ", ".join(items[i : i + length]) + "]" for i in range(0, len(items), length)]
    return items[0]


def constant_text(array: np.ndarray[Any, Any], weak: bool) -> str:
    """A scalar constant where it is used."""
    text = scalar_text(array[()], array.dtype)
    if array.dtype.kind == "c":
        text = short_name(array.dtype) + text
    elif array.dtype not in PLAIN:
        text = f"{short_name(array.dtype)}({text})"
    return text + ("~" if weak else "")


# --- graphs ---------------------------------------


class Printer:
    """Lines of graphs and nodes, with one set of size names."""

    def __init__(self, full: bool = False) -> None:
        self.full = full
        self.sizes = SizeNames()
        self._functions: dict[GraphFunction, str] = {}
        self._unique = Unique()

    def function_lines(self, function: GraphFunction) -> Lines:
        """A function under the name that calls have for it, and what it gives as they know it."""
        results = ", ".join(self.sizes.spec(spec) for spec in function.results)
        effects = " with effects" if function.effects else ""
        head = f"function {self.function(function)}"
        tail = f" -> ({results}){effects}"
        return self.graph_lines(head, function.graph.replace(name=head), 0, tail)

    def function(self, function: GraphFunction) -> str:
        """What a function is called in the text: @fact."""
        if function not in self._functions:
            name = identifier(function.name) or "function"
            self._functions[function] = "@" + self._unique(name)
        return self._functions[function]

    def graph_lines(self, head: str, graph: Graph, indent: int, tail: str = "") -> Lines:
        names = value_names(graph)
        pad = "  " * indent
        params = ", ".join(f"{names[v]}: {self.sizes.spec(v.spec)}" for v in graph.params)
        yield f"{pad}{head}{_graph_name(head, graph.name)}({params}){tail} {{"
        for node in graph.nodes:
            if not is_inline(node):
                yield self.node_lines(node, names, indent + 1)
        results = ", ".join(self.operand(value, names) for value in graph.results)
        yield f"{pad}  return {results}".rstrip()
        yield pad + "}"

    def node_lines(self, node: Node, names: Mapping[Value, str], indent: int) -> Lines:
        line = "  " * indent + self.head(node, names)
        graphs = list(node.subgraphs)
        place = str(node.source) if node.source is not None else ""
        comment = f"  # {place}" if place else ""
        yield line + (" {" if graphs else "") + comment
        for name, graph in graphs:
            yield self.graph_lines(name, graph, indent + 1)
        if graphs:
            yield "  " * indent + "}"

    def head(self, node: Node, names: Mapping[Value, str]) -> str:
        """A node's line, without its sub-graphs and its place."""
        targets = ", ".join(f"{names.get(v, '?')}: {self.sizes.spec(v.spec)}" for v in node.outputs)
        args = [self.operand(value, names) for value in node.inputs]
        if node.op is constant:
            args.append(array_text(node.attrs["value"].array, self.full))
        args += [
            f"{name}={self.attr(value)}"
            for name, value in node.attrs.items()
            if not isinstance(value, Graph) and not (node.op is constant and name == "value")
        ]
        return (f"{targets} = " if targets else "") + f"{node.op.name}({', '.join(args)})"

    def operand(self, value: Value, names: Mapping[Value, str]) -> str:
        if is_inline(value.node):
            attrs = value.node.attrs
            return constant_text(attrs["value"].array, bool(attrs.get("weak")))
        return names.get(value) or f"<unknown {value.node.op.name}>"

    def attr(self, value: Any) -> str:
        match value:
            case None | bool() | int() | float() | str():
                return repr(value)
            case complex():
                return f"complex({value.real!r}, {value.imag!r})"
            case GraphFunction():
                return self.function(value)
            case Size():
                return self.sizes.dim(value)
            case SizeVar():
                return self.sizes.name(value)
            case Spec():
                return self.sizes.spec(value)
            case tuple() if type(value) is tuple:
                items = ", ".join(self.attr(item) for item in value)
                return f"({items},)" if len(value) == 1 else f"({items})"
            case slice():
                parts = (value.start, value.stop, value.step)
                return f"slice({', '.join(self.attr(part) for part in parts)})"
            case Literal():
                spec = self.sizes.spec(Spec(value.array.shape, value.array.dtype))
                return f"literal({spec}, {array_text(value.array, self.full)})"
            case np.dtype() if value in DTYPE_OF_SHORT_NAME.values():
                return short_name(value)
        return opaque_text(value)


def _graph_name(head: str, name: str) -> str:
    """How a graph's own name follows its head: `graph f`, `body`, `body: step`."""
    shown = name if name.isidentifier() else repr(name)
    if head == "graph":
        return f" {shown}"
    return "" if name == head else f": {shown}"


def opaque_text(value: Any) -> str:
    """What stands for an object that has no text form; the same in every process."""
    if isinstance(value, type):
        label = f"class {value.__qualname__}"
    elif dataclasses.is_dataclass(value) and " at 0x" not in repr(value):
        label = repr(value)
    else:
        name = getattr(value, "__qualname__", None) or getattr(value, "name", None)
        kind = type(value).__name__
        label = f"{kind} {name}" if isinstance(name, str) else kind
    return "<" + re.sub(r"[<>\n]", "", label) + ">"
