"""Particles: gravity, springs, molecules, chance."""

import numpy as np


def accelerations(positions, masses, softening):
    """Gravity between all pairs (the constant is one), by loops over pairs."""
    n = len(masses)
    a = np.zeros_like(positions)
    for i in range(n):
        for j in range(i + 1, n):
            d = positions[j] - positions[i]
            inverse = 1.0 / (np.dot(d, d) + softening**2) ** 1.5
            a[i] += masses[j] * inverse * d
            a[j] -= masses[i] * inverse * d
    return a


def accelerations_by_planes(positions, masses, softening):
    """The same as tables of differences, one plane for each direction."""
    x, y, z = positions[:, 0:1], positions[:, 1:2], positions[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = dx**2 + dy**2 + dz**2 + softening**2
    inverse[inverse > 0] = inverse[inverse > 0] ** -1.5
    return np.hstack(((dx * inverse) @ masses, (dy * inverse) @ masses, (dz * inverse) @ masses))


def leapfrog(positions, velocities, masses, dt, steps):
    """Many bodies, kicks and drifts in turn; the energies along the way.

    Source: velocity form: half a kick, a drift, half a kick.
    """
    a = accelerations(positions, masses, 0.1)
    energies = np.zeros(steps + 1)
    energies[0] = 0.5 * np.sum(masses * np.sum(velocities**2, axis=1))
    for t in range(steps):
        velocities += a * dt / 2.0
        positions += velocities * dt
        a = accelerations(positions, masses, 0.1)
        velocities += a * dt / 2.0
        energies[t + 1] = 0.5 * np.sum(masses * np.sum(velocities**2, axis=1))
    return energies


def leapfrog_by_planes(positions, velocities, masses, dt, steps):
    """The same with tables, in the frame of the centre of mass."""
    m = masses.reshape(-1, 1)
    velocities -= np.mean(m * velocities, axis=0) / np.mean(m)
    a = accelerations_by_planes(positions, m, 0.1)
    for _ in range(steps):
        velocities += a * dt / 2.0
        positions += velocities * dt
        a = accelerations_by_planes(positions, m, 0.1)
        velocities += a * dt / 2.0
    return positions


def lennard_jones(positions, cutoff):
    """The energy and the forces of molecules that attract from far and repel when near."""
    n = len(positions)
    forces = np.zeros_like(positions)
    energy = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = positions[i] - positions[j]
            r2 = (d**2).sum()
            if r2 > cutoff**2:
                continue
            s6 = 1.0 / r2**3
            energy += 4.0 * s6 * (s6 - 1.0)
            f = 24.0 * s6 * (2.0 * s6 - 1.0) / r2 * d
            forces[i] += f
            forces[j] -= f
    return energy, forces


def chain_of_springs(x, v, stiffness, dt, steps):
    """Masses between springs, the ends held; symplectic Euler steps in place."""
    for _ in range(steps):
        force = np.zeros_like(x)
        force[1:-1] = stiffness * (x[2:] - 2.0 * x[1:-1] + x[:-2])
        v += dt * force
        x += dt * v
    return 0.5 * (v**2).sum() + 0.5 * stiffness * (np.diff(x) ** 2).sum()


def kepler_anomaly(mean, eccentricity, tolerance):
    """E - e sin E = M for every mean anomaly, by Newton's method until all are found."""
    E = mean + eccentricity * np.sin(mean)
    while True:
        step = (E - eccentricity * np.sin(E) - mean) / (1.0 - eccentricity * np.cos(E))
        E -= step
        if np.max(np.abs(step)) < tolerance:
            return E


def elastic_collisions(x, v, m, box, dt, steps):
    """Balls on a line that bounce off each other and off the walls."""
    n = len(x)
    bounces = 0
    for _ in range(steps):
        x += v * dt
        for i in range(n):
            if (x[i] < 0 and v[i] < 0) or (x[i] > box and v[i] > 0):
                v[i] = -v[i]
                bounces += 1
        for i in range(n - 1):
            if x[i] > x[i + 1] and v[i] > v[i + 1]:
                total = m[i] + m[i + 1]
                a, b = v[i], v[i + 1]
                v[i] = ((m[i] - m[i + 1]) * a + 2.0 * m[i + 1] * b) / total
                v[i + 1] = ((m[i + 1] - m[i]) * b + 2.0 * m[i] * a) / total
                bounces += 1
    return x, v, bounces


def ising(spins, beta, seed, sweeps):
    """Magnets on a torus, flipped one by one with Metropolis' chance; a seeded generator."""
    rng = np.random.default_rng(seed)
    n, m = spins.shape
    for _ in range(sweeps):
        chances = rng.random((n, m))
        for i in range(n):
            for j in range(m):
                around = (
                    spins[(i + 1) % n, j]
                    + spins[i - 1, j]
                    + spins[i, (j + 1) % m]
                    + spins[i, j - 1]
                )
                cost = 2.0 * spins[i, j] * around
                if cost <= 0 or chances[i, j] < np.exp(-beta * cost):
                    spins[i, j] *= -1
    return spins, spins.mean()


def random_walks(steps, walkers, seed):
    """How far walkers get on a grid, a direction drawn for each step."""
    rng = np.random.default_rng(seed)
    place = np.zeros((walkers, 2), dtype=np.int64)
    farthest = 0
    for _ in range(steps):
        direction = rng.integers(0, 4, size=walkers)
        place[direction == 0, 0] += 1
        place[direction == 1, 0] -= 1
        place[direction == 2, 1] += 1
        place[direction == 3, 1] -= 1
        farthest = max(farthest, np.abs(place).sum(axis=1).max())
    return place, farthest


def cells_of_particles(positions, cells):
    """How many particles lie in each cell of a unit square, and lists of who they are."""
    n = len(positions)
    counts = np.zeros((cells, cells), dtype=int)
    members = np.full((cells, cells, n), -1)
    for p in range(n):
        i = min(int(positions[p, 0] * cells), cells - 1)
        j = min(int(positions[p, 1] * cells), cells - 1)
        members[i, j, counts[i, j]] = p
        counts[i, j] += 1
    return counts, members


def particle_in_cell_charge(x, cells):
    """Charges of particles spread onto the two nearest points of a ring."""
    density = np.zeros(cells)
    scaled = x * cells
    low = np.floor(scaled).astype(int)
    weight = scaled - low
    np.add.at(density, low % cells, 1.0 - weight)
    np.add.at(density, (low + 1) % cells, weight)
    return density
