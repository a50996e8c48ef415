"""Patterns of match statements that have parts, and what they find in a subject.

    found = match_((0, y), sequence_of(0, capture("y")))
    matched(found), found["y"]

The kind and the number of parts are facts of tracing, since they are facts about Python objects. A
part that is compared with a staged number leaves a staged truth value; all of those have to hold.
A part that is no `Pattern` is a value to compare with.
"""

from __future__ import annotations

import collections.abc
from abc import ABC, abstractmethod
from typing import Any

from graphify.autograph.operators import iteration
from graphify.autograph.operators.attributes import attr
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.builtins import isinstance as is_instance
from graphify.autograph.operators.choice import Choice
from graphify.autograph.operators.choosing import decide, over
from graphify.autograph.operators.conditions import is_staged, truth
from graphify.autograph.operators.logical import and_, compare, not_, or_, python_bool
from graphify.autograph.operators.state import Unstageable
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import BOOL
from graphify.location import here

# A single positional pattern in a class pattern of these is about the subject itself.
WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
TEXTS = (str, bytes, bytearray)
_MISSING = object()


class Found:
    """What a pattern found: staged conditions, and values by name."""

    def __init__(self) -> None:
        self.conditions: list[Any] = []
        self.values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def holds(self, verdict: Any) -> bool:
        """Note a truth value; False if it is known to be false."""
        if is_staged(verdict):
            self.conditions.append(python_bool(truth(verdict)))
            return True
        return bool(verdict)

    def test(self) -> Any:
        """Whether all conditions hold."""
        return and_(*(lambda c=c: c for c in self.conditions)) if self.conditions else True


class FoundInChoice:
    """What a pattern finds in the alternative that holds, looked up where it is asked for."""

    def __init__(self, choice: Choice, pattern: Pattern) -> None:
        self.choice, self.pattern = choice, pattern

    def __getitem__(self, name: str) -> Any:
        return over(self.choice, lambda subject: self._found(subject, name))

    def _found(self, subject: Any, name: str) -> Any:
        found = match_(subject, self.pattern)
        return None if found is None else found[name]

    def test(self) -> Any:
        return decide(self.choice, lambda subject: matched(match_(subject, self.pattern)))


def match_(subject: Any, pattern: Pattern) -> Found | FoundInChoice | None:
    """What a pattern finds in a subject; None if it does not apply."""
    if isinstance(subject, Choice):
        return FoundInChoice(subject, pattern)
    found = Found()
    return found if pattern.match(subject, found) else None


def matched(found: Found | FoundInChoice | None) -> Any:
    """Whether a pattern applies."""
    return found is not None and found.test()


class Pattern(ABC):
    """A pattern with parts, or one that binds a name."""

    @abstractmethod
    def match(self, subject: Any, found: Found) -> bool:
        """Whether the subject may fit; conditions and names go into `found`."""


def _fits(pattern: Any, subject: Any, found: Found) -> bool:
    if isinstance(pattern, Pattern):
        return pattern.match(subject, found)
    return found.holds(compare(subject, "==", lambda: pattern))


def _one_kind(subject: Any) -> Any:
    """A subject that is to be looked into."""
    if isinstance(subject, Choice):
        raise Unstageable(
            "a pattern looks into a part that is of several kinds",
            location=here(),
            remedy="match that part in a statement of its own",
        )
    return subject


class anything(Pattern):
    """`_`"""

    def match(self, subject: Any, found: Found) -> bool:
        return True


class same(Pattern):
    """`None`, `True`, `False`"""

    def __init__(self, value: Any) -> None:
        self.value = value

    def match(self, subject: Any, found: Found) -> bool:
        if isinstance(subject, Tensor) and isinstance(self.value, bool):
            return self._is_truth_value(subject, found)
        return found.holds(compare(subject, "is", lambda: self.value))

    def _is_truth_value(self, subject: Tensor, found: Found) -> bool:
        """A bool of Python's may be the same object; np.True_ never is."""
        spec = resolve(subject).spec
        if not spec.weak or spec.dtype != BOOL:
            return False
        return found.holds(subject if self.value else not_(subject))


class capture(Pattern):
    """`name` and `pattern as name`"""

    def __init__(self, name: str, pattern: Any = None) -> None:
        self.name, self.pattern = name, anything() if pattern is None else pattern

    def match(self, subject: Any, found: Found) -> bool:
        fits = _fits(self.pattern, subject, found)
        found.values[self.name] = subject
        return fits


class either(Pattern):
    """`a | b`: the first that fits binds the names."""

    def __init__(self, *patterns: Any) -> None:
        self.patterns = patterns

    def match(self, subject: Any, found: Found) -> bool:
        ways: list[Found] = []
        for pattern in self.patterns:
            way = Found()
            if _fits(pattern, subject, way):
                ways.append(way)
                if not way.conditions:
                    break
        if not ways:
            return False
        if ways[-1].conditions:
            found.holds(or_(*(way.test for way in ways)))
        for name, value in ways[-1].values.items():
            for way in reversed(ways[:-1]):
                value = _chosen(way, name, value)
            found.values[name] = value
        return True


def _chosen(way: Found, name: str, later: Any) -> Any:
    value = way.values[name]
    return value if value is later else if_exp(way.test(), lambda: value, lambda: later)


class others(Pattern):
    """`*name` in a sequence."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    def match(self, subject: Any, found: Found) -> bool:
        if self.name is not None:
            found.values[self.name] = subject
        return True


class sequence_of(Pattern):
    """`[a, b, *rest]`"""

    def __init__(self, *patterns: Any) -> None:
        self.patterns = patterns
        stars = [i for i, p in enumerate(patterns) if isinstance(p, others)]
        self.star = stars[0] if stars else None

    def match(self, subject: Any, found: Found) -> bool:
        _one_kind(subject)
        if not isinstance(subject, collections.abc.Sequence) or isinstance(subject, TEXTS):
            return False
        length, star = iteration.len(subject), self.star
        count = len(self.patterns) - (star is not None)
        if not found.holds(length == count if star is None else length >= count):
            return False
        first = count if star is None else star
        parts = [subject[i] for i in range(first)]
        if star is not None:
            middle = subject[first : length - (count - first)]
            parts.append(middle if isinstance(middle, list) else list(middle))
            parts += [subject[length - (count - i)] for i in range(first, count)]
        return all(_fits(p, part, found) for p, part in zip(self.patterns, parts, strict=True))


class mapping_of(Pattern):
    """`{"kind": a, **rest}`"""

    def __init__(self, *pairs: tuple[Any, Any], rest: str | None = None) -> None:
        self.pairs, self.rest = pairs, rest

    def match(self, subject: Any, found: Found) -> bool:
        if not isinstance(_one_kind(subject), collections.abc.Mapping):
            return False
        keys = [key for key, _ in self.pairs]
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        for key, pattern in self.pairs:
            value = subject.get(key, _MISSING)
            if value is _MISSING or not _fits(pattern, value, found):
                return False
        if self.rest is not None:
            found.values[self.rest] = {k: v for k, v in subject.items() if k not in keys}
        return True


class instance_of(Pattern):
    """`Point(0, y=b)`"""

    def __init__(self, kind: Any, /, *positional: Any, **keywords: Any) -> None:
        if not isinstance(kind, type):
            raise TypeError("called match pattern must be a class")
        self.kind, self.positional, self.keywords = kind, positional, keywords

    def match(self, subject: Any, found: Found) -> bool:
        if not is_instance(_one_kind(subject), self.kind):
            return False
        names = getattr(self.kind, "__match_args__", None)
        positional = self.positional
        if names is None and positional and issubclass(self.kind, WHOLE):
            first, positional = positional[0], positional[1:]
            names = ("the subject itself",)
            if not _fits(first, subject, found):
                return False
        return all(
            self._attribute(subject, name, pattern, found)
            for name, pattern in self._named(names or (), positional).items()
        )

    def _attribute(self, subject: Any, name: str, pattern: Any, found: Found) -> bool:
        try:
            value = attr(subject, name)
        except AttributeError:
            return False
        return _fits(pattern, value, found)

    def _named(self, names: Any, positional: Any) -> dict[str, Any]:
        """The patterns by the attribute that each is about."""
        kind, given = self.kind.__name__, len(self.positional)
        if not isinstance(names, tuple):
            raise TypeError(f"{kind}.__match_args__ must be a tuple (got {type(names).__name__})")
        if given > len(names):
            s = "" if len(names) == 1 else "s"
            raise TypeError(
                f"{kind}() accepts {len(names)} positional sub-pattern{s} ({given} given)"
            )
        patterns = dict(zip(names, positional, strict=False))
        for name, pattern in self.keywords.items():
            if name in patterns:
                raise TypeError(f"{kind}() got multiple sub-patterns for attribute '{name}'")
            patterns[name] = pattern
        return patterns
