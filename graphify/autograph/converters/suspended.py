"""Statements around the yields of a generator that is pulled: they stay Python's own.

    while n < 3:                    while ag.known(n < 3):
        yield n                         yield n

    for v in values:                for v in ag.known_items(values):
        yield v                         yield v

A block with a `yield` in it cannot become a function, so what decides about it has to be a Python
value; `ag.known` refuses any other. Blocks inside it that do not yield are converted as usual.
"""

from __future__ import annotations

from typing import Any

import gast

from graphify.autograph.converters.blocks import Blocks, Frame, ends
from graphify.syntax import origin
from graphify.syntax.analysis.activity import names_of

KINDS = (gast.If, gast.While, gast.For)


class SuspendedBlocks(Blocks):
    """Blocks of a generator function that stay blocks."""

    def is_suspended(self, node: Any) -> bool:
        """Whether a statement has a `yield` in it that is still one of Python's."""
        return isinstance(node, KINDS) and names_of(node, self.known).yields

    def suspended(self, node: Any, frame: Frame) -> list[Any]:
        """Convert the parts of a statement that yields."""
        header = node.iter if isinstance(node, gast.For) else node.test
        frame.bind(names_of(header).writes)
        if isinstance(node, gast.If):
            return self._suspended_if(node, frame)
        inside = frame.branch()
        if isinstance(node, gast.For):
            node.iter = self.ctx.operator("known_items", node.iter, node.iter)
            inside.bind(names_of(node.target).writes)
        else:
            node.test = self.ctx.operator("known", node.test, node.test)
        node.body = self._filled(node.body, inside, node)
        test = getattr(node, "exit_test", None)
        if test is not None:
            leave = self.ctx.statements("if not ag.known(test):\n    break", node, test=test)
            node.body += leave
        return [node]

    def _suspended_if(self, node: Any, frame: Frame) -> list[Any]:
        node.test = self.ctx.operator("known", node.test, node.test)
        paths = []
        for name in ("body", "orelse"):
            side = frame.branch()
            part = getattr(node, name)
            part = self._filled(part, side, node) if part else part
            setattr(node, name, part)
            paths += [] if ends(part) else [side.bound]
        if paths:
            frame.bound |= set.intersection(*paths)
        return [node]

    def _filled(self, body: list[Any], frame: Frame, at: Any) -> list[Any]:
        return self.block(body, frame) or [origin.inherit(gast.Pass(), at)]
