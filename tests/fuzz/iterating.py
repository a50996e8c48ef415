"""Random programs that make much of generators, iterators and match statements.

    program = iterating_program(7)

They are random programs (see generator.py) with more ways to go over things, generator functions
that are defined where they are consumed, and match statements with every kind of pattern.
"""

import itertools

from tests.fuzz.generator import Program, Writer, indented
from tests.fuzz.kinds import SPACE, Rejected, Samples

SPACE["itertools"] = itertools

ITERABLES = [
    ("{e}", "({e} * 2 for {e} in {a})"), ("{e}", "({e} for {e} in {a} if {e} > 0)"),
    ("{e}", "({e} + {s} for {e} in {a} if {e} < {s})"),
    ("{e}, {f}", "zip(({e} for {e} in {a}), {a})"),
    ("{i}, {e}", "enumerate({e} - 1 for {e} in {a} if {e} != 1)"), ("{e}", "map(np.sin, {a})"),
    ("{e}", "filter(lambda v: v > 0, {a})"), ("{e}", "map(lambda v: v * {s}, {a})"),
    ("{e}", "itertools.islice({a}, 1, None)"), ("{e}", "itertools.islice({a}, 0, 3, 2)"),
    ("{e}", "itertools.accumulate({a})"), ("{e}, {f}", "itertools.pairwise({a})"),
    ("{e}", "itertools.chain({a}, {a})"), ("{e}", "itertools.takewhile(lambda v: v < 2, {a})"),
    ("{e}", "itertools.dropwhile(lambda v: v < 0, {a})"), ("{e}", "iter({a})"),
    ("{i}, {e}", "zip(itertools.count(1), {a})"), ("{i}, {e}", "zip(range(3), (v for v in {a}))"),
    ("{e}, {f}", "itertools.product({a}[:2], {a}[:2])"),
    ("{e}", "(v for row in [{a}, {a}] for v in row)"),
    ("{i}", "itertools.islice(itertools.count({i}), 4)"),
    ("{e}", "(u * v for u in {a} for v in {a} if u < v)"),
]  # fmt: skip
VALUES = [
    "sum(v * 2 for v in {a})", "sum(v for v in {a} if v > 0)", "max(v * v for v in {a})",
    "min((v for v in {a} if v > {s}), default={s})", "any(v > {s} for v in {a})",
    "all(v < {s} for v in {a})", "sum(1 for v in {a} if v > {s})", "next(v for v in {a} if v < 9)",
    "next((v for v in {a} if v > {s}), {s})", "sum(u * v for u, v in zip({a}, {a}))",
    "max({a}, key=lambda v: -v)", "sum(i * v for i, v in enumerate({a}))",
    "np.array([v for v in {a}])", "np.array(list(v * 2 for v in {a}))", "sum(map(abs, {a}))",
    "sum(itertools.islice((v for v in {a}), 2))", "next(iter({a}))",
]  # fmt: skip
BODIES = [
    ["for v in {p}:", "    yield v {o}"],
    ["for v in {p}:", "    if v > {s}:", "        yield v {o}"],
    ["for v in {p}:", "    if v > 0:", "        yield v", "    else:", "        yield {p}[0]"],
    ["n = 0", "while n < {k} and {c}:", "    n += 1", "    yield {p}[n % 3] {o}"],
    ["n = 0", "while n < {k}:", "    n += 1", "    if {p}[n % 3] > {s}:", "        continue",
     "    yield n"],
    ["yield {p}[0]", "yield from {p}"],
    ["total = 0.0", "for v in {p}:", "    total += v", "    yield total {o}"],
    ["for n, v in enumerate({p}):", "    if n > {i} and v < 0:", "        return",
     "    yield v {o}"],
    ["for u in {p}:", "    for v in {p}:", "        if u < v:", "            yield u - v",
     "            break"],
    ["if {c}:", "    yield from {p}[::-1]", "else:", "    yield {p}[0]"],
]  # fmt: skip
ADDED = ["", "* 2", "+ {s}", "- 1", "* {i}"]
SUBJECTS = ["{i} % 4", "{i}", "({i} % 2, {s})", "[{s}, {s}]", "({a}[0] > 0, {i} % 3)",
            "{{'kind': {i} % 2, 'by': {s}}}", "(({i} % 2, {s}), {s})", "{s}"]  # fmt: skip
PATTERNS = {
    "{i}": ["0", "1 | 2", "-1", "3", "int(n)", "n if n > 1"],
    "{s}": ["0", "0.5 | 1", "v if v > 0", "float(v)"],
    "(": ["(0, v)", "(1, v) | (_, v)", "(n, v) if v > 0", "(0 | 1 as n, _)", "[n, *_]",
          "((0, u), v)", "((_, u), v) if u > v"],
    "[": ["[v, 0]", "[0.5 | 1, v]", "[u, v] if u < v", "[v, *_]", "(u, v)"],
    "{{": ["{'kind': 0, 'by': v}", "{'kind': n, **rest}", "{'by': v} if v > 0", "{'no': _}"],
}  # fmt: skip


class IteratingWriter(Writer):
    """Writes programs with generators and match statements."""

    def statement(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        if depth > 0 and self.statements < self.MAX_STATEMENTS and self.rng.random() < 0.3:
            forms = [self.match, self.generator, self.generator, self.consumer]
            return self.one_of(forms, samples, depth, loop)
        return super().statement(samples, depth, loop)

    def consumer(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """A value that some built-in function makes of an iterator."""
        text = self.expressions.fill(self.rng.choice(VALUES), samples, 1)
        values, _ = samples.evaluate(text)
        name = self.fresh()
        samples.bind(name, values)
        return [f"{name} = {text}"]

    def iterable(self, samples: Samples) -> tuple[str, str]:
        if self.rng.random() < 0.5:
            return super().iterable(samples)
        target, text = self.rng.choice(ITERABLES)
        names = {"e": self.fresh("e"), "f": self.fresh("e")}
        index = self.fresh("i")
        # Items may come of arrays of two dtypes, one after the other.
        self.joins = self.joins or "chain(" in text or "for row in" in text
        for key, name in names.items():
            target, text = (part.replace("{" + key + "}", name) for part in (target, text))
        target = target.replace("{i}", index)
        return target, self.expressions.fill(text, samples, 1)

    def generator(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """A generator function and a loop over what it gives."""
        array = self.expressions.array(samples, 0)
        if set(samples.evaluate(f"{array}.ndim")[0]) != {1}:
            raise Rejected("rows are ambiguous")
        name, parameter, item = self.fresh("f"), self.fresh("p"), self.fresh("e")
        lines = []
        for line in self.rng.choice(BODIES):
            line = line.replace("{o}", self.rng.choice(ADDED)).replace("{p}", parameter)
            line = line.replace("{k}", str(self.rng.choice([2, 5, 12])))
            lines.append(self.expressions.fill(line, samples, 1))
        function = [f"def {name}({parameter}):", *indented(lines)]
        run = "\n".join([*function, f"{item} = next(iter({name}({array})))"])
        first = [space[item] for space in _spaces(run, samples)]
        inside = samples.child()
        inside.bind(item, first)
        body = indented(self.block(inside, depth - 1, True))
        return [*function, f"for {item} in {name}({array}):", *body, *self.else_(samples, depth)]

    def match(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        template = self.rng.choice(SUBJECTS)
        subject = self.expressions.fill(template.replace("{{", "<").replace("}}", ">"), samples, 1)
        subject = subject.replace("<", "{").replace(">", "}") if "{{" in template else subject
        samples.evaluate(subject)
        kind = next(k for k in ("{{", "(", "[", "{i}", "{s}") if template.startswith(k))
        patterns = self.rng.sample(PATTERNS[kind], self.rng.choice([1, 2, 3]))
        lines = [f"match {subject}:"]
        for pattern in [*patterns, *["_"] * (self.rng.random() < 0.6)]:
            body = self.block(samples.child(), depth - 1, loop)
            lines += indented([f"case {pattern}:", *indented(body)])
        return lines


def _spaces(text: str, samples: Samples) -> list[dict[str, object]]:
    from tests.fuzz.generator import _run

    return [_run(text, environment) for environment in samples.environments]


def iterating_program(seed: int) -> Program:
    """The program of a seed, always the same."""
    for attempt in itertools.count():
        try:
            return IteratingWriter(seed, attempt).program()
        except Rejected:
            continue
    raise AssertionError
