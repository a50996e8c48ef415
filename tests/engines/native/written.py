"""Functions as people write them, whose loops are kept as golden text."""

import numpy as np

F32, F64, I64 = np.float32, np.float64, np.int64

EXAMPLES = []  # (function, (shape, dtype) of each argument)


def example(*specs):
    def keep(function):
        EXAMPLES.append((function, specs))
        return function

    return keep


@example(((None, None), F32))
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@example(((None, None), F32), ((None,), F32), ((None,), F32))
def layer_norm(x, scale, shift):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * scale + shift


@example(((None, None), F64))
def lu(a):
    a = a.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@example(((None, None), F64))
def cholesky(a):
    n = len(a)
    lower = np.zeros_like(a)
    for j in range(n):
        lower[j, j] = np.sqrt(a[j, j] - np.sum(lower[j, :j] ** 2))
        for i in range(j + 1, n):
            lower[i, j] = (a[i, j] - np.sum(lower[i, :j] * lower[j, :j])) / lower[j, j]
    return lower


@example(((), F64))
def newton(c):
    x = c
    while abs(x * x - c) > 1e-9:
        x = (x + c / x) / 2
    return x


@example(((None, None), F64), ((), I64))
def jacobi(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return u


@example(((None, 64), F32), ((64, 32), F32), ((32,), F32))
def dense(x, w, b):
    return np.tanh(x @ w + b)


@example(((None, None), F64))
def running_total(x):
    return np.cumsum(x, axis=1)


@example(((None, None), F32), ((None,), I64), ((None,), I64))
def gather_scatter(x, sources, targets):
    moved = np.zeros_like(x)
    moved[targets] = x[sources] * 2
    return moved


@example(((None,), F64))
def clipped_or_scaled(x):
    if x.sum() > 10:
        return np.minimum(x, 1)
    return x * 0.5
