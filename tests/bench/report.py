"""Results of `run.py` as a page of the documentation, with a picture of the ratios.

    python tests/bench/report.py results.json [more.json ...] [--to docs/benchmarks.md]
                                 [--note 'what else to know']

A row that is in several files is taken from the last one, so one row can be measured again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.record import Goal, Result, Samples, amount, names

DOCS = Path(__file__).parents[2] / "docs"

HEAD = """\
# Benchmarks

graphify beside NumPy and the compilers that are installed with `make bench`, which wrote this page.
Each row is one run in which all contenders take turns, so that what disturbs the machine disturbs
everyone alike. A cell gives the least and the median time of a call. Each contender is called as
its users would: JAX with arrays of its own and its results awaited; `tf.function` as it is, as a
concrete function, and compiled by XLA; PyTorch compiled by Inductor; Numba with `njit` and with
`njit(parallel=True, fastmath=True)`. OpenMP's threads (Numba's, PyTorch's) sleep while they wait,
which is better for them on a machine that does other things too. NumPy runs the function as it is
written. A result that is not NumPy's, but for rounding, is not timed.

**Ratio** is graphify's least time by that of the best peer, the fastest of all others; in brackets
stands the ratio of medians. **Goal** is the ratio to be reached, and a time where there is one.
The rows are in `tests/bench/rows/`; `make bench ROWS='loops/*'` measures some of them.
"""


def load(paths: Iterable[Path]) -> tuple[dict[str, str], list[Result]]:
    """The machine and the rows of some files; what comes later replaces what came before."""
    machine: dict[str, str] = {}
    rows: dict[str, Result] = {}
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        machine.update(data["machine"])
        for each in data["results"]:
            result = Result.from_json(each)
            rows[result.title] = result
    return machine, list(rows.values())


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cell(samples: Samples | None, unit: str) -> str:
    """Least and median, or why there is none."""
    if samples is None:
        return ""
    if samples.error:
        return samples.error.partition(":")[0].replace("|", "/")
    return f"{amount(samples.least, unit)} / {amount(samples.median, unit)}"


def verdict(result: Result) -> str:
    return {True: "yes", False: "**no**", None: ""}[result.reached()]


def line(result: Result, contenders: Sequence[str]) -> list[str]:
    """A row of a group's table."""
    ratio, median = result.ratio(), result.ratio("median")
    peer = result.best_peer() or ""
    shown = "" if ratio is None or median is None else f"{ratio:.2f} ({median:.2f})"
    cells = [cell(result.contenders.get(name), result.unit) for name in contenders]
    if peer in contenders:
        cells[contenders.index(peer)] = f"*{cells[contenders.index(peer)]}*"
    return [result.name, shown, str(Goal(**result.goal)), verdict(result), *cells]


def group_section(group: str, results: list[Result]) -> str:
    contenders = names(results)
    head = [group, "ratio", "goal", "reached", *contenders]
    parts = [f"## {group.capitalize()}\n", table(head, (line(r, contenders) for r in results))]
    errors = [
        f"- {result.name}, {name}: `{samples.error.replace('`', '')}`"
        for result in results
        for name, samples in result.contenders.items()
        if samples.error
    ]
    if errors:
        parts.append("Not timed:\n\n" + "\n".join(errors) + "\n")
    return "\n".join(parts)


def summary(groups: dict[str, list[Result]]) -> str:
    """Per group: how many rows reach their goal, and the ratio on average."""
    body = []
    for group, results in groups.items():
        ratios = [ratio for ratio in (result.ratio() for result in results) if ratio is not None]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
        judged = [reached for reached in (r.reached() for r in results) if reached is not None]
        ahead = sum(ratio < 1 for ratio in ratios)
        worst = f"{max(ratios):.2f}" if ratios else ""
        body.append(
            [group, f"{sum(judged)} of {len(judged)}", f"{ahead} of {len(ratios)}"]
            + [f"{mean:.2f}", worst]
        )
    head = ["group", "goal reached", "ahead of every peer", "geometric mean of ratios", "worst"]
    return table(head, body)


def picture(results: Sequence[Result], path: Path) -> bool:
    """One dot a row at its ratio, a tick at its goal. False where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "", "font.size": 8})
    from matplotlib import pyplot

    shown = [result for result in results if result.ratio() is not None][::-1]
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.17 * len(shown)), layout="constrained")
    for height, result in enumerate(shown):
        ratio = result.ratio()
        assert ratio is not None
        colour = "tab:green" if result.reached() else "tab:red"
        axes.plot([1, ratio], [height, height], color=colour, linewidth=1)
        axes.plot([ratio], [height], "o", color=colour, markersize=4)
        axes.plot([Goal(**result.goal).ratio], [height], "|", color="black", markersize=6)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), [result.title for result in shown])
    axes.set_ylim(-1, len(shown))
    axes.set_xlabel("graphify's time by the best peer's: left is faster; a tick is the goal")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True


def page(
    machine: dict[str, str], results: Sequence[Result], image: str | None, note: str = ""
) -> str:
    """The whole page. The note tells what else a reader must know of this run."""
    ordered = sorted(results, key=lambda result: first_of_group(results, result.group))
    groups = {
        group: list(rows) for group, rows in itertools.groupby(ordered, key=lambda r: r.group)
    }
    parts = [HEAD, table(["machine", ""], machine.items())]
    parts += [f"**About this run.** {note}\n"] * bool(note)
    parts += ["## Summary\n", summary(groups)]
    if image:
        parts.append(f"![graphify's time by the best peer's, row by row]({image})\n")
    parts += [group_section(group, rows) for group, rows in groups.items()]
    return "\n".join(parts)


def first_of_group(results: Sequence[Result], group: str) -> int:
    return next(i for i, result in enumerate(results) if result.group == group)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--to", type=Path, default=DOCS / "benchmarks.md")
    parser.add_argument("--note", default="", help="what else to know of this run")
    options = parser.parse_args()
    machine, results = load(options.results)
    image = options.to.with_suffix(".svg")
    drawn = picture(results, image)
    text = page(machine, results, image.name if drawn else None, options.note)
    options.to.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
