"""Times of several contenders side by side: all of them take turns, again and again.

    result = measure(row, available(None), Effort())

What disturbs the machine for a moment disturbs everyone alike, and the minimum tells what a call
costs when nothing does.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from harness.contenders import GRAPHIFY, NUMPY, Call, Contender, leaves, wait_for_jax, waiting_for
from harness.record import Result, Row, Samples

Loop = Callable[[int], float]
SLOW, VERY_SLOW = 0.3, 3.0  # seconds a call: fewer samples, one sample


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes:
        quick: small inputs, whatever the figures are worth.
        rounds: samples of each contender, if its calls are short: fewer of longer ones.
        seconds: length of a sample. Many short ones find more of the moments when nothing else runs
            than few long ones do.
        patience: seconds for preparing a contender, its compilation included.
        clock: what is counted; `time.process_time` is the time of all processors together.
    """

    quick: bool = False
    rounds: int = 24
    seconds: float = 0.004
    patience: int = 120
    clock: Callable[[], float] = time.perf_counter


QUICK = Effort(quick=True, rounds=2, seconds=0.0005, patience=60)


class Wrong(Exception):
    """A contender's result is not NumPy's."""


def looped(call: Call, wait: str, clock: Callable[[], float]) -> Loop:
    """A loop that makes the call so many times as a user's line would, and gives the seconds."""
    names = [f"a{i}" for i in range(len(call.args))]
    line = wait.format(f"f({', '.join(names)})")
    source = (
        f"def loop(count, {', '.join([*names, 'f'])}):\n"
        f"    turns = repeat(None, count)\n"
        f"    start = clock()\n"
        f"    for _ in turns:\n"
        f"        {line}\n"
        f"    return clock() - start\n"
    )
    space: dict[str, Any] = {
        "repeat": itertools.repeat,
        "clock": clock,
        "wait": wait_for_jax,
    }
    exec(source, space)
    loop = space["loop"]
    return lambda count: loop(count, *call.args, call.function)  # type: ignore[no-any-return]


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """TimeoutError if the block takes longer."""

    def expired(*_: Any) -> None:
        raise TimeoutError(f"over {seconds} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(row: Row, contender: Contender, result: Any, expected: Any) -> None:
    """Raise `Wrong` unless a result is NumPy's, but for rounding."""
    if contender.library in row.results:
        result = row.results[contender.library](result)
    ours, theirs = leaves(result), leaves(expected)
    if len(ours) != len(theirs):
        raise Wrong(f"{len(ours)} arrays instead of {len(theirs)}")
    for got, want in zip(ours, theirs, strict=True):
        got, want = np.asarray(got), np.asarray(want)
        if got.shape != want.shape:
            raise Wrong(f"shape {got.shape} instead of {want.shape}")
        if contender.library == GRAPHIFY and got.dtype != want.dtype:
            raise Wrong(f"{got.dtype} instead of {want.dtype}")
        far = np.abs(got - want) > row.tolerance * max(
            1e-30, float(np.max(np.abs(want), initial=0))
        )
        far |= np.isnan(got) != np.isnan(want)
        if far.sum() > row.strays * far.size:
            raise Wrong("another result than NumPy's")


def brief(error: BaseException) -> str:
    """An error as a cell of a table shows it."""
    text = str(error).strip().splitlines()
    kind = type(error).__name__
    if isinstance(error, (Wrong, TimeoutError)):
        return str(error)
    return f"{kind}: {text[0][:100]}" if text else kind


@dataclass
class Ready:
    """A contender that gave the right result, and how many calls make a sample."""

    loop: Loop
    count: int
    rounds: int
    samples: list[float]


def prepare(
    row: Row, contender: Contender, inputs: tuple[Any, ...], expected: Any, effort: Effort
) -> Ready | None:
    """Compile, check, and find out how often to call; None if it does not take part."""
    with within(effort.patience):
        call = contender.call(row, inputs)
        if call is None:
            return None
        result = call.function(*call.args)
        check(row, contender, result, expected)
        loop = looped(call, waiting_for(result), effort.clock)
        once = loop(1)
    if once > VERY_SLOW:
        return Ready(loop, 1, 0, [once])
    count = 1
    while (taken := loop(count)) < effort.seconds / 2 and count < 1 << 20:
        count = max(2 * count, int(0.7 * count * effort.seconds / max(taken, 1e-9)))
    return Ready(loop, count, rounds(taken, effort), [])


def rounds(seconds: float, effort: Effort) -> int:
    """How many samples of such a length to take."""
    if seconds > SLOW:
        return min(effort.rounds, 3)
    return min(effort.rounds, max(6, int(100 * effort.seconds / seconds)))


def take_turns(contenders: Sequence[Ready]) -> None:
    """Sample everyone in turn, again and again."""
    gc.collect()
    gc.disable()
    try:
        for turn in range(max((ready.rounds for ready in contenders), default=0)):
            for ready in contenders:
                if turn < ready.rounds:
                    if ready.rounds > 3:  # a fast one: it feels what came before it
                        time.sleep(0.003)  # the last one's threads stop waiting for more work
                        ready.loop(1)
                    ready.samples.append(ready.loop(ready.count) / ready.count)
    finally:
        gc.enable()


def measure(row: Row, contenders: Sequence[Contender], effort: Effort) -> Result:
    """Prepare every contender of a row, then let them take turns."""
    rng = np.random.default_rng(0)
    inputs = row.inputs(rng, row.quick if effort.quick else row.size)
    with np.errstate(all="ignore"):
        start = time.perf_counter()
        expected = (row.reference or row.numpy or row.function)(*inputs)
        taken = time.perf_counter() - start
        found: dict[str, Samples] = {}
        ready: dict[str, Ready] = {}
        for contender in contenders:
            if contender.name in row.without:
                continue
            if contender.library == NUMPY and taken > VERY_SLOW:
                found[NUMPY] = Samples((taken,))  # once is enough
                continue
            try:
                prepared = prepare(row, contender, inputs, expected, effort)
            except Exception as error:
                found[contender.name] = Samples(error=brief(error))
                continue
            if prepared is not None:
                ready[contender.name] = prepared
                found[contender.name] = Samples()
        take_turns(list(ready.values()))
    for name, each in ready.items():
        found[name] = Samples(tuple(each.samples))
    return Result(row.group, row.name, asdict(row.goal), found)
