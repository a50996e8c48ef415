"""Derivatives of functions: grad, value_and_grad, jvp, vjp, jacobian, hessian, stop_gradient.

    >>> float(grad(lambda x: x * x)(3.0))
    6.0

Each works on eager tensors, inside `graphify.function`, and on one another's results. Arguments and
results may be containers of arrays (lists, tuples, dicts, dataclasses). The gradient with respect
to a complex array follows TensorFlow: it points in the direction in which a real loss grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphify import tree
from graphify.api import structures
from graphify.api.derived import compiled
from graphify.api.linearised import Linearised, matching, named, places_of, split_aux, tensor_now
from graphify.api.pullback import forward_jacobian, reverse_jacobian
from graphify.ir.tensor import Tensor
from graphify.ops import core, derivative
from graphify.tracing.tracebacks import user_facing
from graphify.transforms.jvp import pushforward

Function = Callable[..., Any]


def value_and_grad(
    function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Function:
    """A function that gives the value of `function` and its gradient.

    Args:
        function: gives a real float scalar (shape `()`), or `(scalar, aux)` if `has_aux`.
        argnums: position, or positions, of the arguments to differentiate by: arrays of float or
            complex dtype, or containers of them.
        has_aux: the function returns something more, which is passed on.

    Returns:
        A function of the same arguments that returns `(value, gradient)`, or
        `((value, aux), gradient)`. The gradient has the structure, shapes and dtypes of the
        argument; it is a tuple of those where `argnums` is a sequence.

    Raises:
        TypeError: an argument is not of float or complex dtype; the result is no real scalar.
        ValueError: `argnums` names no positional argument.
        TransformError: an op on the way has no gradient.

    Example:
        >>> f = value_and_grad(lambda p: p["w"] * p["w"] + p["b"])
        >>> value, gradient = f({"w": 3.0, "b": 1.0})
        >>> float(value), float(gradient["w"]), float(gradient["b"])
        (10.0, 6.0, 1.0)
    """
    return compiled(
        function,
        lambda: _value_and_grad(function, argnums, has_aux, "value_and_grad"),
        ("value_and_grad", has_aux),
        argnums,
    )


def _value_and_grad(
    function: Function, argnums: int | Sequence[int], has_aux: bool, what: str
) -> Function:
    structures.check_callable(function, what)

    @user_facing
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places = places_of(argnums, args, what)
        run = Linearised(what, function, args, kwargs, places)
        value, aux = split_aux(run.result, has_aux, what)
        target = structures.real_scalar(value, f"{what}: the result")
        grads = run.arranged(run.pull([run.key(target)], [core.ones_like(target)]))
        gradient = grads[0] if isinstance(argnums, int) else tuple(grads)
        return ((value, aux) if has_aux else value), gradient

    return named(wrapper, function, what)


def grad(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of `function`.

    Args:
        function: gives a real float scalar (shape `()`), or `(scalar, aux)` if `has_aux`.
        argnums: position, or positions, of the arguments to differentiate by.
        has_aux: the function returns something more; the result is then `(gradient, aux)`.

    Returns:
        A function of the same arguments. Its result has the structure, shapes and dtypes of the
        argument; it is a tuple of those where `argnums` is a sequence.

    Raises:
        TypeError: an argument is not of float or complex dtype; the result is no real scalar.
        ValueError: `argnums` names no positional argument.
        TransformError: an op on the way has no gradient.

    Example:
        >>> float(grad(grad(lambda x: x**3))(2.0))
        12.0
    """
    return compiled(function, lambda: _grad(function, argnums, has_aux), ("grad", has_aux), argnums)


def _grad(function: Function, argnums: int | Sequence[int], has_aux: bool) -> Function:
    both = _value_and_grad(function, argnums, has_aux, "grad")

    @user_facing
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return named(wrapper, function, "grad")


@user_facing
def vjp(function: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of a function and the function that pulls cotangents back to its arguments.

    Args:
        function: gives an array or a container of arrays, or `(result, aux)` if `has_aux`.
        primals: its arguments, of float or complex dtype.

    Returns:
        `(result, pullback)`, or `(result, pullback, aux)`. `pullback(cotangent)` takes the
        structure and shapes of the result and returns a tuple with one cotangent per argument. It
        may be called any number of times.

    Raises:
        TypeError: an argument is not of float or complex dtype.
        ValueError: the cotangent has another structure or shape than the result.

    Example:
        >>> result, pullback = vjp(lambda a, b: a * b, 3.0, 4.0)
        >>> [float(g) for g in pullback(1.0)]
        [4.0, 3.0]
    """
    structures.check_callable(function, "vjp")
    run = Linearised("vjp", function, primals, {}, range(len(primals)))
    result, aux = split_aux(run.result, has_aux, "vjp")
    leaves, treedef = tree.flatten_arrays(result)
    targets = [tensor_now(run.target(leaf)) for leaf in leaves]
    keys = [run.key(target) for target in targets]
    run.let_go(primals)

    @user_facing
    def pullback(cotangent: Any) -> tuple[Any, ...]:
        gs = matching(cotangent, treedef, targets, "pullback: argument 0 'cotangent'")
        return tuple(run.arranged(run.pull(keys, gs)))

    return (result, pullback, aux) if has_aux else (result, pullback)


@user_facing
def jvp(
    function: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The value of a function and its derivative in one direction.

    Args:
        function: gives an array or a container of arrays, or `(result, aux)` if `has_aux`.
        primals: a tuple or list of its arguments, of float or complex dtype.
        tangents: the direction: as many, of the same structures and shapes.

    Returns:
        `(result, tangent)`, or `(result, tangent, aux)`; the tangent has the structure and shapes
        of the result, zeros where it does not depend on the arguments.

    Raises:
        TypeError: an argument is not of float or complex dtype, or primals is no tuple or list.
        ValueError: a tangent has another structure or shape than its primal.

    Example:
        >>> value, tangent = jvp(lambda x: x * x, (3.0,), (1.0,))
        >>> float(value), float(tangent)
        (9.0, 6.0)
    """
    structures.check_callable(function, "jvp")
    for name, group in (("primals", primals), ("tangents", tangents)):
        if not isinstance(group, (tuple, list)):
            raise TypeError(f"jvp: {name}: expected a tuple or list, got {type(group).__name__}")
    if len(primals) != len(tangents):
        raise ValueError(f"jvp: tangents: expected {len(primals)} tangents, got {len(tangents)}")
    run = Linearised("jvp", function, primals, {}, range(len(primals)))
    ts: list[Tensor | None] = []
    sources = iter(run.sources)
    for k, (treedef, tangent) in enumerate(zip(run.treedefs, tangents, strict=True)):
        models = [next(sources) for _ in range(treedef.num_leaves)]
        ts += matching(tangent, treedef, models, f"jvp: tangents[{k}]")
    result, aux = split_aux(run.result, has_aux, "jvp")
    leaves, treedef = tree.flatten_arrays(result)
    targets = [run.target(leaf) for leaf in leaves]
    found = pushforward(run.tape.records, run.keys, ts, [run.key(t) for t in targets])
    pairs = zip(found, targets, strict=True)
    outs = structures.released([core.zeros_like(y) if t is None else t for t, y in pairs], ts)
    tangent_out = treedef.unflatten(outs)
    return (result, tangent_out, aux) if has_aux else (result, tangent_out)


def jacobian(
    function: Function, argnums: int | Sequence[int] = 0, mode: str = "reverse"
) -> Function:
    """A function that gives the matrix of all first derivatives of `function`.

    Args:
        function: gives an array or a container of arrays.
        argnums: position, or positions, of the arguments to differentiate by.
        mode: "reverse" sweeps once per element of the result, "forward" once per element of the
            arguments. All sweeps run as one batch.

    Returns:
        A function of the same arguments. For a result `[*out]` and an argument `[*in]` it gives
        `[*out, *in]`; containers nest: structure of the result outside, of the argument inside.

    Raises:
        TypeError: an argument or result is not of float or complex dtype.
        ValueError: an unknown mode; `argnums` names no positional argument.

    Example:
        >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0])).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    return compiled(
        function,
        lambda: _jacobian(function, argnums, mode, "jacobian"),
        ("jacobian", mode),
        argnums,
    )


def _jacobian(function: Function, argnums: int | Sequence[int], mode: str, what: str) -> Function:
    structures.check_callable(function, what)
    if mode not in ("reverse", "forward"):
        raise ValueError(f"{what}: mode: expected 'reverse' or 'forward', got {mode!r}")

    @user_facing
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places = places_of(argnums, args, what)
        run = Linearised(what, function, args, kwargs, places)
        leaves, treedef = tree.flatten_arrays(run.result)
        targets = [structures.inexact_leaf(leaf, f"{what}: the result") for leaf in leaves]
        rows = _jacobian_rows(run, targets, mode)
        trees = [run.arranged(row) for row in rows]
        return treedef.unflatten([t[0] if isinstance(argnums, int) else tuple(t) for t in trees])

    return named(wrapper, function, what)


def _jacobian_rows(run: Linearised, targets: Sequence[Tensor], mode: str) -> list[list[Tensor]]:
    """For each target, its Jacobian by each source."""
    keys = [run.key(target) for target in targets]
    if mode == "reverse":
        found = [reverse_jacobian(run.tape, key, run.keys) for key in keys]
    else:
        columns = [forward_jacobian(run.tape, keys, source) for source in run.keys]
        found = [[column[i] for column in columns] for i in range(len(keys))]
    return [
        [_zeros(target, x) if j is None else j for j, x in zip(row, run.sources, strict=True)]
        for row, target in zip(found, targets, strict=True)
    ]


def _zeros(target: Tensor, source: Tensor) -> Tensor:
    return core.full((*target.dims, *source.dims), 0, source.dtype)


def jacrev(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """`jacobian(function, argnums, mode="reverse")`: for results smaller than the arguments."""
    return jacobian(function, argnums, "reverse")


def jacfwd(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """`jacobian(function, argnums, mode="forward")`: for arguments smaller than the results."""
    return jacobian(function, argnums, "forward")


def hessian(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """A function that gives the matrix of all second derivatives of a scalar function.

    Args:
        function: gives a real float scalar.
        argnums: position, or positions, of the arguments to differentiate by.

    Returns:
        A function of the same arguments; for an argument `[*in]` it gives `[*in, *in]`. Containers
        nest, as in `jacobian(grad(function))`.

    Raises:
        TypeError: an argument is not of float or complex dtype; the result is no real scalar.

    Example:
        >>> hessian(lambda x: x[0] * x[0] * x[1])(np.array([1.0, 2.0])).numpy().tolist()
        [[4.0, 2.0], [2.0, 0.0]]
    """
    return compiled(function, lambda: _hessian(function, argnums), ("hessian",), argnums)


def _hessian(function: Function, argnums: int | Sequence[int]) -> Function:
    both = _value_and_grad(function, argnums, False, "hessian")

    @user_facing
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    gradient = named(gradient, function, "hessian")
    return named(_jacobian(gradient, argnums, "reverse", "hessian"), function, "hessian")


def stop_gradient(value: Any) -> Any:
    """The same value, constant for every derivative.

    Args:
        value: an array or a container of arrays.

    Returns:
        The same structure; arrays as new tensors, everything else as it is.

    Example:
        >>> float(grad(lambda x: x * stop_gradient(x))(3.0))
        3.0
    """

    def stop(leaf: Any) -> Any:
        if not structures.is_array(leaf):
            return leaf
        return derivative.stop_gradient(structures.array_leaf(leaf, "stop_gradient"))

    return tree.map_structure(stop, value)
