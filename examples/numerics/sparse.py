"""Sparse matrices in compressed rows (CSR): where each row starts, columns, values."""

import numpy as np


def spmv(starts, columns, values, x):
    """The product with a vector, a slice for each row."""
    y = np.empty(len(starts) - 1, dtype=values.dtype)
    for i in range(len(starts) - 1):
        cols = columns[starts[i] : starts[i + 1]]
        vals = values[starts[i] : starts[i + 1]]
        y[i] = vals @ x[cols]
    return y


def spmv_by_elements(starts, columns, values, x):
    """The same, element by element."""
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return y


def spmv_transposed(starts, columns, values, x, n):
    """The product of the transposed matrix: each row is scattered."""
    y = np.zeros(n)
    for i in range(len(starts) - 1):
        low, high = starts[i], starts[i + 1]
        np.add.at(y, columns[low:high], values[low:high] * x[i])
    return y


def coo_to_csr(rows, columns, values, n):
    """Compressed rows from a list of places, in the order in which they come."""
    starts = np.zeros(n + 1, dtype=np.int64)
    for r in rows:
        starts[r + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    following = starts[:-1].copy()
    out_columns, out_values = np.empty_like(columns), np.empty_like(values)
    for k in range(len(rows)):
        place = following[rows[k]]
        out_columns[place] = columns[k]
        out_values[place] = values[k]
        following[rows[k]] += 1
    return starts, out_columns, out_values


def csr_to_dense(starts, columns, values, n):
    """The whole matrix; values at one place add up."""
    A = np.zeros((len(starts) - 1, n))
    for i in range(A.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            A[i, columns[k]] += values[k]
    return A


def sparse_jacobi(starts, columns, values, b, tolerance):
    """A x = b by Jacobi's iteration on compressed rows."""
    n = len(b)
    x = np.zeros(n)
    for turn in range(200):  # noqa: B007
        new = np.zeros(n)
        for i in range(n):
            total, diagonal = b[i], 1.0
            for k in range(starts[i], starts[i + 1]):
                if columns[k] == i:
                    diagonal = values[k]
                else:
                    total -= values[k] * x[columns[k]]
            new[i] = total / diagonal
        moved = np.abs(new - x).max()
        x = new
        if moved < tolerance:
            break
    return x, turn


def breadth_first(starts, neighbours, root):
    """Steps from a root to every node of a graph, -1 where it cannot get; with a queue."""
    n = len(starts) - 1
    distance = np.full(n, -1)
    queue = np.empty(n, dtype=np.int64)
    queue[0] = root
    distance[root] = 0
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for other in neighbours[starts[node] : starts[node + 1]]:
            if distance[other] < 0:
                distance[other] = distance[node] + 1
                queue[tail] = other
                tail += 1
    return distance


def dijkstra(weights, root):
    """The shortest paths from a root; zero weight means no edge.

    Source: E. Dijkstra, 1959, with a table of what is done instead of a heap.
    """
    n = len(weights)
    distance = np.full(n, np.inf)
    done = np.zeros(n, dtype=bool)
    previous = np.full(n, -1)
    distance[root] = 0.0
    for _ in range(n):
        u, best = -1, np.inf
        for i in range(n):
            if not done[i] and distance[i] < best:
                u, best = i, distance[i]
        if u < 0:
            break
        done[u] = True
        for v in range(n):
            if weights[u, v] > 0 and best + weights[u, v] < distance[v]:
                distance[v] = best + weights[u, v]
                previous[v] = u
    return distance, previous


def bellman_ford(sources, targets, lengths, n):
    """The shortest paths from node 0 by relaxing all edges; False if a circle is negative."""
    distance = np.full(n, 1e18)
    distance[0] = 0.0
    for _ in range(n - 1):
        changed = False
        for k in range(len(sources)):
            new = distance[sources[k]] + lengths[k]
            if new < distance[targets[k]]:
                distance[targets[k]] = new
                changed = True
        if not changed:
            break
    fine = not np.any(distance[sources] + lengths < distance[targets])
    return distance, fine


def connected_components(sources, targets, n):
    """A name for each component: the least node in it, by a forest of unions."""
    parent = np.arange(n)
    for k in range(len(sources)):
        a, b = sources[k], targets[k]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[max(a, b)] = min(a, b)
    for i in range(n):
        parent[i] = parent[parent[i]]
    return parent, len(np.unique(parent))


def minimum_spanning_tree(weights):
    """The total weight of a tree that joins all nodes (Prim)."""
    n = len(weights)
    cost = weights[0].copy()
    inside = np.zeros(n, dtype=bool)
    inside[0] = True
    total = 0.0
    for _ in range(n - 1):
        nearest = np.argmin(np.where(inside, np.inf, cost))
        total += cost[nearest]
        inside[nearest] = True
        closer = ~inside & (weights[nearest] < cost)
        cost[closer] = weights[nearest, closer]
    return total
