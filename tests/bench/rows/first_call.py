"""First calls: cold, from the disk cache, and as functions grow. Each in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from harness.contenders import Contender
from harness.fresh import FUNCTIONS, started
from harness.measure import Effort
from harness.record import Goal, Result, Samples

GROUP = "first call"
COLD = ("graphify", "Numba", "jax.jit", "tf.function", "tf XLA", "torch.compile")
CACHED = ("graphify", "Numba", "jax.jit", "torch.compile")
GROWING = ("graphify", "jax.jit", "tf.function", "torch.compile")
OPERATIONS = (30, 300, 3000)
TORCH_OPERATIONS = 30  # more take it minutes

TITLES = {"any": "the first function of a process", **{name: name for name in FUNCTIONS}}
JAX = Goal(1.0, against="jax.jit")
CACHE = Goal(1.0, seconds=0.01, against="jax.jit")

Found = dict[str, dict[str, list[float]]]  # title -> contender -> samples


def cache_in(directory: str) -> dict[str, str]:
    """The environment in which every library keeps what it compiled there."""
    return {
        "GRAPHIFY_CACHE_DIR": directory,
        "GRAPHIFY_CACHE": "1",
        "NUMBA_CACHE_DIR": directory,
        "JAX_COMPILATION_CACHE_DIR": directory,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "TORCHINDUCTOR_CACHE_DIR": directory,
    }


class Table:
    """Samples and errors by row and contender."""

    def __init__(self) -> None:
        self.samples: Found = {}
        self.errors: dict[str, dict[str, str]] = {}

    def add(self, title: str, name: str, value: float | str) -> None:
        if isinstance(value, str):
            self.errors.setdefault(title, {})[name] = value
        else:
            self.samples.setdefault(title, {}).setdefault(name, []).append(value)

    def result(self, group: str, title: str, goal: Goal, unit: str = "s") -> Result:
        errors = self.errors.get(title, {})
        found = {name: Samples(error=error) for name, error in errors.items()}
        for name, values in self.samples.get(title, {}).items():
            found[name] = Samples(tuple(values))
        order = sorted(found, key=lambda name: not name.startswith("graphify"))
        return Result(group, title, asdict(goal), {name: found[name] for name in order}, unit)


def measure(contenders: Sequence[Contender], effort: Effort) -> Iterator[Result]:
    present = [contender.name for contender in contenders]
    rounds = 1 if effort.quick else 3
    table = Table()
    for _ in range(rounds):
        for name in filter(COLD.__contains__, present):
            with tempfile.TemporaryDirectory() as directory:
                first_calls(table, name, directory)
    for title in TITLES.values():
        yield table.result(GROUP, f"{title}, cold", JAX)
        yield table.result(GROUP, f"{title}, from the disk cache", CACHE)
    for _ in range(rounds):
        for name in filter(GROWING.__contains__, present):
            growing(table, name, effort.quick)
    for count in counts(effort.quick):
        yield table.result(GROUP, f"{count} operations", JAX)


def first_calls(table: Table, name: str, directory: str) -> None:
    """One sample of a contender, cold and with what that left on the disk."""
    for state in ("cold", "from the disk cache")[: 1 + (name in CACHED)]:
        found = started("first", name, **cache_in(directory))
        for key, title in TITLES.items():
            table.add(f"{title}, {state}", name, found.get(key, found.get("error", "")))


def growing(table: Table, name: str, quick: bool) -> None:
    """One sample of a contender at every number of operations, without caches."""
    wanted = [n for n in counts(quick) if name != "torch.compile" or n <= TORCH_OPERATIONS]
    with tempfile.TemporaryDirectory() as directory:
        environment = {**cache_in(directory), "GRAPHIFY_CACHE": "0"}
        found = started("size", name, *wanted, **environment)
    for count in wanted:
        title = f"{count} operations"
        table.add(title, name, found.get(str(count), found.get("error", "")))
        if f"tracing {count}" in found:
            table.add(title, "graphify, tracing alone", found[f"tracing {count}"])


def counts(quick: bool) -> tuple[int, ...]:
    return OPERATIONS[:1] if quick else OPERATIONS
