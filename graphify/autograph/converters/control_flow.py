"""Control flow: if, while and for become operator calls; their blocks become functions.

    while n > 0:                  def loop_body(n, total):
        total += n                    total += n
        n -= 1                        n -= 1
                                      return n, total
                                  n, total = ag.while_(lambda n, total: n > 0, loop_body,
                                                       (n, total), ("n", "total"))

    if x > 0:                     return ag.if_exp(x > 0, lambda: x, lambda: 0)
        return x
    else:
        return 0

The state of a statement is what its blocks bind and what is live after it (for a loop: or in the
next iteration). Names that are only read are closed over; names bound and used within a block are
locals of its function, those it reads first come in as defaults.

Needs the activity, liveness and definitions of the function, all of them computed before anything
is rewritten. Runs after the jumps: a `return` here ends its function.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.attempts import AttemptBlocks
from graphify.autograph.converters.base import Context, Converter, find_walrus
from graphify.autograph.converters.blocks import ENDS, Frame, ends, quoted
from graphify.autograph.converters.undefined import check_lambda, mark_loads, wrap_loads
from graphify.syntax import origin
from graphify.syntax.analysis.activity import (
    handler_name,
    header_names,
    is_generator,
    names_of,
)
from graphify.syntax.analysis.definitions import Definitions

LAMBDA_SIZE = 24  # a branch of at most so many nodes is written as a lambda


def transform(tree: Any, ctx: Context) -> Any:
    """Convert the control flow of a function and of all functions defined in it."""
    new = _Functions(ctx).visit(tree)
    if isinstance(new, gast.Lambda):
        check_lambda(new, ctx)
    return new


class _Functions(Converter):
    def visit_FunctionDef(self, node: Any) -> Any:
        _Function(self.ctx, node).convert()
        return node


class _Function(AttemptBlocks):
    """Converts one user function in place."""

    def convert(self) -> None:
        definitions = Definitions(self.node)
        doubtful = mark_loads(self.node, self.scope, definitions, self.ctx)
        self.root.bind(self.scope.params)
        body = self.block(self.node.body, self.root)
        outer = doubtful - self.scope.locals
        for name in sorted(doubtful - outer - self.root.maybe):
            # Only generated functions bind it now: without this it would be found outside.
            self.hoist_unless_bound(name, self.root)
        position = 1 if _has_docstring(body) else 0
        declared: list[Any] = []
        for kind, names in (
            (gast.Global, self.scope.globals),
            (gast.Nonlocal, self.scope.nonlocals),
        ):
            if names:
                declared.append(origin.inherit(kind(sorted(names)), self.node))
        body[position:position] = [*declared, *self.hoisted(self.root, self.node)]
        self.node.body = body or [origin.inherit(gast.Pass(), self.node)]
        wrap_loads(self.node, self.undefined | outer, self.ctx)

    # Statements.

    def block(self, body: list[Any], frame: Frame) -> list[Any]:
        new: list[Any] = []
        for node in body:
            rule = getattr(self, "_" + type(node).__name__, self._simple)
            rule = self.suspended if self.is_suspended(node) else rule
            rule = self.step if getattr(node, "step", None) else rule
            new += rule(node, frame)
            if isinstance(node, ENDS) or (new and isinstance(new[-1], ENDS)):
                break
        return new

    def _simple(self, node: Any, frame: Frame) -> list[Any]:
        frame.bind(names_of(node).writes)
        return [node]

    def _Assign(self, node: Any, frame: Frame) -> list[Any]:
        if getattr(node, "attempt", None) is not None:
            return self.attempt(node, frame)
        if getattr(node, "settles", False) and node.targets[0].id not in self.live.after(node):
            return []
        return self._simple(node, frame)

    def _Global(self, node: Any, frame: Frame) -> list[Any]:
        return []  # declared again at the top of the function

    _Nonlocal = _Global

    def _FunctionDef(self, node: Any, frame: Frame) -> list[Any]:
        if not is_generator(node):
            _Function(self.ctx, node).convert()
        frame.bind([node.name])
        return [node]

    def _Delete(self, node: Any, frame: Frame) -> list[Any]:
        """A deleted local becomes Undefined: generated code may have to pass it on."""
        new: list[Any] = []
        for target in node.targets:
            if isinstance(target, gast.Name) and target.id in self.scope.nonlocals:
                self.ctx.unsupported(
                    node, f"`del {target.id}` of a nonlocal name", "assign None to it instead"
                )
            mine = isinstance(target, gast.Name) and target.id in self.ctx.internal
            if isinstance(target, gast.Name) and target.id in self.scope.locals and not mine:
                self.undefined.add(target.id)
                name, quoted = target.id, gast.Constant(target.id, None)
                if getattr(target, "maybe_unbound", None) is not None:
                    new += self.ctx.statements("ag.defined(name)", node, name=name)
                new += self.ctx.statements(
                    "name = ag.Undefined(quoted)", node, name=name, quoted=quoted
                )
                frame.bind([name])
            elif mine and new and isinstance(new[-1], gast.Delete):
                new[-1].targets.append(target)
            else:
                new.append(origin.inherit(gast.Delete([target]), node))
        return new

    def _With(self, node: Any, frame: Frame) -> list[Any]:
        frame.bind(header_names(node).writes)
        node.body = self._part(node.body, frame.branch(), node)
        return [node]

    def _Try(self, node: Any, frame: Frame) -> list[Any]:
        names = {n for handler in node.handlers for n in handler_name(handler)}
        start, paths = frame.branch(), []
        node.body, node.orelse = (
            self._part(part, start, node) for part in (node.body, node.orelse)
        )
        if not ends([*node.body, *node.orelse]):
            paths.append(start.bound)
        for handler in node.handlers:
            caught = frame.branch()
            caught.bind(handler_name(handler))
            handler.body = self._part(handler.body, caught, node)
            if not ends(handler.body):
                paths.append(caught.bound - set(handler_name(handler)))
        if paths:
            frame.bound |= set.intersection(*paths)
        frame.bound -= names
        last = frame.branch()
        node.finalbody = self._part(node.finalbody, last, node)
        frame.bound |= last.bound
        return [node]

    _TryStar = _Try

    def _part(self, body: list[Any], frame: Frame, at: Any) -> list[Any]:
        """A block of a statement that stays Python; it may not become empty."""
        new = self.block(body, frame)
        return new or ([origin.inherit(gast.Pass(), at)] if body else [])

    # Statements that become operator calls.

    def _If(self, node: Any, frame: Frame) -> list[Any]:
        if names_of([*node.body, *node.orelse], self.known).returns:
            return self._value_if(node, frame)
        new = self._test_first(node, frame)
        live = self.live.after(node)
        state = [
            n
            for n in self.written([*node.body, *node.orelse], node)
            if n in live or n in self.shared or self._must_pass(n, node, frame)
        ]
        inputs = self.inputs(state, frame, node)
        thunks = [
            self._branch(name, body, state, frame, new, node)
            for name, body in (("if_true", node.body), ("if_false", node.orelse))
        ]
        call = self.ctx.expression(
            "ag.if_(test, yes, no, (inputs,), (names,))",
            node,
            test=node.test,
            yes=thunks[0],
            no=thunks[1],
            inputs=inputs,
            names=quoted(state),
        )
        return [*new, self.result(state, call, frame, node)]

    def _test_first(self, node: Any, frame: Frame) -> list[Any]:
        """What a `:=` in the test binds must be bound before the branches are defined."""
        frame.bind(names_of(node.test).writes)
        if find_walrus(node.test) is None:
            return []
        name = self.ctx.internal_name("test")
        first = self.ctx.statements("name = test", node, name=name, test=node.test)
        node.test = origin.inherit(gast.Name(name, gast.Load(), None, None), node)
        return first

    def _must_pass(self, name: str, node: Any, frame: Frame) -> bool:
        """Whether a branch may read a name before it binds it, and it may be unbound till then."""
        return (
            name not in frame.bound
            and name in frame.maybe
            and any(body and name in self.live.before(body[0]) for body in (node.body, node.orelse))
        )

    def _branch(
        self, name: str, body: list[Any], state: list[str], frame: Frame, new: list[Any], at: Any
    ) -> Any:
        """A branch as a lambda, or the name of the function appended to `new`."""
        short = self.short_branch(body, state, at)
        if short is not None:
            return short
        name = self.ctx.namer.shared(name)
        defaults = [n for n in self.defaults(body, state) if n in frame.bound]
        new.append(self.define(name, body, state, defaults, frame, at))
        return origin.inherit(gast.Name(name, gast.Load(), None, None), at)

    def short_branch(self, body: list[Any], state: list[str], at: Any) -> Any:
        values: dict[str, Any] = {}
        match [node for node in body if not isinstance(node, gast.Pass)]:
            case []:
                pass
            case [gast.Assign(targets=[gast.Name(id=name)], value=value)] if (
                name in state and _is_short(value)
            ):
                values[name] = value
            case _:
                return None
        if any(getattr(node, "step", None) for node in body):
            return None
        if values and self.shared & set(state) or find_walrus(list(values.values())) is not None:
            return None
        params = [self.parameter(n) for n in state]
        result = [
            values.get(n) or gast.Name(self.parameter(n), gast.Load(), None, None) for n in state
        ]
        return self.ctx.expression("lambda params: (result,)", at, params=params, result=result)

    def _value_if(self, node: Any, frame: Frame) -> list[Any]:
        new = self._test_first(node, frame)
        thunks = []
        for name, body in (("if_true", node.body), ("if_false", node.orelse)):
            short = self._short_value(body, node)
            if short is None:
                name = self.ctx.namer.shared(name)
                defaults = [
                    n for n in self.defaults(body, []) if n in frame.maybe or n in self.shared
                ]
                for outer in defaults:
                    self.hoist_unless_bound(outer, frame)
                new.append(self.define(name, body, [], defaults, frame, node, result=False))
                short = origin.inherit(gast.Name(name, gast.Load(), None, None), node)
            thunks.append(short)
        return [
            *new,
            *self.ctx.statements(
                "return ag.if_exp(test, yes, no)", node, test=node.test, yes=thunks[0], no=thunks[1]
            ),
        ]

    def _short_value(self, body: list[Any], at: Any) -> Any:
        """A branch that only returns or raises, as a lambda."""
        none = origin.inherit(gast.Constant(None, None), at)
        match [node for node in body if not isinstance(node, gast.Pass)]:
            case []:
                value = none
            case [gast.Return(value=value)]:
                value = value or none
            case [gast.Raise(exc=exception, cause=cause)] if exception is not None:
                value = self.ctx.operator("raise_", body[0], exception, cause or none)
            case _:
                return None
        return None if find_walrus(value) is not None else self.ctx.thunk(value)

    def _While(self, node: Any, frame: Frame) -> list[Any]:
        live = self.live.head(node) | self.live.after(node) | self.shared
        state = [n for n in self.written([node.test, *node.body], node) if n in live]
        inputs = self.inputs(state, frame, node)
        new: list[Any] = []
        test = self._test(node.test, state, new, node)
        name = self.ctx.namer.shared("loop_body")
        new.append(self.define(name, node.body, state, [], frame, node))
        call = self.ctx.expression(
            "ag.while_(test, body, (inputs,), (names,))",
            node,
            test=test,
            body=name,
            inputs=inputs,
            names=quoted(state),
        )
        return [*new, self.result(state, call, frame, node)]

    def _For(self, node: Any, frame: Frame) -> list[Any]:
        frame.bind(names_of(node.iter).writes)
        live = self.live.head(node) | self.live.after(node) | self.shared
        state = [n for n in self.written([node.target, *node.body], node) if n in live]
        inputs = self.inputs(state, frame, node)
        new: list[Any] = []
        item, unpack = self._loop_item(node, state)
        name = self.ctx.namer.shared("loop_body")
        new.append(self.define(name, node.body, state, [], frame, node, item, unpack))
        call = self.ctx.expression(
            "ag.for_(iterable, body, (inputs,), (names,))",
            node,
            iterable=node.iter,
            body=name,
            inputs=inputs,
            names=quoted(state),
        )
        if getattr(node, "exit_test", None) is not None:
            test = self._test(node.exit_test, state, new, node)
            call.keywords = [gast.keyword("test", test)]
            if self._is_kept(node):
                kept = origin.inherit(gast.Constant(True, None), node)
                call.keywords.append(gast.keyword("kept", kept))
        return [*new, self.result(state, call, frame, node)]

    def _is_kept(self, node: Any) -> bool:
        """Whether a loop that may leave its iterable half-way goes over what is read later."""
        name = getattr(node.iter, "id", None)
        return name in self.live.after(node) or name in self.shared

    def _loop_item(self, node: Any, state: list[str]) -> tuple[str, list[Any]]:
        """The parameter that takes the next value, and the statements that unpack it."""
        target = node.target
        if isinstance(target, gast.Name) and target.id not in {*state, *self.scope.globals}:
            return target.id, []
        base = f"next_{target.id}" if isinstance(target, gast.Name) else "item"
        name = self.ctx.namer.shared(base)
        self.ctx.internal.add(name)
        return name, self.ctx.statements("target = item", node, target=target, item=name)

    def _test(self, test: Any, state: list[str], new: list[Any], at: Any) -> Any:
        """The test of a loop as a function of its state."""
        if not self.shared & set(state):
            return self.ctx.expression("lambda params: test", at, params=state, test=test)
        name = self.ctx.namer.shared("loop_test")
        body = self.shared_head(state, at) + self.ctx.statements("return test", at, test=test)
        new += self.ctx.statements(
            "def name(params):\n    body",
            at,
            name=name,
            params=[self.parameter(n) for n in state],
            body=body,
        )
        return origin.inherit(gast.Name(name, gast.Load(), None, None), at)


def _is_short(value: Any) -> bool:
    return sum(1 for _ in gast.walk(value)) <= LAMBDA_SIZE


def _has_docstring(body: list[Any]) -> bool:
    match body:
        case [gast.Expr(value=gast.Constant(value=str())), *_]:
            return True
    return False
