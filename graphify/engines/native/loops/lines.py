"""The user's lines that loops come from.

places = user_lines(program.body)
print("\\n".join(quoted(places)))       # a.py:4  e = np.exp(x - np.max(x, axis=-1, keepdims=True))
"""

from __future__ import annotations

from collections.abc import Iterable

from graphify.engines.native.loops.program import Stmt
from graphify.engines.native.loops.walk import statements
from graphify.location import LazyLoc, SourceLoc


def user_lines(block: Iterable[Stmt]) -> list[SourceLoc]:
    """The lines of some statements, nested ones too: each once, in the order of the source."""
    found: dict[tuple[str, int], SourceLoc] = {}
    for stmt in statements(tuple(block)):
        source = getattr(stmt, "source", None)
        if source is not None:
            place = source.resolve()
            found.setdefault((place.file, place.line), place)
    files = list(dict.fromkeys(file for file, _ in found))
    order = sorted(found, key=lambda key: (files.index(key[0]), key[1]))
    return [found[key] for key in order]


def quoted(places: Iterable[SourceLoc]) -> list[str]:
    """Each line with its file, its number and its text, in columns."""
    places = list(places)
    width = max((len(str(place)) for place in places), default=0)
    return [f"{place!s:<{width}}  {place.text}".rstrip() for place in places]


def quote(source: LazyLoc) -> str:
    """One line: file, number, text."""
    return quoted([source.resolve()])[0]
