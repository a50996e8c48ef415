"""Random programs of control flow on small integers, and the check that conversion keeps them.

A program is one function `program(a, b, log, tick)`. It logs what it does, so that order counts,
and calls `tick()` in every loop, which stops it after a while. Reading a name that is not bound is
part of the game: both sides must raise the same error.
"""

import itertools
import linecache
import random
from collections.abc import Callable
from typing import Any

from graphify.autograph.pipeline import convert
from tests.autograph import plain_ops

NAMES = "abcde"
_numbers = itertools.count()


class OutOfTicks(Exception):
    """The program ran long enough."""


class Box:
    """Something with a field."""

    x = 1


class Swallow:
    """A context manager that swallows ValueError."""

    def __enter__(self):
        return 7

    def __exit__(self, kind, value, trace):
        return kind is not None and issubclass(kind, ValueError)


class ProgramWriter:
    """Writes statements at random; `choose` picks one of several, so that hypothesis can shrink."""

    def __init__(self, choose: Callable[[list[Any]], Any]) -> None:
        self.choose = choose
        self.functions = 0
        self.size = 0

    def program(self) -> str:
        body = self.block(3, in_loop=False)
        body[:0] = self.choose([[], ["c, d, e = 3, 4, 5"], ["c = d = 1"]])
        body[:0] = ["xs, o = [1, 2, 3], Box()"]
        return "def program(a, b, log, tick):\n" + indented(body)

    def block(self, depth: int, in_loop: bool) -> list[str]:
        count = self.choose([1, 2, 3]) if self.size < 25 else 1
        return [line for _ in range(count) for line in self.statement(depth, in_loop)]

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        self.size += 1
        simple = ["assign", "assign", "log", "add", "pair", "walrus", "store", "store"]
        compound = [
            "if",
            "if",
            "ifelse",
            "ifelse",
            "for",
            "while",
            "forelse",
            "whileelse",
            "try",
            "with",
            "def",
            "lambda",
            "match",
            "genexp",
        ]
        jumps = ["return", "raise", "del"] + ["break", "continue", "break", "continue"] * in_loop
        kinds = simple + jumps + (compound * 2 if depth > 0 and self.size < 25 else [])
        return getattr(self, "_" + self.choose(kinds))(depth - 1, in_loop)

    def name(self) -> str:
        return self.choose(list(NAMES))

    def atom(self) -> str:
        return self.choose(["0", "1", "2", "3", *NAMES[:2], *NAMES])

    def value(self) -> str:
        form = self.choose(
            [
                "{0}",
                "{0} + {1}",
                "{0} - {1}",
                "{0} * 2",
                "{0} if {2} else {1}",
                "({0} or {1})",
                "len([{0}, {1}])",
                "sum([v * {0} for v in [1, {1}]])",
            ]
        )
        return form.format(self.atom(), self.atom(), self.test())

    def test(self) -> str:
        form = self.choose(
            [
                "{0} < {1}",
                "{0} > {1}",
                "{0} % 2 == 0",
                "{0} == {1}",
                "{0} < {1} <= 3",
                "not {0} > 1",
                "{0} > 0 and {1} < 2",
                "{0} < 1 or {1} > 1",
                "{0} in [1, 2]",
            ]
        )
        return form.format(self.atom(), self.atom())

    def _assign(self, depth, in_loop):
        return [f"{self.name()} = {self.value()}"]

    def _add(self, depth, in_loop):
        return [f"{self.name()} += {self.atom()}"]

    def _pair(self, depth, in_loop):
        return [f"{self.name()}, {self.name()} = {self.atom()}, {self.value()}"]

    def _store(self, depth, in_loop):
        self.functions += 1
        pushed = [f"def push{self.functions}(v=1):", "    log.append(v)", "    xs.append(v)",
                  "    o.x += 1", "    return v"]  # fmt: skip
        push, index = f"push{self.functions}", self.choose(["0", "1", "-1"])
        form = self.choose([
            "xs[{1}] = {0}", "xs[{1}] += {0}", "o.x = xs[{1}] = {0}", "o.x += {0}",
            "xs[{1}], {2} = {0}, 1", "{2}, xs[-1] = {0}, {0}", "xs[1:2] = [{0}, {1}]",
            "xs[{1}], xs[0] = xs[0], xs[{1}]", "xs[{3}()] = {3}({0})", "xs[{3}()] += {3}({0})",
            "o.x += {3}({0})", "{2}, xs[{3}()] = {3}(), {0}", "log.append(xs[{1}] + o.x)",
            "log.append({0} < {3}(2) < {3}({0}))", "log.append({3}({0}) and {3}(0) or {3}(2))",
        ])  # fmt: skip
        line = form.format(self.value(), index, self.name(), push)
        return [*(pushed if push in line else []), line, "log.append(o.x)", "log.append(len(xs))"]

    def _walrus(self, depth, in_loop):
        return [
            f"if ({self.name()} := {self.atom()}) > {self.atom()}:",
            *indented_lines(self.block(0, in_loop)),
        ]

    def _log(self, depth, in_loop):
        return [f"log.append({self.value()})"]

    def _del(self, depth, in_loop):
        return [f"del {self.name()}"]

    def _return(self, depth, in_loop):
        return [f"return {self.value()}"]

    def _raise(self, depth, in_loop):
        return [f"raise ValueError({self.atom()})"]

    def _break(self, depth, in_loop):
        return ["break"]

    def _continue(self, depth, in_loop):
        return ["continue"]

    def _if(self, depth, in_loop):
        return [f"if {self.test()}:", *indented_lines(self.block(depth, in_loop))]

    def _ifelse(self, depth, in_loop):
        return [*self._if(depth, in_loop), "else:", *indented_lines(self.block(depth, in_loop))]

    def _for(self, depth, in_loop):
        target = self.choose([*NAMES, *NAMES, "a, b"])
        values = "[(1, 2), (2, 0)]" if target == "a, b" else self.choose(["range(3)", "[2, 0, 1]"])
        return [
            f"for {target} in {values}:",
            "    tick()",
            *indented_lines(self.block(depth, True)),
        ]

    def _forelse(self, depth, in_loop):
        return [*self._for(depth, in_loop), "else:", *indented_lines(self.block(depth, in_loop))]

    def _while(self, depth, in_loop):
        test = self.choose([self.test(), self.test(), "True", f"(e := {self.atom()}) < 3"])
        return [f"while {test}:", "    tick()", *indented_lines(self.block(depth, True))]

    def _whileelse(self, depth, in_loop):
        return [
            f"while {self.test()}:",
            "    tick()",
            *indented_lines(self.block(depth, True)),
            "else:",
            *indented_lines(self.block(depth, in_loop)),
        ]

    def _try(self, depth, in_loop):
        lines = ["try:", *indented_lines(self.block(depth, in_loop))]
        handler = self.choose(
            ["except ValueError:", "except (ValueError, NameError):", "except ValueError as error:"]
        )
        lines += [handler, *indented_lines(self.block(depth, in_loop))]
        if self.choose([False, True]):
            lines += ["else:", *indented_lines(self.block(depth, in_loop))]
        if self.choose([False, False, True]):
            lines += ["finally:", "    log.append(a)"]
        return lines

    def _with(self, depth, in_loop):
        return [f"with Swallow() as {self.name()}:", *indented_lines(self.block(depth, in_loop))]

    def _match(self, depth, in_loop):
        first, second = self.block(depth, in_loop), self.block(depth, in_loop)
        return [
            f"match {self.atom()}:",
            "    case 1:",
            *indented_lines(first, 8),
            f"    case {self.choose(['_', self.name(), '2'])}:",
            *indented_lines(second, 8),
        ]

    def _def(self, depth, in_loop):
        self.functions += 1
        function = f"inner{self.functions}"
        body = self.block(min(depth, 1), in_loop=False)
        head = []
        if self.choose([False, True]):
            name = self.choose(["a", "b"])
            head = [f"nonlocal {name}", f"{name} += 1"]
        calls = [f"log.append({function}())"] * self.choose([1, 2])
        return [
            f"def {function}():",
            *indented_lines([*head, *body]),
            *calls,
            *indented_lines(self.block(0, in_loop), 0),
            *self.choose([[], [f"while ({function}() or 9) < 4:", "    tick()", "    a += 1"]]),
            f"log.append({function}())",
        ]

    def _lambda(self, depth, in_loop):
        self.functions += 1
        function = f"inner{self.functions}"
        return [
            f"{function} = lambda: {self.value()}",
            *self.block(0, in_loop),
            f"log.append({function}())",
        ]

    def _genexp(self, depth, in_loop):
        return [
            f"c = (v * {self.atom()} for v in [1, {self.atom()}])",
            *self.block(0, in_loop),
            "c = sum(c) if not isinstance(c, int) else c",
        ]


def indented_lines(lines: list[str], by: int = 4) -> list[str]:
    return [" " * by + line for line in lines]


def indented(lines: list[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)


def random_program(seed: int) -> str:
    return ProgramWriter(random.Random(seed).choice).program()


def load(source: str, name: str = "program") -> Any:
    """Define a function from text, with the text where tracebacks and the parser find it."""
    filename = f"<random program {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    space: dict[str, Any] = {"Swallow": Swallow, "Box": Box}
    exec(compile(source, filename, "exec"), space)
    return space[name]


def outcome(function: Callable[..., Any], a: int, b: int) -> tuple[Any, ...]:
    """What a run gives: the result or error, and everything it logged."""
    log: list[Any] = []
    ticks = itertools.count()

    def tick() -> None:
        if next(ticks) > 60:
            raise OutOfTicks

    try:
        value = function(a, b, log, tick)
        result: Any = ("returned", value if isinstance(value, (int, type(None))) else type(value))
    except Exception as error:
        name = (
            str(error).split("'")[1:2]
            if isinstance(error, NameError)
            else (str(error).partition(" object ")[0])
        )
        kind = NameError if isinstance(error, NameError) else type(error)
        result = ("raised", kind, name)
    plain = [entry for entry in log if isinstance(entry, int)]
    return (*result, plain)


def check(source: str) -> None:
    """Compare a program with its converted form on a few inputs."""
    original = load(source)
    converted = convert(original)
    function = converted.instantiate(original, operators=plain_ops)
    for a, b in [(0, 0), (1, 2), (3, 1), (-1, 5)]:
        want, got = outcome(original, a, b), outcome(function, a, b)
        assert got == want, f"\n{source}\n{converted.source}\ninput {a, b}: {got} != {want}"
