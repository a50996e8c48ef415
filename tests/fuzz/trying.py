"""Trying many programs, in several processes, and counting what becomes of them.

for tally in tallies(range(0, 2000), ("reference", "native"), tensorflow=1, workers=2):
    print(tally.counts)
"""

import collections
import concurrent.futures
import multiprocessing
import os
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import graphify
from tests.fuzz.aliasing import aliasing_program
from tests.fuzz.generator import Program, random_program
from tests.fuzz.iterating import iterating_program
from tests.fuzz.language import language_program
from tests.fuzz.rows import rows_program
from tests.fuzz.running import Endless, compare, limited
from tests.fuzz.shrinking import shrink
from tests.fuzz.tables import tables_program

CHUNK = 10  # programs that a process does before it reports
BATCH = 20  # chunks that a process does in its life
LIMIT = 400  # seconds for one program
MEMORY = 8 << 30  # bytes for one process


MAKERS = {
    "plain": random_program,
    "names": aliasing_program,
    "iterators": iterating_program,
    "language": language_program,
    "rows": rows_program,
    "tables": tables_program,
}


def program_of(seed: int, kind: str) -> Program:
    """The program of a seed; of kind "all", the kinds take turns."""
    return MAKERS[list(MAKERS)[seed % len(MAKERS)] if kind == "all" else kind](seed)


@dataclass
class Tally:
    """What became of some programs."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)
    examples: dict[str, int] = field(default_factory=dict)  # a seed for each reason
    found: list[str] = field(default_factory=list)  # differences, as text

    def add(self, other: "Tally") -> None:
        self.counts += other.counts
        self.reasons += other.reasons
        self.examples = {**other.examples, **self.examples}
        self.found += other.found


def try_programs(
    seeds: range, engines: tuple[str, ...], tensorflow: int, shrinks: bool, kind: str
) -> Tally:
    """Run the programs of some seeds; TensorFlow takes part in each so many of them.

    Of two programs the native code of one goes to the disk and comes from there.
    """
    warnings.simplefilter("ignore")
    limit_memory()
    tally = Tally()
    for seed in seeds:
        with_tensorflow = tensorflow and seed % tensorflow == 0
        chosen = (*engines, "tensorflow") if with_tensorflow else engines
        try:
            with limited(LIMIT), graphify.config(cache=seed % 2 == 1):
                _try_program(program_of(seed, kind), chosen, shrinks, tally)
        except (Exception, Endless):
            tally.counts["crashed"] += 1
            tally.found.append(
                f"seed {seed}\n{program_of(seed, kind).source}{traceback.format_exc()}"
            )
    return tally


def limit_memory() -> None:
    """Let a program that makes numbers without end fail, rather than the machine."""
    if os.name == "posix":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))


def _try_program(program: Program, engines: tuple[str, ...], shrinks: bool, tally: Tally) -> None:
    verdict = compare(program, engines)
    tally.counts["programs"] += 1
    tally.counts["on TensorFlow"] += "tensorflow" in engines
    tally.counts["too long"] += verdict.skipped is not None
    tally.counts["errors not raised"] += verdict.lazy > 0
    tally.counts["rounding"] += verdict.rounding > 0
    tally.counts["casts without meaning"] += verdict.meaningless > 0
    tally.counts["overlapping"] += verdict.overlapping > 0
    tally.counts["of a joined dtype"] += verdict.wider > 0
    tally.counts["refused"] += verdict.refused is not None
    if verdict.refused:
        reason = " ".join(verdict.refused.split()[:12])
        tally.reasons[reason] += 1
        tally.examples.setdefault(reason, program.seed)
    if verdict.difference:
        tally.counts["different"] += 1
        found = shrink(verdict.difference, engines) if shrinks else verdict.difference
        tally.found.append(str(found))


def tallies(
    seeds: range,
    engines: tuple[str, ...] = ("reference", "native"),
    tensorflow: int = 0,
    shrinks: bool = False,
    workers: int = 1,
    kind: str = "plain",
) -> Iterator[Tally]:
    """The tallies of all programs, piece by piece."""
    pieces = [seeds[n : n + CHUNK] for n in range(0, len(seeds), CHUNK)]
    if workers == 1:
        yield from (try_programs(piece, engines, tensorflow, shrinks, kind) for piece in pieces)
        return
    # Fresh processes now and then: TensorFlow keeps every graph it has seen. (The executor's own
    # max_tasks_per_child can wait for itself for ever.)
    while pieces:
        batch, pieces = pieces[: BATCH * workers], pieces[BATCH * workers :]
        yield from _in_processes(batch, engines, tensorflow, shrinks, workers, kind)


def _in_processes(
    pieces: Sequence[range],
    engines: tuple[str, ...],
    tensorflow: int,
    shrinks: bool,
    workers: int,
    kind: str,
) -> Iterator[Tally]:
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        given = (engines, tensorflow, shrinks, kind)
        jobs = [pool.submit(try_programs, piece, *given) for piece in pieces]
        try:
            yield from (job.result() for job in concurrent.futures.as_completed(jobs))
        finally:
            pool.shutdown(cancel_futures=True)
