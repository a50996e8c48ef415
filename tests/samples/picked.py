"""Containers that a run-time index, key or condition picks, and that are then changed."""

from dataclasses import dataclass

import numpy as np

NO_GRADIENT = {
    "counted_by_class": "counts",
    "dicts_changed_in_place": "counts",
    "neighbours_of_a_graph": "integers",
    "buckets_returned": "lists of run-time length",
    "one_of_three_lists": "lists of run-time length",
}
NO_VMAP = {
    "buckets_returned": "lists of different lengths",
    "one_of_three_lists": "lists of different lengths",
}


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.moves = []

    def move(self, amount):
        self.balance += amount
        self.moves.append(amount)


@dataclass
class Particle:
    place: float
    hits: int = 0

    def push(self, step):
        self.place += step


def _append_to(rows, value):
    rows.append(value)


def buckets_returned(x):
    buckets = [[], []]
    for v in x:
        buckets[0 if v > 0.5 else 1].append(v)
    return buckets


def buckets_summed(x):
    buckets = [[] for _ in range(3)]
    for v in x:
        buckets[int(v > 0) + int(v > 1)].append(v * v)
    return sum(buckets[0]) + 2 * sum(buckets[1]) + 3 * sum(buckets[2]), len(buckets[0])


def bucket_by_negative_index(x, k):
    rows = [[1.0], [2.0]]
    rows[-1 - int(k) % 2].append(x[0])
    rows[int(k) % 2][0] *= x[1]
    return sum(rows[0]), sum(rows[1]), len(rows[0])


def bucket_out_of_range(x, xi):
    rows, failed = [[0.0], [1.0]], 0
    for v, i in zip(x, xi, strict=True):
        try:
            rows[int(i)].append(v)
        except IndexError:
            failed += 1
    return sum(rows[0]), sum(rows[1]), failed


def element_of_a_picked_row(x, xi):
    rows = [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    for v, i in zip(x, xi, strict=True):
        row = rows[int(i) % 3]
        row[int(i) % 2] += v
        rows[int(i) % 2][-1] -= 0.5 * v
    return np.array(rows)


def alias_of_a_picked_row(x, k):
    first, second = [x[0]], [x[1]]
    rows = [first, second]
    row = rows[int(k) % 2]
    rows[0] = [100.0]
    row.append(7.0)
    row[0] = row[0] * 2
    return sum(first), sum(second), len(first), sum(rows[0])


def one_of_two_lists(x):
    low, high = [0.0], [0.0]
    for v in x:
        side = high if v > 0 else low
        side.append(v)
        side[0] += v * v
    return sum(low), sum(high), len(high)


def one_of_three_lists(x):
    low, middle, high = [], [], []
    for v in x:
        side = middle
        if v > 1:
            side = high
        elif v < -1:
            side = low
        side += [v]
        side.append(-v)
    return low, middle, high


def list_kept_from_turn_to_turn(x):
    rising, falling = [], []
    run = rising
    for v in x:
        run.append(v)
        run = falling if len(run) > 2 else rising
    return sum(rising) * 2 + sum(falling), len(run)


def list_that_is_none_at_first(x):
    up, down, current = [1.0], [2.0], None
    for v in x:
        if v > 1:
            current = up
        elif v < 0:
            current = down
        if current is not None:
            _append_to(current, v)
    return sum(up), sum(down), current is None


def new_list_or_an_old_one(x, s):
    old = [1.0, 2.0]
    rows = old if s > 0 else []
    rows.append(x[0])
    rows.insert(0, x[1])
    return sum(old), sum(rows), rows[-1]


def either_swapped(x, s):
    a, b = [x[0]], [x[1]]
    first, second = (a, b) if s > 0 else (b, a)
    first.append(10.0)
    second[0] = first[0] * second[0]
    return sum(a), sum(b)


def stacks_that_hand_over(x, xi):
    stacks = [[0.0], [1.0], [2.0]]
    for v, i in zip(x, xi, strict=True):
        k = int(i) % 3
        if len(stacks[k]) > 1 and v > 0:
            stacks[(k + 1) % 3].append(stacks[k].pop() * 2)
        else:
            stacks[k].append(v)
    return [sum(stack) for stack in stacks]


def methods_of_a_picked_list(x, k):
    rows = [[x[0], x[1]], [3.0, x[0], 1.0]]
    i = int(k) % 2
    rows[i].reverse()
    rows[1 - i].extend([x[1], 5.0])
    rows[i] += [float(np.sin(x[0]))]
    del rows[i][0]
    rows[1 - i].pop(0)
    return sum(rows[0]), sum(rows[1]), rows[0][-1], rows[1][0]


def grid_of_buckets(x, xi):
    grid = [[[], []], [[], []]]
    for v, i in zip(x, xi, strict=True):
        grid[int(i) % 2][0 if v > 0 else 1].append(v)
    return sum(grid[0][0]) + 2 * sum(grid[0][1]) + 3 * sum(grid[1][0]) + 4 * sum(grid[1][1])


def lists_in_a_dict(x, xi):
    sides, rest = {"low": [], "high": []}, {0: [1.0], 1: [2.0]}
    for v, i in zip(x, xi, strict=True):
        sides["high" if v > 0 else "low"].append(v)
        rest[int(i) % 2].append(v)
    return sum(sides["low"]), sum(sides["high"]), sum(rest[1]), len(rest[0])


def dicts_in_a_list(x, xi):
    groups = [{"n": 0, "sum": 0.0}, {"n": 0, "sum": 1.0}]
    for v, i in zip(x, xi, strict=True):
        group = groups[int(i) % 2]
        group["n"] += 1
        group["sum"] = group["sum"] / 2 + v
    return groups


def counted_by_class(xi):
    table = {0: {"n": 0}, 1: {"n": 5}, 2: {"n": 7}}
    for i in xi:
        table[int(i) % 3]["n"] += 1
    return table


def objects_in_a_list(x, xi):
    accounts = [Account(0.0), Account(1.0)]
    for v, i in zip(x, xi, strict=True):
        account = accounts[int(i) % 2]
        account.move(v)
        accounts[1 - int(i) % 2].balance *= 0.5
    return [a.balance for a in accounts], sum(accounts[0].moves)


def dataclasses_in_a_list(x, xi):
    particles = [Particle(0.0), Particle(1.0), Particle(2.0)]
    for v, i in zip(x, xi, strict=True):
        particles[int(i) % 3].push(v)
        particles[int(i) % 3].hits += 1
    return particles


def neighbours_of_a_graph(xi):
    near = [[] for _ in range(4)]
    for i in range(len(xi) - 1):
        a, b = int(xi[i]) % 4, int(xi[i + 1]) % 4
        near[a].append(b)
        near[b].append(a)
    total = 0
    for node in near[int(xi[0]) % 4]:
        total = total * 3 % 1000 + node
    return total, [len(row) for row in near]


def dicts_changed_in_place(xi):
    totals = [{"n": 1}, {"n": 2}]
    first = totals[0]
    for i in xi:
        totals[int(i) % 2] |= {"n": int(i)}
    return totals, first
