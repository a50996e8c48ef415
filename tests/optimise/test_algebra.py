"""Rules alone: which nodes are left, and the same numbers to the bit, NaN, inf and -0.0 too."""

import numpy as np
import pytest

from graphify.ir.check import check
from graphify.ir.interpret import run
from graphify.ir.match import P, Rules, Var, rewrite
from graphify.ir.pretty import to_text
from graphify.ir.tensor import Tensor
from graphify.ops import core, elementwise, keys, linalg, shape
from graphify.optimise.algebra import RULES, algebra
from graphify.optimise.prune import prune
from graphify.optimise.report import Report
from tests.ir.building import SPECIAL, assert_same, build, symbolic

f8, f4, i8, i4, u1, b1 = (np.dtype(d) for d in ("f8", "f4", "i8", "i4", "u1", "?"))


def const(value, dtype=f8):
    return symbolic(np.asarray(value, dtype))


def simplified(graph):
    """The graph after algebra and pruning, checked, and what it says it did."""
    report = Report()
    result = prune(algebra(graph, report), report)
    check(result)
    return result


def ops_of(graph):
    return [node.op.name for node in graph.nodes if node.op.name != "constant"]


def inputs_for(graph, n=5):
    """Arrays for the parameters, special floats among them."""
    rng = np.random.default_rng(7)
    arrays = []
    for value in graph.params:
        dims = tuple(d if isinstance(d, int) else n for d in value.spec.shape)
        dtype = value.spec.dtype
        if dtype.kind == "f":
            arrays.append(rng.choice(np.array([*SPECIAL, 3.7, -2.5, 1e30], dtype), dims))
        elif dtype.kind == "c":
            parts = rng.choice(np.array(SPECIAL), (2, *dims))
            array = np.empty(dims, dtype)
            array.real, array.imag = parts
            arrays.append(array)
        elif dtype.kind == "b":
            arrays.append(rng.random(dims) < 0.5)
        else:
            low = 0 if dtype.kind == "u" else -9
            arrays.append(np.asarray(rng.integers(low, 9, dims), dtype))
    return arrays


FLOAT, INT, BOOL = {"x": "f64[n]"}, {"x": "i64[n]"}, {"x": "bool[n]"}
PLANE = {"x": "f64[4,3]"}

# (function, parameters, ops that are left)
GONE = {
    "x + 0": (lambda x: x + const(0, i8), INT, []),
    "0 + x": (lambda x: const(0, i8) + x, INT, []),
    "x + -0.0": (lambda x: x + const(-0.0), FLOAT, []),
    "x - 0.0": (lambda x: x - const(0.0), FLOAT, []),
    "x - zeros": (lambda x: x - const(np.zeros(1)), FLOAT, []),
    "x - x": (lambda x: x - x, INT, ["broadcast_to"]),
    "x * 1.0": (lambda x: x * const(1.0), FLOAT, []),
    "x * 0": (lambda x: x * const(0, i8), INT, ["broadcast_to"]),
    "x / 1.0": (lambda x: x / const(1.0), FLOAT, []),
    "x // 1": (lambda x: x // const(1, i8), INT, []),
    "x ** 1": (lambda x: x ** const(1, i8), INT, []),
    "x ** 2": (lambda x: x ** const(2, i8), INT, ["multiply"]),
    "x ** 3": (lambda x: x ** const(3, i8), INT, ["multiply", "multiply"]),
    "x ** 2.0": (lambda x: elementwise.power(x, const(2.0)), FLOAT, ["multiply"]),
    "-(-x)": (lambda x: elementwise.negative(-x), FLOAT, []),
    "+x": (lambda x: +x, FLOAT, []),
    "abs(abs(x))": (lambda x: abs(abs(x)), FLOAT, ["absolute"]),
    "abs(-x)": (lambda x: abs(-x), FLOAT, ["absolute"]),
    "conj(x)": (lambda x: elementwise.conjugate(x), FLOAT, []),
    "real(x)": (lambda x: elementwise.real(x), FLOAT, []),
    "max(x, x)": (lambda x: elementwise.maximum(x, x), FLOAT, []),
    "not not x": (lambda x: elementwise.logical_not(elementwise.logical_not(x)), BOOL, []),
    "x and True": (lambda x: elementwise.logical_and(x, const(True, b1)), BOOL, []),
    "x and False": (lambda x: elementwise.logical_and(x, const(False, b1)), BOOL, ["broadcast_to"]),
    "x | 0": (lambda x: x | const(0, i8), INT, []),
    "~~x": (lambda x: ~~x, INT, []),
    "x == x": (lambda x: elementwise.equal(x, x), INT, ["broadcast_to"]),
    "not x == 1.0": (
        lambda x: elementwise.logical_not(elementwise.equal(x, const(1.0))),
        FLOAT,
        ["not_equal"],
    ),
    "not x < 1": (
        lambda x: elementwise.logical_not(elementwise.less(x, const(1, i8))),
        INT,
        ["greater_equal"],
    ),
    "where(True)": (lambda x: elementwise.where(const(True, b1), x, -x), FLOAT, []),
    "where(False)": (lambda x: elementwise.where(const(False, b1), x, -x), FLOAT, ["negative"]),
    "where(c, x, x)": (lambda x: elementwise.where(x > const(0.0), x, x), FLOAT, []),
    "where(not c)": (
        lambda x: elementwise.where(elementwise.logical_not(x > const(0.0)), x, const(1.0)),
        FLOAT,
        ["greater", "where"],
    ),
    "cast to itself": (lambda x: core.cast(x, dtype=f8), FLOAT, []),
    "f4 to f8 to f4": (lambda x: core.cast(core.cast(x, dtype=f8), dtype=f4), {"x": "f32[n]"}, []),
    "i4 to i8 to f8": (
        lambda x: core.cast(core.cast(x, dtype=i8), dtype=f8),
        {"x": "i32[n]"},
        ["cast"],
    ),
    "u1 to i8 to i4": (
        lambda x: core.cast(core.cast(x, dtype=i8), dtype=i4),
        {"x": "u8[n]"},
        ["cast"],
    ),
    "transpose twice": (
        lambda x: shape.transpose(shape.transpose(x, axes=(1, 0)), axes=(1, 0)),
        PLANE,
        [],
    ),
    "reshape twice": (
        lambda x: core.reshape(core.reshape(x, shape=(2, 6)), shape=(12,)),
        PLANE,
        ["reshape"],
    ),
    "reshape there and back": (
        lambda x: core.reshape(core.reshape(x, shape=(12,)), shape=(4, 3)),
        PLANE,
        [],
    ),
    "broadcast twice": (
        lambda x: core.broadcast_to(core.broadcast_to(x, shape=(3, 4)), shape=(2, 3, 4)),
        {"x": "f64[4]"},
        ["broadcast_to"],
    ),
    "add a broadcast": (
        lambda x, y: x + core.broadcast_to(y, shape=x.dims),
        {"x": "f64[n,3]", "y": "f64[3]"},
        ["add"],
    ),
    "add two broadcasts": (
        lambda x: core.broadcast_to(x, shape=(2, 3)) + core.broadcast_to(-x, shape=(2, 3)),
        {"x": "f64[3]"},
        ["broadcast_to", "negative", "add"],
    ),
    "x[:]": (lambda x: x[:], FLOAT, []),
    "x[1:][1:]": (lambda x: x[1:][1:], {"x": "f64[9]"}, ["slice"]),
    "x[::-1][::-1]": (lambda x: x[::-1][::-1], {"x": "f64[9]"}, []),
    "x[2:, None][1, 0]": (lambda x: x[2:, None][1, 0], PLANE, ["slice"]),
    "x[1][2]": (lambda x: x[1][2], PLANE, ["slice"]),
    "flip twice": (lambda x: shape.flip(shape.flip(x, axes=(0,)), axes=(0,)), FLOAT, []),
    "concatenate one": (lambda x: shape.concatenate(x, axis=0), FLOAT, []),
}


def test_names_of_rules_say_what_is_tried():
    assert len(RULES) > 90


@pytest.mark.parametrize("name", GONE)
def test_rule(name):
    function, params, left = GONE[name]
    graph = build(function, **params)
    after = simplified(graph)
    assert ops_of(after) == left, to_text(after)
    assert after.specs == graph.specs
    inputs = inputs_for(graph)
    assert_same(run(after, inputs), run(graph, inputs))


# What must stay as it is: each would change an answer, or lose a check.
KEPT = {
    "x + 0.0 makes 0.0 of -0.0": (lambda x: x + const(0.0), FLOAT),
    "x - -0.0 makes 0.0 of -0.0": (lambda x: x - const(-0.0), FLOAT),
    "x * 0.0 is NaN for inf": (lambda x: x * const(0.0), FLOAT),
    "x - x is NaN for inf": (lambda x: x - x, FLOAT),
    "x / x is NaN for 0": (lambda x: x / x, FLOAT),
    "x == x is False for NaN": (lambda x: elementwise.equal(x, x), FLOAT),
    "x <= x is False for NaN": (lambda x: elementwise.less_equal(x, x), FLOAT),
    "not x < 1.0 is True for NaN": (
        lambda x: elementwise.logical_not(elementwise.less(x, const(1.0))),
        FLOAT,
    ),
    "x ** 2.0 with an array of twos calls pow": (
        lambda x: elementwise.power(x, const([2.0, 2.0, 2.0])),
        {"x": "f64[3]"},
    ),
    "x ** 0.5 is not sqrt for -inf": (lambda x: elementwise.power(x, const(0.5)), FLOAT),
    "complex x * 1.0 is NaN for inf": (lambda x: x * const(1.0, "c16"), {"x": "c128[n]"}),
    "i8 to f8 to i8 loses bits": (lambda x: core.cast(core.cast(x, dtype=f8), dtype=i8), INT),
    "f8 to i4 to f8 truncates": (lambda x: core.cast(core.cast(x, dtype=i4), dtype=f8), FLOAT),
    "f8 to f4 to f8 rounds": (lambda x: core.cast(core.cast(x, dtype=f4), dtype=f8), FLOAT),
    "a negative zero sum": (lambda x: core.sum_to(x, shape=x.dims), FLOAT),
    "max(x, y) and max(y, x)": (
        lambda x: elementwise.maximum(x, const(-0.0)) + elementwise.maximum(const(-0.0), x),
        FLOAT,
    ),
}


def as_size(x):
    return shape.size_value(size=x.dims[0])


@pytest.mark.parametrize("name", KEPT)
def test_what_would_change_an_answer_stays(name):
    function, params = KEPT[name]
    graph = build(function, **params)
    before = ops_of(graph)
    after = simplified(graph)
    assert ops_of(after) == before, to_text(after)
    inputs = inputs_for(graph)
    with np.errstate(all="ignore"):
        assert_same(run(after, inputs), run(graph, inputs))


def test_a_python_number_does_not_become_an_array():
    graph = build(lambda x: core.cast(as_size(x), dtype=i8), x="f64[n]")
    assert ops_of(simplified(graph)) == ["size_value", "cast"]


def test_checks_of_unknown_sizes_are_kept():
    """x of 5 elements times three zeros is an error in NumPy, not three zeros."""
    graph = build(lambda x: x * const(np.zeros(3), i8), x="i64[n]")
    after = simplified(graph)
    assert ops_of(after) == ["multiply"]
    with pytest.raises(ValueError, match="broadcast"):
        run(after, [np.arange(5)])


def test_a_broadcast_of_a_broadcast_keeps_its_check():
    def filled(x, y):
        return core.broadcast_to(core.broadcast_to(const(2.0), shape=x.dims), shape=y.dims)

    graph = simplified(build(filled, x="f64[n]", y="f64[m]"))
    with pytest.raises(ValueError, match="broadcast"):
        run(graph, [np.zeros(4), np.zeros(5)])
    rows = build(
        lambda x, y: core.broadcast_to(
            core.broadcast_to(x, shape=(3, *x.dims)), shape=(3, *y.dims)
        ),
        x="f64[n]",
        y="f64[m]",
    )
    assert ops_of(simplified(rows)).count("broadcast_to") == 1


def test_reshape_to_an_unknown_size_keeps_its_check():
    def function(x, y):
        return core.reshape(core.reshape(x, shape=(y.dims[0], 2)), shape=(y.dims[0] * 2,))

    graph = build(function, x="f64[m]", y="f64[n]")
    after = simplified(graph)
    for m, n in ((6, 3), (4, 3)):
        for each in (graph, after):
            if m == 2 * n:
                run(each, [np.ones(m), np.ones(n)])
            else:
                with pytest.raises(ValueError, match="reshape"):
                    run(each, [np.ones(m), np.ones(n)])


@pytest.mark.parametrize("exponent", [1.0, 2.0])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_powers_are_the_same_to_the_bit(exponent, dtype, rng):
    """The assumption behind the rule, on this machine's NumPy."""
    x = rng.normal(size=4000).astype(dtype) * np.asarray(100, dtype)
    x[:6] = [-0.0, np.nan, np.inf, -np.inf, 1e-5, 60000.0]
    power = np.asarray(exponent, dtype)
    with np.errstate(all="ignore"):
        want = x * x if exponent == 2 else x
        assert_same([np.power(x, power)], [want])
        assert_same([np.power(x.reshape(4, -1).T[::2], power)], [want.reshape(4, -1).T[::2]])
        assert_same([np.power(x[0], power)], [np.asarray(want[0])])


# --- slices and updates --------------------------------------------------------------------


def test_what_was_stored_is_read_back():
    def function(x, v):
        keys.setitem(x, 1, v)
        return x[1], x

    graph = build(lambda x, v: function(core.copy(x), v), x="f64[4,3]", v="f64[3]")
    after = simplified(graph)
    assert after.results[0] == after.params[1]
    inputs = inputs_for(graph)
    assert_same(run(after, inputs), run(graph, inputs))


def test_an_index_that_may_be_out_of_range_still_fails():
    def function(x, v):
        y = core.copy(x)
        keys.setitem(y, 4, v)
        return y[4]

    graph = build(function, x="f64[n]", v="f64[]")
    after = simplified(graph)
    assert_same(run(after, [np.arange(5.0), np.asarray(9.0)]), [np.asarray(9.0)])
    with pytest.raises(IndexError):
        run(after, [np.arange(4.0), np.asarray(9.0)])


def test_an_update_of_everything_is_the_new_value():
    def function(x, v):
        y = core.copy(x)
        keys.setitem(y, slice(None), v)
        return y

    after = simplified(build(function, x="f64[4]", v="f64[4]"))
    assert after.results == (after.params[1],)


def test_an_update_that_is_overwritten_is_dropped():
    def function(x, v):
        y = core.copy(x)
        keys.setitem(y, 0, v)
        keys.setitem(y, 0, v + 1.0)
        return y

    graph = build(function, x="f64[4]", v="f64[]")
    after = simplified(graph)
    assert ops_of(after).count("slice_update") == 1
    inputs = inputs_for(graph)
    assert_same(run(after, inputs), run(graph, inputs))


def test_slices_of_unknown_sizes_compose():
    graph = build(lambda x: x[2:][1:], x="f64[n]")
    after = simplified(graph)
    assert ops_of(after) == ["slice"]
    for n in range(6):
        x = np.arange(float(n))
        assert_same(run(after, [x]), [x[2:][1:]])


@pytest.mark.parametrize("seed", range(30))
def test_random_slices_of_slices(seed):
    rng = np.random.default_rng(seed)

    def bound():
        return [None, *range(-7, 8)][rng.integers(16)]

    def key():
        step = [1, 2, -1, -3, 1][rng.integers(5)]
        return slice(bound(), bound(), step)

    keys = [(key(), key()), (key(), None, key())]

    graph = build(lambda x: x[keys[0]][keys[1]], x="f64[6,5]")
    x = np.arange(30.0).reshape(6, 5)
    assert_same(run(simplified(graph), [x]), [x[keys[0]][keys[1]]])


# --- the driver ---------------------------------------------------------------------------------


def test_rules_are_told_by_user_line():
    report = Report()
    algebra(build(lambda x: elementwise.negative(-x), x="f64[n]"), report)
    assert "test_algebra.py" in str(report)
    assert "negative(negative(x))" in str(report)


def test_nothing_to_do_gives_the_same_graph():
    graph = build(lambda x: elementwise.sin(x) @ x, x="f64[3]")
    assert linalg.matmul.name in ops_of(graph)
    assert algebra(graph, Report()) is graph


def test_a_rule_that_would_change_the_spec_does_not_apply():
    x = Var("x")
    rules = Rules([(P.sin(x), lambda x: core.cast(x, dtype=f4))])
    graph = build(lambda x: elementwise.sin(x), x="f64[3]")
    assert rewrite(graph, rules).specs == graph.specs
    assert ops_of(rewrite(graph, rules)) == ["sin"]


def test_tables_add_up_and_bad_rules_are_refused():
    x = Var("x")
    one, two = Rules([(P.sin(x), lambda x: x)]), Rules([(P.cos(x), lambda x: x)])
    assert len(one + two) == 2
    with pytest.raises(Exception, match="no variable 'y'"):
        Rules([(P.sin(x), lambda y: y)])
    with pytest.raises(Exception, match="no op 'sine'"):
        Rules([(P.sine(x), lambda x: x)])


def test_sources_stay_with_what_replaces_a_node():
    graph = build(lambda x: x ** const(2, i8), x="i64[n]")
    after = simplified(graph)
    (node,) = after.nodes
    assert node.op.name == "multiply"
    assert str(node.source) == str(graph.nodes[-1].source)


def test_rules_see_tensors():
    seen = []
    rules = Rules([(P.sin(Var("x")), lambda x, out: seen.append((type(x), out.dtype)))])
    rewrite(build(lambda x: elementwise.sin(x), x="f64[3]"), rules)
    assert seen == [(Tensor, f8)]
