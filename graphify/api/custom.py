"""custom_gradient: a function that says itself what its gradient is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from graphify import tree
from graphify.api import structures
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.ops import core, derivative
from graphify.tracing.capture import subgraph

Function = Callable[..., Any]


def custom_gradient(function: Function) -> Function:
    """Decorator: the function says itself what its gradient is.

    Args:
        function: takes arrays (or containers of arrays) and returns `(result, grad_fn)`.
            `grad_fn(*cotangents)` gets one cotangent per array of the result and returns one
            gradient per array of the positional arguments (None: no gradient), as a sequence or,
            for one, alone.

    Returns:
        A function that returns the result alone. Reverse mode uses `grad_fn`; there is no forward
        mode.

    Raises:
        TypeError: the function does not return `(result, grad_fn)`.
        ValueError: `grad_fn` returns another number of gradients.

    Example:
        >>> @custom_gradient
        ... def log1pexp(x):
        ...     e = np.exp(x)
        ...     return np.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
        >>> float(graphify.grad(log1pexp)(100.0))
        1.0
    """
    structures.check_callable(function, "custom_gradient")

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        outcome = structures.result_of(function, *args, **kwargs)
        if not isinstance(outcome, tuple) or len(outcome) != 2 or not callable(outcome[1]):
            raise TypeError(
                "custom_gradient: expected (result, grad_fn) from the function, "
                f"got {outcome!r:.80}"
            )
        result, grad_fn = outcome
        leaves, treedef = tree.flatten_arrays(result)
        ys = [structures.array_leaf(leaf, "custom_gradient: the result") for leaf in leaves]
        xs = [
            structures.array_leaf(x, "custom_gradient")
            for x in tree.leaves(list(args))
            if structures.is_array(x)
        ]
        return treedef.unflatten(_bind_custom(xs, ys, grad_fn))

    return wrapper


def _bind_custom(xs: list[Tensor], ys: list[Tensor], grad_fn: Function) -> Sequence[Tensor]:
    def backward(*gs: Tensor) -> list[Tensor | None]:
        grads = structures.result_of(grad_fn, *gs)
        grads = list(grads) if isinstance(grads, (tuple, list)) else [grads]
        if len(grads) != len(xs):
            raise ValueError(
                f"custom_gradient: expected {len(xs)} gradients from grad_fn, one per array, "
                f"got {len(grads)}"
            )
        return [None if g is None else _shaped(g, x) for g, x in zip(grads, xs, strict=True)]

    options: dict[str, Any] = {"inputs": len(xs), "outputs": len(ys)}
    if current_builder() is None:
        return derivative.custom_gradient.several(*xs, *ys, backward=backward, **options)

    def filled(*gs: Tensor) -> list[Tensor]:
        return [
            core.zeros_like(x) if g is None else g for g, x in zip(backward(*gs), xs, strict=True)
        ]

    specs = [core.strong(y).spec for y in ys]
    sub = subgraph(filled, specs, "backward", "custom_gradient")
    return derivative.custom_gradient.several(
        *xs, *ys, *sub.captures, backward=sub.graph, **options
    )


def _shaped(g: Any, x: Tensor) -> Tensor:
    """A gradient given by the user, of the shape and dtype of its argument."""
    tensor = structures.array_leaf(g, "custom_gradient: a gradient")
    if structures.differ(tensor, x):
        shapes = [structures.shape_text(t.dims) for t in (x, tensor)]
        raise ValueError(
            f"custom_gradient: a gradient: expected shape {shapes[0]}, got {shapes[1]}"
        )
    return core.to_dtype(tensor, x.dtype)
