"""Escape times: how long a point stays near under a map of the complex plane."""

import numpy as np


def mandelbrot(xmin, xmax, ymin, ymax, width, height, most):
    """Turns until |z| > 2 under z <- z^2 + c, point by point with an early exit."""
    counts = np.zeros((height, width), dtype=np.int64)
    for row in range(height):
        for column in range(width):
            c = complex(
                xmin + (xmax - xmin) * column / (width - 1),
                ymin + (ymax - ymin) * row / (height - 1),
            )
            z = 0j
            n = 0
            while abs(z) <= 2.0 and n < most:
                z = z * z + c
                n += 1
            counts[row, column] = n
    return counts


def mandelbrot_by_masks(xmin, xmax, ymin, ymax, width, height, most, horizon):
    """The same for all points at once: those that left keep their count and last value."""
    X = np.linspace(xmin, xmax, width)
    Y = np.linspace(ymin, ymax, height)
    C = X + Y[:, None] * 1j
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(most):
        inside = np.abs(Z) < horizon
        N[inside] = n
        Z[inside] = Z[inside] ** 2 + C[inside]
    N[N == most - 1] = 0
    return Z, N


def mandelbrot_of_those_left(C, most):
    """The same with a list of the points that have not left, which gets shorter."""
    N = np.zeros(C.shape, dtype=np.int64)
    left = np.arange(C.size)
    c = C.reshape(-1)
    z = c.copy()
    for n in range(most):
        if len(left) == 0:
            break
        z = z * z + c
        gone = np.abs(z) > 2.0
        N.flat[left[gone]] = n + 1
        left, z, c = left[~gone], z[~gone], c[~gone]
    return N


def julia_smooth(Z, c, most):
    """Escape times made smooth by how far out the point ended."""
    out = np.zeros(Z.shape)
    for (i, j), z in np.ndenumerate(Z):
        n = 0
        while n < most:
            z = z * z + c
            if z.real * z.real + z.imag * z.imag > 1e4:
                out[i, j] = n + 1 - np.log2(np.log(np.abs(z)))
                break
            n += 1
        else:
            out[i, j] = most
    return out


def newton_fractal(Z, tolerance):
    """To which of the three roots of z^3 = 1 Newton's method goes from each point."""
    roots = np.exp(2j * np.pi * np.arange(3) / 3.0)
    which = np.full(Z.shape, -1)
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            z = Z[i, j]
            for _ in range(30):
                if abs(z) < 1e-12:
                    break
                z = z - (z**3 - 1) / (3 * z**2)
            for k in range(3):
                if abs(z - roots[k]) < tolerance:
                    which[i, j] = k
    return which


def logistic_bifurcation(rates, settle, keep):
    """What x <- r x (1 - x) comes to for each rate, after it has settled."""
    x = np.full(len(rates), 0.4)
    for _ in range(settle):
        x = rates * x * (1.0 - x)
    orbit = np.empty((keep, len(rates)))
    for t in range(keep):
        x = rates * x * (1.0 - x)
        orbit[t] = x
    return orbit


def henon_attractor(a, b, steps):
    """Points of Henon's map, and the largest distance from the origin."""
    points = np.zeros((steps, 2))
    x = y = 0.0
    far = 0.0
    for t in range(steps):
        x, y = 1.0 - a * x * x + y, b * x
        points[t] = x, y
        far = max(far, np.hypot(x, y))
    return points, far


def lyapunov_exponent(r, x, steps):
    """The mean logarithm of how fast near orbits of the logistic map part."""
    total = 0.0
    for _ in range(steps):
        x = r * x * (1.0 - x)
        slope = abs(r * (1.0 - 2.0 * x))
        if slope > 0:
            total += np.log(slope)
    return total / steps
