"""What can fail in a compiled graph, and the exception for it.

    site = Site(IndexError, "index {0} is out of bounds for axis 0 with size {1}", location, "ii")
    raise site.error([12, 10])

A compiled graph returns the number of the site that failed and leaves the values that belong into
the message in words. The exception is the one that the reference engine raises at this place.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphify.errors import GraphifyError, at

WORDS = 8  # for the values of a message


def _double(word: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", word))[0])


_FORMATS: dict[str, Callable[[int], Any]] = {
    "i": int,
    "u": lambda word: word & (1 << 64) - 1,
    "b": bool,
    "f": _double,
}


class CanFail(Protocol):
    """What makes the exception from the words that a failure left."""

    def error(self, words: Sequence[int]) -> BaseException: ...


@dataclass(frozen=True, slots=True)
class Site:
    """A place that can fail.

    Attributes:
        kind: class of the exception.
        template: its message; {0}, {1}, ... are the values.
        location: the user's line (`graphify.location`), or None.
        formats: what each word is: i(nteger), u(nsigned), b(ool), f(loat: the bits of a double).
        remedy: for graphify's own errors.
    """

    kind: type[Exception]
    template: str
    location: Any = None
    formats: str = ""
    remedy: str | None = None

    def error(self, words: Sequence[int]) -> BaseException:
        """The exception for the values a failure left."""
        values = [_FORMATS[f](word) for f, word in zip(self.formats, words, strict=False)]
        message = self.template.format(*values) if values else self.template
        if self.remedy is not None and issubclass(self.kind, GraphifyError):
            return at(self.kind(message, remedy=self.remedy), self.location)
        return at(self.kind(message), self.location)
