"""Tridiagonal systems, and the equations of heat, transport and options that lead to them."""

import numpy as np


def thomas(a, b, c, d):
    """A tridiagonal system: a below, b on, c above the diagonal. b and d are used up."""
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.empty_like(d)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


def periodic_tridiagonal(a, b, c, d):
    """The same with corners, by two systems without (Sherman and Morrison)."""
    gamma = -b[0]
    inner = b.copy()
    inner[0] -= gamma
    inner[-1] -= a[0] * c[-1] / gamma
    u = np.zeros_like(d)
    u[0], u[-1] = gamma, c[-1]
    y = thomas(a, inner.copy(), c, d.copy())
    z = thomas(a, inner, c, u)
    factor = (y[0] + a[0] * y[-1] / gamma) / (1.0 + z[0] + a[0] * z[-1] / gamma)
    return y - factor * z


def cyclic_reduction(a, b, c, d):
    """A tridiagonal system of 2^k - 1 unknowns: every other one is eliminated, again and again."""
    n = len(d)
    a, b, c, d = a.copy(), b.copy(), c.copy(), d.copy()
    stride = 1
    while 2 * stride - 1 < n:
        for i in range(2 * stride - 1, n, 2 * stride):
            low, high = i - stride, i + stride
            alpha, beta = -a[i] / b[low], -c[i] / b[high]
            b[i] += alpha * c[low] + beta * a[high]
            d[i] += alpha * d[low] + beta * d[high]
            a[i] = alpha * a[low]
            c[i] = beta * c[high]
        stride *= 2
    x = np.zeros(n)
    while stride >= 1:
        for i in range(stride - 1, n, 2 * stride):
            left = x[i - stride] if i - stride >= 0 else 0.0
            right = x[i + stride] if i + stride < n else 0.0
            x[i] = (d[i] - a[i] * left - c[i] * right) / b[i]
        stride //= 2
    return x


def adi(u, steps):
    """Heat on a square, implicit along columns, then along rows (Peaceman and Rachford)."""
    n = len(u)
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    r = 0.5
    for _ in range(steps):
        for source, target in ((u, v), (v, u)):
            target[0, 1:-1] = 1.0
            p[1:-1, 0] = 0.0
            q[1:-1, 0] = target[0, 1:-1]
            for j in range(1, n - 1):
                p[1:-1, j] = r / (1.0 + 2.0 * r - r * p[1:-1, j - 1])
                explicit = (
                    r * source[j, :-2] + (1.0 - 2.0 * r) * source[j, 1:-1] + r * source[j, 2:]
                )
                q[1:-1, j] = (explicit + r * q[1:-1, j - 1]) / (1.0 + 2.0 * r - r * p[1:-1, j - 1])
            target[-1, 1:-1] = 1.0
            for j in range(n - 2, 0, -1):
                target[j, 1:-1] = p[1:-1, j] * target[j + 1, 1:-1] + q[1:-1, j]
    return u


def vertical_advection(field, wind, dt):
    """Implicit transport through the levels of an atmosphere, one column at each place.

    The last axis is the height: a forward sweep eliminates, a backward sweep puts in.
    """
    levels = field.shape[2]
    c = np.zeros_like(field)
    d = np.zeros_like(field)
    for k in range(levels):
        below = 0.25 * dt * wind[:, :, k]
        above = 0.25 * dt * wind[:, :, k + 1]
        if k == 0:
            b = 1.0 + above
            c[:, :, k] = above / b
            d[:, :, k] = (field[:, :, k] - above * (field[:, :, k + 1] - field[:, :, k])) / b
        elif k == levels - 1:
            b = 1.0 - below + below * c[:, :, k - 1]
            right = field[:, :, k] - below * (field[:, :, k] - field[:, :, k - 1])
            d[:, :, k] = (right + below * d[:, :, k - 1]) / b
        else:
            b = 1.0 + above - below + below * c[:, :, k - 1]
            right = (
                field[:, :, k]
                - above * (field[:, :, k + 1] - field[:, :, k])
                - below * (field[:, :, k] - field[:, :, k - 1])
            )
            c[:, :, k] = above / b
            d[:, :, k] = (right + below * d[:, :, k - 1]) / b
    out = np.empty_like(field)
    for k in range(levels - 1, -1, -1):
        if k == levels - 1:
            out[:, :, k] = d[:, :, k]
        else:
            out[:, :, k] = d[:, :, k] - c[:, :, k] * out[:, :, k + 1]
    return out


def crank_nicolson(u, alpha, steps):
    """The heat equation on a line, half explicit and half implicit."""
    n = len(u)
    for _ in range(steps):
        a, c = np.full(n, -alpha / 2), np.full(n, -alpha / 2)
        b = np.full(n, 1.0 + alpha)
        d = u.copy()
        d[1:-1] += alpha / 2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        a[0] = c[0] = a[-1] = c[-1] = 0.0
        b[0] = b[-1] = 1.0
        u = thomas(a, b, c, d)
    return u


def cubic_spline(x, y, points):
    """A natural cubic spline through (x, y), at some points.

    Source: second derivatives from a tridiagonal system, then one cubic for each interval.
    """
    n = len(x)
    h = np.diff(x)
    m, mu, z = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        slope = 3.0 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
        pivot = 2.0 * (x[i + 1] - x[i - 1]) - h[i - 1] * mu[i - 1]
        mu[i] = h[i] / pivot
        z[i] = (slope - h[i - 1] * z[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        m[i] = z[i] - mu[i] * m[i + 1]
    out = np.zeros_like(points)
    for k, p in enumerate(points):
        i = 0
        while i < n - 2 and p > x[i + 1]:
            i += 1
        t = p - x[i]
        b = (y[i + 1] - y[i]) / h[i] - h[i] * (m[i + 1] + 2.0 * m[i]) / 3.0
        d = (m[i + 1] - m[i]) / (3.0 * h[i])
        out[k] = y[i] + t * (b + t * (m[i] + t * d))
    return out


def black_scholes_by_differences(s, strike, rate, volatility, T, steps):
    """An American put on a grid of prices, implicit in time, exercised where that is better."""
    dt = T / steps
    n = len(s)
    payoff = np.maximum(strike - s, 0.0)
    v = payoff.copy()
    i = np.arange(n)
    a = 0.5 * dt * (rate * i - volatility**2 * i**2)
    b = 1.0 + dt * (volatility**2 * i**2 + rate)
    c = -0.5 * dt * (rate * i + volatility**2 * i**2)
    a[0] = c[0] = a[-1] = c[-1] = 0.0
    b[0] = b[-1] = 1.0
    for _ in range(steps):
        v = thomas(a, b.copy(), c, v.copy())
        np.maximum(v, payoff, out=v)
    return v
