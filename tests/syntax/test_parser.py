"""Function objects to trees: decorators, methods, lambdas, registered text, clear refusals."""

import ast
import functools
import inspect
import json.decoder
import linecache
import textwrap

import gast
import pytest

from graphify.errors import SyntaxUnsupported
from graphify.syntax.parser import parse


def decorated(function):
    return function


@decorated
@functools.wraps(decorated)
def plain(x):
    return x + 1


class Outer:
    class _Inner:
        def method(self, a, *, b=2):
            text = """
not indented
"""
            return a, b, text


# fmt: off
several = [lambda x: (x + 1), lambda x: x + 2, lambda: (lambda y: y * 2), lambda x: 0 if (x) else 1]
broken_up = (
    lambda x,
           y: x
    - y
)
# fmt: on


def body_of(function):
    return ast.unparse(gast.gast_to_ast(parse(function).node.body))


def test_decorators_are_dropped_and_lines_kept():
    node = parse(plain).node
    assert node.decorator_list == []
    assert linecache.getline(__file__, node.lineno).startswith("def plain")
    assert node.body[0].lineno == node.lineno + 1


def test_methods_know_their_class_and_columns():
    parsed = parse(Outer._Inner.method)
    assert parsed.class_name == "_Inner"
    assert parsed.node.col_offset == 8
    assert parse(Outer._Inner().method).node.name == "method"
    assert parse(plain).class_name is None


def test_lambdas_on_one_line_are_told_apart():
    first, second, third, fourth = several
    assert body_of(first) == "x + 1"
    assert body_of(second) == "x + 2"
    assert body_of(third) == "lambda y: y * 2"
    assert body_of(third()) == "y * 2"
    assert body_of(fourth) == "0 if x else 1"
    assert body_of(broken_up) == "x - y"


def test_every_call_gives_a_fresh_tree():
    assert parse(plain).node is not parse(plain).node


def test_text_registered_with_linecache():
    source = textwrap.dedent("""
        def made(x):
            return x * 3
    """)
    linecache.cache["<cell 1>"] = (len(source), None, source.splitlines(True), "<cell 1>")
    space = {}
    exec(compile(source, "<cell 1>", "exec"), space)
    parsed = parse(space["made"])
    assert (parsed.node.name, parsed.filename, parsed.node.lineno) == ("made", "<cell 1>", 2)


def test_functions_of_the_standard_library():
    for _, function in inspect.getmembers(json.decoder, inspect.isfunction):
        assert parse(function).node.name == function.__name__


@pytest.mark.parametrize("thing", [len, str.join, 3, Outer, functools.partial(plain, 1)])
def test_what_has_no_source(thing):
    with pytest.raises(SyntaxUnsupported, match="not a Python function") as caught:
        parse(thing)
    assert caught.value.remedy


def test_source_that_is_gone_or_has_changed():
    space = {}
    exec(compile("def f(x):\n    return x", "<nowhere>", "exec"), space)
    with pytest.raises(SyntaxUnsupported, match=r"not available \(<nowhere>:1\)"):
        parse(space["f"])
    lines = ["def g(x):\n", "    return x\n"]
    linecache.cache["<nowhere>"] = (10, None, lines, "<nowhere>")
    with pytest.raises(SyntaxUnsupported, match="no longer holds it"):
        parse(space["f"])
    linecache.cache["<nowhere>"] = (10, None, ["def f(x:\n"], "<nowhere>")
    with pytest.raises(SyntaxUnsupported, match="does not parse"):
        parse(space["f"])
