"""The programs of examples/numerics: plain, staged on the engines, differentiated, vectorised.

Each runs on two sizes, so that the second call makes and runs the graph for any size (the reference
engine gets a graph for each); what it changes in its arguments counts as a result. The number of
its nodes does not depend on the sizes: a loop is staged once, whatever the number of its turns.
"""

import copy
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphify
from graphify import tree
from graphify.ir.graph import Graph
from tests.numerics_cases import GROWS, NO_GRADIENT, TENSORFLOW, VECTORISED, Case, cases
from tests.tolerances import assert_close

LOSS = 1000.0  # sums in another order, over hundreds of turns
STEP = 1e-6  # of central differences
LANES = 3
MOST_NODES = 600
CASES = cases()


def outcome(function: Any, arguments: list[Any]) -> list[Any]:
    """The leaves of the result, then the arguments as the function left them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = function(*arguments)
    return [*tree.leaves(result), *(a for a in arguments if isinstance(a, np.ndarray))]


def check(case: Case, **options: Any) -> graphify.Function:
    staged = graphify.function(case.program, **options)
    for size in case.sizes:
        want = outcome(case.program, case.arguments(size))
        got = outcome(staged, case.arguments(size))
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_close(one, np.asarray(other), loss=LOSS)
    return staged


@pytest.mark.parametrize("name", CASES)
def test_native(name: str) -> None:
    check(CASES[name])


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", TENSORFLOW)
def test_tensorflow(name: str) -> None:
    check(CASES[name], engine="tensorflow")


def count_nodes(graph: Graph) -> int:
    """Nodes of a graph and of the graphs in it."""
    inner = (v for n in graph.nodes for v in n.attrs.values() if isinstance(v, Graph))
    return len(graph.nodes) + sum(map(count_nodes, inner))


@pytest.mark.parametrize("name", CASES)
def test_reference(name: str) -> None:
    """Staged for each size by itself, which gives graphs of as many nodes."""
    case = CASES[name]
    staged = check(case, engine="reference", dynamic=False)
    if name in GROWS:
        return
    counts = [
        count_nodes(staged.get_concrete_function(*case.arguments(size)).graph)
        for size in case.sizes
    ]
    assert counts[0] == counts[1] < MOST_NODES, counts


def is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def has_floats(case: Case) -> bool:
    leaves = tree.leaves(case.program(*case.arguments(case.sizes[0])))
    return any(np.asarray(leaf).dtype.kind == "f" for leaf in leaves)


DIFFERENTIABLE = [
    name
    for name, case in CASES.items()
    if name not in NO_GRADIENT
    and any(map(is_float, case.arguments(case.sizes[0])))
    and has_floats(case)
]


@graphify.autograph.do_not_convert
def weighted(result: Any) -> Any:
    """The sum of all float leaves, each element with a weight of its own."""
    total = 0.0
    for leaf in tree.leaves(result):
        if getattr(leaf, "dtype", np.dtype(type(leaf))).kind == "f":
            size = int(np.prod(np.shape(leaf), dtype=int))
            total = total + (leaf * np.cos(np.arange(size) + 1.0).reshape(np.shape(leaf))).sum()
    return total


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient(name: str) -> None:
    case = CASES[name]
    size = case.sizes[0]
    wrt = tuple(i for i, a in enumerate(case.arguments(size)) if is_float(a))
    rng = np.random.default_rng(1)
    tangents = [rng.normal(size=case.arguments(size)[i].shape) for i in wrt]

    def moved(step: float) -> Any:
        arguments = case.arguments(size)
        for i, tangent in zip(wrt, tangents, strict=True):
            arguments[i] = arguments[i] + step * tangent
        return weighted(case.program(*arguments))

    @graphify.function
    def total(*arguments: Any) -> Any:
        return weighted(case.program(*arguments))

    gradients = graphify.grad(total, argnums=wrt)(*case.arguments(size))
    got = sum(float((np.asarray(g) * t).sum()) for g, t in zip(gradients, tangents, strict=True))
    want = (moved(STEP) - moved(-STEP)) / (2 * STEP)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", VECTORISED)
def test_vmap(name: str) -> None:
    """Lanes with different numbers give what they give alone."""
    case = CASES[name]
    lanes = [case.arguments(case.sizes[0], seed) for seed in range(LANES)]
    axes = tuple(0 if isinstance(a, np.ndarray) else None for a in lanes[0])
    columns = [
        np.stack(values) if axis == 0 else values[0]
        for values, axis in zip(zip(*lanes, strict=True), axes, strict=True)
    ]
    staged = graphify.function(graphify.vmap(case.program, in_axes=axes))
    got = tree.leaves(staged(*columns))
    alone = [tree.leaves(case.program(*copy.deepcopy(lane))) for lane in lanes]
    for one, parts in zip(got, zip(*alone, strict=True), strict=True):
        want = np.stack([np.asarray(part) for part in parts])
        assert_close(np.broadcast_to(np.asarray(one), want.shape), want, loss=LOSS)


def test_there_are_many() -> None:
    assert len(CASES) >= 200


def test_the_gallery_lists_them() -> None:
    path = Path(__file__).parents[1] / "docs" / "generate_examples.py"
    spec = importlib.util.spec_from_file_location("generate_examples", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (path.parent / "examples.md").read_text(encoding="utf-8")
    assert page == module.page(), "run python docs/generate_examples.py"
    assert all(f"| `{name}` |" in page for name in CASES)
