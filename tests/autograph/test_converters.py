"""The converters alone: with plain operators, a converted function does what the original does."""

import contextlib
import copy
import math

import numpy as np
import pytest

from graphify.autograph import do_not_convert, to_code
from graphify.autograph.pipeline import convert, is_converted
from graphify.errors import SyntaxUnsupported
from tests.autograph import plain_ops
from tests.autograph.examples import EXAMPLES


def run(function, *inputs):
    """The result, or the error, and the inputs afterwards."""
    inputs = copy.deepcopy(inputs)
    try:
        return function(*inputs), inputs
    except Exception as error:
        return type(error), str(error), inputs


def converted(function):
    return convert(function).instantiate(function, operators=plain_ops)


def assert_equivalent(function, *inputs):
    __tracebackhide__ = True
    want, got = run(function, *inputs), run(converted(function), *inputs)
    assert repr(got) == repr(want), convert(function).source


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example[0].__name__)
def test_example(example):
    function, *calls = example
    for inputs in calls:
        assert_equivalent(function, *inputs)


def test_unbound_names_raise_where_they_are_read():
    def f(x):
        if x > 0:
            y = 1
        return y

    def g(x):
        for i in range(x):
            pass
        return i

    def h(x):
        while x > 5:
            z = x
            x -= 1
        z += 1
        return z

    for function in (f, g, h):
        with pytest.raises(UnboundLocalError) as caught:
            converted(function)(0)
        with pytest.raises(UnboundLocalError) as wanted:
            function(0)
        assert str(caught.value) == str(wanted.value)
        assert_equivalent(function, 9)


def test_an_unbound_local_is_not_found_outside():
    def f(c):
        if c:
            math = 1
        return 2 if c else math

    assert run(converted(f), True) == run(f, True)
    assert run(converted(f), False)[0] is UnboundLocalError


def test_closure_cells_are_shared_with_the_original():
    count = 0

    def bump(n):
        nonlocal count
        for _ in range(n):
            count += 1
        return count

    assert converted(bump)(3) == 3
    assert count == 3
    assert bump(1) == 4


def test_methods_private_names_and_super():
    class Base:
        def scale(self, x):
            return 2 * x

    class Model(Base):
        def __init__(self):
            self.__rate = 3

        def scale(self, x, *, extra=1):
            if x > 0:
                return super().scale(x) + self.__rate + extra
            self.__rate += 1
            return self.__rate

    plain, model = Model(), Model()
    function = converted(Model.scale)
    for x in (1, -1, 2, 0):
        assert function(model, x, extra=5) == plain.scale(x, extra=5)


def test_signature_defaults_and_names_are_kept():
    def f(a, /, b=[1], *rest, c: int = 2, **more) -> int:  # noqa: B006
        """Documented."""
        return a + b[0] + sum(rest) + c + len(more)

    g = converted(f)
    assert g(1, [2], 3, c=4, d=5) == f(1, [2], 3, c=4, d=5)
    assert g.__defaults__ is f.__defaults__
    assert (g.__name__, g.__qualname__, g.__doc__) == (f.__name__, f.__qualname__, f.__doc__)
    assert g.__annotations__ == f.__annotations__
    assert g.__kwdefaults__ == {"c": 2}
    assert g.__code__.co_qualname == f.__code__.co_qualname


def test_recursion_goes_through_the_globals():
    seen = []

    def spy(x):
        seen.append(x)
        return 1

    g = convert(factorial).instantiate(factorial, {"factorial": spy}, operators=plain_ops)
    assert g(4) == 4
    assert seen == [3]


def factorial(n):
    return n * factorial(n - 1) if n > 1 else 1


def test_nested_functions_are_converted_and_marked():
    def f(n):
        def inner(x):
            return max(n, x)

        return inner, lambda v: v and n

    inner, anonymous = converted(f)(3)
    assert is_converted(inner) and is_converted(anonymous)
    assert not is_converted(f)
    assert (inner(5), inner(1), anonymous(0), anonymous(7)) == (5, 3, 0, 3)


def test_methods_of_local_classes_are_not_marked():
    def f(n):
        class Box:
            def get(self):
                return n

        return Box()

    box = converted(f)(4)
    assert box.get() == 4
    assert not is_converted(box.get)
    assert convert(box.get).source.startswith("def get(self):")


def test_errors_show_the_line_of_the_user():
    def f(x):
        total = 0
        for i in range(3):
            if i == x:
                total += 1 / 0  # the line
        return total

    with pytest.raises(ZeroDivisionError) as caught:
        converted(f)(2)
    entry = caught.traceback[-1]
    assert "the line" in str(entry.statement)
    assert entry.path.name == "test_converters.py"


def test_conversion_is_cached_by_code_and_facts():
    def make(op):
        def f(x):
            return op.sqrt(x)

        return f

    def anything(x):
        return helper(x)  # noqa: F821

    f, g, h = make(np), make(math), make(np)
    assert convert(f) is convert(h)
    assert convert(f) is not convert(g)
    assert "np" not in convert(f).global_names
    assert convert(f).closure_names == ("op",)
    assert convert(anything).global_names == {"helper"}
    assert "op.sqrt(x)" in to_code(f) and "ag.call" not in to_code(f)
    assert "ag.call(op.sqrt, x)" in to_code(g)


def test_analysis_without_rewriting():
    def f(x):
        return abs(x) if x < 0 else math.pi

    found = convert(f, rewrite=False)
    assert found.global_names == {"math"}
    assert not is_converted(found.instantiate(f, operators=plain_ops))
    assert "if x < 0 else" in found.source


def test_a_global_assigned_by_a_function_goes_to_its_globals():
    def f(x):
        global written
        written = x + 1

    space = {}
    convert(f).instantiate(f, space, operators=plain_ops)(1)
    assert space["written"] == 2
    assert convert(f).written_globals == {"written"}


def test_user_names_do_not_clash_with_generated_ones():
    def f(ag, if_true, n):
        did_break = 0
        for loop_body in range(n):
            if loop_body > if_true:
                did_break += ag
                if_false = did_break
                break
        else:
            if_false = -1
        return did_break, if_false

    for n in (1, 9):
        assert_equivalent(f, 5, 3, n)


@do_not_convert
def marked():
    pass


def test_do_not_convert_sets_an_attribute():
    assert marked.__graphify_do_not_convert__


REFUSED = {
    "generator": ("def f(x):\n    y = (yield x) + 1", 2),
    "await": ("async def f(x):\n    await x", 1),
    "nested_async": ("def f(x):\n    async def g():\n        pass", 2),
    "locals": ("def f(x):\n    y = x\n    return locals()", 3),
    "exec": ("def f(x):\n    exec('x = 1')", 2),
    "walrus": ("def f(x):\n    return (lambda: x and (y := x))()", 2),
    "nonlocal_del": ("def f(x):\n    def g():\n        nonlocal x\n        del x\n    g()", 4),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_line_and_remedy(name):
    from tests.autograph.programs import load

    source, line = REFUSED[name]
    with pytest.raises(SyntaxUnsupported) as caught:
        convert(load(source, "f"))
    assert caught.value.location.line == line
    assert caught.value.remedy


@pytest.mark.parametrize("thing", [len, np.sin, 3, str])
def test_things_without_source_are_refused(thing):
    with pytest.raises(SyntaxUnsupported, match="no source"):
        convert(thing)


def test_a_function_without_source_text_is_refused():
    space = {}
    exec("def f(x):\n    return x", space)
    with pytest.raises(SyntaxUnsupported, match="source text is not available"):
        convert(space["f"])


def test_swallowed_exceptions_keep_what_was_bound_before():
    def f(xs):
        seen = 0
        with contextlib.suppress(ZeroDivisionError):
            for x in xs:
                seen += 1
                seen += 1 / x
        return seen

    assert_equivalent(f, [1, 0, 2])


def test_operands_are_evaluated_in_the_order_of_python():
    def f(log):
        def note(x):
            log.append(x)
            return x

        found = note(1) in [note(2), note(1)]
        target = [0, 0, 0]
        target[note(2)] = note(7)
        target[note(0)] += note(5)
        return found, note(1) < note(2) < note(1), target, log

    assert_equivalent(f, [])


def test_a_loop_test_may_rebind_names_by_calling():
    def f(n):
        count = 0

        def more():
            nonlocal count
            count += 1
            return count < n

        while more():
            if count == 3:
                continue
            n -= 1
        return count, n

    for n in range(8):
        assert_equivalent(f, n)


@pytest.mark.parametrize("depth", [60])
def test_long_chains_convert(depth):
    from tests.autograph.programs import load

    lines = [f"    if x == {i}:\n        return {i * 2}\n" for i in range(depth)]
    function = load(f"def f(x):\n{''.join(lines)}    return x\n", "f")
    for x in (0, depth - 1, depth):
        assert_equivalent(function, x)
    assert to_code(function)


def test_callees_that_stay_plain():
    def f(x, rows, self, key):
        rows.append(np.sum(x))
        y = np.abs(x).sum().astype(float) + np.linalg.norm(x) + np.add(x, 1, out=x)
        z = self.sum(x) + key(x) + math.sqrt(2) + np.ones(3) + np.random.rand()
        return y, z, ", ".join(rows), x.shape[0], self.shape, np.pi, isinstance(x, np.ndarray)

    source = to_code(f)
    for text in [
        "ag.call(rows.append, np.sum(x))",
        "np.abs(x).sum().astype(float) + np.linalg.norm(x) + ag.call(np.add, x, 1, out=x)",
        'ag.call(ag.attr(self, "sum"), x) + ag.call(key, x) + ag.call(math.sqrt, 2)',
        "ag.call(np.ones, 3) + ag.call(np.random.rand)",
        'x.shape[0], ag.attr(self, "shape"), np.pi, ag.isinstance(x, np.ndarray)',
    ]:
        assert text in source.replace("\n" + " " * 12, " "), source
