"""Arrays that change names under staged conditions, again and again, and are updated meanwhile."""

import numpy as np

NO_GRADIENT: dict[str, str] = {}
NO_VMAP: dict[str, str] = {}
NO_TENSORFLOW: dict[str, str] = {}


def two_arrays_swapped_often(x, y):
    a, b = x * 1.0, y * 1.0
    for threshold in (0.55, -0.35, 0.95, -0.85, 0.15, -0.15):
        if a[0] > threshold:
            a, b = b, a
        a[0] = a[0] * 0.5 + threshold  # of one array or the other, whichever that is by now
    return a, b


def three_arrays_taking_turns(x, y):
    a, b, c = x * 1.0, y * 2.0, x + y
    first = a
    for k in range(6):
        if a[0] + b[0] > k:
            a, b, c = b, c, a
        a *= 0.5
    return a, b, c, first


def swapped_on_one_path_only(x, y, s):
    a, b = x * 1.0, y * 1.0
    if s > 0:
        for threshold in (0.55, -0.35, 0.95, -0.85, 0.05):
            if a[0] > threshold:
                a, b = b, a
    a[1] = s
    return a, b


def swapped_names_kept_aside(x, y):
    a, b = x * 1.0, y * 1.0
    older = a
    for threshold in (0.55, -0.35, 0.95, -0.85):
        if a[0] > threshold:
            older = a
            a, b = b, a
        a[-1] += threshold
    older[0] = 7.0
    return a, b, older


def swapped_halves(x, y):
    a, b = x[:1], x[1:2]
    for threshold in (0.55, -0.35, 0.95, -0.85, 0.15):
        if y[0] > threshold:
            a, b = b, a
        a[0] = a[0] * 0.5 + 1
    return x


def buffers_exchanged_in_loops(x):
    now, then = x * 1.0, x * 0.0
    for _ in range(3):
        for _ in range(20):
            then[:] = now * 0.5
            now, then = then, now
        if now[0] > 0.1:
            now, then = then, now
        now[0] += 1.0
    return now, then


def list_and_its_arrays(x):
    rows = []
    for i in range(12):
        rows.append(x[0] * i)
    whole = np.asarray(rows)
    joined = np.hstack(rows)
    whole[0] = 7.0  # an array of its own, as the joined one is
    joined += 1
    return whole, joined, rows[0], rows[-1]
