"""Prints expressions: every node binds with a known strength, so no parenthesis is needless.

>>> import ast, io
>>> out = io.StringIO()
>>> _ = ExpressionPrinter(ast.parse("(a + (b * c))[1, *d]", mode="eval"), out)
>>> print(out.getvalue().strip())
(a + b * c)[1, *d]
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterable
from typing import Any

from astunparse import Unparser

from graphify.syntax.fstring import fstring

WIDTH = 96  # calls that reach further are broken between their arguments

# Binding strength, weakest first. An expression is parenthesised where a stronger one is wanted.
(
    NAMED,
    YIELD,
    TUPLE,
    TEST,
    OR,
    AND,
    NOT,
    COMPARE,
    BITOR,
    BITXOR,
    BITAND,
    SHIFT,
    SUM,
    PRODUCT,
    UNARY,
    POWER,
    AWAIT,
    ATOM,
) = range(18)

BINARY = {
    ast.BitOr: ("|", BITOR),
    ast.BitXor: ("^", BITXOR),
    ast.BitAnd: ("&", BITAND),
    ast.LShift: ("<<", SHIFT),
    ast.RShift: (">>", SHIFT),
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.MatMult: ("@", PRODUCT),
    ast.Div: ("/", PRODUCT),
    ast.FloorDiv: ("//", PRODUCT),
    ast.Mod: ("%", PRODUCT),
    ast.Pow: ("**", POWER),
}
UNARY_OPS = {
    ast.Not: ("not ", NOT),
    ast.USub: ("-", UNARY),
    ast.UAdd: ("+", UNARY),
    ast.Invert: ("~", UNARY),
}
COMPARISONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
WEAK = {
    ast.NamedExpr: NAMED,
    ast.Tuple: TUPLE,
    ast.Yield: YIELD,
    ast.YieldFrom: YIELD,
    ast.IfExp: TEST,
    ast.Lambda: TEST,
    ast.Compare: COMPARE,
    ast.Await: AWAIT,
}


def precedence(node: ast.expr) -> int:
    """How strongly an expression holds together."""
    if isinstance(node, ast.BinOp):
        return BINARY[type(node.op)][1]
    if isinstance(node, ast.UnaryOp):
        return UNARY_OPS[type(node.op)][1]
    if isinstance(node, ast.Tuple) and len(node.elts) < 2:
        return ATOM  # it brings its own parentheses
    if isinstance(node, ast.BoolOp):
        return AND if isinstance(node.op, ast.And) else OR
    return WEAK.get(type(node), ATOM)


class ExpressionPrinter(Unparser):  # type: ignore[misc]  # its base is untyped
    """Writes an expression to a file."""

    f: Any  # the file, which `Unparser` sets
    breakable: ast.AST | None = None  # the call that may take several lines

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, ast.expr):
            self.expr(tree, TEST)
        else:
            super().dispatch(tree)

    def expr(self, node: ast.expr, level: int) -> None:
        """Write an expression, in parentheses if it binds weaker than `level`."""
        bare = precedence(node) >= level
        self.write("" if bare else "(")
        getattr(self, "_" + type(node).__name__)(node)
        self.write("" if bare else ")")

    def commas(self, items: Iterable[Any], write: Callable[[Any], None] | None = None) -> None:
        for index, item in enumerate(items):
            self.write(", " if index else "")
            (write or self.dispatch)(item)

    def _Constant(self, node: ast.Constant) -> None:
        if node.value is Ellipsis:
            self.write("...")
        elif isinstance(node.value, (float, complex)):
            self.write(repr(node.value).replace("inf", "1e309"))
        elif isinstance(node.value, str):
            self.write(("u" if node.kind == "u" else "") + quoted(node.value))
        else:
            self.write(repr(node.value))

    def _NamedExpr(self, node: ast.NamedExpr) -> None:
        self.expr(node.target, ATOM)
        self.write(" := ")
        self.expr(node.value, TEST)

    def _BinOp(self, node: ast.BinOp) -> None:
        sign, level = BINARY[type(node.op)]
        right_first = isinstance(node.op, ast.Pow)
        self.expr(node.left, level + right_first)
        self.write(f" {sign} " if not right_first else "**")
        self.expr(node.right, UNARY if right_first else level + 1)

    def _UnaryOp(self, node: ast.UnaryOp) -> None:
        sign, level = UNARY_OPS[type(node.op)]
        self.write(sign)
        self.expr(node.operand, level)

    def _BoolOp(self, node: ast.BoolOp) -> None:
        for index, value in enumerate(node.values):
            if index:
                self.write(" and " if isinstance(node.op, ast.And) else " or ")
            self.expr(value, precedence(node) + 1)

    def _Compare(self, node: ast.Compare) -> None:
        self.expr(node.left, COMPARE + 1)
        for op, right in zip(node.ops, node.comparators, strict=True):
            self.write(f" {COMPARISONS[type(op)]} ")
            self.expr(right, COMPARE + 1)

    def _IfExp(self, node: ast.IfExp) -> None:
        self.expr(node.body, TEST + 1)
        self.write(" if ")
        self.expr(node.test, TEST + 1)
        self.write(" else ")
        self.expr(node.orelse, TEST)

    def _Lambda(self, node: ast.Lambda) -> None:
        arguments = node.args
        some = arguments.posonlyargs or arguments.args or arguments.kwonlyargs
        self.write("lambda " if some or arguments.vararg or arguments.kwarg else "lambda")
        self.dispatch(arguments)
        self.write(": ")
        self.expr(node.body, TEST)

    def _arguments(self, node: ast.arguments) -> None:
        plain = [*node.posonlyargs, *node.args]
        missing: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults))
        parts: list[Any] = list(zip(plain, [*missing, *node.defaults], strict=True))
        if node.posonlyargs:
            parts.insert(len(node.posonlyargs), "/")
        if node.vararg is not None:
            parts.append(("*", node.vararg))
        elif node.kwonlyargs:
            parts.append("*")
        parts += zip(node.kwonlyargs, node.kw_defaults, strict=True)
        if node.kwarg is not None:
            parts.append(("**", node.kwarg))
        self.commas(parts, self._parameter)

    def _parameter(self, part: Any) -> None:
        if isinstance(part, str):
            self.write(part)
        elif isinstance(part[0], str):
            self.write(part[0])
            self.dispatch(part[1])
        else:
            self.dispatch(part[0])
            if part[1] is not None:
                self.write(" = " if part[0].annotation is not None else "=")
                self.dispatch(part[1])

    def _arg(self, node: ast.arg) -> None:
        self.write(node.arg)
        if node.annotation is not None:
            self.write(": ")
            self.dispatch(node.annotation)

    def _Call(self, node: ast.Call) -> None:
        self.expr(node.func, ATOM)
        self.write("(")
        match (node.args, node.keywords):
            case ([ast.GeneratorExp() as only], []):
                self._generators(only, only.elt)
            case _:
                self._call_arguments(node)
        self.write(")")

    def _call_arguments(self, node: ast.Call) -> None:
        """Arguments with commas; if they may, on as many lines as they need."""
        start = self._column()
        texts = [self._text_of(argument) for argument in (*node.args, *node.keywords)]
        total = start + sum(len(text) + 2 for text in texts)
        if node is not self.breakable or not texts or total <= WIDTH:
            self.write(", ".join(texts))
            return
        hanging = start + max(map(len, texts)) > WIDTH
        column = 4 * self._indent + 4 if hanging else start
        at = WIDTH if hanging else start
        for index, text in enumerate(texts):
            fits = at + len(text) + 3 <= WIDTH
            self.write("," if index else "")
            if not index and not hanging:
                self.write(text)
            else:
                self.write(" " + text if fits else "\n" + " " * column + text)
                at = at + 2 if fits else column
            at += len(text)

    def _column(self) -> int:
        text: str = self.f.getvalue()
        return len(text) - text.rfind("\n") - 1

    def _text_of(self, node: Any) -> str:
        """What a node prints as."""
        outer, self.f = self.f, io.StringIO()
        self.dispatch(node)
        text: str = self.f.getvalue()
        self.f = outer
        return text

    def _keyword(self, node: ast.keyword) -> None:
        self.write("**" if node.arg is None else f"{node.arg}=")
        self.dispatch(node.value)

    def _Attribute(self, node: ast.Attribute) -> None:
        self.expr(node.value, ATOM)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
            self.write(" ")
        self.write(f".{node.attr}")

    def _Subscript(self, node: ast.Subscript) -> None:
        self.expr(node.value, ATOM)
        self.write("[")
        if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 1:
            self.commas(node.slice.elts)
        else:
            self.expr(node.slice, TUPLE)
        self.write("]")

    def _Slice(self, node: ast.Slice) -> None:
        if node.lower is not None:
            self.dispatch(node.lower)
        self.write(":")
        if node.upper is not None:
            self.dispatch(node.upper)
        if node.step is not None:
            self.write(":")
            self.dispatch(node.step)

    def _Starred(self, node: ast.Starred) -> None:
        self.write("*")
        self.expr(node.value, BITOR)

    def _Tuple(self, node: ast.Tuple) -> None:
        if len(node.elts) < 2:
            self.write("(")
            self.commas(node.elts)
            self.write(",)" if node.elts else ")")
        else:
            self.commas(node.elts)

    def _List(self, node: ast.List) -> None:
        self.write("[")
        self.commas(node.elts)
        self.write("]")

    def _Set(self, node: ast.Set) -> None:
        self.write("{")
        self.commas(node.elts)
        self.write("}" if node.elts else "*()}")

    def _Dict(self, node: ast.Dict) -> None:
        self.write("{")
        self.commas(zip(node.keys, node.values, strict=True), self._dict_item)
        self.write("}")

    def _dict_item(self, item: tuple[ast.expr | None, ast.expr]) -> None:
        if item[0] is None:
            self.write("**")
            self.expr(item[1], BITOR)
            return
        self.dispatch(item[0])
        self.write(": ")
        self.dispatch(item[1])

    def _generators(self, node: Any, *elements: ast.expr) -> None:
        for index, element in enumerate(elements):
            self.write(": " if index else "")
            self.expr(element, TEST)
        for generator in node.generators:
            self.write(" async for " if generator.is_async else " for ")
            self.expr(generator.target, TUPLE)
            self.write(" in ")
            self.expr(generator.iter, TEST + 1)
            for test in generator.ifs:
                self.write(" if ")
                self.expr(test, TEST + 1)

    def _ListComp(self, node: ast.ListComp) -> None:
        self.write("[")
        self._generators(node, node.elt)
        self.write("]")

    def _SetComp(self, node: ast.SetComp) -> None:
        self.write("{")
        self._generators(node, node.elt)
        self.write("}")

    def _DictComp(self, node: ast.DictComp) -> None:
        self.write("{")
        self._generators(node, node.key, node.value)
        self.write("}")

    def _GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.write("(")
        self._generators(node, node.elt)
        self.write(")")

    def _Yield(self, node: ast.Yield) -> None:
        self.write("yield" if node.value is None else "yield ")
        if node.value is not None:
            self.expr(node.value, TUPLE)

    def _YieldFrom(self, node: ast.YieldFrom) -> None:
        self.write("yield from ")
        self.dispatch(node.value)

    def _Await(self, node: ast.Await) -> None:
        self.write("await ")
        self.expr(node.value, ATOM)

    def _JoinedStr(self, node: ast.JoinedStr) -> None:
        self.write(fstring(node, self._piece))

    def _piece(self, node: ast.expr) -> str:
        """The text of an expression that stands inside an f-string."""
        outer, self.f = self.f, io.StringIO()
        self.expr(node, TEST + 1)
        text: str = self.f.getvalue()
        self.f = outer
        return text


def quoted(text: str) -> str:
    """A string literal, in double quotes unless it holds some."""
    literal = repr(text)
    return literal if '"' in text or literal[0] == '"' else f'"{literal[1:-1]}"'
