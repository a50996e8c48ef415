"""graphify beside NumPy and every compiler that is installed, row by row.

    python tests/bench/run.py [--rows 'loops/*'] [--contenders graphify,numpy,jax] [--quick]
                              [--cpu] [--json results.json] [--list]

Each row is one interleaved run: all contenders take turns. A group of rows runs in a process of its
own, which is started anew should one of the contenders bring it down. --quick is there to see that
everything runs: small inputs, and of the contenders graphify and NumPy, if none are named. --cpu
counts processors' time: ratios that hold on a machine that others use, but for the gain of threads.
"""

from __future__ import annotations

import argparse
import compileall
import fnmatch
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# OpenMP's threads (Numba's, PyTorch's) sleep while they wait. Where a machine does other things
# too, those that spin are put on the processor of the thread that they wait for, and a call that
# takes microseconds takes 20 ms.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from harness.contenders import BUILT_IN, GRAPHIFY, Contender, available
from harness.machine import describe
from harness.measure import QUICK, Effort, measure
from harness.record import Goal, Result, Row, Samples, amount
from rows import GROUPS

MARK = "@row "


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", default="*", help="pattern of group/row, such as 'loops/*'")
    parser.add_argument("--contenders", default="", help="comma-separated; all by default")
    parser.add_argument("--quick", action="store_true", help="small inputs, few samples")
    parser.add_argument("--cpu", action="store_true", help="processors' time, on a busy machine")
    parser.add_argument("--json", type=Path, help="a file for the results")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument("--group", help=argparse.SUPPRESS)  # in the process of a group
    parser.add_argument("--skip", default="[]", help=argparse.SUPPRESS)
    return parser.parse_args()


def wanted(options: argparse.Namespace) -> list[Contender]:
    names = options.contenders or (",".join(BUILT_IN) if options.quick else "")
    return available(names.split(",") if names else None)


def matches(title: str, pattern: str) -> bool:
    """Whether a row is asked for; a word without * is looked for anywhere."""
    pattern = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    return fnmatch.fnmatchcase(title.lower(), pattern.lower())


# --- the process of a group ---


def emit(event: str, value: Any) -> None:
    print(MARK + json.dumps({event: value}), flush=True)


def run_group(options: argparse.Namespace) -> None:
    """Measure the rows of a group, with an event before and after each."""
    warnings.simplefilter("ignore")  # such as that there is nothing to do in parallel
    module = importlib.import_module(f"rows.{options.group}")
    contenders, effort = wanted(options), QUICK if options.quick else Effort()
    if options.cpu:
        effort = replace(effort, clock=time.process_time)
    skip = dict(json.loads(options.skip))  # row -> contenders that may not take part
    if not hasattr(module, "ROWS"):
        emit("start", module.GROUP)
        if skip.get(module.GROUP) is None:
            for result in module.measure(contenders, effort):
                emit("result", result.to_json())
        return
    for row in selected(module.ROWS, options.rows, options.quick):
        if row.title in skip and skip[row.title] is None:
            continue
        emit("start", row.title)
        left = [c for c in contenders if c.name not in skip.get(row.title, ())]
        emit("result", measure(row, left, effort).to_json())


def selected(rows: Sequence[Row], pattern: str, quick: bool) -> list[Row]:
    """The rows that are asked for; quickly, one of those that differ in nothing but size."""
    found = [row for row in rows if matches(row.title, pattern)]
    if not quick:
        return found
    distinct: dict[object, Row] = {}
    for row in found:
        distinct.setdefault((row.function, row.inputs, row.quick), row)
    return list(distinct.values())


# --- the process that gathers ---


def events(command: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """What the process of a group says; at last ("end", exit status)."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(MARK):
                yield from json.loads(line[len(MARK) :]).items()
    yield "end", process.returncode


def gathered(group: str, options: argparse.Namespace) -> Iterator[Result]:
    """The results of a group, however often its process must be started."""
    skip: dict[str, list[str] | None] = {}
    while True:
        command = [sys.executable, __file__, "--group", group, "--rows", options.rows]
        command += ["--contenders", options.contenders, "--skip", json.dumps(skip)]
        flags = ["--quick"] * options.quick + ["--cpu"] * options.cpu
        current = None
        for event, value in events(command + flags):
            if event == "start":
                current = value
            elif event == "result":
                result = Result.from_json(value)
                for name in skip.get(result.title) or ():
                    result.contenders = {name: Samples(error="crashed"), **result.contenders}
                skip[result.title], current = None, None
                yield result
        if value == 0 or current is None:
            return
        how = signal.Signals(-value).name if value < 0 else f"exit status {value}"
        print(f"-- {current}: {how}", flush=True)
        if skip.get(current):
            return  # again, without graphify: nothing more can be done
        skip[current] = [GRAPHIFY]


def show(result: Result) -> None:
    """A row as it comes in: everyone's minimum and median."""
    cells = []
    for name, samples in result.contenders.items():
        if samples.values:
            least, median = (amount(v, result.unit) for v in (samples.least, samples.median))
            cells.append(f"    {name:<24} {least:>10} {median:>10}")
        else:
            cells.append(f"    {name:<24} {samples.error}")
    least, median = result.ratio(), result.ratio("median")
    verdict = {True: "reached", False: "NOT REACHED", None: "not compared"}[result.reached()]
    ratio = "" if least is None else f"{least:.2f} (median {median:.2f}) of {result.best_peer()}"
    print(f"{result.title}: {ratio} [goal {Goal(**result.goal)}: {verdict}]")
    print("\n".join(cells), flush=True)


def wanted_groups(pattern: str) -> list[str]:
    """Files that have a row that is asked for."""
    found = []
    for name in GROUPS:
        module = importlib.import_module(f"rows.{name}")
        rows = getattr(module, "ROWS", None)
        titles = [row.title for row in rows] if rows is not None else [f"{module.GROUP}/"]
        if any(matches(title, pattern) for title in titles):
            found.append(name)
    return found


def main() -> None:
    options = arguments()
    if options.group:
        run_group(options)
        return
    if options.list:
        for name in GROUPS:
            module = importlib.import_module(f"rows.{name}")
            rows = getattr(module, "ROWS", None)
            print("\n".join(row.title for row in rows) if rows else f"{module.GROUP}/")
        return
    compile_package()
    machine = {**describe(), "Clock": "processors' time" if options.cpu else "wall"}
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    found = []
    for group in wanted_groups(options.rows):
        for result in gathered(group, options):
            show(result)
            found.append(result)
            if options.json:
                write(options.json, machine, found)


def compile_package() -> None:
    """Write graphify's bytecode, as pip does for what it installs: the others have theirs."""
    spec = importlib.util.find_spec("graphify")
    assert spec is not None and spec.submodule_search_locations
    compileall.compile_dir(spec.submodule_search_locations[0], quiet=1)


def write(path: Path, machine: dict[str, str], results: Sequence[Result]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"machine": machine, "results": [result.to_json() for result in results]}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
