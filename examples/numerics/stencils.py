"""Stencils: each point of a grid from its neighbours, once, many times, or until nothing moves."""

import numpy as np


def jacobi_1d(a, steps):
    """Means of three neighbours, between two buffers that change places.

    Source: u_i <- (u_{i-1} + u_i + u_{i+1}) / 3.
    """
    b = a.copy()
    for _ in range(steps):
        for i in range(1, len(a) - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        a, b = b, a
    return a


def heat_1d(u, alpha, steps):
    """The heat equation on a line with fixed ends, explicit in time.

    Source: u_i += alpha (u_{i+1} - 2 u_i + u_{i-1}).
    """
    for _ in range(steps):
        u[1:-1] += alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def heat_2d(u, alpha, steps):
    """The heat equation on a rectangle, element by element, the new values in another array."""
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                new[i, j] = u[i, j] + alpha * (around - 4.0 * u[i, j])
        u[:] = new
    return u


def heat_3d(a, b, steps):
    """The heat equation in a box: a sweep from a to b and one back, in slices of whole planes."""
    for _ in range(1, steps):
        for source, target in ((a, b), (b, a)):
            inside = source[1:-1, 1:-1, 1:-1]
            target[1:-1, 1:-1, 1:-1] = (
                0.125 * (source[2:, 1:-1, 1:-1] - 2.0 * inside + source[:-2, 1:-1, 1:-1])
                + 0.125 * (source[1:-1, 2:, 1:-1] - 2.0 * inside + source[1:-1, :-2, 1:-1])
                + 0.125 * (source[1:-1, 1:-1, 2:] - 2.0 * inside + source[1:-1, 1:-1, :-2])
                + inside
            )
    return a


def gauss_seidel_2d(a, steps):
    """Nine-point means in place: each point sees what its neighbours before it became."""
    rows, columns = a.shape
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                a[i, j] = a[i - 1 : i + 2, j - 1 : j + 2].sum() / 9.0
    return a


def laplace_until(u, tolerance):
    """Laplace's equation by relaxation, until a sweep changes no point by more than a tolerance."""
    sweeps = 0
    change = np.inf
    while change > tolerance:
        change = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = max(change, abs(new - u[i, j]))
                u[i, j] = new
        sweeps += 1
    return u, sweeps


def successive_over_relaxation(u, f, omega, steps):
    """Poisson's equation by red and black half sweeps with over-relaxation.

    Source: u += omega ((sum of neighbours - f) / 4 - u), first where i + j is even.
    """
    n, m = u.shape
    for _ in range(steps):
        for colour in (0, 1):
            for i in range(1, n - 1):
                first = 1 + (i + 1 + colour) % 2
                for j in range(first, m - 1, 2):
                    around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                    u[i, j] += omega * ((around - f[i, j]) / 4.0 - u[i, j])
    return u


def wave_2d(u, previous, courant, steps):
    """The wave equation by leapfrog; reflecting at fixed walls."""
    c = courant * courant
    for _ in range(steps):
        following = np.zeros_like(u)
        following[1:-1, 1:-1] = (
            2.0 * u[1:-1, 1:-1]
            - previous[1:-1, 1:-1]
            + c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
        )
        previous, u = u, following
    return u, (u * u).sum()


def fdtd_2d(ex, ey, hz, source):
    """Maxwell's equations in a plane by finite differences in time.

    Source: K. S. Yee, 1966: the fields live on staggered grids and leap over each other.
    """
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def horizontal_diffusion(field, coefficient):
    """Fourth-order diffusion with a limiter on the fluxes, on levels of a staggered grid."""
    laplace = 4.0 * field[1:-1, 1:-1] - (
        field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    )
    along = laplace[1:, 1:-1] - laplace[:-1, 1:-1]
    along[along * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0] = 0.0
    across = laplace[1:-1, 1:] - laplace[1:-1, :-1]
    across[across * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0] = 0.0
    out = field.copy()
    divergence = along[1:] - along[:-1] + across[:, 1:] - across[:, :-1]
    out[2:-2, 2:-2] -= coefficient[2:-2, 2:-2] * divergence
    return out


def advection_upwind(q, velocity, dt, steps):
    """Transport in a ring with a velocity that changes its sign: the difference looks upstream."""
    n = len(q)
    flux = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            if velocity[i] > 0:
                flux[i] = velocity[i] * q[i - 1]
            else:
                flux[i] = velocity[i] * q[i]
        for i in range(n):
            q[i] -= dt * (flux[(i + 1) % n] - flux[i])
    return q


def burgers(u, nu, dx, dt, steps):
    """Burgers' equation in a ring: convection by itself, and diffusion."""
    for _ in range(steps):
        old = u.copy()
        u -= dt / dx * old * (old - np.roll(old, 1))
        u += nu * dt / dx**2 * (np.roll(old, -1) - 2.0 * old + np.roll(old, 1))
    return u


def game_of_life(cells, generations):
    """Conway's cellular automaton on a torus; cells are 0 or 1."""
    rows, columns = cells.shape
    for _ in range(generations):
        new = np.zeros_like(cells)
        for i in range(rows):
            for j in range(columns):
                alive = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di != 0 or dj != 0:
                            alive += cells[(i + di) % rows, (j + dj) % columns]
                if alive == 3 or (alive == 2 and cells[i, j] == 1):
                    new[i, j] = 1
        cells = new
    return cells, cells.sum()


def elementary_automaton(cells, rule, generations):
    """Wolfram's automata on a line: three cells above, one bit of the rule below."""
    history = np.zeros((generations + 1, len(cells)), dtype=cells.dtype)
    history[0] = cells
    for t in range(generations):
        row = history[t]
        code = 4 * np.roll(row, 1) + 2 * row + np.roll(row, -1)
        history[t + 1] = (rule >> code) & 1
    return history


def sandpile(grid):
    """Piles of four topple onto their neighbours, until none is left; grains fall off the edge."""
    topplings = 0
    while np.any(grid >= 4):
        for i, j in np.ndindex(grid.shape):
            if grid[i, j] >= 4:
                grid[i, j] -= 4
                topplings += 1
                if i > 0:
                    grid[i - 1, j] += 1
                if i < grid.shape[0] - 1:
                    grid[i + 1, j] += 1
                if j > 0:
                    grid[i, j - 1] += 1
                if j < grid.shape[1] - 1:
                    grid[i, j + 1] += 1
    return grid, topplings
