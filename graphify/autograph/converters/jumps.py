"""Jumps: break, continue and return become structured control flow.

    for x in xs:                          did_break = False
        if x > 9:                         for x in xs:             # while not did_break
            break                             if x > 9:
        total += x                                did_break = True
                                              else:
                                                  total += x

    if x > 0:                             if x > 0:
        return x                              return x
    y = f(x)                              else:
    return y                                  y = f(x)
                                              return y

What follows a branch that always leaves moves into the other branch; what follows a branch that may
leave is guarded by the flags it may set. Afterwards a `return` is always the last thing its
function does, except inside statements that stay Python's. A `return`
inside a loop sets `did_return` and `retval_`. The `else` of a loop is guarded by the loop's flags.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter
from graphify.autograph.converters.callees import ATTEMPTED
from graphify.autograph.converters.exceptions import Block, Exceptions
from graphify.autograph.converters.undefined import mark_loads
from graphify.syntax import origin
from graphify.syntax.analysis.activity import Scope, any_node, is_generator, scope_of
from graphify.syntax.analysis.definitions import Definitions

LOOPS = (gast.While, gast.For)
JUMPS = (gast.Break, gast.Continue, gast.Return, gast.Raise)


def transform(tree: Any, ctx: Context) -> Any:
    """Lower the jumps of a function and of all functions defined in it."""
    return _Jumps(ctx).visit(tree)


class _Jumps(Converter):
    def visit_FunctionDef(self, node: Any) -> Any:
        super().visit_FunctionDef(node)
        if self.scopes and is_generator(node):
            return node
        scope = scope_of(node)
        lowering = _Lowering(self.ctx, scope)
        attempted = self.ctx.form == ATTEMPTED and not self.scopes
        attempted = attempted or getattr(node, "attempted", False)
        if attempted or any_node(node.body, [gast.Try, gast.With]) is not None:
            mark_loads(node, scope, Definitions(node), self.ctx)  # for `may_fail`
        body = lowering.attempted(node) if attempted else lowering.tail(node.body)
        node.body = body or [origin.inherit(gast.Pass(), node)]
        lost = scope.locals & scope_of(node).free
        node.body[:0] = [new for name in sorted(lost) for new in self._keep_local(name, node)]
        return node

    def _keep_local(self, name: str, at: Any) -> list[Any]:
        """A name bound only in code that never runs is a local all the same."""
        return self.ctx.statements("name: None", at, name=name)


@dataclass
class _Loop:
    """The loop around a statement; a flag has a name once a jump needs it."""

    did_break: str | None = None
    did_continue: str | None = None


class _Lowering(Exceptions):
    """Lowers one function: `tail` where a `return` may stay, `block` where flags are needed."""

    def __init__(self, ctx: Context, scope: Scope) -> None:
        self.ctx, self.scope = ctx, scope
        self.regions = []
        self.did_return: str | None = None
        self.retval = ""
        self.read: set[str] = set()

    def attempted(self, node: Any) -> list[Any]:
        """The body of a function that gives its exception as a value; see `callees`."""
        body, none = node.body, origin.inherit(gast.Constant(None, None), node)
        if not _exits(body):
            body = [*body, origin.inherit(gast.Return(none), node)]
        flag, value = self._return_names()
        start = self.ctx.statements(
            'flag = False\nvalue = ag.Undefined("what is returned")', node, flag=flag, value=value
        )
        kinds = origin.inherit(gast.Name(self.ctx.consumer, gast.Load(), None, None), node)
        region = self.enter([kinds], True)
        region.asked = False
        new = self.region_body(region, body, node, _Loop())
        done = self.ctx.statements(
            "return raised, (errors,), value",
            node,
            raised=region.raised,
            errors=list(region.errors),
            value=value,
        )
        return [*start, *new.body, *done]

    # At the end of the function, where falling off the end returns None.

    def tail(self, body: list[Any]) -> list[Any]:
        """Lower statements after which the function ends."""
        new: list[Any] = []
        for index, node in enumerate(body):
            rest = body[index + 1 :]
            if isinstance(node, JUMPS):
                return [*new, node]
            rest = _merge(node, rest) if isinstance(node, gast.If) else rest
            if isinstance(node, gast.If) and not rest:
                node.body, node.orelse = self.tail(node.body), self.tail(node.orelse)
                return [*new, _filled(node)]
            if not _returns(node):
                new += self.block([node], _Loop()).body
            elif self._is_native(node) and self._may_stay(node, rest):
                new.append(self._native_tail(node))
            else:
                return [*new, *self._by_flag(node, rest)]
        return new

    def _is_native(self, node: Any) -> bool:
        return not isinstance(node, (*LOOPS, gast.If)) and not self.is_lowered(node)

    def _may_stay(self, node: Any, rest: list[Any]) -> bool:
        """Whether the returns in a with or try can stay Python returns."""
        parts = _parts(node)
        if all(not _returns(part) or _exits(part) for part in parts):
            return True
        falls_into_else = getattr(node, "orelse", []) and _returns(node.body)
        return not rest and not falls_into_else

    def _native_tail(self, node: Any) -> Any:
        if any_node(getattr(node, "finalbody", []), [gast.Return]) is not None:
            self._refuse_finally(node)
        for part in _parts(node):
            part[:] = (self.tail(part) if _returns(part) else self.block(part, _Loop()).body) or [
                origin.inherit(gast.Pass(), node)
            ] * bool(part)
        return node

    def _by_flag(self, node: Any, rest: list[Any]) -> list[Any]:
        """Lower a statement that may return half-way, then return or go on."""
        endless = _exits([node])
        new = self.block([node], _Loop()).body
        flag, value = self._return_names()
        self.read.add(flag)
        done = self.ctx.statements("return value", node, value=value)
        start = self.ctx.statements("flag = False", node, flag=flag)
        if endless:
            return [*start, *new, *done]
        branch = gast.If(gast.Name(flag, gast.Load(), None, None), done, self.tail(rest))
        return [*start, *new, origin.inherit(branch, node)]

    def _return_names(self) -> tuple[str, str]:
        if self.did_return is None:
            self.did_return = self.ctx.internal_name("did_return")
            self.retval = self.ctx.internal_name("retval_")
            self.ctx.results.add(self.retval)
        return self.did_return, self.retval

    # Elsewhere.

    def block(self, body: list[Any], loop: _Loop) -> Block:
        """Lower statements that others may follow."""
        new = Block()
        for index, node in enumerate(body):
            rest = body[index + 1 :]
            opened = self.opened(node)
            if opened is not None:
                after = self.block([*opened, *rest], loop)
                return Block(new.body + after.body, new.flags | after.flags)
            if isinstance(node, JUMPS):
                self._jump(node, loop, new)
                return new
            attempt = self.attempt(node)
            if attempt is not None:
                inner, rest = attempt, [node, *rest]
            elif isinstance(node, gast.If):
                rest = _merge(node, rest)
                inner = self._if(node, loop)
            elif isinstance(node, LOOPS):
                inner, rest = self._loop(node, rest)
            elif isinstance(node, gast.Try) and self.is_lowered(node):
                inner, rest = self.try_(node, rest, loop)
            elif isinstance(node, gast.With) and self.is_lowered(node):
                inner = self.with_(node, loop)
            elif isinstance(node, (gast.With, gast.Try, gast.TryStar)):
                inner = self._native(node, loop)
            else:
                inner = Block([node])
            new.body += inner.body
            new.flags |= inner.flags
            if inner.flags or not rest:
                self._guarded(inner.flags, rest, loop, new, node)
                return new
            if rest != body[index + 1 :]:
                after = self.block(rest, loop)
                return Block(new.body + after.body, new.flags | after.flags)
        return new

    def _guarded(
        self, flags: dict[str, None], rest: list[Any], loop: _Loop, new: Block, at: Any
    ) -> None:
        after = self.block(rest, loop)
        if after.body:
            guard = gast.If(self.no_flag(flags, at), after.body, [])
            new.body.append(origin.inherit(guard, rest[0]))
        new.flags |= after.flags

    def no_flag(self, flags: dict[str, None], at: Any) -> Any:
        """The test that none of some flags is set."""
        self.read |= set(flags)
        loads = [origin.inherit(gast.Name(f, gast.Load(), None, None), at) for f in flags]
        if len(loads) > 1:
            loads = [self.ctx.operator("or_", at, *map(self.ctx.thunk, loads))]
        return self.ctx.operator("not_", at, *loads)

    def _jump(self, node: Any, loop: _Loop, new: Block) -> None:
        match node:
            case gast.Return():
                flag, value = self._return_names()
                result = node.value or origin.inherit(gast.Constant(None, None), node)
                new.body += self.ctx.statements("value = result", node, value=value, result=result)
            case gast.Break():
                flag = loop.did_break = loop.did_break or self.ctx.internal_name("did_break")
            case gast.Continue():
                flag = loop.did_continue = loop.did_continue or self.ctx.internal_name(
                    "did_continue"
                )
            case gast.Raise() if self.regions:
                self.throw(node, new)
                return
            case _:
                new.body.append(node)
                return
        new.body += self.ctx.statements("flag = True", node, flag=flag)
        new.body[-1].sets_flag = flag
        new.flags[flag] = None

    def _if(self, node: Any, loop: _Loop) -> Block:
        yes, no = self.block(node.body, loop), self.block(node.orelse, loop)
        node.body, node.orelse = yes.body, no.body
        return Block([_filled(node)], yes.flags | no.flags)

    def _loop(self, node: Any, rest: list[Any]) -> tuple[Block, list[Any]]:
        """A loop with its exits in its test, and what is to run after it."""
        loop, orelse = _Loop(), node.orelse
        inside = self.block(node.body, loop)
        before: list[Any] = []
        if loop.did_break:
            before = self.ctx.statements("flag = False", node, flag=loop.did_break)
        leaving = {f: None for f in inside.flags if f != loop.did_continue}
        node.body, node.orelse = self._without_unread(inside.body, loop, node), []
        if leaving:
            self._add_exit_test(node, leaving)
        if orelse and leaving:
            guard = gast.If(self.no_flag(leaving, node), orelse, [])
            orelse = [origin.inherit(guard, orelse[0])]
        returning = {f: None for f in leaving if f != loop.did_break}
        return Block([*before, node], returning), [*orelse, *rest]

    def _without_unread(self, body: list[Any], loop: _Loop, at: Any) -> list[Any]:
        """A loop body with its `did_continue` flag reset, or gone if nothing reads it."""
        flag = loop.did_continue
        if flag in self.read:
            return [*self.ctx.statements("flag = False", at, flag=flag), *body]
        return _prune(body, flag) or [origin.inherit(gast.Pass(), at)]

    def _add_exit_test(self, node: Any, flags: dict[str, None]) -> None:
        test = self.no_flag(flags, node)
        if isinstance(node, gast.For):
            node.exit_test = test
        elif isinstance(node.test, gast.Constant) and node.test.value:
            node.test = test
        else:
            both = map(self.ctx.thunk, (test, node.test))
            node.test = self.ctx.operator("and_", node.test, *both)

    def _native(self, node: Any, loop: _Loop) -> Block:
        """A statement that stays Python: its blocks set flags."""
        flags: dict[str, None] = {}
        regions = self.regions
        self.regions = regions if isinstance(node, gast.With) else []
        for part in _parts(node):
            inside = self.block(part, loop)
            if part is getattr(node, "finalbody", None) and inside.flags:
                self._refuse_finally(node)
            if part is getattr(node, "orelse", None) and part and flags:
                guard = gast.If(self.no_flag(flags, node), inside.body, [])
                inside.body = [origin.inherit(guard, part[0])]
            flags |= inside.flags
            part[:] = inside.body or [origin.inherit(gast.Pass(), node)] * bool(part)
        self.regions = regions
        return Block([node], flags)

    def _refuse_finally(self, node: Any) -> None:
        self.ctx.unsupported(
            node.finalbody[0],
            "a jump out of a finally block",
            "leave the block after the try statement",
        )


def _parts(node: Any) -> list[list[Any]]:
    """The statement lists of a with or try, in the order they run."""
    if isinstance(node, gast.With):
        return [node.body]
    return [node.body, node.orelse, *(h.body for h in node.handlers), node.finalbody]


def _merge(node: Any, rest: list[Any]) -> list[Any]:
    """Move what follows an `if` into the branch that does not leave, if one always leaves."""
    if rest and _exits(node.body):
        node.orelse = node.orelse if _exits(node.orelse) else [*node.orelse, *rest]
        return []
    if rest and _exits(node.orelse):
        node.body = [*node.body, *rest]
        return []
    return rest


def _exits(body: list[Any]) -> bool:
    """Whether a block never reaches its end."""
    for node in body:
        match node:
            case gast.Break() | gast.Continue() | gast.Return() | gast.Raise():
                return True
            case gast.If() if _exits(node.body) and _exits(node.orelse):
                return True
            case gast.Try() if _exits([*node.body, *node.orelse]) and all(
                _exits(h.body) for h in node.handlers
            ):
                return True
            case gast.While() if _is_endless(node):
                return True
    return False


def _is_endless(node: Any) -> bool:
    """Whether a loop can only be left by return or raise."""
    forever = (
        isinstance(node, gast.While)
        and isinstance(node.test, gast.Constant)
        and bool(node.test.value)
    )
    return forever and not _breaks(node.body)


def _breaks(body: list[Any]) -> bool:
    """Whether a loop body breaks that loop."""
    for node in body:
        inner = (
            [node.orelse]
            if isinstance(node, LOOPS)
            else [
                part
                for part in (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
                if isinstance(part, list)
            ]
        )
        inner += [h.body for h in getattr(node, "handlers", ())]
        if isinstance(node, gast.Break):
            return True
        if not isinstance(node, (gast.FunctionDef, gast.ClassDef)) and any(map(_breaks, inner)):
            return True
    return False


def _returns(nodes: Any) -> bool:
    return any_node(nodes, [gast.Return]) is not None


def _filled(node: Any) -> Any:
    """An `if` whose body is not empty."""
    node.body = node.body or [origin.inherit(gast.Pass(), node)]
    return node


def _prune(body: list[Any], flag: str | None) -> list[Any]:
    """Statements without those that set an unread flag."""
    kept = [node for node in body if flag is None or getattr(node, "sets_flag", None) != flag]
    for node in kept:
        if isinstance(node, gast.If):
            node.body, node.orelse = _prune(node.body, flag), _prune(node.orelse, flag)
            _filled(node)
        elif isinstance(node, (gast.With, gast.Try, gast.TryStar)):
            for part in _parts(node):
                part[:] = _prune(part, flag) or [origin.inherit(gast.Pass(), node)] * bool(part)
    return kept
