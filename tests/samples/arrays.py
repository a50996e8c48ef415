"""Arrays that change: in nested loops, at staged indices, through views, by mask, by `out=`."""

import numpy as np

NO_GRADIENT = {
    "sieve_with_traced_steps": "integers",
    "counts_by_digit": "integers",
    "a_decorated_function_of_numbers": "integers",
    "bits_at": "integers",
    "integer_array_wraps_and_truncates": "integers",
    "boolean_array_toggles": "truth values",
}
NO_VMAP = {
    "values_by_nditer": "the order of a lane's elements in memory is not known",
    "written_by_nditer": "the order of a lane's elements in memory is not known",
}
NO_TENSORFLOW: dict[str, str] = {}


# --- staged indices in nested loops ---------------------------------------------------------------


def cholesky_by_elements(w):
    A = w.T @ w + np.eye(w.shape[1])
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[j, :j]
            A[i, j] /= A[j, j]
        A[i, i] = np.sqrt(A[i, i] - A[i, :i] @ A[i, :i])
    return A


def eliminates_in_place(w, k):
    A = w.T @ w + np.eye(w.shape[1])
    n = len(A)
    for _ in range(k % 3):
        for p in range(n):
            for i in range(p + 1, n):
                A[i, p] /= A[p, p]
                A[i, p + 1 :] -= A[i, p] * A[p, p + 1 :]
    return A


def running_products_of_prefixes(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[: i + 1].prod() + x[i:].sum()
    return out


def windows_of_growing_length(x, k):
    best = np.zeros(len(x))
    for i in range(len(x)):
        low = max(0, i - abs(k))
        best[i] = x[low : i + 1].max()
    return best


def elements_from_the_end(x, k):
    for i in range(1, len(x)):
        x[-i] += 0.5 * x[-i - 1]
    x[-1 - abs(k) % 2] = 4.0
    return x


def upper_triangle_mirrored(w):
    A = w.T @ w
    n = A.shape[0]
    B = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            B[i, j] = B[j, i] = A[i, j] * (j - i + 1)
    return B


def antidiagonals_of_a_table(x):
    n = len(x)
    T = np.zeros((n + 1, n + 1))
    for d in range(1, n):
        for i in range(n - d):
            j = i + d
            T[i, j] = max(T[i + 1, j], T[i, j - 1]) + x[i] * x[j]
    return T


def writes_while_it_searches(x, s):
    i = 0
    while i < len(x) and x[i] < s:
        x[i] = -x[i]
        i += 1
    return x, i


def counts_by_digit(xi):
    counts = np.zeros((2, 10), dtype=np.int64)
    for v in xi:
        counts[int(v < 0), abs(v) % 10] += 1
    return counts


# --- slices and views -----------------------------------------------------------------------------


def view_moves_with_the_loop(x):
    for i in range(len(x) - 1):
        pair = x[i : i + 2]
        pair[:] = pair[::-1] * 0.5
    return x


def row_views_hold_the_array(w):
    for i in range(1, w.shape[0]):
        above, row = w[i - 1], w[i]
        row += 0.5 * above
        above *= 0.5
    return w


def column_of_the_transposed(w):
    t = w.T
    for j in range(t.shape[1]):
        t[:, j] = t[:, j] - t[:, j].mean()
    return w, t[0].sum()


def view_made_before_the_loop(x):
    tail = x[1:]
    total = 0.0
    for i in range(len(tail)):
        x[i] += 1.0
        total = total + tail[i] * i
        tail[i] -= 0.25
    return x, total


def every_other_element(x):
    even, odd = x[::2], x[1::2]
    even *= 2.0
    odd[...] = odd + even[: len(odd)]
    even[1:] -= odd[: len(even) - 1]
    return x


def backwards_view(x):
    r = x[::-1]
    for i in range(1, len(r)):
        r[i] += r[i - 1]
    return x, r[0]


def block_views(w):
    top, bottom = w[:1], w[1:]
    bottom -= top
    top[0, -1] = bottom.sum()
    block = w[:, :2]
    block[block > 0] *= 0.5
    return w


def diagonal_by_a_flat_view(w):
    A = np.zeros((4, 4))
    A[: w.shape[0], :2] = w[:4, :2]
    flat = A.reshape(-1)
    flat[::5] += 3.0
    return A


def overlapping_shift_right(x):
    x[1:] = x[:-1]
    x[:-1] += x[1:]
    return x


def stencil_of_three_views(x):
    old = x.copy()
    left, middle, right = old[:-2], old[1:-1], old[2:]
    for _ in range(12):
        x[1:-1] = 0.25 * left + 0.5 * middle + 0.25 * right
        middle[:] = x[1:-1]
    return x


def two_buffers_swapped(x):
    a, b = x, x.copy()
    for _ in range(11):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a, b = b, a
    return a


def real_and_imaginary_views(x):
    z = np.zeros(len(x), dtype=complex)
    z.real = x
    z.imag[1:] = x[:-1]
    for i in range(len(x)):
        z.real[i] += 0.5 * i
        z[i] *= 1j
    return z.real, z.imag, np.abs(z)


def newaxis_view(x):
    column = x[:, None]
    column *= 2.0
    column[0, 0] = 1.5
    return x, column.shape


def ellipsis_and_none(w, s):
    w[..., 0] = s
    w[None, :, -1:] += 1.0
    return w


def swapped_axes_view(w):
    cube = np.stack([w, w * 2.0])
    turned = np.swapaxes(cube, 0, 2)
    for i in range(turned.shape[0]):
        turned[i] += i
    return cube


def view_through_a_function(x):
    def inner(a):
        return a[1:-1]

    inside = inner(x)
    inside[:] = np.sqrt(np.abs(inside)) + 1.0
    inner(x)[0] = 0.0
    return x


# --- swaps ----------------------------------------------------------------------------------------


def swap_rows_by_a_list(w):
    n = w.shape[0]
    for i in range(n // 2):
        j = n - 1 - i
        w[[i, j]] = w[[j, i]]
    return w


def swap_rows_with_copies(w, k):
    j = abs(k) % w.shape[0]
    w[0], w[j] = w[j].copy(), w[0].copy()
    return w


def swap_rows_without_copies(w):
    w[0], w[1] = w[1], w[0]  # both are what row 1 was: views, not values
    return w


def swap_columns_in_a_loop(w):
    for j in range(w.shape[1] - 1):
        if w[0, j] > w[0, j + 1]:
            w[:, [j, j + 1]] = w[:, [j + 1, j]]
    return w


def swap_elements_in_a_loop(x):
    n = len(x)
    for i in range(n // 2):
        x[i], x[n - 1 - i] = x[n - 1 - i], x[i]
    return x


def largest_row_to_the_top(w):
    for c in range(min(w.shape[0], w.shape[1])):
        p = c + np.argmax(np.abs(w[c:, c]))
        if p != c:
            w[[c, p], c:] = w[[p, c], c:]
    return w


def swap_through_a_temporary(w, k):
    p = abs(k) % len(w)
    t = w[0].copy()
    w[0] = w[p]
    w[p] = t
    return w


def rotates_three(x):
    x[0], x[1], x[2] = x[1], x[2], x[0]
    return x


# --- masks, index arrays --------------------------------------------------------------------------


def mask_in_a_loop(x, s):
    for _ in range(10):
        big = x > s + 0.1
        x[big] -= 0.5
        x[~big] *= 0.75
    return x


def mask_of_rows(w):
    positive = w[:, 0] > 0
    w[positive] = -w[positive]
    w[~positive, 1:] += 1.0
    return w


def mask_takes_values_of_a_mask(x):
    y = np.zeros_like(x)
    m = x > 0
    y[m] = np.sqrt(x[m])
    y[~m] = x[~m] ** 2
    return y


def two_masks(x):
    x[(x > 0) & (x < 1)] = 0.5
    x[(x < -1) | (x > 2)] **= 2
    return x


def scattered_by_index(x):
    order = np.argsort(x)
    ranks = np.empty(len(x), dtype=np.int64)
    ranks[order] = np.arange(len(x))
    y = np.zeros_like(x)
    y[ranks] = x
    return y, ranks


def repeated_index_counts_once(x):
    i = np.array([0, 0, 1])
    x[i] += 1.0
    return x


def add_at_counts_each(x, xi):
    np.add.at(x, xi % len(x), 0.5)
    return x


def ufuncs_at(x, xi):
    i = xi % len(x)
    y = np.ones_like(x)
    np.subtract.at(y, i, x[i])
    np.multiply.at(y, i[:2], 2.0)
    np.maximum.at(y, i, 0.25)
    np.minimum.at(y, i, 3.0)
    return y


def negative_at(x):
    np.negative.at(x, [0, 1, 1])
    return x


def powers_at(x, xi):
    i = np.abs(xi) % len(x)
    y = np.abs(x) + 1.0
    np.power.at(y, i, 1.5)
    np.divide.at(y, i[:2], np.arange(2) + 1.5)
    np.hypot.at(y, y > 3.0, 1.0)
    return y


def adds_into_rows_at(w):
    sums = np.zeros((2, w.shape[1]))
    np.add.at(sums, np.arange(w.shape[0]) % 2, w)
    return sums


def where_positions_written(x):
    (where,) = np.nonzero(x < 0)
    for i in where:
        x[i] = 10.0 + i
    return x


def grid_of_indices(w):
    rows, columns = np.array([0, 1]), np.array([1, 0])
    w[np.ix_(rows, columns)] *= 3.0
    w[rows, columns] -= 1.0
    return w


# --- out= -----------------------------------------------------------------------------------------


def out_of_a_ufunc(x, y):
    n = min(len(x), len(y))
    t = np.empty(n)
    for _ in range(10):
        np.multiply(x[:n], y[:n], out=t)
        np.tanh(t, out=t)
        np.add(x[:n], t, out=x[:n])
    return x


def out_of_a_product(w):
    A = w.T @ w
    B = np.empty_like(A)
    np.matmul(A, A, out=B)
    np.dot(B, A, out=A)
    np.sum(A, axis=0, out=B[0])
    return A, B


def out_of_a_running_sum(x):
    np.cumsum(x, out=x)
    y = np.zeros(len(x) + 1)
    np.cumsum(x, out=y[1:])
    return x, y


def out_where_a_condition_holds(x):
    y = np.full_like(x, -1.0)
    np.sqrt(x, out=y, where=x > 0)
    np.divide(1.0, y, out=y, where=y != 0)
    return y


def out_of_reductions(w):
    top = np.empty(w.shape[1])
    w.max(axis=0, out=top)
    np.clip(w, -0.5, 0.5, out=w)
    np.subtract(w, top, w)
    return w, top


def out_of_take(x):
    y = np.empty(3)
    np.take(x, [0, 1, 0], out=y, mode="clip")
    return y


# --- functions that write -------------------------------------------------------------------------


def fill_and_copyto(x, s):
    y = np.empty_like(x)
    y.fill(s)
    np.copyto(y, x, where=x > s)
    np.copyto(y[:1], 7.0)
    return y


def put_and_place(x):
    np.put(x, [0, -1], [1.5, 2.5])
    np.place(x, x < 0, [10.0, 20.0])
    x.put([1], 0.5)
    return x


def putmask_with_values(x):
    np.putmask(x, x > 0.6, x * 0.5)
    np.putmask(x, x < -0.6, [1.0, 2.0])
    return x


def fill_the_diagonal(w):
    A = w.T @ w
    np.fill_diagonal(A, 0.0)
    np.fill_diagonal(A[:, ::-1], A.sum())
    return A


def fill_diagonal_in_a_loop(w):
    A = w.T @ w
    for i in range(10):
        A = A * 0.5
        np.fill_diagonal(A, i)
    return A


def put_along_an_axis(w):
    best = np.argmax(w, axis=1, keepdims=True)
    np.put_along_axis(w, best, 0.0, axis=1)
    return w


def sorts_in_place(x):
    x.sort()
    x[::-1].sort()
    return x


def sorts_a_part_in_place(x, w):
    x[1:].sort()
    w.sort(axis=0)
    w[0].sort()
    return x, w


def sorts_rows_in_a_loop(w):
    for row in w:
        row.sort()
    return w


def flat_of_an_array(w):
    w.flat[0] = 9.0
    w.flat[2:4] = [1.0, 2.0]
    total = 0.0
    for v in w.flat:
        total = total * 0.5 + v
    return w, total


def every_flat_element_set(w):
    w.flat = 1.5
    w.flat[-1] = w.flat[0] + 1.0
    return w


def shuffles_by_a_permutation(x):
    p = np.argsort(-x)
    x[:] = x[p]
    return x


def sets_by_zeros_like(x):
    grad = np.zeros_like(x)
    grad[1:] += x[1:] - x[:-1]
    grad[:-1] -= x[1:] - x[:-1]
    x -= 0.1 * grad
    return x


def resized_copy(x):
    y = np.resize(x, 5)
    y[1:4] = 0.0
    return y


# --- np.vectorize ---------------------------------------------------------------------------------


@np.vectorize
def _collatz_steps(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def a_decorated_function_of_numbers(k):
    return _collatz_steps(abs(k) + np.arange(1, 8))


def a_vectorized_function_of_two_arrays(w, x):
    def clipped(a, b):
        return (a - b) ** 2 if a > b else 0.0

    return np.vectorize(clipped)(w, 0.5) + np.vectorize(clipped, otypes=[float])(x[0], w)


def rows_by_a_signature(w):
    return np.vectorize(lambda row: row / (1 + abs(row).sum()), signature="(n)->(n)")(w)


# --- index iterators ------------------------------------------------------------------------------


def every_place_by_ndindex(w):
    out = np.zeros_like(w)
    for i, j in np.ndindex(w.shape):
        out[i, j] = w[i, j] * (i + 1) - j
    return out


def places_by_ndindex_of_sizes(x):
    n = len(x)
    T = np.zeros((n, 3))
    for i, j in np.ndindex(n, 3):
        T[i, j] = x[i] ** j
    return T


def places_and_values_by_ndenumerate(w):
    total = 0.0
    for (i, j), v in np.ndenumerate(w):
        if v > 0:
            total += v * (i + 2 * j)
            w[i, j] = 0.0
    return w, total


def place_of_ndenumerate_as_a_key(x):
    out = np.zeros_like(x)
    for place, v in np.ndenumerate(x):
        out[place] = v * v
    return out


def values_by_nditer(w):
    total = 0.0
    for v in np.nditer(w):
        total += v * v
    return total


def written_by_nditer(x):
    for v in np.nditer(x, op_flags=["readwrite"]):
        v[...] = 2 * v + 1
    return x


def pairs_by_nditer(w):
    total = 0.0
    with np.nditer([w, w[0]], order="C") as pairs:
        for a, b in pairs:
            total = 0.5 * total + a * b
    return total


def nditer_with_its_index(w):
    out = np.zeros_like(w)
    turns = np.nditer(w, flags=["multi_index"], order="C")
    for v in turns:
        i, j = turns.multi_index
        out[i, j] = v * (i - j)
        out[turns.multi_index] += 1.0
    return out


def ndindex_with_a_break(w, s):
    found = -1
    for i, j in np.ndindex(w.shape):
        if w[i, j] > s:
            found = i * 10 + j
            break
        w[i, j] -= 1.0
    return w, found


def ndindex_inside_ndindex(x):
    n = min(len(x), 4)
    T = np.zeros((n, n, 2))
    for i, j in np.ndindex(n, n):
        for k in np.ndindex(2):
            T[i, j][k] = x[i] * x[j] + k[0]
    return T


def ndindex_of_three_axes(w):
    T = np.zeros((2, *w.shape))
    for h, i, j in np.ndindex(T.shape):
        T[h, i, j] = w[i, j] ** (h + 1)
    return T


def flat_elements_in_a_loop(w, k):
    n = w.size
    for i in range(1, n):
        w.flat[i] += 0.5 * w.flat[i - 1]
    w.flat[abs(k) % n] = 2.0
    w.flat[[0, -1]] = w.flat[[-1, 0]]
    w.flat[1::2] *= 0.5
    return w, w.flat[: n // 2], w.T.flat[1]


def flat_positions_enumerated(w):
    t = w.T
    out = np.zeros(t.size)
    for i, v in enumerate(t.flat):
        out[i] = v * i
    return out, np.sum(t.flat), t.flat.copy()


def ndindex_as_one_key(w):
    out = np.zeros_like(w)
    for place in np.ndindex(*w.shape):
        out[place] = np.sin(w[place])
    return out


# --- names and arguments --------------------------------------------------------------------------


def _normalise(v):
    v /= np.sqrt((v * v).sum()) + 1.0
    return v


def callee_updates_a_row(w):
    for i in range(len(w)):
        _normalise(w[i])
    return w


def callee_returns_what_it_updates(x):
    y = _normalise(x)
    y[0] += 1.0
    return x, y


def update_in_a_branch_of_a_loop(x, s):
    y = x
    for i in range(len(x)):
        if x[i] > s:
            y[i] = s
        elif x[i] < -s:
            y[i] += 1.0
        else:
            continue
        y[0] += 0.125
    return x


def rebound_in_a_loop_then_updated(x):
    y = x
    for _ in range(9):
        y = y * 0.5
        y[0] += 1.0
    return x, y


def augmented_through_two_names(x):
    a = b = x
    a += 1.0
    b *= 2.0
    a = a - 1.0
    a[0] = 0.0
    return x, a


def list_of_rows_updated(w):
    rows = [w[0], w[1]]
    for r in rows:
        r *= 0.5
    rows[0][0] = 4.0
    return w


def integer_array_wraps_and_truncates(xi):
    c = xi.astype(np.uint8)
    for i in range(len(c)):
        c[i] = (c[i] >> np.uint8(1)) ^ np.uint8(11)
    d = np.zeros(3, dtype=np.int64)
    d[0] = 2.75
    d[1:] += np.array([1, 2])
    d >>= 1
    return c, d


def boolean_array_toggles(xi):
    b = xi > 0
    for i in range(1, len(b)):
        b[i] ^= b[i - 1]
    b |= xi == 0
    return b


def early_return_keeps_the_updates(x):
    for i in range(len(x)):
        if x[i] < 0:
            x[i] = 0.0
            return x, i
        x[i] *= 2.0
    return x, -1


def empty_slices_change_nothing(x):
    x[3:3] = 7.0
    x[len(x) :] += 1.0
    for i in range(0):
        x[i] = 9.0
    return x


def numpy_functions_of_lists(x):
    rows = []
    for i in range(3):
        rows.append(x[i] * i)
    pair = (x[0], x[1])
    return np.sum(rows), np.hypot(0.5, [x[0], x[2]]), np.max([x[0] - 1.0, x[1]]), np.dot(pair, pair)


def polynomial_of_many_coefficients(x, s):
    c = np.concatenate([x, x[::-1], x])
    return np.polyval(c, s / 4.0), np.polyval(c, x * 0.1), np.polyval(np.arange(10), s)


def bits_at(xi):
    b = (xi % 7).astype(np.uint8)
    np.bitwise_xor.at(b, [0, 0, 1], 3)
    np.bitwise_or.at(b, np.arange(len(b)) % 2, np.uint8(8))
    np.left_shift.at(b, xi > 0, 1)
    return b


def every_kth_element(x, k):
    step = int(k) % 3 + 1
    return x[::step].sum() + x[::-step][0] * x[1:3:step][0]


def backwards_by_a_traced_step(x, k):
    step = -(int(k) % 2) - 1
    return (x[::step] * x[::step]).sum()


def sieve_with_traced_steps(xi):
    prime = np.ones(30, bool)
    prime[:2] = False
    for p in range(2, 30):
        if prime[p]:
            prime[p * p :: p] = False
    return np.count_nonzero(prime) + xi * 0


def updates_through_a_strided_view(x, k):
    step = int(k) % 2 + 1
    part = x[::step]
    part *= 2
    part[0] = 7.0
    x[1::step] += 1
    return x


def columns_by_a_traced_step(w, k):
    step = int(k) % 2 + 1
    w[..., ::step] -= 1
    w[0, ::step] = 5.0
    return w[::step].sum() + w[:, ::step].T[0].sum() + w[1, ::-step][0]


def strides_that_grow_in_a_loop(x, s):
    total = s
    for i in range(1, 12):
        total = total + x[:: i + 1].sum() / i
    return total


# --- shapes that are set --------------------------------------------------------------------------


def shape_is_set(x):
    y = x[:4] * 2
    again = y
    y.shape = (2, 2)
    y[0, 1] += 1
    rows, columns = np.mgrid[0:2, 0:3]
    rows.shape = columns.shape = 6
    return again @ y, (rows * 10 + columns).sum() * x[0]


def shape_is_set_in_each_turn(x):
    total = np.zeros((2, 2))
    for i in range(3):
        part = x[:4] * i
        part.shape = -1, 2
        total += part
    return total


def array_by_its_constructor(x):
    y = np.ndarray((len(x), 2), dtype=x.dtype)
    y[:, 0] = x
    for i in range(len(x)):
        y[i, 1] = y[i, 0] ** 2
    return y
