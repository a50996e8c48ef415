"""Random programs that make much of the rest of the language.

    program = language_program(7)

They are random programs (see generator.py) with lists that grow, comprehensions, exceptions that get
caught, None until something is found, objects as state, recursion, functions chosen by a condition,
assignment expressions, and loops that end in the middle. Each comes from a template: `$v` stands for
a new name whose value the rest of the program uses, other names with `$` are new, too.
"""

import re
from typing import Any

from tests.fuzz.generator import Program, Writer, indented
from tests.fuzz.kinds import Rejected, Samples

HEAD = """class Box:
    def __init__(self, value):
        self.value = value
        self.count = 0

    def add(self, value):
        self.value = self.value + value
        self.count += 1
        return self


class Missing(Exception):
    pass


def power(base, n):
    if n <= 0:
        return 1
    half = power(base, n // 2)
    return half * half * (base if n % 2 == 1 else 1)


def steps(n, limit):
    if n <= 1 or limit <= 0:
        return 0
    return 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1, limit - 1)


def even(n):
    return True if n <= 0 else odd(n - 1)


def odd(n):
    return False if n <= 0 else even(n - 1)


def found(values, limit):
    for i, value in enumerate(values):
        if value > limit:
            return i
    raise Missing("nothing above", limit)
"""

SNIPPETS = [
    # Lists.
    "$l = []\nfor $e in {a}:\n    if $e > {s}:\n        $l.append($e)\n$v = len($l)",
    "$l = [{s}]\nfor $e in {a}:\n    if $e > {s}:\n        $l.append($e * 2)\n$v = sum($l)",
    "$l = []\nfor $e in {a}:\n    $l.append($e + {s})\n$v = np.array($l)",
    "$l = []\nfor $e in {a}:\n    while $l and $l[-1] > $e:\n        $l.pop()\n    $l.append($e)\n$v = len($l)",
    "$l = [0.5]\nfor $e in {a}:\n    if $e < {s}:\n        $l.insert(0, $e)\n$v = $l[0] + len($l)",
    "$l = [{s}, 1.5]\nfor $e in {a}:\n    $l.append($l[-1] + $l[-2] * $e)\n$v = np.array($l).sum()",
    "$l = [1]\n$n = {i}\nwhile len($l) < 9 and $n != 1:\n    $n = $n // 2 if $n % 2 == 0 else 3 * $n + 1\n"
    "    $l.append($n)\n$v = np.array($l)",
    "$l = [0, 3]\n$v = 0\nwhile $l and $v < 12:\n    $n = $l.pop(0)\n    $v += 1\n"
    "    if $n < {i}:\n        $l.extend([$n + 1, $n + 2])",
    "$l = [[], []]\nfor $e in {a}:\n    $l[0 if $e > {s} else 1].append($e)\n$v = len($l[0]) - len($l[1])",
    "$l = [v for v in {a} if v > {s}]\n$v = max($l) if $l else {s}",
    "$l = sorted([v * {s} for v in {a}])\n$v = $l[0] - $l[-1]",
    "$v = np.array([v * v for v in {a}] + [1.0])",
    "$v = np.array([[u - v for v in {a}] for u in {a}])",
    "$v = sum([v for v in {a} if v > 0 and v < {s}])",
    # Something is found, or nothing.
    "$b = None\nfor $e in {a}:\n    if $b is None or $e < $b:\n        $b = $e\n$v = $b",
    "$b = None\nfor $e in {a}:\n    if $e > {s}:\n        $b = $e\n        break\n"
    "$v = {s} if $b is None else $b",
    "$b = None\nif {c}:\n    $b = {s}\n$v = 0.0 if $b is None else $b * 2",
    "$b = 'up' if {c} else 'down'\n$v = {s} if $b == 'up' else 2.5",
    "for $e in {a}:\n    if $e > {s}:\n        $v = 1\n        break\nelse:\n    $v = 0",
    # Exceptions.
    "try:\n    $v = {a}[{i} * 2]\nexcept IndexError:\n    $v = {a}[0]",
    "try:\n    $v = found({a}, {s})\nexcept Missing:\n    $v = -1",
    "$v = 0\nfor $e in {a}:\n    try:\n        $v += found({a}, $e)\n    except Missing as error:\n"
    "        $v += 10\n    finally:\n        $v += 1",
    "try:\n    if {c}:\n        raise ValueError({s})\n    $v = 1.5\nexcept (KeyError, ValueError):\n    $v = {s} * 1.0",
    "$v = 0\ntry:\n    for $n in range({i} + 2):\n        $v = $v + 1\n        if {a}[$n] > {s}:\n"
    "            raise Missing\n    $v = $v + 100\nexcept Missing:\n    $v = $v + 50",
    "try:\n    $v = 7 // {i}\nexcept ZeroDivisionError:\n    $v = 99",
    "try:\n    $v = found({a}, {s})\nexcept Missing:\n    $v = -1\nelse:\n    $v = $v * 2",
    # Objects, functions.
    "$o = Box({s})\nfor $e in {a}:\n    if $e > 0:\n        $o.add($e)\n$v = $o.value * 1.0",
    "$o = Box(0)\nfor $e in {a}:\n    $o.count += 1\n    if $o.count > {i}:\n        break\n$v = $o.count",
    "$o = Box([{s}, {s}])\nfor $n in range({i} + 2):\n    $o.value = [$o.value[1], $o.value[0] + 1]\n$v = $o.value[0]",
    "$o, $p = Box({s}), Box({s})\nfor $e in {a}:\n    if $e > {s}:\n        $o, $p = $p, $o\n    $o.count += 1\n$v = $o.count",
    "$f = np.sin if {c} else np.abs\n$v = $f({a})",
    "$f = lambda $e: $e * {s}\n$g = (lambda $e: $e + 1) if {c} else $f\n$v = $g({s})",
    "$v = power({s}, {i})",
    "$v = steps({i} + 3, 20)",
    "$v = even({i})",
    "$n = 0\ndef $f($e):\n    nonlocal $n\n    $n = $n + 1\n    return $e > {s}\n"
    "while $n < 7 and not $f({a}[$n % 3]):\n    pass\n$v = $n",
    # Assignment expressions, jumps.
    "if ($n := {s}) > {s}:\n    $v = $n + 1\nelse:\n    $v = $n",
    "$n = 40.0\nwhile ($n := $n / 2) > {i} + 1:\n    pass\n$v = $n",
    "$v = 0\nwhile True:\n    $v += 1\n    if $v > {i} or {a}[$v % 3] > {s}:\n        break",
    "$v = 0.0\nfor $e in {a}:\n    if $e < 0:\n        continue\n    for $u in {a}:\n        if $u > $e:\n"
    "            break\n        $v = $v + $u * $e\n    else:\n        $v = $v - 1",
    "$e, *$r = {a}\n$v = $e + len($r)",
    "$v = {s}\nwith np.errstate(all='ignore'):\n    if {c}:\n        $v = $v / ({s} + 0.25)",
    "$d = dict(u={s}, n=0)\nfor $e in {a}:\n    $d['n'] += 1\n    if $e > $d['u']:\n        $d['u'] = $e\n$v = $d['n'] + $d['u']",
]  # fmt: skip


def language_program(seed: int) -> Program:
    """The program of a seed, always the same."""
    attempt = 0
    while True:
        try:
            return LanguageWriter(seed, attempt).program()
        except Rejected:
            attempt += 1


class LanguageWriter(Writer):
    """Writes programs with statements of all kinds."""

    def program(self) -> Program:
        program = super().program()
        return program.with_source(f"{HEAD}\n\n{program.source}")

    def statement(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        if self.statements < self.MAX_STATEMENTS and self.rng.random() < 0.35:
            form = self.rng.choice([self.snippet, self.snippet, self.snippet, self.attempt])
            try:
                lines = form(samples, depth, loop)
            except Rejected:
                pass
            else:
                self.statements += 1
                return lines
        return super().statement(samples, depth, loop)

    def snippet(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """Statements from a template; their value goes to a name that has that kind, if there is
        one, else it is a new one's."""
        text = self.rng.choice(SNIPPETS)
        if "nonlocal" in text and self.nested:
            raise Rejected("nested names")
        for name in dict.fromkeys(re.findall(r"\$\w", text)):
            text = text.replace(name, self.fresh(name[1]) if name != "$v" else "$v")
        value = self.fresh("v")
        text = self.expressions.fill(text.replace("$v", value), samples, 1)
        values = [self.executed(text, environment)[value] for environment in samples.environments]
        inside = samples.child()
        inside.bind(value, values)
        kind = inside.kind(value)
        alike = [n for n in samples.names() if n[0] == "v" and samples.kind(n) == kind]
        lines = text.split("\n")
        if alike and self.rng.random() < 0.8:
            return [*lines, f"{self.rng.choice(alike)} = {value}"]
        samples.bind(value, values)
        return lines

    def executed(self, text: str, environment: dict[str, Any]) -> dict[str, Any]:
        """The names after some statements, which may rebind names of a function around them."""
        from tests.fuzz.generator import _run

        if "nonlocal" in text:
            text = "\n".join(["def around():", *indented(text.split("\n")), "    return locals()"])
            return dict(_run(f"{HEAD}\n{text}\nnames = around()", environment)["names"])
        return _run(f"{HEAD}\n{text}", environment)

    def attempt(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """A try statement around other statements, one of which may raise."""
        if depth <= 0:
            raise Rejected("too deep")
        kinds = ["IndexError", "(IndexError, Missing)", "Missing", "Exception", "LookupError"]
        body = self.block(samples.child(), depth - 1, loop)
        test = self.expressions.checked_condition(samples)
        place = self.rng.randrange(len(body) + 1) if all(line[0] != " " for line in body) else 0
        raising = [f"if {test}:", "    raise Missing('here')"]
        lines = ["try:", *indented([*body[:place], *raising, *body[place:]])]
        lines += [f"except {self.rng.choice(kinds)}:"]
        lines += indented(self.block(samples.child(), depth - 1, loop))
        if self.rng.random() < 0.3:
            lines += ["else:", *indented(self.block(samples.child(), depth - 1, loop))]
        if self.rng.random() < 0.3:
            lines += ["finally:", *indented(self.block(samples.child(), 0, False))]
        return lines
