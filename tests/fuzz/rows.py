"""Random programs about lists of lists of different lengths, which only the run knows.

    program = rows_program(7)

Lists in a list grow, shrink, change places and get names, in loops and branches.
"""

import random

from tests.fuzz.generator import Argument, Program, indented

FIRST = [
    ["rows = [[] for _ in range(k + 2)]"], ["rows = [[] for _ in range(len(x))]"],
    ["rows = [[0.5] for _ in range(k + 1)]"], ["rows = [[1.0], [x[0], x[1]], []]"],
    ["rows = []", "for j in range(k + 2):", "    rows.append([x[m] for m in range(j)])"],
    ["rows = [[v] * 2 for v in x]"], ["rows = [[x[0]]]"], ["rows = [[], []]"],
    ["rows = [[] for _ in range(9)]"], ["rows = [[]] * 8"], ["rows = [[1.0], [2.0]] * 4"],
    ["rows = [[x[j]] for j in range(3)] + [[]]"],
]  # fmt: skip
PARTS = [["part, last = [], []"], ["part = []", "last = part"], ["last, part = [], [x[0]]"]]
PLACES = ["i % len(rows)", "i % len(rows)", "k % len(rows)", "int(abs(v)) % len(rows)", "0", "-1"]
VALUES = ["v", "v * 2", "x[0]", "1.5", "total", "float(len(rows[{p}]))"]
CHANGES = [
    ["rows[{p}].append({v})"], ["rows[{p}].append({v})"], ["rows[{p}].append({v})"],
    ["rows[{p}].extend([{v}, {w}])"], ["rows[{p}] += [{v}]"], ["rows[{p}].insert(0, {v})"],
    ["rows[{p}].insert(1, {v})"], ["rows[{p}] = [{v}]"], ["rows[{p}] = []"],
    ["rows[{p}] = rows[{q}] + [{v}]"], ["rows[{p}] = rows[{p}][1:]"], ["rows[{p}].clear()"],
    ["rows[{p}] = rows[{q}][::-1]"], ["rows[{p}].reverse()"], ["rows[{p}].sort()"],
    ["rows.append([{v}])"], ["rows.append([])"], ["rows.append(rows[{p}][:])"],
    ["rows.insert(0, [{v}, {w}])"], ["rows.reverse()"],
    ["rows[{p}], rows[{q}] = rows[{q}], rows[{p}]"],
    ["row = rows[{p}]", "row.append({v})"],
    ["row = rows[{p}]", "row.append({v})", "row.append({w})"],
    ["if len(rows) > 2:", "    rows.pop()"], ["if len(rows) > 2:", "    total += len(rows.pop(0))"],
    ["if rows[{p}]:", "    rows[{p}].pop()"], ["if rows[{p}]:", "    total += rows[{p}].pop(0)"],
    ["if rows[{p}]:", "    total += rows[{p}].pop()"], ["if rows[{p}]:", "    del rows[{p}][0]"],
    ["if rows[{p}]:", "    rows[{p}][0] = {v}"], ["if rows[{p}]:", "    rows[{p}][-1] += {v}"],
    ["if len(rows[{p}]) > 1:", "    rows[{p}][1] *= 2"],
    ["part.append({v})"], ["part.append({v})"], ["part += [{v}, {w}]"], ["part = [{v}]"],
    ["rows.append(part)", "part = []"], ["rows.append(part)", "part = [{v}]"],
    ["if len(part) > 1:", "    rows.append(part)", "    part = []"],
    ["if len(part) > 2:", "    rows[{p}] = part", "    part = []"], ["last = part"],
    ["rows[{p}] = rows[{q}]"], ["part = rows[{p}]"], ["rows = rows + [rows[{q}]]"],
    ["last.append({v})"], ["rows = [rows[{p}], rows[{q}][:]]"],
    ["while len(rows[{p}]) > 2:", "    rows[{q}].append(rows[{p}].pop())", "    if {q} == {p}:",
     "        break"],
]  # fmt: skip
READS = [
    ["total += sum(rows[{p}])"], ["total += len(rows[{p}])"],
    ["for w in rows[{p}]:", "    total += w"], ["for r in rows:", "    total += len(r)"],
    ["for r in rows:", "    for w in r:", "        total += w"],
    ["total += max(rows[{p}], default=0.0)"], ["total += rows[{p}][0] if rows[{p}] else 0.5"],
    ["total += sum([len(r) for r in rows])"], ["total += len([w for r in rows for w in r])"],
    ["if {v} in rows[{p}]:", "    total += 1.0"], ["total += np.array([0.0] + rows[{p}]).sum()"],
    ["copies = [r[:] for r in rows]", "copies[{p}].append({v})", "total += len(copies[{p}])"],
    ["best = rows[0]", "for r in rows:", "    if len(r) > len(best):", "        best = r",
     "total += len(best)"],
]  # fmt: skip
TESTS = ["v > 0", "i % 2 == 0", "len(rows[{p}]) > 1", "rows[{p}]", "k > 1", "total > 3"]
LOOPS = ["for i, v in enumerate(x):", "for i in range(len(x)):\n    v = x[i]",
         "for i in range(k):\n    v = x[i]",
         "while i < k + 2:\n    i += 1\n    v = x[i % len(x)]"]  # fmt: skip
RESULTS = ["rows", "[len(r) for r in rows]", "len(rows)", "[w for r in rows for w in r]", "rows[0]"]


def rows_program(seed: int) -> Program:
    """The program of a seed, always the same."""
    rng = random.Random(seed)
    lines = [*rng.choice(FIRST), *rng.choice(PARTS), "total, i, v = 0.0, 0, x[0]"]
    for _ in range(rng.choice([1, 1, 2])):
        lines += _loop(rng)
    lines.append(f"return total, {rng.choice(RESULTS)}, part, len(last)")
    source = "\n".join(["def program(x, k):", *indented(lines), ""])
    count = Argument("k", "integer", "int64", rng.choice(["array", "scalar", "scalar"]))
    return Program(source, [Argument("x", "vector", "float64"), count], seed)


def _loop(rng: random.Random) -> list[str]:
    head = rng.choice(LOOPS).split("\n")
    body = [line for _ in range(rng.choice([1, 2, 3])) for line in _statement(rng, 1)]
    return [*head, *indented(body)]


def _statement(rng: random.Random, depth: int) -> list[str]:
    if depth and rng.random() < 0.3:
        then, other = _statement(rng, depth - 1), _statement(rng, depth - 1)
        lines = [f"if {rng.choice(TESTS)}:", *indented(then)]
        lines += ["else:", *indented(other)] if rng.random() < 0.5 else []
    else:
        lines = rng.choice(READS if rng.random() < 0.25 else CHANGES)
    text = "\n".join(lines)
    for name in "vw":
        text = text.replace("{" + name + "}", rng.choice(VALUES))
    for name in "pq":
        text = text.replace("{" + name + "}", rng.choice(PLACES))
    return text.split("\n")
