"""A row of the benchmark: one computation, as each contender's users would write it.

    Row("reductions", "softmax 1024 x 1024", softmax, matrix, size=1024, quick=64,
        peers={"jax": softmax_by_jax})

`function` is written with NumPy: NumPy runs it as it is and graphify stages it. `peers` says for
each library how to get its own form; the library is imported there and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[..., Any]
Maker = Callable[[], Function]


@dataclass(frozen=True)
class Goal:
    """What graphify is to reach: at most so much of the best peer's time, so many seconds."""

    ratio: float = 1.0
    seconds: float | None = None
    numpy: float | None = None  # at most so much of NumPy's time
    against: str | None = None  # the peer to be compared with, where it is not the best one

    def __str__(self) -> str:
        parts = [f"{self.ratio:g}{f' of {self.against}' if self.against else ''}"]
        if self.seconds is not None:
            parts.append(duration(self.seconds))
        if self.numpy is not None:
            parts.append(f"{self.numpy:g} of NumPy")
        return ", ".join(parts)


@dataclass(frozen=True)
class Row:
    """One computation and its contenders."""

    group: str
    name: str
    function: Function
    inputs: Callable[[np.random.Generator, int], tuple[Any, ...]]
    size: int  # what `inputs` gets
    quick: int  # the same with --quick
    peers: Mapping[str, Maker] = field(default_factory=dict)
    goal: Goal = Goal()
    graphify: Maker | None = None  # where its users write it with graphify's own functions
    numpy: Function | None = None  # where NumPy's users write it otherwise
    reference: Function | None = None  # what is right, where NumPy takes too long to say so
    without: tuple[str, ...] = ()  # contenders that take too long
    tolerance: float = 1e-4  # of a result, against the largest number in NumPy's
    strays: float = 0.0  # share of elements that may differ: a rounding decides their branch
    # library -> what it gets instead of the inputs, such as arrays in its own order of axes
    arguments: Mapping[str, Callable[..., tuple[Any, ...]]] = field(default_factory=dict)
    # library -> its result in the form of NumPy's
    results: Mapping[str, Function] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.group}/{self.name}"


def just(function: Function) -> Maker:
    """The NumPy form is the library's form too."""
    return lambda: function


def normal(rng: np.random.Generator, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Random numbers to compute with."""
    return rng.standard_normal(shape).astype(dtype)


@dataclass(frozen=True)
class Samples:
    """Seconds of one call (or MiB), measured several times; or why there are none."""

    values: tuple[float, ...] = ()
    error: str = ""

    @property
    def least(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return float(np.median(self.values))


@dataclass
class Result:
    """A row with what was measured. `unit` is "s" or "MiB"."""

    group: str
    name: str
    goal: dict[str, Any]
    contenders: dict[str, Samples]
    unit: str = "s"

    @property
    def title(self) -> str:
        return f"{self.group}/{self.name}"

    @property
    def ours(self) -> Samples:
        return self.contenders.get("graphify", Samples(error="not run"))

    def best_peer(self) -> str | None:
        """The peer to compare with: the one with the least minimum, if the goal names none."""
        found = {
            name: samples.least
            for name, samples in self.contenders.items()
            if samples.values and not name.startswith("graphify")
        }
        if self.goal.get("against") is not None:
            return self.goal["against"] if self.goal["against"] in found else None
        return min(found, key=lambda name: found[name]) if found else None

    def ratio(self, of: str = "least") -> float | None:
        """graphify's time (least or median) by the best peer's."""
        peer = self.best_peer()
        if peer is None or not self.ours.values:
            return None
        theirs = getattr(self.contenders[peer], of)
        # Memory may be nothing at all; a hundredth of a MiB is as good as that.
        return float(max(getattr(self.ours, of), 1e-12) / max(theirs, 1e-12))

    def reached(self) -> bool | None:
        """Whether the goal is reached; None where nothing can be compared."""
        if not self.ours.values:
            return False if self.ours.error else None
        goal, ratio = Goal(**self.goal), self.ratio()
        checks = []
        if ratio is not None:
            checks.append(ratio <= goal.ratio)
        if goal.seconds is not None:
            checks.append(self.ours.least <= goal.seconds)
        numpy = self.contenders.get("NumPy")
        if goal.numpy is not None and numpy is not None and numpy.values:
            checks.append(self.ours.least <= goal.numpy * numpy.least)
        return all(checks) if checks else None

    def to_json(self) -> dict[str, Any]:
        contenders = {
            name: {"error": s.error} if s.error else {"samples": list(s.values)}
            for name, s in self.contenders.items()
        }
        return {
            "group": self.group,
            "name": self.name,
            "unit": self.unit,
            "goal": self.goal,
            "contenders": contenders,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Result:
        contenders = {
            name: Samples(tuple(s.get("samples", ())), s.get("error", ""))
            for name, s in data["contenders"].items()
        }
        return Result(data["group"], data["name"], data["goal"], contenders, data["unit"])


def duration(seconds: float) -> str:
    """Seconds with three digits and a unit."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


def amount(value: float, unit: str) -> str:
    """A measured value with its unit."""
    return duration(value) if unit == "s" else f"{value:.3g} {unit}"


def names(results: Iterable[Result]) -> list[str]:
    """Every contender of some rows, in the order in which they are met."""
    return list(dict.fromkeys(name for result in results for name in result.contenders))
