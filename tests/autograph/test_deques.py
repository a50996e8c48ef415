"""collections.deque: programs and random sequences of operations, compared with plain Python."""

from __future__ import annotations

import copy
import random
from collections import deque
from collections.abc import MutableSequence
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

ENGINES = ["reference", "native"]
X = np.array([1.0, -2.0, 0.5, 3.0, -0.5, 2.0, 0.25, -3.0, -1.0, -4.0, 5.0, 6.0])
PROGRAMS = []


def program(function: Any) -> Any:
    PROGRAMS.append(function)
    return function


@program
def both_ends_in_a_try(x):
    q, seen = deque([x[0]]), 0.0
    try:
        for v in x:
            if v > 1:
                q.append(v)
                q.appendleft(v + 2)
                q.extend([v * 2, v * 3])
            else:
                seen = seen * 2 + q.popleft()
    except IndexError:
        seen = -seen - 1
    return seen, list(q)


@program
def list_grown_in_a_try(x):
    rows, seen = [x[0]], 0.0
    try:
        for v in x:
            if v > 1:
                rows.extend([v + 1, v + 2])
                rows.insert(0, v)
                rows.append(v)
            else:
                seen = seen * 2 + rows.pop(0) + rows[1]
    except IndexError:
        seen = -seen - len(rows)
    return seen, rows


def plain(value: Any) -> Any:
    """What a result is, with the kinds of its deques, in lists of numbers."""
    if isinstance(value, deque):
        return ["deque", value.maxlen, *map(plain, value)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return np.asarray(value).tolist() if hasattr(value, "dtype") else value


def outcome(function: Any, *args: Any) -> Any:
    try:
        return plain(function(*copy.deepcopy(args)))
    except (IndexError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        return type(error).__name__, str(error).partition("\nin user code")[0]


def same(function: Any, *args: Any, engine: str = "reference") -> None:
    assert outcome(graphify.function(function, engine=engine), *args) == outcome(function, *args)


# --- programs -------------------------------------------------------------------------------------


@program
def both_ends(x):
    q = deque()
    for v in x:
        if v > 1:
            q.appendleft(v)
        elif v > 0:
            q.append(v)
        elif q:
            if v < -1:
                q.pop()
            else:
                q.popleft()
    return len(q), list(q), q, bool(q), not q


@program
def bounded(x):
    q = deque([1.0, 2.0], maxlen=4)
    for v in x:
        if v > 0:
            q.append(v)
        else:
            q.appendleft(v)
    return q, q.maxlen


@program
def in_the_middle(x):
    q = deque([1.0, 2.0, 3.0])
    for v in x:
        if v > 0:
            q.append(v)
            q.rotate(1)
        elif len(q) > 2:
            q.popleft()
            q.rotate(int(v))
    q.reverse()
    q[0], q[-1] = 7.0, q[-1] + 1.0
    del q[1]
    q.insert(1, 5.5)
    r = q.copy()
    r.extend([1.0, 2.0])
    r.extendleft([3.0, 4.0])
    r += q
    r *= 2
    r.remove(5.5)
    return q, r, 5.5 in q, 50.0 in q, q.index(5.5), q.count(5.5), q + r, q * 2


@program
def made_of_others(x):
    positive = [v for v in x if v > 0]
    q = deque(positive, 3)
    q.extend(positive)
    q.extendleft(positive)
    q.extend(q)
    return q, deque(x, maxlen=2), deque(range(3)), deque(x), deque(q), deque((v for v in x), 4)


@program
def gone_over(x):
    q = deque([1.0, 2.0])
    for v in x:
        if v > 1:
            q.append(v)
        elif v < -1:
            q.popleft()
    return (
        [(i, v) for i, v in enumerate(q)],
        [a * b for a, b in zip(q, x, strict=False)],
        list(reversed(q)),
        [*q, 1.0],
        (sum(v * v for v in q), max(q), min(q, key=lambda v: -v), any(v > 5 for v in q)),
        (sorted(q), sum(q), next(iter(q))),
        (np.mean(q), np.max(np.array(q)), np.stack(q)),
    )


@program
def kinds(x):
    q = deque([x[0], x[1]])
    a, b = q
    known = isinstance(q, deque), isinstance(q, MutableSequence), isinstance(q, (list, tuple))
    match q:
        case deque():
            a = a + 1
    equal = q == deque([x[0], x[1]]), q != deque([1.0]), q < deque([x[0], 100.0]), q == [1.0]
    return a * b, known, type(q) is deque, type(q).__name__, tuple(q), equal, copy.copy(q), q[True]


@program
def windows_maximum(x):
    q, found = deque(), []
    for i in range(len(x)):
        while q and x[q[-1]] <= x[i]:
            q.pop()
        q.append(i)
        if q[0] <= i - 3:
            q.popleft()
        if i >= 2:
            found.append(x[q[0]])
    return np.array(found)


@program
def level_by_level(x):
    q, n, total = deque([1]), 0, 0.0
    while q:
        following = deque()
        for k in q:
            total += x[k % len(x)]
            for child in (2 * k, 2 * k + 1):
                if child < 40 + int(x[0]):
                    following.append(child)
        q, n = following, n + 1
    return total, n


@program
def turns_for_ever(x):
    q, total = deque([1.0, 2.0, 3.0]), 0.0
    for v in x:
        q.append(v)
    k = 0
    while k < 200 + int(x[0]):
        v = q.popleft()
        total, k = total + v * k, k + 1
        q.append(v)
    return total, q


@program
def arrays_in_halves(x):
    q, lengths = deque([(0, x)]), 0
    while q:
        depth, part = q.popleft()
        lengths = lengths * 3 + len(part) + depth
        if len(part) > 5:
            middle = len(part) // 2
            q.append((depth + 1, part[:middle]))
            q.appendleft((depth + 1, part[middle:]))
    return lengths


@program
def known_elements(x):
    q = deque(["a", "b", "c"])
    q.rotate(1)
    q.append(None)
    return x[0], q[0], len(q), q.index("b"), "z" in q, q.popleft() + q.pop() * 0 if q[-1] else 1


class Box:
    def __init__(self):
        self.queue, self.count = deque(maxlen=5), 0

    def put(self, v):
        self.queue.append(v)
        self.count += 1


@program
def in_an_object(x):
    box, total = Box(), 0.0
    for v in x:
        box.put(v)
        if len(box.queue) > 3 and v > 0:
            total += box.queue.popleft()
    return total, box.count, list(box.queue)


@program
def in_containers(x):
    table = {"a": deque(), "b": deque([0.5])}
    buckets = [deque() for _ in range(3)]
    for v in x:
        table["a"].append(v)
        if v > 1:
            table["b"].appendleft(table["a"].pop())
        buckets[int(v) % 3].append(v)
    return table, [list(bucket) for bucket in buckets]


def put(q, v):
    q.append(v)
    return q


@program
def one_by_two_names(x):
    q = r = deque()
    s = deque()
    for v in x:
        if v > 0:
            q = put(q, v)
        else:
            deque.appendleft(s, v)
    add = q.append
    add(1.0)
    return q is r, q is s, r is not s, r, s


@program
def one_of_two(x):
    a, b = deque([1.0]), deque([2.0], maxlen=3)
    q = a if x[0] > 0 else b
    for v in x:
        q.append(v)
    return q is a, q is b, list(a), list(b), q


@program
def swapped(x):
    a, b = deque([1.0]), deque([2.0, 3.0])
    for v in x:
        if v > 0:
            a, b = b, a
        a.append(v)
        if v < -2:
            b.popleft()
    return list(a), list(b)


@program
def none_or_a_deque(x):
    q = None
    if x[0] > 0:
        q = deque([x[1]])
    if q is not None:
        q.append(1.0)
    return q


@program
def emptied(x):
    q = deque([1.0])
    for v in x:
        q.append(v)
        if v > 2:
            q.clear()
    r = deque()
    for v in x:
        if v > 100:
            r.append(v)
    return q, r, r.count(x[0]), list(r)


@program
def none_at_all(x):
    q = deque(maxlen=0)
    q.append(1.0)
    q.extend([x[0]])
    q.appendleft(2.0)
    return q, q.count(x[0]), x[0] in q


@program
def caught(x):
    q, total = deque(), 0.0
    for v in x:
        try:
            if v > 0:
                q.append(v)
            else:
                total += q.popleft()
        except IndexError:
            total -= 100
    while True:
        try:
            total = total * 2 + q.pop()
        except IndexError:
            break
    return total


@program
def returned_early(x):
    q = deque(maxlen=3)
    for v in x:
        q.append(v)
        if v > 2:
            return q
    return q


@program
def inner_ones(x):
    q = deque()
    for v in x:
        inner = deque(maxlen=2)
        for w in x:
            if w > v:
                inner.append(w)
        if inner:
            q.append(deque([inner.popleft(), 1.0 * len(inner)]))
    return [list(pair) for pair in q], q[1][0], len(q[0])


@program
def left_after_a_change(x):
    q = deque([1.0, 2.0])
    for v in q:
        q.append(v * x[0])
        break
    return q


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(function, engine):
    for x in (X, -X):
        assert not isinstance(outcome(function, x), tuple)  # no error
        same(function, x, engine=engine)


# --- errors ---------------------------------------------------------------------------------------


def _filled(x, maxlen=None):
    q = deque([1.0], maxlen)
    for v in x:
        if v > 0:
            q.append(v)
    return q


FAILING = {
    "popleft": lambda x: deque().popleft(),
    "popleft of none left": lambda x: [_popped_twice(x)],
    "pop": lambda x: deque(v for v in x if v > 100).pop(),
    "index": lambda x: _filled(x)[50],
    "negative index": lambda x: _filled(x)[-50],
    "known index": lambda x: deque([1.0])[int(x[0]) + 3],
    "slice": lambda x: _filled(x)[1:],
    "remove": lambda x: [q.remove(77.0) or len(q) for q in [_filled(x)]],
    "search": lambda x: _filled(x).index(77.0),
    "insert": lambda x: _filled(x, 3).insert(0, 1.0),
    "list": lambda x: _filled(x) + [x[0]],
    "maxlen": lambda x: deque([x[0]], -1),
    "text as maxlen": lambda x: deque([x[0]], "3"),
    "attribute": lambda x: _filled(x).push(1.0),
    "changed": lambda x: [q.append(v) for q in [deque([x[0]])] for v in q],
}


def _popped_twice(x):
    q = deque([1.0])
    if x[0] > 0:
        q.popleft()
    return q.popleft()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FAILING)
def test_errors_are_those_of_python(name, engine):
    assert isinstance(outcome(FAILING[name], X), tuple)
    same(FAILING[name], X, engine=engine)


def changed_on_a_path(x):
    q = deque([1.0, 2.0])
    for v in q:
        if x[0] > 0:
            q.append(v)
    return q


def changed_meanwhile(x):
    q = deque(v for v in x if v > 0)
    for v, w in zip(q, x, strict=False):
        if v > w:
            q.popleft()
    return q


def appended_meanwhile(x):
    q = deque(v for v in x if v > 0)
    for v in q:
        q.append(v)
    return q


def set_meanwhile(x):
    q = deque([x[0], x[1], x[2]])
    for v in q:
        q[2] = v + 1
    return q


def element_changed(x):
    q = deque()
    for v in x:
        if v > 0:
            q.append(deque([v]))
    q[0].append(1.0)
    return q


def length_of_the_run(x):
    return deque([1.0], maxlen=len(x) if x[0] > 0 else 2)


def shapes_that_differ(x):
    q = deque()
    for n in range(len(x)):
        q.append(x[:n])
    return q


def from_outside(x):
    for v in x:
        OUTSIDE.append(v)
    return x


OUTSIDE: deque[Any] = deque()


@pytest.mark.parametrize(
    "function, text",
    [
        (changed_on_a_path, "go over a copy of it: for v in list"),
        (changed_meanwhile, "go over a copy of it, list"),
        (appended_meanwhile, "go over a copy of it, list"),
        (set_meanwhile, "go over a copy of it: for v in list"),
        (element_changed, "put a changed one in its place"),
        (length_of_the_run, "the maxlen of a deque is only known when the graph runs"),
        (shapes_that_differ, "make them of one shape"),
    ],
)
def test_refused(function, text):
    with pytest.raises(TraceError, match=text) as caught:
        graphify.function(function)(X)
    assert function.__name__ in str(caught.value)


def test_deques_from_outside_stay_python_s():
    with pytest.raises(TraceError, match="deque is changed in staged control flow"):
        graphify.function(lambda x: changes(x, OUTSIDE))(X)
    assert not OUTSIDE
    assert graphify.function(lambda x, q: sum(v * x[0] for v in q))(X, deque([1.0, 2.0])) == 3


def changes(x, q):
    if x[0] > 0:
        q.append(1.0)
    return x


# --- text, derivatives, batches -------------------------------------------------------------------


def shown(x):
    q = deque(["x"], maxlen=2)
    print(q)
    q = deque(maxlen=3)
    for i in range(len(x)):
        if x[i] > 0:
            q.append(i)
    print([q], f"{q} {deque()!r}")
    return x


def test_text(capsys):
    shown(X)
    want = capsys.readouterr().out
    graphify.function(shown)(X)
    assert capsys.readouterr().out == want


def largest_of_the_last(x):
    q, total = deque(maxlen=3), 0.0
    for v in x:
        q.append(v * v)
        total = total + max(q)
    return total


def test_derivative():
    got = np.asarray(graphify.grad(largest_of_the_last)(X))
    for i, slope in enumerate(got):
        step = np.eye(len(X))[i] * 1e-6
        moved = largest_of_the_last(X + step) - largest_of_the_last(X - step)
        assert abs(moved / 2e-6 - slope) < 1e-6


def ragged(x):
    q = deque()
    for v in x:
        q.append(v)
        if v > 1:
            q.popleft()
    return sum(q), q[0], len(q)


def last_ones(x):
    q = deque(maxlen=2)
    for v in x:
        q.append(v)
    return q


def test_batches():
    lanes = np.stack([X, -X, X * 0.3])
    got = graphify.vmap(ragged)(lanes)
    for lane, x in enumerate(lanes):
        assert [float(np.asarray(column)[lane]) for column in got] == [float(v) for v in ragged(x)]
    together = graphify.function(lambda xs: graphify.vmap(last_ones)(xs))(lanes)
    assert type(together) is deque and together.maxlen == 2
    np.testing.assert_array_equal(np.stack([np.asarray(v) for v in together]), lanes.T[-2:])


# --- random sequences -----------------------------------------------------------------------------


def ends(codes, values, q):
    seen = []
    for c, v in zip(codes, values, strict=True):
        if c == 0:
            q.append(v)
        elif c == 1:
            q.appendleft(v)
        elif c == 2:
            seen.append(q.popleft())
        elif c == 3:
            seen.append(q.pop())
        elif c == 4:
            q.extend([v, v + 1, v + 2])
        elif c == 5:
            q.extendleft([v, v + 1])
        else:
            seen.append(sum(q) * 100 + len(q))
    return seen, q


def order(codes, values, q):
    seen = []
    for c, v in zip(codes, values, strict=True):
        if c == 0:
            q.append(v)
        elif c == 1:
            q.appendleft(v)
        elif c == 2:
            q.rotate(v - 3)
        elif c == 3:
            q.reverse()
        elif c == 4:
            seen.append(q.popleft())
        elif c == 5:
            q.clear()
        else:
            seen.append(q[-1] + 10 * q[0])
    return seen, q


def middle(codes, values, q):
    seen = []
    for c, v in zip(codes, values, strict=True):
        if c < 2:
            q.append(v)
        elif c == 2:
            q[v % 3] = v
        elif c == 3:
            del q[v % 3]
        elif c == 4:
            q.insert(v - 3, v)
        elif c == 5:
            if v in q:
                seen.append(q.index(v))
                q.remove(v)
            q.popleft()
        else:
            seen.append(q.count(v) + 100 * len(q))
    return seen, q


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("start, maxlen", [((), None), ((5, 6), 3), ((1,), 0)])
@pytest.mark.parametrize("operate", [ends, order, middle])
def test_random_sequences(operate, start, maxlen, engine):
    def run(codes, values):
        return operate(codes, values, deque(start, maxlen=maxlen))

    staged, rng = graphify.function(run, engine=engine), random.Random(7)
    for _ in range(60):
        length = rng.choice([4, 12, 30])
        few = rng.choice([range(7), (0, 0, 1, 4, 6), (0, 0, 2, 3), (0, 2, 4, 6)])
        codes = [rng.choice(few) if k > 3 else rng.choice((0, 1)) for k in range(length)]
        values = [rng.randrange(8) for _ in range(length)]
        want = outcome(run, codes, values)
        assert outcome(staged, np.array(codes), np.array(values)) == want, (codes, values)
