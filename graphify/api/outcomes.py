"""Running a call in several ways, each on copies, with nothing left behind.

    scene = Scene(traced, args, kwargs)
    plain = scene.play(lambda args, kwargs: f(*args, **kwargs))
    plain.result, plain.arguments, plain.outside, plain.printed, plain.error

Each run gets copies of the arguments. What it changes outside (captured arrays, attributes,
globals) is looked at afterwards and put back; what it prints is kept; NumPy's random state is the
same for all.
"""

from __future__ import annotations

import contextlib
import copy
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any

import numpy as np

from graphify import tree
from graphify.api.concrete import Traced
from graphify.api.writing import Write
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor
from graphify.tracing.capture import ABSENT, Hidden
from graphify.tracing.containers import Argument, replace
from graphify.tracing.guards import MISSING, Place


@dataclass(slots=True)
class Outcome:
    """What a run did.

    Attributes:
        result: what it returned.
        arguments: its arguments, as it left them.
        outside: by name, what it may have changed outside.
        printed: its standard output.
        error: what it raised instead.
    """

    result: Any = None
    arguments: Any = None
    outside: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    error: Exception | None = None


class Scene:
    """A call, and the world around it."""

    def __init__(
        self,
        function: Callable[..., Any],
        traced: Traced,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        seen = _reachable(function)
        self._arguments = (args, kwargs)
        self._hidden = {str(h.place or f"captured {i}"): h for i, h in enumerate(traced.hidden)}
        self._writes = {
            str(w.target): w
            for w in traced.writes
            if not isinstance(w.target, (int, Hidden, Argument)) and _lasts(w.target, seen)
        }

    def copies(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments anew; objects that are neither arrays nor containers stay the same."""
        memo: dict[int, Any] = {}
        for leaf in tree.leaves(self._arguments):
            if isinstance(leaf, Tensor) and type(leaf) is Tensor:
                memo[id(leaf)] = Tensor(leaf.numpy().copy(), weak=leaf.spec.weak)
            elif not isinstance(leaf, np.ndarray):
                memo[id(leaf)] = leaf
        args, kwargs = copy.deepcopy(self._arguments, memo)
        return args, kwargs

    def play(self, run: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Outcome:
        """Run the call on copies; the world is then as it was."""
        args, kwargs = self.copies()
        outcome, printed = Outcome(arguments=(args, kwargs)), io.StringIO()
        before, random = self._look(), np.random.get_state()
        try:
            with (
                contextlib.redirect_stdout(printed),
                warnings.catch_warnings(),
                np.errstate(all="ignore"),
            ):
                warnings.simplefilter("ignore")
                outcome.result = run(args, kwargs)
        except Exception as error:
            outcome.error = error
        outcome.outside, outcome.printed = self._look(), printed.getvalue()
        self._restore(before)
        np.random.set_state(random)
        return outcome

    def _look(self) -> dict[str, Any]:
        """Copies of what lies outside."""
        seen: dict[str, Any] = {
            name: np.array(as_tensor(h.current()).numpy()) for name, h in self._hidden.items()
        }
        for name, write in self._writes.items():
            value = write.target.read()
            seen[name] = copy.copy(value) if write.container else value
        return seen

    def _restore(self, before: dict[str, Any]) -> None:
        for name, hidden in self._hidden.items():
            array = as_tensor(hidden.current()).numpy()
            if not np.array_equal(array, before[name], equal_nan=array.dtype.kind in "fc"):
                array[...] = before[name]
        for name, write in self._writes.items():
            _put_back(write, before[name])


def _reachable(function: Callable[..., Any]) -> set[int]:
    """The ids of functions and closure cells that a function can get at."""
    seen = set[int]()
    stack: list[Any] = [function]
    while stack:
        thing = stack.pop()
        thing = getattr(thing, "__wrapped__", getattr(thing, "__func__", thing))
        if id(thing) in seen or not isinstance(thing, FunctionType):
            continue
        seen.add(id(thing))
        for cell in thing.__closure__ or ():
            seen.add(id(cell))
            with contextlib.suppress(ValueError):
                stack.append(cell.cell_contents)
        stack += [thing.__globals__.get(name) for name in thing.__code__.co_names]
    return seen


def _lasts(place: Any, seen: set[int]) -> bool:
    """Whether a place was there before the call: functions made in it are gone with their cells."""
    holder = getattr(place, "holder", None)
    return id(holder) in seen or not isinstance(holder, (CellType, FunctionType))


def _put_back(write: Write, value: Any) -> None:
    if write.container:
        replace(write.target.read(), value)
    elif value is MISSING or value is ABSENT:
        with contextlib.suppress(AttributeError):
            delattr(write.target.holder, write.target.name)
    elif isinstance(write.target, Place):
        write.target.write(value)
