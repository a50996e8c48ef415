"""Ifs, conditional expressions, and, or, not, comparisons, early returns."""

import numpy as np

NO_GRADIENT = {
    "sign_of": "steps",
}


def relu_if(x):
    if x.sum() > 0:
        y = x
    else:
        y = np.zeros_like(x)
    return y


def three_ways(x, s):
    if s > 1:
        y = x * 2
    elif s > 0:
        y = x + 1
    else:
        y = -x
    return y


def nested_ifs(x, s, k):
    y = x * 0
    if s > 0:
        if k > 1:
            y = y + 1
        else:
            y = y + 2
        y = y * 3
    return y


def early_return(x, s):
    if s < 0:
        return x - 1
    y = x * 2
    if y.max() > 3:
        return y
    return y + 1


def return_tuple_early(x, k):
    if k == 0:
        return x, 0 * x
    return x * k, x


def conditional_expression(x, s):
    return x if s > 0 else -x


def nested_conditional_expression(x, s):
    return x if s > 1 else (x + 1 if s > 0 else x + 2)


def chained_comparison(x, s):
    if -1 < s <= 1:
        return x * 10
    return x


def and_or_not(x, s, k):
    y = x
    if s > 0 and k > 1 or not x.any():
        y = y + 1
    return y


def and_guards_an_index(x, k):
    if k < len(x) and x[k] > 0:
        return x[k]
    return x[0] * 0


def membership(x, k):
    return x * 2 if k in (1, 3) else x


def sign_of(s):
    if s > 0:
        r = 1
    elif s < 0:
        r = -1
    else:
        r = 0
    return r


def number_in_one_branch(x, s):
    scale = 1.0
    if s > 0:
        scale = 2.5
    return x * scale


def assertion(x):
    assert x.shape[0] > 0, "empty"
    assert x.max() < 1e6
    return x + 1


def bound_in_both(x, s):
    if s > 0:
        a, b = x, 1.0
    else:
        a, b = x + 1, 2.0
    return a * b
