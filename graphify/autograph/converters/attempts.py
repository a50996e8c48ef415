"""Statements that may fail within a `try`: the statement becomes a function of the state.

    raised, error, step = ag.attempt(lambda y: (x[k],), (y,), lambda: IndexError, True)

`jumps` makes the attempt and puts the statement under its flag; there `step` stands for it now:

    (y,) = step()
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import gast

from graphify.autograph.converters.blocks import Frame
from graphify.autograph.converters.suspended import SuspendedBlocks
from graphify.syntax import origin


class AttemptBlocks(SuspendedBlocks):
    """Converts attempts, and the statements they are made at."""

    @abstractmethod
    def short_branch(self, body: list[Any], state: list[str], at: Any) -> Any:
        """A block as a lambda from state to state, if it is short."""

    def attempt(self, node: Any, frame: Frame) -> list[Any]:
        """The call that makes an attempt at the statement `node.attempt`."""
        statement = node.attempt
        statement.state = state = self._state(statement)
        inputs = self.inputs(state, frame, node)
        new: list[Any] = []
        body = self._body(statement, state, frame, new)
        node.value.args[:2] = [body, origin.inherit(gast.Tuple(inputs, gast.Load()), node)]
        frame.bind([name.id for name in node.targets[0].elts])
        return [*new, node]

    def _state(self, statement: Any) -> list[str]:
        live = self.live.after(statement)
        written = self.written([statement], statement)
        return [name for name in written if name in live or name in self.shared]

    def _body(self, statement: Any, state: list[str], frame: Frame, new: list[Any]) -> Any:
        """The statement as a lambda, or the name of the function appended to `new`."""
        step, statement.step = statement.step, None
        body = self.short_branch([statement], state, statement)
        if body is None:
            name = self.ctx.namer.shared("attempt")
            defaults = [n for n in self.defaults([statement], state) if n in frame.bound]
            new.append(self.define(name, [statement], state, defaults, frame, statement))
            body = origin.inherit(gast.Name(name, gast.Load(), None, None), statement)
        statement.step = step
        return body

    def step(self, statement: Any, frame: Frame) -> list[Any]:
        """The statement where it has not failed."""
        call = self.ctx.expression("step()", statement, step=statement.step)
        return [self.result(statement.state, call, frame, statement)]
