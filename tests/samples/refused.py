"""What cannot be staged: each raises the error named in the comment at the line that has one."""

import numpy as np


def rank_grows(x):
    while np.abs(x).sum() < 1e6:  # TraceError
        x = np.stack([x, x])
    return x


def tuple_grows(x):
    sums = ()
    while np.abs(x).sum() < 1e6:
        x = x * 2 + 1
        sums = (*sums, x.sum())  # TraceError
    return sums


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
