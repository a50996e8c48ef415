"""Texts of code that no file holds and `linecache` does not know: of `exec`, of a REPL.

    exec(text, space)
    provide(space["f"], text)      # from now on `f`, and what it calls of that text, can be parsed

The text is kept in the globals of the functions, as a module's loader is, and under a file name of
its own in `linecache`, so that errors and tracebacks quote it.
"""

from __future__ import annotations

import itertools
import linecache
from dataclasses import dataclass
from types import FunctionType
from typing import Any

SOURCES = "__graphify_sources__"
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, the file name that code compiled from it has, and the one it is known by here."""

    compiled: str
    filename: str
    source: str


def provide(function: Any, source: str) -> Text:
    """Note the text that a function's code was compiled from, line numbers and all."""
    function = getattr(function, "__func__", function)
    compiled = function.__code__.co_filename
    texts: list[Text] = function.__globals__.setdefault(SOURCES, [])
    for known in texts:
        if (known.compiled, known.source) == (compiled, source):
            return known
    text = Text(compiled, f"<source {next(_numbers)} of {compiled.strip('<>')}>", source)
    texts.insert(0, text)  # what is defined again hides what was
    lines = source.splitlines(keepends=True)
    linecache.cache[text.filename] = (len(source), None, lines, text.filename)
    return text


def provided(function: FunctionType) -> list[Text]:
    """The texts that may hold a function, the latest first."""
    texts = function.__globals__.get(SOURCES, ())
    return [text for text in texts if text.compiled == function.__code__.co_filename]
