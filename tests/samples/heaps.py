"""heapq and bisect: priority queues, and places in what is sorted."""

import bisect
import heapq

import numpy as np

INTEGERS = "integers"

NO_GRADIENT = {
    "shortest_paths_from_the_first": "the loop takes what a heap of run-time length gives",
    "ranks_among_what_came_before": INTEGERS,
    "grades_by_bounds": INTEGERS,
    "primes_by_a_list": INTEGERS,
}
NO_VMAP = {
    "primes_by_a_list": "as many primes as the limit says",
}


def shortest_paths_from_the_first(w):
    n = min(w.shape)
    far = np.full(n, np.inf)
    far[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, i = heapq.heappop(heap)
        if d > far[i]:
            continue
        for j in range(n):
            new = d + abs(w[i, j]) + 0.1
            if new < far[j]:
                far[j] = new
                heapq.heappush(heap, (new, j))
    return far


def heap_sorted(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v)
    return np.array([heapq.heappop(heap) for _ in range(len(x))])


def two_least_are_joined(x):
    parts = [abs(v) + 1.0 for v in x]
    heapq.heapify(parts)
    cost = 0.0
    while len(parts) > 1:
        both = heapq.heappop(parts) + heapq.heappop(parts)
        cost = cost + both
        heapq.heappush(parts, both)
    return cost


def popped_until_nothing_is_left(x):
    heap = [v for v in x if v > -100]
    heapq.heapify(heap)
    total = 0.0
    while True:
        try:
            v = heapq.heappop(heap)
        except IndexError:
            break
        total = total * 0.5 + v
    return total


def ranks_among_what_came_before(x):
    seen = []
    ranks = np.zeros(len(x), int)
    for i, v in enumerate(x):
        ranks[i] = bisect.bisect_left(seen, v)
        bisect.insort(seen, v)
    return ranks


def grades_by_bounds(x):
    return np.array([bisect.bisect((-1.0, 0.0, 0.5), v) for v in x])


def primes_by_a_list(k):
    limit = abs(k) + 9
    prime = [True] * (limit + 1)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= limit:
        if prime[i]:
            for j in range(i * i, limit + 1, i):
                prime[j] = False
        i += 1
    return [i for i in range(limit + 1) if prime[i]]
