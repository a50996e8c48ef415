"""In-place updates: elements, slices, masks, views, aliases, arguments."""

import numpy as np

NO_GRADIENT = {
    "sieve": "integers",
    "histogram": "integers",
    "reshaped_view": "the layout of a twin of the argument is not known",
}
NO_VMAP = {
    "reshaped_view": "the layout of a lane is not known",
}


def set_element(x, s):
    x[1] = s
    return x


def set_traced_element(x, k):
    x[k] = 9.0
    return x


def add_to_slice(x):
    x[1:] += x[:-1]
    return x


def mask_update(x):
    x[x < 0] = 0
    return x


def mask_add(x):
    x[x > 0] += 10
    return x.sum()


def whole_update(x):
    y = x
    y += 1
    return x * 2


def rebinding_is_no_update(x):
    y = x
    y = y + 1
    return x, y


def view_of_view(x):
    a = x[1:]
    b = a[::2]
    b[:] = 0
    return x


def row_update(w):
    w[0] = w[1]
    w[:, 1] *= 2
    return w


def row_through_loop(w):
    for row in w:
        row -= row.mean()
    return w


def swap_elements(x):
    x[0], x[-1] = x[-1], x[0]
    return x


def bubble_sort(x):
    y = x.copy()
    n = len(y)
    for i in range(n):
        for j in range(n - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y


def prefix_sums(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x


def sieve(k):
    prime = np.ones(30, dtype=bool)
    prime[:2] = False
    for i in range(2, 6):
        if prime[i]:
            prime[i * i :: i] = False
    return prime.sum() + k


def conditional_update(x, s):
    if s > 0:
        x[0] = 100.0
    return x


def clipped_into(x):
    np.clip(x, -1, 1, out=x)
    return x


def histogram(x):
    counts = np.zeros(4, dtype=np.int64)
    for v in x:
        counts[int(abs(v)) % 4] += 1
    return counts


def reshaped_view(w):
    flat = w.reshape(-1)
    flat[0] = -7.0
    return w


def swapped_then_updated(x, k):
    y = np.zeros(len(x))
    for _ in range(k + 9):
        x, y = y, x
    x[0] = 1.0
    return y


def part_or_copy_updated(x, k):
    part = x[1:] if k > 1 else x[:-1].copy()
    part[0] = 9.0
    x[1] += 1.0
    return part


def walking_names(x, k):
    y = z = np.zeros(len(x))
    for _ in range(k + 9):
        x, y = y, x
        y[0] += 1.0
        if z[0] > 4:
            z = z * 2
        z[1] = 5.0
    return x, y, z


def history_until_it_settles(x, s):
    history = np.zeros(len(x) + 9)
    for i in range(len(history)):
        history[i] = s + x[i % len(x)] + (history[i - 1] / 2 if i else 0.0)
        if abs(history[i]) > 3:
            return history[: i + 1].sum()
    return history.sum() * 2
