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
from collections.abc import Callable
from typing import Any

import gast

from graphify.syntax.expressions import ATOM, BINARY, TEST, TUPLE, YIELD, ExpressionPrinter

Comment = Callable[[Any], str | None]


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


class Printer(ExpressionPrinter):
    """Writes one tree; the result is in `text`."""

    def __init__(self, tree: ast.AST, comment: Comment | None = None) -> None:
        self._comment_of, self._comment = comment, ""
        out = io.StringIO()
        super().__init__(tree, out)
        self.text = out.getvalue().strip("\n")

    def dispatch(self, tree: Any) -> None:
        if isinstance(tree, ast.stmt):
            note = self._comment_of(tree) if self._comment_of else None
            self._comment = f"  # {note}" if note else ""
            self.breakable = getattr(tree, "value", None)
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
        match body:
            case [ast.Expr(value=ast.Constant(value=str() as text)), *_]:
                self.fill(docstring(text))
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
            isinstance(node, ast.MatchAs) and node.pattern is not None
        )
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


def docstring(text: str) -> str:
    """A string literal as docstrings are written, if the text allows it."""
    if not all(c.isprintable() or c in "\n\t" for c in text) or text.endswith(("\\", '"')):
        return repr(text)
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{escaped}"""'
