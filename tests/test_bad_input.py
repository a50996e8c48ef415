"""Bad and odd input to every public function: NumPy's answer or a clear error, never a wrong one.

A clear error is of a class that NumPy or Python would use (TypeError, ValueError, IndexError,
OverflowError, ZeroDivisionError, ...) or one of graphify's own, with a message. AttributeError,
KeyError, AssertionError, NameError, RecursionError and InternalError are what bugs look like.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify.errors import GraphifyError, InternalError

CLEAR = (
    GraphifyError,
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    NotImplementedError,
    np.linalg.LinAlgError,
)


def read_only() -> Any:
    a = np.arange(3.0)
    a.flags.writeable = False
    return a


ODD: dict[str, Callable[[], Any]] = {
    "vector": lambda: np.array([1.5, -2.0, 3.0]),
    "matrix": lambda: np.arange(6.0).reshape(2, 3),
    "square": lambda: np.array([[2.0, 1.0], [1.0, 3.0]]),
    "empty": lambda: np.zeros(0),
    "zero axis": lambda: np.zeros((2, 0, 3)),
    "zero rows": lambda: np.zeros((0, 3)),
    "0-d": lambda: np.array(2.5),
    "generic": lambda: np.float32(2.5),
    "python int": lambda: 3,
    "python float": lambda: -1.5,
    "python bool": lambda: True,
    "complex": lambda: np.array([1 + 2j, 3.0]),
    "nan": lambda: np.array([np.nan, np.inf, -np.inf, -0.0]),
    "ints": lambda: np.array([3, 1, 2]),
    "small ints": lambda: np.array([127, -128, 5], np.int8),
    "unsigned": lambda: np.array([2**64 - 1, 0], np.uint64),
    "bools": lambda: np.array([True, False, True]),
    "half": lambda: np.array([1.0, 65504.0], np.float16),
    "read-only": read_only,
    "strided": lambda: np.arange(10.0)[::-3],
    "fortran": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "foreign order": lambda: np.array([1.0, 2.0]).astype(">f8"),
    "list": lambda: [1, 2.5, 3],
    "nested list": lambda: [[1, 2], [3, 4]],
    "empty list": lambda: [],
    "tuple": lambda: (1.0, 2.0),
    # what is no number at all
    "ragged": lambda: [[1, 2], [3]],
    "huge int": lambda: 2**70,
    "string": lambda: "text",
    "bytes": lambda: b"text",
    "none": lambda: None,
    "object": lambda: object(),
    "object array": lambda: np.array([1, "x", None], object),
    "string array": lambda: np.array(["a", "b"]),
    "dates": lambda: np.array(["2020-01-01"], "datetime64[D]"),
    "structured": lambda: np.zeros(2, [("a", "f8")]),
    "dict": lambda: {"a": 1},
    "set": lambda: {1, 2},
    "class": lambda: int,
    "function": lambda: len,
    "list of strings": lambda: ["a", "b"],
    "list with none": lambda: [1.0, None],
    "slice": lambda: slice(1, 2),
    "ellipsis": lambda: ...,
}

NUMPY_ONLY = {
    "string",
    "bytes",
    "object",
    "object array",
    "string array",
    "dates",
    "structured",
    "none",
}
NUMPY_ONLY |= {
    "dict",
    "set",
    "class",
    "function",
    "list of strings",
    "list with none",
    "slice",
    "ellipsis",
}
NUMPY_ONLY |= {"huge int", "ragged"}  # NumPy makes objects of these: graphify may refuse them

UNARY = """
    abs absolute all any amax amin angle arccos arccosh arcsin arcsinh arctan arctanh argmax argmin
    argsort argwhere around array asarray atleast_1d atleast_2d atleast_3d bincount bitwise_count
    cbrt ceil conj copy corrcoef cos cosh count_nonzero cov cumprod cumsum deg2rad diag diagflat
    diagonal diff ediff1d exp exp2 expm1 fabs fix flatnonzero flip fliplr flipud floor gradient imag
    invert isfinite isinf isnan isneginf iscomplex isreal log log10 log1p log2 logical_not max mean
    median min modf nan_to_num nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar ndim
    negative nonzero ones_like positive prod ptp rad2deg ravel real reciprocal rint rot90 round
    shape sign signbit sin sinc sinh size sort spacing sqrt square squeeze std sum tan tanh tile
    trace transpose trapezoid tril trim_zeros triu trunc unique unwrap vander var zeros_like frexp
    fmax cumulative_sum
""".split()
BINARY = """
    add subtract multiply divide floor_divide remainder power fmod maximum minimum arctan2 hypot
    copysign equal less greater_equal not_equal logical_and bitwise_and bitwise_or left_shift
    right_shift gcd lcm dot matmul inner outer kron cross convolve correlate searchsorted digitize
    isclose allclose array_equal append heaviside logaddexp ldexp nextafter vdot tensordot isin
    intersect1d union1d setdiff1d polyval float_power take repeat roll broadcast_to reshape clip
    full_like interp percentile quantile partition expand_dims delete divmod extract compress resize
    array_split
""".split()


# Where an odd corner is not NumPy's, and why; there only the kind of error is judged.
DEVIATES = {
    "bincount": "lists of floats are refused, not truncated",
    "partition": "sorts, which is one of several answers where there is NaN",
    "trim_zeros": "lists become arrays",
}


def outcome(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with np.errstate(all="ignore"):
                return "returned", call()
        except Exception as error:
            return "raised", error


def plain(value: Any) -> Any:
    if isinstance(value, graphify.Tensor):
        return value.numpy()
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value


def equal(got: Any, want: Any) -> bool:
    got, want = plain(got), plain(want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(equal, got, want))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return False
    if got.dtype != want.dtype.newbyteorder("="):
        return False
    close = {"f": 1e-5, "c": 1e-5}.get(want.dtype.kind, 0)
    if want.dtype == np.float16:
        close = 1e-2
    return bool(
        np.allclose(got, want, rtol=close, atol=close * 1e-3, equal_nan=want.dtype.kind in "fc")
    )


def judge(name: str, kind: str, got: Any, want: Any) -> str | None:
    """What is wrong with an outcome; None where it is right."""
    if got[0] == "raised":
        error = got[1]
        if isinstance(error, InternalError) or not isinstance(error, CLEAR):
            return f"{name}({kind}): raised {error!r}"
        if not str(error).strip():
            return f"{name}({kind}): an error without a message, {error!r}"
        if (
            want[0] == "returned"
            and name not in DEVIATES
            and not set(kind.split(" | ")) & NUMPY_ONLY
        ):
            return f"{name}({kind}): raised {error!r}, NumPy gives {want[1]!r:.100}"
        return None
    if name in DEVIATES:
        return None
    if want[0] == "raised":
        return f"{name}({kind}): gave {got[1]!r:.100}, NumPy raises {want[1]!r:.150}"
    if isinstance(want[1], np.ndarray) and want[1].dtype.kind not in "biufc":
        return f"{name}({kind}): gave {got[1]!r:.100}, NumPy gives {want[1]!r:.100}"
    return (
        None
        if equal(got[1], want[1])
        else f"{name}({kind}): gave {got[1]!r:.150}, NumPy {want[1]!r:.150}"
    )


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name):
    function, reference = getattr(gnp, name), getattr(np, name)
    wrong = []
    for kind, make in ODD.items():
        extra = (2,) if name in ("tile",) else ()
        want = outcome(lambda: reference(make(), *extra))
        eager = outcome(lambda: function(make(), *extra))
        wrong.append(judge(name, kind, eager, want))
    assert not (found := [w for w in wrong if w]), "\n".join(found)


PAIRS = [
    (a, b)
    for a in ODD
    for b in ("vector", "ints", "0-d", "python int", "empty", "string", "none", "matrix", "bools")
]


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(name):
    function, reference = getattr(gnp, name), getattr(np, name)
    wrong = []
    third = {"clip": (2,), "interp": (np.array([1.0, 2.0, 3.0]),)}.get(name, ())
    for a, b in PAIRS:
        want = outcome(lambda: reference(ODD[a](), ODD[b](), *third))
        eager = outcome(lambda: function(ODD[a](), ODD[b](), *third))
        wrong.append(judge(name, f"{a} | {b}", eager, want))
    assert not (found := [w for w in wrong if w]), "\n".join(found[:20])


STAGED_UNARY = """
    sum max mean sort argsort cumsum abs sqrt floor unique nonzero diff flip round trace all any std
""".split()


@pytest.mark.parametrize("name", STAGED_UNARY)
def test_staged_functions_of_one_array(name):
    reference = getattr(np, name)
    staged = graphify.function(lambda x: reference(x))
    wrong = []
    for kind, make in ODD.items():
        if kind in ("list", "nested list", "tuple", "empty list") or kind in NUMPY_ONLY:
            continue  # static, or containers
        want = outcome(lambda: reference(make()))
        wrong.append(judge(name, kind, outcome(lambda: staged(make())), want))
    assert not (found := [w for w in wrong if w]), "\n".join(found)


# --- the functions of graphify itself: no answer to compare with, but no bug's face either ------


def loss(x):
    return (x * x).sum()


PUBLIC: dict[str, Callable[[Any], Any]] = {
    "function": lambda v: graphify.function(v),
    "function call": lambda v: graphify.function(lambda x: x)(v),
    "function arithmetic": lambda v: graphify.function(lambda x: x + 1)(v),
    "function branch": lambda v: graphify.function(branch)(v),
    "function loop": lambda v: graphify.function(loop)(v),
    "input_signature": lambda v: graphify.function(lambda x: x, input_signature=v),
    "max_traces": lambda v: graphify.function(lambda x: x, max_traces=v),
    "engine": lambda v: graphify.function(lambda x: x, engine=v),
    "get_concrete_function": lambda v: graphify.function(lambda x: x).get_concrete_function(v),
    "concrete call": lambda v: graphify.function(lambda x: x + 1).get_concrete_function(np.ones(3))(
        v
    ),
    "explain": lambda v: graphify.function(lambda x: x).explain(v),
    "TensorSpec shape": lambda v: graphify.TensorSpec(v),
    "TensorSpec dtype": lambda v: graphify.TensorSpec((2,), v),
    "TensorSpec name": lambda v: graphify.TensorSpec((2,), np.float32, v),
    "Variable": lambda v: graphify.Variable(v),
    "Variable dtype": lambda v: graphify.Variable([1.0], dtype=v),
    "assign": lambda v: graphify.Variable(np.zeros(3)).assign(v),
    "assign_add": lambda v: graphify.Variable(np.zeros(3)).assign_add(v),
    "assign_sub": lambda v: graphify.Variable(np.zeros(3, int)).assign_sub(v),
    "print": lambda v: graphify.print(v),
    "print stream": lambda v: graphify.print(1, output_stream=v),
    "config debug": lambda v: enter(graphify.config(debug=v)),
    "config engine": lambda v: enter(graphify.config(engine=v)),
    "config mode": lambda v: enter(graphify.config.dtype_promotion(v)),
    "device": lambda v: enter(graphify.device(v)),
    "to_code": lambda v: graphify.autograph.to_code(v),
    "do_not_convert": lambda v: graphify.autograph.do_not_convert(v),
    "grad": lambda v: graphify.grad(loss)(v),
    "grad of": lambda v: graphify.grad(v),
    "grad argnums": lambda v: graphify.grad(loss, argnums=v)(np.ones(2)),
    "value_and_grad": lambda v: graphify.value_and_grad(loss)(v),
    "jvp": lambda v: graphify.jvp(loss, (v,), (v,)),
    "jvp tangent": lambda v: graphify.jvp(loss, (np.ones(3),), (v,)),
    "vjp": lambda v: graphify.vjp(loss, v),
    "jacobian": lambda v: graphify.jacobian(lambda x: x * x)(v),
    "hessian": lambda v: graphify.hessian(loss)(v),
    "vmap": lambda v: graphify.vmap(lambda x: x * 2)(v),
    "vmap in_axes": lambda v: graphify.vmap(lambda x: x * 2, in_axes=v)(np.ones((2, 3))),
    "vectorized_map": lambda v: graphify.vectorized_map(lambda x: x * 2, v),
    "map_fn": lambda v: graphify.map_fn(lambda x: x * 2, v),
    "cond": lambda v: graphify.cond(v, lambda: 1.0, lambda: 2.0),
    "while_loop": lambda v: graphify.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), (0, v)
    ),
    "fori_loop": lambda v: graphify.fori_loop(0, 3, lambda i, x: x, v),
    "fori_loop bound": lambda v: graphify.fori_loop(0, v, lambda i, x: x + 1, 0.0),
    "scan": lambda v: graphify.scan(lambda c, x: (c + x, c), 0.0, v),
    "switch": lambda v: graphify.switch(v, [lambda: 1.0, lambda: 2.0]),
    "stop_gradient": lambda v: graphify.stop_gradient(v),
    "custom_gradient": lambda v: graphify.custom_gradient(v),
    "watch": lambda v: graphify.GradientTape().watch(v),
    "gradient": lambda v: tape_gradient(v),
    "random seed": lambda v: (
        graphify.random.Generator.from_seed(v) if hasattr(graphify.random, "Generator") else None
    ),
    "assert_equal": lambda v: graphify.debugging.assert_equal(v, v),
    "getitem": lambda v: gnp.arange(5.0)[v],
    "setitem value": lambda v: gnp.arange(5.0).__setitem__(0, v),
    "setitem key": lambda v: gnp.arange(5.0).__setitem__(v, 1.0),
    "zeros": lambda v: gnp.zeros(v),
    "arange": lambda v: gnp.arange(v),
    "linspace": lambda v: gnp.linspace(0, v, 3),
    "eye": lambda v: gnp.eye(v),
    "asarray dtype": lambda v: gnp.asarray([1], dtype=v),
    "sum axis": lambda v: gnp.sum(gnp.ones((2, 3)), axis=v),
    "reshape": lambda v: gnp.ones((2, 3)).reshape(v),
    "transpose": lambda v: gnp.transpose(gnp.ones((2, 3)), v),
    "astype": lambda v: gnp.ones(3).astype(v),
    "operator": lambda v: gnp.ones(3) + v,
    "matmul operator": lambda v: gnp.ones(3) @ v,
    "in-place": lambda v: gnp.ones(3).__iadd__(v),
    "einsum": lambda v: gnp.einsum(v, gnp.ones(3)),
    "norm": lambda v: gnp.linalg.norm(v),
    "solve": lambda v: gnp.linalg.solve(v, v),
    "inv": lambda v: gnp.linalg.inv(v),
    "eigh": lambda v: gnp.linalg.eigh(v),
    "svd": lambda v: gnp.linalg.svd(v),
    "qr": lambda v: gnp.linalg.qr(v),
    "rand": lambda v: gnp.random.rand(v),
    "default_rng": lambda v: gnp.random.default_rng(v),
}


def branch(x):
    return x * 2 if x.sum() > 0 else x


def loop(x):
    for v in x:
        x = x + v
    return x


def enter(context: Any) -> None:
    with context:
        pass


def tape_gradient(value: Any) -> Any:
    with graphify.GradientTape() as tape:
        tape.watch(value)
        y = value * 2
    return tape.gradient(y, value)


# Attributes that user code asks of a value that has none: Python's own error is the right one.
OWN_ATTRIBUTE_ERRORS = {
    "function branch",
    "function loop",
    "while_loop",
    "grad",
    "value_and_grad",
    "jvp",
}
OWN_ATTRIBUTE_ERRORS |= {"jvp tangent", "vjp", "hessian"}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions(name, capsys):
    wrong = []
    for kind, make in ODD.items():
        if name in ("zeros", "eye", "rand", "arange", "fori_loop bound") and kind in (
            "unsigned",
            "huge int",
            "small ints",
        ):
            continue  # they would ask for memory, or time, without end
        got = outcome(lambda: PUBLIC[name](make()))
        if got[0] == "returned":
            continue
        if (
            name in OWN_ATTRIBUTE_ERRORS
            and isinstance(got[1], AttributeError)
            and "'sum'" in str(got[1])
        ):
            continue
        wrong.append(judge(name, kind, got, ("raised", None)))
    assert not (found := [w for w in wrong if w]), "\n".join(found)
