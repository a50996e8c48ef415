"""Whether a statement of a `try` fails: its checks, run in line, with a number for an answer.

    fail 1 if k >= n                  if k >= n: code = 1
    v = x[k]                ->        else: v = x[k]; if v < 0: code = 2
    fail 2 if v < 0

A body whose checks are more than a straight line (in loops, in calls of libraries, in the exact
arithmetic of Python's integers) is run by its reference meaning instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphify.engines.native.loops.numbers import zero
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    Call,
    Checked,
    Const,
    Fail,
    If,
    Let,
    Note,
    Set,
    Stmt,
    Var,
    index,
)
from graphify.engines.native.loops.walk import blocks_of
from graphify.engines.native.lower.effects import Meaning, negated
from graphify.engines.native.lower.lowering import Declined, Lowering, rule
from graphify.ir.graph import Node, Value
from graphify.ops.failing import Kinds, number_of, raises

# Python's integers do not fail here; where 64 bits do not hold the result, what uses it fails.
_EXACT = {"add", "subtract", "multiply", "negative", "floor_divide", "remainder"}


@rule("failure")
def _failure(low: Lowering, node: Node) -> None:
    body, kinds = node.attrs["body"], node.attrs["kinds"]
    args = [low.frame.values[value] for value in node.inputs]
    with low.inside() as block:
        low.run(body, args, {})
    code = low.variable("code", zero(INDEX))
    for stmt in _numbered(low, block, kinds, code):
        low.emit(stmt)
    low.define(Value(node), low.let(code))


def _numbered(low: Lowering, block: Sequence[Stmt], kinds: Kinds, code: Var) -> tuple[Stmt, ...]:
    """Statements that set the code where these fail, and then do no more."""
    new: list[Stmt] = []
    for position, stmt in enumerate(block):
        if isinstance(stmt, Fail):
            number = _number(low, stmt, kinds)
            rest = _numbered(low, block[position + 1 :], kinds, code)
            if not number:
                return (*new, If(negated(stmt.condition), rest, (), stmt.source))
            answer = Set(code, index(number), stmt.source)
            return (*new, If(stmt.condition, (answer,), rest, stmt.source))
        if isinstance(stmt, Checked) and stmt.op in _EXACT:
            stmt = replace(stmt, when=Const(False, BOOL))
        elif not isinstance(stmt, (Let, Note)) and _fails(stmt):
            raise Declined
        new.append(stmt)
    return tuple(new)


def _fails(stmt: Stmt) -> bool:
    """Whether a statement may leave the program."""
    if isinstance(stmt, (Fail, Checked, Call)):
        return True
    return any(_fails(inner) for block in blocks_of(stmt) for inner in block)


def _number(low: Lowering, stmt: Fail, kinds: Kinds) -> int:
    """What the op gives for a failure: 0 for a class that is none of those asked for."""
    site = low.sites[stmt.site - 1]
    kind = site.kind
    if isinstance(site.raiser, Meaning):
        possible = raises(site.raiser.node)
        if len(set(possible)) != 1:
            raise Declined
        kind = possible[0]
    return number_of(kind, kinds)
