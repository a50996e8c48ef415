"""What cannot be staged: each raises the error named in the comment at the line that has one."""

import numpy as np


def rank_changes(x, s):
    if s > 0:  # TraceError
        y = x
    else:
        y = x.sum()
    return y


def structure_changes(x, s):
    if s > 0:  # TraceError
        y = (x, x)
    else:
        y = [x]
    return y


def value_as_python_index(x, k):
    names = ["a", "b", "c", "d", "e"]
    return x * len(names[k])  # ConcreteValueNeeded


def not_bound(x, k):
    if k > 10:
        y = x
    return y  # UnboundLocalError


def ambiguous(x):
    if x > 0:  # ValueError
        return x
    return -x


def generator(x):
    def rows():
        yield x  # SyntaxUnsupported

    return sum(rows())


async def coroutine(x):  # SyntaxUnsupported
    return x
