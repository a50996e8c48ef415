"""Linear systems by iteration, and roots of equations."""

import numpy as np


def conjugate_gradient(A, b, tolerance):
    """A x = b for a symmetric positive definite A.

    Source: M. Hestenes and E. Stiefel, 1952.
    """
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(10 * len(b)):
        if np.sqrt(rs) < tolerance:
            break
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


def gauss_seidel(A, b, tolerance):
    """A x = b by rows, each with the newest values, until no element moves."""
    x = np.zeros_like(b)
    turns = 0
    while True:
        change = 0.0
        for i in range(len(b)):
            new = (b[i] - A[i, :i] @ x[:i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
            change = max(change, abs(new - x[i]))
            x[i] = new
        turns += 1
        if change < tolerance or turns >= 500:
            break
    return x, turns


def bicgstab(A, b, tolerance):
    """A x = b for any A, by stabilised bi-conjugate gradients.

    Source: H. van der Vorst, 1992.
    """
    x = np.zeros_like(b)
    r = b.copy()
    shadow = r.copy()
    rho = alpha = omega = 1.0
    v = p = np.zeros_like(b)
    for _ in range(4 * len(b)):
        new = shadow @ r
        beta = new / rho * alpha / omega
        rho = new
        p = r + beta * (p - omega * v)
        v = A @ p
        alpha = rho / (shadow @ v)
        s = r - alpha * v
        if np.linalg.norm(s) < tolerance:
            x = x + alpha * p
            return x
        t = A @ s
        omega = (t @ s) / (t @ t)
        x = x + alpha * p + omega * s
        r = s - omega * t
        if np.linalg.norm(r) < tolerance:
            return x
    return x


def gmres(A, b, size):
    """The smallest residual in a Krylov space, by Arnoldi's basis and Givens rotations."""
    n = len(b)
    Q, H = np.zeros((n, size + 1)), np.zeros((size + 1, size))
    cs, sn, g = np.zeros(size), np.zeros(size), np.zeros(size + 1)
    g[0] = np.linalg.norm(b)
    Q[:, 0] = b / g[0]
    for k in range(size):
        w = A @ Q[:, k]
        for i in range(k + 1):
            H[i, k] = w @ Q[:, i]
            w -= H[i, k] * Q[:, i]
        H[k + 1, k] = np.linalg.norm(w)
        Q[:, k + 1] = w / H[k + 1, k]
        for i in range(k):
            upper = cs[i] * H[i, k] + sn[i] * H[i + 1, k]
            H[i + 1, k] = -sn[i] * H[i, k] + cs[i] * H[i + 1, k]
            H[i, k] = upper
        length = np.hypot(H[k, k], H[k + 1, k])
        cs[k], sn[k] = H[k, k] / length, H[k + 1, k] / length
        H[k, k], H[k + 1, k] = length, 0.0
        g[k + 1] = -sn[k] * g[k]
        g[k] *= cs[k]
    y = np.zeros(size)
    for i in range(size - 1, -1, -1):
        y[i] = (g[i] - H[i, i + 1 :] @ y[i + 1 :]) / H[i, i]
    return Q[:, :size] @ y


def newton_system(x, tolerance):
    """A zero of x_i^2 + x_{i+1} / 4 - 1 (around a ring) by Newton's method."""
    n = len(x)
    for turn in range(50):  # noqa: B007
        F = x**2 + 0.25 * np.roll(x, -1) - 1.0
        if np.abs(F).max() < tolerance:
            break
        J = np.diag(2.0 * x)
        for i in range(n):
            J[i, (i + 1) % n] += 0.25
        x = x - np.linalg.solve(J, F)
    return x, turn


def bisect(c, low, high, tolerance):
    """A zero of the polynomial with coefficients c, highest first, between two points."""

    def value(t):
        total = 0.0
        for coefficient in c:
            total = total * t + coefficient
        return total

    while high - low > tolerance:
        middle = (low + high) / 2
        if value(low) * value(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def secant(c, a, b, tolerance):
    """A zero by the secant through the last two points."""
    fa, fb = np.polyval(c, a), np.polyval(c, b)
    turns = 0
    while abs(fb) > tolerance and turns < 100:
        a, b = b, b - fb * (b - a) / (fb - fa)
        fa, fb = fb, np.polyval(c, b)
        turns += 1
    return b, turns


def golden_section(x, y, tolerance):
    """The factor s that makes |y - s x| + s^2 / 10 smallest, by cutting an interval."""
    ratio = (np.sqrt(5.0) - 1.0) / 2.0

    def cost(s):
        return np.sum(np.abs(y - s * x)) + 0.1 * s * s

    low, high = -5.0, 5.0
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    while abs(high - low) > tolerance:
        if cost(a) < cost(b):
            high = b
        else:
            low = a
        a, b = high - ratio * (high - low), low + ratio * (high - low)
    return 0.5 * (low + high)


def gradient_descent_with_backtracking(A, b, steps):
    """The least of x^T A x / 2 - b^T x, the step halved until it helps enough."""
    x = np.zeros_like(b)

    def cost(z):
        return 0.5 * z @ A @ z - b @ z

    for _ in range(steps):
        g = A @ x - b
        step = 1.0
        while cost(x - step * g) > cost(x) - 0.5 * step * (g @ g) and step > 1e-10:
            step *= 0.5
        x -= step * g
    return x, cost(x)


def pagerank(links, damping, tolerance):
    """The rank of pages from who links to whom; pages without links give to all.

    Source: S. Brin and L. Page, 1998.
    """
    n = links.shape[0]
    out = links.sum(axis=1)
    rank = np.full(n, 1.0 / n)
    while True:
        new = np.full(n, (1.0 - damping) / n)
        for i in range(n):
            if out[i] == 0:
                new += damping * rank[i] / n
            else:
                for j in range(n):
                    if links[i, j]:
                        new[j] += damping * rank[i] / out[i]
        shift = np.abs(new - rank).sum()
        rank = new
        if shift < tolerance:
            return rank
