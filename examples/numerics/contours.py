"""Contour integrals and other sums of complex matrices."""

import numpy as np


def contour_integral(NR, NM, slab_per_bc, Ham, int_pts, Y):
    """Moments of a matrix resolvent around points of a contour.

    For each point z: T(z) = sum_n z^(slab/2 - n) H_n, X = T(z)^{-1} Y; points outside the unit
    circle count positive.
    """
    P0 = np.zeros((NR, NM), dtype=np.complex128)
    P1 = np.zeros((NR, NM), dtype=np.complex128)
    for z in int_pts:
        Tz = np.zeros((NR, NR), dtype=np.complex128)
        for n in range(slab_per_bc + 1):
            zz = np.power(z, slab_per_bc / 2 - n)
            Tz += zz * Ham[n]
        if NR == NM:
            X = np.linalg.inv(Tz)
        else:
            X = np.linalg.solve(Tz, Y)
        if abs(z) < 1.0:
            X = -X
        P0 += X
        P1 += z * X
    return P0, P1


def count_eigenvalues(A, centre, radius, points):
    """How many eigenvalues lie in a circle: the trace of the resolvent around it."""
    n = A.shape[0]
    total = 0j
    for k in range(points):
        phase = np.exp(2j * np.pi * (k + 0.5) / points)
        z = centre + radius * phase
        inverse = np.linalg.inv(z * np.eye(n) - A)
        total += radius * phase * np.trace(inverse) / points
    return np.rint(total.real), total


def cauchy_derivative(c, z, order, radius, points):
    """A derivative of a polynomial by Cauchy's formula, the factorial by a loop."""
    total = 0j
    for k in range(points):
        w = np.exp(2j * np.pi * k / points)
        value = 0j
        for coefficient in c:
            value = value * (z + radius * w) + coefficient
        total += value * w ** (-order)
    factorial = 1.0
    for k in range(2, order + 1):
        factorial *= k
    return total * factorial / (points * radius**order)


def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    """Self-energies of electrons by phonons: five nested loops and two small products.

    Sigma[k, E, a] += (dH[a, b, i] G[k - q, E - w, neighbour]) (dH[a, b, j] D[q, w, a, b, i, j])
    """
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for i in range(D.shape[-2]):
                        for j in range(D.shape[-1]):
                            for a in range(neigh_idx.shape[0]):
                                for b in range(neigh_idx.shape[1]):
                                    if E - w >= 0:
                                        dHG = G[k, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                        dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                        Sigma[k, E, a] += dHG @ dHD
    return Sigma


def density_matrix_evolution(H, rho, dt, steps):
    """d rho / dt = -i [H, rho] by Runge and Kutta's fourth-order steps; the purities."""
    purity = np.zeros(steps)
    for t in range(steps):
        k1 = -1j * (H @ rho - rho @ H)
        m = rho + 0.5 * dt * k1
        k2 = -1j * (H @ m - m @ H)
        m = rho + 0.5 * dt * k2
        k3 = -1j * (H @ m - m @ H)
        m = rho + dt * k3
        k4 = -1j * (H @ m - m @ H)
        rho = rho + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        purity[t] = np.trace(rho @ rho).real
    return rho, purity


def quantum_fourier_transform(state):
    """The Fourier transform of a register, gate by gate on views of the state."""
    n = int(np.log2(len(state)))
    psi = state.reshape((2,) * n).astype(complex)
    for q in range(n):
        front = np.moveaxis(psi, q, 0)
        a, b = front[0].copy(), front[1].copy()
        front[0] = (a + b) / np.sqrt(2.0)
        front[1] = (a - b) / np.sqrt(2.0)
        for other in range(q + 1, n):
            both = np.moveaxis(psi, (q, other), (0, 1))
            both[1, 1] *= np.exp(1j * np.pi / 2 ** (other - q))
    return psi.transpose(tuple(range(n))[::-1]).reshape(-1)


def power_series_inverse(c):
    """The first coefficients of 1 / f from those of f; real or complex."""
    out = np.zeros_like(c)
    out[0] = 1.0 / c[0]
    for n in range(1, len(c)):
        total = 0.0
        for k in range(1, n + 1):
            total += c[k] * out[n - k]
        out[n] = -total / c[0]
    return out


def durand_kerner(c, steps):
    """All zeros of a polynomial with leading coefficient one, together."""
    n = len(c) - 1
    z = (0.4 + 0.9j) ** np.arange(n)
    for _ in range(steps):
        for i in range(n):
            value = 1.0 + 0j
            for coefficient in c[1:]:
                value = value * z[i] + coefficient
            others = 1.0 + 0j
            for j in range(n):
                if j != i:
                    others *= z[i] - z[j]
            z[i] -= value / others
    return z
