"""Lists of different lengths in a list of which only the run knows the length.

Each program does under Python what it says; staged, it does the same.
"""

import copy
import heapq
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError
from graphify.tracing import identity
from tests.tolerances import assert_close


def arguments(seed: int) -> dict[str, Any]:
    """By the names of parameters; of other sizes for other seeds."""
    rng = np.random.default_rng(seed)
    n, m = [(6, 12), (6, 12), (4, 9), (7, 3)][seed]
    return {
        "edges": rng.integers(0, n, size=(m, 2)), "n": np.int64(n), "s": np.int64(2),
        "x": rng.random(m), "y": rng.random(m), "k": rng.integers(1, 60, size=m),
        "w": rng.normal(size=(m, 4)), "r": np.float64(0.3), "base": np.int64(4), "m": np.int64(2),
    }  # fmt: skip


# --- programs ------------------------------------------------------------------------------------


def pascal(n):
    rows = [[1]]
    for i in range(1, n):
        prev = rows[-1]
        row = [1]
        for j in range(1, i):
            row.append(prev[j - 1] + prev[j])
        row.append(1)
        rows.append(row)
    return rows


def adjacency(edges, n):
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append(v)
        adj[v].append(u)
    deg = np.zeros(len(adj), dtype=int)
    for i in range(n):
        deg[i] = len(adj[i])
    return deg


def bfs(edges, n, s):
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append(v)
        adj[v].append(u)
    dist = [-1] * n
    dist[s] = 0
    queue = [s]
    while queue:
        u = queue.pop(0)
        for w in adj[u]:
            if dist[w] < 0:
                dist[w] = dist[u] + 1
                queue.append(w)
    return np.array(dist)


def buckets(x, base):
    b = [[] for _ in range(base)]
    for v in x:
        b[int(v * base)].append(v)
    out = []
    for one in b:
        for v in sorted(one):
            out.append(v)
    return np.array(out)


def groups(x):
    runs = []
    for v in x:
        if runs and runs[-1][-1] < v:
            runs[-1].append(v)
        else:
            runs.append([v])
    best = 0
    for r in runs:
        best = max(best, len(r))
    return best, len(runs)


def primes_factors(n):
    out = []
    for k in range(2, n):
        fs = []
        m = k
        p = 2
        while p * p <= m:
            while m % p == 0:
                fs.append(p)
                m //= p
            p += 1
        if m > 1:
            fs.append(m)
        out.append(fs)
    return out


def triangle(x):
    rows = []
    for i in range(len(x)):
        rows.append([x[j % len(x)] for j in range(i + 1)])
    s = 0.0
    for r in rows:
        for v in r:
            s += v
    return s


def subsets(x):
    out = [[]]
    for v in x:
        out += [s + [v] for s in out]
    return out


def dijkstra(edges, n, s):
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append((v, abs(u - v) + 1.5))
        adj[v].append((u, abs(u - v) + 0.5))
    dist = [np.inf] * n
    dist[s] = 0.0
    heap = [(0.0, s)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in adj[u]:
            if d + w < dist[v]:
                dist[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return np.array(dist)


def radix(k):
    for p in range(3):
        buckets = [[] for _ in range(4)]
        for v in k:
            buckets[(v // 4**p) % 4].append(v)
        out = []
        for b in buckets:
            out.extend(b)
        k = np.array(out)
    return k


def radix2(k, base):
    for p in range(3):
        buckets = [[] for _ in range(base)]
        for v in k:
            buckets[(v // base**p) % base].append(v)
        out = []
        for b in buckets:
            for v in b:
                out.append(v)
        k = np.array(out)
    return k


def by_class(x, k, n):
    groups = [[] for _ in range(n)]
    for v, c in zip(x, k):
        groups[c % n].append(v)
    means = np.zeros(n)
    for c in range(n):
        if groups[c]:
            means[c] = sum(groups[c]) / len(groups[c])
    return means, [len(g) for g in groups]


def neighbours(x, r):
    near = []
    for i in range(len(x)):
        mine = []
        for j in range(len(x)):
            if i != j and abs(x[i] - x[j]) < r:
                mine.append(j)
        near.append(mine)
    total = 0
    for i in range(len(x)):
        for j in near[i]:
            total += x[j] * (i + 1)
    return total, near


def csr(w):
    rows = []
    for i in range(w.shape[0]):
        row = []
        for j in range(w.shape[1]):
            if w[i, j] > 0:
                row.append((j, w[i, j]))
        rows.append(row)
    indptr = [0]
    cols = []
    vals = []
    for row in rows:
        for j, v in row:
            cols.append(j)
            vals.append(v)
        indptr.append(len(cols))
    return np.array(indptr), np.array(cols), np.array(vals)


def runs(x):
    out = []
    for v in x:
        if not out or (out[-1][-1] > 0) != (v > 0):
            out.append([])
        out[-1].append(v)
    return out


def collatz(k):
    paths = []
    for v in k:
        path = [v]
        while v != 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            path.append(v)
        paths.append(path)
    longest = paths[0]
    for p in paths:
        if len(p) > len(longest):
            longest = p
    return longest, [len(p) for p in paths]


def merged(x, y):
    spans = []
    for a, b in zip(x, y):
        lo = min(a, b)
        hi = max(a, b)
        if spans and lo <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], hi)
        else:
            spans.append([lo, hi])
    return np.array(spans)


def pops(x, n):
    rows = [[] for _ in range(n)]
    for i in range(len(x)):
        rows[i % n].append(x[i])
    out = []
    for i in range(n):
        while rows[i]:
            out.append(rows[i].pop())
    return out, [len(r) for r in rows]


def pops0(x, n):
    rows = [[] for _ in range(n)]
    for i in range(len(x)):
        rows[i % n].append(x[i])
    out = []
    for i in range(n):
        if len(rows[i]) > 1:
            out.append(rows[i].pop(0))
    return out, rows


def inserts(x, n):
    rows = [[] for _ in range(n)]
    for i in range(len(x)):
        rows[i % n].insert(0, x[i])
    return rows


def extends(x, n):
    rows = [[] for _ in range(n)]
    for i in range(len(x)):
        rows[i % n].extend([x[i], -x[i]])
        rows[i % n] += [1.0]
    return rows


def clears(x, n):
    rows = [[] for _ in range(n)]
    for i in range(len(x)):
        if x[i] > 0.6:
            rows[i % n].clear()
        else:
            rows[i % n].append(x[i])
    return rows


def renew(x, n):
    rows = [[] for _ in range(n)]
    for i in range(len(x)):
        if x[i] > 0.6:
            rows[i % n] = []
        rows[i % n].append(x[i])
    return rows


def renew2(x, n):
    rows = [[0.0] for _ in range(n)]
    for i in range(len(x)):
        if x[i] > 0.6:
            rows[i % n] = [x[i], x[i]]
        else:
            rows[i % n][0] += x[i]
    return rows


def searched(k, n):
    rows = [[] for _ in range(n)]
    hits = 0
    for v in k:
        if v in rows[v % n]:
            hits += 1
        else:
            rows[v % n].append(v)
    return hits, rows


def reduced(x, n):
    rows = [[0.5] for _ in range(n)]
    for i, v in enumerate(x):
        rows[i % n].append(v)
    extremes = [min(r) for r in rows], [max(r) for r in rows]
    return *extremes, [sum(r) for r in rows], [sorted(r) for r in rows]


def flat(x, n):
    rows = [[] for _ in range(n)]
    for i, v in enumerate(x):
        rows[i % n].append(v)
    return [v for r in rows for v in r]


def deep2(x, n, m):
    cells = [[[] for _ in range(m)] for _ in range(n)]
    for i, v in enumerate(x):
        cells[i % n][int(v * m)].append(v)
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for v in cells[i][j]:
                out[i, j] += v
    return out


def static_dict(x):
    groups = {"low": [], "high": []}
    for v in x:
        groups["low" if v < 0.5 else "high"].append(v)
    return groups


def by_enumerate(x, n):
    rows = [[1.0] for _ in range(n)]
    for i, v in enumerate(x):
        rows[i % n].append(v)
    s = 0.0
    for i, row in enumerate(rows):
        for j, v in enumerate(row):
            s += (i + 1) * v * j
    return s


def by_zip(x, n):
    rows = []
    for i in range(n):
        rows.append([x[j] for j in range(i % len(x))])
    s = 0.0
    for row, v in zip(rows, x):
        if row:
            s += v * row[-1]
    return s


def backwards(x):
    rows = []
    for i in range(len(x)):
        rows.append([x[j] for j in range(i)])
    out = []
    for row in reversed(rows):
        out.append(len(row))
    return out, rows[::-1], rows[1:]


def copies(x, n):
    rows = [[] for _ in range(n)]
    for i, v in enumerate(x):
        rows[i % n].append(v)
    other = [r[:] for r in rows]
    third = copy.deepcopy(rows)
    for i in range(n):
        other[i].append(9.0)
    return rows, other, third


def as_array(x, n):
    rows = [[0.0] for _ in range(n)]
    for i, v in enumerate(x):
        rows[i % n].append(v)
    s = 0.0
    for i in range(n):
        a = np.array(rows[i])
        s += (a * a).sum() * a.mean()
    return s


def equal_after_all(x, n):
    rows = []
    for i in range(n):
        row = []
        for j in range(len(x)):
            row.append(x[j] * i)
        rows.append(row)
    return np.array(rows)


def early(x, n):
    rows = [[] for _ in range(n)]
    for i, v in enumerate(x):
        rows[i % n].append(v)
        if len(rows[i % n]) > 2:
            return i, rows[i % n]
    return -1, [0.0]


def helper(rows, i, v):
    rows[i].append(v)
    return len(rows[i])


def through_a_function(x, n):
    rows = [[] for _ in range(n)]
    most = 0
    for i, v in enumerate(x):
        most = max(most, helper(rows, i % n, v))
    return most, rows


def dfs(adj, u, seen):
    seen[u] = True
    total = 1
    for v in adj[u]:
        if not seen[v]:
            total += dfs(adj, v, seen)
    return total


def by_recursion(edges, n):
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append(v)
        adj[v].append(u)
    seen = np.zeros(n, dtype=bool)
    return dfs(adj, 0, seen)


def vectors(w, n):
    rows = [[] for _ in range(n)]
    for i in range(w.shape[0]):
        rows[i % n].append(w[i])
    s = np.zeros(w.shape[1])
    for r in rows:
        for v in r:
            s += v * len(r)
    return s


def level_sums(n):
    tree = [[] for _ in range(n)]
    for i in range(1, n):
        tree[(i - 1) // 2].append(i)
    depth = [0] * n
    for i in range(n):
        for c in tree[i]:
            depth[c] = depth[i] + 1
    return depth


def named_row(x, n):
    rows = [[] for _ in range(n)]
    for i, v in enumerate(x):
        row = rows[i % n]
        row.append(v)
        row.append(-v)
    return rows


def two_tables(x, n):
    a = [[] for _ in range(n)]
    b = [[] for _ in range(n)]
    for i, v in enumerate(x):
        if v > 0.5:
            a[i % n].append(v)
        else:
            b[i % n].append(i)
    return a, b


def moved(x, n):
    rows = [[] for _ in range(n)]
    for i, v in enumerate(x):
        rows[i % n].append(v)
    for i in range(n - 1):
        while len(rows[i]) > 1:
            rows[i + 1].append(rows[i].pop())
    return rows


def until(x, n):
    rows = [[] for _ in range(n)]
    i = 0
    while len(rows[0]) < 3:
        rows[i % n].append(x[i % len(x)])
        i += 1
    return rows


def sieve(n):
    factors = [[] for _ in range(n)]
    for p in range(2, n):
        if not factors[p]:
            for q in range(p, n, p):
                factors[q].append(p)
    return factors


def changed_at(x, n):
    rows = []
    for i in range(n):
        rows.append([x[j % len(x)] for j in range(i + 1)])
    for i in range(n):
        rows[i][i] = 7.0
        rows[i][0] += 1.0
    return rows


def swap_rows(x, n):
    rows = []
    for i in range(n):
        rows.append([x[j % len(x)] for j in range(i + 1)])
    for i in range(n // 2):
        rows[i], rows[n - 1 - i] = rows[n - 1 - i], rows[i]
    return rows


def del_in(x, n):
    rows = []
    for i in range(n):
        rows.append([x[j % len(x)] for j in range(i + 1)])
    for i in range(n):
        del rows[i][0]
    return rows


def popped_rows(x):
    rows = []
    for i in range(len(x)):
        rows.append([x[j % len(x)] for j in range(i + 1)])
    s = 0.0
    while rows:
        r = rows.pop()
        s += r[-1] * len(r)
    return s


def queue_of_paths(edges, n):
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append(v)
    queue = [[0]]
    best = 0
    while queue:
        path = queue.pop(0)
        if len(path) > best:
            best = len(path)
        if len(path) < 4:
            for v in adj[path[-1]]:
                if v not in path:
                    queue.append(path + [v])
    return best


def permutations(n):
    perms = [[]]
    for i in range(n):
        new = []
        for p in perms:
            for j in range(len(p) + 1):
                new.append(p[:j] + [i] + p[j:])
        perms = new
    return perms


def truths(x, n):
    rows = [[] for _ in range(n)]
    for i, v in enumerate(x):
        if v > 0.5:
            rows[i % n].append(v > 0.7)
    return [any(r) for r in rows], [all(r) for r in rows], sum(1 for r in rows if r)


def read_on_both_paths(x, n):
    rows = [[1.0], [x[0], x[1]], []]
    total = 0.0
    for i in range(n):
        rows[n % len(rows)] = [x[i % 3] * 2]
        rows.append(rows[0][:])
        if total > 3:
            best = rows[0]
            for r in rows:
                if len(r) > len(best):
                    best = r
            total += len(best)
        else:
            best = rows[0]
            for r in rows:
                if len(r) > len(best):
                    best = r
            total += 2 * len(best)
    return total, rows


def split(x):
    rows = []
    row = []
    for v in x:
        row.append(v)
        if v > 0.5:
            rows.append(row)
            row = []
    return rows, row


def split_and_changed(x):
    rows = []
    row = []
    for v in x:
        row.append(v)
        if v > 0.5:
            rows.append(row)
            row = []
        elif rows:
            rows[-1].insert(1, v)
            rows[-1] += [v]
    return rows


def split_until(x):
    rows = []
    row = []
    i = 0
    while i < len(x) and x[i] < 0.95:
        row.append(x[i])
        if x[i] > 0.5:
            rows.append(row)
            row = []
        elif rows:
            rows[-1].insert(1, x[i])
            rows[-1] += [x[i]]
        i += 1
    return rows


def tables_of_rows(x):
    out = []
    for v in x:
        table = []
        for w in x:
            if w < v:
                table.append([u for u in x if u < w])
        out.append(table)
    return out


def records_with_lists(x):
    recs = []
    for i, v in enumerate(x):
        if v > 0.3:
            recs.append({"id": i, "vals": [w for w in x[:i]]})
    for r in recs:
        pass
    return sum([len(r["vals"]) for r in recs]), recs


def moved_in_each_turn(x):
    rows = []
    row = []
    for v in x:
        row.append(v)
        rows.append(row)
        row = [v] if v > 0.5 else []
    return rows


def chunks(x):
    rows = []
    row = []
    i = 0
    while i < len(x):
        row.append(x[i])
        i += 1
        if len(row) == 3:
            rows.append(row)
            row = []
    if row:
        rows.append(row)
    return [sum(r) for r in rows], rows


def changed_after_the_move(x):
    rows = []
    row = []
    for v in x:
        row.append(v)
        if v > 0.5:
            rows.append(row)
            row, old = [], rows[-1]
            old.append(4.0)
    return rows


def passed_down(rows, row, k):
    if k > 0:
        passed_down(rows, row, k - 1)
    rows.append(row)


def moved_by_a_function(x):
    rows = []
    row = [x[0]]
    passed_down(rows, row, 2)
    row.append(x[1])
    return rows


PROGRAMS = [
    function
    for name, function in list(globals().items())
    if inspect.isfunction(function)
    and function.__module__ == __name__
    and name not in ("arguments", "helper", "dfs", "passed_down", "assert_close")
]


def leaves(value: Any) -> list[tuple[str, Any]]:
    """The numbers in a result with their kind and the way to them."""
    found, treedef = graphify.tree.flatten(value)
    arrays = map(np.asarray, found)
    return [(way, a.dtype.kind, a) for way, a in zip(treedef.paths(), arrays, strict=True)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_plain_python(program: Callable[..., Any]) -> None:
    staged = graphify.function(program, dynamic=True)
    for seed in range(4):
        given = [arguments(seed)[name] for name in inspect.signature(program).parameters]
        want = leaves(program(*copy.deepcopy(given)))
        got = leaves(staged(*given))
        assert [item[:2] for item in got] == [item[:2] for item in want]
        for (*_, one), (*_, other) in zip(got, want, strict=True):
            assert_close(one, other)


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 50


@pytest.mark.tensorflow
@pytest.mark.parametrize("program", [bfs, pascal, sieve], ids=lambda f: f.__name__)
def test_on_tensorflow(program: Callable[..., Any]) -> None:
    given = [arguments(0)[name] for name in inspect.signature(program).parameters]
    got, want = graphify.function(program, engine="tensorflow")(*given), program(*given)
    pairs = zip(leaves(got), leaves(want), strict=True)
    assert all(np.array_equal(one, other) for (*_, one), (*_, other) in pairs)


def test_derivatives_and_lanes() -> None:
    x, n = np.random.default_rng(0).random((4, 8)), np.int64(3)
    got = np.asarray(graphify.vmap(by_enumerate, in_axes=(0, None))(x, n))
    assert_close(got, np.array([by_enumerate(row, 3) for row in x]))
    gradient = np.asarray(graphify.grad(by_enumerate)(x[0], n))
    for i, step in enumerate(np.eye(8) * 1e-6):
        slope = (by_enumerate(x[0] + step, 3) - by_enumerate(x[0] - step, 3)) / 2e-6
        np.testing.assert_allclose(gradient[i], slope, rtol=1e-6)


def one_or_the_other_changes(x: Any, n: Any) -> Any:
    rows: list[list[Any]] = [[] for _ in range(n)]
    row = [x[0]]
    rows.append(row)
    row.append(x[1])
    return rows


def moved_and_seen_by_another_name(x):  # other name sees
    rows = []
    row = []
    last = row
    for v in x:
        row.append(v)
        if v > 0.5:
            rows.append(row)
            last = row
            row = []
        last.append(0.5)
    return rows, last


def appended_by(rows, row):
    rows.append(row)


def moved_and_changed_by_the_caller(x):
    rows = []
    row = []
    for v in x:
        row.append(v)
        if v > 0.5:
            appended_by(rows, row)
            row.append(2.0)
            row = []
    return rows


def moved_and_seen_in_a_container(x):
    rows = []
    row = []
    holder = [row]
    for v in x:
        row.append(v)
        if v > 0.7:
            rows.append(row)
            row = []
    holder[0].append(1.0)
    return rows, holder


def moved_and_seen_by_a_lambda(x):
    rows = []
    row = []
    f = lambda: row
    for v in x:
        row.append(v)
        if v > 0.5:
            rows.append(row)
            row = []
    f().append(3.0)
    return rows


def structures_that_differ(x: Any, n: Any) -> Any:
    rows: list[Any] = [[] for _ in range(n)]
    rows[0].append(x[0])
    rows[1].append((x[1], 2))
    return rows


def arrays_that_differ(x: Any, n: Any) -> Any:
    rows: list[Any] = [[] for _ in range(n)]
    for i in range(n):
        rows[0].append(x[:i])
    return rows


@pytest.mark.parametrize(
    "program",
    [
        one_or_the_other_changes,
        structures_that_differ,
        arrays_that_differ,
        moved_and_seen_by_another_name,
        moved_and_changed_by_the_caller,
        moved_and_seen_in_a_container,
        moved_and_seen_by_a_lambda,
    ],
)
def test_what_rows_cannot_hold_is_refused(program: Callable[..., Any]) -> None:
    given = [np.arange(5.0), np.int64(3)][: program.__code__.co_argcount]
    with pytest.raises(TraceError, match="in user code") as caught:
        graphify.function(program)(*given)
    assert "test_ragged_rows.py" in str(caught.value)


def moved_beside_a_container(x: Any) -> Any:
    pool = [[[1.0]], [[2.0]]]
    rows, row = [], []
    for v in x:
        row.append(v)
        if v > 0.5:
            rows.append(row)
            row = []
    return rows, len(pool)


def test_a_list_stays_where_not_everything_was_looked_at(monkeypatch: Any) -> None:
    """In what is too large to go through, something may show it."""
    x = arguments(0)["x"]
    assert graphify.function(moved_beside_a_container)(x)[1] == 2
    monkeypatch.setattr(identity, "MOST", 2)
    with pytest.raises(TraceError, match="the list holds a copy"):
        graphify.function(moved_beside_a_container)(x)


def degrees(edges: Any, n: Any) -> Any:
    near: list[list[Any]] = [[] for _ in range(n)]
    for e in range(len(edges)):
        near[edges[e, 0]].append(edges[e, 1])
        near[edges[e, 1]].append(edges[e, 0])
    return sum([len(row) * row[0] for row in near if row])


def test_a_number_is_appended_to_a_row_in_its_place() -> None:
    """Neither the row nor the table is copied."""
    given = [arguments(0)[name] for name in ("edges", "n")]
    concrete = graphify.function(degrees, dynamic=True).get_concrete_function(*given)
    text = str(concrete.lower())
    assert "allocate concatenate" in text  # where it grows
    assert "allocate slice_update" not in text  # the copy of what cannot be updated in its place


def replaced_while_another_name_shows_the_first(x):
    rows = [[] for _ in range(9)]
    part = []
    first = part
    for i, v in enumerate(x):
        if i % 2 == 0:
            if len(part) > 2:
                rows[i % 9] = part
                part = []
        part.append(v)
    return len(part), len(first)


def test_a_list_that_another_name_shows_does_not_grow_alone() -> None:
    """The row of a table that it may be stands for whatever the table has copied."""
    staged = graphify.function(replaced_while_another_name_shows_the_first)
    for n in (3, 5, 7, 12):
        x = np.arange(float(n))
        try:
            found = tuple(map(int, staged(x)))
        except TraceError as error:
            assert "would have to be seen through another name" in str(error)
        else:
            assert found == replaced_while_another_name_shows_the_first(x)
