"""Dicts and sets of what the numbers are: counting, grouping, remembering."""

from collections import Counter

import numpy as np


def mutual_information(x, y, width):
    """How much two samples tell of each other, in nats, from the counts of pairs of bins."""
    joint, left, right = Counter(), Counter(), Counter()
    for a, b in zip(x, y, strict=True):
        i, j = int(a // width), int(b // width)
        joint[i, j] += 1
        left[i] += 1
        right[j] += 1
    n, total = len(x), 0.0
    for (i, j), count in joint.items():
        total += count / n * np.log(count * n / (left[i] * right[j]))
    return total


def lempel_ziv_codes(symbols):
    """The codes of a text (Lempel and Ziv, 1978): pairs of a known prefix and the next symbol."""
    known, codes, prefix = {}, [], 0
    for symbol in symbols:
        if (prefix, symbol) in known:
            prefix = known[prefix, symbol]
        else:
            codes.append((prefix, symbol))
            known[prefix, symbol] = len(known) + 1
            prefix = 0
    return codes, prefix


def longest_collatz(n):
    """The start below n with the longest way to 1, and its length; lengths once found are kept."""
    length = {1: 1}
    for start in range(2, n):
        k, steps = start, 0
        while k not in length:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        length[start] = length[k] + steps
    best = max(length, key=length.get)
    return best, length[best]


def assembled_product(springs, stiffness, x):
    """A stiffness matrix, put together entry by entry as its springs come, times a vector."""
    entries = {}
    for (a, b), s in zip(springs, stiffness, strict=True):
        for i, j, v in ((a, a, s), (b, b, s), (a, b, -s), (b, a, -s)):
            entries[i, j] = entries.get((i, j), 0.0) + v
    y = np.zeros(len(x))
    for (i, j), v in entries.items():
        y[i] += v * x[j]
    return y


def cluster_sizes(grid):
    """The sizes of the clusters of occupied cells, largest first (labels joined as by Hoshen and
    Kopelman)."""
    parent, size = {}, {}
    n, m = grid.shape
    for i in range(n):
        for j in range(m):
            if not grid[i, j]:
                continue
            cell = i * m + j
            parent[cell], size[cell] = cell, 1
            for other in (cell - m, cell - 1):
                if other not in parent or other == cell - 1 and j == 0:
                    continue
                a, b = cell, other
                while parent[a] != a:
                    a = parent[a]
                while parent[b] != b:
                    b = parent[b]
                if a != b:
                    parent[a] = b
                    size[b] += size.pop(a)
    return sorted(size.values(), reverse=True)


def life_of_cells(cells, turns):
    """Conway's game on a plane without end: the living cells after some turns, in order."""
    living = set()
    for i, j in cells:
        living.add((i, j))
    for _ in range(turns):
        near = Counter()
        for i, j in sorted(living):
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    if a != 0 or b != 0:
                        near[i + a, j + b] += 1
        after = set()
        for cell, count in near.items():
            if count == 3 or count == 2 and cell in living:
                after.add(cell)
        living = after
    return sorted(living)


def pairs_closer_than(points, reach):
    """The number of pairs of points in a plane that are closer than a distance, by a hash grid."""
    cells, total = {}, 0
    for k in range(len(points)):
        i, j = int(points[k, 0] // reach), int(points[k, 1] // reach)
        for a in (i - 1, i, i + 1):
            for b in (j - 1, j, j + 1):
                for other in cells.get((a, b), []):
                    gap = points[other] - points[k]
                    if gap @ gap < reach * reach:
                        total += 1
        cells.setdefault((i, j), []).append(k)
    return total
