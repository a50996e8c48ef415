"""Functions whose text is in no file: exec, a REPL, a notebook; lambdas by their columns."""

import code
import linecache

import numpy as np
import pytest

import graphify
from graphify.errors import SyntaxUnsupported

TEXT = """
import numpy as np

def helper(x, s):
    return x * s if s > 0 else x


class Model:
    def __init__(self, rate):
        self.rate = rate

    def apply(self, x):
        for i in range(len(x)):
            if x[i] > 1:
                x[i] = x[i] * self.rate
        return x


def f(x, s):
    y = helper(x, s)
    while y.sum() > 10:
        y = y / 2
    return y


def g(x, s):
    return Model(2.0).apply(x.copy()) + f(x, s)


def countdown(n):
    return n if n <= 0 else countdown(n - 3)


def rows(x):
    def each():
        for i in range(3):
            if x[i] > 1:
                yield x[i]

    return sum(each())


def wrong(x):
    y = x[:2]
    return y + x


def later(x):
    async def inner():
        return x

    return inner
"""
X, S = np.array([3.0, 0.5, 8.0]), np.array(1.5)


def executed(text=TEXT, filename="<string>"):
    space = {}
    exec(compile(text, filename, "exec"), space)
    return space


def test_without_its_text_an_executed_function_is_refused_with_a_remedy():
    space = executed()
    with pytest.raises(SyntaxUnsupported, match=r"source=text") as caught:
        graphify.function(space["f"])(X, S)
    assert "its source text is not available" in caught.value.message


@pytest.mark.parametrize("name", ["f", "g"])
def test_executed_with_its_text(name):
    space = executed()
    staged = graphify.function(space[name], source=TEXT)
    np.testing.assert_allclose(staged(X, S), space[name](X, S))


def test_the_text_serves_recursion_and_generators():
    space = executed()
    assert graphify.function(space["countdown"], source=TEXT)(np.array(7)) == -2
    assert float(graphify.function(space["rows"])(X)) == 11.0


def test_as_a_decorator_inside_the_text():
    text = "import graphify\n\n@graphify.function(source=TEXT)\n" + TEXT.split("\n\n\n")[0][21:]
    space = {"TEXT": text}
    exec(text, space)
    np.testing.assert_allclose(space["helper"](X, S), X * 1.5)


def test_errors_quote_the_text():
    space = executed()
    with pytest.raises(ValueError, match=r"return y \+ x") as caught:
        graphify.function(space["wrong"], source=TEXT)(X)
    line = TEXT.splitlines().index("    return y + x") + 1
    assert f"line {line}, in wrong" in str(caught.value)
    with pytest.raises(SyntaxUnsupported, match="async def inner"):
        graphify.function(space["later"], source=TEXT)(X)


def test_a_text_that_does_not_hold_the_function_is_refused_at_once():
    space = executed()
    with pytest.raises(SyntaxUnsupported, match="no longer holds it"):
        graphify.function(space["f"], source="x = 1\n")
    with pytest.raises(SyntaxUnsupported, match="does not parse"):
        graphify.function(space["f"], source="def f(:")
    with pytest.raises(TypeError, match="source: expected the text"):
        graphify.function(space["f"], source=3)
    with pytest.raises(TypeError, match="is not a Python function"):
        graphify.function(np.sin, source=TEXT)


def test_what_is_defined_again_counts():
    space = {}
    results = []
    for factor in (2, 3):
        text = f"def f(x):\n    return x * {factor} if x.sum() > 0 else x\n"
        exec(text, space)
        results.append(graphify.function(space["f"], source=text)(X))
    np.testing.assert_allclose(results, [X * 2, X * 3])


def test_two_texts_under_one_name():
    """Both are compiled as <string>; neither is taken for the other."""
    one = executed("def f(x):\n    return x + 1 if x.sum() > 0 else x\n")
    two = executed("def f(x):\n    return x - 1 if x.sum() > 0 else x\n")
    first = graphify.function(
        one["f"], source="def f(x):\n    return x + 1 if x.sum() > 0 else x\n"
    )
    second = graphify.function(
        two["f"], source="def f(x):\n    return x - 1 if x.sum() > 0 else x\n"
    )
    np.testing.assert_allclose(first(X), X + 1)
    np.testing.assert_allclose(second(X), X - 1)


def test_console_with_its_cells_in_linecache():
    """IPython, notebooks and Python 3.13 register what is typed."""

    class Console(code.InteractiveConsole):
        count = 0

        def cell(self, text):
            self.count += 1
            self.filename = f"<ipython-input-{self.count}-{id(self)}>"
            lines = text.splitlines(keepends=True)
            linecache.cache[self.filename] = (len(text), None, lines, self.filename)
            exec(compile(text, self.filename, "exec"), self.locals)

    console = Console({"graphify": graphify, "np": np, "x": X})
    console.cell("def g(v):\n    return v * 2 if v.sum() > 0 else v\n")
    console.cell("@graphify.function\ndef f(v):\n    return g(v) + (1 if v[0] > 0 else 2)\n")
    console.cell("first = f(x)\n")
    console.cell("def g(v):\n    return v * 3 if v.sum() > 0 else v\n")  # run again, changed
    console.cell("second = f(x)\nthird = graphify.function(lambda v: v if v[0] > 9 else -v)(x)\n")
    np.testing.assert_allclose(console.locals["first"], X * 2 + 1)
    np.testing.assert_allclose(console.locals["second"], X * 3 + 1)
    np.testing.assert_allclose(console.locals["third"], -X)


# fmt: off
def test_two_lambdas_in_one_line():
    f, g = graphify.function(lambda v: v if v.sum() > 0 else -v), graphify.function(lambda v: v + 1 if v.sum() > 0 else v)  # noqa: E501
    np.testing.assert_allclose(f(-X), X)
    np.testing.assert_allclose(g(X), X + 1)
    np.testing.assert_allclose(g(-X), -X)


def test_lambdas_of_one_line_that_differ_in_a_constant():
    table = {"a": lambda v: v * 2 if v[0] > 0 else v, "b": lambda v: v * 3 if v[0] > 0 else v}
    for name, factor in (("a", 2), ("b", 3)):
        np.testing.assert_allclose(graphify.function(table[name])(X), X * factor)


def test_lambda_inside_a_lambda():
    f = graphify.function(lambda v: (lambda w: w if w[0] > 5 else w * 2)(v) if v[1] < 1 else v)
    np.testing.assert_allclose(f(X), X * 2)
# fmt: on


def test_lambda_over_several_lines():
    f = graphify.function(
        lambda v, by=2.0: (
            v * by
            if v.sum() > 0
            else v
        )
    )  # fmt: skip
    np.testing.assert_allclose(f(X), X * 2)
