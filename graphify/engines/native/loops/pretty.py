"""The loop-level program as text that reads like Python.

    print(text(program))

    # a.py:4  e = np.exp(x - x.max(axis=1, keepdims=True))
    def softmax(x: f32[n, m]) -> (y: f32[n, m]):
        parallel for i in n:
            total = -inf  # 4
            ...

Names are made unique here. The user's lines stand above; behind `#` is the number of one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphify.engines.native.loops.lines import quoted, user_lines
from graphify.engines.native.loops.program import (
    INDEX,
    Allocate,
    Apply,
    Block,
    Buffer,
    Call,
    Checked,
    Const,
    Expr,
    Fail,
    For,
    Free,
    If,
    Let,
    Load,
    Note,
    Point,
    Program,
    Reduce,
    Section,
    Sections,
    Set,
    Stmt,
    Store,
    Swap,
    Var,
    View,
    While,
)
from graphify.ir.types import short_name

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floordiv": "//",
    "mod": "%",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "logical_and": "and",
    "logical_or": "or",
    "bitwise_and": "&",
    "bitwise_or": "|",
}
_REDUCE = {"add": "+=", "multiply": "*=", "logical_and": "and=", "logical_or": "or="}


def text(program: Program) -> str:
    """The whole program, under the user's lines that it comes from."""
    places = user_lines((*program.sizes, *program.body))
    several = len({place.file for place in places}) > 1
    lines = [f"# {line}" for line in quoted(places)]
    return "\n".join([*lines, *_Printer(several).program(program)])


def block_text(block: Block) -> str:
    """Some statements, for messages."""
    return "\n".join(_Printer().block(block))


class _Printer:
    """Keeps the names given out.

    Args:
        files: whether to say of which file a line is.
    """

    def __init__(self, files: bool = False) -> None:
        self._files = files
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set()

    def name(self, thing: Var | Buffer) -> str:
        known = self._names.get(thing)
        if known is None:
            known, n = thing.name, 2
            while known in self._taken:
                known, n = f"{thing.name}_{n}", n + 1
            self._taken.add(known)
            self._names[thing] = known
        return known

    def program(self, program: Program) -> Iterator[str]:
        params = ", ".join(self.declared(b) for b in program.params)
        results = ", ".join(self.declared(b) for b in program.results)
        yield f"def {program.name}({params}) -> ({results}):"
        lines = [*self.block(program.sizes), *self.block(program.body)]
        yield from (f"    {line}" for line in lines or ["pass"])
        for number, routine in enumerate(program.routines):
            params = ", ".join(f"{self.name(v)}: {short_name(v.dtype)}" for v in routine.params)
            results = ", ".join(f"{self.name(v)}: {short_name(v.dtype)}" for v in routine.results)
            yield ""
            yield f"def routine {number}({params}) -> ({results}):  # {routine.name}"
            yield from self.inner(routine.body)

    def declared(self, buffer: Buffer) -> str:
        dims = ", ".join(self.expr(d) for d in buffer.shape)
        kind = f"{short_name(buffer.dtype)}[{dims}]"
        if buffer.strides is not None and buffer.ndim:
            kind += f" by ({', '.join(self.expr(s) for s in buffer.strides)})"
        if isinstance(buffer.home, View):
            kind += f" at {self.name(buffer.home.base)} + {self.expr(buffer.home.offset)}"
        return f"{self.name(buffer)}: {kind}"

    def expr(self, expr: Expr, inside: bool = False) -> str:
        match expr:
            case Const(value):
                return str(value)
            case Var():
                return self.name(expr)
            case Load(buffer, index):
                return self.element(buffer, index)
            case Apply("where", (c, a, b)):
                body = f"{self.expr(a, True)} if {self.expr(c, True)} else {self.expr(b, True)}"
                return f"({body})" if inside else body
            case Apply("cast", (x,), dtype):
                return f"{short_name(dtype)}({self.expr(x)})"
            case Apply("add", (a, Const(value))) if expr.dtype == INDEX and value < 0:
                return self.expr(Apply("subtract", (a, Const(-value, INDEX)), INDEX), inside)
            case Apply(op, (a, b)) if op in _INFIX:
                body = f"{self.expr(a, True)} {_INFIX[op]} {self.expr(b, True)}"
                return f"({body})" if inside else body
            case Apply(op, args):
                return f"{op}({', '.join(map(self.expr, args))})"
        raise TypeError(f"not an expression: {expr!r}")

    def element(self, buffer: Buffer, index: tuple[Expr, ...]) -> str:
        return f"{self.name(buffer)}[{', '.join(map(self.expr, index))}]"

    def block(self, block: Block) -> Iterator[str]:
        for stmt in block:
            yield from self.statement(stmt)

    def inner(self, block: Block) -> Iterator[str]:
        lines = list(self.block(block)) or ["pass"]
        return (f"    {line}" for line in lines)

    def statement(self, stmt: Stmt) -> Iterator[str]:
        match stmt:
            case Let(var, value):
                yield self.sourced(f"{self.name(var)} = {self.expr(value)}", stmt)
            case Checked(var, op, args, when=when):
                call = self.expr(Apply(op, args, var.dtype))
                where = "" if when is None else f" when {self.expr(when)}"
                yield self.sourced(f"{self.name(var)} = exactly {call}{where}", stmt)
            case Set(var, value):
                yield self.sourced(f"{self.name(var)} := {self.expr(value)}", stmt)
            case Store(buffer, index, value):
                yield self.sourced(f"{self.element(buffer, index)} = {self.expr(value)}", stmt)
            case Reduce(var, op, value):
                sign = _REDUCE.get(op, f"{op}=")
                yield self.sourced(f"{self.name(var)} {sign} {self.expr(value)}", stmt)
            case For(var, extent, body, kind):
                head = "" if kind == "serial" else kind + " "
                yield f"{head}for {self.name(var)} in {self.expr(extent)}:"
                yield from self.inner(body)
            case While(test, condition, body):
                yield "while:"
                yield from self.inner(test)
                yield f"    unless {self.expr(condition)}: break"
                yield from self.inner(body)
            case If(condition, then, orelse):
                yield f"if {self.expr(condition)}:"
                yield from self.inner(then)
                if orelse:
                    yield "else:"
                    yield from self.inner(orelse)
            case Sections(parts):
                yield "side by side:"
                yield from self.inner(parts)
            case Section(body):
                yield "section:"
                yield from self.inner(body)
            case Allocate(buffer):
                yield f"allocate {self.declared(buffer)}"
            case Free(buffer):
                yield f"free {self.name(buffer)}"
            case Point(handle, target):
                yield f"{self.name(handle)} -> {self.declared(target)}"
            case Swap(a, b):
                yield f"{self.name(a)} <-> {self.name(b)}"
            case Call():
                yield self.sourced(self.call(stmt), stmt)
                if stmt.body:
                    yield f"for each {', '.join(map(self.name, stmt.turn))} when it is done:"
                    yield from self.inner(stmt.body)
            case Fail(condition, site, values):
                shown = "".join(f", {self.expr(v)}" for v in values)
                yield self.sourced(f"fail {site}{shown} if {self.expr(condition)}", stmt)
            case Note(line):
                yield f"# {line}"

    def call(self, call: Call) -> str:
        outputs = [self.name(b) for b in call.outputs] + [self.name(v) for v in call.variables]
        operands = [self.declared(b) for b in call.inputs] + [self.expr(s) for s in call.scalars]
        given = ", ".join(outputs)
        called = call.function
        if called == "routine":
            called += f" {call.attrs['number']}"
        elif called == "draw":
            called = call.attrs["method"]
        return f"{given + ' = ' if given else ''}{called}({', '.join(operands)})"

    def sourced(self, line: str, stmt: Any) -> str:
        if stmt.source is None:
            return line
        place = stmt.source.resolve()
        return f"{line}  # {place if self._files else place.line}"
