"""Liveness: the names whose current value may still be read, before and after each statement.

    >>> import gast
    >>> f = gast.parse("def f(x):\\n    y = x\\n    return y").body[0]
    >>> live = Liveness(f)
    >>> sorted(live.before(f.body[1])), sorted(live.after(f.body[1]))
    (['y'], [])

A backward walk over the statements; a loop is iterated until its head no longer grows. Anything in
a `try` body may jump to a handler, so what the handlers need is live throughout that body.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gast

from graphify.syntax.analysis.activity import (
    Names,
    handler_name,
    header_names,
    names_of,
)

Live = frozenset[str]
NOTHING: Live = frozenset()


@dataclass(frozen=True)
class _Exits:
    """What is live where control may jump to."""

    at_break: Live = NOTHING
    at_continue: Live = NOTHING
    at_return: Live = NOTHING
    at_raise: Live = NOTHING

    def all(self) -> Live:
        return self.at_break | self.at_continue | self.at_return | self.at_raise


class Liveness:
    """Live names of every statement of a function; `always` are live at its end."""

    def __init__(self, function: Any, always: Live = NOTHING) -> None:
        self._before: dict[Any, Live] = {}
        self._after: dict[Any, Live] = {}
        self._head: dict[Any, Live] = {}
        if not isinstance(function, gast.Lambda):
            self._block(function.body, always, _Exits(at_return=always, at_raise=always))

    def before(self, statement: Any) -> Live:
        """Names live just before a statement."""
        return self._before[statement]

    def after(self, statement: Any) -> Live:
        """Names live just after a statement."""
        return self._after[statement]

    def head(self, loop: Any) -> Live:
        """Names live where a loop decides on its next iteration."""
        return self._head[loop]

    def _block(self, body: list[Any], after: Live, exits: _Exits) -> Live:
        for statement in reversed(body):
            self._after[statement] = after
            rule = getattr(self, "_" + type(statement).__name__, self._simple)
            after = rule(statement, after, exits) | exits.at_raise
            self._before[statement] = after
        return after

    def _simple(self, node: Any, after: Live, exits: _Exits) -> Live:
        if getattr(node, "settles", False):  # `n = certain(n)` is nothing that needs `n`
            return after
        return _through(names_of(node), after)

    def _Return(self, node: Any, after: Live, exits: _Exits) -> Live:
        return _through(names_of(node), exits.at_return)

    def _Raise(self, node: Any, after: Live, exits: _Exits) -> Live:
        return _through(names_of(node), exits.at_raise)

    def _Break(self, node: Any, after: Live, exits: _Exits) -> Live:
        return exits.at_break

    def _Continue(self, node: Any, after: Live, exits: _Exits) -> Live:
        return exits.at_continue

    def _If(self, node: Any, after: Live, exits: _Exits) -> Live:
        inside = self._block(node.body, after, exits) | self._block(node.orelse, after, exits)
        return _through(header_names(node), inside)

    def _While(self, node: Any, after: Live, exits: _Exits) -> Live:
        return self._loop(node, after, exits, names_of(node.test), Names())

    def _For(self, node: Any, after: Live, exits: _Exits) -> Live:
        test = names_of([t for t in [getattr(node, "exit_test", None)] if t is not None])
        head = self._loop(node, after, exits, test, names_of(node.target))
        return _through(names_of(node.iter), head)

    _AsyncFor = _For

    def _loop(self, node: Any, after: Live, exits: _Exits, test: Names, target: Names) -> Live:
        done = self._block(node.orelse, after, exits)
        head: Live = done
        while True:
            inner = replace(exits, at_break=after, at_continue=head)
            body = _through(target, self._block(node.body, head, inner))
            grown = head | _through(test, body | done)
            if grown == head:
                self._head[node] = head
                return head
            head = grown

    def _With(self, node: Any, after: Live, exits: _Exits) -> Live:
        # A context manager may swallow an exception: any point of the body may go on after it.
        inner = replace(exits, at_raise=exits.at_raise | after)
        return _through(header_names(node), self._block(node.body, after, inner))

    _AsyncWith = _With

    def _Try(self, node: Any, after: Live, exits: _Exits) -> Live:
        if node.finalbody:
            after = self._block(node.finalbody, after | exits.all(), exits)
            exits = _Exits(after, after, after, after)
        handlers = exits.at_raise
        for handler in node.handlers:
            names = names_of([handler.type] if handler.type is not None else [])
            inside = self._block(handler.body, after, exits)
            handlers |= _through(names, inside - frozenset(handler_name(handler)))
        done = self._block(node.orelse, after, exits)
        return self._block(node.body, done, replace(exits, at_raise=handlers)) | handlers

    _TryStar = _Try

    def _Match(self, node: Any, after: Live, exits: _Exits) -> Live:
        live = after
        for case in node.cases:
            inside = self._block(case.body, after, exits)
            names = names_of([c for c in (case.pattern, case.guard) if c is not None])
            live |= inside - frozenset(names.writes) | names.reads
        return _through(names_of(node.subject), live)


def _through(names: Names, after: Live) -> Live:
    """Live before something that reads and binds `names`."""
    return frozenset(names.reads) | (after - frozenset(names.writes))
