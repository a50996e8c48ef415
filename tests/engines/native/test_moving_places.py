"""Arrays whose shape changes from turn to turn, or with the branch: right, native, nothing lost."""

import numpy as np
import pytest

import graphify

X = np.arange(8.0) - 2


def doubling(x):
    y = x[:1]
    while y.shape[0] < 100:
        y = np.concatenate([y, y + 1])
    return y


def collected(k):
    found = [k]
    while k != 1:
        k = k // 2 if k % 2 == 0 else 3 * k + 1
        found.append(k)
    return found


def picked(x, k):
    if k > 2:
        y = x[:3] * 2
    else:
        y = x[1:]
    return y, y.sum()


def shrinks_and_grows(x, k):
    y = x
    for _ in range(k):
        if y[0] > 0 and y.shape[0] > 2:
            y = y[:-1]
        else:
            y = np.concatenate([y[:1] + 2, y])
    return y


def exchanged(x, k):
    a, b = x, x[1:]
    for _ in range(k):
        a, b = np.concatenate([b, a[:1]]), a[:2]
    return a, b


def swapped(x, k):
    a, b = x[:2], x
    for i in range(k):
        a, b = b, a
        if i % 3 == 0:
            a = np.concatenate([a, b[-1:]])
    return a, b, a.sum() + b.sum()


def rows_added(w, k):
    for i in range(k):
        w = np.concatenate([w, w[i : i + 1] * 2.0])
        w[0, 0] += 1.0
    return w


def trimmed(x, k):
    while x.shape[0] > 1 and x.sum() > k:
        x = x[x < x.max()]
    return x


def nested(x, k):
    total = np.zeros(0)
    for i in range(k):
        part = x[:1]
        while part.shape[0] <= i:
            part = np.concatenate([part, part[-1:] + 1])
        total = np.concatenate([total, part])
    return total


def seen_in_another_shape(x, k):
    """The body changes one view of the array, and the condition looks at another."""
    y = x.reshape(x.shape[::-1])
    row = y[1]
    row[0] -= 1
    i = 0
    while i < k and not y.all():
        i += 1
        x[i:] += row[0]
        y[::-1] *= 3
    return y


PROGRAMS = [
    (doubling, [(X,), (X + 1,)]),
    (collected, [(np.asarray(k),) for k in (27, 1, 97)]),
    (picked, [(X, np.asarray(k)) for k in (1, 3, 1)]),
    (shrinks_and_grows, [(X, np.asarray(k)) for k in (0, 1, 5, 20, 3)]),
    (exchanged, [(X, np.asarray(k)) for k in (0, 1, 2, 5, 12)]),
    (swapped, [(X, np.asarray(k)) for k in (0, 1, 2, 5, 12)]),
    (rows_added, [(np.arange(6.0).reshape(2, 3), np.asarray(k)) for k in (0, 1, 9, 30)]),
    (trimmed, [(X, np.asarray(k)) for k in (100, 3, -50)]),
    (
        seen_in_another_shape,
        [(np.arange(15.0).reshape(shape) % 4, np.asarray(12)) for shape in ((5, 3), (3, 5))],
    ),
    (nested, [(X, np.asarray(k)) for k in (0, 1, 5, 13)]),
]


def leaves(value):
    return [np.asarray(v) for v in (value if isinstance(value, tuple | list) else (value,))]


def copies(args):
    return [a.copy() for a in args]


@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_right_and_native(function, calls):
    staged = graphify.function(function, engine="native")
    for args in calls:
        mine, theirs = copies(args), copies(args)
        got, want = leaves(staged(*mine)), leaves(function(*theirs))
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
    text = str(staged.get_concrete_function(*copies(calls[-1])).lower())
    assert "host(" not in text


def test_the_loop_program_means_the_same_after_every_pass():
    with graphify.config(check=True):
        for function, calls in PROGRAMS:
            staged = graphify.function(function, engine="native")
            for args in calls:
                got, want = leaves(staged(*copies(args))), leaves(function(*copies(args)))
                for one, other in zip(got, want, strict=True):
                    np.testing.assert_array_equal(one, other)


def test_nothing_leaks():
    resource = pytest.importorskip("resource")
    staged = graphify.function(doubling)
    x = np.zeros(3)

    def grown(calls):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(calls):
            staged(x)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    grown(2000)
    assert grown(20_000) < 4096  # kB; each call that lost its last array alone would add 20 MB


def test_an_error_in_a_turn_frees_what_moved():
    def taken(x, k):
        y = x
        for i in range(k):
            y = np.concatenate([y, y[i * 5 : i * 5 + 1]])
            y[i * 4] += 1
        return y

    staged = graphify.function(taken)
    assert staged(np.ones(3), np.asarray(1)).shape == (4,)
    for _ in range(1000):
        with pytest.raises(IndexError):
            staged(np.ones(3), np.asarray(50))


def test_lanes():
    with graphify.config(engine="native"):
        wide = graphify.function(graphify.vmap(doubling))
        w = np.arange(12.0).reshape(4, 3)
        np.testing.assert_array_equal(wide(w), np.stack([doubling(row) for row in w]))


def test_gradients():
    def loss(x, k):
        return (shrinks_and_grows(x, k) ** 2).sum()

    def numeric(x, k, step=1e-6):
        out = np.zeros_like(x)
        for i in range(len(x)):
            e = np.zeros_like(x)
            e[i] = step
            out[i] = (loss(x + e, k) - loss(x - e, k)) / (2 * step)
        return out

    y = X + 0.3  # no corner
    gradient = graphify.grad(graphify.function(loss))
    for k in (0, 1, 5, 20):
        np.testing.assert_allclose(gradient(y, np.asarray(k)), numeric(y, k), atol=1e-5)
