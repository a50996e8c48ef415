"""What an exception shows of itself, whatever its class and arguments: as plain Python has it."""

import contextlib
import io
import itertools
import linecache

import numpy as np
import pytest

import graphify
from graphify.errors import GraphifyError


class Own(Exception):
    pass


class OwnKey(KeyError):
    pass


class WithStr(Exception):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.parts = parts

    def __str__(self):
        return f"own {self.parts[0]}"


class KeepsMessage(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.message_of = f"<{value}>"

    def __str__(self):
        return self.message_of


class WithoutSuper(Exception):
    def __init__(self, value):
        self.value = value


CLASSES = [ValueError, KeyError, OSError, AssertionError, StopIteration]
CLASSES += [Own, OwnKey, WithStr, KeepsMessage, WithoutSuper]
ARGUMENTS = [
    *("x", "k", "x[0]", "x > 1", "x[:0]", "x[0] * 1j", "int(k)", "float(x[0])", "str(x)"),
    *("repr(x)", "f'{k}'", "(x, k)", "[x, 1]", "{'a': x}", "[f'{k}']", "(x,)", "Own(x)"),
]
SEVERAL = ["x, k", "'a', x", "x.shape, f'{k}'", "len(x), k"]
SHOWN = [
    *("print(e)", "print(str(e), repr(e))", "print([e], {'a': e})", "print(e.args, *e.args)"),
    *("print(f'{e}', f'{e!r}')", "print(f'{e!s:>60}|{e!r:<60}|')", "print('%s' % e, '%r' % e)"),
    *("raise", "raise RuntimeError(e)", "raise RuntimeError(f'got {e}', e.args)"),
    *("raise KeyError(str(e)) from e", "raise KeyError(*e.args)", "print(f'{e}'.upper())"),
]
CASES = list(itertools.product(CLASSES, ARGUMENTS, SHOWN))
CASES += list(itertools.product(CLASSES[:8], SEVERAL, SHOWN))


def made(kind, argument, shown):
    source = f"""\
def f(x, k):
    try:
        if k > 0:
            raise {kind.__name__}({argument})
    except Exception as e:
        {shown}
    return x
"""
    name = f"<{kind.__name__}({argument}): {shown}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = dict(globals())
    exec(compile(source, name, "exec"), space)
    return space["f"]


def outcome(function, *args):
    out, raised = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            function(*args)
        except GraphifyError:
            raise
        except Exception as error:
            text = str(error).split("\nin user code")[0]
            raised = type(error).__name__, text.split("\nassert")[0]  # what pytest adds
    return raised, out.getvalue()


@pytest.mark.parametrize("start, engine", [(0, "reference"), (7, "native"), (14, "reference")])
def test_table(start, engine):
    """A sample of the table: every class, argument and way to show it is there."""
    for case in CASES[start::23]:
        program = made(*case)
        args = np.array([1.5, 2.0]), np.array(3)
        staged = graphify.function(program, engine=engine)
        assert outcome(staged, *args) == outcome(program, *args), case


def test_a_text_of_the_run_is_no_result():
    def argument(x, k):
        try:
            if k > 0:
                raise ValueError(f"k {k}")
        except ValueError as error:
            return x, error.args[0]
        return x, ""

    with pytest.raises(GraphifyError):
        graphify.function(argument)(np.ones(2), np.array(3))


def test_a_field_that_nobody_shows_is_no_obstacle():
    @graphify.function
    def f(x, k):
        try:
            if k > 0:
                raise KeepsMessage(x * k)
        except KeepsMessage as error:
            return error.args[0]
        return x

    assert f(np.ones(2), np.array(3)).numpy().tolist() == [3.0, 3.0]


def always_raises(x):
    raise ValueError(f"got {x}", [x])


def asserts_what_tracing_knows(x):
    assert x.ndim == 2, f"not a matrix: {x}"
    return x


def raises_in_a_handler(x):
    try:
        always_raises(x)
    except ValueError as error:
        raise KeyError(str(error)) from error


def cleans_up(x):
    try:
        always_raises(x)
    finally:
        print("done with", x)


def prints_first(x):
    print("the sum is", x.sum())
    raise KeyError("x")


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    "program",
    [prints_first, always_raises, asserts_what_tracing_knows, raises_in_a_handler, cleans_up],
)
def test_what_always_raises_has_the_values_of_the_run(program, engine):
    staged = graphify.function(program, engine=engine)
    for x in (np.ones(2), np.arange(3.0)):
        assert outcome(staged, x) == outcome(program, x)
    lines = {"always_raises": always_raises, "cleans_up": always_raises}
    first = lines.get(program.__name__)
    with pytest.raises((ValueError, KeyError, AssertionError)) as caught:
        staged(np.ones(2))
    if first is not None:
        text = "\n".join([str(caught.value), *caught.value.__notes__])
        assert f'test_exception_texts.py", line {first.__code__.co_firstlineno + 1}' in text


def several_arguments(x, k):
    if k > 1:
        raise ValueError(x, k)
    return x


def an_array_as_argument(x, k):
    if k > 1:
        raise KeyError(x)
    return x


def one_text(x, k):
    if k > 1:
        raise KeyError(f"k is {k}")
    return x


def no_arguments(x, k):
    if k > 1:
        raise OwnKey
    return x


class WithField(Exception):
    def __init__(self, value):
        super().__init__(f"value {value}")
        self.value = value


def a_field(x, k):
    if k > 1:
        raise WithField(k)
    return x


def handled(callee, shown):
    source = f"""\
def f(x, k):
    try:
        y = callee(x, k)
    except Exception as e:
        {shown}
        y = x
    return y
"""
    name = f"<{callee.__name__}: {shown}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"callee": callee}
    exec(compile(source, name, "exec"), space)
    return space["f"]


LOOKS = ["print(e)", "print(repr(e), [e])", "print(e.args)", "raise", "raise ValueError(e)"]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    "callee", [one_text, no_arguments, several_arguments, an_array_as_argument, a_field]
)
def test_what_a_callee_raises(callee, engine):
    for shown in (*LOOKS, *["print(e.value)"] * (callee is a_field)):
        program = handled(callee, shown)
        staged = graphify.function(program, engine=engine)
        for k in (0, 2):
            args = np.ones(2), np.array(k)
            assert outcome(staged, *args) == outcome(program, *args), shown


def test_what_stays_in_a_callee_is_refused():
    """Of several calls in one expression under a condition, only a text comes out."""
    args = np.ones(2), np.array(2)
    for callee in (several_arguments, an_array_as_argument, a_field):
        both = lambda x, k, callee=callee: (k > 0 and callee(x, k)) is None
        for shown in ("print(e.value)" if callee is a_field else "print(e.args)", "raise"):
            with pytest.raises(GraphifyError, match="(?s)the (arguments of|field 'value')"):
                graphify.function(handled(both, shown))(*args)


def returns_nothing_after_all(x, k):
    if k > 2:
        return x[0]
    try:
        y = x[k]
        x[k] += y
    except LookupError:
        try:
            raise Own(k)
        except ArithmeticError:
            return y
        raise Own("never")


def raises_both_ways(x, k):
    y = x * 2
    if k > 2:
        y = y + 1
        raise Own(k)
    else:
        y = y - 1
        raise OwnKey(k)
    return y * k + x


@pytest.mark.parametrize("program", [returns_nothing_after_all, raises_both_ways])
def test_nothing_goes_on_where_every_branch_raises(program):
    staged = graphify.function(program)
    for k in (0, 1, 7):
        args = np.arange(1.0, 4.0), np.array(k)
        assert outcome(staged, *args) == outcome(program, *args)


def test_none_is_not_taken_for_a_number():
    args = np.arange(1.0, 4.0), np.array(0)
    assert graphify.function(returns_nothing_after_all)(*args) is None


def divides(expression):
    source = (
        f"def f(a, b):\n    try:\n        print({expression})\n    except ZeroDivisionError as e:\n"
    )
    source += "        print('caught', e)\n    return a\n"
    name = f"<divides {expression}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = dict(globals())
    exec(compile(source, name, "exec"), space)
    return space["f"]


KINDS = ["int(a)", "float(a)", "int(b)", "float(b)", "bool(b)", "0", "2.0"]
DIVISIONS = [
    f"divmod({x}, {y})" if sign == "divmod" else f"{x} {sign} {y}"
    for sign in ("/", "//", "%", "divmod")
    for x, y in itertools.product(KINDS, KINDS)
    if "(" in x + y
]
DIVISIONS += ["complex(a) / complex(b)", "complex(a) / int(b)", "int(b) ** -2", "float(b) ** -1.5"]


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_divisions_by_zero_say_what_python_says(engine):
    for expression in DIVISIONS[:: 1 if engine == "reference" else 4]:
        program = divides(expression)
        staged = graphify.function(program, engine=engine)
        args = np.array(3), np.array(0)
        assert outcome(staged, *args) == outcome(program, *args), expression
