"""What a random program may put where: the kind of a value, and the sample values behind a name.

The generator knows what an expression gives because it runs it, on two sets of sample arguments of
different sizes. Two values of one kind may replace each other in a program: same class, dtype and,
for both sizes, same shape.

    kind_of(np.zeros(3))  ->  ("array", "float64", (3,))
    kind_of((1, 2.0))     ->  (tuple, (("python", int), ("python", float)))
"""

import bisect
import copy
import heapq
from collections import Counter, defaultdict, deque
from typing import Any

import numpy as np

Kind = tuple[Any, ...]
# The globals of programs.
SPACE: dict[str, Any] = {
    "np": np, "bisect": bisect, "deque": deque, "heapq": heapq, "Counter": Counter,
    "defaultdict": defaultdict,
}  # fmt: skip


class Rejected(Exception):
    """An expression or statement that does not run on the samples."""


def kind_of(value: Any) -> Kind:
    """The class, dtype and shape of a value, of its items for a container."""
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.name, value.shape)
    if isinstance(value, np.generic):
        return ("scalar", value.dtype.name)
    if isinstance(value, dict):
        return (dict, tuple((key, kind_of(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return (type(value), tuple(kind_of(item) for item in value))
    return ("python", type(value))


class Samples:
    """The sample values of every name in scope: one environment per set of sizes."""

    def __init__(self, environments: list[dict[str, Any]]) -> None:
        self.environments = environments

    def names(self) -> list[str]:
        """Names of values, not of functions."""
        return [name for name, value in self.environments[0].items() if not callable(value)]

    def functions(self) -> list[str]:
        return [name for name, value in self.environments[0].items() if callable(value)]

    def value(self, name: str) -> Any:
        return self.environments[0][name]

    def kind(self, name: str) -> Kind:
        return tuple(kind_of(environment[name]) for environment in self.environments)

    def evaluate(self, text: str) -> tuple[list[Any], Kind]:
        """The expression's value in each environment, and its kind.

        Raises:
            Rejected: it raises an error, or is too large.
        """
        values = []
        for environment in self.environments:
            try:
                with np.errstate(all="ignore"):
                    value = eval(text, {**SPACE, **copy.deepcopy(environment)})
            except Exception as error:
                raise Rejected(text) from error
            if getattr(value, "size", 0) > 200:
                raise Rejected(text)
            values.append(value)
        return values, tuple(map(kind_of, values))

    def execute(self, text: str) -> Kind:
        """Run a statement on copies of the environments; the kinds that names would then have."""
        kinds = []
        for environment in self.environments:
            scratch = {**SPACE, **copy.deepcopy(environment)}
            try:
                with np.errstate(all="ignore"):
                    exec(text, scratch)
            except Exception as error:
                raise Rejected(text) from error
            kinds.append({name: kind_of(scratch[name]) for name in environment})
        return tuple(kinds)

    def bind(self, name: str, values: list[Any]) -> None:
        for environment, value in zip(self.environments, values, strict=True):
            environment[name] = value

    def child(self) -> "Samples":
        """A scope inside this one: what it binds is not seen outside."""
        return Samples([dict(environment) for environment in self.environments])
