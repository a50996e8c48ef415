"""Memory: MiB at the peak of a call, above inputs and libraries. Each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.contenders import Contender
from harness.fresh import MEMORY, started
from harness.measure import Effort
from harness.record import Goal, Result

from rows.first_call import Table

GROUP = "peak memory"
LARGE, SMALL = 4096, 256
LEFT_OUT = ("SciPy", "Numba", "tf concrete")  # as NumPy, Numba parallel and tf.function


def measure(contenders: Sequence[Contender], effort: Effort) -> Iterator[Result]:
    table = Table()
    titles = {key: f"{key} 4096 x 4096 float32" for key in MEMORY}
    for contender in contenders:
        if contender.name in LEFT_OUT:
            continue
        for key, title in titles.items():
            found = started("memory", contender.name, key, SMALL if effort.quick else LARGE)
            if key in found or "error" in found:
                table.add(title, contender.name, found.get(key, found.get("error", "")))
    for title in titles.values():
        yield table.result(GROUP, title, Goal(1.1), "MiB")
