"""Differential equations, quadrature, interpolation, prices."""

import numpy as np


def runge_kutta_4(y, dt, steps):
    """Lorenz's equations by classical fourth-order steps; the whole path."""

    def slope(v):
        return np.array(
            [10.0 * (v[1] - v[0]), v[0] * (28.0 - v[2]) - v[1], v[0] * v[1] - 8.0 / 3.0 * v[2]]
        )

    path = np.zeros((steps + 1, 3))
    path[0] = y
    for t in range(steps):
        k1 = slope(y)
        k2 = slope(y + 0.5 * dt * k1)
        k3 = slope(y + 0.5 * dt * k2)
        k4 = slope(y + dt * k3)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        path[t + 1] = y
    return path


def dormand_prince(y, mu, end, tolerance):
    """Van der Pol's equation with steps that follow the error (orders five and four).

    Source: J. Dormand and P. Prince, 1980.
    """
    c = np.array(
        [
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
            [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
            [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
            [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
        ]
    )
    lower = np.array(
        [5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]
    )
    t, h = 0.0, 0.1
    accepted = rejected = 0
    while t < end:
        h = min(h, end - t)
        k = np.zeros((7, 2))
        for s in range(7):
            v = y + h * (c[s] @ k[:6])
            k[s] = v[1], mu * (1.0 - v[0] ** 2) * v[1] - v[0]
        new = y + h * (c[6] @ k[:6])
        error = np.max(np.abs(new - (y + h * (lower @ k)))) + 1e-300
        if error <= tolerance:
            t += h
            y = new
            accepted += 1
        else:
            rejected += 1
        h *= min(5.0, max(0.2, 0.9 * (tolerance / error) ** 0.2))
    return y, accepted, rejected


def implicit_euler(y, rate, dt, steps):
    """y' = -rate (y^3 - y), each step by Newton's method in every component."""
    turns = 0
    for _ in range(steps):
        new = y.copy()
        while True:
            residual = new - y + dt * rate * (new**3 - new)
            if np.max(np.abs(residual)) < 1e-12:
                break
            new -= residual / (1.0 + dt * rate * (3.0 * new**2 - 1.0))
            turns += 1
        y = new
    return y, turns


def predator_prey(steps, dt, a, b, c, d):
    """Lotka and Volterra's numbers over time, by the midpoint rule."""
    prey, hunters = np.empty(steps), np.empty(steps)
    x, y = 10.0, 5.0
    for t in range(steps):
        xm = x + 0.5 * dt * x * (a - b * y)
        ym = y + 0.5 * dt * y * (d * x - c)
        x, y = x + dt * xm * (a - b * ym), y + dt * ym * (d * xm - c)
        prey[t], hunters[t] = x, y
    return prey, hunters


def epidemic(s, i, r, contacts, beta, gamma, days):
    """Susceptible, infected and recovered in towns with contacts; the worst day of each."""
    peak = i.copy()
    day_of_peak = np.zeros(len(i), dtype=np.int64)
    for day in range(1, days + 1):
        force = beta * (contacts @ i)
        new = np.minimum(s * force, s)
        gone = gamma * i
        s -= new
        i += new - gone
        r += gone
        worse = i > peak
        peak[worse] = i[worse]
        day_of_peak[worse] = day
    return peak, day_of_peak


def romberg(c, low, high, levels):
    """The integral of exp(-c x^2) by trapezoids, extrapolated; c may be an array."""
    table = np.zeros((levels, levels, len(c)))
    h = high - low
    table[0, 0] = 0.5 * h * (np.exp(-c * low**2) + np.exp(-c * high**2))
    for i in range(1, levels):
        h *= 0.5
        total = np.zeros(len(c))
        for k in range(1, 2**i, 2):
            total += np.exp(-c * (low + k * h) ** 2)
        table[i, 0] = 0.5 * table[i - 1, 0] + h * total
        for j in range(1, i + 1):
            table[i, j] = table[i, j - 1] + (table[i, j - 1] - table[i - 1, j - 1]) / (4**j - 1)
    return table[levels - 1, levels - 1]


def adaptive_simpson(a, b, c, tolerance):
    """The integral of sin(c x) / (1 + x), halving intervals that need it, with a stack."""

    def f(x):
        return np.sin(c * x) / (1.0 + x)

    def simpson(u, v):
        return (v - u) / 6.0 * (f(u) + 4.0 * f(0.5 * (u + v)) + f(v))

    stack = np.zeros((200, 3))
    stack[0] = a, b, tolerance
    top, total, pieces = 1, 0.0, 0
    while top > 0:
        top -= 1
        u, v, tol = stack[top, 0], stack[top, 1], stack[top, 2]
        m = 0.5 * (u + v)
        whole, halves = simpson(u, v), simpson(u, m) + simpson(m, v)
        if abs(whole - halves) < 15.0 * tol or v - u < 1e-4:
            total += halves + (halves - whole) / 15.0
            pieces += 1
        else:
            stack[top] = u, m, 0.5 * tol
            stack[top + 1] = m, v, 0.5 * tol
            top += 2
    return total, pieces


def gauss_legendre(n):
    """Points and weights of Gauss and Legendre's rule, by Newton's method on recurrences."""
    x, w = np.zeros(n), np.zeros(n)
    for i in range((n + 1) // 2):
        z = np.cos(np.pi * (i + 0.75) / (n + 0.5))
        while True:
            p0, p1 = 1.0, 0.0
            for k in range(n):
                p0, p1 = ((2 * k + 1) * z * p0 - k * p1) / (k + 1), p0
            slope = n * (z * p0 - p1) / (z * z - 1.0)
            step = p0 / slope
            z -= step
            if abs(step) < 1e-14:
                break
        x[i], x[n - 1 - i] = -z, z
        w[i] = w[n - 1 - i] = 2.0 / ((1.0 - z * z) * slope * slope)
    return x, w


def newton_interpolation(x, y, points):
    """The polynomial through (x, y) by divided differences, in place, then Horner's scheme."""
    c = y.copy()
    n = len(x)
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - j])
    out = np.full_like(points, c[n - 1])
    for i in range(n - 2, -1, -1):
        out = out * (points - x[i]) + c[i]
    return out


def lagrange_barycentric(x, y, points):
    """The same by barycentric weights; a point that is a node gives its value."""
    n = len(x)
    w = np.ones(n)
    for i in range(n):
        for j in range(n):
            if i != j:
                w[i] /= x[i] - x[j]
    out = np.zeros(len(points))
    for k in range(len(points)):
        above = below = 0.0
        for i in range(n):
            d = points[k] - x[i]
            if d == 0:
                out[k] = y[i]
                break
            above += w[i] / d * y[i]
            below += w[i] / d
        else:
            out[k] = above / below
    return out


def bilinear_resize(image, rows, columns):
    """An image on another grid, between its four nearest points."""
    out = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            y = i * (image.shape[0] - 1) / (rows - 1)
            x = j * (image.shape[1] - 1) / (columns - 1)
            i0, j0 = int(y), int(x)
            i1, j1 = min(i0 + 1, image.shape[0] - 1), min(j0 + 1, image.shape[1] - 1)
            fy, fx = y - i0, x - j0
            out[i, j] = (
                image[i0, j0] * (1 - fy) * (1 - fx)
                + image[i0, j1] * (1 - fy) * fx
                + image[i1, j0] * fy * (1 - fx)
                + image[i1, j1] * fy * fx
            )
    return out


def de_boor(knots, control, degree, points):
    """Points of a B-spline curve.

    Source: C. de Boor, 1972.
    """
    out = np.zeros((len(points), control.shape[1]))
    for p in range(len(points)):
        t = points[p]
        k = degree
        while k < len(control) - 1 and t >= knots[k + 1]:
            k += 1
        d = control[k - degree : k + 1].copy()
        for r in range(1, degree + 1):
            for j in range(degree, r - 1, -1):
                low = knots[j + k - degree]
                alpha = (t - low) / (knots[j + 1 + k - r] - low)
                d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
        out[p] = d[degree]
    return out


def binomial_option(price, strike, rate, volatility, years, steps):
    """An American put on a tree of up and down moves.

    Source: J. Cox, S. Ross and M. Rubinstein, 1979.
    """
    dt = years / steps
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    discount = np.exp(-rate * dt)
    value = np.zeros(steps + 1)
    for i in range(steps + 1):
        value[i] = max(strike - price * up ** (2 * i - steps), 0.0)
    for t in range(steps - 1, -1, -1):
        for i in range(t + 1):
            hold = discount * (p * value[i + 1] + (1.0 - p) * value[i])
            value[i] = max(hold, strike - price * up ** (2 * i - t))
    return value[0]


def trinomial_tree(price, strike, rate, volatility, years, steps):
    """A European call on a tree with three branches, by slices."""
    dt = years / steps
    dx = volatility * np.sqrt(3.0 * dt)
    drift = rate - 0.5 * volatility**2
    a, b = (volatility**2 * dt + drift**2 * dt**2) / dx**2, drift * dt / dx
    up, middle, down = 0.5 * (a + b), 1.0 - a, 0.5 * (a - b)
    s = price * np.exp(dx * np.arange(-steps, steps + 1))
    v = np.maximum(s - strike, 0.0)
    for _ in range(steps):
        v[1:-1] = np.exp(-rate * dt) * (up * v[2:] + middle * v[1:-1] + down * v[:-2])
    return v[steps]


def asian_option(price, strike, rate, volatility, steps, paths, seed):
    """A call on the mean price of random paths; its value and standard error."""
    rng = np.random.default_rng(seed)
    dt = 1.0 / steps
    s = np.full(paths, price)
    mean = np.zeros(paths)
    for _ in range(steps):
        z = rng.standard_normal(paths)
        s *= np.exp((rate - 0.5 * volatility**2) * dt + volatility * np.sqrt(dt) * z)
        mean += s / steps
    gain = np.exp(-rate) * np.maximum(mean - strike, 0.0)
    return gain.mean(), gain.std() / np.sqrt(paths)


def loan_schedule(amount, yearly, months):
    """Interest and repayment by month of a loan with equal payments, to the cent."""
    rate = yearly / 12.0
    payment = round(amount * rate / (1.0 - (1.0 + rate) ** -months), 2)
    table = np.zeros((months, 3))
    left = amount
    for month in range(months):
        interest = round(left * rate, 2)
        paid = min(payment - interest, left)
        left = round(left - paid, 2)
        table[month] = interest, paid, left
    return table


def gillespie(x, birth, death, end, seed):
    """Random births and deaths in time, event by event, until an end."""
    rng = np.random.default_rng(seed)
    t, events = 0.0, 0
    while t < end and events < 500:
        total = birth + death * x
        t += rng.exponential() / total
        if rng.random() * total < birth:
            x += 1
        else:
            x -= 1
        events += 1
    return x, t, events
