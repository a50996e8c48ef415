"""Reading the text form back into a graph.

    graph = parse(to_text(other, full=True))
    to_text(graph, full=True) == to_text(other, full=True)

Specs are taken from the text as they stand; `graphify.ir.check.check` says whether they are right.
What the text elides cannot be read: arrays written as a hash (print with `full=True`) and objects
without a text form, other than exception classes.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from graphify import errors
from graphify.errors import GraphifyError
from graphify.ir.function import GraphFunction
from graphify.ir.graph import (
    Graph,
    Literal,
    Node,
    Value,
    as_size,
    constant,
    has_effects,
    param,
)
from graphify.ir.op import REGISTRY
from graphify.ir.pretty import NamedLoc
from graphify.ir.sizes import Dim, Size, SizeVar, size, size_op
from graphify.ir.types import DTYPE_OF_SHORT_NAME, DType, Spec
from graphify.ir.walk import Call, trampoline


class ParseError(GraphifyError, ValueError):
    """A text that is no graph: the message has the line, what was expected and what was found."""


def parse(text: str) -> Graph:
    """The graph that a text form describes.

    Raises:
        ParseError: the text is not a graph, or elides something.
    """
    reader = _Reader(text)
    reader.word("graph")
    graph = trampoline(reader.graph("graph"))
    while reader.accept("function"):
        reader.function()
    if reader.token.kind != "end":
        reader.fail("the end of the text")
    return graph


class Token(NamedTuple):
    """A piece of the text."""

    kind: str  # name, number, string, opaque, comment, punctuation, end
    text: str
    line: int


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | \#\ ?(?P<comment>[^\n]*)
      | (?P<opaque><[^<>\n]*>)
      | (?P<number>\d+(\.\d*)?([eE][+-]?\d+)?)
      | (?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
      | (?P<name>[%@]?\w+)
      | (?P<punctuation>\*\*|->|[()\[\]{}:,=~*+-])""",
    re.VERBOSE,
)


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ParseError(f"line {line}: unexpected character {text[position]!r}")
        kind = match.lastgroup or ""
        # The inner groups of numbers are unnamed, so lastgroup is the alternative that matched.
        if kind != "space":
            tokens.append(Token(kind, match.group(kind), line))
        line += match.group().count("\n")
        position = match.end()
    tokens.append(Token("end", "the end of the text", line))
    return tokens


_SIZE_OPS = ("floordiv", "mod", "max", "min", "wrap")
_WORDS = {"True": True, "False": False, "None": None, "nan": float("nan"), "inf": float("inf")}


class _Reader:
    """A recursive-descent reader; nested graphs run on a trampoline."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._sizes: dict[str, SizeVar] = {}
        self._functions: dict[str, GraphFunction] = {}
        self._noisy = set(re.findall(r"^function (@\w+)\(.* with effects {$", text, re.MULTILINE))

    # --- tokens ------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self._tokens[self._at]

    def fail(self, expected: str) -> NoReturn:
        token = self.token
        raise ParseError(f"line {token.line}: expected {expected}, got {token.text!r}")

    def advance(self) -> Token:
        token = self.token
        self._at += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        if self.token.text == text and self.token.kind in ("punctuation", "name"):
            self._at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(repr(text))

    def word(self, text: str) -> None:
        self.expect(text)

    def name(self) -> str:
        if self.token.kind != "name":
            self.fail("a name")
        return self.advance().text

    def peek(self, offset: int = 1) -> Token:
        return self._tokens[min(self._at + offset, len(self._tokens) - 1)]

    def listed(self, item: Callable[[], Any], close: str) -> list[Any]:
        """Items separated by commas up to a closing bracket, a trailing comma allowed."""
        items = []
        while not self.accept(close):
            items.append(item())
            if not self.accept(","):
                self.expect(close)
                break
        return items

    # --- graphs ------------------------------------------------------------------------------

    def graph(self, head: str) -> Call[Graph]:
        """A graph after its head word."""
        name = head
        if head == "graph" or self.accept(":"):
            name = self.graph_name()
        scope: dict[str, Value] = {}
        params = self.params(scope)
        graph: Graph = yield self.body(name, params, scope)
        return graph

    def params(self, scope: dict[str, Value]) -> tuple[Value, ...]:
        self.expect("(")
        return tuple(self.listed(lambda: self.param(scope), ")"))

    def body(self, name: str, params: tuple[Value, ...], scope: dict[str, Value]) -> Call[Graph]:
        """The rest of a graph."""
        self.expect("{")
        nodes: list[Node] = []
        while not self.accept("return"):
            yield self.statement(scope, nodes)
        results: list[Value] = []
        if not self.accept("}"):
            results = self.listed(lambda: self.operand(scope, nodes), "}")
        return Graph(params, tuple(nodes), tuple(results), name)

    def function(self) -> None:
        """A function after its head word: @name(params) -> (results) {...}."""
        function = self.called_function(self.name())
        scope: dict[str, Value] = {}
        params = self.params(scope)
        self.expect("->")
        self.expect("(")
        function.results = tuple(self.listed(self.spec, ")"))
        if self.accept("with"):
            self.expect("effects")
        function.params = tuple(value.spec for value in params)
        function.complete(trampoline(self.body(function.name, params, scope)))

    def called_function(self, name: str) -> GraphFunction:
        """The function of a name, which the text may define later on."""
        if name not in self._functions:
            effects = name in self._noisy
            self._functions[name] = GraphFunction(name.removeprefix("@"), (), (), effects)
        return self._functions[name]

    def graph_name(self) -> str:
        if self.token.kind == "string":
            return str(_unquote(self.advance().text))
        return self.name()

    def param(self, scope: dict[str, Value]) -> Value:
        name, spec = self.target()
        attrs = {"spec": spec, "name": None if name.startswith("%") else name}
        value = Value(Node(param, (), attrs, (spec,)))
        self.define(scope, name, value)
        return value

    def target(self) -> tuple[str, Spec]:
        name = self.name()
        self.expect(":")
        return name, self.spec()

    def define(self, scope: dict[str, Value], name: str, value: Value) -> None:
        if name in scope:
            raise ParseError(f"line {self.token.line}: {name} is defined twice")
        scope[name] = value

    def statement(self, scope: dict[str, Value], nodes: list[Node]) -> Call[None]:
        """One node: targets = op(operands, attributes) { graphs }  # place"""
        targets = []
        while self.peek().text == ":":
            targets.append(self.target())
            self.accept(",")
        if targets:
            self.expect("=")
        op_name = self.name()
        op = REGISTRY.get(op_name)
        if op is None:
            raise ParseError(f"line {self.token.line}: unknown op {op_name!r}")
        specs = tuple(spec for _, spec in targets)
        names = tuple(name for name, _ in targets)
        self.expect("(")
        inputs: list[Value] = []
        attrs: dict[str, Any] = {}
        if op is constant:
            attrs["value"] = Literal(self.array(specs[0]))
            self.accept(",")
        self.listed(lambda: self.argument(scope, nodes, inputs, attrs, op is as_size), ")")
        block = self.accept("{")
        source = self.place(names)
        if block:
            while not self.accept("}"):
                head = self.name()
                attrs[head] = yield self.graph(head)
        effects = has_effects(op, attrs)
        node = Node(op, tuple(inputs), attrs, specs, source, effects)
        nodes.append(node)
        for name, value in zip(names, node.outputs, strict=True):
            self.define(scope, name, value)

    def argument(
        self,
        scope: dict[str, Value],
        nodes: list[Node],
        inputs: list[Value],
        attrs: dict[str, Any],
        binds: bool,
    ) -> None:
        """An operand, or an attribute `name=value`."""
        if self.token.kind == "name" and self.peek().text == "=":
            name = self.name()
            self.expect("=")
            value = self.value()
            attrs[name] = value.as_variable() if binds and isinstance(value, Size) else value
        else:
            inputs.append(self.operand(scope, nodes))

    def place(self, names: tuple[str, ...]) -> NamedLoc | None:
        """The comment `file:line` behind a node."""
        file, line = "", 0
        if self.token.kind == "comment":
            file, _, number = self.advance().text.rpartition(":")
            line = int(number) if number.strip().isdigit() else 0
        return NamedLoc(file, line, names) if file or names else None

    def operand(self, scope: dict[str, Value], nodes: list[Node]) -> Value:
        """A name of a value, or a scalar constant, which becomes a node of its own."""
        token = self.token
        if token.kind == "name" and token.text in scope:
            return scope[self.advance().text]
        if token.kind == "name" and token.text not in (*_WORDS, *DTYPE_OF_SHORT_NAME):
            self.fail("the name of a value defined before")
        array = self.scalar()
        attrs: dict[str, Any] = {"value": Literal(array)}
        if self.accept("~"):
            attrs["weak"] = True
        spec = Spec((), array.dtype, "weak" in attrs)
        node = Node(constant, (), attrs, (spec,))
        nodes.append(node)
        return Value(node)

    # --- arrays ------------------------------------------------------------------------------

    def scalar(self) -> np.ndarray[Any, Any]:
        """A scalar constant: 1, 1.0, True, f32(1.0), c128(0.0, 1.0)."""
        if self.token.text in DTYPE_OF_SHORT_NAME:
            dtype = DTYPE_OF_SHORT_NAME[self.advance().text]
            if dtype.kind == "c":
                return self.array(Spec((), dtype))
            self.expect("(")
            value = self.array(Spec((), dtype))
            self.expect(")")
            return value
        return np.asarray(self.element())

    def array(self, spec: Spec) -> np.ndarray[Any, Any]:
        """The elements of a constant, as nested lists."""
        if self.token.kind == "opaque":
            raise ParseError(
                f"line {self.token.line}: the elements of a constant are elided",
                remedy="print the graph with to_text(graph, full=True)",
            )
        flat: list[Any] = []
        depth = 0
        while True:
            if self.accept("["):
                depth += 1
            elif self.accept("]"):
                depth -= 1
            elif not self.accept(",") or not depth:
                flat.append(self.element_of(spec.dtype))
            if not depth:
                break
        shape = tuple(dim for dim in spec.shape if isinstance(dim, int))
        try:
            return np.array(flat, spec.dtype).reshape(shape)
        except ValueError as error:
            raise ParseError(
                f"line {self.token.line}: expected a constant {spec}: {error}"
            ) from error

    def element_of(self, dtype: DType) -> Any:
        if dtype.kind != "c":
            return self.element()
        self.expect("(")
        real = self.element()
        self.expect(",")
        imaginary = self.element()
        self.expect(")")
        return complex(real, imaginary)

    def element(self) -> Any:
        """A number or a truth value."""
        if self.accept("-"):
            return -self.element()
        token = self.advance()
        if token.kind == "number":
            return _number(token.text)
        if token.text in _WORDS:
            return _WORDS[token.text]
        self._at -= 1
        self.fail("a number")

    # --- specs and attributes ------------------------------------------------------------------

    def spec(self) -> Spec:
        if self.token.text not in DTYPE_OF_SHORT_NAME:
            self.fail("a dtype")
        dtype = DTYPE_OF_SHORT_NAME[self.advance().text]
        self.expect("[")
        shape = tuple(self.listed(self.dim, "]"))
        return Spec(shape, dtype, self.accept("~"))

    def dim(self) -> Dim:
        value = self.value()
        if not isinstance(value, (int, Size)):
            self.fail("a size")
        return value

    def value(self) -> Any:
        """An attribute: a sum of products, or anything that is not arithmetic."""
        total = self.product()
        while self.token.text in ("+", "-"):
            sign = 1 if self.advance().text == "+" else -1
            total = total + self.product() * sign
        return total

    def product(self) -> Any:
        if self.accept("-"):
            return -self.product()
        result = self.power()
        while self.accept("*"):
            result = result * self.power()
        return result

    def power(self) -> Any:
        base = self.atom()
        if not self.accept("**"):
            return base
        result, exponent = base, int(self.advance().text)
        for _ in range(exponent - 1):
            result = result * base
        return result

    def atom(self) -> Any:
        token = self.token
        if token.kind == "opaque":
            return self.opaque(self.advance())
        if token.kind == "string":
            return _unquote(self.advance().text)
        if token.kind == "number":
            return _number(self.advance().text)
        if self.accept("("):
            return tuple(self.listed(self.value, ")"))
        return self.named()

    def named(self) -> Any:
        """A word, a dtype, a spec, a call, or a size variable."""
        name = self.name()
        if name in _WORDS:
            return _WORDS[name]
        if name.startswith("@"):
            return self.called_function(name)
        if name in DTYPE_OF_SHORT_NAME:
            if self.token.text != "[":
                return DTYPE_OF_SHORT_NAME[name]
            self._at -= 1
            return self.spec()
        if self.accept("("):
            return self.called(name)
        return size(self._sizes.setdefault(name, SizeVar(name)))

    def called(self, name: str) -> Any:
        if name == "literal":
            spec = self.spec()
            self.expect(",")
            value = Literal(self.array(spec))
            self.expect(")")
            return value
        args = self.listed(self.value, ")")
        if name in _SIZE_OPS:
            return size_op(name, *args)
        if name == "slice":
            return slice(*args)
        if name == "complex":
            return complex(*args)
        raise ParseError(f"line {self.token.line}: unknown function {name!r} in an attribute")

    def opaque(self, token: Token) -> Any:
        """An exception class; nothing else that has no text form can be found again."""
        kind, _, name = token.text[1:-1].partition(" ")
        found = getattr(builtins, name, None) or getattr(errors, name, None)
        if kind == "class" and isinstance(found, type) and issubclass(found, BaseException):
            return found
        raise ParseError(
            f"line {token.line}: {token.text} has no text form and cannot be read back"
        )


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def _unquote(text: str) -> Any:
    import ast

    return ast.literal_eval(text)
