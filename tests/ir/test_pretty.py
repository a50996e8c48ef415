"""The text form: stable, with the user's names and lines, and it parses back."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphify.ir.check import check
from graphify.ir.graph import Builder, Literal, constant
from graphify.ir.interpret import run
from graphify.ir.parse import ParseError, parse
from graphify.ir.pretty import to_text
from graphify.ops import core, effects, elementwise, reduction, shape
from graphify.ops.effects import Raise, Text
from tests.ir.building import assert_same, build, call, cond, loop, map_, while_


def straight_line(x, w, b):
    hidden = x @ w + b
    active = elementwise.maximum(hidden, 0.0)
    loss = reduction.reduce_sum(active * active, axes=(0, 1))
    loss = loss / 2.0
    return loss, active


def sizes(x, k):
    head = x[:k]
    positive = x[x > 0]
    both = shape.concatenate(positive, positive, axis=0)
    pairs = core.reshape(both, shape=(2, positive.dims[0]))
    return head, pairs, x.shape[0] + 1


def branches(x, flag):
    y = x * 2.0
    (z,) = cond(flag, lambda y: [elementwise.sin(y)], lambda y: [y[::-1]], y)
    return z


def loops(x, limit):
    def turn(i, total, x):
        step = reduction.reduce_sum(x, axes=(0,))
        return [i + 1, total + step]

    count, total = while_(lambda i, *_: i < 10, turn, [0, limit], x)
    last, rows = loop(3, lambda i, a, row: [a + row, row * 2.0], [limit], [x[:3]])
    (squares,) = map_(x.dims[0], lambda i, row: [row * row], [x])
    (shifted,) = call(lambda y: [y + 1.0], x)
    return count, total, last, rows, squares, shifted


def literals(x):
    table = np.array([[1.5, -0.0], [np.nan, np.inf]])
    mask = np.array([True, False])
    return (
        x * np.float32(0.1),
        x + np.float16(3),
        core.cast(x, dtype=np.dtype("f8")) * 2.5 + table,
        elementwise.where(mask, x, -x),
        core.cast(x, dtype=np.dtype("c8")) * np.complex64(1 - 2j),
        core.cast(x, dtype=np.dtype("u1")) + np.uint8(200),
    )


def effectful(x):
    effects.print_(x, text=Text(("x is", None)), end="\n", stream="stdout")
    effects.assert_(x > 0, exception=Raise(ValueError, ("x must be positive",)))
    return x


CASES = {
    "straight_line": (straight_line, {"x": "f64[n,3]", "w": "f64[3,4]", "b": "f64[4]"}),
    "sizes": (sizes, {"x": "f64[n]", "k": "i64[]"}),
    "branches": (branches, {"x": "f64[n]", "flag": "bool[]"}),
    "loops": (loops, {"x": "f64[n]", "limit": "f64[]"}),
    "literals": (literals, {"x": "f32[2]"}),
    "effectful": (effectful, {"x": "f64[2]"}),
}


def graph_of(name):
    function, params = CASES[name]
    return build(function, name, **params)


@pytest.mark.parametrize("name", CASES)
def test_golden_text(name, golden):
    golden(f"graphs/{name}.txt", to_text(graph_of(name)))


@pytest.mark.parametrize("name", [name for name in CASES if name != "effectful"])
def test_text_parses_back(name):
    graph = graph_of(name)
    text = to_text(graph, full=True)
    read = parse(text)
    assert to_text(read, full=True) == text
    check(read)


def test_a_parsed_graph_runs_as_the_original_does(rng):
    graph = graph_of("loops")
    inputs = [rng.normal(size=5), np.asarray(0.5)]
    assert_same(run(parse(to_text(graph)), inputs), run(graph, inputs))


def test_the_text_is_the_same_in_every_process():
    program = (
        "from tests.ir.test_pretty import *\nfor name in CASES: print(to_text(graph_of(name)))"
    )
    root = Path(__file__).parents[2]
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_values_are_called_what_the_user_calls_them():
    text = to_text(graph_of("straight_line"))
    assert "  loss: f64[] = reduce_sum(" in text
    assert "  loss_1: f64[] = divide(loss, 2.0)" in text
    assert "# test_pretty.py:" in text


def test_large_constants_are_elided_and_said_to_be_so():
    graph = build(lambda x: x + np.arange(20.0), x="f64[20]")
    text = to_text(graph)
    assert "constant(<#" in text
    with pytest.raises(ParseError, match="elided.*\n.*full=True"):
        parse(text)
    read = parse(to_text(graph, full=True))
    assert_same(run(read, [np.ones(20)]), run(graph, [np.ones(20)]))


def test_two_different_large_constants_have_different_hashes():
    one = to_text(build(lambda x: x + np.arange(20.0), x="f64[20]"))
    two = to_text(build(lambda x: x + np.arange(1, 21.0), x="f64[20]"))
    assert one.replace("test_pretty", "") != two


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "u8", "?"])
def test_every_bit_of_a_literal_comes_back(dtype, rng):
    array = rng.normal(size=20).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        array[:4] = [-0.0, np.nan, np.inf, -np.inf]
    for value in (array, array[0], array.reshape(4, 5), np.zeros((0, 2), dtype)):
        builder = Builder()
        (result,) = builder.add(constant, (), {"value": Literal(np.asarray(value))})
        graph = builder.finish([result])
        (read,) = run(parse(to_text(graph, full=True)), [])
        assert_same([read], [value])


def test_names_of_containers_become_identifiers():
    builder = Builder(name="<lambda>")
    spec = build(lambda x: x, x="f64[3]").params[0].spec
    values = [builder.param(spec, "state['w'][0]"), builder.param(spec, "nan"), builder.param(spec)]
    text = to_text(builder.finish(values))
    assert text.startswith("graph '<lambda>'(state_w_0: f64[3], nan_1: f64[3], %0: f64[3])")
    assert to_text(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph g(x: f64[2]) {\n  return y\n}", "line 2: expected the name of a value.*'y'"),
        ("graph g(x: f64[2]) {\n  y: f64[2] = sinn(x)\n  return y\n}", "unknown op 'sinn'"),
        ("graph g(x: f65[2]) {\n  return x\n}", "expected a dtype, got 'f65'"),
        ("graph g(x: f64[2]) {\n  return x\n} }", "expected the end of the text"),
        ("graph g(x: f64[2], x: f64[2]) {\n  return x\n}", "x is defined twice"),
        ("graph g(x: f64[2]) {\n  y: f64[2] = sin(x) ;", "unexpected character ';'"),
        ("graph g(x: f64[2]) {\n  y: f64[2] = sin(x", "got 'the end of the text'"),
    ],
)
def test_bad_text_is_refused_with_its_line(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text)


def test_objects_without_text_cannot_be_read():
    with pytest.raises(ParseError, match="no text form"):
        parse(to_text(graph_of("effectful")))


def test_sizes_print_in_the_order_of_the_text():
    graph = build(lambda x, y: shape.concatenate(y, x, axis=0), x="f64[n]", y="f64[m]")
    assert "f64[n+m] = concatenate(y, x, axis=0)" in to_text(graph)


def test_deep_nesting_needs_no_recursion():
    def nested(x, depth):
        for _ in range(depth):
            inner = body[-1]
            body.append(build(lambda x, g=inner: control_call(x, g), x="f64[]"))
        return body[-1]

    from graphify.ops.control import call as call_op

    def control_call(x, graph):
        return list(call_op(x, body=graph))

    body = [build(lambda x: x + 1.0, x="f64[]")]
    graph = nested(None, 1500)
    text = to_text(graph)
    assert text.count("call(x)") == 1500
    check(graph)
    assert to_text(parse(text)) == text
