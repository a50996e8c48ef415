"""Helpers, closures, lambdas, methods, containers as state, comprehensions."""

import numpy as np

NO_GRADIENT = {"integer_division": "integers"}

SCALE = 3.0


def _helper(a, s):
    if s > 0:
        return a + 1
    return a - 1


class _Model:
    def __init__(self):
        self.weight = 2.0

    def apply(self, x):
        if x.sum() > 0:
            return x * self.weight
        return x


MODEL = _Model()


def calls_helper(x, s):
    return _helper(_helper(x, s), -s)


def uses_global(x):
    return x * SCALE


def calls_method(x):
    return MODEL.apply(x)


def nested_function(x, s):
    def twice(v):
        if s > 0:
            return v * 2
        return v * 4

    return twice(twice(x))


def nonlocal_counter(x):
    count = 0

    def step():
        nonlocal count
        count += 1

    for _ in range(3):
        step()
    return x * count


def lambda_of_traced(x, s):
    f = lambda v: v + s if s > 0 else v
    return f(x)


def tuple_state(x, k):
    pair = (x, x * 0)
    for _ in range(k):
        pair = (pair[1] + 1, pair[0])
    return pair


def list_state(x, k):
    items = [x, x + 1]
    if k > 1:
        items[0] = items[1] * 2
    return items


def dict_state(x, k):
    d = {"a": x, "n": 0}
    for _ in range(k):
        d["a"] = d["a"] + 1
        d["n"] += 1
    return d


def comprehension(x):
    parts = [x * i for i in range(4)]
    return sum(parts)


def append_then_stack(x):
    rows = []
    for i in range(3):
        rows.append(x + i)
    return np.stack(rows)


def dict_items(x):
    total = x * 0
    for name, weight in {"a": 1.0, "b": 2.0}.items():
        total = total + x * weight * len(name)
    return total


def recursion(x, kp):
    if kp <= 0:
        return x
    return recursion(x + 1, kp - 1)


def keyword_arguments(x, s):
    def inner(a, *, scale=1.0, **rest):
        return a * scale + rest.get("shift", 0)

    return inner(x, scale=s, shift=2)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def standardise(w):
    return (w - w.mean(axis=0)) / (w.std(axis=0) + 1e-9)


def moving_average(x):
    return np.array([x[i : i + 2].mean() for i in range(3)])


def integer_division(k):
    return (k + 7) // 2, (k + 7) % 4, -(k + 7) // 2


def slice_by_traced(x, k):
    return x[:k].sum() + x[k:].sum() * 2


def k_means_step(w):
    centres = w[:2].copy()
    moved = True
    while moved:
        distance = ((w[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        new = centres.copy()
        for j in range(2):
            if (nearest == j).any():
                new[j] = w[nearest == j].mean(axis=0)
        moved = np.abs(new - centres).sum() > 1e-9
        centres = new
    return centres
