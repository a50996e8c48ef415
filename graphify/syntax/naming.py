"""Fresh names that a reader understands and that clash with nothing in the function.

>>> import gast
>>> namer = Namer.of(gast.parse("def f(x):\\n    did_break = x"))
>>> namer.fresh("did_break"), namer.fresh("if_true")
('did_break_1', 'if_true')
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable
from typing import Any

import gast


class Namer:
    """Hands out names that are not in use; a name handed out is in use from then on."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken) | set(dir(builtins))
        self._shared: dict[str, str] = {}

    @classmethod
    def of(cls, tree: Any) -> Namer:
        """A namer that avoids every identifier that occurs anywhere in a tree."""
        return cls(identifiers(tree))

    def fresh(self, base: str) -> str:
        """`base`, or `base_1`, `base_2`, ... if that is taken."""
        name, count = base, 0
        while name in self._taken or keyword.iskeyword(name):
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def shared(self, base: str) -> str:
        """The same fresh name every time: for helpers that are used where they are defined."""
        if base not in self._shared:
            self._shared[base] = self.fresh(base)
        return self._shared[base]


def identifiers(tree: Any) -> set[str]:
    """Every identifier in a tree: variables, attributes, arguments, imported and bound names."""
    found: set[str] = set()
    for node in gast.walk(tree):
        for field in ("id", "name", "attr", "arg", "rest", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value.split(".")[0])
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            found.update(node.names)
    return found
