"""Eigenvalues: powers, rotations, shifts, bisection."""

import numpy as np


def power_iteration(A, tolerance):
    """The largest eigenvalue and its vector, until the vector keeps its direction."""
    v = np.ones(A.shape[0]) / np.sqrt(A.shape[0])
    value = 0.0
    for turn in range(1000):  # noqa: B007
        w = A @ v
        new = v @ w
        w /= np.linalg.norm(w)
        if abs(new - value) < tolerance:
            break
        v, value = w, new
    return value, v, turn


def inverse_iteration(A, shift, steps):
    """The eigenvalue nearest to a shift, by Rayleigh quotients."""
    n = len(A)
    v = np.ones(n)
    v /= np.linalg.norm(v)
    for _ in range(steps):
        v = np.linalg.solve(A - shift * np.eye(n), v)
        v /= np.linalg.norm(v)
        shift = v @ A @ v
    return shift


def jacobi_eigenvalues(A, sweeps):
    """All eigenvalues of a symmetric matrix by rotations, each clearing one element and its mirror.

    Source: C. G. J. Jacobi, 1846.
    """
    n = A.shape[0]
    V = np.eye(n)
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-300:
                    continue
                theta = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                sign = 1.0 if theta >= 0 else -1.0
                t = sign / (abs(theta) + np.sqrt(theta * theta + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    a, b = A[k, p], A[k, q]
                    A[k, p], A[k, q] = c * a - s * b, s * a + c * b
                for k in range(n):
                    a, b = A[p, k], A[q, k]
                    A[p, k], A[q, k] = c * a - s * b, s * a + c * b
                for k in range(n):
                    a, b = V[k, p], V[k, q]
                    V[k, p], V[k, q] = c * a - s * b, s * a + c * b
    return np.sort(np.diag(A)), V


def qr_algorithm(A, steps):
    """Eigenvalues of a symmetric matrix: factor, multiply the other way round, repeat."""
    for _ in range(steps):
        shift = A[-1, -1]
        Q, R = np.linalg.qr(A - shift * np.eye(len(A)))
        A = R @ Q + shift * np.eye(len(A))
    return np.sort(np.diag(A))


def lanczos(A, start, steps):
    """The tridiagonal form of a symmetric matrix on a Krylov space."""
    alpha, beta = np.zeros(steps), np.zeros(steps)
    v = start / np.linalg.norm(start)
    before = np.zeros_like(v)
    for j in range(steps):
        w = A @ v
        alpha[j] = w @ v
        w -= alpha[j] * v
        if j > 0:
            w -= beta[j - 1] * before
        beta[j] = np.sqrt(w @ w)
        if beta[j] < 1e-12:
            break
        before, v = v, w / beta[j]
    return alpha, beta


def sturm_count(d, e, x):
    """How many eigenvalues of a symmetric tridiagonal matrix lie below x."""
    count = 0
    q = 1.0
    for i in range(len(d)):
        below = e[i - 1] ** 2 if i > 0 else 0.0
        q = d[i] - x - (below / q if q != 0 else abs(e[i - 1]) / 1e-15)
        if q < 0:
            count += 1
    return count


def bisection_eigenvalue(d, e, k, tolerance):
    """The k-th eigenvalue of a symmetric tridiagonal matrix, between bounds of Gershgorin's."""
    radius = np.zeros_like(d)
    radius[:-1] += np.abs(e)
    radius[1:] += np.abs(e)
    low, high = (d - radius).min(), (d + radius).max()
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        if sturm_count(d, e, middle) > k:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def hessenberg(A):
    """Zeros below the first subdiagonal, by reflections from both sides."""
    n = len(A)
    for k in range(n - 2):
        x = A[k + 1 :, k].copy()
        x[0] += np.copysign(np.sqrt(x @ x), x[0])
        norm = np.sqrt(x @ x)
        if norm > 0:
            x /= norm
            A[k + 1 :, k:] -= 2.0 * np.outer(x, x @ A[k + 1 :, k:])
            A[:, k + 1 :] -= 2.0 * np.outer(A[:, k + 1 :] @ x, x)
    return A
