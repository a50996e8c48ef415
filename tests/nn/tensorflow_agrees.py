"""A function of graphify.nn beside TensorFlow's: values and gradients, eager and staged.

check(lambda x: graphify.nn.elu(x), lambda tf, x: tf.nn.elu(x), [x])
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import graphify
from graphify.engines.base import get_engine
from tests.tolerances import assert_close


def check(
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    arrays: Sequence[Any],
    *,
    by: Sequence[int] | None = None,
    loss: float = 50,
) -> None:
    """Compares values, and the gradients by the operands at `by` (all float ones if None)."""
    import tensorflow as tf

    floats = [i for i, a in enumerate(arrays) if np.asarray(a).dtype.kind == "f"]
    places = floats if by is None else list(by)
    operands = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as tape:
        for place in places:
            tape.watch(operands[place])
        want = theirs(tf, *operands)
        weights = np.random.default_rng(7).normal(size=want.shape).astype(want.dtype.as_numpy_dtype)
        total = tf.reduce_sum(want * weights)
    slopes = tape.gradient(total, [operands[place] for place in places]) if places else []

    def weighted(*xs: Any) -> Any:
        return (ours(*xs) * weights).sum()

    staged = graphify.function(ours)
    assert_close(ours(*arrays).numpy(), want.numpy(), loss=loss)
    assert_close(staged(*arrays).numpy(), want.numpy(), loss=loss)
    if not places:
        return
    for run in (graphify.grad(weighted, tuple(places)), staged_gradient(weighted, tuple(places))):
        for got, slope in zip(run(*arrays), slopes, strict=True):
            assert_close(np.asarray(got), tf.convert_to_tensor(slope).numpy(), loss=loss)


def staged_gradient(function: Callable[..., Any], places: tuple[int, ...]) -> Callable[..., Any]:
    return graphify.function(graphify.grad(function, places))


def slope_along(function: Callable[..., Any], xs: Sequence[Any], vs: Sequence[Any]) -> float:
    """A central difference of a real function."""
    step = 1e-6
    up, down = (
        float(function(*(x + s * step * v for x, v in zip(xs, vs, strict=True)))) for s in (1, -1)
    )
    return (up - down) / (2 * step)


def on_every_engine(function: Callable[..., Any], arrays: Sequence[Any]) -> list[Any]:
    """What a staged function gives on the reference engine and on TensorFlow's."""
    graph = graphify.function(function).get_concrete_function(*arrays).graph
    return [
        get_engine(name).compile(graph)([np.asarray(a) for a in arrays])[0]
        for name in ("reference", "tensorflow")
    ]
