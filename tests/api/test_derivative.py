"""grad and its family: structures, nesting, staging, complex numbers, errors."""

import dataclasses
import doctest

import numpy as np
import pytest

import graphify
import graphify.numpy as gnp
from graphify.api import custom, derivative
from graphify.errors import TransformError
from tests.differences import check_grads, numerical_gradient
from tests.tolerances import assert_close

X = np.array([0.5, -1.25, 2.0])
W = np.array([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]])


@pytest.mark.parametrize("module", [derivative, custom], ids=lambda m: m.__name__)
def test_examples(module):
    names = {"np": np, "gnp": gnp, "graphify": graphify, **vars(module)}
    result = doctest.testmod(module, globs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted and not result.failed


def layer(w, x):
    return gnp.tanh(w @ x) * gnp.exp(w[:, 0])


def test_against_finite_differences():
    check_grads(layer, W, X)
    check_grads(lambda x: gnp.sort(x)[::-1] * x, X)
    check_grads(lambda x: gnp.where(x > 0, x * x, gnp.sin(x)), X)
    check_grads(lambda w: gnp.linalg.inv(w @ w.T), W)


# --- structures -----------------------------------------------------------------------------------


@dataclasses.dataclass
class Params:
    w: object
    b: object


def test_containers_keep_their_structure():
    def loss(params, data):
        hidden = data["x"] @ params[0].w + params[0].b
        return gnp.sum(hidden * params[1])

    params = (Params(W.T.copy(), np.array([1.0, 2.0])), np.array(3.0))
    g = graphify.grad(loss)(params, {"x": X})
    assert isinstance(g, tuple) and isinstance(g[0], Params)
    np.testing.assert_allclose(g[0].w, np.outer(X, [3.0, 3.0]))
    np.testing.assert_allclose(g[0].b, [3.0, 3.0])
    np.testing.assert_allclose(g[1], (X @ W.T + [1, 2]).sum())
    staged = graphify.function(graphify.grad(loss))(params, {"x": X})
    np.testing.assert_allclose(staged[0].w, g[0].w)


@pytest.mark.parametrize("staged", [False, True], ids=["eager", "staged"])
def test_none_stands_for_no_array(staged):
    run = graphify.function if staged else (lambda f: f)
    parameters = {"w": np.array([1.0, 2.0]), "bias": None}

    def f(p):
        return {"y": p["w"] ** 2, "bias": p["bias"]}

    def loss(p):
        return gnp.sum(f(p)["y"])

    gradient = run(graphify.grad(loss))(parameters)
    assert gradient["bias"] is None
    assert_close(gradient["w"], np.array([2.0, 4.0]))
    assert_close(run(graphify.hessian(loss))(parameters)["w"]["w"], np.diag([2.0, 2.0]))
    value, tangent = graphify.jvp(f, (parameters,), (parameters,))
    assert value["bias"] is None and tangent["bias"] is None
    assert_close(tangent["y"], np.array([2.0, 8.0]))
    value, pullback = graphify.vjp(f, parameters)
    (cotangent,) = pullback({"y": np.ones(2), "bias": None})
    assert cotangent["bias"] is None
    assert_close(cotangent["w"], np.array([2.0, 4.0]))
    matrix = graphify.jacobian(f)(parameters)
    assert matrix["bias"] is None and matrix["y"]["bias"] is None
    assert_close(matrix["y"]["w"], np.diag([2.0, 4.0]))


def test_keys_in_any_order():
    def f(p):
        return {"y": p["a"] * p["b"], "z": p["a"]}

    primal = {"a": X, "b": X * 2}
    _, tangent = graphify.jvp(f, (primal,), ({"b": X * 0, "a": np.ones(3)},))
    assert_close(tangent["y"], X * 2)
    _, pullback = graphify.vjp(f, primal)
    (cotangent,) = pullback({"z": np.ones(3), "y": X * 0})
    assert_close(cotangent["a"], np.ones(3))


@pytest.mark.parametrize("x", [X, gnp.asarray(X), [X, X * 2]], ids=["array", "tensor", "list"])
def test_functions_that_give_their_argument_back(x):
    result, pullback = graphify.vjp(lambda x: x, x)
    (back,) = pullback(result)
    np.testing.assert_array_equal(np.asarray(back), np.asarray(x))
    np.testing.assert_array_equal(np.asarray(graphify.jvp(lambda x: x, (x,), (x,))[1]), x)
    assert float(graphify.grad(lambda x: x)(2.0)) == 1.0
    assert_close(graphify.jacobian(lambda x: x)(X), np.eye(3))


def test_argnums_and_aux():
    def f(a, b):
        return gnp.sum(a * b * b), {"b": b}

    ga, gb = graphify.grad(lambda a, b: f(a, b)[0], argnums=(0, 1))(X, X)
    np.testing.assert_allclose(ga, X * X)
    np.testing.assert_allclose(gb, 2 * X * X)
    g, aux = graphify.grad(f, argnums=-1, has_aux=True)(X, X)
    np.testing.assert_allclose(g, 2 * X * X)
    np.testing.assert_array_equal(aux["b"], X)
    (value, _), g = graphify.value_and_grad(f, has_aux=True)(X, X)
    np.testing.assert_allclose([float(value), *g], [(X**3).sum(), *X * X])


def test_the_same_array_twice_is_two_arguments():
    ga, gb = graphify.grad(lambda a, b: gnp.sum(a * a * b), argnums=(0, 1))(X, X)
    np.testing.assert_allclose(ga, 2 * X * X)
    np.testing.assert_allclose(gb, X * X)
    np.testing.assert_allclose(graphify.grad(lambda a: gnp.sum(a * X))(X), X)


@pytest.mark.parametrize("staged", [False, True])
def test_a_derivative_tells_its_variable_from_an_equal_value(staged):
    def f(x):
        inner = graphify.grad(lambda y: gnp.sum(y * gnp.sin(x)))
        return inner(gnp.sin(x)) + inner(x)

    def g(x):
        with graphify.GradientTape() as tape:
            y = gnp.sin(x)
            tape.watch(y)
            z = gnp.sin(x) * y
        return tape.gradient(z, y)

    run = graphify.function if staged else (lambda h: h)
    np.testing.assert_allclose(run(f)(X), 2 * np.sin(X))
    np.testing.assert_allclose(run(g)(X), np.sin(X))


# --- nesting --------------------------------------------------------------------------------------


def cubic(x):
    return gnp.sum(x**3 * gnp.sin(x))


@pytest.mark.parametrize("staged", [False, True])
def test_any_order_and_any_nesting(staged):
    run = graphify.function if staged else (lambda h: h)
    t = np.array([0.2, 1.0, -0.5])
    hessian = np.array(graphify.hessian(cubic)(X))
    np.testing.assert_allclose(
        hessian, np.diag(6 * X * np.sin(X) + 6 * X**2 * np.cos(X) - X**3 * np.sin(X))
    )
    forward_over_reverse = run(lambda x: graphify.jvp(graphify.grad(cubic), (x,), (t,))[1])
    np.testing.assert_allclose(forward_over_reverse(X), hessian @ t)
    reverse_over_forward = run(graphify.grad(lambda x: graphify.jvp(cubic, (x,), (t,))[1]))
    np.testing.assert_allclose(reverse_over_forward(X), hessian @ t)
    forward_over_forward = run(
        lambda x: graphify.jvp(lambda v: graphify.jvp(cubic, (v,), (t,))[1], (x,), (t,))[1]
    )
    np.testing.assert_allclose(forward_over_forward(X), t @ hessian @ t)
    third = run(
        graphify.grad(
            lambda x: gnp.sum(graphify.grad(lambda v: gnp.sum(graphify.grad(cubic)(v)))(x))
        )
    )
    want = numerical_gradient(lambda x: np.trace(graphify.hessian(cubic)(x).numpy()), (X,), 0)
    np.testing.assert_allclose(third(X), want, rtol=1e-6)


def test_staged_callees_are_differentiated():
    @graphify.function
    def norm(x):
        total = 0.0
        for v in x:
            total = total + v * v
        return np.sqrt(total)

    want = X / np.linalg.norm(X)
    np.testing.assert_allclose(graphify.grad(norm)(X), want)
    np.testing.assert_allclose(graphify.function(lambda x: graphify.grad(norm)(x))(X), want)
    check_grads(lambda x: norm(x) * x, X)


def test_effects_of_a_staged_callee_happen_once(capsys):
    @graphify.function
    def noisy(x):
        graphify.print("run")
        return np.sum(x * np.random.normal(size=3))

    np.random.seed(3)
    noise = np.random.normal(size=3)
    np.random.seed(3)
    np.testing.assert_allclose(graphify.grad(noisy)(X), noise)
    assert capsys.readouterr().out == "run\n"


def test_python_numbers_are_arguments_too():
    @graphify.function
    def f(x, y):
        return x * y

    assert float(graphify.grad(f)(3.0, 2.0)) == 2.0
    assert float(graphify.grad(lambda x: x * x)(3.0)) == 6.0


# --- jvp, vjp -------------------------------------------------------------------------------------


def test_vjp_of_structures():
    result, pullback = graphify.vjp(lambda p: {"a": p[0] * p[1], "n": gnp.argmax(p[0])}, (X, X + 1))
    np.testing.assert_allclose(result["a"], X * (X + 1))
    ((g0, g1),) = pullback({"a": np.ones(3), "n": None})
    np.testing.assert_allclose(g0, X + 1)
    np.testing.assert_allclose(g1, X)
    with pytest.raises(ValueError, match="cotangent.*structure"):
        pullback(np.ones(3))
    with pytest.raises(ValueError, match=r"expected shape \(3,\), got \(2,\)"):
        pullback({"a": np.ones(2), "n": None})


def test_a_pullback_outlives_updates_of_its_arguments():
    x = gnp.asarray(X.copy())
    _, pullback = graphify.vjp(lambda v: v * v, x)
    x[:] = 0.0
    np.testing.assert_allclose(pullback(np.ones(3))[0], 2 * X)
    result, pullback = graphify.vjp(lambda v: v * 2.0, x)
    result[:] = 0.0
    np.testing.assert_allclose(pullback(np.ones(3))[0], np.full(3, 2.0))
    array = X.copy()
    _, pullback = graphify.vjp(lambda v: v * v, array)
    array[:] = 0.0  # NumPy's own update, which nobody hears of
    np.testing.assert_allclose(pullback(np.ones(3))[0], 2 * X)


def test_jvp_of_structures_and_constants():
    _value, tangent = graphify.jvp(
        lambda a, b: (a * b["k"], 1.0), (X, {"k": X}), (np.ones(3), {"k": np.zeros(3)})
    )
    np.testing.assert_allclose(tangent[0], X)
    assert float(tangent[1]) == 0.0
    with pytest.raises(ValueError, match="1 tangents|expected 1"):
        graphify.jvp(lambda x: x, (X,), ())
    with pytest.raises(TypeError, match="primals"):
        graphify.jvp(lambda x: x, X, X)


# --- Jacobians ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("staged", [False, True])
def test_jacobian(mode, staged):
    def f(w, x):
        return {"h": layer(w, x), "s": gnp.sum(x)}

    transform = graphify.jacobian(f, argnums=(0, 1), mode=mode)
    run = graphify.function(transform) if staged else transform
    jac = run(W, X)
    assert (
        jac["h"][0].shape == (2, 2, 3)
        and jac["h"][1].shape == (2, 3)
        and jac["s"][0].shape == (2, 3)
    )
    np.testing.assert_array_equal(jac["s"][0], np.zeros((2, 3)))
    for row in range(2):
        for k in range(2):
            want = numerical_gradient(lambda w, x, row=row: layer(w, x)[row], (W, X), k)
            np.testing.assert_allclose(jac["h"][k][row], want, rtol=1e-6, atol=1e-8)


def test_jacobian_by_a_python_number():
    def f(w, x):
        return graphify.scan(lambda c, v: (gnp.tanh(w * c + v), c), 0.0, x)[1]

    numeric = (f(0.5 + 1e-6, X).numpy() - f(0.5 - 1e-6, X).numpy()) / 2e-6
    for mode in ("reverse", "forward"):
        np.testing.assert_allclose(graphify.jacobian(f, mode=mode)(0.5, X), numeric, atol=1e-8)


def test_jacobian_of_symbolic_size():
    @graphify.function(input_signature=[graphify.TensorSpec(("n",), "float64")])
    def f(x):
        return graphify.jacobian(lambda v: gnp.cumsum(v * v))(x), graphify.hessian(cubic)(x)

    for n in (2, 4):
        x = np.arange(1.0, n + 1)
        jac, hessian = f(x)
        np.testing.assert_allclose(jac, np.tril(np.tile(2 * x, (n, 1))))
        np.testing.assert_allclose(hessian, np.diag(np.diag(hessian)))


def test_hessian_of_containers():
    def f(p):
        return gnp.sum(p["a"] * p["a"]) * p["b"]

    h = graphify.hessian(f)({"a": X, "b": np.array(2.0)})
    np.testing.assert_allclose(h["a"]["a"], 4 * np.eye(3))
    np.testing.assert_allclose(h["a"]["b"], 2 * X)
    np.testing.assert_allclose(h["b"]["a"], 2 * X)
    np.testing.assert_allclose(h["b"]["b"], 0.0)


# --- complex --------------------------------------------------------------------------------------


Z = np.array([0.5 + 1.0j, -1.25 - 0.3j, 2.0 + 0.1j])


@pytest.mark.parametrize(
    "f",
    [
        lambda z: gnp.abs(z),
        lambda z: (z * z.conj()).real,
        lambda z: gnp.sin(z) * z,
        lambda z: gnp.exp(z).imag * z.real,
        lambda z: 1 / z,
        lambda z: z[::-1] @ gnp.outer(z, z.conj()),
        lambda z: gnp.abs(z) ** 3 * z,
    ],
)
def test_complex_gradients_follow_tensorflow(f):
    check_grads(f, Z)


def test_the_complex_gradient_points_uphill():
    np.testing.assert_allclose(graphify.grad(lambda z: gnp.sum(gnp.abs(z) ** 2))(Z), 2 * Z)


# --- own gradients --------------------------------------------------------------------------------


@graphify.custom_gradient
def clipped(x):
    scale = gnp.exp(-x)
    return gnp.minimum(x, 1.0), lambda upstream: upstream * scale


@pytest.mark.parametrize("staged", [False, True])
def test_custom_gradient(staged):
    run = graphify.function if staged else (lambda h: h)
    scalar = lambda x: gnp.sum(clipped(x) * x)
    want = np.exp(-X) * X + np.minimum(X, 1.0)
    np.testing.assert_allclose(run(graphify.grad(scalar))(X), want)
    second = graphify.grad(lambda x: gnp.sum(graphify.grad(scalar)(x)))
    np.testing.assert_allclose(run(second)(X), -np.exp(-X) * X + 2 * np.exp(-X))
    np.testing.assert_allclose(run(lambda x: clipped(x))(X), np.minimum(X, 1.0))
    per_row = graphify.vmap(graphify.grad(scalar))
    np.testing.assert_allclose(run(per_row)(np.stack([X, X + 1]))[0], want)
    over_rows = graphify.grad(lambda m: gnp.sum(graphify.vmap(scalar)(m)))
    np.testing.assert_allclose(run(over_rows)(np.stack([X, X + 1]))[0], want)


def test_custom_gradient_of_several_arguments_and_inside_loops():
    @graphify.custom_gradient
    def product(a, b):
        def gradient(up):
            return up * b * 10.0, None

        return a * b, gradient

    ga, gb = graphify.grad(lambda a, b: gnp.sum(product(a, b)), argnums=(0, 1))(X, X)
    np.testing.assert_allclose(ga, 10 * X)
    np.testing.assert_array_equal(gb, np.zeros(3))

    def powers(x, n):
        y = x * 0.0 + 1.0
        for _ in range(n):
            y = product(y, x)
        return np.sum(y)

    g = graphify.function(graphify.grad(powers, argnums=1 - 1))(X, np.array(12))
    np.testing.assert_array_equal(g, np.zeros(3))
    with pytest.raises(TransformError, match="custom_gradient"):
        graphify.jvp(lambda x: clipped(x), (X,), (X,))


def test_custom_gradient_is_checked():
    with pytest.raises(TypeError, match="grad_fn"):
        graphify.custom_gradient(lambda x: x)(X)
    bad = graphify.custom_gradient(lambda x: (x, lambda g: (g, g)))
    with pytest.raises(ValueError, match="expected 1 gradients"):
        graphify.grad(lambda x: gnp.sum(bad(x)))(X)
    wrong = graphify.custom_gradient(lambda x: (x, lambda g: g[:1]))
    with pytest.raises(ValueError, match=r"expected shape \(3,\), got \(1,\)"):
        graphify.grad(lambda x: gnp.sum(wrong(x)))(X)


@pytest.mark.parametrize("staged", [False, True])
def test_stop_gradient(staged):
    def f(x):
        fixed = graphify.stop_gradient({"x": x, "name": "kept"})
        assert fixed["name"] == "kept"
        return gnp.sum(fixed["x"] * x)

    run = graphify.function if staged else (lambda h: h)
    np.testing.assert_allclose(run(graphify.grad(f))(X), X)
    np.testing.assert_allclose(graphify.grad(run(f))(X), X)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: graphify.grad(lambda x: x * x)(3), TypeError, "grad: argument 0 'x': .*int64"),
        (lambda: graphify.grad(np.sum)(np.array(["a"])), TypeError, "grad: argument 0 'a': dtype"),
        (
            lambda: graphify.grad(lambda x, y: x * y, argnums=(0, -2))(1.0, 2.0),
            ValueError,
            "argnums: expected different positions",
        ),
        (lambda: graphify.hessian(np.sum)(np.arange(3)), TypeError, "hessian: argument 0 'a'"),
        (lambda: graphify.hessian(np.sin)(X), TypeError, "hessian: the result: expected a scalar"),
        (lambda: graphify.jvp(np.sin, (X,), (X * 1j,)), TypeError, "expected a real array"),
        (lambda: graphify.vjp(np.sin, X)[1](X * 1j), TypeError, "expected a real array"),
        (
            lambda: graphify.grad(lambda x: x)({"k": "text"}),
            TypeError,
            r"at \['k'\]: expected an array, got str",
        ),
        (
            lambda: graphify.grad(lambda x: x * x)(X),
            TypeError,
            r"the result: expected a scalar, got shape \(3,\)",
        ),
        (
            lambda: graphify.grad(lambda x: x[0] > 0)(X),
            TypeError,
            "expected a real float result, got bool",
        ),
        (
            lambda: graphify.grad(lambda x: x[0])(Z),
            TypeError,
            "expected a real float result, got complex128",
        ),
        (
            lambda: graphify.grad(lambda x: "no")(X),
            TypeError,
            "the result: expected an array, got str",
        ),
        (lambda: graphify.grad(lambda x: x, argnums=2)(X), ValueError, "argnums"),
        (lambda: graphify.grad(lambda x: x, argnums="x")(X), TypeError, "argnums"),
        (lambda: graphify.grad(3.0), TypeError, "grad: argument 0: expected a function, got float"),
        (lambda: graphify.grad(lambda x: gnp.sum(x), has_aux=True)(X), TypeError, "has_aux"),
        (
            lambda: graphify.jacobian(lambda x: x, mode="up"),
            ValueError,
            "mode: expected 'reverse' or 'forward'",
        ),
        (lambda: graphify.jacobian(lambda x: x > 0)(X), TypeError, "the result: expected a float"),
        (lambda: graphify.grad(lambda x: x)(np.array(["a"])), TypeError, "dtype"),
    ],
)
def test_bad_input(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("staged", [False, True])
def test_gradients_may_be_updated_in_place(staged):
    def f(x, y):
        ga, gb = graphify.grad(lambda a, b: gnp.sum(a + b), argnums=(0, 1))(x, y)
        ga *= 3.0
        gb[0] = 7.0
        return ga, gb

    ga, gb = (graphify.function(f) if staged else f)(X, X.copy())
    np.testing.assert_array_equal(ga, np.full(3, 3.0))
    np.testing.assert_array_equal(gb, [7.0, 1.0, 1.0])
    ct = np.ones(3)
    _, pullback = graphify.vjp(lambda x: x, X)
    (g,) = pullback(ct)
    g[0] = 5.0
    np.testing.assert_array_equal(ct, np.ones(3))


def test_closures_over_a_differentiated_tensor():
    def f(w):
        @graphify.function
        def inner(x):
            return np.sum(np.tanh(w * x))

        return inner(X) + graphify.cond(True, lambda: w[0], lambda: w[1])

    want = X * (1 - np.tanh(X * X) ** 2) + [1, 0, 0]
    np.testing.assert_allclose(graphify.grad(f)(X), want)
    view = gnp.asarray(np.append(X, 1.0))[:3]
    np.testing.assert_allclose(graphify.grad(f)(view), want)
    with graphify.GradientTape() as tape:
        tape.watch(view)
        y = f(view)
    np.testing.assert_allclose(tape.gradient(y, view), want)


def test_empty_arrays():
    np.testing.assert_array_equal(
        graphify.grad(lambda x: gnp.sum(x * x))(np.zeros((0, 3))), np.zeros((0, 3))
    )
    assert graphify.jacobian(lambda x: x * x)(np.zeros(0)).shape == (0, 0)


# --- transformations of decorated functions ------------------------------------------------------


def layers(weights, x):
    return np.sum((weights["w"] * x + weights["b"]) ** 2)


def test_transformations_of_a_decorated_function_are_compiled_once():
    runs = []

    @graphify.function
    def loss(weights, x):
        runs.append(1)
        return layers(weights, x)

    x = np.arange(3.0)
    weights = {"w": np.ones(3), "b": np.full(3, 0.5)}
    want = graphify.grad(layers)(weights, x)
    for _ in range(4):
        got = graphify.grad(loss)(weights, x)
        for name, gradient in want.items():
            assert isinstance(got[name], graphify.Tensor)
            np.testing.assert_allclose(got[name], gradient)
    assert len(runs) == 1
    assert graphify.grad(loss) is graphify.grad(loss)
    assert graphify.grad(loss) is not graphify.grad(loss, argnums=1)
    assert graphify.grad(loss) is not graphify.grad(loss, argnums=(0,))
    for _ in range(3):
        value, _ = graphify.value_and_grad(loss, argnums=(0, 1))(weights, x)
        np.testing.assert_allclose(value, layers(weights, x))
    assert len(runs) == 2


def test_compiled_gradients_follow_what_they_read_from_outside():
    scale = np.ones(3)
    loss = graphify.function(lambda x: np.sum(x * x * scale))
    x = np.arange(3.0)
    for factor in (1.0, 2.0, 5.0):
        scale = np.full(3, factor)
        np.testing.assert_allclose(graphify.grad(loss)(x), 2 * x * factor)


def test_compiled_transformations_nest_and_stage():
    cube = graphify.function(lambda x: np.sum(x**3))
    x, y = np.arange(3.0), np.full((2, 3), 2.0)
    for _ in range(3):
        np.testing.assert_allclose(graphify.hessian(cube)(x), np.diag(6 * x))
        np.testing.assert_allclose(graphify.jacobian(graphify.grad(cube))(x), np.diag(6 * x))
        np.testing.assert_allclose(graphify.vmap(graphify.grad(cube))(y), 3 * y**2)
        np.testing.assert_allclose(graphify.function(graphify.grad(cube))(x), 3 * x**2)
        with graphify.GradientTape() as tape:
            t = graphify.numpy.asarray(x)
            tape.watch(t)
            total = graphify.numpy.sum(graphify.grad(cube)(t))
        np.testing.assert_allclose(tape.gradient(total, t), 6 * x)
        assert float(graphify.grad(cube)(3.0)) == 27.0


def test_plain_functions_stay_plain_python():
    seen = []

    def loss(x):
        seen.append(1)
        return (x * x).sum()

    for _ in range(3):
        graphify.grad(loss)(np.ones(3))
    assert len(seen) == 3


def test_errors_of_compiled_gradients():
    vector = graphify.function(lambda x: x * 2)
    for _ in range(2):
        with pytest.raises(TypeError, match="scalar"):
            graphify.grad(vector)(np.ones(3))
        with pytest.raises(ValueError, match="argnums"):
            graphify.grad(vector, argnums=3)(np.ones(3))
        with pytest.raises(TypeError, match="float or complex|argument 0"):
            graphify.grad(vector)(np.arange(3))


def adds_in_a_loop(x, k):
    for _ in range(k):
        x[0] += 1.0
    return (x * x).sum()


def adds_in_a_branch(x, k):
    if k > 2:
        x[1:] *= 2.0
    return (x * x).sum()


@pytest.mark.parametrize("function", [adds_in_a_loop, adds_in_a_branch])
@pytest.mark.parametrize("k", [0, 1, 12])
def test_an_argument_updated_in_staged_control_flow_keeps_its_derivative(function, k):
    x = np.array([0.5, -1.0, 2.0])
    after = x.copy()
    function(after, k)
    scale = np.array([1.0, 2.0, 2.0]) if function is adds_in_a_branch and k > 2 else 1.0
    given = x.copy()
    got = graphify.grad(graphify.function(function))(given, np.asarray(k))
    np.testing.assert_allclose(got, 2 * after * scale)
    np.testing.assert_array_equal(given, after)


# --- numbers that a trace knows -------------------------------------------------------------------


def _power(x, n):
    total = x
    while n > 1:
        total = total * x
        n = n - 1
    return total


def _twice_or_square(x, n):
    if n > 2:
        return x * x
    return 2 * x


@pytest.mark.parametrize("function", [_power, _twice_or_square])
def test_a_known_number_counts_inside_staged_blocks(function):
    """It is no constant of theirs: the derivative is by what the block takes from outside."""

    def slopes(n):
        return (
            graphify.grad(function)(3.0, n),
            graphify.value_and_grad(function)(3.0, n)[1],
            graphify.vjp(lambda x: function(x, n), 3.0)[1](1.0)[0],
            graphify.jvp(lambda x: function(x, n), (3.0,), (1.0,))[1],
            graphify.jacobian(function)(np.float64(3.0), n),
            graphify.grad(function)(np.array(3.0), n),
        )

    expected = 27.0 * 4 if function is _power else 6.0
    np.testing.assert_allclose(graphify.function(slopes)(np.array(4)), [expected] * 6)
    second = graphify.function(lambda n: graphify.grad(graphify.grad(function))(3.0, n))
    assert float(second(np.array(4))) == (108.0 if function is _power else 2.0)
