"""The functions that blocks become, and the names that travel through them.

    def loop_body(next_i, i_in, total):     # the item, then the state; `i` is shared (see `cells`)
        nonlocal i
        i = next_i
        y = ag.Undefined("y")               # a local that may be passed on before it is bound
        ...
        return i, total                     # the new state

`control_flow` decides which statements become what; here is how such a function is put together
and what it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import gast

from graphify.autograph.converters.base import Context
from graphify.autograph.converters.cells import captured_names, surviving_names
from graphify.syntax import origin
from graphify.syntax.analysis.activity import Known, names_of, scope_of
from graphify.syntax.analysis.liveness import Liveness

ENDS = (gast.Return, gast.Raise)


@dataclass
class Frame:
    """Which names are bound in the Python function that is being generated.

    `bound` certainly are, `maybe` may be; `hoisted` get an Undefined at the top of the function.
    """

    bound: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)
    hoisted: dict[str, None] = field(default_factory=dict)

    def branch(self) -> Frame:
        """The same function on a path that may not be taken."""
        return Frame(set(self.bound), self.maybe, self.hoisted)

    def bind(self, names: Any) -> None:
        self.bound.update(names)
        self.maybe.update(names)


class Blocks(ABC):
    """The blocks of one user function, as functions."""

    def __init__(self, ctx: Context, node: Any) -> None:
        self.ctx, self.node = ctx, node
        self.known: Known = {}  # names in statements, as they are before they are converted
        self.scope = scope_of(node, self.known)
        # Names whose cell others see: generated functions rebind that very cell.
        captured = captured_names(self.scope)
        self.live = Liveness(node, captured)
        self.shared = captured | surviving_names(node, self.scope, self.live, ctx)
        self.undefined: set[str] = set()
        self.root = Frame()

    @abstractmethod
    def block(self, body: list[Any], frame: Frame) -> list[Any]:
        """Convert statements inside the generated function that `frame` describes."""

    def define(
        self,
        name: str,
        body: list[Any],
        state: list[str],
        defaults: list[str],
        frame: Frame,
        at: Any,
        item: str | None = None,
        unpack: list[Any] | None = None,
        result: bool = True,
    ) -> Any:
        """The function of a block: from the state (after `item`, if any) to the new state."""
        inner = Frame()
        inner.bind([*state, *defaults, *([item] if item else [])])
        inner.bind(n for node in unpack or [] for n in names_of(node).writes)
        inner.bind(self.root.bound & self.shared)
        inner_body = self.block(body, inner)
        carried = [*state, *defaults]
        new = [
            *self.global_head([*(unpack or []), *body], at),
            *self.shared_head(carried, at, _single_target(unpack)),
            *self.hoisted(inner, at),
            *(unpack or []),
            *(n for n in inner_body if not isinstance(n, gast.Pass)),
        ]
        if result and not ends(inner_body):
            new += self.ctx.statements("return (state,)", at, state=state)
        params = [*([item] if item else []), *(self.parameter(n) for n in carried)]
        (function,) = self.ctx.statements(
            "def name(params):\n    body", at, name=name, params=params, body=new or [gast.Pass()]
        )
        loads = [origin.inherit(gast.Name(n, gast.Load(), None, None), at) for n in defaults]
        function.args.defaults = loads
        return function

    def parameter(self, name: str) -> str:
        return self.ctx.namer.shared(f"{name}_in") if name in self.shared else name

    def global_head(self, nodes: list[Any], at: Any) -> list[Any]:
        """The globals that a block assigns: it writes them where everyone sees it."""
        if not self.scope.globals:
            return []
        names = names_of(nodes)
        found = sorted((names.writes.keys() | names.deletes) & self.scope.globals)
        return [origin.inherit(gast.Global(found), at)] if found else []

    def shared_head(self, names: list[str], at: Any, target: str = "") -> list[Any]:
        """Rebind the cells that other functions see to the values that came in."""
        shared = [n for n in names if n in self.shared]
        if not shared:
            return []
        new = self.ctx.statements("nonlocal names", at, names=shared)
        for name in shared:
            if name == target:  # rebound at once
                continue
            new += self.ctx.statements("name = value", at, name=name, value=self.parameter(name))
        return new

    def hoisted(self, frame: Frame, at: Any) -> list[Any]:
        return [
            node
            for name in frame.hoisted
            for node in self.ctx.statements(
                "name = ag.Undefined(quoted)", at, name=name, quoted=self.called(name)
            )
        ]

    def called(self, name: str) -> Any:
        """What an Undefined is called: `Carry` knows what is not returned yet by its name."""
        return gast.Constant("what is returned" if name in self.ctx.results else name, None)

    # State.

    def written(self, nodes: list[Any], at: Any) -> list[str]:
        """The names that some code of this function may rebind, in order."""
        names = names_of(nodes, self.known)
        written = dict(names.writes) | dict.fromkeys(sorted(names.deletes - names.writes.keys()))
        if names.calls:
            written |= dict.fromkeys(sorted(self.scope.remote & self.shared))
        return [n for n in written if n in self.scope.locals or n in self.scope.nonlocals]

    def defaults(self, body: list[Any], state: list[str]) -> list[str]:
        """Names that a block reads before it rebinds them, apart from the state."""
        live = self.live.before(body[0]) if body else frozenset()
        nodes = [n for n in self.written(body, body[0] if body else None) if n not in state]
        return [n for n in nodes if n in live or n in self.shared]

    def inputs(self, state: list[str], frame: Frame, at: Any) -> list[Any]:
        """What the state is on entry."""
        inputs = []
        for name in state:
            if name in frame.bound or name in self.scope.nonlocals:
                value: Any = gast.Name(name, gast.Load(), None, None)
            elif name in frame.maybe or name in self.shared:
                self.hoist_unless_bound(name, frame)
                value = gast.Name(name, gast.Load(), None, None)
            else:
                self.undefined.add(name)
                value = self.ctx.expression("ag.Undefined(name)", at, name=self.called(name))
            inputs.append(value)
        return inputs

    def hoist_unless_bound(self, name: str, frame: Frame) -> None:
        if name in frame.bound or name in self.scope.nonlocals:
            return
        self.undefined.add(name)
        owner = self.root if name in self.shared else frame
        owner.hoisted.setdefault(name)
        frame.bound.add(name)

    def result(self, state: list[str], call: Any, frame: Frame, at: Any) -> Any:
        frame.bind(state)
        if not state:
            return origin.inherit(gast.Expr(call), at)
        return self.ctx.statements("(state,) = call", at, state=state, call=call)[0]


def quoted(names: list[str]) -> list[Any]:
    return [gast.Constant(name, None) for name in names]


def _single_target(unpack: list[Any] | None) -> str:
    """The name that the first statement of a loop body binds to the next value."""
    match unpack:
        case [gast.Assign(targets=[gast.Name(id=name)])]:
            return str(name)
    return ""


def ends(body: list[Any]) -> bool:
    """Whether a converted block ends in a return or raise."""
    return bool(body) and isinstance(body[-1], ENDS)
