"""Dynamic programming: the best of everything from the best of its parts, in a table."""

import numpy as np


def nussinov(bases):
    """The most pairs in a folded strand of RNA; bases 0 to 3, and 0 pairs with 3, 1 with 2.

    Source: R. Nussinov, 1978.
    """
    n = len(bases)
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            pair = 1 if bases[i] + bases[j] == 3 else 0
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def floyd_warshall(paths):
    """The shortest paths between all pairs of nodes, in place, by elements."""
    n = paths.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                paths[i, j] = min(paths[i, j], paths[i, k] + paths[k, j])
    return paths


def floyd_warshall_by_planes(paths):
    """The same, for each node in between one minimum over a whole table."""
    for k in range(len(paths)):
        np.minimum(paths, np.add.outer(paths[:, k], paths[k]), out=paths)
    return paths


def edit_distance(a, b):
    """How many letters to insert, delete or replace, to get from one word to the other.

    Source: V. Levenshtein, 1965.
    """
    previous = np.arange(len(b) + 1)
    for i in range(len(a)):
        current = np.zeros_like(previous)
        current[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
        previous = current
    return previous[-1]


def longest_common_subsequence(a, b):
    """Its length, and the places in a, found by walking back through the table."""
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1), dtype=int)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    chosen = np.zeros(n, dtype=bool)
    i, j = n, m
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            chosen[i - 1] = True
            i -= 1
            j -= 1
        elif table[i - 1, j] >= table[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return table[n, m], chosen


def knapsack(weights, values, capacity):
    """The most value that fits, each thing taken at most once; and which things."""
    n = len(weights)
    best = np.zeros((n + 1, capacity + 1), dtype=values.dtype)
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            best[i, c] = best[i - 1, c]
            if weights[i - 1] <= c:
                with_it = best[i - 1, c - weights[i - 1]] + values[i - 1]
                if with_it > best[i, c]:
                    best[i, c] = with_it
    taken = np.zeros(n, dtype=bool)
    left = capacity
    for i in range(n, 0, -1):
        if best[i, left] != best[i - 1, left]:
            taken[i - 1] = True
            left -= weights[i - 1]
    return best[n, capacity], taken


def coin_change(coins, amount):
    """The fewest coins that make an amount, and in how many ways it can be made."""
    fewest = np.full(amount + 1, amount + 1)
    ways = np.zeros(amount + 1, dtype=np.int64)
    fewest[0], ways[0] = 0, 1
    for coin in coins:
        for a in range(coin, amount + 1):
            fewest[a] = min(fewest[a], fewest[a - coin] + 1)
            ways[a] += ways[a - coin]
    return fewest[amount], ways[amount]


def smith_waterman(a, b, match, gap):
    """The best local alignment: its score and where it ends.

    Source: T. Smith and M. Waterman, 1981.
    """
    H = np.zeros((len(a) + 1, len(b) + 1))
    best, where = 0.0, (0, 0)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            step = match if a[i - 1] == b[j - 1] else -match
            H[i, j] = max(0.0, H[i - 1, j - 1] + step, H[i - 1, j] - gap, H[i, j - 1] - gap)
            if H[i, j] > best:
                best, where = H[i, j], (i, j)
    return best, where, H


def needleman_wunsch(a, b, gap):
    """The best alignment of whole sequences of numbers that differ by their distance."""
    n, m = len(a), len(b)
    F = np.zeros((n + 1, m + 1))
    F[:, 0] = -gap * np.arange(n + 1)
    F[0, :] = -gap * np.arange(m + 1)
    for i in range(n):
        for j in range(m):
            diagonal = F[i, j] + 1.0 - abs(a[i] - b[j])
            F[i + 1, j + 1] = np.max([diagonal, F[i, j + 1] - gap, F[i + 1, j] - gap])
    return F[n, m]


def dynamic_time_warping(a, b):
    """The least total distance of two series, one stretched onto the other."""
    D = np.full((len(a) + 1, len(b) + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            nearest = min(D[i, j], D[i, j + 1], D[i + 1, j])
            D[i + 1, j + 1] = (a[i] - b[j]) ** 2 + nearest
    return D[-1, -1]


def matrix_chain(sizes):
    """The fewest multiplications for a product of matrices, by lengths of its parts."""
    n = len(sizes) - 1
    cost = np.zeros((n, n))
    split = np.zeros((n, n), dtype=int)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.inf
            for k in range(i, j):
                new = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if new < cost[i, j]:
                    cost[i, j], split[i, j] = new, k
    return cost[0, n - 1], split


def viterbi(start, transition, emission, seen):
    """The most likely path through a hidden Markov model, in logarithms.

    Source: A. Viterbi, 1967.
    """
    steps, states = len(seen), len(start)
    score = np.zeros((steps, states))
    before = np.zeros((steps, states), dtype=int)
    score[0] = start + emission[:, seen[0]]
    for t in range(1, steps):
        for s in range(states):
            options = score[t - 1] + transition[:, s]
            before[t, s] = np.argmax(options)
            score[t, s] = options[before[t, s]] + emission[s, seen[t]]
    path = np.zeros(steps, dtype=int)
    path[-1] = np.argmax(score[-1])
    for t in range(steps - 2, -1, -1):
        path[t] = before[t + 1, path[t + 1]]
    return path, score[-1].max()


def forward_algorithm(start, transition, emission, seen):
    """The likelihood of what was seen under a hidden Markov model, scaled at every step."""
    alpha = start * emission[:, seen[0]]
    log_likelihood = 0.0
    for t in range(len(seen)):
        if t > 0:
            alpha = (alpha @ transition) * emission[:, seen[t]]
        total = alpha.sum()
        alpha = alpha / total
        log_likelihood += np.log(total)
    return log_likelihood


def longest_increasing_subsequence(x):
    """Its length, with piles and a binary search for each element."""
    tails = np.zeros_like(x)
    size = 0
    for v in x:
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if tails[middle] < v:
                low = middle + 1
            else:
                high = middle
        tails[low] = v
        if low == size:
            size += 1
    return size


def optimal_search_tree(weights):
    """The least expected depth of a binary search tree for keys looked up so often."""
    n = len(weights)
    cost = np.zeros((n + 1, n + 1))
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            best = np.inf
            for root in range(i, j):
                best = min(best, cost[i, root] + cost[root + 1, j])
            cost[i, j] = best + weights[i:j].sum()
    return cost[0, n]


def cumulative_table(image):
    """Sums over all rectangles from the corner, in place (an integral image)."""
    rows, columns = image.shape
    for i in range(rows):
        run = 0.0
        for j in range(columns):
            run += image[i, j]
            image[i, j] = run + (image[i - 1, j] if i > 0 else 0.0)
    return image


def largest_square(grid):
    """The side of the largest square of ones in a table of truth values."""
    sides = np.zeros(grid.shape, dtype=np.int32)
    for (i, j), full in np.ndenumerate(grid):
        if full:
            if i == 0 or j == 0:
                sides[i, j] = 1
            else:
                sides[i, j] = 1 + min(sides[i - 1, j], sides[i, j - 1], sides[i - 1, j - 1])
    return sides.max()


def maximum_subarray(x):
    """The largest sum of neighbours and where it lies, in one pass (Kadane)."""
    best, current = x[0], x[0]
    start = low = high = 0
    for i in range(1, len(x)):
        if current < 0:
            current = x[i]
            start = i
        else:
            current += x[i]
        if current > best:
            best, low, high = current, start, i
    return best, low, high
