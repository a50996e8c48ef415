"""How the work of converting, tracing, optimising and translating grows with a program.

    python -m tests.scaling                       # every program, in 4 sizes: seconds, lines, nodes
    python -m tests.scaling swaps views --sizes 20,40,80 --engine reference

A program is a text of some size (`PROGRAMS`). Its work is counted in lines of Python that run, and
in nodes of its graphs: numbers that are the same on every machine. LLVM's own work is no Python.
"""

import argparse
import dataclasses
import itertools
import linecache
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

import numpy as np

import graphify
from graphify.engines.base import get_engine
from graphify.ir.graph import Graph

PROGRAMS: dict[str, Callable[[int], list[str]]] = {}  # by name: the lines of a program of size n
ARGUMENTS = "x, s, t"  # a vector, and two numbers that are arrays

_numbers = itertools.count()


def program(body: Callable[[int], list[str]]) -> Callable[[int], list[str]]:
    PROGRAMS[body.__name__] = body
    return body


def function(lines: list[str]) -> Callable[..., Any]:
    """The function whose lines these are; others before it start with `def`, without indent."""
    start = next((k for k, line in enumerate(lines) if line == "program"), None)
    before, body = ([], lines) if start is None else (lines[:start], lines[start + 1 :])
    text = "\n".join([*before, f"def f({ARGUMENTS}):", *(f"    {line}" for line in body)]) + "\n"
    filename = f"<scaling program {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space: dict[str, Any] = {"np": np, "graphify": graphify, "dataclasses": dataclasses}
    exec(compile(text, filename, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def arguments() -> tuple[Any, ...]:
    return np.arange(1.0, 6.0), np.array(1.0), np.array(2.0)


# --- programs ------------------------------------------------------------------------------------


@program
def straight(n: int) -> list[str]:
    return ["y = x", *["y = y * 1.5 + np.sin(x)"] * n, "return y"]


@program
def many_names(n: int) -> list[str]:
    lines = ["v0 = x"] + [f"v{k + 1} = v{k} * {k}.0 + v{k // 2}" for k in range(n)]
    return [*lines, f"return v{n}"]


@program
def deep_ifs(n: int) -> list[str]:
    lines = ["y = x * 1.0", "c = s"]
    for k in range(n):
        lines += ["    " * k + f"if c > {k}:", "    " * (k + 1) + f"y = y + {k}"]
    return [*lines, "return y"]


@program
def deep_if_elses(n: int) -> list[str]:
    lines = ["y = x * 1.0"]
    for k in range(n):
        lines += ["    " * k + f"if s > {k}:", "    " * (k + 1) + f"y = y + {k}"]
    for k in reversed(range(n)):
        lines += ["    " * k + "else:", "    " * (k + 1) + f"y = y - {k}"]
    return [*lines, "return y"]


@program
def ifs_in_a_row(n: int) -> list[str]:
    lines = ["y = x * 1.0", "z = x * 2.0", "m = 0.0"]
    for k in range(n):
        lines += [
            f"if y[0] > {k}:",
            f"    y = y + {k}",
            "else:",
            f"    z = z - {k}",
            "    m = m + s",
        ]
    return [*lines, "return y, z, m"]


@program
def ifs_of_many_names(n: int) -> list[str]:
    lines = [f"v{k} = x + {k}" for k in range(n)]
    for k in range(n):
        lines += [f"if s > {k}:", f"    v{k} = v{k} * 2"]
    return [*lines, f"return {' + '.join(f'v{k}' for k in range(n))}"]


@program
def one_if_of_many_names(n: int) -> list[str]:
    lines = [*(f"v{k} = x + {k}" for k in range(n)), "if s > 0:"]
    lines += [f"    v{k} = v{k} * 2" for k in range(n)]
    return [*lines, f"return {' + '.join(f'v{k}' for k in range(n))}"]


@program
def elifs(n: int) -> list[str]:
    lines = ["if s > 1000:", "    y = x"]
    for k in range(n):
        lines += [f"elif s > {1000 - k}:", f"    y = x * {k}"]
    return [*lines, "else:", "    y = -x", "return y"]


@program
def returns(n: int) -> list[str]:
    lines = ["y = x"]
    for k in range(n):
        lines += [f"if s > {1000 - k}:", f"    return y * {k}", "y = y + 1"]
    return [*lines, "return y"]


@program
def match_cases(n: int) -> list[str]:
    lines = ["match s:"]
    for k in range(n):
        lines += [f"    case {k}.0:", f"        y = x * {k}"]
    return [*lines, "    case _:", "        y = -x", "return y"]


@program
def conditional_expressions(n: int) -> list[str]:
    return ["y = x", *(f"y = y + 1 if y[0] > {k} else y - 1" for k in range(n)), "return y"]


@program
def loops_in_a_row(n: int) -> list[str]:
    lines = ["y = x"]
    for k in range(n):
        lines += ["for i in range(100):", f"    y = y * 0.5 + {k}"]
    return [*lines, "return y"]


@program
def whiles_in_a_row(n: int) -> list[str]:
    lines = ["y = x", "m = s"]
    for k in range(n):
        lines += [f"while m < {k}:", "    m = m * 2 + 1", "    y = y + m"]
    return [*lines, "return y"]


@program
def one_loop_of_many_names(n: int) -> list[str]:
    lines = [*(f"v{k} = x + {k}" for k in range(n)), "for i in range(100):"]
    lines += [f"    v{k} = v{k} * 0.5 + i" for k in range(n)]
    return [*lines, f"return {' + '.join(f'v{k}' for k in range(n))}"]


@program
def long_loop_body(n: int) -> list[str]:
    return ["y = x", "for i in range(100):", *["    y = y * 0.5 + np.cos(x)"] * n, "return y"]


@program
def breaks(n: int) -> list[str]:
    lines = ["y = x * 1.0", "for i in range(100):", "    y = y * 0.5"]
    for k in range(n):
        lines += [f"    if y[0] > {k}:", "        break", f"    y = y + {k}"]
    return [*lines, "return y"]


@program
def deep_loops(n: int) -> list[str]:
    n = (n + 7) // 8  # Python allows 20 blocks in one another
    lines = ["y = x", "m = 0"]
    for k in range(n):
        lines += ["    " * k + f"for i{k} in range(100):", "    " * (k + 1) + "m += 1"]
    lines += ["    " * n + "y = y * 0.5 + m"]
    return [*lines, "return y, m"]


@program
def deep_whiles(n: int) -> list[str]:
    n = (n + 7) // 8
    lines = ["y = x", "m = 0"]
    for k in range(n):
        lines += ["    " * k + f"while y[{k % 5}] < {k}:", "    " * (k + 1) + "m += 1"]
    lines += ["    " * n + "y = y * 1.5 + m"]
    return [*lines, "return y, m"]


@program
def deep_conditional_expressions(n: int) -> list[str]:
    text = "x"
    for k in range(n):
        text = f"x * {k} if s > {k} else ({text})"
    return [f"return {text}"]


@program
def unrolled(n: int) -> list[str]:
    body = ["y = x", f"for v in tuple(range({n})):", "    for i in range(3):"]
    return [*body, "        y = y * 0.5 + v", "return y"]


@program
def unrolled_ifs(n: int) -> list[str]:
    lines = ["y = x", "m = s", f"for v in tuple(range({n})):", "    if y[0] > v:"]
    return [*lines, "        y = y * 0.5 + v", "        m = m + 1", "return y, m"]


@program
def unrolled_break(n: int) -> list[str]:
    lines = ["y = x * 1.0", f"for v in tuple(range({n})):", "    if y[0] > v:"]
    return [*lines, "        break", "    y = y * 0.5 + v", "return y"]


@program
def appends(n: int) -> list[str]:
    return ["rows = []", *["rows.append(x * len(rows))"] * n, "return rows[-1] + sum(rows)"]


@program
def appends_under_ifs(n: int) -> list[str]:
    lines = ["rows = []"]
    for k in range(n):
        lines += [f"if x[0] > {k}:", f"    rows.append(s * {k})"]
    return [*lines, "return np.array(rows)"]


@program
def arrays_appended_under_ifs(n: int) -> list[str]:
    lines = ["rows = []"]
    for k in range(n):
        lines += [f"if x[0] > {k}:", f"    rows.append(x * {k})"]
    return [*lines, "return np.array(rows)"]


@program
def stack_in_unrolled_loops(n: int) -> list[str]:
    lines = [f"for v in tuple(range({n})):", "    stack = []", "    for e in x:"]
    lines += ["        while stack and stack[-1] > e:", "            stack.pop()"]
    return [*lines, "        stack.append(e)", "return len(stack)"]


@program
def dicts_filled(n: int) -> list[str]:
    lines = ["d = {}"]
    for k in range(n):
        lines += [f"d[{k}] = x * {k}", f"if s > {k}:", f"    d[{k}] = d[{k}] + 1"]
    return [*lines, "return sum(d.values())"]


@program
def swaps(n: int) -> list[str]:
    lines = ["y = x * 1.0", "z = x * 2.0"]
    for k in range(n):
        lines += [f"if s > {k}:", "    y, z = z, y", f"y[0] = {k}"]
    return [*lines, "return y, z"]


@program
def swaps_under_an_if(n: int) -> list[str]:
    lines = ["y = x * 1.0", "z = x * 2.0", "if t > 0:"]
    for k in range(n):
        lines += [f"    if s > {k}:", "        y, z = z, y"]
    return [*lines, "y[0] = 1.0", "return y, z"]


@program
def swaps_of_three(n: int) -> list[str]:
    lines = ["a = x * 1.0", "b = x * 2.0", "c = x * 3.0"]
    for k in range(n):
        lines += [f"if s > {k}:", "    a, b, c = b, c, a", f"a[0] = {k}"]
    return [*lines, "return a, b, c"]


@program
def new_or_old(n: int) -> list[str]:
    lines = ["y = x * 1.0", "z = y"]
    for k in range(n):
        lines += [f"if s > {k}:", "    z = y", f"    y = x * {k}", "y[0] = t"]
    return [*lines, "return y, z"]


@program
def views(n: int) -> list[str]:
    lines = ["y = x * 1.0"]
    for k in range(n):
        lines += [f"v{k} = y[{k % 3}:]", f"v{k}[0] = {k}"]
    return [*lines, "return y" + "".join(f", v{k}" for k in range(n))]


@program
def views_of_views(n: int) -> list[str]:
    lines = ["y = x * 1.0", "v = y"]
    for k in range(n):
        lines += ["v = v[::-1]", f"v[0] = {k}"]
    return [*lines, "return y"]


@program
def element_updates(n: int) -> list[str]:
    lines = ["y = x * 1.0"]
    for k in range(n):
        lines += [f"y[{k % 5}] = y[{(k + 1) % 5}] + {k}"]
    return [*lines, "return y"]


@program
def updates_under_ifs(n: int) -> list[str]:
    lines = ["y = x * 1.0"]
    for k in range(n):
        lines += [f"if s > {k}:", f"    y[{k % 5}] += {k}"]
    return [*lines, "return y"]


@program
def calls(n: int) -> list[str]:
    lines = ["def f0(x):", "    return x + 1"]
    for k in range(1, n):
        lines += [f"def f{k}(x):", f"    return f{k - 1}(x) * 0.5 + {k}"]
    return [*lines, "program", f"return f{n - 1}(x)"]


@program
def calls_of_one(n: int) -> list[str]:
    lines = ["def g(x, k):", "    if x[0] > k:", "        return x + 1", "    return x"]
    return [*lines, "program", "y = x", *["y = g(y, s)"] * n, "return y"]


@program
def recursion(n: int) -> list[str]:
    lines = [
        "def g(x, k):",
        "    if k == 0:",
        "        return x",
        "    return g(x, k - 1) * 0.5 + k",
    ]
    return [*lines, "program", f"return g(x, {n})"]


@program
def closures(n: int) -> list[str]:
    lines = ["y = x", "total = 0.0"]
    for k in range(n):
        lines += [f"def g{k}(v):", "    nonlocal total", "    total = total + v.sum()"]
        lines += ["    return v * total", f"y = g{k}(y)"]
    return [*lines, "return y, total"]


@program
def tries(n: int) -> list[str]:
    lines = ["y = x * 1.0"]
    for k in range(n):
        lines += ["try:", f"    if y[0] > {k}:", "        raise ValueError('big')", "    y = y + 1"]
        lines += ["except ValueError:", f"    y = y - {k}"]
    return [*lines, "return y"]


@program
def raises(n: int) -> list[str]:
    lines = ["y = x * 1.0"]
    for k in range(n):
        lines += [f"if y[0] > {100 + k}:", "    raise ValueError('big')", "y = y + 1"]
    return [*lines, "return y"]


@program
def asserts(n: int) -> list[str]:
    lines = ["y = x * 1.0"]
    for k in range(n):
        lines += [f"assert y[0] < {100 + k}, 'big'", "y = y + 1"]
    return [*lines, "return y"]


@program
def tries_in_calls(n: int) -> list[str]:
    lines = ["def f0(x, s):", "    if s > 9:", "        raise ValueError('big')", "    return x"]
    for k in range(1, n):
        lines += [f"def f{k}(x, s):", "    try:", f"        return f{k - 1}(x, s) + 1"]
        lines += ["    except KeyError:", f"        return x - {k}"]
    return [*lines, "program", f"return f{n - 1}(x, s)"]


@program
def fields(n: int) -> list[str]:
    lines = ["class Thing:", "    pass", "program", "o = Thing()"]
    lines += [f"o.a{k} = x + {k}" for k in range(n)]
    for k in range(n):
        lines += [f"if s > {k}:", f"    o.a{k} = o.a{k} * 2"]
    return [*lines, f"return {' + '.join(f'o.a{k}' for k in range(n))}"]


@program
def fields_in_a_loop(n: int) -> list[str]:
    lines = ["class Thing:", "    pass", "program", "o = Thing()"]
    lines += [f"o.a{k} = x + {k}" for k in range(n)]
    lines += ["for i in range(100):", *(f"    o.a{k} = o.a{k} * 0.5 + i" for k in range(n))]
    return [*lines, f"return {' + '.join(f'o.a{k}' for k in range(n))}"]


@program
def objects(n: int) -> list[str]:
    lines = ["class Thing:", "    def __init__(self, v):", "        self.v = v", "program"]
    lines += [f"o{k} = Thing(x + {k})" for k in range(n)]
    for k in range(n):
        lines += [f"if s > {k}:", f"    o{k}.v = o{k}.v * 2"]
    return [*lines, f"return {' + '.join(f'o{k}.v' for k in range(n))}"]


@program
def prints(n: int) -> list[str]:
    lines = ["y = x"]
    for k in range(n):
        lines += [f"if s > {900 + k}:", f"    print('large', {k})", "y = y + 1"]
    return [*lines, "return y"]


@program
def symbolic_sizes(n: int) -> list[str]:
    lines = ["y = x[x > 0]"]
    for k in range(n):
        lines += [f"z{k} = x[x > {k}]", f"y = np.concatenate([y, z{k}])"]
    return [*lines, "return y"]


@program
def slices_of_slices(n: int) -> list[str]:
    return ["y = x[x > 0]", *["y = y[1:] + y[:-1]"] * n, "return y"]


@program
def comprehensions(n: int) -> list[str]:
    lines = ["y = x"]
    for k in range(n):
        lines += [f"y = np.array([v * {k} for v in y])"]
    return [*lines, "return y"]


@program
def booleans(n: int) -> list[str]:
    text = " and ".join(f"s > {-k}" for k in range(n))
    return [f"if {text}:", "    return x", "return -x"]


# --- measuring -----------------------------------------------------------------------------------


@dataclasses.dataclass
class Work:
    """What was needed for a program."""

    lines: int = 0  # of Python
    nodes: int = 0  # as recorded, in all graphs
    kept: int = 0  # optimised
    seconds: float = 0.0  # of converting, tracing, optimising
    compiling: float = 0.0


def nodes_of(graph: Graph) -> int:
    """The nodes of a graph and of those in it."""
    return sum(1 + sum(nodes_of(inner) for _, inner in node.subgraphs) for node in graph.nodes)


@contextmanager
def counted(work: Work) -> Iterator[None]:
    """Count the lines of Python that run inside."""

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            work.lines += 1
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: line)
    try:
        yield
    finally:
        sys.settrace(before)


def measure(lines: list[str], engine: str = "reference", counts: bool = True) -> Work:
    """Convert, trace, optimise and compile a program."""
    work, given = Work(), arguments()
    f = graphify.function(function(lines), engine=engine)
    with counted(work) if counts else nullcontext():
        start = time.perf_counter()
        concrete = f.get_concrete_function(*given)
        work.seconds = time.perf_counter() - start
        start = time.perf_counter()
        get_engine(engine).compile(concrete.graph)
        work.compiling = time.perf_counter() - start
    work.nodes, work.kept = nodes_of(concrete.traced_graph), nodes_of(concrete.graph)
    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="program")
    parser.add_argument("--sizes", default="8,16,32,64")
    parser.add_argument("--engine", default="reference")
    parser.add_argument("--seconds", action="store_true", help="time it, and count no lines")
    options = parser.parse_args()
    for name in options.names or PROGRAMS:
        works: list[Work] = []
        for size in map(int, options.sizes.split(",")):
            try:
                works.append(measure(PROGRAMS[name](size), options.engine, not options.seconds))
            except (graphify.errors.GraphifyError, RecursionError) as error:
                print(f"{name} of {size}: {type(error).__name__}: {error}"[:300])
                break
        for label in ("lines", "nodes", "kept", "seconds", "compiling"):
            found = [getattr(work, label) for work in works]
            growth = [b / a if a else 0.0 for a, b in itertools.pairwise(found)]
            texts = [
                f"{value:9.3f}" if isinstance(value, float) else f"{value:9}" for value in found
            ]
            print(
                f"{name:24} {label:10}", *texts, "  x", *(f"{g:5.2f}" for g in growth), flush=True
            )


if __name__ == "__main__":
    main()
