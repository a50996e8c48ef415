"""collections.deque: queues and windows that grow and shrink at both ends."""

from collections import deque

import numpy as np

INTEGERS = "integers"

NO_GRADIENT = {
    "breadth_first_on_a_grid": INTEGERS,
    "josephus_problem": INTEGERS,
    "rooms_of_a_level": INTEGERS,
    "recent_positives": "a list of run-time length",
}
NO_VMAP = {
    "josephus_problem": "lengths are Python's",
    "recent_positives": "as many elements as the values say",
}


def breadth_first_on_a_grid(w):
    rows, columns = w.shape
    distance = np.full((rows, columns), -1)
    distance[0, 0] = 0
    queue = deque([(0, 0)])
    while queue:
        i, j = queue.popleft()
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + down, j + right
            if 0 <= a < rows and 0 <= b < columns and w[a, b] > -0.8 and distance[a, b] < 0:
                distance[a, b] = distance[i, j] + 1
                queue.append((a, b))
    return distance


def moving_average(x):
    window = deque(maxlen=3)
    means = np.zeros(len(x))
    for i, v in enumerate(x):
        window.append(v)
        means[i] = sum(window) / len(window)
    return means


def sliding_window_maximum(x):
    candidates = deque()  # places, of values that fall
    found = np.zeros(len(x))
    for i in range(len(x)):
        while candidates and x[candidates[-1]] <= x[i]:
            candidates.pop()
        candidates.append(i)
        if candidates[0] <= i - 3:
            candidates.popleft()
        found[i] = x[candidates[0]]
    return found


def integral_by_a_work_list(s):
    total = 0.0
    work = deque([(0.0, 1.0)])
    while work:
        low, high = work.popleft()
        middle, width = (low + high) / 2, high - low
        left, right = np.exp(s * low), np.exp(s * high)
        coarse = (left + right) * width / 2
        fine = (left + 2 * np.exp(s * middle) + right) * width / 4
        if width < 0.1 or abs(coarse - fine) < 1e-4:
            total += fine
        else:
            work.extend([(low, middle), (middle, high)])
    return total


def josephus_problem(k):
    circle = deque(range(1, 8))
    while len(circle) > 1:
        circle.rotate(-k)
        circle.popleft()
    return circle[0]


def recent_positives(x):
    recent = deque([0.5], maxlen=4)
    for v in x:
        if v > 0:
            recent.append(v)
        elif v < -1:
            recent.appendleft(v)
    return list(recent)


def rooms_of_a_level(w):
    level, seen, sizes = deque([0]), np.zeros(len(w), dtype=bool), 0
    seen[0] = True
    while level:
        following = deque()
        for room in level:
            for other in range(min(w.shape[0], w.shape[1])):
                if w[room, other] > 0 and not seen[other]:
                    seen[other] = True
                    following.append(other)
        sizes = sizes * 10 + len(level)
        level = following
    return sizes


def folded_from_both_ends(x):
    ends = deque(x)
    total = x[0] * 0
    while len(ends) > 1:
        total = total * 0.5 + ends.popleft() * ends.pop()
    return total
