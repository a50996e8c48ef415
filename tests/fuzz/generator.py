"""Random programs: the source of a plain-NumPy function, and arguments for it.

    program = random_program(7)
    print(program.source)
    args = program.arguments(variant=0)      # other values: 1; other sizes: 2 and 3

A program is made of the statements graphify stages: nested ifs on run-time values, while and for
loops with break, continue, return and else, in-place updates through views and aliases, helper
functions, containers as state. Every statement is tried on sample values when it is written, so
nearly all programs run. Names keep their kind on all paths, except in `loose` programs, where a
name may come out of a branch with another dtype or size; their dtypes are not compared.
"""

import copy
import itertools
import linecache
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.expressions import Expressions
from tests.fuzz.kinds import SPACE, Kind, Rejected, Samples, kind_of

_numbers = itertools.count()
SIZES = [(5, 3), (5, 3), (7, 4), (6, 2)]  # (n, m) of each variant of the arguments
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = ["float64", "float64", "float64", "int64", "int64", "float32", "int32", "uint8", "bool"]
RARE = [*INTEGERS, "float16", "complex128"]


@dataclass(frozen=True)
class Argument:
    """One argument: its form ("vector", "matrix", "integer", "real") and how it is passed."""

    name: str
    form: str
    dtype: str  # of arrays and NumPy scalars
    way: str = "array"  # array, scalar, python

    def value(self, rng: np.random.Generator, n: int, m: int) -> Any:
        shape = {"vector": (n,), "matrix": (n, m), "wide": (m, n)}.get(self.form, ())
        raw: Any
        if self.form == "integer":
            raw = rng.integers(0, 4, shape)
        elif self.dtype == "bool" or self.dtype.startswith("uint"):
            raw = rng.integers(0, 2 if self.dtype == "bool" else 5, shape)
        else:
            raw = np.round(rng.normal(size=shape) * 8) / 4
        if self.way == "python":
            return int(raw) if self.form == "integer" else float(raw)
        array = np.asarray(raw).astype(self.dtype)
        return array[()] if self.way == "scalar" else array


Form = Callable[[Samples, int, bool], list[str]]  # writes one statement


@dataclass
class Program:
    """A function as text, what it takes, and whether dtypes may widen where paths join."""

    source: str
    parameters: list[Argument]
    seed: int
    loose: bool = False
    name: str = "program"
    _function: Any = field(default=None, repr=False)

    def arguments(self, variant: int = 0) -> list[Any]:
        """Fresh arguments: variant 1 has other values than 0, later ones other sizes, too."""
        rng = np.random.default_rng([self.seed, variant])
        n, m = SIZES[variant]
        return [argument.value(rng, n, m) for argument in self.parameters]

    @property
    def function(self) -> Callable[..., Any]:
        """The function, with its source where the converter finds it."""
        if self._function is None:
            self._function = load(self.source, self.name)
        function: Callable[..., Any] = self._function
        return function

    def with_source(self, source: str) -> "Program":
        return Program(source, self.parameters, self.seed, self.loose, self.name)


def load(source: str, name: str) -> Callable[..., Any]:
    """Define a function from text that `inspect.getsource` can find."""
    filename = f"<fuzz program {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    space: dict[str, Any] = dict(SPACE)
    exec(compile(source, filename, "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


def random_program(seed: int) -> Program:
    """The program of a seed, always the same."""
    for attempt in itertools.count():
        try:
            return Writer(seed, attempt).program()
        except Rejected:  # a dead end: no expression fits where one is needed
            continue
    raise AssertionError


class Writer:
    """Writes one program, statement by statement."""

    MAX_STATEMENTS = 16
    joins = False  # whether a name may come out of any path with another dtype

    def __init__(self, seed: int, attempt: int = 0) -> None:
        self.seed = seed
        self.rng = random.Random(seed * 1000 + attempt)
        self.expressions = Expressions(self.rng)
        self.loose = self.rng.random() < 0.1
        self.statements = 0
        self.counter = itertools.count()
        self.results: list[str] = []
        self.result_form = "({})"
        self.nested = 0  # inside a function of the program

    # --- the whole ---

    def program(self) -> Program:
        parameters = self.parameters()
        samples = Samples([{}, {}])
        program = Program("", parameters, self.seed)
        for variant, environment in zip((0, 2), samples.environments, strict=True):
            values = program.arguments(variant)
            environment.update({p.name: v for p, v in zip(parameters, values, strict=True)})
        before = self.outer_function(samples) if self.rng.random() < 0.2 else []
        body = []
        for _ in range(self.rng.choice([2, 3, 3, 4])):
            line, name = self.new_variable(samples)
            body.append(line)
            self.results.append(name)
        if self.rng.random() < 0.3:
            body += self.container(samples)
        self.choose_result(samples)
        body += self.block(samples, depth=3, loop=False)
        body.append(self.return_())
        head = f"def program({', '.join(p.name for p in parameters)}):"
        source = "\n".join([*before, head, *indented(body)]) + "\n"
        program.loose = self.loose or self.joins
        return program.with_source(source)

    def parameters(self) -> list[Argument]:
        rng = self.rng
        found = [Argument("x", "vector", rng.choice(DTYPES[:7]))]
        found += [Argument("y", "vector", self.dtype())] * (rng.random() < 0.6)
        found += [Argument("w", rng.choice(["matrix", "wide"]), self.dtype())] * (
            rng.random() < 0.6
        )
        ways = ["array", "array", "scalar", "python"]
        dtype = rng.choice(["int64", "int64", rng.choice(INTEGERS)])
        found += [Argument("k", "integer", dtype, rng.choice(ways))] * (rng.random() < 0.8)
        found += [Argument("s", "real", "float64", rng.choice(ways))] * (rng.random() < 0.6)
        return found

    def dtype(self) -> str:
        return self.rng.choice(RARE if self.rng.random() < 0.15 else DTYPES)

    def choose_result(self, samples: Samples) -> None:
        names = self.results
        arrays = [p for p in ("x", "w") if p in samples.names() and self.rng.random() < 0.3]
        listed = ", ".join([*names, *arrays])
        forms = [f"({listed},)", f"({listed},)", f"[{listed}]", names[0],
                 "{" + ", ".join(f"'{n}': {n}" for n in names) + "}",
                 f"({names[0]}, ({listed},))"]  # fmt: skip
        self.result_form = self.rng.choice(forms)

    def return_(self) -> str:
        return f"return {self.result_form}"

    # --- blocks and statements ---

    def block(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.choice([2, 3, 4]) if depth == 3 else self.rng.choice([1, 2, 2, 3])):
            lines += self.statement(samples, depth, loop)
        return lines or ["pass"]

    def statement(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        simple = [self.assign] * 4 + [self.update] * 3 + [self.store] * 5 + [self.swap]
        simple += [self.container_update] * 2 + [self.alias] * 2
        compound = [self.if_] * 4 + [self.while_] * 2 + [self.for_] * 4 + [self.helper]
        forms = simple + [self.jump] * (4 if loop else depth < 3)
        if depth > 0 and self.statements < self.MAX_STATEMENTS:
            forms = forms + compound
        for _ in range(5):
            form = self.rng.choice(forms)
            try:
                lines = form(samples, depth, loop)
            except Rejected:
                continue
            self.statements += 1
            return lines
        return []

    def one_of(self, forms: Sequence[Form], samples: Samples, depth: int, loop: bool) -> list[str]:
        """A statement of one of these forms; if that cannot be, of any form."""
        form = self.rng.choice(forms)
        try:
            lines = form(samples, depth, loop)
        except Rejected:
            return Writer.statement(self, samples, depth, loop)
        self.statements += 1
        return lines

    def fresh(self, prefix: str = "v") -> str:
        return f"{prefix}{next(self.counter)}"

    def new_variable(self, samples: Samples) -> tuple[str, str]:
        text = self.expressions.some(samples, _is_result)
        values, _ = samples.evaluate(text)
        name = self.fresh()
        samples.bind(name, values)
        return f"{name} = {text}", name

    def variable(self, samples: Samples, accept: Callable[[Any], bool]) -> str:
        """A name that may be assigned to."""
        names = [n for n in samples.names() if n[0] not in "if" and accept(samples.value(n))]
        if not names:
            raise Rejected("no such variable")
        return self.rng.choice(names)

    def assign(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        if self.rng.random() < 0.25:
            return [self.new_variable(samples)[0]]
        name = self.variable(samples, lambda v: not isinstance(v, list | tuple | dict))
        kind = samples.kind(name)
        if self.loose and self.rng.random() < 0.5:
            text = self.expressions.some(samples, lambda found: _rank(found) == _rank(kind))
        else:
            text = self.expressions.of_kind(samples, kind)
        return [f"{name} = {text}"]

    def alias(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """A second name for an array, or for a part of it."""
        name = self.variable(samples, lambda v: isinstance(v, np.ndarray) and v.ndim > 0)
        part = [
            "",
            "[1:]",
            "[::-1]",
            "[:2]",
            "[::2]",
            ".T",
            ".reshape(-1)",
            "[0]",
            "[:, 0]",
            "[-1]",
        ]
        text = name + self.rng.choice(part)
        values, _ = samples.evaluate(text)
        new = self.fresh()
        samples.bind(new, values)
        return [f"{new} = {text}"]

    def update(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        name = self.variable(samples, lambda v: not isinstance(v, list | tuple | dict | bool))
        sign = self.rng.choice(["+=", "-=", "*=", "+=", "//=", "%=", "/="])
        return self.keeping(samples, f"{name} {sign} {self.expressions.some(samples)}", name)

    def store(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """A write to a part of an array."""
        name = self.variable(samples, lambda v: isinstance(v, np.ndarray) and v.ndim > 0)

        def fill(template: str) -> str:
            return self.expressions.fill(template, samples, 2)

        keys = ["0", "-1", fill("{i}"), "1:", ":2", "::2", fill(":{i}"), fill("{i}:"), "::-1",
                f"{name} > {fill('{s}')}", f"{name} < 0", ":, 0", "0, :", fill("{i}, 1"), "...",
                ":", "[0, 2]", fill("{i} % 2"), "1:, 0", fill(":, {i}"), ":, [1, 0]",
                "..., [0, -1]", f":, {name}[0] > 0", "[1, 0], :1", "::-1, 1:"]  # fmt: skip
        sign = self.rng.choice(["=", "=", "+=", "-=", "*="])
        value = self.expressions.some(samples)
        key = self.rng.choice(keys)
        return self.keeping(samples, f"{name}[{key}] {sign} {value}", name)

    def swap(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        one = self.variable(samples, lambda v: True)
        alike = [n for n in samples.names() if n != one and samples.kind(n) == samples.kind(one)]
        alike = [n for n in alike if n[0] not in "if"]
        if alike and self.rng.random() < 0.7:
            other = self.rng.choice(alike)
            return [f"{one}, {other} = {other}, {one}"]
        array = self.variable(samples, lambda v: isinstance(v, np.ndarray) and v.ndim == 1)
        return self.keeping(samples, f"{array}[0], {array}[1] = {array}[1], {array}[0]", array)

    def keeping(self, samples: Samples, line: str, name: str) -> list[str]:
        """The statement, if it runs on the samples and leaves the kind of `name` alone."""
        after = samples.execute(line)
        if tuple(kinds[name] for kinds in after) != samples.kind(name):
            raise Rejected(line)
        return [line]

    def container(self, samples: Samples) -> list[str]:
        items = [self.expressions.some(samples, _is_result) for _ in range(2)]
        form = self.rng.choice(["[{}, {}]", "({}, {})", "{{'u': {}, 'v': {}}}"])
        text = form.format(*items)
        values, _ = samples.evaluate(text)
        name = self.fresh("t")
        samples.bind(name, values)
        if self.rng.random() < 0.6:
            self.results.append(name)
        return [f"{name} = {text}"]

    def container_update(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        name = self.variable(samples, lambda v: isinstance(v, list | tuple | dict))
        value = samples.value(name)
        key = self.rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        place = f"{name}[{key!r}]"
        kind = samples.evaluate(place)[1]
        text = self.expressions.of_kind(samples, kind)
        if isinstance(value, tuple):
            other = f"{name}[{1 - key}]"
            items = [text, other] if key == 0 else [other, text]
            return [f"{name} = ({items[0]}, {items[1]})"]
        if isinstance(value, dict) or self.rng.random() < 0.7:
            return [f"{place} = {text}"]
        return self.keeping(samples, f"{place} += {text}", name)

    # --- compound statements ---

    def if_(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        test = self.expressions.checked_condition(samples)
        first, second = samples.child(), samples.child()
        lines = [f"if {test}:", *indented(self.block(first, depth - 1, loop))]
        if self.rng.random() < 0.15:
            other = self.expressions.checked_condition(samples)
            lines += [f"elif {other}:", *indented(self.block(samples.child(), depth - 1, loop))]
        elif self.rng.random() < 0.6:
            shared = []
            if self.rng.random() < 0.3:  # a name bound on both paths
                shared = self.both_ways(samples, first, second, lines)
            lines += ["else:", *indented([*shared, *self.block(second, depth - 1, loop)])]
        return lines

    def both_ways(self, samples: Samples, first: Samples, second: Samples, lines: list[str]) -> Any:
        line, name = self.new_variable(first)
        kind = first.kind(name)
        text = self.expressions.of_kind(second, kind)
        second.bind(name, second.evaluate(text)[0])
        lines.append(f"    {line}")
        samples.bind(name, [environment[name] for environment in first.environments])
        return [f"{name} = {text}"]

    def while_(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        turns = self.fresh("i")
        test = self.expressions.checked_condition(samples)
        inside = samples.child()
        inside.bind(turns, [0, 0])
        limit = self.rng.choice([2, 3, 5, 12])
        form = self.rng.choice(
            [f"{turns} < {limit} and ({test})", f"({test}) and {turns} < {limit}"]
        )
        lines = [f"{turns} = 0", f"while {form}:", f"    {turns} += 1"]
        lines += indented(self.block(inside, depth - 1, True))
        return lines + self.else_(samples, depth)

    def else_(self, samples: Samples, depth: int) -> list[str]:
        if self.rng.random() < 0.85:
            return []
        return ["else:", *indented(self.block(samples.child(), depth - 1, False))]

    def for_(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        target, iterable = self.iterable(samples)
        inside = samples.child()
        first = samples.evaluate(f"next(iter({iterable}))")[0]
        if iterable.startswith("[") and not (self.loose or self.joins):
            if len({samples.evaluate(f"{iterable}[{n}]")[1] for n in (0, 1)}) > 1:
                raise Rejected("a name that is of another kind each turn")
        names = target.replace("(", "").replace(")", "").split(", ")
        for name in names:
            if target.startswith("_"):
                continue
            text = f"(lambda {target}: {name})(*_item)" if len(names) > 1 else "_item"
            if "(" in target:  # nested target: unpack by a comprehension
                text = f"[{name} for {target} in [_item]][0]"
            bound = [eval(text, {"_item": item}) for item in first]
            inside.bind(name, bound)
        lines = [f"for {target} in {iterable}:", *indented(self.block(inside, depth - 1, True))]
        return lines + self.else_(samples, depth)

    def iterable(self, samples: Samples) -> tuple[str, str]:
        index, item, other = self.fresh("i"), self.fresh("e"), self.fresh("e")
        turns = self.rng.choice(["range(4)", "range(12)"])
        forms = [
            (index, "range(3)"), (index, turns), (index, "range(1, 10, 2)"),
            (index, "range({i} % 6)"),
            (index, "range({i} % 4 + 1)"), (index, "range(len({a}))"),
            (index, "range(len({a}) - 1, -1, -1)"), (item, "{a}"), (item, "{a}"),
            (f"{item}, {other}", "zip({a}, {a})"), (f"{index}, {item}", "enumerate({a})"),
            (f"{index}, ({item}, {other})", "enumerate(zip({a}, {a}))"),
            (item, "reversed({a})"), (index, "reversed(range(4))"), (item, "[{s}, {s}]"),
            (index, "range({a}.shape[0])"), (index, "range({i} % 5, {i} % 5 + 3)"),
        ]  # fmt: skip
        target, template = self.rng.choice(forms)
        return target, self.expressions.fill(template, samples, 1)

    def jump(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        test = self.expressions.checked_condition(samples)
        choices = ["break", "continue"] * 2 * loop + [self.return_()] * (not self.nested)
        if not choices:
            raise Rejected("nothing to jump out of")
        return [f"if {test}:", f"    {self.rng.choice(choices)}"]

    # --- functions inside and outside ---

    def helper(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """A nested function, with names of the function around it, and a call of it."""
        return self.function(samples, samples.child(), depth)

    def outer_function(self, samples: Samples) -> list[str]:
        return self.function(samples, Samples([{}, {}]), 2, call=False)

    def function(
        self, samples: Samples, scope: Samples, depth: int, call: bool = True
    ) -> list[str]:
        if self.nested:
            raise Rejected("one level of functions is enough")
        parameter, name = self.fresh("p"), self.fresh("f")
        given = self.variable(samples, lambda v: not isinstance(v, list | tuple | dict))
        scope.bind(parameter, [environment[given] for environment in samples.environments])
        visible = set(scope.names())
        inside = Samples([dict(e) for e in scope.environments])
        self.nested += 1
        try:
            lines = self.function_body(inside, parameter, visible if call else set())
        finally:
            self.nested -= 1
        lines = [f"def {name}({parameter}):", *indented(lines)]
        self.expressions.takes[name] = samples.kind(given)
        if not call:
            spaces = [_run("\n".join(lines), {}) for _ in samples.environments]
            samples.bind(name, [space[name] for space in spaces])
            return lines
        new = self.fresh()
        text = "\n".join([*lines, f"{new} = {name}({given})"])
        spaces = [_run(text, environment) for environment in samples.environments]
        samples.bind(new, [space[new] for space in spaces])
        samples.bind(name, [space[name] for space in spaces])
        return text.split("\n")

    def function_body(self, inside: Samples, parameter: str, around: set[str]) -> list[str]:
        """A few statements on local names and a return; maybe an early one of the same kind."""
        # Assigning to a name of the function around would make it local: only read those.
        lines, name = [], parameter
        for _ in range(self.rng.choice([1, 2])):
            line, name = self.new_variable(inside)
            lines.append(line)
        kind = inside.kind(name)
        if self.rng.random() < 0.5:
            test = self.expressions.checked_condition(inside)
            lines += [f"if {test}:", f"    return {self.expressions.of_kind(inside, kind)}"]
        if isinstance(inside.value(parameter), np.ndarray) and self.rng.random() < 0.3:
            line = f"{parameter}[0] = {self.expressions.some(inside)}"
            lines += self.keeping(inside, line, parameter)
        return [*lines, f"return {name}"]


def _run(text: str, environment: dict[str, Any]) -> dict[str, Any]:
    """The names after running some statements."""
    scratch = {**SPACE, **copy.deepcopy(environment)}
    try:
        with np.errstate(all="ignore"):
            exec(text, scratch)
    except Exception as error:
        raise Rejected(text) from error
    return scratch


def _is_result(kind: Kind) -> bool:
    """Whether a value of this kind may be a state variable and a result."""
    return kind[0][0] in ("array", "scalar") or kind[0][1] in (int, float, bool)


def _rank(kind: Kind) -> Any:
    first = kind[0]
    return len(first[2]) if first[0] == "array" else (0 if first[0] == "scalar" else first)


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


__all__ = ["Argument", "Program", "kind_of", "load", "random_program"]
