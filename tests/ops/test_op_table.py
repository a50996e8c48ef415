"""Every op of the registry against its own record, sample by sample.

spec against meaning; derivatives against finite differences to second order, both modes; batching
against a Python loop; each engine against eager evaluation. An op without samples fails, unless it
carries sub-graphs, runs for an effect, or is one of the graph's own nodes.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify
import graphify.ops
from graphify.api.derivative import grad, jvp
from graphify.api.mapping import vmap
from graphify.engines.base import get_engine
from graphify.errors import GraphifyError
from graphify.ir.bind import bind
from graphify.ir.context import recording
from graphify.ir.graph import Builder
from graphify.ir.op import REGISTRY, Op
from graphify.ir.sizes import SizeVar, dim_variables, size, substitute
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec, is_inexact
from tests.tolerances import FINITE_DIFFERENCES, assert_close

for _module in pkgutil.iter_modules(graphify.ops.__path__):
    importlib.import_module(f"graphify.ops.{_module.name}")

ENGINES = ["reference"]  # an engine that is added here runs the whole table
DOUBLE = {np.dtype(np.float64), np.dtype(np.complex128)}
GRAPHS_OWN = {"param", "constant", "as_size", "custom_gradient"}
Case = tuple[Op, tuple[np.ndarray, ...], dict[str, Any]]


def exempt(op: Op) -> bool:
    return (
        op.effects or op.name in GRAPHS_OWN or bool(op.extra.get("control") or op.extra.get("host"))
    )


def cases_of(op: Op) -> list[Case]:
    samples = op.sample() if callable(op.sample) else (op.sample or [])
    return [(op, tuple(np.asarray(a) for a in arrays), dict(attrs)) for arrays, attrs in samples]


CASES = [case for name in sorted(REGISTRY) for case in cases_of(REGISTRY[name])]


def label(case: Case) -> str:
    op, arrays, attrs = case
    operands = ",".join(f"{a.dtype.name}{list(a.shape)}".replace(" ", "") for a in arrays)
    return f"{op.name}({operands}{';' + str(attrs).replace(' ', '') if attrs else ''})"[:90]


def each(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[label(case) for case in cases])


def apply(op: Op, operands: Any, attrs: dict[str, Any]) -> tuple[Tensor, ...]:
    with np.errstate(all="ignore"):
        result = bind(op, operands, attrs)
    return result if isinstance(result, tuple) else (result,)


def tensors(arrays: Any) -> list[Tensor]:
    return [Tensor(np.array(a)) for a in arrays]


# --- samples -----------------------------------------------------------------------------------


def test_every_op_has_samples():
    missing = [
        name for name, op in sorted(REGISTRY.items()) if op.sample is None and not exempt(op)
    ]
    assert missing == [], "give these ops a sample="


# --- spec --------------------------------------------------------------------------------------


@each(CASES)
@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
def test_spec_says_what_running_gives(case: Case, symbolic: bool) -> None:
    op, arrays, attrs = case
    operands = [
        t.numpy() for t in (op.convert(*tensors(arrays)) if op.convert else tensors(arrays))
    ]
    with np.errstate(all="ignore"):
        results = op.eval(*operands, **attrs)
    results = results if isinstance(results, (tuple, list)) else (results,)
    sizes: dict[int, SizeVar] = {}
    try:
        specs = op.spec(*(symbolic_spec(a, sizes if symbolic else None) for a in operands), **attrs)
    except GraphifyError:
        assert symbolic, "refuses its own sample"
        return  # an op may need a length that is known
    specs = (specs,) if isinstance(specs, Spec) else specs
    values = {variable: length for length, variable in sizes.items()}
    assert len(specs) == len(results)
    for spec, result in zip(specs, results, strict=True):
        result = np.asarray(result)
        assert spec.dtype == result.dtype and spec.ndim == result.ndim
        for dim, length in zip(substitute(spec.shape, values), result.shape, strict=True):
            assert dim == length or any(True for _ in dim_variables(dim)), (
                f"{spec} for {result.shape}"
            )


def symbolic_spec(array: np.ndarray, sizes: dict[int, SizeVar] | None) -> Spec:
    shape = array.shape
    if sizes is not None:
        shape = tuple(n if n < 2 else size(sizes.setdefault(n, SizeVar(f"n{n}"))) for n in shape)
    return Spec(shape, array.dtype)


# --- derivatives -------------------------------------------------------------------------------


def smooth_operands(case: Case) -> list[int]:
    """The operands that have a derivative, if all of those are of double precision."""
    op, arrays, attrs = case
    places = range(len(arrays)) if op.differentiable is None else op.differentiable
    inexact = [i for i in places if i < len(arrays) and is_inexact(arrays[i].dtype)]
    return inexact if all(arrays[i].dtype in DOUBLE for i in inexact) else []


def differentiable(case: Case) -> bool:
    op, arrays, attrs = case
    if exempt(op) or not smooth_operands(case) or op.extra.get("gauge"):  # results up to a factor
        return False
    results = [t.dtype for t in apply(op, tensors(arrays), attrs) if is_inexact(t.dtype)]
    return (
        bool(results)
        and set(results) <= DOUBLE
        and (op.vjp is not None or op.differentiable is None)
    )


SMOOTH = [case for case in CASES if differentiable(case)]


def loss_of(case: Case) -> tuple[Callable[..., Any], list[np.ndarray], list[int]]:
    """A real function of the smooth operands: the op's results, weighted and summed."""
    op, arrays, attrs = case
    places = smooth_operands(case)
    rng = np.random.default_rng(1)
    shapes = [(t.numpy().shape, t.dtype) for t in apply(op, tensors(arrays), attrs)]
    weights = [random_like(np.empty(s, d), rng) if is_inexact(d) else None for s, d in shapes]

    def loss(*xs: Any) -> Any:
        operands = list(tensors(arrays))
        for place, x in zip(places, xs, strict=True):
            operands[place] = x
        terms = []
        for w, y in zip(weights, apply(op, operands, attrs), strict=True):
            if w is not None:
                z = y * Tensor(w)
                terms.append(
                    (z * z * 0.25 + z).real.sum()
                )  # not linear: the second order has a say
        return sum(terms[1:], terms[0])

    return loss, [arrays[i] for i in places], places


def random_like(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    real = rng.normal(size=x.shape)
    return (real + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else real).astype(x.dtype)


def inner(gs: Any, vs: Any) -> float:
    """The change of a real loss along a direction."""
    return float(
        sum(np.sum((np.conj(np.asarray(g)) * v).real) for g, v in zip(gs, vs, strict=True))
    )


def difference(function: Callable[..., Any], xs: Any, vs: Any, step: float) -> Any:
    def at(sign: int) -> np.ndarray:
        return np.asarray(function(*(x + sign * step * v for x, v in zip(xs, vs, strict=True))))

    return (at(1) - at(-1)) / (2 * step)


def close(got: Any, want: Any, order: int) -> None:
    relative, absolute = FINITE_DIFFERENCES[order]
    scale = max(1.0, float(np.max(np.abs(want))))
    np.testing.assert_allclose(
        np.asarray(got), want, rtol=relative * 10, atol=absolute * 10 * scale
    )


@each(SMOOTH)
def test_gradients_agree_with_finite_differences(case: Case) -> None:
    loss, xs, _ = loss_of(case)
    every = tuple(range(len(xs)))
    rng = np.random.default_rng(2)
    gs = grad(loss, every)(*tensors(xs))
    for g, x in zip(gs, xs, strict=True):
        assert np.asarray(g).shape == x.shape and np.asarray(g).dtype == x.dtype
    for _ in range(2):
        vs = [random_like(x, rng) for x in xs]
        want = difference(lambda *a: loss(*tensors(a)), xs, vs, 1e-6)
        close(inner(gs, vs), want, 1)
        _, tangent = jvp(loss, tuple(tensors(xs)), tuple(tensors(vs)))
        close(tangent, want, 1)


@each(SMOOTH)
def test_second_derivatives_agree_with_finite_differences(case: Case) -> None:
    loss, xs, _ = loss_of(case)
    every = tuple(range(len(xs)))
    rng = np.random.default_rng(3)
    us, vs = ([random_like(x, rng) for x in xs] for _ in range(2))

    def slope(*points: Any) -> Any:
        return jvp(loss, tuple(points), tuple(tensors(vs)))[1]

    want = difference(lambda *a: slope(*tensors(a)), xs, us, 1e-5)
    close(inner(grad(slope, every)(*tensors(xs)), us), want, 2)  # reverse over forward
    close(jvp(slope, tuple(tensors(xs)), tuple(tensors(us)))[1], want, 2)  # forward over forward

    def gradient_along(*points: Any) -> Any:
        pairs = zip(grad(loss, every)(*points), vs, strict=True)
        terms = [(g.conj() * Tensor(v)).real.sum() for g, v in pairs]
        return sum(terms[1:], terms[0])

    close(inner(grad(gradient_along, every)(*tensors(xs)), us), want, 2)  # reverse over reverse


# --- batching ----------------------------------------------------------------------------------

LANES = 3


def lanes_of(x: np.ndarray) -> np.ndarray:
    """Several operands like one: floats shifted, integers and booleans in another order."""
    if is_inexact(x.dtype):
        return np.stack([(x + x.dtype.type(0.125 * k)).astype(x.dtype) for k in range(LANES)])
    return np.stack([np.roll(x, k) for k in range(LANES)])


def batchable(case: Case) -> bool:
    op, arrays, attrs = case
    if exempt(op) or not arrays:
        return False
    specs = (
        op.spec(*(Spec(a.shape, a.dtype) for a in arrays), **attrs) if op.convert is None else ()
    )
    specs = (specs,) if isinstance(specs, Spec) else specs
    return all(
        isinstance(dim, int) for spec in specs for dim in spec.shape
    )  # else lanes differ in size


@each([case for case in CASES if batchable(case)])
def test_batching_equals_a_loop(case: Case) -> None:
    op, arrays, attrs = case
    everything = [True] * len(arrays)
    one_each = [[i == k for i in range(len(arrays))] for k in range(len(arrays))]
    for batched in [everything, *(one_each if len(arrays) > 1 else [])]:
        operands = [lanes_of(a) if on else a for a, on in zip(arrays, batched, strict=True)]
        if op.name == "searchsorted" and batched[0]:
            operands[0] = np.sort(operands[0], axis=-1)
        with np.errstate(all="ignore"):
            loop = [
                apply(
                    op,
                    tensors(x[k] if on else x for x, on in zip(operands, batched, strict=True)),
                    attrs,
                )
                for k in range(LANES)
            ]
            in_axes = tuple(0 if on else None for on in batched)
            got = vmap(lambda *xs: apply(op, xs, attrs), in_axes)(*tensors(operands))
        for place, result in enumerate(got):
            want = np.stack([lane[place].numpy() for lane in loop])
            assert_close(result.numpy(), want, loss=4)


# --- engines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@each([case for case in CASES if not exempt(case[0])])
def test_engines_agree_with_eager_evaluation(case: Case, engine: str) -> None:
    op, arrays, attrs = case
    with np.errstate(all="ignore"):
        want = apply(op, tensors(arrays), attrs)
    builder = Builder()
    with recording(builder):
        params = [Tensor(builder.param(Spec(a.shape, a.dtype))) for a in arrays]
        results = [value_in(t, builder) for t in apply(op, params, attrs)]
    got = get_engine(engine).compile(builder.finish(results))(list(arrays))
    for g, w in zip(got, want, strict=True):
        assert_close(g, w.numpy())
