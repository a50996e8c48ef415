"""Fluids: Navier and Stokes by pressure iterations, and by a lattice of colliding particles."""

import numpy as np


def pressure_source(b, rho, dt, u, v, dx, dy):
    """The right side of the equation for the pressure, in place."""
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    b[1:-1, 1:-1] = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)


def relax_pressure(p, dx, dy, b, tolerance):
    """Poisson's equation for the pressure, to a tolerance; walls on three sides, a lid on top."""
    change, turns = 1.0, 0
    while change > tolerance and turns < 200:
        old = p.copy()
        p[1:-1, 1:-1] = (
            (old[1:-1, 2:] + old[1:-1, :-2]) * dy**2 + (old[2:, 1:-1] + old[:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
        change = np.abs(p - old).sum() / (np.abs(old).sum() + 1e-10)
        turns += 1
    return turns


def cavity_flow(u, v, p, steps, dt, rho, nu):
    """Flow in a box under a moving lid; u, v and p are changed in place.

    Source: projection by a pressure that keeps the velocity free of divergence, as in the twelve
    steps to Navier-Stokes that are used for teaching.
    """
    ny, nx = u.shape
    dx, dy = 2.0 / (nx - 1), 2.0 / (ny - 1)
    b = np.zeros((ny, nx))
    total = 0
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        pressure_source(b, rho, dt, u, v, dx, dy)
        total += relax_pressure(p, dx, dy, b, 1e-3)
        for w, wn, gradient in (
            (u, un, (p[1:-1, 2:] - p[1:-1, :-2]) / dx),
            (v, vn, (p[2:, 1:-1] - p[:-2, 1:-1]) / dy),
        ):
            inner = wn[1:-1, 1:-1]
            w[1:-1, 1:-1] = (
                inner
                - un[1:-1, 1:-1] * dt / dx * (inner - wn[1:-1, :-2])
                - vn[1:-1, 1:-1] * dt / dy * (inner - wn[:-2, 1:-1])
                - dt / (2 * rho) * gradient
                + nu * dt / dx**2 * (wn[1:-1, 2:] - 2 * inner + wn[1:-1, :-2])
                + nu * dt / dy**2 * (wn[2:, 1:-1] - 2 * inner + wn[:-2, 1:-1])
            )
        u[0, :], u[:, 0], u[:, -1] = 0, 0, 0
        u[-1, :] = 1
        v[0, :] = v[-1, :] = v[:, 0] = v[:, -1] = 0
    return total


def channel_flow(u, v, p, dt, rho, nu, force, tolerance):
    """Flow through a periodic channel under a force, until its speed settles; returns the turns."""
    ny, nx = u.shape
    dx, dy = 2.0 / (nx - 1), 2.0 / (ny - 1)
    shift, turns = 1.0, 0
    while shift > tolerance and turns < 40:
        un, vn = u.copy(), v.copy()
        east, west = np.roll(un, -1, axis=1), np.roll(un, 1, axis=1)
        b = np.zeros_like(p)
        ux = (east[1:-1] - west[1:-1]) / (2 * dx)
        vy = (vn[2:] - vn[:-2]) / (2 * dy)
        b[1:-1] = rho * (ux + vy) / dt
        for _ in range(12):
            pn = p.copy()
            around = np.roll(pn, -1, axis=1)[1:-1] + np.roll(pn, 1, axis=1)[1:-1]
            p[1:-1] = (around * dy**2 + (pn[2:] + pn[:-2]) * dx**2) / (2 * (dx**2 + dy**2))
            p[1:-1] -= dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1]
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        px = (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))[1:-1] / (2 * dx)
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - west[1:-1])
            - vn[1:-1] * dt / dy * (un[1:-1] - un[:-2])
            - dt / rho * px
            + nu * dt / dx**2 * (east[1:-1] - 2 * un[1:-1] + west[1:-1])
            + nu * dt / dy**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
            + force * dt
        )
        v[1:-1] = (
            vn[1:-1]
            - vn[1:-1] * dt / dy * (vn[1:-1] - vn[:-2])
            - dt / (2 * rho * dy) * (p[2:] - p[:-2])
            + nu * dt / dy**2 * (vn[2:] - 2 * vn[1:-1] + vn[:-2])
        )
        u[0, :] = u[-1, :] = 0.0
        v[0, :] = v[-1, :] = 0.0
        shift = (np.sum(u) - np.sum(un)) / np.sum(u)
        turns += 1
    return turns


def lattice_boltzmann(f, tau, steps):
    """Flow on a periodic lattice with nine speeds and a relaxation time; a block is in the way.

    Source: Bhatnagar, Gross and Krook; f[k] are the particles with speed k.
    """
    cx = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    cy = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    opposite = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    _, ny, nx = f.shape
    solid = np.zeros((ny, nx), dtype=bool)
    solid[ny // 3 : ny // 2, nx // 4 : nx // 3] = True
    for _ in range(steps):
        for k in range(9):
            f[k] = np.roll(np.roll(f[k], cx[k], axis=1), cy[k], axis=0)
        bounced = f[:, solid][opposite]
        rho = f.sum(axis=0)
        ux = np.tensordot(cx, f, axes=1) / rho
        uy = np.tensordot(cy, f, axes=1) / rho
        for k in range(9):
            cu = cx[k] * ux + cy[k] * uy
            even = rho * weights[k] * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (ux**2 + uy**2))
            f[k] += (even - f[k]) / tau
        f[:, solid] = bounced
    return f


def shallow_water(h, hu, g, dx, dt, steps):
    """Waves on shallow water by Lax and Friedrichs' scheme, reflecting walls."""
    for _ in range(steps):
        velocity = hu / h
        flux_h, flux_m = hu, hu * velocity + 0.5 * g * h * h
        new_h, new_m = h.copy(), hu.copy()
        new_h[1:-1] = 0.5 * (h[:-2] + h[2:]) - dt / (2 * dx) * (flux_h[2:] - flux_h[:-2])
        new_m[1:-1] = 0.5 * (hu[:-2] + hu[2:]) - dt / (2 * dx) * (flux_m[2:] - flux_m[:-2])
        new_h[0], new_h[-1] = new_h[1], new_h[-2]
        new_m[0], new_m[-1] = -new_m[1], -new_m[-2]
        h, hu = new_h, new_m
    return h, hu


def shock_tube(rho, velocity, pressure, dx, time):
    """Euler's equations by Rusanov's fluxes; the step follows the fastest wave."""
    gamma = 1.4
    n = len(rho)
    state = np.zeros((3, n))
    state[0], state[1] = rho, rho * velocity
    state[2] = pressure / (gamma - 1) + 0.5 * rho * velocity**2
    t, steps = 0.0, 0
    while t < time:
        u = state[1] / state[0]
        p = (gamma - 1) * (state[2] - 0.5 * state[0] * u**2)
        speed = np.abs(u) + np.sqrt(gamma * p / state[0])
        dt = min(0.4 * dx / speed.max(), time - t)
        flux = np.stack([state[1], state[1] * u + p, (state[2] + p) * u])
        between = np.zeros((3, n - 1))
        for i in range(n - 1):
            fastest = max(speed[i], speed[i + 1])
            between[:, i] = 0.5 * (flux[:, i] + flux[:, i + 1])
            between[:, i] -= 0.5 * fastest * (state[:, i + 1] - state[:, i])
        state[:, 1:-1] -= dt / dx * (between[:, 1:] - between[:, :-1])
        t += dt
        steps += 1
    return state, steps


def vortex_points(x, y, strength, dt, steps):
    """Point vortices that carry each other along, by midpoint steps."""
    n = len(x)
    mx, my = x, y
    for _ in range(steps):
        for half in (0.5, 1.0):
            u, v = np.zeros(n), np.zeros(n)
            px, py = (x, y) if half == 0.5 else (mx, my)
            for i in range(n):
                for j in range(n):
                    if i == j:
                        continue
                    dx, dy = px[i] - px[j], py[i] - py[j]
                    r2 = dx * dx + dy * dy + 1e-3
                    u[i] -= strength[j] * dy / r2
                    v[i] += strength[j] * dx / r2
            mx, my = x + half * dt * u, y + half * dt * v
        x, y = mx, my
    return x, y
