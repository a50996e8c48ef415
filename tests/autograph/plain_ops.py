"""The operators of converted code with plain Python meaning, to test the converters alone."""

import builtins
import operator

from graphify.autograph.operators.attempted import attempt_call  # noqa: F401  # plain without a trace
from graphify.autograph.operators.attempts import attempt  # noqa: F401
from graphify.autograph.operators.comprehensions import (  # noqa: F401
    dict_of,
    each,
    list_of,
    set_of,
)
from graphify.autograph.operators.generators import known, known_items, returned  # noqa: F401
from graphify.autograph.operators.iterators import flatten, unpacked  # noqa: F401
from graphify.autograph.operators.managers import manager  # noqa: F401
from graphify.autograph.operators.matching import (  # noqa: F401
    anything,
    capture,
    either,
    instance_of,
    mapping_of,
    match_,
    matched,
    others,
    same,
    sequence_of,
)
from graphify.autograph.operators.thrown import (  # noqa: F401
    Catch,
    Pending,
    caught,
    pending,
    thrown,
)
from graphify.autograph.operators.undefined import Undefined, certain, settled  # noqa: F401

COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
IN_PLACE = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}

print, len, range, enumerate, zip, map, filter = print, len, range, enumerate, zip, map, filter
abs, min, max, sum, any, all, int, float, bool = abs, min, max, sum, any, all, int, float, bool
complex, round, pow, divmod, sorted, reversed = complex, round, pow, divmod, sorted, reversed
list, tuple, dict, set, iter, next = list, tuple, dict, set, iter, next
isinstance = isinstance
type = type


def generate(iterable, value, wanted=None):
    return (value(item) for item in iterable if wanted is None or wanted(item))


def defined(value):
    if isinstance(value, Undefined):
        raise UnboundLocalError(
            f"cannot access local variable '{value.name}' where it is not associated with a value"
        )
    return value


def _checked(state, names):
    assert isinstance(state, tuple) and builtins.len(state) == builtins.len(names), (state, names)
    return state


def if_(test, if_true, if_false, state, names):
    if isinstance(test, Catch):
        yes, no = lambda: if_true(*state), lambda: if_false(*state)
        return _checked(test.branch(None, yes, no), names)
    return _checked((if_true if test else if_false)(*_checked(state, names)), names)


def if_exp(test, if_true, if_false):
    if isinstance(test, Catch):
        return test.branch(None, if_true, if_false)
    return if_true() if test else if_false()


def while_(test, body, state, names):
    _checked(state, names)
    while test(*state):
        state = _checked(body(*state), names)
    return state


def for_(iterable, body, state, names, test=None):
    _checked(state, names)
    for item in iterable:
        if test is not None and not test(*state):
            break
        state = _checked(body(item, *state), names)
    return state


def and_(*thunks):
    value = True
    for thunk in thunks:
        value = thunk()
        if not value:
            break
    return value


def or_(*thunks):
    value = False
    for thunk in thunks:
        value = thunk()
        if value:
            break
    return value


def not_(x):
    return not x


def tested(x):
    return bool(x)


def compare(left, *rest):
    for sign, thunk in zip(rest[::2], rest[1::2], strict=True):
        right = thunk()
        result = COMPARE[sign](left, right)
        if not result:
            break
        left = right
    return result


def is_(a, b):
    return a is b


def contains(container, item):
    return item in container


def assert_(test, message):
    if not test:
        raise AssertionError(*(() if message is None else (message(),)))


def raise_(exception, cause):
    if isinstance(exception, Pending):
        raise exception.rest[0].original
    if isinstance(exception, Catch):
        raise exception.exception
    if cause is None:
        raise exception
    raise exception from cause


def catching(kinds=BaseException):
    return kinds


def moved(value, name):
    return value


def call(function, *args, **kwargs):
    return function(*args, **kwargs)


def attr(obj, name):
    return getattr(obj, name)


def setattr_(obj, name, value):
    setattr(obj, name, value)


def setitem(obj, key, value):
    obj[key] = value


def delattr_(obj, name):
    delattr(obj, name)


def delitem(obj, key):
    del obj[key]


def augitem(obj, key, sign, value):
    obj[key] = IN_PLACE[sign](obj[key], value)


def augattr(obj, name, sign, value):
    setattr(obj, name, IN_PLACE[sign](getattr(obj, name), value))


def text(value):
    return value


def percent(template, values):
    return template % values
