"""Graphs as lists of neighbours, and other lists of lists that grow as the numbers say."""

import heapq

import numpy as np


def shortest_paths(edges, lengths, n, source):
    """The distances from one node (Dijkstra's method, with a heap that keeps what is outdated)."""
    ways = [[] for _ in range(n)]
    for k in range(len(edges)):
        ways[edges[k, 0]].append((edges[k, 1], lengths[k]))
        ways[edges[k, 1]].append((edges[k, 0], lengths[k]))
    distance = np.full(n, np.inf)
    distance[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        so_far, node = heapq.heappop(heap)
        if so_far > distance[node]:
            continue
        for other, length in ways[node]:
            if so_far + length < distance[other]:
                distance[other] = so_far + length
                heapq.heappush(heap, (so_far + length, other))
    return distance


def components(edges, n):
    """A label for each node: nodes that a path joins have one label."""
    near = [[] for _ in range(n)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    label = np.full(n, -1)
    count = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        label[start] = count
        stack = [start]
        while stack:
            for other in near[stack.pop()]:
                if label[other] < 0:
                    label[other] = count
                    stack.append(other)
        count += 1
    return label, count


def topological_order(edges, n):
    """Nodes in an order in which every edge, from a smaller number to a larger, leads forward."""
    after = [[] for _ in range(n)]
    waits = [0] * n
    for a, b in edges:
        if a != b:
            after[min(a, b)].append(max(a, b))
            waits[max(a, b)] += 1
    order = []
    ready = [node for node in range(n) if waits[node] == 0]
    while ready:
        node = ready.pop()
        order.append(node)
        for other in after[node]:
            waits[other] -= 1
            if waits[other] == 0:
                ready.append(other)
    return order


def forces_by_cell_lists(positions, cells):
    """Repulsion of what is nearer than a cell is wide: only cells side by side are searched."""
    members = [[] for _ in range(cells * cells)]
    for p in range(len(positions)):
        i = min(int(positions[p, 0] * cells), cells - 1)
        j = min(int(positions[p, 1] * cells), cells - 1)
        members[i * cells + j].append(p)
    forces = np.zeros_like(positions)
    for i in range(cells):
        for j in range(cells):
            for p in members[i * cells + j]:
                for k in range(max(i - 1, 0), min(i + 2, cells)):
                    for m in range(max(j - 1, 0), min(j + 2, cells)):
                        for q in members[k * cells + m]:
                            d = positions[p] - positions[q]
                            r2 = d @ d
                            if q != p and r2 * cells**2 < 1.0:
                                forces[p] += (1.0 - np.sqrt(r2) * cells) * d
    return forces


def bucket_sort(x, buckets):
    """Numbers between 0 and 1 in order: each goes into a bucket, and buckets are sorted."""
    kept = [[] for _ in range(buckets)]
    for v in x:
        bucket = kept[int(v * buckets)]
        bucket.append(v)
        k = len(bucket) - 1
        while k > 0 and bucket[k - 1] > bucket[k]:
            bucket[k - 1], bucket[k] = bucket[k], bucket[k - 1]
            k -= 1
    return np.array([v for bucket in kept for v in bucket])


def sparse_product_by_rows(starts, columns, values, x, threshold):
    """The large terms of each row of a matrix times a vector, as lists, and what they add up to."""
    rows = []
    for i in range(len(starts) - 1):
        terms = []
        for k in range(starts[i], starts[i + 1]):
            term = values[k] * x[columns[k]]
            if abs(term) > threshold:
                terms.append(term)
        rows.append(terms)
    return np.array([sum(terms) for terms in rows]), [len(terms) for terms in rows]


def rise_lengths(x):
    """A sequence cut where it falls: how long the pieces are, and the one that rises most."""
    pieces, piece = [], [x[0]]
    for k in range(1, len(x)):
        if x[k] < x[k - 1]:
            pieces.append(piece)
            piece = []
        piece.append(x[k])
    pieces.append(piece)
    best = pieces[0]
    for piece in pieces:
        if piece[-1] - piece[0] > best[-1] - best[0]:
            best = piece
    return [len(piece) for piece in pieces], best[-1] - best[0]
