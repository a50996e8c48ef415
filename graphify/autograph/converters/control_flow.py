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

from dataclasses import dataclass, field
from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter, find_walrus
from graphify.autograph.converters.cells import captured_names, surviving_names
from graphify.autograph.converters.undefined import mark_loads, wrap_loads
from graphify.syntax import origin
from graphify.syntax.analysis.activity import (
    any_node,
    handler_name,
    header_names,
    names_of,
    scope_of,
)
from graphify.syntax.analysis.definitions import Definitions, is_exhaustive
from graphify.syntax.analysis.liveness import Liveness

LAMBDA_SIZE = 24  # a branch of at most so many nodes is written as a lambda
ENDS = (gast.Return, gast.Raise)


def transform(tree: Any, ctx: Context) -> Any:
    """Convert the control flow of a function and of all functions defined in it."""
    return _Functions(ctx).visit(tree)


class _Functions(Converter):
    def visit_FunctionDef(self, node: Any) -> Any:
        _Function(self.ctx, node).convert()
        return node


@dataclass
class _Frame:
    """Which names are bound in the Python function that is being generated.

    `bound` certainly are, `maybe` may be; `hoisted` get an Undefined at the top of the function.
    """

    bound: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)
    hoisted: dict[str, None] = field(default_factory=dict)

    def branch(self) -> _Frame:
        """The same function on a path that may not be taken."""
        return _Frame(set(self.bound), self.maybe, self.hoisted)

    def bind(self, names: Any) -> None:
        self.bound.update(names)
        self.maybe.update(names)


class _Function:
    """Converts one user function in place."""

    def __init__(self, ctx: Context, node: Any) -> None:
        self.ctx, self.node = ctx, node
        self.scope = scope_of(node)
        # Names whose cell others see: generated functions rebind that very cell.
        captured = captured_names(self.scope)
        self.live = Liveness(node, captured)
        self.shared = captured | surviving_names(node, self.scope, self.live, ctx)
        self.definitions = Definitions(node)
        self.undefined: set[str] = set()
        self.root = _Frame()

    def convert(self) -> None:
        doubtful = mark_loads(self.node, self.scope, self.definitions, self.ctx.internal)
        self.root.bind(self.scope.params)
        body = self._block(self.node.body, self.root)
        for name in sorted(doubtful - self.root.maybe):
            # Only generated functions bind it now: without this it would be found outside.
            self._hoist_unless_bound(name, self.root)
        position = 1 if _has_docstring(body) else 0
        declared: list[Any] = []
        for kind, names in ((gast.Global, self.scope.globals),
                            (gast.Nonlocal, self.scope.nonlocals)):
            if names:
                declared.append(origin.inherit(kind(sorted(names)), self.node))
        body[position:position] = [*declared, *self._hoisted(self.root, self.node)]
        self.node.body = body or [origin.inherit(gast.Pass(), self.node)]
        wrap_loads(self.node, self.undefined, self.ctx)

    # Statements.

    def _block(self, body: list[Any], frame: _Frame) -> list[Any]:
        new: list[Any] = []
        for node in body:
            rule = getattr(self, "_" + type(node).__name__, self._simple)
            new += rule(node, frame)
            if isinstance(node, ENDS) or (new and isinstance(new[-1], ENDS)):
                break
        return new

    def _simple(self, node: Any, frame: _Frame) -> list[Any]:
        frame.bind(names_of(node).writes)
        return [node]

    def _Global(self, node: Any, frame: _Frame) -> list[Any]:
        return []  # declared again at the top of the function

    _Nonlocal = _Global

    def _FunctionDef(self, node: Any, frame: _Frame) -> list[Any]:
        _Function(self.ctx, node).convert()
        frame.bind([node.name])
        return [node]

    def _Delete(self, node: Any, frame: _Frame) -> list[Any]:
        """A deleted local becomes Undefined: generated code may have to pass it on."""
        new: list[Any] = []
        for target in node.targets:
            if isinstance(target, gast.Name) and target.id in self.scope.nonlocals:
                self.ctx.unsupported(node, f"`del {target.id}` of a nonlocal name",
                                     "assign None to it instead")
            if isinstance(target, gast.Name) and target.id in self.scope.locals:
                self.undefined.add(target.id)
                name, quoted = target.id, gast.Constant(target.id, None)
                if getattr(target, "maybe_unbound", None) is not None:
                    new += self.ctx.statements("ag.defined(name)", node, name=name)
                new += self.ctx.statements("name = ag.Undefined(quoted)", node, name=name,
                                           quoted=quoted)
                frame.bind([name])
            else:
                new.append(origin.inherit(gast.Delete([target]), node))
        return new

    def _With(self, node: Any, frame: _Frame) -> list[Any]:
        frame.bind(header_names(node).writes)
        node.body = self._part(node.body, frame.branch(), node)
        return [node]

    def _Try(self, node: Any, frame: _Frame) -> list[Any]:
        names = {n for handler in node.handlers for n in handler_name(handler)}
        start, ends = frame.branch(), []
        node.body, node.orelse = (self._part(part, start, node)
                                  for part in (node.body, node.orelse))
        if not _ends([*node.body, *node.orelse]):
            ends.append(start.bound)
        for handler in node.handlers:
            caught = frame.branch()
            caught.bind(handler_name(handler))
            handler.body = self._part(handler.body, caught, node)
            if not _ends(handler.body):
                ends.append(caught.bound - set(handler_name(handler)))
        if ends:
            frame.bound |= set.intersection(*ends)
        frame.bound -= names
        last = frame.branch()
        node.finalbody = self._part(node.finalbody, last, node)
        frame.bound |= last.bound
        return [node]

    _TryStar = _Try

    def _Match(self, node: Any, frame: _Frame) -> list[Any]:
        frame.bind(names_of(node.subject).writes)
        ends = [] if is_exhaustive(node) else [set(frame.bound)]
        for case in node.cases:
            inside = frame.branch()
            inside.bind(names_of(case.pattern).writes)
            case.body = self._part(case.body, inside, node)
            ends += [] if _ends(case.body) else [inside.bound]
        if ends:
            frame.bound |= set.intersection(*ends)
        return [node]

    def _part(self, body: list[Any], frame: _Frame, at: Any) -> list[Any]:
        """A block of a statement that stays Python; it may not become empty."""
        new = self._block(body, frame)
        return new or ([origin.inherit(gast.Pass(), at)] if body else [])

    # Statements that become operator calls.

    def _If(self, node: Any, frame: _Frame) -> list[Any]:
        if any_node([*node.body, *node.orelse], [gast.Return]) is not None:
            return self._value_if(node, frame)
        new = self._test_first(node, frame)
        live = self.live.after(node)
        state = [n for n in self._written([*node.body, *node.orelse], node)
                 if n in live or n in self.shared or self._must_pass(n, node, frame)]
        inputs = self._inputs(state, frame, node)
        thunks = [self._branch(name, body, state, frame, new, node)
                  for name, body in (("if_true", node.body), ("if_false", node.orelse))]
        call = self.ctx.expression("ag.if_(test, yes, no, (inputs,), (names,))", node,
                                   test=node.test, yes=thunks[0], no=thunks[1], inputs=inputs,
                                   names=_quoted(state))
        return [*new, self._result(state, call, frame, node)]

    def _test_first(self, node: Any, frame: _Frame) -> list[Any]:
        """What a `:=` in the test binds must be bound before the branches are defined."""
        frame.bind(names_of(node.test).writes)
        if find_walrus(node.test) is None:
            return []
        name = self.ctx.internal_name("test")
        first = self.ctx.statements("name = test", node, name=name, test=node.test)
        node.test = origin.inherit(gast.Name(name, gast.Load(), None, None), node)
        return first

    def _must_pass(self, name: str, node: Any, frame: _Frame) -> bool:
        """Whether a branch may read a name before it binds it, and it may be unbound till then."""
        return name not in frame.bound and name in frame.maybe and any(
            body and name in self.live.before(body[0]) for body in (node.body, node.orelse))

    def _branch(self, name: str, body: list[Any], state: list[str], frame: _Frame,
                new: list[Any], at: Any) -> Any:
        """A branch as a lambda, or the name of the function appended to `new`."""
        short = self._short_branch(body, state, at)
        if short is not None:
            return short
        name = self.ctx.namer.shared(name)
        defaults = [n for n in self._defaults(body, state) if n in frame.bound]
        new.append(self._define(name, body, state, defaults, frame, at))
        return origin.inherit(gast.Name(name, gast.Load(), None, None), at)

    def _short_branch(self, body: list[Any], state: list[str], at: Any) -> Any:
        values: dict[str, Any] = {}
        match [node for node in body if not isinstance(node, gast.Pass)]:
            case []:
                pass
            case [gast.Assign(targets=[gast.Name(id=name)], value=value)] if (
                    name in state and _is_short(value)):
                values[name] = value
            case _:
                return None
        if self.shared & set(state) or find_walrus(list(values.values())) is not None:
            return None
        result = [values.get(n) or gast.Name(n, gast.Load(), None, None) for n in state]
        return self.ctx.expression("lambda params: (result,)", at, params=state, result=result)

    def _value_if(self, node: Any, frame: _Frame) -> list[Any]:
        new = self._test_first(node, frame)
        thunks = []
        for name, body in (("if_true", node.body), ("if_false", node.orelse)):
            short = self._short_value(body, node)
            if short is None:
                name = self.ctx.namer.shared(name)
                defaults = [n for n in self._defaults(body, [])
                            if n in frame.maybe or n in self.shared]
                for outer in defaults:
                    self._hoist_unless_bound(outer, frame)
                new.append(self._define(name, body, [], defaults, frame, node, result=False))
                short = origin.inherit(gast.Name(name, gast.Load(), None, None), node)
            thunks.append(short)
        return [*new, *self.ctx.statements("return ag.if_exp(test, yes, no)", node,
                                           test=node.test, yes=thunks[0], no=thunks[1])]

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

    def _While(self, node: Any, frame: _Frame) -> list[Any]:
        live = self.live.head(node) | self.live.after(node) | self.shared
        state = [n for n in self._written([node.test, *node.body], node) if n in live]
        inputs = self._inputs(state, frame, node)
        new: list[Any] = []
        test = self._test(node.test, state, new, node)
        name = self.ctx.namer.shared("loop_body")
        new.append(self._define(name, node.body, state, [], frame, node))
        call = self.ctx.expression("ag.while_(test, body, (inputs,), (names,))", node, test=test,
                                   body=name, inputs=inputs, names=_quoted(state))
        return [*new, self._result(state, call, frame, node)]

    def _For(self, node: Any, frame: _Frame) -> list[Any]:
        frame.bind(names_of(node.iter).writes)
        live = self.live.head(node) | self.live.after(node) | self.shared
        state = [n for n in self._written([node.target, *node.body], node) if n in live]
        inputs = self._inputs(state, frame, node)
        new: list[Any] = []
        item, unpack = self._loop_item(node, state)
        name = self.ctx.namer.shared("loop_body")
        new.append(self._define(name, node.body, state, [], frame, node, item, unpack))
        call = self.ctx.expression("ag.for_(iterable, body, (inputs,), (names,))", node,
                                   iterable=node.iter, body=name, inputs=inputs,
                                   names=_quoted(state))
        if getattr(node, "exit_test", None) is not None:
            test = self._test(node.exit_test, state, new, node)
            call.keywords = [gast.keyword("test", test)]
        return [*new, self._result(state, call, frame, node)]

    def _loop_item(self, node: Any, state: list[str]) -> tuple[str, list[Any]]:
        """The parameter that takes the next value, and the statements that unpack it."""
        target = node.target
        if isinstance(target, gast.Name) and target.id not in state:
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
        body = self._shared_head(state, at) + self.ctx.statements("return test", at, test=test)
        new += self.ctx.statements("def name(params):\n    body", at, name=name,
                                   params=[self._parameter(n) for n in state], body=body)
        return origin.inherit(gast.Name(name, gast.Load(), None, None), at)

    # Generated functions.

    def _define(self, name: str, body: list[Any], state: list[str], defaults: list[str],
                frame: _Frame, at: Any, item: str | None = None,
                unpack: list[Any] | None = None, result: bool = True) -> Any:
        """The function of a block: from the state (after `item`, if any) to the new state."""
        inner = _Frame()
        inner.bind([*state, *defaults, *([item] if item else [])])
        inner.bind(n for node in unpack or [] for n in names_of(node).writes)
        inner.bind(self.root.bound & self.shared)
        inner_body = self._block(body, inner)
        carried = [*state, *defaults]
        new = [*self._shared_head(carried, at, _single_target(unpack)),
               *self._hoisted(inner, at), *(unpack or []),
               *(n for n in inner_body if not isinstance(n, gast.Pass))]
        if result and not _ends(inner_body):
            new += self.ctx.statements("return (state,)", at, state=state)
        params = [*([item] if item else []), *(self._parameter(n) for n in carried)]
        function, = self.ctx.statements("def name(params):\n    body", at, name=name,
                                        params=params, body=new or [gast.Pass()])
        loads = [origin.inherit(gast.Name(n, gast.Load(), None, None), at) for n in defaults]
        function.args.defaults = loads
        return function

    def _parameter(self, name: str) -> str:
        return self.ctx.namer.shared(f"{name}_in") if name in self.shared else name

    def _shared_head(self, names: list[str], at: Any, target: str = "") -> list[Any]:
        """Rebind the cells that other functions see to the values that came in."""
        shared = [n for n in names if n in self.shared]
        if not shared:
            return []
        new = self.ctx.statements("nonlocal names", at, names=shared)
        for name in shared:
            if name == target:  # rebound at once
                continue
            new += self.ctx.statements("name = value", at, name=name, value=self._parameter(name))
        return new

    def _hoisted(self, frame: _Frame, at: Any) -> list[Any]:
        return [node for name in frame.hoisted for node in self.ctx.statements(
            "name = ag.Undefined(quoted)", at, name=name, quoted=gast.Constant(name, None))]

    # State.

    def _written(self, nodes: list[Any], at: Any) -> list[str]:
        """The names that some code of this function may rebind, in order."""
        names = names_of(nodes)
        written = dict(names.writes) | dict.fromkeys(sorted(names.deletes - names.writes.keys()))
        for name in written:
            if name in self.scope.globals:
                self.ctx.unsupported(at, f"the global `{name}` is assigned under control flow",
                                     "assign a local name, and the global after the statement")
        if names.calls:
            written |= dict.fromkeys(sorted(self.scope.remote & self.shared))
        return [n for n in written if n in self.scope.locals or n in self.scope.nonlocals]

    def _defaults(self, body: list[Any], state: list[str]) -> list[str]:
        """Names that a block reads before it rebinds them, apart from the state."""
        live = self.live.before(body[0]) if body else frozenset()
        nodes = [n for n in self._written(body, body[0] if body else None) if n not in state]
        return [n for n in nodes if n in live or n in self.shared]

    def _inputs(self, state: list[str], frame: _Frame, at: Any) -> list[Any]:
        """What the state is on entry."""
        inputs = []
        for name in state:
            if name in frame.bound or name in self.scope.nonlocals:
                value: Any = gast.Name(name, gast.Load(), None, None)
            elif name in frame.maybe or name in self.shared:
                self._hoist_unless_bound(name, frame)
                value = gast.Name(name, gast.Load(), None, None)
            else:
                self.undefined.add(name)
                value = self.ctx.expression("ag.Undefined(name)", at,
                                            name=gast.Constant(name, None))
            inputs.append(value)
        return inputs

    def _hoist_unless_bound(self, name: str, frame: _Frame) -> None:
        if name in frame.bound or name in self.scope.nonlocals:
            return
        self.undefined.add(name)
        owner = self.root if name in self.shared else frame
        owner.hoisted.setdefault(name)
        frame.bound.add(name)

    def _result(self, state: list[str], call: Any, frame: _Frame, at: Any) -> Any:
        frame.bind(state)
        if not state:
            return origin.inherit(gast.Expr(call), at)
        return self.ctx.statements("(state,) = call", at, state=state, call=call)[0]


def _quoted(names: list[str]) -> list[Any]:
    return [gast.Constant(name, None) for name in names]


def _single_target(unpack: list[Any] | None) -> str:
    """The name that the first statement of a loop body binds to the next value."""
    match unpack:
        case [gast.Assign(targets=[gast.Name(id=name)])]:
            return str(name)
    return ""


def _is_short(value: Any) -> bool:
    return sum(1 for _ in gast.walk(value)) <= LAMBDA_SIZE


def _ends(body: list[Any]) -> bool:
    """Whether a converted block ends in a return or raise."""
    return bool(body) and isinstance(body[-1], ENDS)


def _has_docstring(body: list[Any]) -> bool:
    match body:
        case [gast.Expr(value=gast.Constant(value=str())), *_]:
            return True
    return False
