"""Tree -> readable Python: no needless parentheses, all of the grammar, comments naming lines.

    >>> import ast
    >>> print(to_source(ast.parse("x = (a + (b * c))[1, *d]")))
    x = (a + b * c)[1, *d]

`astunparse.Unparser` brings the walk and the simple statements; this subclass adds what it lacks:
operator precedence, `match`, `except*`, starred indexes, type parameters, f-strings, docstrings.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterable
from typing import Any

import gast
from astunparse import Unparser

from graphify.syntax.fstring import fstring

# Binding strength, weakest first. An expression is parenthesised where a stronger one is wanted.
(NAMED, YIELD, TUPLE, TEST, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, PRODUCT,
 UNARY, POWER, AWAIT, ATOM) = range(18)

BINARY = {
    ast.BitOr: ("|", BITOR), ast.BitXor: ("^", BITXOR), ast.BitAnd: ("&", BITAND),
    ast.LShift: ("<<", SHIFT), ast.RShift: (">>", SHIFT), ast.Add: ("+", SUM), ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT), ast.MatMult: ("@", PRODUCT), ast.Div: ("/", PRODUCT),
    ast.FloorDiv: ("//", PRODUCT), ast.Mod: ("%", PRODUCT), ast.Pow: ("**", POWER),
}
UNARY_OPS = {ast.Not: ("not ", NOT), ast.USub: ("-", UNARY), ast.UAdd: ("+", UNARY),
             ast.Invert: ("~", UNARY)}
COMPARISONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}
WEAK = {ast.NamedExpr: NAMED, ast.Tuple: TUPLE, ast.Yield: YIELD, ast.YieldFrom: YIELD,
        ast.IfExp: TEST, ast.Lambda: TEST, ast.Compare: COMPARE, ast.Await: AWAIT}
Comment = Callable[[Any], str | None]


WIDTH = 96  # calls that reach further are broken between their arguments


def to_source(tree: Any, comment: Comment | None = None) -> str:
    """Print a stdlib `ast` or a `gast` tree.

    Args:
        tree: a module, statement or expression.
        comment: called with each statement; what it returns is put at the end of the line.

    Returns:
        The text, without a newline at the end.
    """
    if type(tree).__module__.startswith("gast"):
        tree = gast.gast_to_ast(tree)
    return Printer(tree, comment).text


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


class Printer(Unparser):  # type: ignore[misc]
    """Writes one tree; the result is in `text`."""

    def __init__(self, tree: ast.AST, comment: Comment | None = None) -> None:
        self._comment_of, self._comment = comment, ""
        self._nested = 0  # how many calls deep
        out = io.StringIO()
        super().__init__(tree, out)
        self.text = out.getvalue().strip("\n")

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, ast.expr):
            self.expr(tree, TEST)
        elif isinstance(tree, ast.stmt):
            note = self._comment_of(tree) if self._comment_of else None
            self._comment = f"  # {note}" if note else ""
            super().dispatch(tree)
            self._end_of_line()
        else:
            super().dispatch(tree)

    def enter(self) -> None:
        super().enter()
        self._end_of_line()

    def _end_of_line(self) -> None:
        self.write(self._comment)
        self._comment = ""

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

    def line(self, text: str, value: ast.expr | None = None, level: int = TUPLE) -> None:
        self.fill(text)
        if value is not None:
            self.expr(value, level)

    def block(self, head: str, body: list[ast.stmt]) -> None:
        if head:
            self.fill(head)
        self.enter()
        self.dispatch(body)
        self.leave()

    # Statements

    def _Module(self, node: ast.Module) -> None:
        self._body(node.body)

    def _body(self, body: list[ast.stmt]) -> None:
        first = body[0] if body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            if isinstance(first.value.value, str):
                self.fill(docstring(first.value.value))
                body = body[1:]
        self.dispatch(body)

    def _Expr(self, node: ast.Expr) -> None:
        self.fill()
        self.expr(node.value, YIELD)

    def _Assign(self, node: ast.Assign) -> None:
        self.fill()
        for target in node.targets:
            self.expr(target, TUPLE)
            self.write(" = ")
        self.expr(node.value, YIELD)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        self.line("", node.target)
        self.write(f" {BINARY[type(node.op)][0]}= ")
        self.expr(node.value, YIELD)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        self.fill()
        bare = bool(node.simple) or not isinstance(node.target, ast.Name)
        self.expr(node.target, TEST if bare else ATOM + 1)
        self.write(": ")
        self.dispatch(node.annotation)
        if node.value is not None:
            self.write(" = ")
            self.expr(node.value, YIELD)

    def _Return(self, node: ast.Return) -> None:
        self.line("return " if node.value is not None else "return", node.value)

    def _Delete(self, node: ast.Delete) -> None:
        self.fill("del ")
        self.commas(node.targets)

    def _Assert(self, node: ast.Assert) -> None:
        self.line("assert ", node.test, TEST)
        if node.msg is not None:
            self.write(", ")
            self.dispatch(node.msg)

    def _Raise(self, node: ast.Raise) -> None:
        self.line("raise " if node.exc is not None else "raise", node.exc, TEST)
        if node.cause is not None:
            self.write(" from ")
            self.dispatch(node.cause)

    def _TypeAlias(self, node: Any) -> None:
        self.line("type ", node.name)
        self._type_params(node)
        self.write(" = ")
        self.dispatch(node.value)

    def _FunctionDef(self, node: Any, keyword: str = "def") -> None:
        for decorator in node.decorator_list:
            self.line("@", decorator, TEST)
        self.fill(f"{keyword} {node.name}")
        self._type_params(node)
        self.write("(")
        self.dispatch(node.args)
        self.write(")")
        if node.returns is not None:
            self.write(" -> ")
            self.dispatch(node.returns)
        self.enter()
        self._body(node.body)
        self.leave()

    def _AsyncFunctionDef(self, node: Any) -> None:
        self._FunctionDef(node, "async def")

    def _ClassDef(self, node: Any) -> None:
        for decorator in node.decorator_list:
            self.line("@", decorator, TEST)
        self.fill(f"class {node.name}")
        self._type_params(node)
        if node.bases or node.keywords:
            self.write("(")
            self.commas([*node.bases, *node.keywords])
            self.write(")")
        self.enter()
        self._body(node.body)
        self.leave()

    def _type_params(self, node: Any) -> None:
        if getattr(node, "type_params", None):
            self.write("[")
            self.commas(node.type_params)
            self.write("]")

    def _TypeVar(self, node: Any, prefix: str = "") -> None:
        self.write(prefix + node.name)
        for sign, part in ((": ", "bound"), (" = ", "default_value")):
            if getattr(node, part, None) is not None:
                self.write(sign)
                self.dispatch(getattr(node, part))

    def _TypeVarTuple(self, node: Any) -> None:
        self._TypeVar(node, "*")

    def _ParamSpec(self, node: Any) -> None:
        self._TypeVar(node, "**")

    def _If(self, node: ast.If, keyword: str = "if ") -> None:
        self.line(keyword, node.test, TEST)
        self.block("", node.body)
        match node.orelse:
            case [ast.If() as chained]:
                note = self._comment_of(chained) if self._comment_of else None
                self._comment = f"  # {note}" if note else ""
                self._If(chained, "elif ")
            case [_, *_]:
                self.block("else", node.orelse)

    def _While(self, node: ast.While) -> None:
        self.line("while ", node.test, TEST)
        self.block("", node.body)
        self._optional("else", node.orelse)

    def _For(self, node: Any, keyword: str = "for ") -> None:
        self.line(keyword, node.target)
        self.write(" in ")
        self.expr(node.iter, TUPLE)
        self.block("", node.body)
        self._optional("else", node.orelse)

    def _AsyncFor(self, node: Any) -> None:
        self._For(node, "async for ")

    def _optional(self, head: str, body: list[ast.stmt]) -> None:
        if body:
            self.block(head, body)

    def _With(self, node: Any, keyword: str = "with ") -> None:
        self.fill(keyword)
        self.commas(node.items)
        self.block("", node.body)

    def _AsyncWith(self, node: Any) -> None:
        self._With(node, "async with ")

    def _withitem(self, node: ast.withitem) -> None:
        self.expr(node.context_expr, TEST)
        if node.optional_vars is not None:
            self.write(" as ")
            self.expr(node.optional_vars, TEST)

    def _Try(self, node: Any, star: str = "") -> None:
        self.block("try", node.body)
        for handler in node.handlers:
            head = f"except{star} " if handler.type is not None else "except"
            self.line(head, handler.type, TEST)
            self.write(f" as {handler.name}" if handler.name else "")
            self.block("", handler.body)
        self._optional("else", node.orelse)
        self._optional("finally", node.finalbody)

    def _TryStar(self, node: Any) -> None:
        self._Try(node, "*")

    def _Match(self, node: ast.Match) -> None:
        self.line("match ", node.subject)
        self.enter()
        for case in node.cases:
            self.fill("case ")
            self.pattern(case.pattern)
            if case.guard is not None:
                self.write(" if ")
                self.dispatch(case.guard)
            self.block("", case.body)
        self.leave()

    def pattern(self, node: ast.pattern, nested: bool = False) -> None:
        """Write a pattern; `|` and `as` are parenthesised inside another pattern."""
        weak = isinstance(node, ast.MatchOr) or (
            isinstance(node, ast.MatchAs) and node.pattern is not None)
        self.write("(" if weak and nested else "")
        getattr(self, "_" + type(node).__name__)(node)
        self.write(")" if weak and nested else "")

    def _MatchValue(self, node: ast.MatchValue) -> None:
        self.dispatch(node.value)

    def _MatchSingleton(self, node: ast.MatchSingleton) -> None:
        self.write(repr(node.value))

    def _MatchSequence(self, node: ast.MatchSequence) -> None:
        self.write("[")
        self.commas(node.patterns, self.pattern)
        self.write("]")

    def _MatchStar(self, node: ast.MatchStar) -> None:
        self.write(f"*{node.name or '_'}")

    def _MatchMapping(self, node: ast.MatchMapping) -> None:
        pairs: list[Any] = list(zip(node.keys, node.patterns, strict=True))
        self.write("{")
        self.commas([*pairs, *([node.rest] if node.rest else [])], self._mapping_item)
        self.write("}")

    def _mapping_item(self, item: Any) -> None:
        if isinstance(item, str):
            self.write(f"**{item}")
            return
        self.dispatch(item[0])
        self.write(": ")
        self.pattern(item[1])

    def _MatchClass(self, node: ast.MatchClass) -> None:
        self.expr(node.cls, ATOM)
        named = zip(node.kwd_attrs, node.kwd_patterns, strict=True)
        self.write("(")
        self.commas([*((None, p) for p in node.patterns), *named], self._class_item)
        self.write(")")

    def _class_item(self, item: tuple[str | None, ast.pattern]) -> None:
        self.write(f"{item[0]}=" if item[0] else "")
        self.pattern(item[1])

    def _MatchAs(self, node: ast.MatchAs) -> None:
        if node.pattern is not None:
            self.pattern(node.pattern, nested=isinstance(node.pattern, ast.MatchAs))
            self.write(" as ")
        self.write(node.name or "_")

    def _MatchOr(self, node: ast.MatchOr) -> None:
        for index, choice in enumerate(node.patterns):
            self.write(" | " if index else "")
            self.pattern(choice, nested=True)

    # Expressions

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
                self._arguments_in_lines([*node.args, *node.keywords])
        self.write(")")

    def _arguments_in_lines(self, arguments: list[Any]) -> None:
        """Arguments with commas; of an outermost call, on as many lines as they need."""
        column = self._column() if not self._nested else 0
        self._nested += 1
        texts = [self._text_of(argument) for argument in arguments]
        self._nested -= 1
        at = column
        for index, text in enumerate(texts):
            self.write("," if index else "")
            if column and index and at + len(text) + 2 > WIDTH:
                self.write("\n" + " " * column + text)
                at = column + len(text)
            else:
                self.write(" " * bool(index) + text)
                at += len(text) + 2

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
        self._nested += 1
        self.expr(node, TEST + 1)
        self._nested -= 1
        text: str = self.f.getvalue()
        self.f = outer
        return text


def quoted(text: str) -> str:
    """A string literal, in double quotes unless it holds some."""
    literal = repr(text)
    return literal if '"' in text or literal[0] == '"' else f'"{literal[1:-1]}"'


def docstring(text: str) -> str:
    """A string literal as docstrings are written, if the text allows it."""
    if not all(c.isprintable() or c in "\n\t" for c in text) or text.endswith(("\\", '"')):
        return repr(text)
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{escaped}"""'
