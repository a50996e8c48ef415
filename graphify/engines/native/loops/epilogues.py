"""What is done with each element of a product is done while the product is in the cache.

c = matmul(a, b)                     y = matmul(a, b)
parallel for i in n:                 for each i, j when it is done:
    parallel for j in m:       ->        y[i, j] = maximum(y[i, j] + bias[j], 0)
        y[i, j] = maximum(c[i, j] + bias[j], 0)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Buffer,
    Call,
    Const,
    Expr,
    For,
    Let,
    Load,
    Note,
    Stmt,
    Store,
    Temporary,
    Var,
)
from graphify.engines.native.loops.summary import conflict, summary
from graphify.engines.native.loops.walk import (
    buffers_of,
    expressions_of,
    map_block,
    map_blocks,
    parts,
    statements,
)

FORWARD = 0  # attrs["which"] of a convolution; its gradients take no epilogue


def epilogues(block: Block) -> Block:
    """The block with loops over products made part of the calls."""
    stmts = [map_blocks(stmt, epilogues) for stmt in block]
    at = 0
    while at < len(stmts):
        call = stmts[at]
        if isinstance(call, Call) and not call.body and _takes_epilogue(call):
            place = _next_use(call.outputs[0], stmts, at)
            merged = None if place is None else _merged(call, stmts[place])
            if merged is not None and place is not None and _may_move(call, stmts[at + 1 : place]):
                merged = _in_place(merged, stmts[:at] + stmts[at + 1 : place], stmts[place + 1 :])
                stmts[place] = merged
                del stmts[at]
                continue
        at += 1
    return tuple(stmts)


def _takes_epilogue(call: Call) -> bool:
    name = call.function
    product = name == "matmul" or (name == "convolution" and call.attrs["which"] == FORWARD)
    return product and isinstance(call.outputs[0].home, Temporary)


def _next_use(buffer: Buffer, stmts: list[Stmt], at: int) -> int | None:
    """Where the product is first touched after the call."""
    for place in range(at + 1, len(stmts)):
        if _touches(stmts[place], buffer):
            return place
    return None


def _touches(stmt: Stmt, buffer: Buffer) -> bool:
    return any(b.root is buffer for s in statements((stmt,)) for b, _ in buffers_of(s))


def _may_move(call: Call, between: Iterable[Stmt]) -> bool:
    fact = summary(call)
    return not any(conflict(fact, summary(stmt)) for stmt in between)


def _merged(call: Call, stmt: Stmt) -> Call | None:
    """The call with a nest of loops over its output as its body; None if it is none."""
    product = call.outputs[0]
    turn: list[Var] = []
    body: Block = (stmt,)
    for length in product.shape:
        if len(body) != 1 or not isinstance(body[0], For) or body[0].kind != "parallel":
            return None
        if not _equal(body[0].extent, length):
            return None
        turn.append(body[0].var)
        body = body[0].body
    if not all(isinstance(s, (Let, Store, Note)) for s in body):
        return None
    if any(isinstance(s, Let) and s.var.mutable for s in body):
        return None
    if not _reads_in_place(body, product, tuple(turn)):
        return None
    written = {s.buffer.root for s in body if isinstance(s, Store)}
    if not written.isdisjoint(b.root for b in call.inputs) or product in written:
        return None  # the product is not finished yet where others of its elements are
    return replace(call, turn=tuple(turn), body=body)


def _equal(a: Expr, b: Expr) -> bool:
    if isinstance(a, Const) and isinstance(b, Const):
        return bool(a.value == b.value)
    return a == b


def _reads_in_place(body: Block, product: Buffer, turn: tuple[Var, ...]) -> bool:
    """Whether the body reads the product at its own turn alone."""
    for stmt in body:
        for expr in expressions_of(stmt):
            for part in parts(expr):
                if isinstance(part, Load) and part.buffer.root is product:
                    if part.buffer is not product or part.index != turn:
                        return False
    return True


# --- without memory for the product itself ------------------------------------------------------


def _in_place(call: Call, before: list[Stmt], after: list[Stmt]) -> Call:
    """The product made where the body puts its only result, if that array is like it and new."""
    product = call.outputs[0]
    stores = [s for s in call.body if isinstance(s, Store)]
    if len(stores) != 1 or any(_touches(s, product) for s in after):
        return call
    target, place = stores[0].buffer, stores[0].index
    alike = target.dtype == product.dtype and len(target.shape) == len(product.shape)
    if not alike or target.root is not target or target.strides != product.strides:
        return call
    if place != call.turn or not all(map(_equal, target.shape, product.shape)):
        return call
    if any(_touches(s, target) for s in before) or _reads(call.body, target):
        return call
    if isinstance(target.home, Temporary) and not any(
        isinstance(s, Allocate) and s.buffer is target for s in before
    ):
        return call

    def leaf(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.buffer is product:
            return Load(target, expr.index)
        return expr

    return replace(call, outputs=(target,), body=map_block(call.body, leaf))


def _reads(body: Block, buffer: Buffer) -> bool:
    return any(b.root is buffer and not written for s in body for b, written in buffers_of(s))
