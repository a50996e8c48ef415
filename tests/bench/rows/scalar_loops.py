"""Algorithms as textbooks print them: loops over indices, one number at a time."""

import numpy as np
from harness.record import Goal, Row, just, normal

GROUP, GOAL = "scalar loops", Goal(1.0)


def lu(a):
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def lu_by_jax():
    import jax
    import jax.numpy as jnp

    def lu(a):
        rows = jnp.arange(a.shape[0])

        def column(k, a):
            factors = jnp.where(rows > k, a[:, k] / a[k, k], 0)
            a = a - factors[:, None] * jnp.where(rows > k, a[k], 0)
            return a.at[:, k].set(jnp.where(rows > k, factors, a[:, k]))

        return jax.lax.fori_loop(0, a.shape[0], column, a)

    return lu


def cholesky(a):
    n = a.shape[0]
    factor = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, j] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return factor


def cholesky_by_jax():
    import jax
    import jax.numpy as jnp

    def cholesky(a):
        rows = jnp.arange(a.shape[0])

        def column(j, factor):
            left = jnp.where(rows < j, factor[j], 0)
            total = a[:, j] - factor @ left
            values = total / jnp.sqrt(total[j])
            return factor.at[:, j].set(jnp.where(rows >= j, values, 0))

        return jax.lax.fori_loop(0, a.shape[0], column, jnp.zeros_like(a))

    return cholesky


# --- n bodies ---

STEPS, SHORT = 1000, 0.001


def bodies(position, velocity, mass):
    position, velocity = position.copy(), velocity.copy()
    n = position.shape[0]
    for _ in range(STEPS):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                square = dx * dx + dy * dy + dz * dz
                pull = SHORT / (square * np.sqrt(square))
                velocity[i, 0] -= dx * mass[j] * pull
                velocity[i, 1] -= dy * mass[j] * pull
                velocity[i, 2] -= dz * mass[j] * pull
                velocity[j, 0] += dx * mass[i] * pull
                velocity[j, 1] += dy * mass[i] * pull
                velocity[j, 2] += dz * mass[i] * pull
        for i in range(n):
            position[i, 0] += SHORT * velocity[i, 0]
            position[i, 1] += SHORT * velocity[i, 1]
            position[i, 2] += SHORT * velocity[i, 2]
    return position, velocity


def bodies_by_jax():
    import jax
    import jax.numpy as jnp

    def bodies(position, velocity, mass):
        itself = jnp.eye(position.shape[0])

        def step(_, state):
            position, velocity = state
            apart = position[:, None] - position[None]
            square = (apart * apart).sum(-1) + itself
            pull = SHORT * (1 - itself) / (square * jnp.sqrt(square))
            velocity = velocity - (apart * (mass * pull)[..., None]).sum(1)
            return position + SHORT * velocity, velocity

        return jax.lax.fori_loop(0, STEPS, step, (position, velocity))

    return bodies


def some_bodies(rng, n):
    position = 3 * normal(rng, n, 3, dtype="float64")
    return position, normal(rng, n, 3, dtype="float64"), rng.random(n) + 0.5


# --- shortest paths ---


def floyd_warshall(distance):
    d = distance.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def floyd_warshall_at_once(distance):
    d = distance
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k])
    return d


def floyd_warshall_by_jax():
    import jax
    import jax.numpy as jnp

    def floyd_warshall(distance):
        def step(k, d):
            return jnp.minimum(d, d[:, k][:, None] + d[k][None])

        return jax.lax.fori_loop(0, distance.shape[0], step, distance)

    return floyd_warshall


# --- a sparse matrix by a vector ---


def sparse_product(data, indices, starts, x):
    n = starts.shape[0] - 1
    y = np.zeros(n)
    for row in range(n):
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += data[k] * x[indices[k]]
        y[row] = total
    return y


def sparse_product_by_numba():
    from numba import prange

    def sparse_product(data, indices, starts, x):
        n = starts.shape[0] - 1
        y = np.zeros(n)
        for row in prange(n):
            total = 0.0
            for k in range(starts[row], starts[row + 1]):
                total += data[k] * x[indices[k]]
            y[row] = total
        return y

    return sparse_product


def sparse_product_by_scipy():
    return lambda matrix, x: matrix @ x


def sparse_product_by_jax():
    import jax
    import jax.numpy as jnp

    def sparse_product(data, indices, starts, x):
        n = starts.shape[0] - 1
        rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=data.shape[0])
        return jax.ops.segment_sum(data * x[indices], rows, n, indices_are_sorted=True)

    return sparse_product


def some_sparse(rng, n):
    """Up to 20 numbers a row."""
    counts = rng.integers(1, 20, n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    indices = rng.integers(0, n, starts[-1])
    return rng.standard_normal(starts[-1]), indices, starts, rng.standard_normal(n)


def for_scipy(data, indices, starts, x):
    import scipy.sparse

    return scipy.sparse.csr_array((data, indices, starts), (x.size, x.size)), x


# --- chance ---


def monte_carlo_pi(n):
    np.random.seed(3)
    inside = 0
    for _ in range(n):
        x = np.random.rand()
        y = np.random.rand()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n


def monte_carlo_pi_at_once(n):
    np.random.seed(3)
    x, y = np.random.rand(n, 2).T
    return 4.0 * np.sum(x * x + y * y <= 1.0) / n


def dominant(rng, n):
    """A matrix whose factorisations need no pivots."""
    return (normal(rng, n, n, dtype="float64") + 2 * n * np.eye(n),)


def definite(rng, n):
    a = normal(rng, n, n, dtype="float64")
    return (a @ a.T + n * np.eye(n),)


ROWS = [
    Row(GROUP, "LU 128 x 128", lu, dominant, 128, 12, {"numba": just(lu), "jax": lu_by_jax}, GOAL),
    Row(
        GROUP,
        "Cholesky 128 x 128",
        cholesky,
        definite,
        size=128,
        quick=12,
        peers={"numba": just(cholesky), "jax": cholesky_by_jax},
        goal=GOAL,
    ),
    Row(
        GROUP,
        "n-body, 5 bodies, 1000 steps",
        bodies,
        some_bodies,
        size=5,
        quick=2,
        peers={"numba": just(bodies), "jax": bodies_by_jax},
        goal=GOAL,
        tolerance=1e-3,
    ),
    Row(
        GROUP,
        "Floyd-Warshall 128",
        floyd_warshall,
        lambda rng, n: (rng.random((n, n)),),
        size=128,
        quick=12,
        peers={"numba": just(floyd_warshall), "jax": floyd_warshall_by_jax},
        goal=GOAL,
        numpy=floyd_warshall_at_once,
    ),
    Row(
        GROUP,
        "CSR sparse product 20000",
        sparse_product,
        some_sparse,
        size=20_000,
        quick=50,
        peers={
            "numba": sparse_product_by_numba,
            "scipy": sparse_product_by_scipy,
            "jax": sparse_product_by_jax,
        },
        goal=GOAL,
        arguments={"scipy": for_scipy},
    ),
    Row(
        GROUP,
        "Monte Carlo pi, 1000000 points",
        monte_carlo_pi,
        lambda rng, n: (n,),
        size=1_000_000,
        quick=100,
        peers={"numba": just(monte_carlo_pi)},  # JAX has no stream of NumPy's
        goal=GOAL,
        numpy=monte_carlo_pi_at_once,
    ),
]
