"""try and with: an exception within one is a jump like any other, to where it is handled.

    try:                            raised = False
        y = x[k]                    error = error_1 = ag.Undefined("the exception")
        total += y                  try:
    except IndexError as e:             raised, error, step = ag.attempt(lambda: (x[k],), ...)
        print(e)                        if not raised:
                                            (y,) = step()
                                            total += y
                                    except BaseException as found:
                                        raised = True
                                        error_1 = ag.caught(found)
                                    if raised:
                                        pending = ag.pending(error, error_1)
                                        caught = pending.catch(lambda: IndexError, True)
                                        if caught:
                                            e = caught.exception
                                            print(e)
                                        else:
                                            raise pending

Whether a statement fails may be known only when the graph runs: `ag.attempt` decides that, and what
follows is guarded by the flag. A `raise` sets the flag by itself. What Python raises at once, while
tracing or where nothing is traced, comes the Python way and is handled in the same place. A
`finally` is what runs after all that, and a `with` has the exit of its manager there.

A `try` or `with` around a `yield` stays one of Python's, and so does `except*`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import gast

from graphify.autograph.converters import callees
from graphify.autograph.converters.base import Context
from graphify.autograph.converters.cells import is_transparent
from graphify.syntax import origin
from graphify.syntax.analysis.activity import (
    FUNCTIONS,
    YIELDS,
    Scope,
    any_node,
    handler_name,
    is_thunk,
    names_of,
)

# Operators that raise nothing by themselves.
HARMLESS = frozenset(("defined", "Undefined", "not_", "or_", "and_", "is_", "certain", "settled"))
# Operators that take all items at once.
WHOLE = ("list", "list_of", "tuple", "sorted", "set", "set_of", "dict", "dict_of")
SIMPLE = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.Import, gast.ImportFrom)


@dataclass
class Block:
    """Lowered statements, and the flags that running them may set."""

    body: list[Any] = field(default_factory=list)
    flags: dict[str, None] = field(default_factory=dict)


@dataclass
class Region:
    """The body of a `try` or `with`.

    Attributes:
        raised: the flag that an exception is pending.
        kinds: the types in the `except` clauses, None for a bare one.
        named: whether a handler looks at the exception.
        errors: names of what may be pending.
        asked: whether there are `except` clauses.
    """

    raised: str
    kinds: list[Any]
    named: bool
    errors: list[str] = field(default_factory=list)
    asked: bool = True


class Exceptions(ABC):
    """The part of lowering jumps that deals with exceptions."""

    ctx: Context
    scope: Scope
    read: set[str]
    regions: list[Region]
    did_return: str | None  # the names of a flag and of the value to return, once a return needs
    retval: str  # them

    @abstractmethod
    def block(self, body: list[Any], loop: Any) -> Block:
        """Lower statements that others may follow."""

    # --- statements that may fail ---

    @property
    def attempting(self) -> bool:
        """Whether a handler around the statement at hand may catch what it raises."""
        return any(region.kinds for region in self.regions)

    def opened(self, node: Any) -> list[Any] | None:
        """A statement with the expression that may fail in a statement of its own."""
        if not self.attempting or getattr(node, "safe", False):
            return None
        called = callees.opened(node, self.ctx, self.scope)
        if called is not None:
            return called
        match node:
            case gast.Return(value=value) if value is not None and may_fail(value):
                first, node.value = self._first("value", value)
                return [first, node]
            case gast.If(test=test) if may_fail(test):
                asked = self.ctx.operator("tested", test, test)
                first, node.test = self._first("test", asked)
                return [first, node]
            case gast.For(iter=items) if self._is_made_first(items):
                first, node.iter = self._first("items", items)
                return [first, node]
            case gast.While(test=test) if may_fail(test) and not _jumps(node.orelse):
                return [self._endless(node)]
            case gast.Expr(value=call) if self.ctx.is_operator(call, "assert_"):
                return [self._assertion(call, node)]
            case gast.Delete(targets=targets) if any(map(_is_doubtful, targets)):
                node.safe = True
                return [*map(_read, filter(_is_doubtful, targets)), node]
            case gast.Raise(exc=gast.Call() as made):
                first = self._arguments_first(made)
                return [*first, node] if first else None
        return None

    def _is_made_first(self, items: Any) -> bool:
        """Whether what a loop goes over may fail before the loop begins."""
        whole = any(self.ctx.is_operator(items, name) for name in WHOLE)
        return (
            whole
            or _is_doubtful(items)
            or any_node(items, [gast.Subscript, gast.BinOp]) is not None
        )

    def _assertion(self, call: Any, at: Any) -> Any:
        """`assert test, message` as `if not test: raise AssertionError(message)`."""
        test, message = call.args
        made = self.ctx.operator("assertion_error", at)
        made.args = [message.body] if is_thunk(message) else []
        failed = origin.inherit(gast.Raise(made, None), at)
        unless = self.ctx.operator("not_", at, test)
        return origin.inherit(gast.If(unless, [failed], []), at)

    def _arguments_first(self, made: Any) -> list[Any]:
        """The arguments of an exception, which may fail themselves, as statements before it."""
        statements = []
        for k, part in enumerate(made.args):
            if not isinstance(part, gast.Starred) and may_fail(part):
                first, made.args[k] = self._first("value", part)
                statements.append(first)
        for part in (*made.args, *made.keywords):
            if isinstance(part, (gast.Starred, gast.keyword)) and may_fail(part.value):
                first, part.value = self._first("value", part.value)
                statements.append(first)
        return statements

    def _first(self, base: str, value: Any) -> tuple[Any, Any]:
        name = self.ctx.internal_name(base)
        (first,) = self.ctx.statements("name = value", value, name=name, value=value)
        return first, origin.inherit(gast.Name(name, gast.Load(), None, None), value)

    def _endless(self, node: Any) -> Any:
        """`while test` as a loop whose body begins with the test."""
        leave = origin.inherit(gast.Break(), node)
        inner = origin.inherit(gast.If(node.test, node.body, [*node.orelse, leave]), node)
        always = origin.inherit(gast.Constant(True, None), node)
        return origin.inherit(gast.While(always, [inner], []), node)

    def attempt(self, node: Any) -> Block | None:
        """The attempt at a statement, which then has to follow under the flag."""
        if not self.attempting or getattr(node, "step", None) or getattr(node, "safe", False):
            return None
        if not isinstance(node, SIMPLE) or not may_fail(node):
            return None
        if self.scope.globals & names_of(node).writes.keys():
            return None
        region, name = self.regions[-1], self.ctx.internal_name
        region.errors.append(name("error"))
        node.step = name("step")
        operator = "attempt_call" if getattr(node, "single", False) else "attempt"
        (new,) = self.ctx.statements(
            f"raised, error, step = ag.{operator}(body, state, kinds, text)",
            node,
            raised=region.raised,
            error=region.errors[-1],
            step=node.step,
            kinds=self.ctx.thunk(self._kinds(node)),
            text=gast.Constant(any(r.named for r in self.regions), None),
        )
        new.attempt = node
        self.read.add(region.raised)
        return Block([new], {region.raised: None})

    def _kinds(self, at: Any) -> Any:
        """The classes that the handlers around catch, innermost first."""
        kinds = [kind for region in reversed(self.regions) for kind in region.kinds]
        none = gast.Constant(None, None)
        copies = [copy.deepcopy(none if kind is None else kind) for kind in kinds]
        new = copies[0] if len(copies) == 1 else gast.Tuple(copies, gast.Load())
        return origin.inherit(new, at)

    def throw(self, node: Any, new: Any) -> None:
        """A raise statement within a region."""
        region = self.regions[-1]
        region.errors.append(self.ctx.internal_name("error"))
        source = "error = ag.thrown(exception, cause)"
        if getattr(node, "again", False):
            source = "error = exception.thrown()"
        new.body += self.ctx.statements(
            source,
            node,
            error=region.errors[-1],
            exception=node.exc,
            cause=node.cause or gast.Constant(None, None),
        )
        new.body += self.ctx.statements("raised = True", node, raised=region.raised)
        new.flags[region.raised] = None
        self.read.add(region.raised)

    # --- try ---

    def is_lowered(self, node: Any) -> bool:
        """Whether a statement becomes a region, so that the jumps in it are flags."""
        if isinstance(node, gast.Try):
            return any_node(node, YIELDS) is None
        if not isinstance(node, gast.With) or any_node(node, YIELDS) is not None:
            return False
        return not is_transparent(node, self.scope.locals, self.ctx)

    def try_(self, node: Any, rest: list[Any], loop: Any) -> tuple[Block, list[Any]]:
        """A try statement, and what is to run after it."""
        if node.finalbody:
            return self._finally(node, loop), rest
        named = [bool(h.name) or _raises_again(h.body) for h in node.handlers]
        region = self.enter([handler.type for handler in node.handlers], any(named))
        bound = self._settled(_bound_by(node.body), node)
        body = self.region_body(region, node.body, node, loop)
        first = self._pending(region, node)
        handling = [*first, *self._handlers(node, named, first[0].targets[0].id)]
        test = origin.inherit(gast.Name(region.raised, gast.Load(), None, None), node)
        done = [*([] if body.flags else bound), *node.orelse]
        dispatch = origin.inherit(gast.If(test, handling, done), node)
        body.body[-1].dispatch = handling
        return body, [dispatch, *rest]

    def _settled(self, names: list[str], at: Any) -> list[Any]:
        """Where the body has come to its end, what it binds is bound, whatever the run decides."""
        new = [s for n in names for s in self._safe("n = ag.settled(n)", at, n=n)]
        for node in new:
            node.settles = True
        return new

    def enter(self, kinds: list[Any], named: bool) -> Region:
        region = Region(self.ctx.internal_name("raised"), kinds, named)
        self.regions.append(region)
        return region

    def region_body(self, region: Region, body: list[Any], at: Any, loop: Any) -> Block:
        """The body of a region; leaves the region."""
        inside = self.block(body, loop)
        self.regions.pop()
        region.errors.append(self.ctx.internal_name("error"))
        names = [gast.Name(n, gast.Store(), None, None) for n in region.errors]
        nothing = self.ctx.expression('ag.Undefined("the exception")', at)
        found = self.ctx.internal_name("found")
        passed_on = [] if region.asked else [gast.Constant(True, None)]
        new = [
            *self.ctx.statements("raised = False", at, raised=region.raised),
            origin.inherit(gast.Assign(names, nothing, None), at),
            *self.ctx.statements(
                "try:\n    body\n"
                "except BaseException as found:\n    raised = True\n    error = ag.caught(given)",
                at,
                body=inside.body or [origin.inherit(gast.Pass(), at)],
                found=found,
                given=[gast.Name(found, gast.Load(), None, None), *passed_on],
                raised=region.raised,
                error=region.errors[-1],
            ),
        ]
        new[-1].dispatch = new[-1].handlers[0].ours = True
        return Block(new, {f: None for f in inside.flags if f != region.raised})

    def _pending(self, region: Region, at: Any) -> list[Any]:
        return self._safe(
            "pending = ag.pending(errors)",
            at,
            pending=self.ctx.internal_name("pending"),
            errors=region.errors,
        )

    def _safe(self, source: str, at: Any, **parts: Any) -> list[Any]:
        """Statements of ours, which need no attempt."""
        new = self.ctx.statements(source, at, **parts)
        for node in new:
            node.safe = True
        return new

    def _handlers(self, node: Any, named: list[bool], pending: str) -> list[Any]:
        """The `except` clauses as an if statement each, one in the `else` of another."""
        rest: list[Any] = [self._again(pending, node)]
        for handler, looks in reversed(list(zip(node.handlers, named, strict=True))):
            kind = handler.type or origin.inherit(gast.Constant(None, None), handler)
            caught = self.ctx.internal_name("caught")
            new = self._safe(
                "caught = pending.catch(kind, looks)",
                handler,
                caught=caught,
                pending=pending,
                kind=self.ctx.thunk(kind),
                looks=gast.Constant(looks, None),
            )
            test = origin.inherit(gast.Name(caught, gast.Load(), None, None), handler)
            body = self._handler_body(handler, caught)
            rest = [*new, origin.inherit(gast.If(test, body, rest), handler)]
        return rest

    def _again(self, pending: str, at: Any) -> Any:
        """The raise statement for what no handler has taken."""
        new = gast.Raise(gast.Name(pending, gast.Load(), None, None), None)
        new.again = True
        return origin.inherit(new, at)

    def _handler_body(self, handler: Any, caught: str) -> list[Any]:
        for node in list(_bare_raises(handler.body)):
            node.exc = origin.inherit(gast.Name(caught, gast.Load(), None, None), node)
        exception = self.ctx.expression("caught.exception", handler, caught=caught)
        names = handler_name(handler)
        if not names:
            return list(handler.body)
        first = self._safe("name = value", handler, name=names[0], value=exception)
        last = self._safe("del name", handler, name=names[0])
        return [*first, *handler.body, *last]

    # --- finally ---

    def _finally(self, node: Any, loop: Any) -> Block:
        """`finally` is what runs next, whatever has happened; a jump out of it cancels the rest."""
        inner = gast.Try(node.body, node.handlers, node.orelse, [])
        body = [origin.inherit(inner, node)] if node.handlers else node.body
        region = self.enter([None], True)
        region.asked = False
        new = self.region_body(region, body, node, loop)
        final = self.block(node.finalbody, loop)
        if any(map(may_fail, node.finalbody)):
            final.body = self._in_sight(new, final.body, node)
        kept = {flag: self.ctx.internal_name(f"{flag}_before") for flag in new.flags}
        kept = kept if final.flags else {}
        for flag, name in kept.items():
            new.body += self._safe("name = flag", node, name=name, flag=flag)
            new.body += self._safe("flag = False", node, flag=flag)
        new.body += final.body
        after = [
            s for flag, name in kept.items() for s in self._safe("f = n", node, f=flag, n=name)
        ]
        after += self.leave(region, node)
        if final.flags:
            guard = origin.inherit(gast.If(self.no_flag(final.flags, node), after, []), node)
            guard.safe = True
            after = [guard]
        last = self.block(after, loop)
        return Block([*new.body, *last.body], {**new.flags, **final.flags, **last.flags})

    def _in_sight(self, region: Block, body: list[Any], at: Any) -> list[Any]:
        """What runs after a return keeps in sight what is returned, as it may change it."""
        if self.did_return not in region.flags:
            return body
        name, value = self.ctx.internal_name("returned"), self.retval
        none = self._safe('value = ag.Undefined("what is returned")', at, value=value)
        region.body[:0] = none
        first = self._safe("name = ag.certain(value)", at, name=name, value=value)
        return [*first, *body, *self._safe("name = None", at, name=name)]

    def leave(self, region: Region, at: Any) -> list[Any]:
        """Raise again what is pending when a region is over."""
        first = self._pending(region, at)
        test = origin.inherit(gast.Name(region.raised, gast.Load(), None, None), at)
        again = [*first, self._again(first[0].targets[0].id, at)]
        return [origin.inherit(gast.If(test, again, []), at)]

    @abstractmethod
    def no_flag(self, flags: dict[str, None], at: Any) -> Any:
        """The test that none of some flags is set."""

    # --- with ---

    def with_(self, node: Any, loop: Any) -> Block:
        """A with statement: its manager is told at the end what is pending."""
        manager = getattr(node, "manager", None)
        if manager is None:
            return self.block([*self._entered(node), node], loop)
        kind = self.ctx.expression("manager.kinds", node, manager=manager)
        region = self.enter([kind], True)
        region.asked = False
        new = self.region_body(region, node.body, node, loop)
        last = self.ctx.internal_name("error")
        after = self._safe(
            "raised, last = manager.leave(raised, errors)",
            node,
            manager=manager,
            raised=region.raised,
            last=last,
            errors=list(region.errors),
        )
        after = self._in_sight(new, after, node)
        region.errors = [last]
        done = self.block([*after, *self.leave(region, node)], loop)
        return Block([*new.body, *done.body], {**new.flags, **done.flags})

    def _entered(self, node: Any) -> list[Any]:
        """The statements that enter the first context; the others are statements inside."""
        item, *others = node.items
        if others:
            inner = origin.inherit(gast.With(others, node.body, None), node)
            node.items, node.body = [item], [inner]
        node.manager = self.ctx.internal_name("manager")
        kinds = [self.ctx.thunk(self._kinds(node))] if self.attempting else []
        start = self.ctx.statements(
            "manager = ag.manager(value, kinds)",
            node,
            manager=node.manager,
            value=item.context_expr,
            kinds=kinds,
        )
        enter = self.ctx.expression("manager.enter()", node, manager=node.manager)
        entered: Any = gast.Expr(enter)
        if item.optional_vars is not None:
            entered = gast.Assign([item.optional_vars], enter, None)
        return [*start, origin.inherit(entered, node)]


def may_fail(node: Any) -> bool:
    """Whether evaluating a node may raise something, as far as the text tells."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, FUNCTIONS) and not is_thunk(node):
            continue
        match node:
            case gast.Call(func=gast.Attribute(value=gast.Name(), attr=name)) if name in HARMLESS:
                stack += node.args
                continue
            case gast.Call() | gast.Subscript() | gast.BinOp() | gast.Compare() | gast.AugAssign():
                return True
            case gast.Tuple(ctx=gast.Store()) | gast.List(ctx=gast.Store()) | gast.Import():
                return True
            case gast.UnaryOp() | gast.Attribute() | gast.ImportFrom() | gast.ListComp():
                return True
            case gast.Name() if _is_doubtful(node):
                return True
        stack += gast.iter_child_nodes(node)
    return False


def _is_doubtful(node: Any) -> bool:
    """Whether it is a name that may be unbound here (see undefined.py)."""
    return getattr(node, "maybe_unbound", None) is not None


def _read(target: Any) -> Any:
    """A statement that reads a name that is to be deleted."""
    name = origin.inherit(gast.Name(target.id, gast.Load(), None, None), target)
    name.maybe_unbound = target.maybe_unbound
    return origin.inherit(gast.Expr(name), target)


def _bound_by(body: list[Any]) -> list[str]:
    """The names that a block certainly binds if it gets to its end."""
    names: dict[str, None] = {}
    for node in body:
        if isinstance(node, SIMPLE):
            names |= names_of(node).writes
    return [name for name in names if name not in names_of(body).deletes]


def _jumps(body: list[Any]) -> bool:
    return any_node(body, [gast.Break, gast.Continue]) is not None


def _raises_again(body: list[Any]) -> bool:
    return any(True for _ in _bare_raises(body))


def _bare_raises(body: list[Any]) -> Any:
    """The bare `raise` statements of a handler, not those of handlers inside it."""
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, gast.Raise) and node.exc is None:
            yield node
        if not isinstance(node, (*FUNCTIONS, gast.ClassDef, gast.ExceptHandler, gast.expr)):
            stack += gast.iter_child_nodes(node)
