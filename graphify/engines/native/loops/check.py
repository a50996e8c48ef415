"""The law of loop-level programs, and whether a program keeps it.

    check(program)      # InternalError: ... showing the statement, or nothing

Variables are declared before they are used, and used where they can be seen; buffers are touched
between their `Allocate` and their `Free`; dtypes and ranks agree; only mutable variables change; a
vector loop holds what can run in lanes; sites and hosts exist. Run on every program that is
translated while `config.check` is on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from graphify.engines.native.loops.pretty import block_text
from graphify.engines.native.loops.program import (
    BOOL,
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
    Handle,
    If,
    Let,
    Literal,
    Load,
    Note,
    Point,
    Program,
    Reduce,
    Result,
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
from graphify.engines.native.loops.summary import meet, summary
from graphify.engines.native.loops.walk import statements
from graphify.errors import InternalError

KINDS = ("serial", "vector", "parallel", "reduce", "accumulate")
SHOWN = 8  # lines of a statement that an error shows
_COMPARE = frozenset(["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
_LOGICAL = frozenset(["logical_and", "logical_or", "logical_not", "logical_xor"])
_ALIKE = frozenset(["add", "subtract", "multiply"])  # of INDEX: operands and result alike


def check(program: Program) -> None:
    """Raise unless a program keeps the law.

    Raises:
        InternalError: what is wrong, and the statement.
    """
    _Checker(program).run()


class _Checker:
    """What can be seen and touched at the place that is looked at."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.visible: set[Var] = set()
        self.live: set[Buffer] = set()
        self.stmt: Stmt | None = None
        self.loops: list[For | While] = []
        self.since: dict[Buffer, int] = {}  # how many loops were open at the allocation

    def run(self) -> None:
        program = self.program
        for buffer in program.params:
            self.visible.update(v for v in buffer.shape if isinstance(v, Var))
            self.visible.update(v for v in buffer.strides or () if isinstance(v, Var))
            self.live.add(buffer)
        self.sequence(program.sizes)
        self.need(len(program.dims) == len(program.results), "one shape for each result")
        allocated = {s.buffer for s in statements(program.body) if isinstance(s, Allocate)}
        for buffer, dims in zip(program.results, program.dims, strict=True):
            if dims is not None:
                self.need(len(dims) == buffer.ndim, f"the rank of result {buffer.name}")
                self.expressions(dims, INDEX)
                if buffer not in allocated:
                    self.live.add(buffer)
        self.sequence(program.body)

    # --- errors ---------------------------------------------------------------------------------

    def fail(self, problem: str) -> NoReturn:
        lines = [f"loop-level program {self.program.name}: {problem}"]
        if self.stmt is not None:
            text = block_text((self.stmt,)).splitlines()
            lines += ["in", *(f"    {line}" for line in text[:SHOWN])]
            lines += ["    ..."] * (len(text) > SHOWN)
        raise InternalError("\n".join(lines))

    def need(self, condition: object, rule: str) -> None:
        if not condition:
            self.fail(f"not so: {rule}")

    # --- blocks ---------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Statements whose declarations end with them."""
        visible, live = set(self.visible), set(self.live)
        self.sequence(block)
        freed = live - self.live
        handles = {b for b in self.live if isinstance(b.home, Handle)}
        self.visible, self.live = visible, (live - freed) | handles

    def sequence(self, block: Block) -> None:
        for stmt in block:
            outer, self.stmt = self.stmt, stmt
            rule = _RULES.get(type(stmt))
            if rule is None:
                self.fail(f"not a statement: {type(stmt).__name__}")
            rule(self, stmt)
            self.stmt = outer

    # --- expressions ----------------------------------------------------------------------------

    def expressions(self, exprs: Iterable[Expr], dtype: Any = None) -> None:
        for expr in exprs:
            self.expression(expr, dtype)

    def expression(self, expr: Expr, dtype: Any = None) -> None:
        """All parts of an expression, and its dtype if it must have a certain one."""
        if dtype is not None and expr.dtype != dtype:
            self.fail(f"expected an expression of {dtype}, got {expr.dtype}")
        stack = [expr]
        while stack:
            part = stack.pop()
            match part:
                case Const():
                    pass
                case Var():
                    if part not in self.visible:
                        self.fail(f"the variable {part.name!r} is not declared here")
                case Load(buffer, index):
                    self.touch(buffer)
                    self.index(buffer, index)
                    stack += index
                case Apply():
                    self.operation(part)
                    stack += part.args
                case _:
                    self.fail(f"not an expression: {part!r}")

    def operation(self, apply: Apply) -> None:
        op, kinds = apply.op, [a.dtype for a in apply.args]
        if op == "where":
            self.need(
                len(kinds) == 3 and kinds[0] == BOOL,
                "`where` has a bool and two values",
            )
            self.need(
                kinds[1] == kinds[2] == apply.dtype,
                "both sides of `where` have its dtype",
            )
        elif op == "cast":
            self.need(len(kinds) == 1, "`cast` has one operand")
        elif op in _COMPARE or op in _LOGICAL:
            self.need(apply.dtype == BOOL, f"{op} gives a bool")
        elif op in _ALIKE and INDEX in kinds and apply.dtype == INDEX:
            self.need(kinds == [INDEX, INDEX], f"{op} of int64 has operands of int64")
        if op not in _operations():
            self.fail(f"no operation {op!r}")

    # --- buffers --------------------------------------------------------------------------------

    def index(self, buffer: Buffer, index: tuple[Expr, ...]) -> None:
        if len(index) != buffer.ndim:
            self.fail(f"{buffer.name} has {buffer.ndim} axes, and {len(index)} indices")
        for i in index:
            if i.dtype != INDEX:
                self.fail(f"an index of {buffer.name} is {i.dtype}")

    def touch(self, buffer: Buffer) -> None:
        """A buffer must be there, and what its address is made of visible."""
        if buffer.strides is not None:
            self.need(
                len(buffer.strides) == buffer.ndim,
                f"one stride per axis of {buffer.name}",
            )
            self.expressions(buffer.strides, INDEX)
        else:
            self.expressions(buffer.shape[1:], INDEX)
        while isinstance(buffer.home, View):
            self.expression(buffer.home.offset, INDEX)
            buffer = buffer.home.base
        if buffer not in self.live and not isinstance(buffer.home, Literal):
            self.fail(f"the buffer {buffer.name!r} has no memory here")

    # --- variables ------------------------------------------------------------------------------

    def declare(self, var: Var) -> None:
        if var in self.visible and not var.mutable:
            self.fail(f"the variable {var.name!r} is declared already")
        self.visible.add(var)

    def change(self, var: Var) -> None:
        self.need(var.mutable, f"the variable {var.name!r} may change")
        if var not in self.visible:
            self.fail(f"the variable {var.name!r} is not declared here")


# --- statements -----------------------------------------------------------------------------------


def _let(c: _Checker, stmt: Let) -> None:
    c.expression(stmt.value, stmt.var.dtype)
    c.declare(stmt.var)


def _checked(c: _Checker, stmt: Checked) -> None:
    c.expressions(stmt.args)
    _site(c, stmt.site)
    c.need(not stmt.var.mutable, "what `Checked` declares does not change")
    c.declare(stmt.var)


def _site(c: _Checker, site: int) -> None:
    if not 1 <= site <= len(c.program.sites):
        c.fail(f"there is no failure site {site}")


def _set(c: _Checker, stmt: Set) -> None:
    c.expression(stmt.value, stmt.var.dtype)
    c.change(stmt.var)


def _store(c: _Checker, stmt: Store) -> None:
    c.touch(stmt.buffer)
    c.index(stmt.buffer, stmt.index)
    c.expressions(stmt.index, INDEX)
    c.expression(stmt.value, stmt.buffer.dtype)
    c.need(not isinstance(stmt.buffer.root.home, Literal), "constant data does not change")


def _reduce(c: _Checker, stmt: Reduce) -> None:
    c.expression(stmt.value, stmt.var.dtype)
    c.change(stmt.var)


def _for(c: _Checker, stmt: For) -> None:
    c.expression(stmt.extent, INDEX)
    c.need(stmt.kind in KINDS, f"a loop is {' or '.join(KINDS)}, not {stmt.kind!r}")
    c.need(stmt.var.dtype == INDEX and not stmt.var.mutable, "an index is a fixed int64")
    if stmt.kind == "vector":
        _lanes(c, stmt)
    if stmt.kind == "parallel":
        _turns(c, stmt)
    visible = set(c.visible)
    c.declare(stmt.var)
    c.loops.append(stmt)
    c.block(stmt.body)
    c.loops.pop()
    c.visible = visible


def _lanes(c: _Checker, stmt: For) -> None:
    """A vector loop."""
    inside = list(statements(stmt.body))
    own = {s.var for s in inside if isinstance(s, Let)}
    for inner in inside:
        match inner:
            case Set(var):
                c.need(var in own, "a vector loop sets variables of its own only")
            case Let() | Store() | Reduce() | Note() | If() | For() | While():
                pass
            case _:
                c.fail(f"a vector loop holds no {type(inner).__name__}")


def _turns(c: _Checker, stmt: For) -> None:
    """A parallel loop."""
    inside = {s.var for s in statements(stmt.body) if isinstance(s, Let)}
    for inner in statements(stmt.body):
        if isinstance(inner, Set) and inner.var not in inside:
            c.fail(f"a parallel loop sets the variable {inner.var.name!r} of the outside")


def _while(c: _Checker, stmt: While) -> None:
    c.loops.append(stmt)
    c.block((*stmt.test, If(stmt.condition, stmt.body)))
    c.loops.pop()


def _if(c: _Checker, stmt: If) -> None:
    c.expression(stmt.condition, BOOL)
    live = set(c.live)
    c.block(stmt.then)
    after, c.live = c.live, live
    c.block(stmt.orelse)
    kept = {b for b in after ^ c.live if isinstance(b.home, Handle)}
    c.live = (after & c.live) | kept


def _section(c: _Checker, stmt: Section) -> None:
    c.fail("a section stands among the parts of `Sections` only")


def _sections(c: _Checker, stmt: Sections) -> None:
    c.need(len(stmt.parts) > 1, "there are several sections")
    facts = [summary(part) for part in stmt.parts]
    for k, (part, fact) in enumerate(zip(stmt.parts, facts, strict=True)):
        if not isinstance(part, Section):
            c.fail(f"a part of `Sections` is a section, not a {type(part).__name__}")
        c.need(not fact.effects, "sections call no Python")
        c.need(not any(meet(fact, other) for other in facts[:k]), "sections are independent")
        handles = any(isinstance(b.home, Handle) for b in fact.writes)
        c.need(not handles, "sections leave handles alone")
        results = any(isinstance(b.home, Result) for b in fact.allocates)
        c.need(not results, "sections allocate no results")
        c.block(part.body)


def _allocate(c: _Checker, stmt: Allocate) -> None:
    home = stmt.buffer.home
    c.expressions(stmt.buffer.shape, INDEX)
    c.need(not isinstance(home, View | Literal), "views and constants have memory already")
    c.need(
        stmt.buffer not in c.live or isinstance(home, Handle),
        f"{stmt.buffer.name} has no memory",
    )
    c.live.add(stmt.buffer)
    c.since[stmt.buffer] = len(c.loops)


def _free(c: _Checker, stmt: Free) -> None:
    buffer = stmt.buffer
    if isinstance(buffer.home, Handle):
        c.live.discard(buffer)
        return
    c.touch(buffer)
    c.need(buffer in c.since, f"{buffer.name} was allocated here")
    c.need(
        c.since[buffer] == len(c.loops),
        f"{buffer.name} is freed in the loop that allocated it",
    )
    c.live.discard(buffer)


def _point(c: _Checker, stmt: Point) -> None:
    c.need(isinstance(stmt.handle.home, Handle), "handles are aimed, nothing else")
    c.need(stmt.handle.dtype == stmt.target.dtype, "a handle and its target have one dtype")
    c.touch(stmt.target)
    c.live.add(stmt.handle)


def _swap(c: _Checker, stmt: Swap) -> None:
    for handle in (stmt.a, stmt.b):
        c.need(isinstance(handle.home, Handle), "handles are swapped, nothing else")
        c.touch(handle)


def _call(c: _Checker, stmt: Call) -> None:
    for buffer in stmt.inputs:
        c.touch(buffer)
        c.expressions(buffer.shape, INDEX)
    c.expressions(stmt.scalars)
    for var in stmt.variables:
        c.change(var)
    for buffer in stmt.outputs:
        if isinstance(buffer.home, Handle):
            c.live.add(buffer)
        c.touch(buffer)
        c.expressions(buffer.shape, INDEX)
    if stmt.body:
        c.need(all(isinstance(s, (Let, Store, Note)) for s in stmt.body), "an epilogue is plain")
        c.need(len(stmt.turn) == stmt.outputs[0].ndim, "one index for each axis of the output")
        visible = set(c.visible)
        c.visible.update(stmt.turn)
        c.block(stmt.body)
        c.visible = visible
    if stmt.function in ("host", "lock", "draw"):
        number = stmt.attrs.get("number")
        if not isinstance(number, int) or not 0 <= number < len(c.program.hosts):
            c.fail(f"there is no host function {number}")
    if stmt.function == "routine" and stmt.attrs["number"] >= len(c.program.routines):
        c.fail(f"there is no routine {stmt.attrs['number']}")


def _fail(c: _Checker, stmt: Fail) -> None:
    c.expression(stmt.condition, BOOL)
    c.expressions(stmt.values)
    _site(c, stmt.site)


_RULES: dict[type, Callable[[_Checker, Any], None]] = {
    Let: _let,
    Checked: _checked,
    Set: _set,
    Store: _store,
    Reduce: _reduce,
    For: _for,
    While: _while,
    If: _if,
    Section: _section,
    Sections: _sections,
    Allocate: _allocate,
    Free: _free,
    Point: _point,
    Swap: _swap,
    Call: _call,
    Fail: _fail,
    Note: lambda c, stmt: None,
}


@functools.cache
def _operations() -> frozenset[str]:
    """The operations that there are rules for; looked up late, since importing them takes time."""
    from graphify.engines.native.elements.table import SCALARS

    return frozenset(SCALARS)
