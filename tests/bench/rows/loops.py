"""Loops that end when the numbers say so, and sweeps over grids."""

import numpy as np
from harness.record import Goal, Row, just, normal

GROUP, GOAL = "loops", Goal(1.0)


# --- Collatz: the steps of all numbers up to a limit ---


def collatz(limit):
    total = 0
    for start in range(1, limit + 1):
        n = start
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            total += 1
    return total


def collatz_by_jax():
    import jax
    import jax.numpy as jnp

    def collatz(limit):
        def step(state):
            n, total = state
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), total + 1

        def steps(start, total):
            return jax.lax.while_loop(lambda state: state[0] != 1, step, (start, total))[1]

        return jax.lax.fori_loop(1, limit + 1, steps, jnp.int64(0))

    return collatz


# --- Newton's method to a tolerance ---


def newton(a):
    x = a
    while abs(x * x - a) > 1e-14 * a:
        x = (a / x + x) * 0.5
    return x


def as_number(x):
    """Users of Numba pass a number as such."""
    return (x.item(),)


def newton_by_jax():
    import jax
    import jax.numpy as jnp

    def newton(a):
        def unfinished(x):
            return jnp.abs(x * x - a) > 1e-14 * a

        return jax.lax.while_loop(unfinished, lambda x: (a / x + x) * 0.5, a)

    return newton


def newton_by_tensorflow():
    import tensorflow as tf

    def newton(a):
        x = a
        while tf.abs(x * x - a) > 1e-14 * a:
            x = (a / x + x) * 0.5
        return x

    return newton


# --- Mandelbrot: how long each point takes to escape ---

STEPS = 200


def escape_times(xs, ys):
    times = np.zeros((len(ys), len(xs)), np.int32)
    for i in range(len(ys)):
        for j in range(len(xs)):
            cr, ci = xs[j], ys[i]
            zr = cr * 0
            zi = zr
            steps = 0
            while steps < STEPS and zr * zr + zi * zi <= 4:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                steps += 1
            times[i, j] = steps
    return times


def escape_times_at_once(xs, ys):
    """As users of NumPy write it: all points at once."""
    cr, ci = xs[None, :], ys[:, None]
    zr = np.zeros((len(ys), len(xs)), np.float32)
    zi, times = zr, zr.astype(np.int32)
    for _ in range(STEPS):
        inside = zr * zr + zi * zi <= 4
        if not inside.any():
            break
        times = times + inside
        zr, zi = (
            np.where(inside, zr * zr - zi * zi + cr, zr),
            np.where(inside, 2 * zr * zi + ci, zi),
        )
    return times.astype(np.int32)


def escape_times_mapped():
    """As users of graphify write it: a function of one point, mapped over the plane."""
    import graphify

    def escape_time(cr, ci):
        zr = cr * 0
        zi = zr
        steps = np.int32(0)
        while steps < STEPS and zr * zr + zi * zi <= 4:
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            steps += 1
        return steps

    def times(xs, ys):
        row = graphify.vmap(escape_time, in_axes=(0, None))
        return graphify.vmap(row, in_axes=(None, 0))(xs, ys)

    return times


def escape_times_by_numba():
    from numba import prange

    def escape_times(xs, ys):
        times = np.zeros((ys.size, xs.size), np.int32)
        for i in prange(ys.size):
            for j in range(xs.size):
                cr, ci = xs[j], ys[i]
                zr = zi = np.float32(0)
                steps = 0
                while steps < STEPS and zr * zr + zi * zi <= np.float32(4):
                    zr, zi = zr * zr - zi * zi + cr, np.float32(2) * zr * zi + ci
                    steps += 1
                times[i, j] = steps
        return times

    return escape_times


def escape_times_by_jax():
    import jax
    import jax.numpy as jnp

    def escape_times(xs, ys):
        cr, ci = xs[None, :], ys[:, None]
        zero = jnp.zeros((len(ys), len(xs)), jnp.float32)

        def unfinished(state):
            return (state[0] < STEPS) & state[4]

        def step(state):
            k, zr, zi, times, _ = state
            inside = zr * zr + zi * zi <= 4
            real = jnp.where(inside, zr * zr - zi * zi + cr, zr)
            imaginary = jnp.where(inside, 2 * zr * zi + ci, zi)
            return k + 1, real, imaginary, times + inside, inside.any()

        start = (0, zero, zero, zero.astype(jnp.int32), True)
        return jax.lax.while_loop(unfinished, step, start)[3]

    return escape_times


def escape_times_by_tensorflow():
    import tensorflow as tf

    def escape_times(xs, ys):
        cr, ci = xs[None, :], ys[:, None]
        zr = tf.zeros((len(ys), len(xs)))
        zi, times = zr, tf.cast(zr, tf.int32)
        k, going = 0, True
        while tf.logical_and(k < STEPS, going):
            inside = zr * zr + zi * zi <= 4
            zr, zi = (
                tf.where(inside, zr * zr - zi * zi + cr, zr),
                tf.where(inside, 2 * zr * zi + ci, zi),
            )
            times += tf.cast(inside, tf.int32)
            going = tf.reduce_any(inside)
            k += 1
        return times

    return escape_times


MANDELBROT = {
    "numba": escape_times_by_numba,
    "jax": escape_times_by_jax,
    "tensorflow": escape_times_by_tensorflow,
}


def plane(rng, n):
    return np.linspace(-2, 1, n, dtype=np.float32), np.linspace(-1.5, 1.5, n, dtype=np.float32)


# --- Jacobi and Gauss-Seidel sweeps ---

SWEEPS, SEIDEL_SWEEPS = 100, 40


def jacobi(a, b):
    a, b = a.copy(), b.copy()
    for _ in range(SWEEPS):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )
    return a, b


def jacobi_by_numba():
    from numba import prange

    def jacobi(a, b):
        a, b = a.copy(), b.copy()
        n, m = a.shape
        for _ in range(SWEEPS):
            for i in prange(1, n - 1):
                for j in range(1, m - 1):
                    around = a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j]
                    b[i, j] = 0.2 * around
            for i in prange(1, n - 1):
                for j in range(1, m - 1):
                    around = b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j]
                    a[i, j] = 0.2 * around
        return a, b

    return jacobi


def around(a):
    return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])


def jacobi_by_jax():
    import jax

    def sweep(_, state):
        a, b = state
        b = b.at[1:-1, 1:-1].set(around(a))
        a = a.at[1:-1, 1:-1].set(around(b))
        return a, b

    return lambda a, b: jax.lax.fori_loop(0, SWEEPS, sweep, (a, b))


def jacobi_by_tensorflow():
    import tensorflow as tf

    def framed(inner, a):
        middle = tf.concat([a[1:-1, :1], inner, a[1:-1, -1:]], 1)
        return tf.concat([a[:1], middle, a[-1:]], 0)

    def jacobi(a, b):
        for _ in tf.range(SWEEPS):
            b = framed(around(a), b)
            a = framed(around(b), a)
        return a, b

    return jacobi


def gauss_seidel(a):
    a = a.copy()
    n = a.shape[0]
    for _ in range(SEIDEL_SWEEPS):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                above = a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                beside = a[i, j - 1] + a[i, j] + a[i, j + 1]
                below = a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                a[i, j] = (above + beside + below) / 9.0
    return a


def gauss_seidel_by_jax():
    import jax

    def point(k, a):
        n = a.shape[0]
        i, j = 1 + k // (n - 2), 1 + k % (n - 2)
        block = jax.lax.dynamic_slice(a, (i - 1, j - 1), (3, 3))
        return a.at[i, j].set(block.sum() / 9.0)

    def gauss_seidel(a):
        points = (a.shape[0] - 2) ** 2
        sweep = lambda _, a: jax.lax.fori_loop(0, points, point, a)
        return jax.lax.fori_loop(0, SEIDEL_SWEEPS, sweep, a)

    return gauss_seidel


def grids(rng, n):
    return normal(rng, n, n, dtype="float64"), normal(rng, n, n, dtype="float64")


JACOBI = {"numba": jacobi_by_numba, "jax": jacobi_by_jax, "tensorflow": jacobi_by_tensorflow}

ROWS = [
    Row(
        GROUP,
        "Collatz to 100000",
        collatz,
        lambda rng, n: (np.array(n),),
        size=100_000,
        quick=300,
        peers={"numba": just(collatz), "jax": collatz_by_jax},
        goal=GOAL,
        arguments={"numba": as_number},
    ),
    Row(
        GROUP,
        "Newton to a tolerance",
        newton,
        lambda rng, n: (np.array(12345.678),),
        size=0,
        quick=0,
        peers={"numba": just(newton), "jax": newton_by_jax, "tensorflow": newton_by_tensorflow},
        goal=GOAL,
        arguments={"numba": as_number},
    ),
    Row(
        GROUP,
        "Mandelbrot 512 x 512, scalar loops",
        escape_times,
        plane,
        size=512,
        quick=16,
        peers=MANDELBROT,
        goal=GOAL,
        numpy=escape_times_at_once,
        strays=1e-2,  # contraction of products and sums moves points near the border
    ),
    Row(
        GROUP,
        "Mandelbrot 512 x 512, vmap",
        escape_times_at_once,
        plane,
        size=512,
        quick=16,
        peers=MANDELBROT,
        goal=GOAL,
        graphify=escape_times_mapped,
        strays=1e-2,
    ),
    Row(GROUP, "Jacobi 2-d 500 x 500", jacobi, grids, 500, 20, JACOBI, GOAL),
    Row(
        GROUP,
        "Gauss-Seidel 120 x 120",
        gauss_seidel,
        lambda rng, n: grids(rng, n)[:1],
        size=120,
        quick=6,
        peers={"numba": just(gauss_seidel), "jax": gauss_seidel_by_jax},
        goal=GOAL,
    ),
]
