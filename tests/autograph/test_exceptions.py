"""try, raise, with and warnings on staged values: what is printed, caught and raised, in order."""

import contextlib
import copy
import io
import signal
import warnings

import numpy as np
import pytest

import graphify
from graphify.engines.native.loops.pretty import text
from graphify.engines.native.lower import lower
from graphify.errors import GraphifyError, IntegerOverflow, TraceError

ENGINES = ["reference", "native", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
each_engine = pytest.mark.parametrize("engine", ENGINES)


class TooLarge(Exception):
    def __init__(self, value, why="?"):
        super().__init__(f"value {value} ({why})")
        self.value = value


def outcome(function, *args):
    """What a call prints, and what it gives or raises, without graphify's place of the error."""
    out, args = io.StringIO(), copy.deepcopy(args)
    with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
        try:
            result = [np.asarray(v).tolist() for v in graphify.tree.leaves(function(*args))]
        except Exception as error:
            text = str(error).split("\nin user code")[0]
            cause = type(error.__cause__).__name__ if str(error) == text else None
            result = (type(error).__name__, text, getattr(error, "value", None), cause)
    return result, out.getvalue()


def prints_around_a_failure(x, k):
    try:
        print("before", k)
        y = x[k]
        print("after", y)
    except IndexError as error:
        print("caught:", error, "|", str(error), f"<{error}>")
        y = -1.0
    else:
        print("else")
    finally:
        print("finally", k)
    return y


def prints_in_a_loop(x, s):
    total = 0.0
    for v in x:
        try:
            if v > s:
                raise TooLarge(v * 2, "big")
            print("ok", v)
        except TooLarge as error:
            print("too large", error.value, error)
            total += error.value
    return total


def counted_before_it_fails(x, k):
    def taken(v):
        nonlocal k
        k += 1
        return v > 3

    try:
        while k < 7 and not taken(x[k % 5]):
            pass
    except IndexError:
        k = -k
    return k


def looked_up_before_and_after_it_counts(x, k):
    def taken(v):
        nonlocal k
        before = x[k] + v
        k += 1
        return before + x[k]

    try:
        y = taken(x[k - 1]) + x[k + 1]
    except IndexError:
        y = -1.0
    return y, k


def raises_from(x, k):
    try:
        return x[k]
    except IndexError as error:
        raise KeyError(f"item {k}") from error


def cleans_up_and_raises_again(x, k):
    try:
        y = x[k]
    except IndexError:
        print("cleanup")
        raise
    return y


def finally_without_handler(x, k):
    try:
        if k > 4:
            raise TooLarge(k)
    finally:
        print("finally", k)
    return x


def no_handler_matches(x, k):
    try:
        if k > 4:
            raise TooLarge(k, "uncaught")
        if k == 2:
            raise KeyError(k)
    except ZeroDivisionError:
        print("never")
    return x


def a_value_in_the_exception(x, k):
    if k > 2:
        raise TooLarge(k * 3, "custom")
    return x


def nested_with_assert(x, k):
    try:
        try:
            if k > 4:
                raise ValueError(f"v {k}")
            assert k < 2, f"a {k}"
        finally:
            print("inner", k)
    except AssertionError as error:
        print("A", k, type(error).__name__)
    return x


def shapes_that_do_not_fit(x, k):
    try:
        y = x + x[x > k]
    except ValueError as error:
        print("V", error)
        y = x
    return y.sum()


def maximum_of_nothing(x, k):
    try:
        y = np.max(x[x > k])
    except ValueError as error:
        print("V", error)
        y = -1.0
    return y


def not_invertible(x, k):
    try:
        y = np.linalg.inv(np.eye(2) * np.minimum(k, 1))
    except np.linalg.LinAlgError as error:
        print("L", error)
        y = np.eye(2)
    return y


def python_numbers(x, k):
    n = int(k)
    for i in range(3):
        try:
            print(i, 1 // n)
        except ZeroDivisionError:
            print("zero", i)
    try:
        n = int(x[0] / k)
    except OverflowError as error:
        print(error)
    return n


def several_classes_by_name(x, k):
    items = {"a": x}
    try:
        y = items["a"][k] / items["b" if x.ndim > 1 else "a"].sum()
        if y > 0.4:
            raise TooLarge(y)
    except (KeyError, IndexError) as error:
        print(type(error).__name__)
        y = 0.0
    except TooLarge as error:
        print("large", error.value)
        y = error.value
    return y


def _callee(x, k):
    if x[k] > 2:
        raise TooLarge(x[k], "in a callee")
    return x[k + 1]


def callee_fails_in_several_ways(x, k):
    try:
        y = _callee(x, k)
    except IndexError as error:
        print("index", error)
        y = 1.0
    except TooLarge as error:
        print("large", error)
        y = 2.0
    return y


def _pay(x, k):
    if x[0] < k:
        raise TooLarge(k)
    print("paid", k)
    return x[0] - k


def callee_prints_where_it_does_not_fail(x, k):
    try:
        rest = _pay(x, k)
    except TooLarge as error:
        print(error)
        rest = 0.0
    return rest


def _descend(v, depth):
    if depth > 3:
        raise TooLarge(depth)
    if v < 1:
        return v
    return _descend(v / 2, depth + 1)


def recursive_callee(x, k):
    try:
        return _descend(x[0] * 10**k, 0)
    except TooLarge:
        return -1.0


PROGRAMS = [f for name, f in list(globals().items()) if getattr(f, "__code__", None)]
PROGRAMS = [
    f
    for f in PROGRAMS
    if f.__code__.co_varnames[:2] == ("x", "k") or "s" in f.__code__.co_varnames[:2]
]
PROGRAMS = [f for f in PROGRAMS if f.__name__[0] != "_"]


@each_engine
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_program(program, engine):
    staged = graphify.function(program, engine=engine)
    for k in (0, 1, 2, 5):
        args = np.array([1.0, 2.0, 3.0]), np.array(k)
        assert outcome(staged, *args) == outcome(program, *args), k


@each_engine
def test_uncaught_errors_name_the_line_that_raised(engine):
    for program, line in ((no_handler_matches, 3), (cleans_up_and_raises_again, 2)):
        first = program.__code__.co_firstlineno
        with pytest.raises((TooLarge, IndexError)) as caught:
            graphify.function(program, engine=engine)(np.arange(3.0), np.array(7))
        text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
        assert f'test_exceptions.py", line {first + line}' in text, text


@each_engine
def test_numpys_errors_of_an_axis_keep_what_they_hold(engine):
    def f(x, k):
        if k == 0:
            return np.sum(x, axis=3)
        if k == 1:
            raise np.exceptions.AxisError(2, 1, "mine")
        if k == 2:
            raise np.exceptions.AxisError("mine")
        return x[k]

    staged = graphify.function(f, engine=engine)
    for k in range(3):
        (got, _), (want, _) = (outcome(call, np.arange(5.0), np.array(k)) for call in (staged, f))
        assert got[:2] == want[:2], k


@each_engine
def test_warnings_at_the_run(engine):
    @graphify.function(engine=engine)
    def f(x, s):
        if s > 0:
            warnings.warn(f"s is {s}", stacklevel=1)
        for v in x:
            if v < 0:
                warnings.warn(f"negative {v}", RuntimeWarning, stacklevel=1)
        return x.sum()

    for _ in range(2):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            f(np.array([1.0, -2.0, -3.0, *range(9)]), np.array(2.0))
        found = [(str(w.message), w.category) for w in seen]
        assert found == [
            ("s is 2.0", UserWarning),
            ("negative -2.0", RuntimeWarning),
            ("negative -3.0", RuntimeWarning),
        ]
        assert {w.filename for w in seen} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="s is 1.0"):
            f(np.arange(3.0), np.array(1.0))


def test_what_tracing_decides_costs_nothing():
    @graphify.function
    def f(x, key):
        try:
            scale = {"a": 2.0}[key]
        except KeyError as error:
            scale = float(len(str(error)))
        return x * scale

    assert f(np.ones(2), "a").numpy().tolist() == [2.0, 2.0]
    assert f(np.ones(2), "bc").numpy().tolist() == [4.0, 4.0]
    assert "failure" not in str(f.get_concrete_function(np.ones(2), "a").graph)


def test_a_statement_is_carried_out_once():
    calls = []

    @graphify.autograph.do_not_convert
    def note(what):
        calls.append(what)
        return what

    @graphify.function
    def f(x):
        items = iter([1.0, 2.0, 3.0])
        total = 0.0
        try:
            note("a")
            for _ in range(4):
                total += next(items)
            note("b")
        except StopIteration:
            note("c")
        return x * total

    assert f(np.ones(2)).numpy().tolist() == [6.0, 6.0]
    assert calls == ["a", "c"]


def test_the_exception_in_a_handler_of_plain_python():
    import sys

    def f(x):
        try:
            return x[7]
        except IndexError as error:
            assert sys.exc_info()[1] is error
            raise

    with pytest.raises(IndexError, match="index 7"):
        graphify.autograph.operators.call(f, np.arange(3.0))


def _fill(a, k):
    a[0] = 1.0
    print("filling", k)
    a[k] = 2.0
    return a[0]


@each_engine
def test_what_a_callee_does_before_it_fails_is_done(engine):
    def f(x, k):
        try:
            x[2] = _fill(x, k) + 6
        except IndexError:
            x[1] = 5.0
        return x

    staged = graphify.function(f, engine=engine)
    for k, expected in ((1, [1.0, 2.0, 7.0]), (3, [1.0, 5.0, 2.0])):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            assert staged(np.arange(3.0), np.array(k)).numpy().tolist() == expected
        assert out.getvalue() == f"filling {k}\n"


@pytest.mark.parametrize(
    "several",
    [
        lambda x, k: [_fill(x, i) for i in (k, k + 1)],
        lambda x, k: _fill(x, k) > 0 and _fill(x, k + 1) > 0,
    ],
)
def test_calls_that_fail_within_an_expression_are_refused_if_they_write(several):
    def f(x, k):
        try:
            several(x, k)
        except IndexError:
            x[1] = 5.0
        return x

    with pytest.raises(TraceError, match="changes an array of its caller before it may fail"):
        graphify.function(f)(np.arange(3.0), np.array(1))


@each_engine
def test_names_that_a_callee_rebinds_before_it_fails(engine):
    def f(x, k):
        count = 0.0

        def item(i):
            nonlocal count
            count += x[0]
            return x[i]

        try:
            y = count + item(k) + count
        except IndexError:
            y = count * 10
        return y, count

    staged = graphify.function(f, engine=engine)
    for k in (1, 3):
        found = [float(v) for v in staged(np.arange(1.0, 4.0), np.array(k))]
        assert found == [float(v) for v in f(np.arange(1.0, 4.0), k)]


@each_engine
def test_an_array_of_the_trace_is_written_once(engine):
    def late(x, k, seen):
        value = x[k]
        seen[:1] += 1
        return value

    def f(x, k):
        seen = np.zeros(2)
        try:
            y = late(x, k, seen) + late(x, k - 1, seen[1:])
        except IndexError:
            y = 0.0
        return y, seen

    staged = graphify.function(f, engine=engine)
    for k, expected in ((1, [1.0, 1.0]), (3, [0.0, 0.0]), (-3, [1.0, 0.0])):
        assert staged(np.arange(3.0), np.array(k))[1].numpy().tolist() == expected


@pytest.mark.parametrize("mode", ["raise", "call", "print", "log"])
def test_errstate_that_does_more_than_warn_is_refused(mode):
    @graphify.function
    def f(x):
        with np.errstate(divide=mode):
            return 1 / x

    @np.errstate(over=mode)
    def g(x):
        return np.exp(x)

    with pytest.raises(TraceError, match=f"divide='{mode}' has no meaning in staged code"):
        f(np.zeros(2))
    with pytest.raises(TraceError, match=f"over='{mode}' has no meaning in staged code"):
        graphify.function(g)(np.zeros(2))


def test_errstate_and_seterr_that_raise_around_a_call_are_refused():
    f = graphify.function(lambda x: 1 / x)
    x = np.array([2.0, 0.0])
    for _ in range(4):  # the calls after the first take no Python
        for harmless in ({"divide": "ignore"}, {"all": "warn"}, {}):
            with np.errstate(**harmless):
                assert f(x).tolist() == [0.5, np.inf]
        with np.errstate(divide="raise"), pytest.raises(TraceError, match="divide='raise'") as e:
            f(x)
        assert "f(x)" in str(e.value) and "remedy" in str(e.value)
        assert f(x).tolist() == [0.5, np.inf]
        before = np.seterr(invalid="raise")
        try:
            with pytest.raises(TraceError, match="invalid='raise'"):
                f(x)
            with pytest.raises(TraceError, match="invalid='raise'"):
                f.get_concrete_function(x)(x)
        finally:
            np.seterr(**before)


def test_seterr_in_staged_code_is_refused():
    def f(x):
        before = np.seterr(divide="raise")
        try:
            return 1 / x
        finally:
            np.seterr(**before)

    def g(x):
        before = np.geterr()
        np.seterr(**before)
        return 1 / x

    with pytest.raises(FloatingPointError):
        f(np.zeros(2))
    with pytest.raises(TraceError, match="seterr: divide='raise' has no meaning in staged code"):
        graphify.function(f)(np.zeros(2))
    assert np.geterr()["divide"] == "warn"
    assert graphify.function(g)(np.zeros(2)).tolist() == [np.inf, np.inf]


def test_a_generator_manager_that_is_too_involved_is_refused():
    @contextlib.contextmanager
    def forgiving(times):
        for _ in range(times):
            try:
                yield
            except ValueError:
                pass

    @graphify.function
    def f(x):
        with forgiving(1):
            if x.sum() > 0:
                raise ValueError
        return x

    with pytest.raises(TraceError, match="only the run knows of, and does more than to yield once"):
        f(np.ones(2))


@each_engine
def test_a_generator_manager_fails_before_it_yields(engine):
    @contextlib.contextmanager
    def opened(x):
        try:
            first = x[5]
            yield first
        except IndexError:
            raise KeyError("no such item") from None

    def f(x):
        notes = np.zeros(3)
        try:
            with opened(x) as first:
                notes += first
        except KeyError:
            notes -= 2
        return notes, x[0]

    staged = graphify.function(f, engine=engine)
    for n in (5, 6):
        notes, first = f(np.arange(float(n)))
        found = staged(np.arange(float(n)))
        assert found[0].numpy().tolist() == notes.tolist() and float(found[1]) == first


@each_engine
def test_lanes(engine):
    def f(x, s):
        try:
            if s > 1:
                raise ValueError(f"s {s}")
            print("fine", s)
        except ValueError as error:
            print("caught", error)
        return x * s

    out = io.StringIO()
    lanes = graphify.function(graphify.vmap(f, in_axes=(None, 0)), engine=engine)
    with contextlib.redirect_stdout(out):
        lanes(np.ones(2), np.array([0.0, 2.0, 1.0]))
    assert out.getvalue() == "lane 0: fine 0.0\nlane 1: caught s 2.0\nlane 2: fine 1.0\n"


@each_engine
def test_prints_and_warnings_name_the_lane(engine):
    def f(row):
        for v in row:
            if v > 1:
                print("large", v, sep="=", end=";\n")
            elif v < 0:
                warnings.warn(f"negative {v}", stacklevel=1)
        return row.sum()

    def announced(x, s):
        print(f"{s:.1f}")
        return graphify.vmap(f)(x)

    rows = np.array([[1.0, 2.0], [-1.0, 0.0], [0.0, 3.0]])
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        graphify.function(graphify.vmap(f), engine=engine)(rows)
        both = graphify.vmap(announced, in_axes=(None, 0))
        graphify.function(both, engine=engine)(rows, np.array([0.5, 7.0]))
    inner = ["lane 0: large=2.0;", "lane 2: large=3.0;"]
    assert out.getvalue().splitlines() == [
        *inner,
        *("lane 0: 0.5", *(f"lane 0: {line}" for line in inner)),
        *("lane 1: 7.0", *(f"lane 1: {line}" for line in inner)),
    ]
    assert str(seen[0].message) == "negative -1.0 (in lane 1 of a vmap)"


@each_engine
def test_errors_name_the_lane(engine):
    def f(x, s):
        for i in range(3):
            if x[i] * s > 7:
                raise TooLarge(x[i] * s)
        assert s > -1, f"s {s}"
        return x * s

    lanes = graphify.function(graphify.vmap(f, in_axes=(None, 0)), engine=engine)
    for bad, kind in ((3.0, TooLarge), (-2.0, AssertionError)):
        with pytest.raises(kind) as caught:
            lanes(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, bad, 0.5]))
        assert "in lane 2 of a vmap" in caught.value.__notes__
    both = graphify.function(graphify.vmap(graphify.vmap(f, in_axes=(None, 0))), engine=engine)
    with pytest.raises(TooLarge) as caught:
        both(np.ones((2, 3)), np.array([[0.0, 1.0, 2.0], [1.0, 9.0, 0.0]]))
    assert "in lane 1, 1 of a vmap" in caught.value.__notes__


def test_native_code_checks_in_line():
    @graphify.function
    def f(x, k):
        total = 0.0
        for i in range(1000):
            try:
                total += x[(7 * i) % 13 + k]
            except IndexError:
                total -= 1
        return total

    x = np.arange(10.0)
    assert f(x, np.array(2)) == f.python_function(x, 2)
    program = text(lower(f.get_concrete_function(x, np.array(2)).graph))
    assert "host" not in program


@each_engine
def test_a_refusal_while_tracing_is_not_dropped_by_a_jump_out_of_finally(engine):
    """A trace that has to begin anew, with the length of an axis fixed."""

    @graphify.function(engine=engine)
    def f(w, s):
        try:
            w[0] *= s
        finally:
            return w  # noqa: B012

    for n in (2, 3, 4):
        expected = [[1.5, 1.5], *[[1.0, 1.0]] * (n - 1)]
        assert f(np.ones((n, 2)), np.array(1.5)).numpy().tolist() == expected

    @graphify.function(engine=engine)
    def g(x):
        for _ in range(2):
            try:
                x = x * len(np.random.default_rng().bytes(int(x.sum())))
            finally:
                break  # noqa: B012
        return x

    with pytest.raises(GraphifyError):
        g(np.ones(2))


def test_an_error_of_a_joined_dtype_is_not_caught_unseen() -> None:
    """Plain Python indexes with an int here; the join of both paths is a float."""

    def changed(x, k):
        first = k
        for e in x:
            if e > 100:
                first = e
        try:
            x[first % 2] *= 3
        except IndexError:
            x[...] -= 1.5
        return x

    with pytest.raises(TraceError, match="an integer on one path and a float on another"):
        graphify.function(changed)(np.arange(4.0), np.int64(3))


def test_an_interrupted_trace_leaves_nothing_behind():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = [True]

    @graphify.function
    def f(x):
        try:
            if x[0] > 0:
                x = x * 2
                if pressed:
                    signal.raise_signal(signal.SIGINT)
        except Exception:
            x = x * 0
        finally:
            x = x + 1
        return x

    try:
        with pytest.raises(KeyboardInterrupt):
            f(np.ones(2))
    finally:
        signal.signal(signal.SIGINT, before)
    pressed.clear()
    assert f(np.ones(2)).numpy().tolist() == [3.0, 3.0]
    assert f(-np.ones(2)).numpy().tolist() == [0.0, 0.0]


def deferred(x):
    failure = None
    for v in x:
        try:
            if v < 0:
                raise ValueError("negative", v)
        except ValueError as error:
            failure = error
    if failure is not None:
        raise failure
    return x


def deferred_as_the_cause(x):
    failure = None
    try:
        if x.min() < 0:
            raise ValueError("negative", x[0])
    except ValueError as error:
        failure = error
    if failure is not None:
        raise RuntimeError(f"bad: {failure.args[1]:.1f}") from failure
    return x


def chosen_class(x):
    kind = ValueError if x[0] > -2 else KeyError
    if x.min() < 0:
        raise kind("negative")
    return x


def chosen_or_none(x):
    failure = None if x[0] > -2 else KeyError("low")
    if x.min() < 0:
        raise failure
    return x


@pytest.mark.parametrize(
    "function", [deferred, deferred_as_the_cause, chosen_class, chosen_or_none]
)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_exception_that_only_the_run_chooses(function, engine):
    staged = graphify.function(function, engine=engine)
    for values in ([1.0, 2.0], [-1.0, 2.0], [-3.0, -1.0], [3.0, -1.0]):
        x = np.array(values)
        try:
            want = function(x)
        except Exception as error:
            with pytest.raises(type(error)) as caught:
                staged(x)
            assert str(caught.value).partition("\nin user code")[0] == str(error)
            assert type(caught.value.__cause__) is type(error.__cause__) or error.__cause__ is None
        else:
            np.testing.assert_array_equal(staged(x), want)


def converted_in_a_try(x):
    try:
        k = int(x)
        return k % 7
    except Exception:
        return -1


def converted_by_a_callee_in_a_try(x):
    try:
        return _whole(x) % 7
    except OverflowError:
        return -1


def _whole(x):
    return int(x)


def power_in_a_try(x):
    try:
        return (int(x) % 10 + 2**40) ** 3 % 7
    except ArithmeticError:
        return -1


@pytest.mark.parametrize(
    "function", [converted_in_a_try, converted_by_a_callee_in_a_try, power_in_a_try]
)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_no_handler_takes_the_overflow_of_a_traced_integer(function, engine):
    """Python's integers have no bound: there is nothing to handle in plain Python."""
    staged = graphify.function(function, engine=engine)
    for value in (2.5, -1e15, 1e20, -1e300, np.inf, np.nan):
        x = np.float64(value)
        try:
            want = function(x)
        except ValueError:
            with pytest.raises(ValueError, match="NaN"):
                staged(x)
            continue
        try:
            assert int(staged(x)) == want
        except IntegerOverflow as error:
            assert isinstance(error, OverflowError)
            assert function is power_in_a_try or 2**63 < abs(value) < np.inf


def test_a_view_of_another_frame_is_not_looked_at_where_paths_meet() -> None:
    """The length of `x` is bound where its slice is made, in an attempt that is over."""

    @graphify.function
    def f(x):
        for v in x:
            try:
                x[1] = 1
                x = x[v:2]
            except ValueError:
                pass
        return x

    with pytest.raises(TraceError, match="before it may fail"):
        f(np.array([0, 1, 0], np.int32))


class Ratio:
    def __init__(self, value):
        self.value = value

    def __truediv__(self, other):
        if other.value == 0:
            raise ZeroDivisionError("no ratio")
        return Ratio(self.value / other.value)

    def __getitem__(self, place):
        return (self.value,)[place]


def positive(x):
    if x <= 0:
        raise KeyError("not positive")
    return x


def operator_before_a_certain_error(x):
    try:
        return (Ratio(1.0) / Ratio(x))[2]
    except ZeroDivisionError:
        return -1.0
    except IndexError:
        return -2.0


def only_the_first_is_caught(x):
    try:
        return (Ratio(1.0) / Ratio(x))[2]
    except ZeroDivisionError:
        return -1.0


def caught_in_two_places(x):
    try:
        try:
            return (Ratio(positive(x)) / Ratio(x - 1))[2]
        except IndexError:
            return -2.0
    except KeyError:
        return -1.0


def in_a_loop(x):
    total = 0.0
    for i in range(4):
        try:
            total += (Ratio(x) / Ratio(x - i))[i % 2]
        except (ZeroDivisionError, IndexError) as error:
            total += 10.0 if isinstance(error, IndexError) else 20.0
    return total


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "program",
    [operator_before_a_certain_error, only_the_first_is_caught, caught_in_two_places, in_a_loop],
    ids=lambda f: f.__name__,
)
def test_what_fails_at_the_run_before_what_fails_anyway(program, engine):
    """One statement may do both: the first failure counts."""
    staged = graphify.function(program, engine=engine)
    for x in (0.0, 1.0, 2.0, 2.5, -1.0):
        want, got = (outcome(f, np.float64(x))[0][:3] for f in (program, staged))
        assert got == want, x


class Missing(Exception):
    pass


def two_names_of_one_number(x, k):
    try:
        if k > 100:
            raise Missing
        for i in range(12):
            v = i + abs(k)
            w = v
            try:
                if w // 2 == w:
                    raise Missing("here")
                products = {n: e * k for n, e in enumerate(x) if n != 1}
            except Missing:
                products = {}
    finally:
        following = w + 1
    return w, following, len(products)


def test_name_of_a_loop_that_functions_of_a_block_share():
    """The name is state of the loop, and not a closure variable that the loop writes besides."""
    x = np.arange(20)
    for k in (-3, 0, 3):
        got = graphify.function(two_names_of_one_number)(x, np.int64(k))
        assert tuple(map(int, got)) == two_names_of_one_number(x, k)
