"""NumPy scalars, 0-d arrays and Python numbers: which of them a function gives, and what an update
of its result reaches."""

import copy
import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify.numpy._table import FUNCTIONS

ENGINES = ["reference", "native"]
VECTOR = np.array([3, 1, 2])


def tensor(value: Any) -> Any:
    """What graphify has in the place of a value of NumPy's."""
    if isinstance(value, list):
        return [tensor(each) for each in value]
    if isinstance(value, np.generic):  # of an array: a scalar, too
        return gnp.asarray(np.array([value]))[0]
    return gnp.asarray(value) if isinstance(value, np.ndarray) else value


def kind(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(kind, value))
    if getattr(value, "ndim", 0):
        return "array"
    if isinstance(value, graphify.Tensor):
        return "number" if value.spec.weak else "scalar" if value._scalar else "0-d array"
    if isinstance(value, np.generic):
        return "scalar"
    return "0-d array" if isinstance(value, np.ndarray) else "number"


REDUCTIONS = (
    "sum prod max min any all ptp argmax argmin cumsum cumprod count_nonzero squeeze nansum "
    "nanprod nanmax nanmin add.reduce maximum.reduce logical_or.reduce"
).split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_numbers_have_one_axis_to_reduce(name: str) -> None:
    """As in NumPy, so that a loop over axes needs no special case."""
    function = operator.attrgetter(name)(np)
    for x, axis in itertools.product((np.float64(3.0), np.array(0.0)), (0, -1)):
        want = function(x, axis=axis)
        for got in (
            function(gnp.asarray(x), axis=axis),
            graphify.function(lambda x: function(x, axis=axis))(x),  # noqa: B023
        ):
            assert np.asarray(got).tolist() == np.asarray(want).tolist()
            assert np.shape(got) == np.shape(want)
    for axis in (1, -2):
        with pytest.raises(np.exceptions.AxisError):
            function(np.float64(3.0), axis=axis)
        with pytest.raises(np.exceptions.AxisError):
            function(gnp.asarray(3.0), axis=axis)


VALUES = {
    "np.int64": np.int64(2),
    "np.float64": np.float64(0.5),
    "np.bool": np.True_,
    "0-d": np.array(2),
    "0-d float": np.array(0.5),
    "int": 2,
    "vector": np.array([1.0, 2.0, 4.0]),
    "integers": np.array([1, 0, 2]),
    "matrix": np.array([[1.0, 2.0], [3.0, 5.0]]),
    "list": [np.int64(2), np.int64(2)],
}
# Where NumPy gives back a Python number as it is, or names its `out`.
KNOWN = {"real", "imag", "isreal", "diff", "trim_zeros", "around", "round", "dot", "unique"}
KNOWN |= {"fftn", "ifftn", "diag_indices"}  # of no axes; a number of axes that is an array


REFUSED = {"roots", "frombuffer"}  # how many roots there are, values tell; a tensor has no bytes


def functions() -> list[Any]:
    of_kind = [f for f in FUNCTIONS if callable(f) and "random" not in (f.__module__ or "")]
    return [f for f in of_kind if f.__name__ not in KNOWN | REFUSED]


@pytest.mark.parametrize("function", functions(), ids=lambda f: f.__name__)
def test_kind_of_the_result(function: Any) -> None:
    ours, asked, compared = FUNCTIONS[function], 0, 0
    for count in (1, 2):
        for names in itertools.product(VALUES, repeat=count):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    values = [copy.deepcopy(VALUES[name]) for name in names]  # some are written to
                    arguments = list(map(tensor, copy.deepcopy(values)))
                    want = function(*values)
                    known = isinstance(want, (tuple, np.ndarray, np.generic, int, float))
                    asked += known
                    got = ours(*arguments)
                except Exception:  # which arguments are errors others test
                    continue
            if known:
                assert kind(got) == kind(want), (function.__name__, names)
                compared += 1
    assert compared or not asked, f"{function.__name__} refuses all that NumPy takes"


@pytest.mark.parametrize("condition", [np.True_, np.array(True), True])
def test_where_of_three(condition: Any) -> None:
    for a, b in itertools.product([2, np.int64(2), np.array(2)], repeat=2):
        got = gnp.where(*map(tensor, (condition, a, b)))
        assert kind(got) == "0-d array" == kind(np.where(condition, a, b))


WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": lambda v: v.copy(),
    "reshape": lambda v: v.reshape(()),
    "squeeze": lambda v: v.squeeze(),
    "view": lambda v: v.view(),
    "transpose": lambda v: v.transpose(),
    "T": lambda v: v.T,
    "real": lambda v: v.real,
    "astype": lambda v: v.astype(v.dtype, copy=False),
    "np.copy": np.copy,
    "np.reshape": lambda v: np.reshape(v, ()),
    "np.squeeze": np.squeeze,
    "np.transpose": np.transpose,
    "np.real": np.real,
    "np.asarray": np.asarray,
    "np.array": np.array,
    "np.where": lambda v: np.where(v > 0, v, v),
    "np.select": lambda v: np.select([v > 0], [v]),
    "np.full": lambda v: np.full((), v),
    "np.broadcast_arrays": lambda v: np.broadcast_arrays(v, 1)[0] * 1,
    "np.nan_to_num": np.nan_to_num,
    "...": lambda v: v[...],
    "()": lambda v: v[()],
}
SHAPES: dict[str, Callable[[Any], Any]] = {
    "reshape to 1": lambda v: v.reshape(1),
    "None": lambda v: v[None],
    "..., None": lambda v: v[..., None],
    "expand_dims": lambda v: np.expand_dims(v, 0),
    "atleast_1d": np.atleast_1d,
    "ravel": lambda v: v.ravel(),
    "np.ravel": np.ravel,
    "flatten": lambda v: v.flatten(),
    "asarray": lambda v: np.asarray(v)[None],
    "squeeze, None": lambda v: np.squeeze(v)[None],
}
ALL = {**WAYS, **SHAPES}
SOURCES: dict[str, Callable[[Any], Any]] = {
    "argmax": lambda x: np.argmax(x[1:]),
    "element": lambda x: x[0],
    "sum": np.sum,
    "row": lambda x: np.max(x.reshape(1, -1), axis=1)[0],
}


def agree(program: Callable[[Any], Any]) -> None:
    want = [np.asarray(v).tolist() for v in program(VECTOR.copy())]
    ways = {engine: graphify.function(program, engine=engine) for engine in ENGINES}
    for name, way in {**ways, "eager": lambda x: program(gnp.asarray(x))}.items():
        assert [np.asarray(v).tolist() for v in way(VECTOR.copy())] == want, name


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("way", ALL)
def test_updates_of_what_a_scalar_gives(way: str, source: str) -> None:
    """A scalar is a new number, other names keep the old one; of an array all names see it."""

    def program(x):
        v = SOURCES[source](x)
        w = ALL[way](v)
        other = w
        if np.ndim(w):
            w[0] = 9
        w -= 2
        v += 10
        return v, w, other, x

    agree(program)


@pytest.mark.parametrize("way", ["np.reshape", "np.squeeze", "np.transpose", "np.where", "np.copy"])
def test_python_numbers(way: str) -> None:
    """What NumPy makes an array of, updates change for all names."""

    def program(x):
        v = float(x[0]) * 2
        w = WAYS[way](v)
        other = w
        w *= 3
        return v, w, other

    agree(program)
