"""Dicts and sets whose keys are computed: counting, grouping, looking up what was seen."""

import collections

import numpy as np

INTEGERS = "integers"
KEYS = "what is compared as a key jumps"
AS_MANY = "as many elements as the values say"

NO_GRADIENT = {
    "counted_by_value": INTEGERS,
    "first_that_comes_again": INTEGERS,
    "most_common_values": INTEGERS,
    "positions_of_values": INTEGERS,
    "distinct_values": KEYS,
    "cells_that_are_visited": INTEGERS,
    "common_and_different": INTEGERS,
    "ranks_of_values": INTEGERS,
    "known_names_and_more": INTEGERS,
    "life_of_cells_in_a_set": INTEGERS,
    "longest_part_without_repetition": INTEGERS,
    "in_the_order_of_counts": INTEGERS,
    "roots_of_linked_cells": INTEGERS,
    "sums_of_groups": AS_MANY,
    "product_of_sparse_polynomials": KEYS,
}
NO_VMAP = {
    name: AS_MANY
    for name in (
        "counted_by_value", "most_common_values", "positions_of_values", "distinct_values",
        "common_and_different", "sums_of_groups", "in_the_order_of_counts",
    )
}  # fmt: skip


def counted_by_value(x):
    counts = {}
    for v in x:
        k = int(v)
        counts[k] = counts.get(k, 0) + 1
    return counts


def first_that_comes_again(x):
    seen = set()
    for i, v in enumerate(x):
        k = int(v * 2) % 4
        if k in seen:
            return i
        seen.add(k)
    return -1


def most_common_values(x):
    counts = collections.Counter(int(v) for v in x)
    return counts.most_common(2), counts.total(), counts[99]


def positions_of_values(x):
    places = collections.defaultdict(list)
    for i, v in enumerate(x):
        places[int(v)].append(i)
    return places, len(places)


def sums_of_groups(x, y):
    groups = {}
    for v, w in zip(x, y):
        groups.setdefault(int(v) % 3, []).append(w * v)
    return [sum(groups[k]) for k in sorted(groups)]


def distinct_values(x):
    return {np.floor(v) for v in x if v > 0}


def weights_by_bin(x, y):
    weights = {}
    for v, w in zip(x, y):
        k = int(v)
        if k not in weights:
            weights[k] = 0.0
        weights[k] += w * w
    return max(weights.values()), sum(weights.values())


def squares_kept_for_later(x, s):
    memo, total = {}, 0.0
    for v in x:
        k = int(v) % 3
        if k not in memo:
            memo[k] = s * s + k
        total += memo[k] * v
    return total


def cells_that_are_visited(x):
    visited, i, j = {(0, 0)}, 0, 0
    for v in x:
        if v > 0:
            i += 1
        else:
            j -= int(v) % 2
        visited.add((i, j))
    return len(visited), (1, 0) in visited


def common_and_different(x, y):
    a, b = {int(v) for v in x}, {int(v) for v in y}
    return a | b, a & b, a - b, sorted(a ^ b), a <= b


def product_of_sparse_polynomials(x, y):
    left = {int(v) % 3: v for v in x}
    right = {int(v) % 2: v for v in y}
    product = {}
    for p, a in left.items():
        for q, b in right.items():
            product[p + q] = product.get(p + q, 0.0) + a * b
    return product.get(0, 0.0) + product.get(1, 0.0) + 2 * product.get(3, 0.0)


def entries_of_a_sparse_matrix(w, x):
    entries = {}
    for i in range(len(w)):
        for j in range(w.shape[1]):
            if w[i, j] > 0:
                entries[i, j] = w[i, j]
    y = np.zeros(len(w))
    for (i, j), value in entries.items():
        y[i] += value * x[j % len(x)]
    return y


def ranks_of_values(x):
    rank = {v: i for i, v in enumerate(sorted(set(x)))}
    return [rank[v] for v in x]


def life_of_cells_in_a_set(x):
    cells = {(i, int(v) % 2) for i, v in enumerate(x)}
    near = collections.Counter(
        (i + a, j + b) for i, j in sorted(cells) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b
    )
    return len([c for c, n in near.items() if n == 3 or n == 2 and c in cells])


def longest_part_without_repetition(x):
    last, start, best = {}, 0, 0
    for i, v in enumerate(x):
        k = int(v)
        if k in last and last[k] >= start:
            start = last[k] + 1
        last[k] = i
        best = max(best, i - start + 1)
    return best


def in_the_order_of_counts(x):
    counts = collections.Counter(int(v) for v in x)
    del counts[0]
    return sorted(counts, key=lambda k: (-counts[k], k)), sorted(counts.items())


def known_names_and_more(x):
    """A copy of known elements gets others."""
    known = {0, 1}
    seen = known.copy() | {2}
    names = {0: 1.0, 1: 2.0}.copy()
    for v in x:
        k = int(v)
        seen.add(k)
        names[k] = names.get(k, 0.5) * 2
    return len(seen - known), sum(names.values())


def roots_of_linked_cells(x):
    parent = {}
    for i, v in enumerate(x):
        parent.setdefault(i, i)
        j = int(abs(v)) % (i + 1)
        while parent[j] != j:
            j = parent[j]
        parent[i] = j
    return len([i for i in parent if parent[i] == i])


def missing_key_of_the_run(x, s):
    table = {int(v): v for v in x}
    try:
        return table[int(s)] * 2
    except KeyError:
        return s * 3


def last_ones_by_name(x, s):
    latest = {}
    for v in x:
        k = int(v) % 3
        latest.pop(k, None)
        latest[k] = v * s
    first, value = 0, 0.0
    while len(latest) > 1:
        first, value = latest.popitem()
    return value + first
