"""Programs in plain NumPy, written from their mathematics: staged, they give the same answers.

Each runs as plain Python and as a graph: results, dtypes and changes of the arguments must agree.
"""

import copy

import numpy as np
import pytest

import graphify
from tests.tolerances import assert_close

rng = np.random.default_rng(0)
PROGRAMS = []


def program(*arguments):
    """Register a function with one or more tuples of arguments."""

    def register(function):
        PROGRAMS.extend((function, args) for args in arguments)
        return function

    return register


@program((rng.normal(size=(12, 12)) + 12 * np.eye(12),))
def lu(A):
    n = A.shape[0]
    for j in range(n):
        for i in range(j + 1, n):
            A[i, j] /= A[j, j]
            A[i, j + 1 :] -= A[i, j] * A[j, j + 1 :]
    return A


@program(
    (
        rng.normal(size=(6, 6)) + 12 * np.eye(6),
        np.arange(6.0),
        1e-10,
    )
)
def jacobi(A, b, tol):
    x = np.zeros_like(b)
    D = np.diag(A)
    R = A - np.diag(D)
    it = 0
    while True:
        new = (b - R @ x) / D
        it += 1
        if np.linalg.norm(new - x) < tol or it > 500:
            break
        x = new
    return new, it


@program((rng.uniform(1, 10, (15, 15)),))
def floyd(d):
    n = len(d)
    for k in range(n):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


@program(
    (
        rng.normal(size=(10, 12)),
        20,
    ),
    (
        rng.normal(size=(10, 12)),
        np.array(20),
    ),
)
def heat(u, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return u


@program((rng.normal(size=(12, 11)),))
def gs(u):
    for it in range(15):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


@program(
    (
        (rng.normal(size=(6, 7)) + 1j * rng.normal(size=(6, 7))),
        15,
    )
)
def mandel(c, n):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for _ in range(n):
        m = np.abs(z) <= 2
        z[m] = z[m] ** 2 + c[m]
        count[m] += 1
    return count


@program(
    (
        rng.integers(0, 4, 12),
        rng.integers(0, 4, 14),
    )
)
def lev(a, b):
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    d[:, 0] = np.arange(m + 1)
    d[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


@program((rng.integers(0, 256, 30),), (rng.integers(0, 256, 30).astype(np.uint8),))
def crc(data):
    c = 0xFFFFFFFF
    for b in data:
        c = c ^ b
        for _ in range(8):
            if c & 1:
                c = (c >> 1) ^ 0xEDB88320
            else:
                c = c >> 1
    return c ^ 0xFFFFFFFF


@program(
    (
        rng.normal(size=6),
        np.array([0, 2, 1, 0, 1, 2]),
        np.array([0, 2, 3, 6]),
        np.arange(3.0),
    )
)
def csr(data, idx, ptr, x):
    n = len(ptr) - 1
    y = np.zeros(n)
    for i in range(n):
        for k in range(ptr[i], ptr[i + 1]):
            y[i] += data[k] * x[idx[k]]
    return y


@program(
    (
        rng.uniform(-0.1, 1.1, 50),
        5,
    )
)
def hist(x, n):
    h = np.zeros(n, dtype=int)
    for v in x:
        k = int(v * n)
        if 0 <= k < n:
            h[k] += 1
    return h


@program((rng.normal(size=20),))
def quick(x):
    x = x.copy()
    n = len(x)
    for i in range(1, n):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


@program(
    (
        rng.normal(size=(4, 3)),
        np.zeros((4, 3)),
        np.ones(4),
        0.01,
        12,
    )
)
def nbody(p, v, m, dt, steps):
    n = len(m)
    for _ in range(steps):
        a = np.zeros_like(p)
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = p[j] - p[i]
                    a[i] += m[j] * d / (d @ d + 0.01) ** 1.5
        v += a * dt
        p += v * dt
    return 0.5 * (m * (v**2).sum(axis=1)).sum()


@program((np.arange(6.0).reshape(2, 3) + 1,), (np.arange(15.0).reshape(5, 3) - 4,))
def rows_of_a_constant_beside_others(y):
    v = np.zeros((2, 3))
    for a, b in zip(v, y):
        a[:] -= np.tanh(b)
        v = v * 2
    return v


@program(
    (
        np.array(48),
        np.array(18),
    )
)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@program((100,))
def primes(n):
    s = np.ones(n, dtype=bool)
    s[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if s[i]:
            s[i * i :: i] = False
    return np.flatnonzero(s)


@program((rng.normal(size=(12, 10)),))
def gram(A):
    Q = np.zeros_like(A)
    for j in range(A.shape[1]):
        v = A[:, j].copy()
        for i in range(j):
            v -= (Q[:, i] @ A[:, j]) * Q[:, i]
        Q[:, j] = v / np.linalg.norm(v)
    return Q


@program(
    (
        (lambda a: a + a.T)(rng.normal(size=(5, 5))),
        50,
    )
)
def power_it(A, n):
    b = np.ones(A.shape[0])
    for _ in range(n):
        b = A @ b
        b /= np.linalg.norm(b)
    return b @ A @ b


@program(
    (
        np.array([1, 3, 4, 5]),
        np.array([1, 4, 5, 7]),
        12,
    )
)
def knap(w, v, cap):
    best = np.zeros(cap + 1, dtype=int)
    for i in range(len(w)):
        for c in range(cap, w[i] - 1, -1):
            best[c] = max(best[c], best[c - w[i]] + v[i])
    return best[cap]


@program((np.array([2.0, 0.3]),))
def newton_sys(x):
    for k in range(20):
        F = np.array([x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1])
        J = np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]])
        dx = np.linalg.solve(J, -F)
        x = x + dx
        if np.abs(dx).max() < 1e-12:
            break
    return x, k


@program((np.arange(7.0),))
def reversed_view(x):
    y = x[::2]
    y[:] = y[::-1]
    return x


@program((np.arange(7.0),))
def shifted_onto_itself(x):
    x[1:] = x[:-1]
    return x


@program((np.arange(7.0),))
def running_overlap(x):
    x[1:] += x[:-1]
    return x


@program((np.arange(6.0),))
def views_of_views(x):
    v = x.reshape(2, 3).T
    v[0] = 9
    w = v[1:, 0]
    w += 1
    return x, v, w


@program((np.arange(6.0),))
def swaps(x):
    a, b = x[0], x[1]
    x[0], x[1] = b, a
    x[[2, 3]] = x[[3, 2]]
    return x


@program((np.arange(6.0),))
def updated_or_rebound(x):
    r = x
    for i in range(20):
        if r.sum() > 50:
            r = r - 1
        else:
            r += i
    return r, x


@program((np.arange(7.0),), (np.zeros(7),))
def while_else(x):
    k = 0
    while k < 5 and x[k] != 3:
        k += 1
    else:
        k += 100
    return k


@program((np.arange(7.0),))
def dict_filled_in_branches(x):
    out = {}
    for name in ("a", "b"):
        if x.sum() > 3:
            out[name] = x * 2
        else:
            out[name] = x
    return out["a"] + out["b"]


@program((np.arange(9.0),))
def stack_of_slices(x):
    stack = [x]
    total = 0.0
    while stack:
        v = stack.pop()
        if v.ndim == 0 or len(v) <= 1:
            total += v.sum()
        else:
            stack.append(v[: len(v) // 2])
            stack.append(v[len(v) // 2 :])
    return total


@program((np.array([1.0, 1, 2, 2, 2, 3]),))
def runs_of_equal_values(x):
    i = 0
    s = 0
    while i < x.shape[0]:
        j = i
        while j < x.shape[0] and x[j] == x[i]:
            j += 1
        s += (j - i) ** 2
        i = j
    return s


@program((np.array(4),))
def static_comprehension(n):
    return [i * i for i in range(5)], np.arange(n), np.zeros(n).sum()


@program((np.arange(5, dtype=np.float32),))
def float32_stays(x, f=np.float32(2)):
    return x * f, x * 2.5, np.sqrt(x), x // 2, x % 3, x**2, -x, ~(x > 1), x.astype(int) << 1


@program((np.arange(5.0) + 7,))
def small_arrays(x):
    y = np.empty_like(x)
    y.fill(3)
    y[0] = x[0]
    z = np.array([x[0], 1, y[1]])
    z.sort()
    return y, z, np.stack([x, y]).max(0), np.concatenate([x, [1, 2]])


@program((np.arange(12.0),))
def nonlocal_total(x):
    global_ = 0

    def add(v):
        nonlocal global_
        global_ += v

    for i in range(12):
        if x[i] > 3:
            add(x[i])
    return global_


@program((rng.normal(size=10),))
def statistics(x):
    m = x.mean()
    s = x.std()
    return (
        np.where(np.abs(x - m) > s, m, x),
        np.percentile(x, [25, 50]),
        np.histogram(x, bins=4)[0],
        np.cov(x, x * 2),
    )


@program(
    (
        "neg",
        np.arange(3),
    ),
    (
        "pos",
        np.arange(3),
    ),
)
def string_argument(s, x):
    if s == "neg":
        return -x
    return x


@program((rng.normal(size=(4, 12)),), (np.ones((3, 3)),))
def nested_break_else(x):
    c = 0
    for row in x:
        for v in row:
            if v < 0:
                break
            c += 1
        else:
            c += 100
    return c


@program((rng.normal(size=8),))
def add_at(x):
    y = x.copy()
    y.sort()
    i = np.searchsorted(y, x)
    np.add.at(y, i, 1)
    return y, i


@program((np.array([100, 200], np.uint8),))
def uint8_wraps(x):
    u = np.uint8(200)
    return x + u, x * np.uint8(2)


@program((np.array(7),), (7,), (np.array(0),))
def descending_range(n):
    s = 0
    for i in range(n, 0, -2):
        s = s * 10 + i
    return s


@program((np.arange(3.0),))
def names_swap(x):
    y = x
    for _ in range(3):
        y, x = x, y + x
    return y


@program((np.array([1, 2], np.uint64),))
def integers_no_dtype_holds(x):
    return x > -1, x == 2**70, x < 300, -1 < x


@program((np.array([True, False]),))
def squares_of_truth_values(x):
    return x**2, x**3, (x > False) ** 2


@program((np.arange(4.0), 0.5), (np.arange(4.0) + 2, 0.5))
def list_of_an_array_updated_on_the_other_path(x, y):
    pair = [x.min(), x]
    if pair[0] > 1:
        pair[1] = x % 3
    else:
        x *= y
    return pair[0], pair[1], x


@program((np.arange(3.0),))
def endless_loop_on_a_path_not_taken(x):
    n = 1
    if x.sum() > 100:
        while n > 0:
            n = n + 1 if n < 5 else 1
    return x * n


@program((np.arange(3.0), 2))
def zero_d_arrays_of_scalars(x, k):
    a = np.array(np.float32(k))
    b = np.asarray(x[1])
    c = np.copy(x[2])
    d, e, f = a, b, c
    a //= x[2]
    b += 1
    c -= x[1]
    return a, b, c, d, e, f


@program((np.arange(3.0), np.array([0.25, 2.0])))
def rows_of_a_view_updated_in_a_branch(x, y):
    v = np.full(3, 0.5)
    turns, total = 0, 0.0
    while x.mean() > 0 and turns < 3:
        turns += 1
        if v[0] > y[0]:
            v /= y[-1:]
        for e in v:
            total += e
    return v, total


@program((np.arange(3), np.array(0)), (np.arange(3), np.array(2)))
def errors_of_branches_not_taken(x, n):
    if n != 0:
        y = 10 // (x[0] + n)
    else:
        y = 10 // 0
    if n > 100:
        y = x + np.ones(7)
    return y


@program((np.arange(12.0),), (np.zeros(12),))
def added_to_where_bound(x):
    for i in range(12):
        if x[i] > 3:
            y = i
        if x[i] > 5:
            y += 10
    return y


# Names bound anew in a loop in which their first array is written to by another way.


@program((np.ones((3, 3)),), (np.arange(15.0).reshape(5, 3),))
def written_through_a_view(y):
    v = y * 0
    w = v[0]
    for i in range(len(y)):
        w += i + y[0, 0]
        v = v * 2
    return v


@program((np.ones((3, 3)),), (np.arange(15.0).reshape(5, 3),))
def written_through_what_the_loop_goes_over(y):
    v = y * 0
    for a, b in zip(v, y):
        a[:] -= np.tanh(b)
        v = v * 2
    return v


@program((np.ones((3, 3)),), (np.arange(15.0).reshape(5, 3),))
def written_through_a_list(y):
    v = y * 0
    kept = [v[0]]
    for i in range(len(y)):
        kept[0] += i + y[0, 0]
        v = v * 2
    return v


class Holder:
    pass


@program((np.ones((3, 3)),), (np.arange(15.0).reshape(5, 3),))
def written_through_an_attribute(y):
    v = y * 0
    holder = Holder()
    holder.array = v
    for i in range(len(y)):
        holder.array[0] += i + y[0, 0]
        v = v * 2
    return v


def leaves(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize(
    ("function", "arguments"),
    PROGRAMS,
    ids=[f"{f.__name__}-{i}" for i, (f, _) in enumerate(PROGRAMS)],
)
def test_program(function, arguments):
    plain, staged = copy.deepcopy(arguments), copy.deepcopy(arguments)
    try:
        expected = function(*plain)
    except Exception as error:
        with pytest.raises(type(error)):
            graphify.function(function)(*staged)
        return
    got = graphify.function(function)(*staged)
    for ours, theirs in zip(leaves(got), leaves(expected), strict=True):
        assert_close(ours, theirs)
    for ours, theirs in zip(staged, plain, strict=True):  # what it wrote into its arguments
        assert_close(ours, theirs)


def returns_before_a_cast(x):
    for item in x:
        if item > 2:
            return x
    y = np.sort(x)
    y /= 3
    return y


def test_dtypes_that_numpy_refuses_matter_only_on_the_path_taken():
    staged = graphify.function(returns_before_a_cast)
    many = np.arange(12)
    np.testing.assert_array_equal(staged(many), many)
    with pytest.raises(TypeError, match="cannot cast"):
        staged(np.zeros(12, int))


def truth_of_a_selection(x):
    v = x[x > 2]
    while v < 30:
        v = v * 2
    return v if v > 40 else -v


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_truth_of_an_array_of_unknown_length(engine):
    staged = graphify.function(truth_of_a_selection, engine=engine)
    for x in (np.array([1.0, 3.0]), np.array([1.0, 4.0]), np.array([1.0, 50.0])):
        np.testing.assert_array_equal(staged(x), truth_of_a_selection(x))
    for x in (np.array([1.0, 2.0]), np.array([3.0, 4.0])):
        with pytest.raises(ValueError) as plain:
            truth_of_a_selection(x)
        with pytest.raises(ValueError, match=str(plain.value).split(".")[0]):
            staged(x)


def keeps_the_first(x, k):
    acc = np.zeros(3)
    first = None
    for v in x:
        if first is None:
            acc = acc + 1
            first = acc
        acc += v
    return acc, first


def keeps_what_was_made_when(x, k):
    acc = np.zeros(3)
    kept = None
    for v in x:
        if v > k:
            acc = acc * 2
            kept = acc
        acc[0] += v
    acc += 3
    return acc, kept


def keeps_a_number_without_axes(x, k):
    acc = np.array(0.0)
    first = None
    for v in x:
        if first is None:
            acc = np.array(acc + 1)
            first = acc
        acc += v
    return acc, first


def binds_late(x, k):
    acc = np.zeros(3)
    for v in x:
        if v >= 0:
            acc = acc + 1
            first = acc
        acc += v
    acc *= 2
    return acc, first


KEEPING = [keeps_the_first, keeps_what_was_made_when, keeps_a_number_without_axes, binds_late]


@pytest.mark.parametrize("function", KEEPING)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_array_first_kept_in_a_loop_is_updated_by_its_other_name(function, engine):
    staged = graphify.function(function, engine=engine)
    for n, k in ((10, 1), (9, 2), (12, 3), (11, 99)):
        x = np.arange(n) * 0.5
        got, want = staged(x, np.asarray(k)), function(x, k)
        for one, other in zip(got, want, strict=True):
            assert (one is None) == (other is None)
            np.testing.assert_array_equal(one, other)
