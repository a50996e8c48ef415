"""Match statements become if statements, with an operator where a pattern has parts.

    match n:                       if n == 0 or n == 1:
        case 0 | 1:                    a
            a                      else:
        case k if k > 9:               k = n
            b                          if k > 9:
        case _:                            b
            c                          else:
                                           c

    match point:                   found = ag.match_(point, ag.sequence_of(0, ag.capture("y")))
        case (0, y):               if ag.matched(found):
            a                          y = found["y"]
                                       a

Whether a subject has the parts that a pattern asks for is decided while tracing; only comparisons
with staged numbers are left to the run. Runs early: what it makes is converted like any other code.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.base import Context, Converter, find_walrus
from graphify.syntax import origin
from graphify.syntax.analysis.activity import names_of


def transform(tree: Any, ctx: Context) -> Any:
    """Convert the match statements of a function and of all functions defined in it."""
    return _Match(ctx).visit(tree)


class _Match(Converter):
    def visit_Match(self, node: Any) -> list[Any]:
        new, subject = self._subject(node)
        cases = [_Case(self.ctx, case, subject) for case in node.cases]
        bodies = [self.block(case.body) for case in node.cases]
        rest: list[Any] = []
        for case, body in zip(reversed(cases), reversed(bodies), strict=True):
            rest = case.statements(body, rest)
        return [*new, *rest]

    def _subject(self, node: Any) -> tuple[list[Any], str]:
        """The name of the subject, which is evaluated once."""
        guards = [case.guard for case in node.cases if case.guard is not None]
        bound = names_of([*(case.pattern for case in node.cases), *guards]).writes
        match node.subject:
            case gast.Name(id=name) if name not in bound and find_walrus(guards) is None:
                return [], name
        name = self.ctx.internal_name("subject")
        new = self.ctx.statements("name = value", node, name=name, value=node.subject)
        return new, name


class _Case:
    """One case: what makes it apply, what it binds."""

    def __init__(self, ctx: Context, case: Any, subject: str) -> None:
        self.ctx, self.case, self.pattern, self.subject = ctx, case, case.pattern, subject
        self.irrefutable = isinstance(case.pattern, gast.MatchAs) and case.pattern.pattern is None
        self.comparison = None if self.irrefutable else self._comparison(case.pattern)
        with_parts = not self.irrefutable and self.comparison is None
        self.found = ctx.internal_name("found") if with_parts else ""

    def statements(self, body: list[Any], rest: list[Any]) -> list[Any]:
        """The case's body if it applies, else the rest."""
        guard = self.case.guard
        if self.irrefutable:
            bound = [self._assign(self.pattern.name, self._subject())] * bool(self.pattern.name)
            return [*bound, *(body if guard is None else [self._if(guard, body, rest)])]
        if self.comparison is not None:
            return [self._if(self._and(self.comparison, guard), body, rest)]
        return self._with_parts(body, rest)

    def _with_parts(self, body: list[Any], rest: list[Any]) -> list[Any]:
        guard, names = self.case.guard, list(names_of(self.pattern).writes)
        match_ = self.ctx.operator(
            "match_", self.pattern, self._subject(), self._made(self.pattern)
        )
        new = [self._assign(self.found, match_)]
        test = self._at("ag.matched(found)", found=self.found)
        if guard is not None and names:
            applies = self.ctx.internal_name("applies")
            new.append(self._assign(applies, test))
            verdict = self._assign(applies, self.ctx.operator("bool", guard, guard))
            new.append(self._if(self._name(applies), [*self._bound(names), verdict], []))
            return [*new, self._if(self._name(applies), [*self._bound(names), *body], rest)]
        return [*new, self._if(self._and(test, guard), [*self._bound(names), *body], rest)]

    def _bound(self, names: list[str]) -> list[Any]:
        found = self.found
        return [self._assign(name, self._at(f'found["{name}"]', found=found)) for name in names]

    # Nodes.

    def _at(self, source: str, **replacements: Any) -> Any:
        return self.ctx.expression(source, self.pattern, **replacements)

    def _name(self, name: str) -> Any:
        return self._at("name", name=name)

    def _subject(self) -> Any:
        return self._name(self.subject)

    def _assign(self, name: str, value: Any) -> Any:
        (new,) = self.ctx.statements("name = value", self.pattern, name=name, value=value)
        return new

    def _if(self, test: Any, body: list[Any], rest: list[Any]) -> Any:
        return origin.inherit(gast.If(test, body, rest), self.pattern)

    def _and(self, test: Any, guard: Any) -> Any:
        if guard is None:
            return test
        return origin.inherit(gast.BoolOp(gast.And(), [test, guard]), guard)

    # Patterns.

    def _comparison(self, pattern: Any) -> Any:
        """The test that a pattern without parts is, or None."""
        match pattern:
            case gast.MatchValue(value=value):
                return self._at("subject == value", subject=self._subject(), value=value)
            case gast.MatchSingleton(value=None as value):
                constant = gast.Constant(value, None)
                return self._at("subject is value", subject=self._subject(), value=constant)
            case gast.MatchOr(patterns=patterns):
                tests = [self._comparison(p) for p in patterns]
                if None not in tests:
                    return origin.inherit(gast.BoolOp(gast.Or(), tests), pattern)
        return None

    def _made(self, pattern: Any) -> Any:
        """The expression that makes a pattern for the operator."""
        match pattern:
            case gast.MatchValue(value=value):
                return value
            case gast.MatchSingleton(value=value):
                return self._operator("same", gast.Constant(value, None))
            case gast.MatchAs(pattern=None, name=None):
                return self._operator("anything")
            case gast.MatchAs(pattern=inner, name=name):
                return self._operator("capture", _quoted(name), *self._all([inner] * bool(inner)))
            case gast.MatchStar(name=name):
                return self._operator("others", _quoted(name))
            case gast.MatchOr(patterns=patterns):
                return self._operator("either", *self._all(patterns))
            case gast.MatchSequence(patterns=patterns):
                return self._operator("sequence_of", *self._all(patterns))
            case gast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                pairs = [
                    gast.Tuple([key, value], gast.Load())
                    for key, value in zip(keys, self._all(patterns), strict=True)
                ]
                return self._with(
                    self._operator("mapping_of", *pairs), {"rest": rest} if rest else {}
                )
            case gast.MatchClass(cls=kind, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
                made = self._operator("instance_of", kind, *self._all(patterns))
                new = zip(names, self._all(named), strict=True)
                made.keywords = [gast.keyword(name, value) for name, value in new]
                return origin.inherit(made, pattern)
        self.ctx.unsupported(pattern, "this pattern", "write an if statement")

    def _operator(self, name: str, *args: Any) -> Any:
        return self.ctx.operator(name, self.pattern, *args)

    def _with(self, made: Any, names: dict[str, str]) -> Any:
        made.keywords = [gast.keyword(name, _quoted(text)) for name, text in names.items()]
        return origin.inherit(made, self.pattern)

    def _all(self, patterns: list[Any]) -> list[Any]:
        return [self._made(p) for p in patterns]


def _quoted(name: str | None) -> Any:
    return gast.Constant(name, None)
