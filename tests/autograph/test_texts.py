# ruff: noqa: UP031, UP032, F507  # the operator % and the method format are what is tested
"""Strings with run-time values in them: what is printed, and what is refused."""

import contextlib
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest

import graphify
from graphify.errors import ConcreteValueNeeded, TraceError
from tests.samples import texts
from tests.test_samples import VARIANTS, functions_of, program_of


@dataclass
class Point:
    x: object
    name: str = "p"


class Table(dict):
    pass


class Items(list):
    pass


class Row(tuple):
    pass


def columns(v):
    width = 9
    return f"{v:{width}.2f}|{v:<{width}}|"


def columned(template):
    return template.format


FORMS: dict[str, Callable[[object], object]] = {
    "str": lambda v: str(v),
    "repr": lambda v: repr(v),
    "f-string": lambda v: f"{v} and {v!r} and {v!s}",
    "f-string with an expression": lambda v: f"{v + 1 = }",
    "f-string of a container": lambda v: f"{[v, (v, 'a')]} { {'a': v} }",
    "text formatted": lambda v: f"{str(v):>8}|{f'{v} x':*^12}|",
    "text changed": lambda v: str(v).rjust(9) + "!".join([str(v), "a"]).upper(),
    "format": lambda v: f"{v:.3f}" + format(v, "8.2e") + f"{1:>3}",
    "nested widths": columns,
    "format of containers": lambda v: (
        "{!s:>40}|{!r:<40}|{!s:.3}".format([v], (v,), [v])
        + "{0} {0!s:^30} {1:>4}".format({"k": v}, 2)
    ),
    "format of what is inside": lambda v: "{0[0]:>9} {p.x!s:*>25} {p.name}".format([v], p=Point(v)),
    "format by a name": lambda v: columned("{:>30} {k!s:>30} {{}}")(str([v]), k=(v, "a")),
    "format of a mapping": lambda v: "{a!s:>30} {a}".format_map({"a": [v]}),
    "format of the class": lambda v: str.format("{!s:>{n}}|", [v], n=33),
    "ascii": lambda v: (
        f"{[v, 'ä']!a:>40}|{[v, 'ö']!a}|{v!a}" + ascii([v, "ü'"]) + "{!a}".format((v,))
    ),
    "methods of containers": lambda v: f"{[v].__repr__():>30}|" + (v,).__str__().rjust(30),
    "containers of other classes": lambda v: (
        f"{Table(a=v)} {Row([v])!r:>30} {[Items([v])]} {Counter({1: v})}"
        f"{ {1: v}.values() } { {1: v}.items()!s:>40} {slice(v, None)}"
        + "{} %s".format(MappingProxyType({1: v}))
        % (SimpleNamespace(a=Items([v])),)
    ),
    "percent": lambda v: "%s %r %.2f %5.1f%%" % (v, v, v, v),
    "percent of one": lambda v: "value: %s" % v,
    "percent of a dict": lambda v: "%(a)s-%(b)d" % {"a": v, "b": 3},
    "join": lambda v: ", ".join(str(item) for item in (v, 1, "a")),
    "of texts": lambda v: repr(str(v)) + str([str(v), f"{v}"]),
    "repeated": lambda v: str(v) * 2 + 2 * f"<{v}>",
    "of a dataclass": lambda v: f"{Point(v)}",
    "added": lambda v: "a" + str(v) + "b",
    "chosen by a number": lambda v: f"{v:.1f}" if v is not None else "",
}


def printed(function, *args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function(*args)
    return out.getvalue()


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", [float, int, lambda a: a[()]], ids=["float", "int", "scalar"])
def test_text(name, kind):
    def shown(a):
        made = FORMS[name](kind(a))
        print(made)
        print([made], end="")

    staged = graphify.function(shown)
    for value in (2.0, -1.0, 1e20 if kind is float else 17.0):
        assert printed(staged, np.array(value)) == printed(shown, np.array(value))


@pytest.mark.parametrize("base", [bin, oct, hex])
def test_bases(base):
    def shown(k):
        print(base(int(k)), base(k[()]))

    for value in (0, 5, -300):
        assert printed(graphify.function(shown), np.array(value)) == printed(shown, np.array(value))


def test_in_a_loop_and_a_branch():
    def shown(x):
        for i, v in enumerate(x):
            label = f"{i}: {v:.2f}"
            if v > 0:
                label += " up"
                print(label.ljust(12), end="|\n")
            elif v < 0:
                print("%-8s" % label)

    x = np.array([1.0, -2.0, 0.0, 1e-3])
    assert printed(graphify.function(shown), x) == printed(shown, x)


@pytest.mark.parametrize("held", [lambda v: Table(a=v), lambda v: Items([v]), lambda v: Row([v])])
def test_containers_of_other_classes_in_an_error_are_refused(held):
    def raises(x):
        if x > 0:
            raise ValueError(held(x))

    def asserts(x):
        assert x < 0, held(x)

    for function in (raises, asserts):
        with pytest.raises(TraceError, match="holds a (Table|Items|Row) with values"):
            graphify.function(function)(np.float64(1.0))


def test_in_an_error():
    @graphify.function
    def strict(x):
        label = f"{x.sum():.1f}".rjust(6)
        assert x.sum() < 5, "too large: " + label
        if x.sum() < 0:
            raise ValueError("negative: %.3f" % x.sum())
        return x

    with pytest.raises(AssertionError, match="too large:    6.0"):
        strict(np.array([6.0]))
    with pytest.raises(ValueError, match="negative: -1.000"):
        strict(np.array([-1.0]))


REFUSED: dict[str, Callable[[object], object]] = {
    "compared": lambda v: str(v) == "2.0",
    "looked into": lambda v: "2" in f"{v}",
    "its length": lambda v: len(f"{v}"),
    "a part": lambda v: str(v)[0],
    "a key": lambda v: {str(v): 1},
    "split": lambda v: f"{v}".split("."),
    "returned": lambda v: f"{v}",
    "read as a number": lambda v: float(f"{v}"),
    "a width of stars": lambda v: "%*d" % (4, v),
    "looked for": lambda v: f"{v}" in "1.0 2.0",
    "looked for in a list": lambda v: f"{v}" in ["2.0"],
    "found": lambda v: [f"{v}"].index("2.0"),
    "counted": lambda v: [str(v), "2.0"].count("2.0"),
    "a new key": lambda v: dict(a=1).setdefault("%s" % v, 2),
    "an item of a set": lambda v: len({f"{v}", "2.0"}),
    "sorted": lambda v: sorted([f"{v}", "2.0"])[0] == "2.0",
    "the largest": lambda v: max(f"{v}", "2.0") == "2.0",
    "in a pair": lambda v: (str(v), 1) == ("2.0", 1),
    "of one path": lambda v: (f"{v}" if v > 1 else "none") == "2.0",
    "kept in a list": lambda v: KEPT.append(f"{v}"),
    "kept by an object": lambda v: setattr(PLACE, "x", "{}".format(v)),
    "kept by a path": lambda v: setattr(PLACE, "x", f"{v}" if v > 1 else "none"),
    "kept by what is not converted": lambda v: keep(f"{v}"),
    "kept by what is given a list": lambda v: keep([f"{v}"]),
    "made and kept by what is not converted": lambda v: keep_text(v),
}

KEPT: list[object] = []
PLACE = Point(0)


@graphify.autograph.do_not_convert
def keep(value):
    KEPT.append(f"<{value}>")


@graphify.autograph.do_not_convert
def keep_text(value):
    text = str(value)
    KEPT.append(f"{text}")
    return text + ""


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(ConcreteValueNeeded, match="the text") as caught:
        graphify.function(lambda x: REFUSED[name](x[0]))(np.array([2.0]))
    assert "test_texts.py" in str(caught.value)
    assert PLACE == Point(0)


def list_on_one_path(x):
    names = ["all"]
    if x[0] > 0:
        names.append(f"x = {x[0]}")
    else:
        names.append("small")
    print(names)


def text_in_a_dict(x):
    shown = {"last": ""}
    for i, v in enumerate(x):
        if v > 0:
            shown["last"] = f"{i}: {v}"
    print(shown["last"], shown)


def number_of_another_kind(x):
    k = int(x[0])
    text = f"{k}" if k > 0 else f"{x[0]}"
    print(text.rjust(9), text + "!", "%s." % text, len("a"))


def text_of_what_was_raised(x):
    try:
        if x[0] > 0:
            raise ValueError(f"large {x[0]}")
        text = "fine"
    except ValueError as error:
        text = str(error)
    print(text)


def in_an_assertion(x):
    text = f"{x[0]:.2f}"
    longer = text if x[1] > 0 else text + "?"
    assert x[0] < 3, longer


@pytest.mark.parametrize(
    "function",
    [list_on_one_path, text_in_a_dict, number_of_another_kind, text_of_what_was_raised]
    + [in_an_assertion],
)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_texts_of_one_path(function, engine):
    staged = graphify.function(function, engine=engine)
    for x in np.array([[2.5, 1.0], [-0.5, -3.0], [1.0, 0.0], [4.0, 1.0], [5.0, -1.0]]):
        assert outcome(staged, x) == outcome(function, x)


def outcome(function, *args):
    try:
        return printed(function, *args)
    except AssertionError as error:
        return str(error).partition("\n")[0]


@pytest.mark.parametrize("template", ["%d", "%s %s", "%d %d %d"])
def test_percent_with_the_wrong_number_of_values(template):
    values = (1.0,) if template == "%s %s" else (1.0, 2.0)
    with pytest.raises(TypeError) as want:
        template % values
    with pytest.raises(TypeError, match=str(want.value)):
        graphify.function(lambda x: print("%s" % 1, template_of(template, x, values)))(np.ones(2))


def template_of(template, x, values):
    if template == "%d":
        return "%d" % (x[0], x[1])
    if template == "%s %s":
        return "%s %s" % (x[0],)
    return "%d %d %d" % (x[0], x[1])


def chosen_words(x):
    for v in x:
        label = "up" if v > 0 else "down" if v < 0 else None
        print(f"{label!s:>5}|", [label], v)


def grown(x):
    positive = [v for v in x if v > 0]
    print(positive, f"{positive}", [positive], str(positive))
    print([int(v) for v in positive])


@pytest.mark.parametrize("function", [chosen_words, grown])
def test_values_of_several_kinds_and_lists_of_any_length(function):
    staged = graphify.function(function)
    for x in (np.array([1.0, -2.0, 0.0, 1e-3]), np.array([-1.0, -2.0, -0.0, 3.0])):
        assert printed(staged, x) == printed(function, x)


@pytest.mark.parametrize("function", functions_of(texts), ids=lambda f: f.__name__)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_samples_print_the_same(function, engine):
    program, staged = program_of(function), graphify.function(function, engine=engine)
    for variant in VARIANTS:
        want = printed(function, *program.arguments(variant))
        assert printed(staged, *program.arguments(variant)) == want


@pytest.mark.parametrize("template", ["{} {}", "{a}", "{0[7]}", "{:>9}", "{0.x}", "{!q}"])
def test_a_format_that_does_not_fit_fails_in_pythons_words(template):
    def f(x):
        print(template.format([x]))
        return x

    with pytest.raises(Exception) as plain:
        f(1.5)
    with pytest.raises(type(plain.value)) as staged:
        graphify.function(f)(np.array(1.5))
    assert str(staged.value).splitlines()[0] == str(plain.value)
