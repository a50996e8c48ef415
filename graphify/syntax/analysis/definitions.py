"""Definitions: the names that are certainly bound before each statement of a function.

    >>> import gast
    >>> f = gast.parse("def f(x):\\n    if x:\\n        y = 1\\n    return y").body[0]
    >>> Definitions(f).bound_before(f.body[1]) == {"x"}
    True

A forward walk with sets of certainly bound names; None stands for "never gets here". A `try`
handler may be entered from anywhere in its body, so it starts from what held before the body, less
what the body unbinds.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import gast

from graphify.syntax.analysis.activity import handler_name, names_of, parameters

Bound = frozenset[str]


class Definitions:
    """Certainly bound local names before each statement, and at each loop's test."""

    def __init__(self, function: Any) -> None:
        self._before: dict[Any, Bound | None] = {}
        self._head: dict[Any, Bound] = {}
        self._breaks: list[list[Bound | None]] = []
        self._continues: list[list[Bound | None]] = []
        if not isinstance(function, gast.Lambda):
            self._block(function.body, frozenset(parameters(function.args)))

    def bound_before(self, statement: Any) -> Bound | None:
        """Names certainly bound before a statement; None if it cannot be reached."""
        return self._before.get(statement)

    def bound_at_test(self, loop: Any) -> Bound:
        """Names certainly bound whenever a loop evaluates its test."""
        return self._head.get(loop, frozenset())

    def _block(self, body: list[Any], bound: Bound | None) -> Bound | None:
        for statement in body:
            self._before[statement] = bound
            if bound is not None:
                rule = getattr(self, "_" + type(statement).__name__, self._simple)
                bound = rule(statement, bound)
        return bound

    def _simple(self, node: Any, bound: Bound) -> Bound | None:
        names = names_of(node)
        return (bound | frozenset(names.writes)) - names.deletes

    def _stop(self, node: Any, bound: Bound) -> Bound | None:
        return None

    _Return = _Raise = _stop

    def _Break(self, node: Any, bound: Bound) -> Bound | None:
        self._breaks[-1].append(bound)
        return None

    def _Continue(self, node: Any, bound: Bound) -> Bound | None:
        self._continues[-1].append(bound)
        return None

    def _If(self, node: Any, bound: Bound) -> Bound | None:
        bound |= frozenset(names_of(node.test).writes)
        return _join(self._block(node.body, bound), self._block(node.orelse, bound))

    def _While(self, node: Any, bound: Bound) -> Bound | None:
        endless = isinstance(node.test, gast.Constant) and bool(node.test.value)
        return self._loop(node, bound, frozenset(names_of(node.test).writes), endless)

    def _For(self, node: Any, bound: Bound) -> Bound | None:
        bound |= frozenset(names_of(node.iter).writes)
        return self._loop(node, bound, frozenset(), False, frozenset(names_of(node.target).writes))

    _AsyncFor = _For

    def _loop(
        self, node: Any, head: Bound, test: Bound, endless: bool, target: Bound = frozenset()
    ) -> Bound | None:
        while True:
            self._breaks.append([])
            self._continues.append([])
            end = self._block(node.body, head | test | target)
            breaks, again = self._breaks.pop(), _join(end, *self._continues.pop())
            shrunk = head if again is None else head & again
            if shrunk == head:
                break
            head = shrunk
        self._head[node] = head
        done = None if endless else self._block(node.orelse, head | test)
        return _join(done, *breaks)

    def _With(self, node: Any, bound: Bound) -> Bound | None:
        opened = bound | frozenset(names_of(node.items).writes)
        self._block(node.body, opened)
        # The context manager may swallow an exception raised anywhere in the body.
        return opened - _unbound_in(node.body)

    _AsyncWith = _With

    def _Try(self, node: Any, bound: Bound) -> Bound | None:
        end = self._block(node.body, bound)
        caught = bound - _unbound_in(node.body)
        ends = [None if end is None else self._block(node.orelse, end)]
        for handler in node.handlers:
            name = frozenset(handler_name(handler))
            after = self._block(handler.body, caught | name)
            ends.append(None if after is None else after - name)
        return self._finally(node, bound, _join(*ends)) if node.finalbody else _join(*ends)

    def _finally(self, node: Any, bound: Bound, end: Bound | None) -> Bound | None:
        # `finally` also runs on the way out of any part; what it binds adds to how the rest ended.
        anywhere = bound - _unbound_in([*node.body, *node.orelse, *node.handlers])
        final = self._block(node.finalbody, anywhere)
        if end is None or final is None:
            return None
        return (end | (final - anywhere)) - _unbound_in(node.finalbody)

    _TryStar = _Try

    def _Match(self, node: Any, bound: Bound) -> Bound | None:
        bound |= frozenset(names_of(node.subject).writes)
        ends: list[Bound | None] = [] if is_exhaustive(node) else [bound]
        for case in node.cases:
            ends.append(self._block(case.body, bound | frozenset(names_of(case.pattern).writes)))
        return _join(*ends)


def is_exhaustive(match: Any) -> bool:
    """Whether the last case of a `match` is a bare `case _` or `case name`."""
    last = match.cases[-1]
    wild = isinstance(last.pattern, gast.MatchAs) and last.pattern.pattern is None
    return wild and last.guard is None


def _unbound_in(nodes: list[Any]) -> Bound:
    """Names that some statement in a list may unbind."""
    names = set(names_of(nodes).deletes)
    for node in nodes:
        names.update(
            n
            for child in gast.walk(node)
            if isinstance(child, gast.ExceptHandler)
            for n in handler_name(child)
        )
    return frozenset(names)


def _join(*ends: Bound | None) -> Bound | None:
    reached = [end for end in ends if end is not None]
    return reduce(lambda a, b: a & b, reached) if reached else None
