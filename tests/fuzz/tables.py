"""Random programs about dicts and sets whose keys only the run knows.

    program = tables_program(7)

Dicts, Counters, defaultdicts and sets get keys, lose keys and get several names, in loops, branches
and functions. A program has keys of one kind (whole numbers, floats that collide, tuples), and
values of one kind (numbers, lists, tuples, arrays).
"""

import random

from tests.fuzz.generator import Argument, Program, indented

# By the kind of the keys: {k} and {l} in a statement.
KEYS = {
    "int": ["int(v)", "int(v)", "int(v) % 3", "i % 3", "k", "i", "abs(int(v))", "int(v * 2)",
            "int(x[0])", "k % 2", "len({d})", "2"],
    "float": ["v", "v", "np.floor(v)", "float(int(v))", "v * 2", "-v", "abs(v)", "x[0]",
              "x[i % len(x)]", "float(i % 2)", "1.0"],
    "tuple": ["(int(v), i % 2)", "(i % 2, k)", "(int(v) % 2, int(x[0]) % 2)", "(k, 0)",
              "(i % 3, int(v) % 2)", "(int(v), 1)", "(i, i)"],
}  # fmt: skip
TESTS_OF_KEYS = {
    "int": ["{a} > 0", "{a} % 2 == 0", "{a} < k"],
    "float": ["{a} > 0", "{a} < 1.5", "{a} != x[0]"],
    "tuple": ["{a}[0] > 0", "{a}[1] == 1", "{a} < (1, 1)"],
}
# By the kind of the values: {v} and {w} in a statement.
VALUES = {
    "count": ["1", "i", "k", "int(v)", "len({d})", "len(s)", "2", "i * k"],
    "number": ["v", "v", "1.5", "total", "x[0]", "float(len({d}))", "v * 2"],
    "list": ["v", "v", "1.5", "total", "x[0]", "float(i)"],
    "tuple": ["v", "v", "1.5", "total", "x[0]"],
    "array": ["v", "v", "1.5", "x[0]"],
}

FIRST = {
    "count": [
        ["{d} = {{}}"], ["{d} = {{}}"], ["{d} = {{}}"], ["{d} = dict()"],
        ["{d} = defaultdict(int)"], ["{d} = Counter()"], ["{d} = {{{k}: {v}}}"],
        ["{d} = {{{k}: i for i, v in enumerate(x)}}"],
        ["{d} = Counter([{k} for i, v in enumerate(x)])"],
        ["{d} = dict(zip([{k} for i, v in enumerate(x)], range(len(x))))"],
        ["{d} = {{{k}: {v}, {l}: {w}}}"],
        ["{d} = dict.fromkeys([{k} for i, v in enumerate(x)], 0)"],
    ],
    "number": [
        ["{d} = {{}}"], ["{d} = {{}}"], ["{d} = {{}}"], ["{d} = defaultdict(float)"],
        ["{d} = {{{k}: {v}}}"], ["{d} = {{{k}: v * i for i, v in enumerate(x)}}"],
        ["{d} = dict([({k}, v) for i, v in enumerate(x)])"],
    ],
    "list": [
        ["{d} = {{}}"], ["{d} = {{}}"], ["{d} = defaultdict(list)"], ["{d} = defaultdict(list)"],
        ["{d} = {{{k}: [{v}]}}"], ["{d} = {{{k}: [v] for i, v in enumerate(x)}}"],
        ["{d} = {{{k}: [] for i, v in enumerate(x)}}"],
    ],
    "tuple": [
        ["{d} = {{}}"], ["{d} = {{{k}: ({v}, 0)}}"],
        ["{d} = {{{k}: (v, i) for i, v in enumerate(x)}}"],
    ],
    "array": [
        ["{d} = {{}}"], ["{d} = {{{k}: np.zeros(2)}}"],
        ["{d} = {{{k}: x[:2] * v for i, v in enumerate(x)}}"],
    ],
}  # fmt: skip
SECOND = [["e = {}"], ["e = {}"], ["e = d"], ["e = d"], ["e = d.copy()"], ["e = dict(d)"]]
SETS = [
    ["s = set()"], ["s = set()"], ["s = {{{k}}}"], ["s = set(d)"],
    ["s = {{{k} for i, v in enumerate(x)}}"], ["s = set([{k} for i, v in enumerate(x)])"],
]  # fmt: skip
SECOND_SETS = [["t = s"], ["t = set()"], ["t = set(s)"], ["t = s.copy()"], ["t = {{{k}, {l}}}"]]

# Changes that suit dicts with values of any kind, then those of one kind.
CHANGES = [
    ["{d}.pop({k}, None)"], ["if {k} in {d}:", "    del {d}[{k}]"],
    ["if {d}:", "    {d}.popitem()"], ["if len({d}) > 3:", "    {d}.popitem()"],
    ["if {k} in {d}:", "    {d}[{l}] = {d}[{k}]"],
    ["if {k} in {d}:", "    {d}[{l}] = {d}.pop({k})"],
    ["d.update(e)"], ["d |= e"], ["d = {{**d, **e}}"], ["e = {{**e}}"], ["e = d"], ["e = d"],
    ["e = d.copy()"], ["d = e"], ["d = dict(e)"], ["d, e = e, d"], ["e = {{}}"], ["{d}.clear()"],
    ["for a in list({d}):", "    if {a}:", "        del {d}[a]"],
    ["for a in sorted({d}):", "    if {a}:", "        {d}.pop(a)"],
    ["{d} = {{a: b for a, b in {d}.items() if {a}}}"],
    ["while len({d}) > 3:", "    del {d}[min({d})]"],
    ["while len({d}) > 4:", "    {d}.pop(next(iter({d})))"],
    ["e = {{a: d[a] for a in sorted(d)}}"],
    ["if {k} not in {d}:", "    total += 0.5"],
]  # fmt: skip
OF_NUMBERS = [
    ["{d}[{k}] = {v}"], ["{d}[{k}] = {v}"], ["{d}[{k}] = {d}.get({k}, 0) + {v}"],
    ["{d}[{k}] = {d}.get({k}, 0) + 1"], ["{d}[{k}] = {d}.get({l}, {v}) + 1"],
    ["if {k} in {d}:", "    {d}[{k}] += {v}", "else:", "    {d}[{k}] = {w}"],
    ["if {k} not in {d}:", "    {d}[{k}] = {v}"], ["{d}.setdefault({k}, {v})"],
    ["total += {d}.setdefault({k}, {v})"], ["total += {d}.pop({k}, {v})"],
    ["{d}.update({{{k}: {v}}})"], ["{d}.update([({k}, {v}), ({l}, {w})])"],
    ["for a in {d}:", "    {d}[a] += {v}"], ["for a in {d}:", "    {d}[a] = {v}"],
    ["for a, b in list({d}.items()):", "    if {a}:", "        {d}[a] = b * 2"],
    ["try:", "    {d}[{k}] += {v}", "except KeyError:", "    {d}[{k}] = {w}"],
    ["add({d}, {k}, {v})"], ["add({d}, {k}, {v})"],
    ["inner = {{}}", "for w in x:", "    inner[int(w)] = inner.get(int(w), 0) + 1",
     "total += len(inner) * max(inner)"],
    ["inner = {{}}", "inner[{k}] = {v}", "inner[{l}] = {w}", "{d}.update(inner)"],
    ["inner = {{}}", "inner[{k}] = {v}", "e = inner"],
    ["for a, b in {d}.items():", "    e[a] = b"],
]  # fmt: skip
OF_LISTS = [
    ["{d}.setdefault({k}, []).append({v})"], ["{d}.setdefault({k}, []).append({v})"],
    ["{d}[{k}] = [{v}]"], ["{d}[{k}] = {d}.get({k}, []) + [{v}]"],
    ["if {k} in {d}:", "    {d}[{k}].append({v})", "else:", "    {d}[{k}] = [{w}]"],
    ["if {k} in {d}:", "    {d}[{k}].append({v})", "    {d}[{k}].append({w})"],
    ["if {k} in {d} and {d}[{k}]:", "    total += {d}[{k}].pop()"],
    ["if {k} in {d}:", "    {d}[{k}].sort()"], ["if {k} in {d}:", "    {d}[{k}] += [{v}, {w}]"],
    ["if {k} in {d}:", "    total += len({d}.pop({k}))"],
    ["row = {d}.setdefault({k}, [])", "row.append({v})", "row.append({w})"],
    ["for a in {d}:", "    {d}[a].append({v})"], ["for b in {d}.values():", "    b.append({v})"],
    ["for a, b in {d}.items():", "    if len(b) > 2:", "        b.clear()"],
]  # fmt: skip
OF_TUPLES = [
    ["{d}[{k}] = ({v}, i)"], ["{d}[{k}] = ({v}, k)"],
    ["p, q = {d}.get({k}, (0.0, 0))", "{d}[{k}] = (p + {v}, q + 1)"],
    ["if {k} in {d}:", "    {d}[{k}] = ({d}[{k}][0] + {v}, i)", "else:", "    {d}[{k}] = ({v}, 0)"],
    ["{d}.setdefault({k}, ({v}, i))"],
    ["for a, (p, q) in {d}.items():", "    {d}[a] = (p * 2, q)"],
]  # fmt: skip
OF_ARRAYS = [
    ["{d}[{k}] = x[:2] * {v}"], ["{d}[{k}] = np.zeros(2)"],
    ["{d}[{k}] = {d}.get({k}, np.zeros(2)) + {v}"],
    ["if {k} in {d}:", "    {d}[{k}] = {d}[{k}] + {v}"],
    ["if {k} in {d}:", "    {d}[{k}] *= 2"], ["if {k} in {d}:", "    {d}[{k}][0] = {v}"],
    ["{d}.setdefault({k}, np.ones(2))"],
]  # fmt: skip
OF = {"count": OF_NUMBERS, "number": OF_NUMBERS, "list": OF_LISTS, "tuple": OF_TUPLES,
      "array": OF_ARRAYS}  # fmt: skip
OF_SETS = [
    ["{s}.add({k})"], ["{s}.add({k})"], ["{s}.add({k})"], ["{s}.discard({k})"],
    ["if {k} in {s}:", "    {s}.remove({k})"], ["{s} |= {{{k}}}"], ["s = s | t"], ["s = t & s"],
    ["s = t - s"], ["{s} -= {{{k}}}"], ["s ^= t"], ["t = s"], ["t = set(s)"], ["s = set(d)"],
    ["t = t | {{{k}}}"], ["{s}.update(d)"], ["s.update(t)"], ["s, t = t, s"], ["t = set()"],
    ["{s} = {{a for a in {d} if {a}}}"], ["while len({s}) > 3:", "    {s}.remove(min({s}))"],
    ["if {k} in {s}:", "    total += {n}", "else:", "    {s}.add({k})"],
    ["for a in sorted({s}):", "    if {a}:", "        {s}.discard(a)"],
    ["s = s.union([{k}])"], ["s.intersection_update(t)"], ["s.difference_update(d)"],
    ["put({s}, {k})"], ["s = d.keys() | t"], ["s = d.keys() & e.keys()"],
]  # fmt: skip
READS = [
    ["total += len({d})"], ["if {k} in {d}:", "    total += {n}"],
    ["for a in {d}:", "    if {a}:", "        total += {n}"],
    ["for j, a in enumerate({d}):", "    if {a}:", "        total += j"],
    ["if {d}:", "    out.append(len({d}))"], ["if {k} in {s}:", "    total += {n}"],
    ["if sorted(d) == sorted(e):", "    total += {n}"], ["if d == e:", "    total += {n}"],
    ["total += len(s & t)"], ["total += len(s - t) + len(s ^ t)"], ["if s <= t:", "    total += 1"],
    ["if s == t:", "    total += 1"], ["if not s.isdisjoint(t):", "    total += {n}"],
    ["if s and max(s) in {d}:", "    total += {n}"], ["total += len(d.keys() & s)"],
    ["total += len([a for a in sorted({s}) if {a}])"],
    ["if len(s | t) > 3:", "    total += {n}"],
    ["total += sum(1 for a in {d} if {a})"], ["if {d} and min({d}) in {s}:", "    total += {n}"],
    ["if any([a in s for a in {d}]):", "    total += {n}"],
]  # fmt: skip
READS_OF = {
    "count": [
        ["total += sum({d}.values())"], ["total += {d}.get({k}, {v})"],
        ["total += {d}[{k}] if {k} in {d} else {v}"], ["total += max({d}.values(), default=0)"],
        ["for a, b in {d}.items():", "    if {a}:", "        total += b"],
        ["if {d}:", "    total += {d}[max({d}, key={d}.get)]"],
        ["for a, b in sorted({d}.items(), key=lambda p: p[1]):", "    out.append(b)"],
        ["out.append({d}.get({k}, {v}))"], ["for b in {d}.values():", "    total += b * 2"],
        ["if {v} in {d}.values():", "    total += 1"],
        ["best = max({d}.values(), default={v})", "total += best"],
    ],
    "list": [
        ["for b in {d}.values():", "    total += sum(b)"],
        ["for a, b in {d}.items():", "    total += len(b)"],
        ["total += sum([len(b) for b in {d}.values()])"],
        ["total += len({d}.get({k}, []))"], ["if {k} in {d}:", "    total += sum({d}[{k}])"],
    ],
    "tuple": [
        ["for p, q in {d}.values():", "    total += p * q"],
        ["total += {d}.get({k}, (0.0, 0))[0]"], ["if {k} in {d}:", "    total += {d}[{k}][1]"],
        ["total += sum([p for p, q in {d}.values()])"],
    ],
    "array": [
        ["for b in {d}.values():", "    total += b.sum()"],
        ["if {k} in {d}:", "    total += {d}[{k}][0]"],
        ["total += {d}.get({k}, np.ones(2))[1]"],
    ],
}  # fmt: skip
READS_OF["number"] = READS_OF["count"]
TESTS = ["v > 0", "i % 2 == 0", "len({d}) > 2", "{k} in {d}", "k > 1", "total > 3", "{d}",
         "{k} in s", "len(s) > 2", "{k} not in {d}", "not {s}"]  # fmt: skip
LOOPS = ["for i, v in enumerate(x):", "for i, v in enumerate(x):",
         "for i in range(len(x)):\n    v = x[i]", "for i in range(k):\n    v = x[i]",
         "while i < k + 2:\n    i += 1\n    v = x[i % len(x)]"]  # fmt: skip
HELPERS = [
    ["def add(one, key, value):", "    one[key] = one.get(key, 0) + value"],
    ["def add(one, key, value):", "    if key in one:", "        one[key] += value",
     "    else:", "        one[key] = value"],
    ["def add(one, key, value):", "    for other in one.values():", "        value += other",
     "    one[key] = value"],
    ["def add(one, key, value):", "    if len(one) > 3:", "        one.clear()",
     "    one.setdefault(key, value)"],
]  # fmt: skip
PUT = ["def put(one, key):", "    if key not in one:", "        one.add(key)"]
RESULTS = ["d", "d", "d", "len(d)", "list(d)", "list(d.values())", "list(d.items())", "sorted(d)"]
RESULTS_OF_E = ["e", "e", "len(e)", "d is e", "list(e)"]
RESULTS_OF_S = ["s", "sorted(s)", "len(s)", "s | t", "sorted(s & t)", "(s, t)", "s is t"]


def tables_program(seed: int) -> Program:
    """The program of a seed, always the same."""
    rng = random.Random(seed)
    keys = rng.choice(["int", "int", "float", "float", "tuple"])
    kind = rng.choice(["count", "count", "number", "number", "list", "tuple", "array"])
    writer = _Writer(rng, keys, kind)
    return Program(writer.source(), writer.parameters(), seed)


class _Writer:
    """Writes one program."""

    def __init__(self, rng: random.Random, keys: str, kind: str) -> None:
        self.rng, self.keys, self.kind = rng, keys, kind
        self.about = rng.choice(["dicts", "dicts", "sets", "both"])

    def parameters(self) -> list[Argument]:
        count = Argument(
            "k", "integer", "int64", self.rng.choice(["scalar", "scalar", "scalar", "python"])
        )
        return [Argument("x", "vector", "float64"), count]

    def source(self) -> str:
        rng = self.rng
        lines = [
            "total, i, v, out = 0.0, 0, x[0], []",
            *self.filled(rng.choice(FIRST[self.kind]), True),
        ]
        lines += [*rng.choice(SECOND), *self.filled(rng.choice(SETS), True)]
        lines += self.filled(rng.choice(SECOND_SETS), True)
        for _ in range(rng.choice([1, 1, 2])):
            lines += self.loop()
        results = [rng.choice(RESULTS), rng.choice(RESULTS_OF_E), rng.choice(RESULTS_OF_S)]
        lines.append(f"return total, out, {', '.join(results)}")
        body = "\n".join(lines)
        helpers = [*rng.choice(HELPERS)] if "add(d" in body or "add(e" in body else []
        helpers += PUT if "put(" in body else []
        return "\n".join(["def program(x, k):", *indented(helpers), *indented(lines), ""])

    def loop(self) -> list[str]:
        head = self.rng.choice(LOOPS).split("\n")
        count = self.rng.choice([1, 2, 2, 3])
        return [*head, *indented([line for _ in range(count) for line in self.statement(1)])]

    def statement(self, depth: int) -> list[str]:
        if depth and self.rng.random() < 0.3:
            then, other = self.statement(depth - 1), self.statement(depth - 1)
            lines = [*self.filled([f"if {self.rng.choice(TESTS)}:"]), *indented(then)]
            if self.rng.random() < 0.5:
                lines += ["else:", *indented(other)]
            elif self.rng.random() < 0.2:
                lines += indented([self.rng.choice(["break", "continue"])])
            return lines
        if self.rng.random() < 0.25:
            forms = READS + READS_OF[self.kind] * 2
        else:
            of_dicts = CHANGES + OF[self.kind] * 3
            forms = {"dicts": of_dicts, "sets": OF_SETS, "both": of_dicts + OF_SETS}[self.about]
        return self.filled(self.rng.choice(forms))

    def filled(self, lines: list[str], first: bool = False) -> list[str]:
        """Lines with all that is left open in their templates; the first ones, where no dict is."""
        rng, text = self.rng, "\n".join(lines)
        key, other = rng.choice(KEYS[self.keys]), rng.choice(KEYS[self.keys])
        value, second = rng.choice(VALUES[self.kind]), rng.choice(VALUES[self.kind])
        chosen = {"a": rng.choice(TESTS_OF_KEYS[self.keys]).replace("{a}", "a"),
                  "n": rng.choice(["1.0", "v", "0.5", "len(s)"]), "k": key, "l": other, "v": value,
                  "w": second}  # fmt: skip
        for name, part in chosen.items():
            text = text.replace("{" + name + "}", part)
        if first:
            text = text.replace("len({d})", "3").replace("len(s)", "2")
        text = text.replace("{d}", "d" if first else rng.choice(["d", "d", "d", "d", "e"]))
        text = text.replace("{s}", rng.choice(["s", "s", "s", "t"]))
        return text.replace("{{", "{").replace("}}", "}").split("\n")
