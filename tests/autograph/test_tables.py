"""Dicts and sets whose keys only the run knows.

Each program does under Python what it says; staged, it does the same: equal keys and values, in the
same order.
"""

import collections
import copy
import inspect
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.autograph.operators.listed import Listed
from graphify.errors import GraphifyError, TraceError


def arguments(seed: int) -> dict[str, Any]:
    """By the names of parameters; of other sizes for other seeds."""
    rng = np.random.default_rng(seed)
    n, m = [(6, 12), (6, 12), (4, 9), (8, 17)][seed]
    return {
        "x": np.round(rng.normal(size=m) * 2) / 2, "y": np.round(rng.normal(size=m) * 2) / 2,
        "k": rng.integers(0, 7, size=m), "big": rng.integers(10, 10_000, size=m),
        "edges": rng.integers(0, n, size=(m, 2)), "w": rng.integers(0, 3, size=(n, 3)),
        "cells": rng.integers(0, 4, size=(m, 2)), "flags": rng.random(m) < 0.5,
        "n": np.int64(n), "s": np.int64(2), "target": np.float64(1.5), "total": np.int64(7),
        "c": np.int64(3),
    }  # fmt: skip


# --- programs ------------------------------------------------------------------------------------


def two_sum(k, total):
    seen = {}
    for i, v in enumerate(k):
        if total - v in seen:
            return seen[total - v], i
        seen[v] = i
    return -1, -1


def all_pairs(k, total):
    seen = {}
    pairs = []
    for i, v in enumerate(k):
        for j in seen.get(total - v, []):
            pairs.append((j, i))
        seen.setdefault(v, []).append(i)
    return pairs


def histogram(x):
    counts = Counter(x)
    return counts, counts.most_common(2), counts.total(), counts[99.0]


def histogram_of_bins(x):
    bins = {}
    for v in x:
        b = int(np.floor(v / 0.75))
        bins[b] = bins.get(b, 0) + 1
    return [(b, bins[b]) for b in sorted(bins)]


def mode(k):
    counts = {}
    for v in k:
        counts[v] = counts.get(v, 0) + 1
    best, most = -1, 0
    for v, c in counts.items():
        if c > most:
            best, most = v, c
    return best, most


def modes(k):
    counts = Counter(k)
    most = max(counts.values())
    return sorted([v for v, c in counts.items() if c == most])


def first_duplicate(k):
    seen = set()
    for v in k:
        if v in seen:
            return v
        seen.add(v)
    return -1


def duplicates(k):
    seen, twice = set(), set()
    for v in k:
        if v in seen:
            twice.add(v)
        else:
            seen.add(v)
    return sorted(twice), len(seen), seen


def without_duplicates(x):
    seen = set()
    out = []
    for v in x:
        if v not in seen:
            seen.add(v)
            out.append(v)
    return np.array(out)


def in_order_of_first(x):
    return list(dict.fromkeys(x))


def grouped(x, k):
    groups = defaultdict(list)
    for v, c in zip(x, k):
        groups[c].append(v)
    return groups, {c: sum(g) / len(g) for c, g in groups.items()}


def grouped_by_sign(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault(np.sign(v), []).append(i)
    return groups


def group_means(x, k):
    sums, counts = defaultdict(float), defaultdict(int)
    for v, c in zip(x, k):
        sums[c] += v
        counts[c] += 1
    means = np.zeros(len(sums))
    for i, c in enumerate(sorted(sums)):
        means[i] = sums[c] / counts[c]
    return means


def running_stats(x, k):
    stats = {}
    for v, c in zip(x, k):
        count, mean = stats.get(c, (0, 0.0))
        stats[c] = (count + 1, mean + (v - mean) / (count + 1))
    return stats


def collatz_with_memo(n):
    memo = {1: 0}
    for i in range(2, n):
        v, steps = i, 0
        while v not in memo:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            steps += 1
        memo[i] = memo[v] + steps
    return max(memo, key=memo.get), max(memo.values()), memo


def collatz_paths(n):
    memo = {1: 1}
    for i in range(2, n):
        path = []
        v = i
        while v not in memo:
            path.append(v)
            v = v // 2 if v % 2 == 0 else 3 * v + 1
        steps = memo[v]
        while path:
            steps += 1
            memo[path.pop()] = steps
    return memo


def fibonacci_in_a_dict(n):
    f = {0: 0, 1: 1}
    for i in range(2, n + 1):
        f[i] = f[i - 1] + f[i - 2]
    return f[n], f


def change_with_memo(n):
    ways = {0: 1}
    for coin in (1, 2, 5):
        for amount in range(coin, n + 1):
            ways[amount] = ways.get(amount, 0) + ways.get(amount - coin, 0)
    return ways[n]


def longest_increasing_by_one(k):
    best = {}
    for v in k:
        best[v] = max(best.get(v, 0), best.get(v - 1, 0) + 1)
    return max(best.values()), best


def longest_consecutive(k):
    values = set(k)
    best = 0
    for v in k:
        if v - 1 not in values:
            end = v
            while end in values:
                end += 1
            best = max(best, end - v)
    return best


def longest_window_without_repeats(k):
    last = {}
    start = best = 0
    for i, v in enumerate(k):
        if v in last and last[v] >= start:
            start = last[v] + 1
        last[v] = i
        best = max(best, i - start + 1)
    return best


def window_with_few_kinds(k):
    counts = {}
    start = best = 0
    for end, v in enumerate(k):
        counts[v] = counts.get(v, 0) + 1
        while len(counts) > 2:
            gone = k[start]
            counts[gone] -= 1
            if counts[gone] == 0:
                del counts[gone]
            start += 1
        best = max(best, end - start + 1)
    return best, counts


def sums_of_subarrays(k, total):
    counts = {0: 1}
    running = hits = 0
    for v in k:
        running += v
        hits += counts.get(running - total, 0)
        counts[running] = counts.get(running, 0) + 1
    return hits


def balanced_stretch(flags):
    first = {0: -1}
    level = best = 0
    for i in range(len(flags)):
        level += 1 if flags[i] else -1
        if level in first:
            best = max(best, i - first[level])
        else:
            first[level] = i
    return best, first


def sparse_matrix(edges, x):
    entries = {}
    for (i, j), v in zip(edges, x):
        entries[i, j] = entries.get((i, j), 0.0) + v
    return entries


def sparse_times_vector(edges, x, n):
    entries = {}
    for e in range(len(edges)):
        i, j = edges[e]
        entries[i, j] = entries.get((i, j), 0.0) + x[e]
    out = np.zeros(n)
    for (i, j), v in entries.items():
        out[i] += v * (j + 1)
    return out


def sparse_transposed(edges, x):
    entries = {}
    for e in range(len(edges)):
        entries[edges[e, 0], edges[e, 1]] = x[e]
    turned = {(j, i): v for (i, j), v in entries.items()}
    diagonal = sum([v for (i, j), v in entries.items() if i == j])
    return turned, diagonal, sorted(turned)


def sparse_product(edges, k):
    a, b = {}, {}
    for e in range(len(edges)):
        a[edges[e, 0], edges[e, 1]] = k[e]
        b[edges[e, 1], edges[e, 0]] = k[e] + 1
    out = {}
    for (i, j), v in a.items():
        for (p, q), w in b.items():
            if j == p:
                out[i, q] = out.get((i, q), 0) + v * w
    return out


def polynomial_product(k, c):
    one, out = {}, {}
    for i, v in enumerate(k):
        if v != 0:
            one[i % c] = v
    for i, v in one.items():
        for j, w in one.items():
            out[i + j] = out.get(i + j, 0) + v * w
    return out


def union_find(edges):
    parent = {}

    def find(u):
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        return u

    joined = 0
    for u, v in edges:
        parent.setdefault(u, u)
        parent.setdefault(v, v)
        a, b = find(u), find(v)
        if a != b:
            parent[a] = b
            joined += 1
    return joined, len({find(u) for u in sorted(parent)}), sorted(parent)


def bfs_distances(edges, s):
    near = defaultdict(list)
    for u, v in edges:
        near[u].append(v)
        near[v].append(u)
    dist = {s: 0}
    queue = [s]
    while queue:
        u = queue.pop(0)
        for v in near[u]:
            if v not in dist:
                dist[v] = dist[u] + 1
                queue.append(v)
    return dist


def bfs_by_frontiers(edges, s):
    visited = {s}
    frontier = {s}
    sizes = []
    while frontier:
        sizes.append(len(frontier))
        further = set()
        for u in sorted(frontier):
            for a, b in edges:
                if a == u and b not in visited:
                    further.add(b)
        visited |= further
        frontier = further
    return sizes, sorted(visited), visited


def degrees(edges):
    degree = Counter()
    for u, v in edges:
        degree[u] += 1
        degree[v] += 1
    return degree, max(degree, key=degree.get)


def topological_order(edges):
    incoming, out = {}, {}
    for u, v in edges:
        if u < v:
            incoming[v] = incoming.get(v, 0) + 1
            incoming.setdefault(u, 0)
            out.setdefault(u, []).append(v)
    ready = sorted([u for u, c in incoming.items() if c == 0])
    order = []
    while ready:
        u = ready.pop(0)
        order.append(u)
        for v in out.get(u, []):
            incoming[v] -= 1
            if incoming[v] == 0:
                ready.append(v)
    return order


def components(edges):
    label = {}
    for u, v in edges:
        label.setdefault(u, u)
        label.setdefault(v, v)
        old, new = label[u], label[v]
        for node in label:
            if label[node] == old:
                label[node] = new
    return label, len(set(label.values()))


def coloured(edges, n):
    colour = {}
    for u in range(n):
        taken = set()
        for a, b in edges:
            if a == u and b in colour:
                taken.add(colour[b])
            if b == u and a in colour:
                taken.add(colour[a])
        c = 0
        while c in taken:
            c += 1
        colour[u] = c
    return colour


def run_lengths(k):
    longest = {}
    i = 0
    while i < len(k):
        j = i
        while j < len(k) and k[j] == k[i]:
            j += 1
        longest[k[i]] = max(longest.get(k[i], 0), j - i)
        i = j
    return longest


def anagrams(big):
    classes = {}
    for v in big:
        digits = [0] * 3
        while v > 0:
            digits[v % 10 % 3] += 1
            v //= 10
        key = (digits[0], digits[1], digits[2])
        classes[key] = classes.get(key, 0) + 1
    return classes


def digit_counts(big):
    digits = Counter()
    for v in big:
        while v > 0:
            digits[v % 10] += 1
            v //= 10
    return digits, digits.most_common(3)


def happy(big):
    out = []
    for v in big:
        seen = set()
        while v != 1 and v not in seen:
            seen.add(v)
            squares = 0
            while v > 0:
                squares += (v % 10) ** 2
                v //= 10
            v = squares
        out.append(v == 1)
    return np.array(out)


def least_recently_used(k, c):
    cache = {}
    hits = 0
    for i, v in enumerate(k):
        if v in cache:
            hits += 1
            cache.pop(v)
        elif len(cache) == c:
            cache.pop(next(iter(cache)))
        cache[v] = i
    return hits, cache


def most_recently_used(k, c):
    cache = {}
    gone = []
    for i, v in enumerate(k):
        if v not in cache and len(cache) >= c:
            key, when = cache.popitem()
            gone.append((key, when))
        cache[v] = i
    return gone, cache


def least_frequently_used(k, c):
    uses = {}
    for v in k:
        if v not in uses and len(uses) == c:
            least = min(uses, key=uses.get)
            del uses[least]
        uses[v] = uses.get(v, 0) + 1
    return uses


def inverted_index(w):
    index = {}
    for doc in range(w.shape[0]):
        for j in range(w.shape[1]):
            where = index.setdefault(w[doc, j], [])
            if doc not in where:
                where.append(doc)
    return index, [len(index[term]) for term in sorted(index)]


def compressed(x):
    rank = {v: i for i, v in enumerate(sorted(set(x)))}
    return np.array([rank[v] for v in x]), rank


def ranks_with_ties(x):
    places = {}
    for i, v in enumerate(sorted(x)):
        places.setdefault(v, []).append(i + 1)
    means = {v: sum(p) / len(p) for v, p in places.items()}
    return np.array([means[v] for v in x])


def cycle_length(n, c):
    seen = {}
    v, step = n, 0
    while v not in seen:
        seen[v] = step
        v = (v * v + c) % 23
        step += 1
    return step - seen[v], seen[v], list(seen)


def period_of_decimals(c, total):
    remainders = {}
    rest, digits = c % total, []
    while rest != 0 and rest not in remainders:
        remainders[rest] = len(digits)
        digits.append(rest * 10 // total)
        rest = rest * 10 % total
    return digits, remainders.get(rest, -1)


def incremental_primes(n):
    found = []
    multiples = {}
    q = 2
    while len(found) < n:
        if q in multiples:
            for p in multiples.pop(q):
                multiples.setdefault(p + q, []).append(p)
        else:
            found.append(q)
            multiples[q * q] = [q]
        q += 1
    return found


def incremental_primes_of_numbers(n):
    found, ends = [], {}
    q = 2
    while len(found) < n:
        p = ends.pop(q, 0)
        if p == 0:
            ends[q * q] = q
            found.append(q)
        else:
            v = p + q
            while v in ends:
                v += p
            ends[v] = p
        q += 1
    return found


def prime_factors(big):
    out = []
    for v in big:
        powers = {}
        p = 2
        while p * p <= v:
            while v % p == 0:
                powers[p] = powers.get(p, 0) + 1
                v //= p
            p += 1
        if v > 1:
            powers[v] = powers.get(v, 0) + 1
        divisors = 1
        for power in powers.values():
            divisors *= power + 1
        out.append(divisors)
    return np.array(out)


def game_of_life(cells, s):
    alive = set()
    for i, j in cells:
        alive.add((i, j))
    for _ in range(s):
        near = {}
        for i, j in sorted(alive):
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di != 0 or dj != 0:
                        near[i + di, j + dj] = near.get((i + di, j + dj), 0) + 1
        following = set()
        for cell, count in near.items():
            if count == 3 or (count == 2 and cell in alive):
                following.add(cell)
        alive = following
    return len(alive), sorted(alive)


def random_walk(k):
    visited = {(0, 0)}
    i = j = 0
    for step in k:
        if step % 4 == 0:
            i += 1
        elif step % 4 == 1:
            j += 1
        elif step % 4 == 2:
            i -= 1
        else:
            j -= 1
        visited.add((i, j))
    return len(visited), visited


def islands(cells):
    land = {(i, j) for i, j in cells}
    count = 0
    while land:
        first = min(land)
        land.remove(first)
        stack = [first]
        count += 1
        while stack:
            i, j = stack.pop()
            for near in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if near in land:
                    land.remove(near)
                    stack.append(near)
    return count


def points_in_cells(x, y):
    grid = defaultdict(list)
    for i in range(len(x)):
        grid[int(np.floor(x[i])), int(np.floor(y[i]))].append(i)
    pairs = 0
    for members in grid.values():
        pairs += len(members) * (len(members) - 1) // 2
    return pairs, grid


def jaccard(x, y):
    a, b = set(x), set(y)
    return len(a & b) / len(a | b), sorted(a - b), sorted(a ^ b), a <= b, a.isdisjoint(b)


def set_algebra(k, c):
    a = {v for v in k if v < c}
    b = {v for v in k if v > 1}
    a |= {c}
    union = a | b
    a -= b
    return a, b, union, a == b, a < union, union >= b, a.issubset(union), sum(b), min(union)


def entropy(k):
    counts = Counter(k)
    out = 0.0
    for c in counts.values():
        p = c / len(k)
        out -= p * np.log(p)
    return out


def joint_counts(k, flags):
    counts = {}
    for v, flag in zip(k, flags):
        counts[v, flag] = counts.get((v, flag), 0) + 1
    return counts


def transitions(k):
    table = {}
    for i in range(len(k) - 1):
        row = table.setdefault(k[i], [])
        row.append(k[i + 1])
    return table, {v: len(row) for v, row in table.items()}


def merged(x, y):
    one = dict(zip(x, range(len(x))))
    other = {v: -i for i, v in enumerate(y)}
    both = one | other
    one.update(other)
    return both, one == both, len(other), list(one.items())


def spread(x, y):
    one = dict(zip(x, range(len(x))))
    other = {v: -i for i, v in enumerate(y)}
    return {**one, **other}, {0.25: 1, **one}


def counters_added(x, y):
    a, b = Counter(x), Counter(y)
    return a + b, a - b


def counter_updated(x, y):
    a = Counter(x)
    a.update(y)
    b = a.copy()
    b.subtract(x)
    return a, b


def counter_bounds(x, y):
    a, b = Counter(x), Counter(y)
    return a | b, a & b


def counters_compared(x):
    a, b = Counter(x), Counter(x)
    b[99.5] = 0
    return a == b, a != b


def counter_changed_in_place(x, y):
    a = Counter(x)
    b = a
    a += Counter(y)
    return a, b, a is b


def counter_listed(x):
    return sorted(Counter(x).elements())


def by_value(k):
    counts = Counter(k)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def keys_by_value(k):
    counts = Counter(k)
    return sorted(counts, key=counts.get, reverse=True)


def kept_or_begun_anew(x):
    seen = {}
    for i, v in enumerate(x):
        if v > 1.0:
            seen = {}
        seen[v] = i
    return seen


def swapped(k):
    one, other = {}, {}
    for i, v in enumerate(k):
        one[v] = i
        if v > 3:
            one, other = other, one
    return one, other


def compared_keys(x, y):
    one, other = {v: 0 for v in x}, {v: 0 for v in y}
    return one.keys() & other.keys(), one.keys() == other.keys(), one.keys() >= other.keys()


def keys_of_two_kinds(k, x):
    counts = {}
    for v in k:
        counts[v] = counts.get(v, 0) + 1
    hits = sum([1 for v in x if v in counts])
    return hits, 2.5 in counts, counts.get(x[0] + 0.25, -1), counts


def inverted(k):
    last = {v: i for i, v in enumerate(k)}
    return {i: v for v, i in last.items()}


def thinned(k):
    counts = Counter(k)
    for v in list(counts):
        if counts[v] < 2:
            del counts[v]
    return counts


def deleted_at_the_end(k):
    last = {}
    for i, v in enumerate(k):
        last[v] = i
    del last[k[0]]
    last[k[0]] = -1
    return last


def added_by_a_function(counts, v):
    if v in counts:
        counts[v] += 1
    else:
        counts[v] = 1
    return counts[v]


def counted_by_a_function(k):
    counts = {}
    most = 0
    for v in k:
        most = max(most, added_by_a_function(counts, v))
    return counts, most


class Memory:
    def __init__(self):
        self.known = {}
        self.asked = 0

    def square(self, v):
        self.asked += 1
        if v not in self.known:
            self.known[v] = v * v
        return self.known[v]


def memo_of_an_object(k):
    memory = Memory()
    out = [memory.square(v) for v in k]
    return out, memory.asked, memory.known


def two_names(k):
    counts = {}
    other = counts
    for i, v in enumerate(k):
        if i % 2 == 0:
            counts[v] = i
        else:
            other[v] = -i
    return counts, other, counts is other


def one_name_or_the_other(k):
    even, odd = {}, {}
    for i, v in enumerate(k):
        chosen = even if v % 2 == 0 else odd
        chosen[v] = i
    return even, odd


def in_a_list(k):
    counts = {}
    held = [counts, 1]
    for v in k:
        held[0][v] = counts.get(v, 0) + 1
    return counts, held


def in_a_dict(k):
    tables = {"even": {}, "odd": {}}
    for i, v in enumerate(k):
        if v % 2 == 0:
            tables["even"][v] = i
        else:
            tables["odd"][v] = i
    return tables


def copies(k):
    counts = {}
    for v in k:
        counts[v] = 1
    other = counts.copy()
    third = dict(counts)
    other[k[0]] = 5
    third[-1] = 6
    return counts, other, third, len(counts)


def made_in_each_turn(w):
    kinds = []
    for i in range(w.shape[0]):
        counts = {}
        for v in w[i]:
            counts[v] = counts.get(v, 0) + 1
        kinds.append(max(counts.values()) * 10 + len(counts))
    return np.array(kinds)


def vectors_in_a_dict(w, k):
    sums = {}
    for i in range(w.shape[0]):
        key = k[i] % 3
        sums[key] = sums.get(key, np.zeros(3)) + w[i]
    return sums


def sets_of_rows(w):
    return len({(row[0], row[1], row[2]) for row in w})


def nested_loops_over_items(k):
    counts = {}
    for v in k:
        counts[v] = counts.get(v, 0) + 1
    score = 0
    for a, b in counts.items():
        for c, d in counts.items():
            if a < c:
                score += b * d
    return score


def majority(k):
    counts = {}
    for v in k:
        counts[v] = counts.get(v, 0) + 1
        if 3 * counts[v] > len(k):
            return v, counts
    return -1, counts


def missing_and_repeated(k, n):
    counts = Counter(k)
    missing = [v for v in range(n) if v not in counts]
    repeated = [v for v in sorted(counts) if counts[v] > 1]
    return missing, repeated


def ordered_as_they_came(k):
    seen = OrderedDict()
    for i, v in enumerate(k):
        if v not in seen:
            seen[v] = i
    return list(seen.items())


def large_integers(c):
    seen = {2**53 + c}  # 2**53 + 3, which no float is
    return 2**53 + c in seen, float(2**53 + 4) in seen, len(seen)


def truth_of_tables(k, c):
    small, large = {}, set()
    for v in k:
        if v < 0:
            small[v] = 1
        if v > c:
            large.add(v)
    return bool(small), not large, 1 if large and not small else 2


Cell = collections.namedtuple("Cell", "row column")


def named_cells(cells):
    found = {}
    for i, (a, b) in enumerate(cells):
        found[Cell(a, b)] = i
    return found, (cells[0, 0], cells[0, 1]) in found


def known_counts_joined_with_others(k):
    known, found = Counter([1, 1, 1, 50]), Counter(k)
    return known | found, known + found, known & found, known - found, found - known


def proper_parts(k):
    whole, part = set(k), set(k[:1])
    return part < whole, whole > part, whole < whole, part > whole, {99} < whole


def items_looked_for(k):
    last = {v: i for i, v in enumerate(k)}
    return (k[0], 0) in last.items(), (k[-1], len(k) - 1) in last.items(), 3 in last.values()


HELPERS = ("arguments", "added_by_a_function")
PROGRAMS = [
    function
    for name, function in list(globals().items())
    if inspect.isfunction(function) and function.__module__ == __name__ and name not in HELPERS
]


def same(got: Any, want: Any) -> None:
    """Containers of equal classes, in the same order, of equal numbers of the same kind."""
    if isinstance(want, dict):
        assert type(got) is type(want)
        same(list(got), list(want))
        same(list(got.values()), list(want.values()))
    elif isinstance(want, (set, frozenset)):
        assert type(got) is type(want)
        same(sorted(got), sorted(want))
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want)
        assert len(got) == len(want), f"{got} is not {want}"
        for one, other in zip(got, want, strict=True):
            same(one, other)
    elif want is None or isinstance(want, str):
        assert got == want
    else:
        one, other = np.asarray(got), np.asarray(want)
        assert (one.dtype.kind, one.shape) == (other.dtype.kind, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-14 if one.dtype.kind == "f" else 0)


# These take seconds to compile.
LARGE = [union_find, game_of_life, bfs_distances, islands, bfs_by_frontiers]
ON_ENGINES = [
    pytest.param(p, e, marks=[pytest.mark.slow] * (e == "native" and p in LARGE))
    for p in PROGRAMS
    for e in ("reference", "native")
]


@pytest.mark.parametrize(("program", "engine"), ON_ENGINES, ids=lambda v: getattr(v, "__name__", v))
def test_as_in_plain_python(program: Callable[..., Any], engine: str) -> None:
    staged = graphify.function(program, dynamic=True, engine=engine)
    for seed in range(4):
        given = [arguments(seed)[name] for name in inspect.signature(program).parameters]
        same(staged(*given), program(*copy.deepcopy(given)))


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 60


def test_the_comparison_sees_what_differs() -> None:
    for got, want in [
        ({1: 2, 3: 4}, {3: 4, 1: 2}),
        ({1: 2}, Counter({1: 2})),
        ({1: 2}, {1.0: 2}),
        ({1, 2}, {1, 3}),
        ([1, 2], (1, 2)),
        ({1: [2]}, {1: [2, 3]}),
        ([1, 2], [1, 3]),
    ]:
        with pytest.raises(AssertionError):
            same(got, want)


@pytest.mark.tensorflow
@pytest.mark.parametrize("program", [histogram_of_bins, bfs_distances, first_duplicate])
def test_on_tensorflow(program: Callable[..., Any]) -> None:
    given = [arguments(0)[name] for name in inspect.signature(program).parameters]
    same(graphify.function(program, engine="tensorflow")(*given), program(*given))


# --- what is refused -----------------------------------------------------------------------------


def stairs_with_memo(n):
    memo = {}

    def ways(m):
        if m < 2:
            return 1
        if m not in memo:
            memo[m] = ways(m - 1) + ways(m - 2)
        return memo[m]

    return ways(n), len(memo)


def neighbours_in_sets(edges):
    near = defaultdict(set)
    for u, v in edges:
        near[u].add(v)
        near[v].add(u)
    triangles = 0
    for u in sorted(near):
        for v in sorted(near[u]):
            if u < v:
                triangles += len(near[u] & near[v])
    return triangles // 3


def rows_of_a_matrix(edges, x):
    rows = {}
    for e in range(len(edges)):
        rows.setdefault(edges[e, 0], {})[edges[e, 1]] = x[e]
    return rows


def vectors_changed_in_place(w, k):
    sums = {}
    for i in range(w.shape[0]):
        key = k[i] % 3
        if key not in sums:
            sums[key] = np.zeros(3)
        sums[key] += w[i]
    return sums


def renamed_on_the_way(k, c):
    counts = {}
    kept = counts
    for v in k:
        if len(counts) == c:
            counts = {}
        counts[v] = counts.get(v, 0) + 1
    return kept, counts


@pytest.mark.parametrize(
    "program",
    [
        stairs_with_memo,
        neighbours_in_sets,
        rows_of_a_matrix,
        vectors_changed_in_place,
        renamed_on_the_way,
    ],
    ids=lambda f: f.__name__,
)
def test_what_a_table_cannot_hold_is_refused(program: Callable[..., Any]) -> None:
    given = [arguments(0)[name] for name in inspect.signature(program).parameters]
    with pytest.raises(GraphifyError, match="remedy") as caught:
        graphify.function(program)(*given)
    assert "test_tables.py" in str(caught.value)


def test_names_are_no_keys_among_numbers() -> None:
    def counted(k):
        counts = Counter(k)
        counts.update(extra=2)
        return counts

    with pytest.raises(GraphifyError, match="'extra'"):
        graphify.function(counted)(np.array([1, 2, 1]))


def test_a_set_is_no_list() -> None:
    with pytest.raises(TypeError, match="not supported"):
        graphify.function(lambda k: set(k) < [1, 2])(np.array([1, 2, 1]))


# --- errors --------------------------------------------------------------------------------------


def read(k, c):
    last = {v: i for i, v in enumerate(k)}
    return last[c]  # reads


def deleted(k, c):
    last = {v: i for i, v in enumerate(k)}
    del last[c]  # deletes
    return last


def popped(k, c):
    last = {v: i for i, v in enumerate(k)}
    return last.pop(c)  # pops


def removed(k, c):
    seen = set(k)
    seen.remove(c)  # removes
    return seen


def read_in_a_loop(k, c):
    counts = {}
    for v in k:
        if v == c:
            counts[v + 100] += 1  # reads in a loop
        counts[v] = 1
    return counts


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("program", [read, deleted, popped, removed], ids=lambda f: f.__name__)
def test_a_key_that_is_not_there(program: Callable[..., Any], engine: str) -> None:
    staged = graphify.function(program, engine=engine)
    k = np.array([3, 1, 2, 1])
    same(staged(k, np.int64(2)), program(k, np.int64(2)))
    with pytest.raises(KeyError) as caught:
        staged(k, np.int64(17))
    assert caught.value.args == (17,)
    assert f"line {line_of(program, '# ')}" in shown(caught.value)


def line_of(program: Callable[..., Any], mark: str) -> int:
    lines, first = inspect.getsourcelines(program)
    return first + next(i for i, line in enumerate(lines) if mark in line)


def shown(error: BaseException) -> str:
    """The text of an error, with its notes and the lines of its traceback."""
    import traceback

    return "".join(traceback.format_exception(error)) + str(error)


def test_a_key_that_is_not_there_in_a_loop() -> None:
    staged = graphify.function(read_in_a_loop)
    same(staged(np.array([1, 2, 1]), np.int64(5)), {1: 1, 2: 1})
    with pytest.raises(KeyError) as caught:
        staged(np.array([1, 2, 1]), np.int64(2))
    assert caught.value.args == (102,)
    assert f"line {line_of(read_in_a_loop, '# reads in a loop')}" in shown(caught.value)


def caught_in_the_function(k, c):
    last = {v: i for i, v in enumerate(k)}
    try:
        return last[c]
    except KeyError:
        return -5


def tried_in_a_loop(k):
    counts = {}
    for v in k:
        try:
            counts[v] += 1
        except KeyError:
            counts[v] = 1
    return counts


def test_a_missing_key_is_caught() -> None:
    k = np.array([3, 1, 2, 1])
    staged = graphify.function(caught_in_the_function)
    assert [int(staged(k, np.int64(c))) for c in (1, 9)] == [3, -5]
    same(graphify.function(tried_in_a_loop)(k), {3: 1, 1: 2, 2: 1})


def test_popitem_of_an_empty_dict() -> None:
    def emptied(k):
        last = {v: i for i, v in enumerate(k)}
        for _ in range(3):
            last.popitem()
        return last

    staged = graphify.function(emptied)
    same(staged(np.array([3, 1, 2, 4, 1])), {3: 0})
    with pytest.raises(KeyError, match="popitem"):
        staged(np.array([3, 1, 1, 3, 1]))


def list_as_key(k):
    seen = set()
    seen.add(k[0])
    seen.add([k[0]])
    return seen


def array_as_key(k):
    counts = {}
    for v in k:
        counts[v] = 1
    counts[k] = 1
    return counts


def list_in_a_key(k):
    counts = {}
    counts[k[0]] = 1
    return counts.get((k[0], [k[1]]), 0)


@pytest.mark.parametrize("program", [list_as_key, array_as_key, list_in_a_key])
def test_what_has_no_hash(program: Callable[..., Any]) -> None:
    k = np.array([3, 1, 2])
    with pytest.raises(TypeError) as want:
        program(k)
    with pytest.raises(TypeError) as got:
        graphify.function(program)(k)
    assert str(want.value) in str(got.value)
    assert "test_tables.py" in shown(got.value)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_nan_is_no_key(engine: str) -> None:
    def counted(x):
        counts = {}
        for v in x:
            counts[v] = counts.get(v, 0) + 1
        return counts

    staged = graphify.function(counted, engine=engine)
    same(staged(np.array([1.5, 1.5, -0.0, 0.0])), {1.5: 2, 0.0: 2})
    with pytest.raises(TraceError, match="NaN") as caught:
        staged(np.array([1.5, np.nan, 2.0, 2.0]))
    assert "v == v" in str(caught.value)
    assert "test_tables.py" in str(caught.value)


def test_a_new_key_while_a_loop_goes_over_the_keys() -> None:
    def grown(k, c):
        counts = {}
        for v in k:
            counts[v] = 1
        for v in counts:
            counts[v % c] = v
        return counts

    staged = graphify.function(grown)
    k = np.array([0, 3, 1, 2])
    same(staged(k, np.int64(4)), grown(k, np.int64(4)))
    with pytest.raises(RuntimeError):
        grown(k + 1, np.int64(3))
    with pytest.raises(TraceError, match=r"list\(d\)"):
        staged(k + 1, np.int64(3))


def test_a_key_less_while_a_loop_goes_over_the_keys() -> None:
    def thinned(k):
        counts = {}
        for v in k:
            counts[v] = 1
        for v in counts:
            if v > 1:
                del counts[v]
        return counts

    with pytest.raises(GraphifyError, match=r"sorted\(d\)") as caught:
        graphify.function(thinned)(np.array([0, 3, 1, 2]))
    assert "del counts[v]" in str(caught.value)


def over_a_set(k):
    out = []
    for v in set(k):  # goes
        out.append(v)
    return out


def list_of_a_set(k):
    return list(set(k))  # goes


def popped_from_a_set(k):
    return set(k).pop()  # goes


def next_of_a_set(k):
    seen = {v for v in k}
    return next(iter(seen))  # goes


def printed(k):
    seen = {v for v in k}
    print(seen)  # goes
    return len(seen)


@pytest.mark.parametrize(
    "program", [over_a_set, list_of_a_set, popped_from_a_set, next_of_a_set, printed]
)
def test_the_order_of_a_set_is_not_told(program: Callable[..., Any]) -> None:
    with pytest.raises(GraphifyError, match="remedy") as caught:
        graphify.function(program)(np.array([5, 1, 3]))
    text = str(caught.value)
    assert f"line {line_of(program, '# goes')}" in text
    assert "sort" in text or "min" in text


def test_a_dict_from_outside_gets_no_keys_of_the_run() -> None:
    def counted(k, counts):
        for v in k:
            counts[v] = counts.get(v, 0) + 1
        return counts

    with pytest.raises(TraceError, match=r"dict\(counts\)"):
        graphify.function(counted)(np.array([1, 2, 1]), {1: 5})


# --- derivatives and lanes -----------------------------------------------------------------------


def assert_gradient(function: Callable[..., Any], x: Any, *rest: Any) -> None:
    gradient = np.asarray(graphify.function(graphify.grad(function))(x, *rest))
    assert gradient.shape == x.shape
    for i, step in enumerate(np.eye(len(x)) * 1e-6):
        slope = (function(x + step, *rest) - function(x - step, *rest)) / 2e-6
        np.testing.assert_allclose(gradient[i], slope, rtol=1e-6, atol=1e-8)
    assert np.any(gradient != 0)


def sums_of_groups(x, k):
    sums = {}
    for v, c in zip(x, k):
        sums[c] = sums.get(c, 0.0) + v * v
    return sum(sums.values()) + 3 * max(sums.values())


def squares_of_sums(x, k):
    sums = defaultdict(float)
    for v, c in zip(x, k):
        sums[c] += v
    out = 0.0
    for c, total in sums.items():
        out += total**2 * (c + 1)
    return out


def variance_within(x, k):
    groups = {}
    for v, c in zip(x, k):
        groups.setdefault(c, []).append(v)
    out = 0.0
    for group in groups.values():
        mean = sum(group) / len(group)
        out += sum([(v - mean) ** 2 for v in group])
    return out


def replaced_and_removed(x, k):
    last = {}
    for v, c in zip(x, k):
        if c in last:
            last[c] = last[c] * v
        else:
            last[c] = v
    out = last.pop(k[0])
    return out + 2 * sum([v**3 for v in last.values()])


@pytest.mark.parametrize(
    "program", [sums_of_groups, squares_of_sums, variance_within, replaced_and_removed]
)
def test_derivatives_of_values(program: Callable[..., Any]) -> None:
    rng = np.random.default_rng(3)
    x, k = rng.random(7) + 0.5, np.array([2, 0, 2, 1, 0, 2, 5])
    assert_gradient(program, x, k)
    eager, staged = graphify.grad(program), graphify.function(graphify.grad(program))
    same(np.asarray(staged(x, k)), np.asarray(eager(x, k)))


def least_key(x):
    d = {}
    for v in x:
        d[v * v] = d.get(v * v, 0.0) + v
    return min(d) * 3 + max(d.values())


def sum_of_squares(x):
    return sum({v * v for v in x})


def keys_times_values(x):
    d = {}
    for v in x:
        d[v] = v * v
    return sum([key * value for key, value in d.items()])


@pytest.mark.parametrize("program", [least_key, sum_of_squares, keys_times_values])
def test_derivatives_of_keys(program: Callable[..., Any]) -> None:
    assert_gradient(program, np.array([1.5, 0.5, 3.0, 2.0]))


def test_derivatives_of_equal_keys() -> None:
    """The key is the first that came, the value the last."""
    staged = graphify.function(graphify.grad(keys_times_values))
    same(np.asarray(staged(np.array([1.0, 2.0, 3.0, 2.0]))), np.array([3.0, 4.0, 27.0, 8.0]))


def distinct(k):
    return np.array(len(set(k)))


def counts_of_all(k):
    counts = {}
    for v in k:
        counts[v] = counts.get(v, 0) + 1
    return np.array([counts[v] for v in k])


def compressed_lane(x):
    rank = {v: i for i, v in enumerate(sorted(set(x)))}
    return np.array([rank[v] for v in x])


def sums_of_lanes(x, k):
    sums = {}
    for v, c in zip(x, k):
        sums[c] = sums.get(c, 0.0) + v
    out = np.zeros(7)
    for c, total in sums.items():
        out[c] = total
    return out


@pytest.mark.parametrize("program", [distinct, counts_of_all, compressed_lane])
def test_lanes(program: Callable[..., Any]) -> None:
    k = np.random.default_rng(0).integers(0, 7, size=(5, 8))
    got = np.asarray(graphify.vmap(program)(k))
    same(got, np.array([program(row) for row in k]))


def test_lanes_of_sums() -> None:
    rng = np.random.default_rng(1)
    k, x = rng.integers(0, 7, size=(5, 8)), rng.random((5, 8))
    got = np.asarray(graphify.vmap(sums_of_lanes)(x, k))
    same(got, np.array([sums_of_lanes(*pair) for pair in zip(x, k, strict=True)]))


def test_lanes_of_derivatives() -> None:
    rng = np.random.default_rng(2)
    k, x = rng.integers(0, 3, size=(4, 6)), rng.random((4, 6))
    got = np.asarray(graphify.vmap(graphify.grad(squares_of_sums))(x, k))
    for row, values, keys in zip(got, x, k, strict=True):
        same(row, np.asarray(graphify.grad(squares_of_sums)(values, keys)))


def test_dicts_of_lanes_are_refused() -> None:
    def counted(k):
        counts = {}
        for v in k:
            counts[v] = counts.get(v, 0) + 1
        return counts

    with pytest.raises(GraphifyError, match="lanes"):
        graphify.vmap(counted)(np.array([[1, 2, 1], [2, 3, 3]]))


def test_all_containers_that_are_kept_in_lists_say_how() -> None:
    pending = [Listed]
    while pending:
        kinds = pending.pop().__subclasses__()
        pending += kinds
        for kind in kinds:
            for name in ("whole", "size", "members"):
                assert getattr(kind, name) is not getattr(Listed, name), (kind, name)


def counter_joined_with_one_or_another(x: Any, k: Any) -> Any:
    d = Counter([np.floor(v) for v in x])
    other = d
    e = {}
    if k > 2:
        e = {v: 3 for v in x}
    d |= e
    return list(d.items()), len(other)


def set_joined_with_one_or_another(x: Any, k: Any) -> Any:
    s = set()
    other = s
    for v in x:
        s.add(v)
    t = {v + 1 for v in x} if k > 2 else set()
    s |= t
    s -= {2.5}
    return sorted(s), len(other)


@pytest.mark.parametrize(
    "function", [counter_joined_with_one_or_another, set_joined_with_one_or_another]
)
def test_right_side_of_an_augmented_assignment_is_one_of_several(function: Any) -> None:
    staged = graphify.function(function)
    for k in (1, 4):
        x = np.array([1.0, 2.5, 1.5, 4.0])
        same(staged(x, np.int64(k)), function(x, np.int64(k)))


def test_dicts_of_arrays_are_not_compared() -> None:
    """Python asks whether two arrays are one before it compares them."""

    def compared(x: Any) -> Any:
        d = {v: np.zeros(2) for v in x}
        return d == dict(d)

    assert compared(np.arange(20.0))
    with pytest.raises(TraceError, match="whether two are one array"):
        graphify.function(compared)(np.arange(20.0))


def what_sets_have_in_common(x, k):
    s, t = {int(v) for v in x}, {v for v in x}
    u = {np.int64(v) for v in x[:k]}
    d, e = {int(v): 1.0 for v in x}, {v: 1.0 for v in x[1:]}
    some = [int(v) + 1 for v in x if v > 1]
    sets = [s & t, t & s, s & u, u & s, {1, 2} & t, t & {1, 2}]
    views = [d.keys() & t, t & d.keys(), e.keys() & s, s & e.keys(), {1, 2} & e.keys()]
    both = [d.keys() & e.keys(), e.keys() & d.keys(), e.keys() & {1, 2}, {7} - e.keys()]
    return [*sets, *views, *both, t.intersection(some), t.intersection(s, u)]


def test_elements_of_an_intersection_are_those_that_python_takes() -> None:
    """2 or 2.0, of two that are equal: where an integer is found, Python has one."""

    def program(x: Any, k: Any) -> Any:
        return [sorted(one) for one in what_sets_have_in_common(x, k)]

    staged = graphify.function(program)
    for values in ([1, 2, 3, 4], [5, 3, 3, 2], [1, 1, 2, 2]):
        for k in map(np.int64, range(5)):
            x = np.array(values, float)
            for expected, found in zip(program(x, k), staged(x, k), strict=True):
                assert [float(v) for v in found] == expected
                for one, other in zip(expected, found, strict=True):
                    assert np.asarray(one).dtype.kind == "i" or np.asarray(other).dtype.kind == "f"
