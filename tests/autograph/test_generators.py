"""Generators in a trace: order and laziness as in Python where nothing is staged, no copies of a
loop's body where something is, and refusals that name the line."""

import itertools

import numpy as np
import pytest

import graphify
from graphify.errors import LeakedTracer, TraceError
from graphify.ir.walk import count_nodes

X = np.array([1.0, -2.0, 3.0, 0.5, -1.0, 2.5, 4.0, -4.0, 1.5, 1.0])


def both(function, *args):
    """What plain Python gives, and what the staged function gives."""
    return function(*args), graphify.function(function)(*args)


def events(function):
    """The order of events, in Python and in a trace: the function notes them in a list."""
    plain, traced = [], []
    function(X, plain)

    @graphify.function
    def run(x):
        function(x, traced)
        return x

    run(X)
    return plain, traced


def noisy(log, n=3):
    log.append("begin")
    for i in range(n):
        log.append(("make", i))
        yield i
        log.append(("resume", i))
    log.append("end")


def test_for_takes_turns_with_the_generator():
    def program(x, log):
        for i in noisy(log):
            log.append(("body", i))

    plain, traced = events(program)
    assert traced == plain


def test_break_leaves_the_generator_where_it_stands():
    def program(x, log):
        for i in noisy(log):
            log.append(("body", i))
            if i == 1:
                break
        log.append("after")

    plain, traced = events(program)
    assert traced == plain


def test_nothing_runs_before_the_first_item_is_asked_for():
    def program(x, log):
        values = noisy(log)
        log.append("made")
        next(values)
        log.append("taken")
        for i in values:
            log.append(("body", i))

    plain, traced = events(program)
    assert traced == plain


def test_a_pipeline_handles_item_by_item():
    def program(x, log):
        def doubled(values):
            for v in values:
                log.append(("double", v))
                yield 2 * v

        for i, v in enumerate(doubled(noisy(log))):
            log.append((i, v))

    plain, traced = events(program)
    assert traced == plain


@pytest.mark.parametrize("first", [True, False])
def test_zip_asks_in_order_and_stops_like_python(first):
    def program(x, log):
        names = ["a", "b"]
        pairs = zip(names, noisy(log)) if first else zip(noisy(log), names)
        for pair in pairs:
            log.append(pair)

    plain, traced = events(program)
    assert traced == plain


def test_islice_asks_for_no_more_than_it_gives():
    def program(x, log):
        for i in itertools.islice(noisy(log, 9), 1, 4, 2):
            log.append(i)
        log.append(list(itertools.islice(noisy(log, 9), 2)))

    plain, traced = events(program)
    assert traced == plain


def test_a_finally_block_of_a_generator_runs():
    def program(x, log):
        def careful():
            try:
                yield 1
                yield 2
            finally:
                log.append("closed")

        for i in careful():
            log.append(i)

    plain, traced = events(program)
    assert traced == plain


def test_errors_of_the_loop_are_no_business_of_the_generator():
    def program(x, log):
        def careful():
            try:
                yield 1
            except KeyError:
                log.append("caught")

        try:
            for _ in careful():
                raise KeyError("mine")
        except KeyError:
            log.append("outside")

    plain, traced = events(program)
    assert traced == plain


def test_prints_are_in_order(capsys):
    def program(x):
        def loud():
            for v in x:
                print("yield", v)
                yield v

        total = 0.0
        for v in loud():
            print("got", v)
            total += v
            if total > 2:
                break
        return total

    program(X)
    plain = capsys.readouterr().out
    graphify.function(program)(X)
    assert capsys.readouterr().out == plain


def test_close_and_the_value_of_return():
    def program(x):
        def counted():
            yield 0
            yield 1
            return "done"

        values = counted()
        next(values)
        values.close()
        try:
            next(values)
        except StopIteration:
            closed = 1.0
        return x * closed

    want, got = both(program, X)
    np.testing.assert_array_equal(want, got)


def test_wrong_arguments_fail_at_the_call():
    @graphify.function
    def program(x):
        def pairs(a, b):
            yield a, b

        values = pairs(x)
        return values

    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        program(X)


def test_a_generator_that_runs_already():
    @graphify.function
    def program(x):
        def own():
            yield from values

        values = own()
        return sum(values)

    with pytest.raises(ValueError, match="generator already executing"):
        program(X)


def test_the_body_is_staged_once():
    def positive(values):
        for v in values:
            if v > 0:
                yield v

    @graphify.function(dynamic=False)
    def program(x):
        total = 0.0
        for i, v in enumerate(v * v for v in positive(x)):
            total = total * 0.5 + i * np.sin(v)
        return total

    sizes = {count_nodes(program.get_concrete_function(np.ones(n)).graph) for n in (10, 1000)}
    assert len(sizes) == 1
    np.testing.assert_allclose(program(X), program.python_function(X))


def test_a_sum_of_python_numbers_is_one():
    @graphify.function
    def program(x):
        return x + np.zeros(sum(i for i in range(20) if i % 2)).sum()

    np.testing.assert_array_equal(program(X), X)


def test_generators_do_not_leave_the_function():
    class Keeper:
        pass

    keeper, kept = Keeper(), []

    @graphify.function
    def program(x):
        kept.append(v * 2 for v in x)
        return x

    with pytest.raises(TraceError, match="gives away <generator"):
        program(X)

    @graphify.function
    def other(x):
        values = (v * 2 for v in x)
        keep(keeper, values)
        return x

    @graphify.autograph.do_not_convert
    def keep(keeper, values):
        keeper.values = values

    other(X)
    with pytest.raises(LeakedTracer, match="consumed outside the function that made it"):
        next(keeper.values)


@pytest.mark.parametrize("make", [iter, enumerate, lambda x: map(np.sin, x), lambda x: zip(x, [1])])
def test_iterators_are_not_returned(make):
    with pytest.raises(TraceError, match="gives away"):
        graphify.function(lambda x: make(x))(X)


def test_send_is_refused():
    @graphify.function
    def program(x):
        values = (v for v in x)
        return values.send(3)

    with pytest.raises(TraceError, match="sent into"):
        program(X)


def test_an_iterator_that_is_shared_with_a_staged_branch():
    def program(x, s):
        values = iter(x)
        total = next(values)
        if s > 0:
            total += next(values) * 10
        for v in values:
            total = total * 0.5 + v
            if v > s:
                total += next(values, 100.0)
        return total

    for s in (-1.0, 0.7, 9.0):
        want, got = both(program, X, np.array(s))
        np.testing.assert_allclose(got, want)


def test_stop_iteration_at_the_run():
    @graphify.function
    def program(x, k):
        values = iter(x)
        for _ in range(k):
            last = next(values)
        return last

    assert program(X, np.array(4)) == X[3]
    with pytest.raises(StopIteration):
        program(X, np.array(11))


def test_gradient_through_a_pipeline_with_a_staged_break():
    def program(x):
        total = 0.0
        for a, b in itertools.pairwise(v * v for v in x if v > 0):
            total = total + a * b
            if total > 41:
                break
        return total

    at = np.abs(X)
    got = graphify.grad(graphify.function(program))(at)
    steps = np.eye(len(at)) * 1e-6
    want = [(program(at + d) - program(at - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def positive(x):
    for v in x:
        if v > 0:
            yield v


def negative(x):
    for v in x:
        if v < 0:
            yield v * 2


def test_two_staged_generators_side_by_side_are_refused_with_what_works():
    def in_pairs(x):
        return sum(a * b for a, b in zip(positive(x), negative(x)))

    def by_lists(x):
        total = 0.0
        for a, b in zip(list(positive(x)), list(negative(x))):
            total += a * b
        return total

    x = np.array([1.0, -2.0, 3.0, -4.0, 5.0, 6.0])
    with pytest.raises(TraceError) as caught:
        graphify.function(in_pairs)(x)
    assert "if v > 0" in str(caught.value)
    assert "remedy: make a list of it first, zip(list(first), list(second))" in str(caught.value)
    assert float(graphify.function(by_lists)(x)) == by_lists(x) == in_pairs(x)
