"""Functions and statements that raise on every path: what comes after them is never reached."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphify


class Missing(Exception):
    pass


class Context:
    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *error: Any) -> bool:
        return False


def bad(v: Any, limit: int = 3) -> Any:
    if v > limit:
        w = 1.0
        raise Missing("above")
    else:
        w = 2.0
        raise Missing("below")
    return w * v


def bad_or_none(v: Any, a: Any) -> Any:
    if v > 1:
        raise Missing("above")
    return always(v) + a


def always(v: Any) -> Any:
    raise Missing("always")


def rebound(x: Any) -> Any:
    y = x[0]
    try:
        if x[1] > 3:
            raise Missing("one")
        raise Missing("other")
    except LookupError:
        y = x[2]
    return y * 2


def handled(x: Any) -> Any:
    try:
        return bad(x[0])
    except Missing:
        return x * 2


def summed(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + bad(v)
    return total


def in_a_loop(x: Any) -> Any:
    n = 0
    while x[n] < 7:
        if x[n] > 1:
            x[n] = bad(x[n])
        n += 1
    return x


def with_finally(x: Any) -> Any:
    for i in range(3):
        try:
            bad(x[i])
        except Missing:
            x[i] += 1
        else:
            x[i] = 0
        finally:
            x[0] += 1
    return x


def recursive(x: Any) -> Any:
    def down(n: Any) -> Any:
        if n > 3:
            return bad(n)
        return down(n + 1) + 1

    return down(x[0])


def generated(x: Any) -> Any:
    def values() -> Any:
        for v in x:
            yield bad(v)

    return sum(values())


def listed(x: Any) -> Any:
    return [bad(v) for v in x]


def suppressed(x: Any) -> Any:
    with contextlib.suppress(Missing):
        return bad(x[0])
    return x


def within_a_context(x: Any) -> Any:
    with Context():
        y = bad(x[0])
    return y + x


def in_one_branch(x: Any) -> Any:
    if x[0] < 100:
        if x[1] > 50:
            z = bad(x[1])
        else:
            z = x[2]
        z = z + 1
    else:
        z = bad(x[0]) + x[7]
    return z


def by_key(x: Any) -> Any:
    return sorted(x, key=bad)[0]


def counted(x: Any) -> Any:
    for i in range(int(x[3])):
        x[0] = bad_or_none(x[i], x[i])[0]
    return x


def by_call(x: Any) -> Any:
    for _ in range(4):
        if x[1] > 3:
            always(x[0])
        if x[2] > 7:
            y = always(x[1])
            x[1] += y
    return x


def vectorised(x: Any) -> Any:
    return graphify.vmap(bad)(x)


def gradient(x: Any) -> Any:
    return graphify.grad(bad)(x[0])


def directional(x: Any) -> Any:
    return graphify.jvp(bad, (x[0],), (x[1],))


def while_known(x: Any) -> Any:
    for e in [2, 3]:
        i = 0
        while i < 5 and x[0] < 100:
            i += 1
            try:
                if e in (1, 2):
                    raise Missing("here")
                if len(x) > 3:
                    continue
            except LookupError:
                x[0] = 2
    return x


def a_condition(x: Any) -> Any:
    while bad(x[0]) and x[1] > 0:
        x[1] -= 1
    return x


def a_later_condition(x: Any) -> Any:
    n = 0
    while x[n] < 2 or bad(x[n]):
        n += 1
    return x[n]


def in_a_turn(x: Any) -> Any:
    shift = np.inf
    while shift > 0.5:
        shift = bad(x[0])
    return shift


def expressions(x: Any) -> Any:
    return sum(bad(v) + 1 for v in x if v > 100), sum(bad(x[0]) for _ in range(100))


def by_rank(x: Any) -> Any:
    y = x if x[0] > 1 else None
    if y is None:
        return x * 2
    return bad(y[0])


def after_yields(x: Any) -> Any:
    def values() -> Any:
        yield x[0]
        yield bad(x[1])

    found = []
    for v in values():
        found.append(v)
        if v < 5:
            break
    return found[0]


def chosen(x: Any) -> Any:
    f = bad if x[0] > 5 else np.sin
    return f(x[1])


FUNCTIONS = [
    rebound, handled, summed, in_a_loop, with_finally, recursive, generated, listed, suppressed,
    within_a_context, in_one_branch, by_key, counted, by_call, vectorised, gradient, directional,
    while_known, a_condition, a_later_condition, in_a_turn, expressions, by_rank, after_yields,
    chosen,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_as_in_plain_python(function: Callable[..., Any], engine: str) -> None:
    staged = graphify.function(function, engine=engine)
    for x in (np.arange(4.0), np.arange(4.0) * 7):
        try:
            want = function(x.copy())
        except Missing as error:
            with pytest.raises(Missing, match=str(error)):
                staged(x.copy())
        else:
            np.testing.assert_array_equal(staged(x.copy()), want)
