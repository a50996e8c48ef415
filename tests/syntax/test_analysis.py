"""Activity, liveness and definitions, read off small functions."""

import gast
import pytest

from graphify.syntax.analysis.activity import header_names, names_of, scope_of
from graphify.syntax.analysis.definitions import Definitions
from graphify.syntax.analysis.liveness import Liveness


def function(source):
    return gast.parse("def f(x):\n" + "".join(f"    {s}\n" for s in source.splitlines())).body[0]


def statement_at(node, line):
    """The outermost statement on a line; line 2 is the first of the body."""
    return next(n for n in gast.walk(node) if isinstance(n, gast.stmt) and n.lineno == line)


ACTIVITY = {
    "a = b": ("b", "a"),
    "a += b": ("ab", "a"),
    "a[i] = v": ("aiv", ""),
    "a.b = c": ("ac", ""),
    "a, (b, *c) = d": ("d", "abc"),
    "a: int = b": ("b", "a"),
    "a: int": ("", ""),
    "del a": ("a", ""),
    "for a in b: c = a": ("ab", "ac"),
    "with a as b: pass": ("a", "b"),
    "import a.b, c as d": ("", "ad"),
    "from a import b as c": ("", "c"),
    "x = [a for a in b if c]": ("bc", "x"),
    "x = [(d := a) for a in a]": ("a", "dx"),
    "f = lambda a=b: a + c": ("bc", "f"),
    "def g(a=b) -> c:\n    d = a + e": ("bce", "g"),
    "class A(b):\n    c = d": ("bd", "A"),
    "try: pass\nexcept a as b: pass": ("a", "b"),
    "match a:\n    case {'k': b, **c}: pass\n    case [*d]: pass": ("a", "bcd"),
    "(a := b) > c": ("bc", "a"),
}


@pytest.mark.parametrize("source", ACTIVITY)
def test_names_of(source):
    names = names_of(gast.parse(source).body)
    reads, writes = ACTIVITY[source]
    assert ("".join(sorted(names.reads)), "".join(names.writes)) == (
        "".join(sorted(reads)),
        writes,
    )


def test_header_names_leave_the_blocks_out():
    names = header_names(gast.parse("with a as b:\n    c = d").body[0])
    assert (names.reads, list(names.writes)) == ({"a"}, ["b"])


def test_scope():
    node = function("""y = x
def g():
    nonlocal y
    global h
    y = z + h
    h = 1
k = lambda: x
return [i for i in w]""")
    scope = scope_of(node)
    assert scope.locals == {"x", "y", "g", "k"}
    assert scope.free == {"z", "w"}
    assert scope.captured == {"x", "y", "z"}
    assert scope.remote == {"y"}
    assert scope_of(node.body[1]).nonlocals == {"y"}


def test_generator_expressions_capture_but_lists_do_not():
    assert names_of(gast.parse("g = (a for _ in b)").body).captures == {"a"}
    assert names_of(gast.parse("g = [a for _ in b]").body).captures == set()


LIVE = {  # source: {line: names live before it}
    "y = x\nreturn y": {2: "x", 3: "y"},
    "y = 1\nif x:\n    y = 2\nreturn y": {3: "xy", 4: ""},
    "y = z = 0\nwhile x:\n    z = y\n    y = x\nreturn z": {3: "xyz", 4: "xy", 5: "xz", 6: "z"},
    "for i in x:\n    if i:\n        break\nelse:\n    i = 0\nreturn i": {3: "i", 4: "i"},
    "y = 0\ntry:\n    y = 1\n    y = x\nexcept E:\n    return y\nreturn 2": {4: "xyE", 5: "xyE"},
    "y = 0\nwith x:\n    y = 1\n    x()\nreturn y": {4: "xy", 5: "xy"},
    "y = x\ndef g():\n    return y\nreturn g": {3: "y", 5: "g"},
    "match x:\n    case [a]:\n        return a\nreturn y": {2: "xy", 4: "a"},
    "try:\n    return x\nfinally:\n    z": {3: "xz"},
}


@pytest.mark.parametrize("source", LIVE)
def test_liveness(source):
    node = function(source)
    live = Liveness(node)
    for line, names in LIVE[source].items():
        assert live.before(statement_at(node, line)) == set(names), line


def test_liveness_at_the_head_of_a_loop():
    node = function("s = t = 0\nfor i in x:\n    t = i\n    s += t\nreturn s")
    live = Liveness(node)
    loop = node.body[1]
    assert live.head(loop) == {"s"}
    assert live.after(loop) == {"s"}


BOUND = {  # source: {line: names certainly bound before it}
    "if x:\n    y = 1\nelse:\n    y = 2\nreturn y": {6: "xy"},
    "if x:\n    y = 1\nelse:\n    return 0\nreturn y": {6: "xy"},
    "if x:\n    y = 1\nreturn y": {4: "x"},
    "for i in x:\n    y = 1\nreturn y": {3: "xi", 4: "x"},
    "while True:\n    y = 1\n    if y: break\nreturn y": {3: "x", 5: "xy"},
    "while x:\n    del x\nreturn x": {3: "", 4: ""},
    "try:\n    y = 1\n    z = 1\nexcept E as e:\n    y = 2\nreturn y": {6: "xe", 7: "xy"},
    "try:\n    y = 1\nfinally:\n    z = 1\nreturn y": {5: "x", 6: "xyz"},
    "with x as y:\n    z = 1\nreturn z": {3: "xy", 4: "xy"},
    "match x:\n    case 1:\n        y = 1\n    case z:\n        y = 2\nreturn y": {7: "xy"},
    "match x:\n    case 1:\n        y = 1\nreturn y": {5: "x"},
    "y = 1\ndel y\nreturn y": {4: "x"},
}


@pytest.mark.parametrize("source", BOUND)
def test_definitions(source):
    node = function(source)
    definitions = Definitions(node)
    for line, names in BOUND[source].items():
        assert definitions.bound_before(statement_at(node, line)) == set(names), line


def test_what_cannot_be_reached_has_no_definitions():
    node = function("return x\ny = 1")
    assert Definitions(node).bound_before(node.body[1]) is None
