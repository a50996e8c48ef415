"""Loop-level programs as machine code give what an interpreter of them gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphify.engines.native.loops.pretty import text
from graphify.engines.native.loops.program import (
    BOOL,
    INDEX,
    ONE,
    ZERO,
    Allocate,
    Apply,
    Buffer,
    Call,
    Const,
    Expr,
    Fail,
    For,
    Free,
    Handle,
    If,
    Let,
    Literal,
    Load,
    Param,
    Point,
    Program,
    Reduce,
    Result,
    Set,
    Store,
    Swap,
    Temporary,
    Var,
    View,
    While,
    compare,
    index,
    minus,
    plus,
    select,
    times,
)
from graphify.engines.native.target import describe
from graphify.engines.native.translate import translate
from graphify.ir.types import DTYPES, bfloat16
from tests.engines.native.programs import Compiled, Failure, interpret

F32, F64, I32 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32)
RNG = np.random.default_rng(7)


# --- writing programs -----------------------------------------------------------------------------


def ap(op: str, *args: Expr, dtype: Any = None) -> Apply:
    return Apply(op, args, np.dtype(dtype) if dtype is not None else args[0].dtype)


def num(value: Any, dtype: Any = F32) -> Const:
    return Const(value, np.dtype(dtype))


def param(name: str, dtype: Any, rank: int, position: int = 0, strided: bool = False) -> Buffer:
    shape = tuple(Var(f"{name}{a}", INDEX) for a in range(rank))
    strides = tuple(Var(f"{name}_s{a}", INDEX) for a in range(rank)) if strided else None
    return Buffer(name, np.dtype(dtype), shape, Param(position), strides)


def result(dtype: Any, shape: tuple[Expr, ...], position: int = 0) -> Buffer:
    return Buffer(f"out{position}", np.dtype(dtype), shape, Result(position))


def program(params: Any, results: Any, *body: Any, sizes: Any = ()) -> Program:
    dims = tuple(b.shape for b in results)
    return Program("test", tuple(params), tuple(results), tuple(sizes), dims, tuple(body))


def data(dtype: Any, *shape: int) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype == BOOL:
        return RNG.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return RNG.integers(0, 100, shape).astype(dtype)
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape)).astype(dtype) if dtype.kind == "c" else x.astype(dtype)


def check(
    p: Program, *arrays: np.ndarray, compiled: Compiled | None = None, rtol: float = 0
) -> Any:
    got, meant = (compiled or Compiled(p))(*arrays), interpret(p, arrays)
    for a, b in zip(got, meant, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        if rtol:
            wide = np.complex128 if a.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(a, b)
    return got


i, j, k = (Var(name, INDEX) for name in "ijk")


# --- one loop -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["serial", "vector", "parallel"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_copy_of_every_dtype_and_layout(dtype: Any, kind: str) -> None:
    x = param("x", dtype, 1, strided=True)
    y = result(dtype, x.shape)
    compiled = Compiled(
        program([x], [y], For(i, x.shape[0], (Store(y, (i,), Load(x, (i,))),), kind))
    )
    whole = data(dtype, 300)
    for view in (whole[:0], whole[:1], whole[:77], whole[::-1], whole[5:150:2], whole[200:10:-3]):
        check(compiled.program, view, compiled=compiled)
    check(compiled.program, np.broadcast_to(whole[3], (37,)), compiled=compiled)


@pytest.mark.parametrize("dtype", [F32, F64, I32, np.int8, bfloat16, np.complex64, BOOL], ids=str)
def test_every_length_of_the_masked_rest(dtype: Any) -> None:
    """Nothing is written, and nothing read, outside."""
    x = param("x", dtype, 1)
    y = result(dtype, x.shape)
    op = "logical_or" if dtype == BOOL else "add"
    body = Store(y, (i,), ap(op, Load(x, (i,)), Load(x, (i,))))
    compiled = Compiled(program([x], [y], For(i, x.shape[0], (body,), "vector")))
    for n in range(140):
        check(compiled.program, data(dtype, n), compiled=compiled)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 16, 17, 64, 65, 200])
def test_lengths_known_beforehand(n: int) -> None:
    x = Buffer("x", F32, (index(n),), Param(0))
    y, s = result(F32, x.shape), result(F32, (), 1)
    total = Var("total", F32, True)
    body = (
        Store(y, (i,), ap("multiply", Load(x, (i,)), num(3))),
        Reduce(total, "add", Load(x, (i,))),
    )
    p = program(
        [x], [y, s], Let(total, num(0)), For(i, index(n), body, "vector"), Store(s, (), total)
    )
    check(p, data(F32, n), rtol=1e-5)


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["serial", "vector"])
@pytest.mark.parametrize("order", ["ij", "ji"])
def test_two_axes_of_any_strides(order: str, kind: str) -> None:
    x = param("x", F32, 2, strided=True)
    y = result(F32, x.shape)
    first, second = (i, j) if order == "ij" else (j, i)
    extents = {i: x.shape[0], j: x.shape[1]}
    body = Store(y, (i, j), ap("multiply", Load(x, (i, j)), num(2)))
    inner = For(second, extents[second], (body,), kind)
    compiled = Compiled(program([x], [y], For(first, extents[first], (inner,))))
    whole = data(F32, 40, 50)
    for view in (
        whole,
        whole.T,
        whole[::-1],
        whole[:, ::-2],
        whole[3:5, 1:],
        whole[:0],
        whole[:, :0],
    ):
        check(compiled.program, view, compiled=compiled)


@pytest.mark.parametrize("kind", ["serial", "vector"])
@pytest.mark.parametrize(
    "place",
    [
        lambda n: plus(i, ONE),
        lambda n: minus(minus(n, ONE), i),
        lambda n: times(i, index(2)),
        lambda n: Apply("floor_divide", (i, index(3)), INDEX),
        lambda n: Apply("remainder", (i, index(5)), INDEX),
        lambda n: Apply("remainder", (plus(times(i, index(3)), ONE), n), INDEX),
        lambda n: select(compare("less", i, index(4)), i, ZERO),
        lambda n: minus(i, i),
        lambda n: Apply("multiply", (i, i), INDEX),
    ],
)
def test_indices_of_every_form(place: Any, kind: str) -> None:
    x, z = param("x", F32, 1), param("z", F32, 1, 1)
    y = result(F32, z.shape)
    at = place(z.shape[0])
    body = Store(y, (i,), Load(x, (at,)))
    compiled = Compiled(program([x, z], [y], For(i, z.shape[0], (body,), kind)))
    for n in (1, 7, 16, 40):
        check(compiled.program, data(F32, n * n + n + 1), data(F32, n), compiled=compiled)


@pytest.mark.parametrize("kind", ["serial", "vector"])
def test_gather_and_scatter(kind: str) -> None:
    x, at = param("x", F64, 1), param("at", INDEX, 1, 1)
    y, back = result(F64, at.shape), result(F64, x.shape, 1)
    p = program(
        [x, at],
        [y, back],
        For(i, at.shape[0], (Store(y, (i,), Load(x, (Load(at, (i,)),))),), kind),
        For(i, at.shape[0], (Store(back, (Load(at, (i,)),), Load(x, (i,))),), kind),
    )
    for n in (1, 9, 50):
        check(p, data(F64, n), RNG.permutation(n))


def test_views_that_move_with_the_loop() -> None:
    x = param("x", F32, 2)
    n, m = x.shape
    y = result(F32, (n, m))
    row = Buffer("row", F32, (m,), View(x, times(i, m)))
    last = Buffer("last", F32, (m,), View(row, minus(m, ONE)), (index(-1),))
    p = program(
        [x],
        [y],
        For(i, n, (For(j, m, (Store(y, (i, j), Load(last, (j,))),), "vector"),)),
    )
    for shape in ((3, 5), (2, 40), (4, 0)):
        check(p, data(F32, *shape))
    # The view itself may follow the vector variable, too.
    column = Buffer("column", F32, (n,), View(x, j), (m,))
    p = program(
        [x], [y], For(i, n, (For(j, m, (Store(y, (i, j), Load(column, (i,))),), "vector"),))
    )
    check(p, data(F32, 5, 33))


def test_constant_data() -> None:
    table = np.arange(100, dtype=np.int16)[::-1].copy()
    x = Buffer("table", np.dtype(np.int16), (index(100),), Literal(table))
    y = result(np.int16, (index(100),))
    p = program([], [y], For(i, index(100), (Store(y, (i,), Load(x, (i,))),), "vector"))
    check(p)


# --- guards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["serial", "vector"])
@pytest.mark.parametrize("dtype", [F32, BOOL, np.complex128], ids=str)
def test_a_where_on_the_index_guards_loads(dtype: Any, kind: str) -> None:
    """Outside the condition the address may be anything: here, one far off the map."""
    x, z = param("x", dtype, 1), param("z", dtype, 1, 1)
    n, m = x.shape[0], z.shape[0]
    far = index(1 << 50)
    y = result(dtype, (plus(n, m),))
    inside = compare("less", i, n)
    value = select(
        inside,
        Load(x, (select(inside, i, far),)),
        Load(z, (select(inside, far, minus(i, n)),)),
    )
    compiled = Compiled(program([x, z], [y], For(i, plus(n, m), (Store(y, (i,), value),), kind)))
    for a, b in ((0, 5), (5, 0), (16, 16), (3, 90), (90, 3)):
        check(compiled.program, data(dtype, a), data(dtype, b), compiled=compiled)


@pytest.mark.parametrize("kind", ["serial", "vector"])
def test_padding_of_two_axes(kind: str) -> None:
    x = param("x", F32, 2)
    n, m = x.shape
    y = result(F32, (plus(n, index(2)), plus(m, index(2))))
    a, b = minus(i, ONE), minus(j, ONE)
    tests = [compare("less_equal", ZERO, a), compare("less", a, n)]
    tests += [compare("less_equal", ZERO, b), compare("less", b, m)]
    inside = tests[0]
    for t in tests[1:]:
        inside = ap("logical_and", inside, t)
    named = Var("inside", BOOL)
    body = (Let(named, inside), Store(y, (i, j), select(named, Load(x, (a, b)), num(-1))))
    p = program([x], [y], For(i, y.shape[0], (For(j, y.shape[1], body, kind),)))
    compiled = Compiled(p)
    for shape in ((1, 1), (2, 30), (0, 4), (17, 17)):
        check(p, data(F32, *shape), compiled=compiled)


@pytest.mark.parametrize("kind", ["serial", "vector"])
def test_conditions_on_data(kind: str) -> None:
    x = param("x", F32, 1)
    y = result(F32, x.shape)
    t = Var("t", F32)
    value = select(compare("greater", t, num(0)), Load(x, (i,)), ap("negative", t))
    body = (Let(t, Load(x, (i,))), Store(y, (i,), value))
    check(program([x], [y], For(i, x.shape[0], body, kind)), data(F32, 100))


# --- variables ------------------------------------------------------------------------------------


def test_what_does_not_change_in_the_loop() -> None:
    x, a = param("x", F32, 1), param("a", F32, 0, 1)
    y = result(F32, x.shape)
    m = Var("m", F32, True)
    scaled = ap("multiply", ap("sqrt", Load(a, ())), m)
    body = Store(y, (i,), ap("add", Load(x, (i,)), scaled))
    p = program([x, a], [y], Let(m, num(2)), Set(m, num(5)), For(i, x.shape[0], (body,), "vector"))
    check(p, data(F32, 50), np.array(4, F32), rtol=1e-6)
    check(p, data(F32, 0), np.array(4, F32))


@pytest.mark.parametrize("kind", ["serial", "vector"])
def test_indices_as_values_and_variables_of_a_turn(kind: str) -> None:
    x = param("x", F32, 1)
    y = result(F32, x.shape)
    own, place = Var("own", F32, True), Var("place", INDEX)
    body = (
        Let(place, plus(i, ZERO)),
        Let(own, Apply("cast", (times(place, index(3)),), F32)),
        Set(own, ap("add", own, Load(x, (place,)))),
        Store(y, (place,), own),
    )
    check(program([x], [y], For(i, x.shape[0], body, kind)), data(F32, 100))


def test_a_variable_of_the_outer_loop_changes() -> None:
    """Addresses that depend on it are computed anew."""
    x = param("x", F32, 2)
    n, m = x.shape
    y = result(F32, (n,))
    at, total = Var("at", INDEX, True), Var("total", F32, True)
    row = Buffer("row", F32, (m,), View(x, times(at, m)))
    p = program(
        [x],
        [y],
        Let(at, minus(n, ONE)),
        For(
            i,
            n,
            (
                Let(total, num(0)),
                For(j, m, (Reduce(total, "add", Load(row, (j,))),), "vector"),
                Store(y, (i,), total),
                Set(at, minus(at, ONE)),
            ),
        ),
    )
    check(p, data(F32, 5, 70), rtol=1e-5)


def test_while_with_carried_scalars() -> None:
    """Collatz."""
    x = param("x", INDEX, 1)
    y = result(INDEX, x.shape)
    n, steps = Var("n", INDEX, True), Var("steps", INDEX, True)
    odd = Apply("bitwise_and", (n, ONE), INDEX)
    turn = (
        If(
            compare("equal", odd, ONE),
            (Set(n, plus(times(n, index(3)), ONE)),),
            (Set(n, Apply("right_shift", (n, ONE), INDEX)),),
        ),
        Set(steps, plus(steps, ONE)),
    )
    going = Var("going", BOOL)
    body = (
        Let(n, Load(x, (i,))),
        Let(steps, ZERO),
        While((Let(going, compare("greater", n, ONE)),), going, turn),
        Store(y, (i,), steps),
    )
    check(program([x], [y], For(i, x.shape[0], body)), np.arange(1, 200))


# --- branches and loops in lanes ------------------------------------------------------------------


LENGTHS = (0, 1, 5, 16, 33)


def lanes_check(p: Program, *makers: Any, rtol: float = 0) -> Compiled:
    compiled = Compiled(p)
    assert "masked" in compiled.text
    for n in LENGTHS:
        check(p, *(make(n) for make in makers), compiled=compiled, rtol=rtol)
    return compiled


def test_branches_in_lanes() -> None:
    """Variables, stores and loads under conditions that differ from lane to lane, and do not."""
    x, flag = param("x", F32, 1), param("flag", BOOL, 0, 1)
    n = x.shape[0]
    y = result(F32, (n,))
    v, t, u = Var("v", F32, True), Var("t", F32), Var("u", F32)
    far = index(1 << 50)
    positive = compare("greater", t, num(0))
    body = (
        Let(t, Load(x, (i,))),
        Let(v, num(1)),
        If(
            positive,
            (
                Let(u, Load(x, (select(compare("less", i, n), i, far),))),
                Set(v, ap("multiply", u, num(2))),
                If(compare("greater", u, num(1)), (Set(v, num(7)),), (Store(y, (i,), num(9)),)),
            ),
            (Set(v, ap("negative", t)),),
        ),
        If(Load(flag, ()), (Store(y, (i,), v),), (If(positive, (Store(y, (i,), v),)),)),
        # Not reached: the address is far off.
        If(compare("less", i, ZERO), (Store(y, (far,), Load(x, (far,))),)),
    )
    p = program([x, flag], [y], For(i, n, body, "vector"))
    for on in (True, False):
        lanes_check(p, lambda n: data(F32, n), lambda n, on=on: np.array(on))


def test_inner_loops_in_lanes() -> None:
    """Sums over the first axis, with the second one in the lanes; a product of matrices."""
    a, b = param("a", F32, 2), param("b", F32, 2, 1)
    n, m, q = a.shape[0], a.shape[1], b.shape[1]
    y = result(F32, (n, q))
    total = Var("total", F32, True)
    product = ap("multiply", Load(a, (i, k)), Load(b, (k, j)))
    body = (
        Let(total, num(0)),
        For(k, m, (Reduce(total, "add", product),)),
        Store(y, (i, j), total),
    )
    p = program([a, b], [y], For(i, n, (For(j, q, body, "vector"),)))
    compiled = Compiled(p)
    for shape in ((3, 4, 5), (2, 0, 7), (5, 40, 33), (1, 1, 1)):
        check(p, data(F32, *shape[:2]), data(F32, *shape[1:]), compiled=compiled, rtol=1e-5)


def test_reductions_out_of_inner_loops() -> None:
    x = param("x", F64, 2)
    n, m = x.shape
    y, z = result(F64, ()), result(F64, (), 1)
    total, largest = Var("total", F64, True), Var("largest", F64, True)
    inner = (
        If(
            compare("greater", Load(x, (k, j)), num(0, F64)),
            (Reduce(total, "add", Load(x, (k, j))), Reduce(largest, "maximum", Load(x, (k, j)))),
        ),
    )
    p = program(
        [x],
        [y, z],
        Let(total, num(0, F64)),
        Let(largest, num(-np.inf, F64)),
        For(j, m, (For(k, n, inner),), "vector"),
        Store(y, (), total),
        Store(z, (), largest),
    )
    compiled = Compiled(p)
    for shape in ((3, 4), (0, 3), (3, 0), (50, 37)):
        check(p, data(F64, *shape), compiled=compiled, rtol=1e-13)


def test_stores_in_inner_loops_are_seen() -> None:
    """A prefix sum down the columns: what is loaded was stored in the turn before."""
    x = param("x", I32, 2)
    n, m = x.shape
    y = result(I32, (n, m))
    first = For(j, m, (Store(y, (ZERO, j), Load(x, (ZERO, j))),), "vector")
    below = plus(k, ONE)
    value = ap("add", Load(y, (k, j)), Load(x, (below, j)))
    rest = For(k, minus(n, ONE), (Store(y, (below, j), value),))
    p = program([x], [y], first, For(j, m, (rest,), "vector"))
    for shape in ((1, 3), (9, 4), (5, 40)):
        check(p, data(I32, *shape))


def mandelbrot() -> Program:
    """Escape times."""
    c = param("c", np.complex64, 1)
    y = result(I32, c.shape)
    zr, zi, new = Var("zr", F32, True), Var("zi", F32, True), Var("new", F32)
    count, cr, ci = Var("count", I32, True), Var("cr", F32), Var("ci", F32)
    r2, i2 = Var("r2", F32), Var("i2", F32)
    test = (Let(r2, ap("multiply", zr, zr)), Let(i2, ap("multiply", zi, zi)))
    inside = ap(
        "logical_and",
        compare("less_equal", ap("add", r2, i2), num(4)),
        compare("less", count, num(50, I32)),
    )
    turn = (
        Let(new, ap("add", ap("subtract", r2, i2), cr)),
        Set(zi, ap("add", ap("multiply", ap("multiply", num(2), zr), zi), ci)),
        Set(zr, new),
        Set(count, ap("add", count, num(1, I32))),
    )
    body = (
        Let(cr, ap("real", Load(c, (i,)), dtype=F32)),
        Let(ci, ap("imag", Load(c, (i,)), dtype=F32)),
        Let(zr, num(0)),
        Let(zi, num(0)),
        Let(count, num(0, I32)),
        While(test, inside, turn),
        Store(y, (i,), count),
    )
    return program([c], [y], For(i, c.shape[0], body, "vector"))


def test_while_in_lanes() -> None:
    lanes_check(mandelbrot(), lambda n: data(np.complex64, n))


def test_steps_that_only_the_run_knows() -> None:
    x, z = param("x", F32, 1, strided=True), param("z", F32, 1, 1, strided=True)
    y = result(F32, x.shape)
    half = Var("half", F32)
    body = (
        Let(half, ap("multiply", Load(z, (ZERO,)), num(0.5))),
        Store(y, (i,), ap("add", Load(x, (i,)), ap("add", Load(z, (i,)), half))),
    )
    compiled = Compiled(program([x, z], [y], For(i, x.shape[0], body, "vector")))
    assert "gather" in compiled.text and "load <16 x float>" in compiled.text
    for n in (1, 50, 200):
        a, b = data(F32, 2 * n), data(F32, 3 * n)
        for one in (a[:n], a[::2], a[:n][::-1]):
            for other in (b[:n], b[::3]):
                check(compiled.program, one, other, compiled=compiled)


# --- reductions -----------------------------------------------------------------------------------


def reduction(op: str, dtype: Any, start: Any, kind: str = "vector") -> Program:
    x = param("x", dtype, 1)
    y = result(dtype, ())
    total = Var("total", np.dtype(dtype), True)
    loop = For(i, x.shape[0], (Reduce(total, op, Load(x, (i,))),), kind)
    return program([x], [y], Let(total, num(start, dtype)), loop, Store(y, (), total))


@pytest.mark.parametrize(
    "op, dtype, start",
    [
        ("add", np.int8, 3),
        ("add", I32, 0),
        ("multiply", np.uint16, 1),
        ("multiply", F64, 1.0),
        ("maximum", F32, -np.inf),
        ("minimum", np.int16, 1000),
        ("fmax", F64, np.nan),
        ("bitwise_and", np.uint8, 255),
        ("bitwise_or", INDEX, 0),
        ("bitwise_xor", I32, 0),
        ("logical_and", BOOL, True),
        ("logical_or", BOOL, False),
    ],
)
def test_reductions(op: str, dtype: Any, start: Any) -> None:
    compiled = Compiled(reduction(op, dtype, start))
    for n in (0, 1, 5, 16, 64, 100, 1000):
        check(
            compiled.program,
            data(dtype, n),
            compiled=compiled,
            rtol=1e-9 if op == "multiply" else 0,
        )


@pytest.mark.parametrize("op", ["maximum", "minimum"])
@pytest.mark.parametrize("n", [3, 40, 500])
def test_nan_wins(op: str, n: int) -> None:
    compiled = Compiled(reduction(op, F32, 0.0))
    for place in (0, n // 2, n - 1):
        x = data(F32, n)
        x[place] = np.nan
        assert np.isnan(compiled(x)[0])


@pytest.mark.parametrize("kind", ["vector", "serial"])
@pytest.mark.parametrize(
    "dtype", [np.float16, bfloat16, F32, F64, np.complex64, np.complex128], ids=str
)
@pytest.mark.parametrize("n", [0, 1, 37, 5000, 100_003])
def test_sums_are_at_least_as_good_as_numpys(dtype: Any, n: int, kind: str) -> None:
    x = data(dtype, n)
    if np.dtype(dtype).kind == "c":
        exact = np.sum(x.astype(np.clongdouble))
    else:
        x = (abs(x) / 4).astype(dtype)
        exact = np.sum(x.astype(np.longdouble))
    (got,) = Compiled(reduction("add", dtype, 0.0, kind))(x)
    size = np.abs(x).astype(np.float64).sum()
    unit = {2: 2.0**-11, 4: 2.0**-24, 8: 2.0**-53}[np.zeros(1, dtype).real.dtype.itemsize]
    unit = 2.0**-8 if dtype == bfloat16 else unit
    assert abs(complex(got) - complex(exact)) <= 3 * unit * max(size, 1e-300)


def test_sums_of_special_values() -> None:
    compiled = Compiled(reduction("add", F64, -0.0))
    assert compiled(np.full(100, np.inf))[0] == np.inf
    assert np.isnan(compiled(np.array([np.inf, 1, -np.inf]))[0])
    assert np.isnan(compiled(np.array([np.nan] * 40))[0])
    assert np.signbit(compiled(np.full(70, -0.0))[0])
    huge = np.full(10, 1e308)
    assert compiled(huge)[0] == np.inf


# --- failures and memory --------------------------------------------------------------------------


def test_failures_carry_values() -> None:
    x = param("x", I32, 1)
    y = result(I32, x.shape)
    bad = compare("less", Load(x, (i,)), num(0, I32))
    half = Apply("cast", (Load(x, (i,)),), F64)
    body = (Fail(bad, 3, (i, Load(x, (i,)), half)), Store(y, (i,), Load(x, (i,))))
    compiled = Compiled(program([x], [y], For(i, x.shape[0], body)))
    compiled(np.arange(10, dtype=np.int32))
    with pytest.raises(Failure) as caught:
        compiled(np.array([1, 2, -7, 4, -9], np.int32))
    assert caught.value.site == 3
    assert caught.value.words[:2] == [2, -7]
    assert np.array(caught.value.words[2]).view(np.float64) == -7.0


def test_sizes_are_checked_before_the_run() -> None:
    x, z = param("x", F32, 1), param("z", F32, 1, 1)
    n, m = x.shape[0], z.shape[0]
    y = result(F32, (n,))
    p = program(
        [x, z],
        [y],
        For(i, n, (Store(y, (i,), Load(z, (i,))),)),
        sizes=[Fail(compare("not_equal", n, m), 1, (n, m))],
    )
    compiled = Compiled(p)
    check(p, data(F32, 4), data(F32, 4), compiled=compiled)
    with pytest.raises(Failure) as caught:
        compiled(data(F32, 4), data(F32, 6))
    assert (caught.value.site, caught.value.words[:2]) == (1, [4, 6])


def test_blocks_are_freed_on_every_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    live = Blocks()
    x = param("x", F32, 1)
    n = x.shape[0]
    y = result(F32, (n,))
    t, u = (Buffer(name, F32, (n,), Temporary()) for name in "tu")
    p = program(
        [x],
        [y],
        Allocate(t),
        For(i, n, (Store(t, (i,), Load(x, (i,))),), "vector"),
        For(
            j,
            index(2),
            (
                Allocate(u),
                For(i, n, (Store(u, (i,), Load(t, (i,))),), "vector"),
                Fail(compare("greater", Load(u, (ZERO,)), num(5)), 1),
                Free(u),
            ),
        ),
        Free(t),
        For(i, n, (Store(y, (i,), Load(x, (i,))),), "vector"),
    )
    compiled = Compiled(p, **live.symbols)
    compiled(np.ones(50, F32))
    assert live.made == 3 and not live.blocks
    with pytest.raises(Failure):
        compiled(np.full(50, 9, F32))
    assert live.made == 5 and not live.blocks


class Blocks:
    """An allocator that remembers what it gave out."""

    def __init__(self) -> None:
        import ctypes

        self.blocks: dict[int, Any] = {}
        self.made = 0
        allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(self.allocate)
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.free)
        self.keep = allocate, free
        self.symbols = {
            "graphify_allocate": ctypes.cast(allocate, ctypes.c_void_p).value or 0,
            "graphify_free": ctypes.cast(free, ctypes.c_void_p).value or 0,
        }

    def allocate(self, size: int) -> int:
        block = np.zeros(size + 64, np.uint8)
        address = -(-block.ctypes.data // 64) * 64
        self.blocks[address] = block
        self.made += 1
        return int(address)

    def free(self, address: int | None) -> None:
        if address:
            del self.blocks[address]


def test_no_memory_is_a_status() -> None:
    """The one after those of the sites."""
    import ctypes

    x = param("x", F32, 1)
    y, t = result(F32, x.shape), Buffer("t", F32, x.shape, Temporary())
    body = For(i, x.shape[0], (Store(t, (i,), Load(x, (i,))),), "vector")
    last = For(i, x.shape[0], (Store(y, (i,), Load(t, (i,))),), "vector")
    nothing = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(lambda size: 0)
    address = ctypes.cast(nothing, ctypes.c_void_p).value or 0
    compiled = Compiled(
        program([x], [y], Allocate(t), body, last, Free(t)), graphify_allocate=address
    )
    with pytest.raises(Failure) as caught:
        compiled(data(F32, 5))
    assert caught.value.site == 1


def test_small_temporaries_lie_on_the_stack() -> None:
    live = Blocks()
    t = Buffer("t", F32, (index(30),), Temporary())
    y = result(F32, (index(30),))
    p = program(
        [],
        [y],
        Allocate(t),
        For(i, index(30), (Store(t, (i,), Apply("cast", (i,), F32)),), "vector"),
        For(i, index(30), (Store(y, (i,), Load(t, (minus(index(29), i),))),), "vector"),
        Free(t),
    )
    check(p, compiled=Compiled(p, **live.symbols))
    assert live.made == 0


def test_handles_are_aimed_and_swapped() -> None:
    x = param("x", F32, 1)
    n = x.shape[0]
    y = result(F32, (n,))
    a, b = (Buffer(name, F32, (n,), Handle()) for name in "ab")
    live = Blocks()
    p = program(
        [x],
        [y],
        Allocate(a),
        Allocate(b),
        For(i, n, (Store(a, (i,), Load(x, (i,))),), "vector"),
        For(
            j,
            index(5),
            (
                For(i, n, (Store(b, (i,), ap("add", Load(a, (i,)), num(1))),), "vector"),
                Swap(a, b),
            ),
        ),
        For(i, n, (Store(y, (i,), Load(a, (i,))),), "vector"),
        Free(a),
        Free(b),
    )
    compiled = Compiled(p, **live.symbols)
    check(p, data(F32, 40), compiled=compiled)
    assert live.made == 2 and not live.blocks
    p = program(
        [x],
        [y],
        Point(a, x),
        For(i, n, (Store(y, (i,), Load(a, (i,))),), "vector"),
    )
    check(p, data(F32, 40))


def test_results_of_unknown_shape() -> None:
    x = param("x", F32, 1)
    count = Var("count", INDEX, True)
    y = Buffer("y", F32, (count,), Result(0))
    keep = compare("greater", Load(x, (i,)), num(0))
    at = Var("at", INDEX, True)
    body = (
        Let(count, ZERO),
        For(i, x.shape[0], (If(keep, (Set(count, plus(count, ONE)),)),)),
        Allocate(y),
        Let(at, ZERO),
        For(
            i,
            x.shape[0],
            (
                If(
                    keep,
                    (
                        Store(y, (at,), Load(x, (i,))),
                        Set(at, plus(at, ONE)),
                    ),
                ),
            ),
        ),
    )
    p = Program("positive", (x,), (y,), (), (None,), body)
    compiled = Compiled(p)
    for n in (0, 3, 200):
        check(p, data(F32, n), compiled=compiled)


# --- threads --------------------------------------------------------------------------------------


def tiled(op: str, dtype: Any, start: Any) -> Program:
    """Blocks of a long loop, each with a sum of its own."""
    x = param("x", dtype, 1)
    n, dtype = x.shape[0], np.dtype(dtype)
    y, total, part = result(dtype, ()), Var("total", dtype, True), Var("part", dtype, True)
    start_of, rest = times(i, index(1000)), Var("rest", INDEX)
    body = (
        Let(part, num(start, dtype)),
        Let(rest, Apply("minimum", (minus(n, start_of), index(1000)), INDEX)),
        For(j, rest, (Reduce(part, op, Load(x, (plus(start_of, j),))),), "vector"),
        Reduce(total, op, part),
    )
    blocks = Apply("floor_divide", (plus(n, index(999)), index(1000)), INDEX)
    return program(
        [x],
        [y],
        Let(total, num(start, dtype)),
        For(i, blocks, body, "parallel"),
        Store(y, (), total),
    )


@pytest.mark.parametrize(
    "op, dtype, start",
    [
        ("add", F32, 0.0),
        ("add", F64, 0.0),
        ("add", np.complex64, 0.0),
        ("add", INDEX, 0),
        ("maximum", np.int16, -3),
        ("bitwise_xor", np.uint8, 0),
        ("multiply", I32, 1),
    ],
)
def test_parallel_reductions(op: str, dtype: Any, start: Any) -> None:
    p = tiled(op, dtype, start)
    compiled = Compiled(p)
    assert "graphify_parallel" in compiled.text
    for n in (0, 1, 999, 1000, 1001, 70_001):
        x = data(dtype, n)
        (got,) = compiled(x)
        if op == "add":
            exact = np.sum(x.astype(np.clongdouble)) + start
            size = abs(x).astype(np.float64).sum()
            assert abs(complex(got) - complex(exact)) <= 4e-7 * size
        else:
            assert got == getattr(np, op).reduce(x, initial=start, dtype=dtype)
        assert compiled(x)[0].tobytes() == got.tobytes()


def test_parallel_turns_and_their_memory() -> None:
    x = param("x", F32, 2)
    n, m = x.shape
    y = result(F32, (n, m))
    row = Buffer("row", F32, (m,), Temporary())
    body = (
        Allocate(row),
        For(j, m, (Store(row, (j,), ap("multiply", Load(x, (i, j)), num(3))),), "vector"),
        For(j, m, (Store(y, (i, j), Load(row, (minus(minus(m, ONE), j),))),), "vector"),
        Free(row),
    )
    compiled = Compiled(program([x], [y], For(i, n, body, "parallel")))
    for shape in ((0, 4), (1, 0), (5, 7), (60, 300)):
        check(compiled.program, data(F32, *shape), compiled=compiled)


def test_the_first_failure_wins() -> None:
    x = param("x", F32, 2)
    n, m = x.shape
    y = result(F32, (n,))
    row, total = Buffer("row", F32, (m,), Temporary()), Var("total", F32, True)
    live = Blocks()
    body = (
        Allocate(row),
        Let(total, num(0)),
        For(j, m, (Store(row, (j,), Load(x, (i, j))),), "vector"),
        For(j, m, (Reduce(total, "add", Load(row, (j,))),), "vector"),
        Fail(compare("less", total, num(0)), 2, (i,)),
        Store(y, (i,), total),
        Free(row),
    )
    compiled = Compiled(program([x], [y], For(i, n, body, "parallel")))
    for shape in ((4, 3), (500, 1000)):
        x_ = np.ones(shape, F32)
        compiled(x_)
        for first in (0, shape[0] // 2, shape[0] - 1):
            x_[first:, 0] = -1e6
            for _ in range(5):
                with pytest.raises(Failure) as caught:
                    compiled(x_)
                assert caught.value.site == 2 and caught.value.words[0] == first
            x_[:] = 1
    assert not live.blocks


# --- size -----------------------------------------------------------------------------------------


def test_long_programs_are_cut_into_functions() -> None:
    """Straight-line scalars, arrays, failures and frees across the cuts."""
    x = param("x", F64, 1)
    n = x.shape[0]
    y, z = result(F64, (n,)), result(F64, (), 1)
    total, last = Var("total", F64, True), Load(x, (ZERO,))
    body: list[Any] = [Let(total, num(0, F64))]
    t = Buffer("t", F64, (n,), Temporary())
    body += [Allocate(t), For(i, n, (Store(t, (i,), Load(x, (i,))),), "vector")]
    chain: Expr = last
    for step in range(4000):
        var = Var(f"v{step}", F64)
        body.append(Let(var, ap("add", chain, num(step % 7, F64))))
        chain = var
        if step % 100 == 0:
            body.append(Set(total, ap("add", total, var)))
            loop = (Store(t, (i,), ap("add", Load(t, (i,)), var)),)
            body.append(For(i, n, loop, "vector"))
            body.append(Fail(compare("greater", var, num(1e9, F64)), step + 1))
    body += [For(i, n, (Store(y, (i,), Load(t, (i,))),), "vector"), Free(t), Store(z, (), total)]
    p = program([x], [y, z], *body)
    compiled = Compiled(p)
    assert compiled.text.count("define internal i32 @part") > 3
    check(p, data(F64, 20), compiled=compiled, rtol=1e-12)
    with pytest.raises(Failure):
        compiled(np.full(5, 2e9))


def test_compile_time_is_linear() -> None:
    import time

    def seconds(count: int) -> float:
        x = param("x", F32, 1)
        body: list[Any] = []
        source = x
        outs = []
        for step in range(count):
            t = Buffer(f"t{step}", F32, x.shape, Temporary())
            value = ap("add", Load(source, (i,)), num(step))
            body += [Allocate(t), For(i, x.shape[0], (Store(t, (i,), value),), "vector")]
            if step:
                body.append(Free(source))
            source = t
        y = result(F32, x.shape)
        body += [For(i, x.shape[0], (Store(y, (i,), Load(source, (i,))),), "vector"), Free(source)]
        began = time.perf_counter()
        from graphify.config import config

        with config(cache=False) if hasattr(config, "cache") else config():
            Compiled(program([x], [y], *body))
        del outs
        return time.perf_counter() - began

    small, large = seconds(100), seconds(800)
    assert large < 16 * small


# --- calls ----------------------------------------------------------------------------------------


def test_products_with_epilogues() -> None:
    a, b, bias = param("a", F32, 2), param("b", F32, 2, 1), param("bias", F32, 1, 2)
    n, m, p_ = a.shape[0], a.shape[1], b.shape[1]
    y = result(F32, (n, p_))
    value = ap("maximum", ap("add", Load(y, (i, j)), Load(bias, (j,))), num(0))
    body = (Store(y, (i, j), value),)
    compiled = Compiled(
        program([a, b, bias], [y], Call("matmul", (y,), (a, b), turn=(i, j), body=body))
    )
    for shape in ((3, 4, 5), (1, 1, 1), (40, 30, 50), (300, 200, 310), (0, 2, 3), (2, 0, 3)):
        x, z, v = data(F32, shape[0], shape[1]), data(F32, *shape[1:]), data(F32, shape[2])
        np.testing.assert_allclose(
            compiled(x, z, v)[0], np.maximum(x @ z + v, 0), rtol=1e-3, atol=1e-3
        )
    assert m is not None


def test_stacks_of_products() -> None:
    a, b = param("a", I32, 3, strided=True), param("b", I32, 2, 1)
    y = result(I32, (a.shape[0], a.shape[1], b.shape[1]))
    n, m = b.shape
    spread = Buffer("spread", I32, (a.shape[0], n, m), View(b, ZERO), (ZERO, m, ONE))
    compiled = Compiled(program([a, b], [y], Call("matmul", (y,), (a, spread))))
    x, z = data(I32, 4, 7, 6), data(I32, 6, 9)
    np.testing.assert_array_equal(compiled(x, z)[0], x @ z)
    x = data(I32, 6, 7, 4).T
    np.testing.assert_array_equal(compiled(x, z)[0], x @ z)


@pytest.mark.parametrize("strided", [False, True])
def test_copies(strided: bool) -> None:
    x = param("x", F64, 2, strided=strided)
    y = result(F64, x.shape)
    compiled = Compiled(program([x], [y], Call("copy", (y,), (x,))))
    for shape in ((0, 3), (4, 5), (30, 70)):
        whole = data(F64, *shape)
        np.testing.assert_array_equal(compiled(whole)[0], whole)
        if strided:
            np.testing.assert_array_equal(compiled(whole.T)[0], whole.T)


def test_python_is_called() -> None:
    """Arrays and scalars in; an array of known and one of unknown shape, and a scalar, out."""
    import ctypes

    from graphify.engines.native.entry.host import HostSite
    from graphify.ir.types import Spec

    def function(args: list[np.ndarray]) -> list[np.ndarray]:
        array, number = args
        if number < 0:
            raise ValueError("negative")
        return [array * 2, array[array > number], np.asarray(array.size, INDEX)]

    f1 = Spec((1,), F32)
    site = HostSite(function, [f1, Spec((), F32)], [f1, f1, Spec((), INDEX)])
    table = (ctypes.c_int64 * 1)(site.number)
    x, limit = param("x", F32, 1), param("limit", F32, 0, 1)
    y = result(F32, x.shape)
    count, length = Var("count", INDEX, True), Var("length", INDEX, True)
    found = Buffer("found", F32, (length,), Handle())
    out = Buffer("out", F32, (length,), Result(1))
    size = result(INDEX, (), 2)
    body = (
        Let(count, ZERO),
        Let(length, ZERO),
        Call("host", (y, found), (x,), (Load(limit, ()),), (count,), {"number": 0}),
        Allocate(out),
        For(i, length, (Store(out, (i,), Load(found, (i,))),), "vector"),
        Free(found),
        Store(size, (), count),
    )
    p = Program("h", (x, limit), (y, out, size), (), (x.shape, None, ()), body, hosts=(1,))
    compiled = Compiled(p, graphify_hosts=ctypes.addressof(table))
    v = data(F32, 50)
    got = compiled(v, np.array(0.5, F32))
    for one, other in zip(got, (v * 2, v[v > 0.5], 50), strict=True):
        np.testing.assert_array_equal(one, other)


# --- text -----------------------------------------------------------------------------------------


def softmax() -> Program:
    x = param("x", F32, 2)
    n, m = x.shape
    y = result(F32, (n, m))
    largest, total, e = Var("largest", F32, True), Var("total", F32, True), Var("e", F32)
    row = (
        Let(largest, num(-np.inf)),
        For(j, m, (Reduce(largest, "maximum", Load(x, (i, j))),), "vector"),
        Let(total, num(0)),
        For(
            j,
            m,
            (
                Let(e, ap("exp", ap("subtract", Load(x, (i, j)), largest))),
                Store(y, (i, j), e),
                Reduce(total, "add", e),
            ),
            "vector",
        ),
        For(j, m, (Store(y, (i, j), ap("divide", Load(y, (i, j)), total)),), "vector"),
    )
    return program([x], [y], For(i, n, row, "parallel"))


def lu() -> Program:
    """Without pivots; a zero pivot is a failure."""
    x = param("x", F64, 2)
    n, m = x.shape
    y = result(F64, (n, n))
    pivot, factor = Var("pivot", F64), Var("factor", F64)
    row, column = plus(plus(k, i), ONE), plus(plus(k, j), ONE)
    rest = minus(minus(n, k), ONE)
    inner = Store(
        y,
        (row, column),
        ap("subtract", Load(y, (row, column)), ap("multiply", factor, Load(y, (k, column)))),
    )
    step = (
        Let(pivot, Load(y, (k, k))),
        Fail(compare("equal", pivot, num(0, F64)), 1, (k,)),
        For(
            i,
            rest,
            (
                Let(factor, ap("divide", Load(y, (row, k)), pivot)),
                Store(y, (row, k), factor),
                For(j, rest, (inner,), "vector"),
            ),
        ),
    )
    assert m is not None
    return program([x], [y], Call("copy", (y,), (x,)), For(k, n, step))


def dense() -> Program:
    a, b, bias = param("a", F32, 2), param("b", F32, 2, 1), param("bias", F32, 1, 2)
    y = result(F32, (a.shape[0], b.shape[1]))
    value = ap("maximum", ap("add", Load(y, (i, j)), Load(bias, (j,))), num(0))
    body = (Store(y, (i, j), value),)
    return program([a, b, bias], [y], Call("matmul", (y,), (a, b), turn=(i, j), body=body))


def test_softmax_and_lu_are_right() -> None:
    compiled = Compiled(softmax())
    for shape in ((3, 5), (100, 257), (0, 4), (4, 0)):
        x = data(F32, *shape)
        e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
        np.testing.assert_allclose(compiled(x)[0], e / e.sum(1, keepdims=True), rtol=2e-6)
    for opt in ("light", "none"):
        compiled = Compiled(lu(), opt=opt)
        x = data(F64, 40, 40) + 20 * np.eye(40)
        (y,) = compiled(x)
        np.testing.assert_allclose(
            (np.tril(y, -1) + np.eye(40)) @ np.triu(y), x, rtol=1e-10, atol=1e-10
        )
        x[0, 0] = 0
        with pytest.raises(Failure) as caught:
            compiled(x)
        assert caught.value.words[0] == 0


@pytest.mark.parametrize("name", ["softmax", "lu", "dense"])
def test_golden_text(name: str, golden: Any) -> None:
    """The loops, and the functions made of them for a machine with AVX-512."""
    features = "+avx2,+fma,+avx512f,+avx512vl,+avx512bw,+avx512dq"
    machine = describe("x86_64-unknown-linux-gnu", "znver5", features)
    p: Program = {"softmax": softmax, "lu": lu, "dense": dense}[name]()
    golden(f"native/{name}.loops.txt", text(p))
    functions = translate(p, machine).functions.values()
    own = [f for f in functions if not f.name.startswith(("maths", "element", "shapes"))]
    golden(f"native/{name}.ll", "\n\n".join("\n".join(f.lines()) for f in own))
