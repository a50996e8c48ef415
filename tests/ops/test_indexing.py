"""Indexing against NumPy: any key, reading and writing, eager and in graphs of symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphify
import graphify.numpy as gnp
from graphify.errors import ConcreteValueNeeded, SpecError
from graphify.ir.context import recording
from graphify.ir.graph import Builder
from graphify.ir.interpret import run
from graphify.ir.sizes import fresh
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor

# --- running one function three ways --------------------------------------------------------------


def traced(function: Any, arrays: list[np.ndarray], symbolic: bool) -> list[np.ndarray]:
    """The results of a function of tensors, recorded in a graph that the reference then runs."""
    builder = Builder()
    with recording(builder):
        params = []
        for array in arrays:
            shape = tuple(fresh("n") for _ in array.shape) if symbolic else array.shape
            params.append(Tensor(builder.param(Spec(shape, array.dtype))))
        results = [value_in(as_tensor(r), builder) for r in function(*params)]
    return run(builder.finish(results), arrays)


def outcome(function: Any, *args: Any) -> Any:
    try:
        return [np.asarray(r) for r in function(*args)]
    except (IndexError, ValueError, TypeError) as error:
        if isinstance(error, (ConcreteValueNeeded, SpecError)):
            raise
        return error


def check(function: Any, *arrays: np.ndarray, known: bool = False) -> None:
    """Plain NumPy, eager tensors, a graph of known sizes, and one of symbolic sizes agree."""
    want = outcome(function, *(a.copy() for a in arrays))
    runs = {
        "eager": lambda: outcome(function, *(as_tensor(a.copy()) for a in arrays)),
        "static": lambda: outcome(lambda *xs: traced(function, list(xs), False), *arrays),
        "symbolic": lambda: outcome(lambda *xs: traced(function, list(xs), True), *arrays),
    }
    if known:  # the sizes must be known
        del runs["symbolic"]
    for name, attempt in runs.items():
        got = attempt()
        if isinstance(want, Exception):
            kind = IndexError if isinstance(want, IndexError) else ValueError
            assert isinstance(got, kind), f"{name}: expected {want!r}, got {got!r}"
            continue
        assert not isinstance(got, Exception), f"{name}: {got!r}, expected {want}"
        for g, w in zip(got, want, strict=True):
            assert g.dtype == w.dtype, name
            np.testing.assert_array_equal(g, w, err_msg=name)
            assert g.shape == w.shape, name


# --- strategies -----------------------------------------------------------------------------------

SHAPES = st.lists(st.integers(0, 4), min_size=0, max_size=3).map(tuple)


@st.composite
def entries(draw: Any, size: int, arrays: bool, lead: tuple[int, ...]) -> Any:
    kinds = ["int", "slice", "slice", "whole"] + ["array", "mask"] * arrays
    kind = draw(st.sampled_from(kinds))
    if kind == "int":
        return draw(st.integers(-size - 1, size)) if size else 0
    if kind == "slice":
        bound = st.none() | st.integers(-size - 2, size + 2)
        step = draw(st.none() | st.integers(-3, 3).filter(bool))
        return slice(draw(bound), draw(bound), step)
    if kind == "whole":
        return slice(None)
    if kind == "mask":
        return np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    index = st.integers(-size, size - 1) if size else st.just(0)
    flat = draw(st.lists(index, min_size=int(np.prod(lead)), max_size=int(np.prod(lead))))
    return np.array(flat, np.int64).reshape(lead)


@st.composite
def keys(draw: Any, shape: tuple[int, ...], arrays: bool = True) -> Any:
    """A key for an array of this shape, sometimes with newaxis, Ellipsis, or out of bounds."""
    lead = draw(st.sampled_from([(2,), (1,), (2, 1), (), (3,)]))
    count = draw(st.integers(0, len(shape)))
    key = [draw(entries(size, arrays, lead)) for size in shape[:count]]
    if draw(st.booleans()):
        place = draw(st.integers(0, len(key)))
        tail = [draw(entries(size, arrays, lead)) for size in shape[len(shape) - (count - place) :]]
        key = [*key[:place], Ellipsis, *(tail if count - place else [])]
    for _ in range(draw(st.integers(0, 1))):
        key.insert(draw(st.integers(0, len(key))), None)
    if len(key) == 1 and draw(st.booleans()):
        return key[0]
    return tuple(key)


@st.composite
def reading(draw: Any) -> Any:
    shape = draw(SHAPES)
    return shape, draw(keys(shape))


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape)


# --- reading and writing --------------------------------------------------------------------------


@given(reading())
@settings(max_examples=300, deadline=None)
def test_reading_any_key(case: Any) -> None:
    shape, key = case
    check(lambda x: [x[key]], numbered(shape))


@given(reading(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_writing_any_key(case: Any, scalar: bool) -> None:
    shape, key = case
    x = numbered(shape)
    try:
        target = x[key].shape
    except IndexError:
        target = ()
    new = np.asarray(-1.0) if scalar else -1.0 - numbered(target)

    def write(x: Any, v: Any) -> Any:
        x = x.copy()
        x[key] = v
        return [x]

    if _repeats(shape, key):
        new = np.asarray(-1.0)  # the order of writes to one place is not NumPy's promise
    check(write, x, new)


def _repeats(shape: tuple[int, ...], key: Any) -> bool:
    places = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        chosen = places[key]
    except IndexError:
        return False
    return np.unique(chosen).size != np.size(chosen)


@given(reading())
@settings(max_examples=150, deadline=None)
def test_updating_in_place(case: Any) -> None:
    shape, key = case

    def update(x: Any) -> Any:
        x = x * 1
        x[key] += 10
        return [x]

    if shape:
        check(update, numbered(shape))


@st.composite
def chains(draw: Any) -> Any:
    """Steps from an array to a view of a view, and a key to write to there."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
    x, steps = numbered(shape), []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["slice", "transpose", "reshape", "flip"]))
        if kind == "slice":
            argument = draw(keys(x.shape, arrays=False))
        elif kind == "transpose":
            argument = tuple(draw(st.permutations(range(x.ndim))))
        elif kind == "flip":
            argument = draw(st.integers(0, x.ndim - 1)) if x.ndim else None
        else:
            size = x.size
            rows = draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0] or [1]))
            argument = (rows, size // rows) if size else (0, 3)
        try:
            x = step(np, x, kind, argument)
        except IndexError:
            continue
        steps.append((kind, argument))
        if isinstance(x, np.generic):
            break
    return shape, steps, isinstance(x, np.generic)


def step(namespace: Any, x: Any, kind: str, argument: Any) -> Any:
    if kind == "slice":
        return x[argument]
    if kind == "transpose":
        return namespace.transpose(x, argument)
    if kind == "flip":
        return namespace.flip(x, argument)
    return x.reshape(argument)


@given(chains())
@settings(max_examples=250, deadline=None)
def test_writing_through_views_of_views(case: Any) -> None:
    """A reshape that copies in NumPy is a copy; where a graph cannot tell, it says so."""
    shape, steps, scalar = case

    def write(x: Any) -> Any:
        namespace = gnp if isinstance(x, Tensor) else np
        x = x * 1
        view = x
        for kind, argument in steps:
            view = step(namespace, view, kind, argument)
        if scalar:  # one element is a copy
            return [x, np.asarray(view) if isinstance(view, np.generic) else view]
        view[...] = -1.0
        x[...] = x * 2
        return [x, view, view + 0]

    try:
        check(write, numbered(shape))
    except SpecError as error:
        assert "view or a copy" in str(error)


# --- traced integers ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("step_", [None, 1, 2, -1, -2])
def test_traced_slice_bounds(n: int, step_: int | None) -> None:
    for start in range(-n - 2, n + 3):
        for stop in (-n - 2, -n, -1, 0, 1, n - 1, n, n + 2):

            def both(x: Any, i: Any, j: Any) -> Any:
                i, j = (int(i), int(j)) if isinstance(x, np.ndarray) else (i, j)
                return [x[i:j:step_], x[i::step_], x[:j:step_]]

            check(both, numbered((n,)), np.asarray(start), np.asarray(stop))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_bounds_made_of_sizes(n: int) -> None:
    def ends(x: Any) -> Any:
        m = x.shape[0]
        parts = [
            x[m - 1 :],
            x[m - 2 :],
            x[: m - 2],
            x[m - 2 :: -1],
            x[: m - 2 : -1],
            x[m - 4 : m - 1],
        ]
        return [*parts, x[m // 2 :], x[: m // 2], x[m - 1], x[::-1], x[m - 5 :: -1]]

    check(ends, numbered((n,)))


def test_traced_integers_in_keys() -> None:
    x = numbered((3, 4))

    def read(x: Any, i: Any, j: Any) -> Any:
        return [x[i], x[i, j], x[:, j], x[i, 1:], x[[0, 2], j], x[i, [0, 1]], x[..., j, None]]

    for i, j in [(0, 0), (2, -1), (-3, 3), (1, -4)]:
        check(read, x, np.asarray(i), np.asarray(j))
    check(read, x, np.asarray(3), np.asarray(0))
    check(read, x, np.asarray(0), np.asarray(-5))


def test_traced_integers_in_writes() -> None:
    def write(x: Any, i: Any) -> Any:
        x = x * 1
        x[i] = 5
        x[i, 1] += 2
        x[:, i] = x[i, :3]
        return [x]

    for i in (0, 2, -1):
        check(write, numbered((3, 3)), np.asarray(i))


# --- masks, scalars, and keys of little use -------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        True,
        False,
        (),
        ...,
        None,
        (..., None),
        (True, 0),
        (False, 0),
        ([], 0),
        (True, None, False),
        ([True, False],),
    ],
    ids=repr,
)
def test_unusual_keys(key: Any) -> None:
    check(lambda x: [x[key]], numbered((2, 3)))

    def write(x: Any) -> Any:
        x = x * 1
        x[key] = 7
        return [x]

    check(write, numbered((2, 3)))


def test_traced_masks() -> None:
    def masked(x: Any, m: Any) -> Any:
        y = x * 1
        y[m] += 1
        z = x * 1
        z[m] = 0
        w = x * 1
        w[x > 2] = -w[x > 2]
        return [x[m], y, z, w, x[:, m[0]] if x.ndim == 2 else x]

    check(masked, numbered((2, 3)), np.array([[True, False, True], [False, False, True]]))
    check(lambda x, m: [x[m]], numbered((2, 3)), np.array([True, False]))
    check(lambda x, m: [x[m]], numbered((2, 3)), np.array([True, False, True]))
    check(lambda x, m: [x[m]], numbered((3,)), np.array([True]))

    def write(x: Any, m: Any) -> Any:
        x = x * 1
        x[m] = 1
        return [x]

    check(write, numbered((3,)), np.array([True]))
    check(write, numbered((3,)), np.array([True, False, True]))


def test_a_traced_flag_as_index() -> None:
    for flag in (True, False):
        check(
            lambda x, f: [x[f]] if isinstance(x, Tensor) else [x[bool(f)]],
            numbered((3,)),
            np.asarray(flag),
        )


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (1.5, IndexError),
        ("a", IndexError),
        ([0.5], IndexError),
        ((0, 0, 0), IndexError),
        ((..., ...), IndexError),
        (slice(None, None, 0), ValueError),
        (np.array([0.0]), IndexError),
        (([0, 1], [0, 1, 2]), IndexError),
        ([[True, False]], IndexError),
    ],
    ids=repr,
)
def test_bad_keys(key: Any, kind: type[Exception]) -> None:
    for x in (as_tensor(numbered((2, 3))), numbered((2, 3))):
        with pytest.raises(kind):
            x[key]
        if isinstance(x, Tensor):
            with pytest.raises(kind):
                x[key] = 0


# --- what is a view, and what is not --------------------------------------------------------------


def test_one_element_is_a_copy() -> None:
    def swap(x: Any) -> Any:
        x = x * 1
        first = x[0]
        x[0] = x[2]
        x[2] = first
        return [x, first]

    check(swap, numbered((3,)))

    def swap_traced(x: Any, i: Any, j: Any) -> Any:
        x = x * 1
        keep = x[i, 1]
        x[i, 1] = x[j, 0]
        x[j, 0] = keep
        return [x, keep]

    check(swap_traced, numbered((2, 2)), np.asarray(0), np.asarray(1))


def test_rows_are_views() -> None:
    def swap(x: Any) -> Any:
        x = x * 1
        row = x[0]
        x[0] = x[1]
        x[1] = row  # the row is a view of what has just been overwritten
        part = x[0, ...][1:]
        part += 100
        return [x, row, part]

    check(swap, numbered((2, 3)))


def test_fancy_indexing_copies() -> None:
    def update(x: Any) -> Any:
        x = x * 1
        picked, masked = x[[0, 1]], x[x > 1]
        x[0] = 100
        picked[1] = -5
        return [x, picked, masked]

    check(update, numbered((3,)))


def test_overlapping_writes() -> None:
    def shift(x: Any) -> Any:
        x = x * 1
        x[1:] = x[:-1]
        x[:3] += x[2:0:-1].sum()
        x[::2] *= x[::-1][::2]
        return [x]

    check(shift, numbered((5,)))
    check(shift, numbered((6,)))


def test_read_only_views() -> None:
    def broadcast(x: Any) -> Any:
        namespace = gnp if isinstance(x, Tensor) else np
        x = x * 1
        wide = namespace.broadcast_to(x, (2, 3))
        x[0] = 9
        return [wide, namespace.diagonal(wide)]

    check(broadcast, numbered((3,)))

    def write(x: Any) -> Any:
        namespace = gnp if isinstance(x, Tensor) else np
        x = x * 1
        namespace.diagonal(x)[...] = 1
        return [x]

    check(write, numbered((2, 2)))


def test_a_diagonal_by_einsum_is_writeable() -> None:
    def write(x: Any) -> Any:
        namespace = gnp if isinstance(x, Tensor) else np
        x = x * 1
        namespace.einsum("ii->i", x)[...] = 5
        namespace.einsum("ij->ji", x)[0] += 1
        return [x]

    check(write, numbered((3, 3)))


def test_a_reshape_that_copies() -> None:
    def write(x: Any) -> Any:
        x = x * 1
        whole = x.reshape(-1)
        whole[1] = 50
        flat = x.T.reshape(-1)
        flat[0] = 100
        return [x, flat, whole]

    check(write, numbered((2, 3)), known=True)
    with pytest.raises(SpecError, match="view or a copy"):  # a row or a column would be a view
        traced(write, [numbered((2, 3))], True)


def test_where_the_layout_is_unknown_writing_raises() -> None:
    def write(x: Any) -> Any:
        y = x[:, [1, 0]] + 1
        flat = y.reshape(-1)
        read = flat + 0
        flat[0] = 100
        return [y, read]

    with pytest.raises(SpecError, match="view or a copy"):
        traced(write, [numbered((2, 3))], False)


def test_arguments_that_do_not_lie_in_c_order() -> None:
    """A graph that writes through a reshape is not for them: NumPy's reshape might copy."""

    def write(x: Any) -> Any:
        flat = x.reshape(-1)
        flat[0] = 100.0
        return flat

    def read(x: Any) -> Any:
        return x.reshape(-1) + 0

    staged_write, staged_read = graphify.function(write), graphify.function(read)
    x = numbered((4, 3))
    given, want = x.copy(), x.copy()
    np.testing.assert_array_equal(np.asarray(staged_write(given)), write(want))
    np.testing.assert_array_equal(given, want)
    for other in (x.copy("F"), x[::2], x[:, :2]):
        np.testing.assert_array_equal(np.asarray(staged_read(other)), read(other))
        with pytest.raises(SpecError, match="view or a copy"):
            staged_write(other)
    given = x.copy()
    staged_write(given)
    assert given[0, 0] == 100


# --- updates by function --------------------------------------------------------------------------


def test_functions_that_write() -> None:
    def write(x: Any, v: Any) -> Any:
        n = gnp if isinstance(x, Tensor) else np
        results = []
        for change in (
            lambda a: n.fill_diagonal(a, 7),
            lambda a: n.fill_diagonal(a, v),
            lambda a: n.put(a, [0, 4, -1], v),
            lambda a: n.put(a, [0, 99], v, mode="clip"),
            lambda a: n.put(a, [0, 99], v, mode="wrap"),
            lambda a: n.place(a, a > 2, v),
            lambda a: n.putmask(a, a > 2, v),
            lambda a: n.copyto(a, v[:1]),
            lambda a: n.copyto(a, 3, where=a > 4),
            lambda a: n.put_along_axis(a, n.argmax(a, axis=1)[:, None], 0, axis=1),
            lambda a: n.add.at(a, ([0, 0, 1], 1), 1),
            lambda a: n.multiply.at(a, ([0, 0, 1], 1), 2),
            lambda a: n.maximum.at(a, ([0, 0, 1], 1), 6),
            lambda a: n.subtract.at(a, 0, 1),
        ):
            a = x * 1
            change(a)
            results.append(a)
        return results

    check(write, numbered((3, 3)), np.array([-1.0, -2.0, -3.0]))


def test_bounds_are_checked_when_run_and_needed() -> None:
    builder = Builder()
    with recording(builder):
        x = Tensor(builder.param(Spec((3,), np.dtype(float))))
        bad = gnp.take(x, as_tensor(np.array([5])))
        good = x + 1
        graph, failing = builder.finish([good._value]), builder.finish([bad._value])
    np.testing.assert_array_equal(run(graph, [np.zeros(3)])[0], np.ones(3))
    with pytest.raises(IndexError, match="out of bounds"):
        run(failing, [np.zeros(3)])


BOUNDS: dict[str, Any] = {
    "float64": np.float64(1),
    "float32": np.float32(2),
    "complex": np.complex128(1),
    "bool": np.bool_(True),
    "array of a float": np.array(1.0),
    "array of a bool": np.array(True),
    "vector": np.array([1]),
    "int8": np.int8(1),
    "uint64": np.uint64(2),
    "array of an integer": np.array(2),
}
SLICED: dict[str, Callable[[Any, Any], Any]] = {
    "start": lambda x, k: x[k:],
    "stop": lambda x, k: x[:k],
    "step": lambda x, k: x[::k],
    "in two axes": lambda x, k: x[:, None][k:, 0],
    "beside a place": lambda x, k: x[None][0, :k],
    "written": lambda x, k: x.__setitem__(slice(k, None), 7.0) or x,
    "of a list": lambda x, k: np.array([1.0, 2.0, 3.0][k:]),
    "of a list that the run makes": lambda x, k: np.array([v for v in x if v > 0][k:]),
    "of a range": lambda x, k: sum(range(int(x.sum()))[k:]),
}


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("sliced", SLICED)
def test_bounds_of_slices_are_integers(sliced: str, bound: str, engine: str) -> None:
    """What NumPy's and Python's slices take, ours do, and nothing else."""
    x, k, plain = np.array([1.0, 2.5, 3.0]), BOUNDS[bound], SLICED[sliced]
    staged = graphify.function(plain, engine=engine)
    try:
        want = plain(x.copy(), k)
    except TypeError as error:
        with pytest.raises(TypeError, match=str(error)[:20]):
            staged(x.copy(), k)
    else:
        np.testing.assert_array_equal(staged(x.copy(), k), want)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("target", [np.bool_, np.int8, np.int64, np.uint8, np.uint64, np.float32])
@pytest.mark.parametrize("value", [np.nan, -np.inf, -3.7, 300.5, 1e20, 2.5])
def test_a_float_that_is_written_fits(value: float, target: Any, engine: str) -> None:
    """Python's float becomes its `int`, which has to be a number and to fit."""

    def place(x: Any, v: Any) -> Any:
        x[1] = float(v)
        return x

    def part(x: Any, v: Any) -> Any:
        x[::2] = float(v)
        return x

    def places(x: Any, v: Any) -> Any:
        x[[0, 2]] = float(v)
        return x

    def where(x: Any, v: Any) -> Any:
        x[x == 0] = float(v)
        return x

    def listed(x: Any, v: Any) -> Any:
        x[:2] = [float(v), 1.0]
        return x

    def made(x: Any, v: Any) -> Any:
        return np.array([float(v), 2.0], x.dtype)

    def called(x: Any, v: Any) -> Any:
        return x.dtype.type(float(v))

    def inserted(x: Any, v: Any) -> Any:
        return np.insert(x, 1, float(v))

    def filled(x: Any, v: Any) -> Any:  # that one casts
        return np.full(3, float(v), x.dtype)

    for plain in (place, part, places, where, listed, made, called, inserted, filled):
        staged = graphify.function(plain, engine=engine)
        with np.errstate(invalid="ignore"):
            try:
                want = plain(np.zeros(3, target), np.float64(value))
            except (ValueError, OverflowError) as error:
                with pytest.raises(type(error)):
                    staged(np.zeros(3, target), np.float64(value))
            else:
                got = staged(np.zeros(3, target), np.float64(value))
                np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("target", [np.int8, np.int32, np.int64, np.uint8, np.float32])
@pytest.mark.parametrize(
    "value",
    [
        np.int64(300),
        np.int64(-1),
        np.uint64(2**64 - 1),
        np.uint64(7),
        np.float64(300.5),
        np.complex128(300 + 1j),
        np.complex64(2 - 1j),
        np.complex64(np.inf),
    ],
)
@pytest.mark.filterwarnings("ignore:Casting complex", "ignore:invalid value")
def test_a_scalar_that_is_written_fits(value: Any, target: Any, engine: str) -> None:
    """A NumPy scalar has to fit into signed integers; an array, or places in a list, cast."""

    def place(x: Any, v: Any) -> Any:
        x[1] = v
        return x

    def part(x: Any, v: Any) -> Any:
        x[:2] = v
        return x

    def places(x: Any, v: Any) -> Any:
        x[[0, 2]] = v
        return x

    def row(x: Any, v: Any) -> Any:
        x[:] = np.full(3, v)
        return x

    for plain in (place, part, places, row):
        staged = graphify.function(plain, engine=engine)
        try:
            want = plain(np.zeros(3, target), value)
        except OverflowError:
            with pytest.raises(OverflowError):
                staged(np.zeros(3, target), value)
        else:
            np.testing.assert_array_equal(staged(np.zeros(3, target), value), want, strict=True)


AUGMENTED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "number": lambda i, m, k: k,
    "from a number on": lambda i, m, k: slice(k, None),
    "every k-th": lambda i, m, k: (slice(None), slice(None, None, k)),
    "places": lambda i, m, k: i,
    "mask": lambda i, m, k: m,
    "places in the second axis": lambda i, m, k: (slice(None), i),
    "mask of the second axis": lambda i, m, k: (slice(None), m),
    "mask of the last axis": lambda i, m, k: (Ellipsis, m),
    "number, then places": lambda i, m, k: (k, i),
    "number, places apart": lambda i, m, k: (k, slice(None), i),
    "places, mask": lambda i, m, k: (i[:2], slice(None), m),
    "two axes of places": lambda i, m, k: (slice(None), i, i),
    "a new axis": lambda i, m, k: (slice(None), None, i),
    "backwards": lambda i, m, k: (slice(None, None, -1), m),
    "no place": lambda i, m, k: (slice(None), i[:0]),
    "grid": lambda i, m, k: (i[:, None], i[:2]),
    "view": lambda i, m, k: (Ellipsis, slice(1, k)),
}


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", AUGMENTED)
def test_augmented_assignment_reaches_the_array(name: str, engine: str) -> None:
    """Whether what a key reads is a view, a copy, or a view of a copy."""
    key = AUGMENTED[name]

    def add(a: Any, *parts: Any) -> Any:
        a[key(*parts)] += 1.5
        return a

    def of_a_view(a: Any, *parts: Any) -> Any:
        turned = a.T
        turned[key(*parts)] *= a.sum()
        return a, turned

    def in_a_loop(a: Any, *parts: Any) -> Any:
        for v in a[0, 0]:
            a[key(*parts)] -= v
        return a

    parts = (np.array([0, 2, 1]), np.array([True, False, True, False]), np.int64(2))
    for plain in (add, of_a_view, in_a_loop):
        own, ours = np.arange(64.0).reshape(4, 4, 4), np.arange(64.0).reshape(4, 4, 4)
        want = plain(own, *parts)
        got = graphify.function(plain, engine=engine)(ours, *parts)
        for a, b in zip(
            got if type(got) is tuple else [got], want if type(want) is tuple else [want]
        ):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(ours, own)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_array_lies_as_it_did_when_it_was_made(engine: str) -> None:
    """Whatever is written to it, and by which view, in a branch or a loop."""

    def of_a_transpose(w: Any) -> None:
        w.T[0] += 1

    def masked(w: Any) -> None:
        w.T[w.T > 1] = 0

    def in_a_branch(w: Any) -> None:
        if w[0, 0] < 5:
            w[0] = 1

    def in_a_loop(w: Any) -> None:
        while w[0, 0] < 5:
            w[:, 0] += 1

    def by_out(w: Any) -> None:
        np.add(w.T, 1, out=w)

    for write in (of_a_transpose, masked, in_a_branch, in_a_loop, by_out):

        def given(w: Any) -> Any:
            write(w)  # noqa: B023
            w.reshape(16)[1] = -1
            return w

        def made(w: Any) -> Any:
            y = w.copy()
            write(y)  # noqa: B023
            flat = y.ravel()
            flat[2:4] = 9
            return y, flat

        def turned(w: Any) -> Any:
            y = np.empty((4, 4)).T
            y[:] = w
            write(y)  # noqa: B023
            flat = y.reshape(-1)  # a copy
            flat[2:4] = 9
            return y, flat

        for plain in (given, made, turned):
            w = np.arange(16.0).reshape(4, 4)
            want = plain(w.copy())
            for a, b in zip(graphify.function(plain, engine=engine)(w), want, strict=True):
                np.testing.assert_array_equal(a, b)
