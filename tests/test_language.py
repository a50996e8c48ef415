"""The tables of docs/language.md, row by row: what is supported answers as plain Python does, what
is refused names the line and says what to write instead.
"""

import copy
import functools
import math
import pathlib
import random
import re
from dataclasses import dataclass

import numpy as np
import pytest

import graphify
from graphify.errors import ConcreteValueNeeded, SpecError, SyntaxUnsupported, TraceError
from tests.test_samples import MODULES, functions_of

X = np.array([1.0, -2.0, 3.0])
SUPPORTED = []
REFUSED = []
PLANNED = []


def supported(function):
    SUPPORTED.append(function)
    return function


def refused(error, group=REFUSED):
    def register(function):
        group.append((function, error))
        return function

    return register


planned = functools.partial(refused, group=PLANNED)


# --- supported ---------------------------------------------------------------------------------


@supported
def branches(x):
    if x.sum() > 5:
        y = x
    elif x[0] > 0:
        y = -x
    else:
        y = x * 2
    return y if y.max() > 1 else y + 1


@supported
def while_else(x):
    turns = 0
    while x.sum() < 50:
        x, turns = x * 2, turns + 1
        if turns == 100:
            break
    else:
        turns = turns + 0.5
    return x, turns


@supported
def loops_over_arrays(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        if a < -5:
            continue
        total += i * a * b
    for i in range(20):
        total += i
    return total


@supported
def early_return_in_a_loop(x):
    for v in x:
        if v < 0:
            return v
    return np.float64(0)


@supported
def logic(x):
    both = x[0] > 0 and x[1] < 0
    return both or not x[2], 0 < x[0] < 2, 3.0 in x


@supported
def builtins(x):
    a, b, c = x
    return (
        int(a),
        float(b),
        bool(c),
        abs(x),
        round(c),
        len(x),
        min(a, b),
        max(x),
        sum(x),
        any(x > 2),
    )


@supported
def kinds(x):
    return isinstance(x, np.ndarray), isinstance(x.sum(), float), isinstance(len(x), int)


@supported
def updates(x):
    tail = x[1:]
    tail[tail < 0] = 7
    x[np.argmin(x)] += 1
    np.add.at(x, [0, 0], 1.0)
    x += 1
    return x.sum()


@dataclass
class Point:
    x: object
    turns: int


@supported
def state(x):
    point, pair, table = Point(x, 0), [x, 0], {"x": x}
    while point.x.sum() < 20:
        point.x = point.x * 2
        point.turns += 1
        pair[1] += 2
        table["x"] = table["x"] + 1
    return point.x, point.turns, pair, table


@supported
def closures(x):
    factor = 2

    def scaled(v):
        nonlocal factor
        factor += 1
        return v * factor

    return scaled(x) + scaled(x), (lambda v: v if v.sum() > 0 else -v)(x)


@supported
def comprehensions(x):
    return [x * k for k in (1, 2)], {k: v * 1 for k, v in enumerate(x)}, sum(v * 2 for v in x)


@supported
def contexts(x):
    with np.errstate(all="ignore"):
        y = x / 0 if x.sum() > 0 else x
    try:
        return {}["missing"]
    except KeyError:
        return y


@supported
def matching(x):
    match x.ndim:
        case 1:
            return x
        case _:
            return -x


@supported
def recursion(x, n=3):
    return x if n == 0 else recursion(x * n, n - 1)


@supported
def assignment_expressions(x):
    while (total := x.sum()) < 100:
        x = x * 2
    return total


@supported
def conditional_assignment(x):
    if x[0] > 0 and (y := x[1] * 2) < 0:
        return y
    return x[2]


@supported
def values_of_several_kinds(x):
    word = "up" if x[0] > 0 else "down"
    part = x.sum() if x[1] > 0 else x
    nothing = x if x[2] < 0 else None
    return word, part, nothing


@supported
def lists_of_any_length(x):
    rows = []
    while x.sum() < 20:
        x = x * 2
        rows.append(x)
    return rows, [v for v in x if v > 0], [10, 20, 30][np.argmax(x)]


@supported
def matching_a_tensor(x):
    match x[0]:
        case 1.0:
            return x
    return -x


@supported
def errors_of_the_run(x):
    try:
        y = x[np.argmax(x) + 5]
    except IndexError:
        y = x[0]
    finally:
        x = x + 1
    return y, x


@supported
def recursion_that_the_run_ends(x):
    def halved(v):
        return v if v < 1 else halved(v / 2)

    return halved(x[2])


@supported
def library_functions(x):
    return math.sqrt(x[2]), math.floor(x[1]), sorted(x, key=abs), x.tolist()


def plain_number(value):
    return value.numpy() if isinstance(value, graphify.Tensor) else value


def assert_same(got, want):
    got, want = (graphify.tree.flatten(value)[0] for value in (got, want))
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(plain_number(g), w)


@pytest.mark.parametrize("function", SUPPORTED, ids=lambda f: f.__name__)
def test_supported(function):
    plain, given = X.copy(), X.copy()
    with np.errstate(all="ignore"):
        want = copy.deepcopy(function(plain))
        assert_same(graphify.function(function)(given), want)
    np.testing.assert_array_equal(given, plain)


# --- refused -----------------------------------------------------------------------------------


@refused(TraceError)
def generator(x):
    return (v * 2 for v in x)


@refused(TraceError)
def generators_side_by_side(x):
    def positive():
        for v in x:
            if v > 0:
                yield v

    return [a * b for a, b in zip(positive(), positive(), strict=False)]


@refused(SyntaxUnsupported)
def value_of_a_yield(x):
    def running():
        total = 0.0
        for v in x:
            total = total + (yield total) + v

    return list(running())


@refused(SyntaxUnsupported)
def coroutine_inside(x):
    async def inner():
        return x

    return inner


@refused(SyntaxUnsupported)
def frames(x):
    return locals()


@refused(SyntaxUnsupported)
def conditional_assignment_in_a_lambda(x):
    return (lambda v: v > 0 and (y := v))(x[0])  # noqa: F841


class Box:
    def __init__(self, x):
        self.x = x


@refused(TraceError)
def object_as_a_result(x):
    return Box(x * 2)


@refused(ConcreteValueNeeded)
def index_of_a_text(x):
    return x * len("abc"[np.argmax(x)])


@refused(TraceError)
def names_by_value(x):
    names = {}
    for v in x:
        names[v] = "high" if v > 1 else "low"
    return names


@refused(TraceError)
def rank_that_grows(x):
    while np.abs(x).sum() < 1e6:
        x = np.stack([x, x])
    return x


@refused(TraceError)
def order_of_a_set(x):
    return [v * 2 for v in {abs(v) for v in x}]


@refused(TraceError)
def sets_in_a_dict(x):
    groups = {}
    for v in x:
        groups.setdefault(int(v), set()).add(v)
    return groups


@refused(TraceError)
def random_in_a_branch(x):
    if x[0] > 0:
        return x * random.random()
    return x


@refused(TraceError)
def arrays_sorted_by_a_key(x):
    return sorted([x, x + 1], key=lambda v: v.sum())


@refused(ConcreteValueNeeded)
def bytes_of_an_array(x):
    return x.tobytes()


@refused(ConcreteValueNeeded)
def function_of_a_library(x):
    return math.gamma(x[2])


@refused(ConcreteValueNeeded)
def text_of_a_tensor(x):
    return f"{x.sum()}" == "2.0"


@refused(ConcreteValueNeeded)
def text_as_a_result(x):
    return f"{x.sum()}"


@refused(SpecError)
def missing_from_graphify(x):
    return np.real_if_close(x)


@planned(ConcreteValueNeeded)
def slice_with_a_traced_step(x):
    return np.stack([x, x])[[0, 1], :: np.argmax(x)]


@planned(ConcreteValueNeeded)
def tuples_by_name(x):
    first, second = [(v, 1) for v in x[:2]]
    return first < second


@pytest.mark.parametrize("case", REFUSED + PLANNED, ids=lambda case: case[0].__name__)
def test_refused_with_line_and_remedy(case):
    function, error = case
    with pytest.raises(error) as caught:
        graphify.function(function)(X.copy())
    assert caught.value.remedy
    place, first = caught.value.location, function.__code__.co_firstlineno
    assert place.file.endswith("test_language.py")
    assert first <= place.line <= first + 10


def test_texts_of_tensors_in_print_raise_and_assert(capsys):
    @graphify.function
    def speaking(x):
        print(f"sum {x.sum():.1f}", x[0])
        if x.sum() > 5:
            raise ValueError(f"too large: {x.sum()}")
        assert x.sum() < 4, f"large: {x.max()}"
        return x

    speaking(X)
    assert capsys.readouterr().out == "sum 2.0 1.0\n"
    with pytest.raises(ValueError, match="too large: 6.0"):
        speaking(X * 3)
    with pytest.raises(AssertionError, match="large: 6.0"):
        speaking(X * 2)


def test_what_has_no_hash():
    with pytest.raises(TypeError, match="needs the hash of a tensor f64"):
        graphify.function(lambda x: hash(x[0]))(X)
    with pytest.raises(TypeError, match="unhashable type: 'numpy.ndarray'"):
        graphify.function(lambda x: {x: 1})(X)


def test_complex_numbers_have_no_order():
    with pytest.raises(TypeError, match="real number"):
        graphify.function(lambda x: int(x[0] * 1j))(X)
    with pytest.raises(TypeError, match="not supported"):
        graphify.function(lambda x: complex(x[0], 1) < complex(2, x[1]))(X)


# --- the page and the samples ------------------------------------------------------------------

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "language.md"
SAMPLES = {module.__name__.rpartition(".")[2]: functions_of(module) for module in MODULES}
LINK = re.compile(r"`([a-z]\w*)\.(\w+)`")


def links() -> list[tuple[str, str]]:
    return [(m, f) for m, f in LINK.findall(PAGE.read_text()) if m in SAMPLES]


def test_links_lead_to_samples():
    stale = [
        f"{module}.{name}"
        for module, name in links()
        if name not in [function.__name__ for function in SAMPLES[module]]
    ]
    assert stale == []


def test_every_module_of_samples_is_linked():
    assert set(SAMPLES) - {module for module, _ in links()} == set()


def test_every_construct_has_a_sample():
    page = PAGE.read_text()
    tables = [part.partition("\n\n")[0] for part in page.split("| samples |\n|---|---|---|\n")[1:]]
    rows = [row for table in tables for row in table.splitlines()]
    without = [row for row in rows if not LINK.search(row.split("|")[-2])]
    assert len(rows) > 60 and without == []


def test_loops_are_unrolled_where_staging_would_change_the_answer():
    names = list("abcdefghij")

    @graphify.function
    def table(x):
        rows = {}
        for i in range(10):
            rows[names[i]] = x * i
        return rows

    np.testing.assert_array_equal(table(X)["j"].numpy(), X * 9)
    assert "loop of" in table.explain(X) and "unrolled" in table.explain(X)


def test_python_effects_happen_while_tracing_and_effects_of_values_each_time():
    traced, seen = [], []

    @graphify.function
    def counting(x):
        traced.append(1)
        return x

    @graphify.function
    def noting(x):
        seen.append(x.sum())
        return x

    for _ in range(3):
        counting(X)
        noting(X)
    assert traced == [1]
    assert [float(v) for v in seen] == [2.0, 2.0, 2.0]
