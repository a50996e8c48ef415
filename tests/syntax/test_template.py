"""Templates, fresh names, origins and loading."""

import gast
import pytest

from graphify.syntax import loader, origin
from graphify.syntax.naming import Namer
from graphify.syntax.parser import parse
from graphify.syntax.printer import to_source
from graphify.syntax.template import expression, statement, statements


def text(nodes):
    return to_source(gast.Module(nodes if isinstance(nodes, list) else [nodes], []))


def test_placeholders_of_every_kind():
    body = statements("a = 1\nb = 2")
    new = statements(
        """
        def name(params):
            nonlocal names
            body
            return (names,)
        f(test, names, name)
        """,
        name="loop",
        params=["i", "total"],
        names=["p", "q"],
        body=body,
        test=expression("x > 0"),
    )
    assert text(new).splitlines() == [
        "def loop(i, total):",
        "    nonlocal p, q",
        "    a = 1",
        "    b = 2",
        "    return p, q",
        "f(x > 0, p, q, loop)",
    ]


def test_placeholders_keep_their_context():
    new = statement("target = value", target="x", value="y")
    assert isinstance(new.targets[0].ctx, gast.Store)
    assert isinstance(new.value.ctx, gast.Load)
    assert text(statement("(t,) = f((t,))", t=["a"])) == "(a,) = f((a,))"


def test_templates_are_copied():
    assert statement("x = 1") is not statement("x = 1")
    assert getattr(statement("x = 1"), "lineno", None) is None


def test_fresh_names():
    namer = Namer.of(gast.parse("def f(x):\n    import y.z as t\n    x.attr = did_break"))
    assert [namer.fresh(n) for n in ("x", "t", "attr", "did_break", "new", "new", "len")] == [
        "x_1",
        "t_1",
        "attr_1",
        "did_break_1",
        "new",
        "new_1",
        "len_1",
    ]
    assert namer.shared("body") == namer.shared("body") == "body"


def test_origins_fill_only_what_has_none():
    user = gast.parse("\n\nx + y").body[0]
    new = origin.inherit(statement("z = value", value=user.value), gast.parse("\n1").body[0])
    assert (new.lineno, new.targets[0].lineno, new.value.lineno) == (2, 2, 3)


def outer():
    free = 10

    def inner(a, b=2, *, c=3):
        """Doc."""
        return a + b + c + free

    return inner


def test_loading_keeps_everything_but_the_mark():
    inner = outer()
    parsed = parse(inner)
    own = loader.Definitions.of(parsed.node)
    code = loader.compile_function(parsed.node, parsed.filename, ["free"], inner.__qualname__, own)
    cells = dict(zip(code.co_freevars, inner.__closure__, strict=True))
    made = loader.make_function(code, inner, inner.__globals__, cells)
    assert made(1) == inner(1) == 16
    assert made(1, c=5) == 18
    assert (made.__name__, made.__qualname__, made.__doc__) == (
        "inner",
        "outer.<locals>.inner",
        "Doc.",
    )
    assert made.__code__.co_filename == __file__
    assert list(made.__code__.co_lines())[-1][2] == list(inner.__code__.co_lines())[-1][2]
    assert loader.is_marked(made) and not loader.is_marked(inner)


@pytest.mark.parametrize("marked", [True, False])
def test_lambdas_load_too(marked):
    double = lambda x, k=2: x * k  # noqa: E731
    parsed = parse(double)
    own = loader.Definitions.of(parsed.node) if marked else None
    code = loader.compile_function(parsed.node, parsed.filename, [], double.__qualname__, own)
    made = loader.make_function(code, double, {}, {})
    assert (made(4), made.__name__, loader.is_marked(made)) == (8, "<lambda>", marked)
