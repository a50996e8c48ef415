"""Odd habits of existing programs: names used for several things, shadowed built-ins, an early
continue, loops without turns, functions in functions, very long functions."""

import numpy as np

NO_GRADIENT = {
    "counts_by_bool": "integers",
    "assigned_in_a_condition": "the number of turns jumps where the sum meets s",
}


def int_then_array(x):
    y = 0
    y = y + 1
    y = x * y
    y = y.sum() * y
    return y


def name_of_an_index_reused_for_a_sum(x):
    i = 0
    for i in range(len(x)):
        x = x + 0.1 * i
    i = x.sum()
    return i * 2


def list_then_array(x):
    values = []
    for i in range(3):
        values.append(x * i)
    values = np.array(values)
    values = values.sum(axis=0)
    return values


def loop_variable_shadows_the_argument(x):
    total = 0.0
    for x in x:  # noqa: B020
        total += x
        if total > 2:
            break
    return total + x


def shadowed_builtins(x, s):
    sum = 0.0
    max = x[0]
    list = [s, s + 1]
    for abs in list:
        sum = sum + abs
    for id in x:
        if id > max:
            max = id
    return sum + max


def shadowed_by_functions(x):
    def len(v):
        return v.shape[0] * 10

    def range(n):
        return [n, n + 1]

    return x * len(x) + range(2)[1]


def shadowed_module_name(x):
    math = {"sqrt": lambda v: v * v}
    return math["sqrt"](x)


def early_continue_before_assignment(x):
    total = 0.0
    for v in x:
        if v <= 0:
            continue
        root = np.sqrt(v)
        if root > 1:
            continue
        rest = 1 - root
        total += rest
    return total


def continue_then_use_after_the_loop(x):
    kept = x[0]
    for v in x:
        if v < 0:
            continue
        kept = v
        double = kept * 2
        kept = double - kept / 2
    return kept


def loop_of_no_turns(x, s):
    total = s
    for i in range(0):
        total = total + x[i]
    for v in x[:0]:
        total = total * v
    while total is None:
        total = 0.0
    for i in range(5, 2):  # noqa: B007
        total = x
    return total


def staged_loop_of_no_turns(x, k):
    last = x[0]
    for i in range(k - k):
        last = x[i] * 5
    n = 0
    while n < k - k:
        last = last + 1
        n += 1
    return last


def empty_slices(x, s):
    left = x[:0]
    right = x[len(x) :]
    return left.sum() + right.sum() + s, left.shape[0]


def flag_that_is_a_number(x):
    done = 0
    steps = 0.0
    while not done:
        steps += 1
        x = x * 0.5
        if np.abs(x).sum() < 0.1:
            done = 1
    return x, steps


def counts_by_bool(x, s):
    count = 0
    for v in x:
        count += v > s
    return count


def none_checks_everywhere(x, s):
    def scale(v, by=None, shift=None):
        by = 2.0 if by is None else by
        if shift is not None:
            v = v + shift
        return v * by

    return scale(x) + scale(x, by=s) + scale(x, shift=s)


def functions_in_functions(x, s):
    def outer(a):
        def middle(b):
            def inner(c):
                if c.sum() > s:
                    return c * a.sum()
                return c - b.sum()

            return inner(b + 1)

        return middle(a * 2)

    return outer(x)


def function_redefined_by_branch(x, s):
    if s > 0:

        def shape(v):
            return v * s

    else:

        def shape(v):
            return v - s

    return shape(x) + shape(x * 2)


def closure_over_a_loop_variable(x):
    fs = [lambda v, i=i: v * i for i in range(3)]
    gs = []
    for i in range(3):
        gs.append(lambda v: v + i)  # noqa: B023
    return fs[1](x) + gs[0](x)


def one_line_statements(x, s):
    # fmt: off
    y = x; z = y * 2  # noqa: E701, E702
    if s > 0: y = z; z = y + 1  # noqa: E701, E702
    else: z = -z  # noqa: E701, E702
    for v in x: z = z + v; y = y - v  # noqa: E701, E702
    # fmt: on
    return y, z


def underscore_names(x, w):
    _, __ = w.shape[0], 2
    for _ in range(3):
        for _ in x:
            x = x + 0.1
    return x * __


def assigned_in_a_condition(x, s):
    if (total := x.sum()) > s:
        return total
    while (total := total + 1) < s:
        pass
    return total


def else_of_loops(x, s):
    for v in x:
        if v > 100:
            where = v
            break
    else:
        where = s
    n = 0.0
    while n < 3:
        n += 1
    else:
        n += s * s
    return where + n


def swapped_names(x, s):
    a, b = x, x * 2
    for _ in range(12):
        a, b = b, a
        if s > 0:
            a, b = b, a
    return a - 2 * b


def multiple_targets(x):
    a = b = x * 2
    a = a + 1
    c, (d, e) = a, (b, x)
    first, *rest = [c, d, e]
    return first + rest[0] * rest[1]


def in_place_and_rebound(x):
    y = x
    y = y + 1
    y += 1
    z = y
    z *= 2
    return x, y, z


def string_options(x, s):
    def reduce(v, how="sum"):
        if how == "sum":
            return v.sum()
        elif how == "mean":
            return v.mean()
        raise ValueError(f"unknown: {how}")

    how = "mean"
    if s > 0:
        how = "sum"
    return reduce(x, how) + reduce(x)


def dispatch_table(x, s):
    table = {"sin": np.sin, "cos": np.cos, "own": lambda v: v * v}
    y = x
    for name in ("sin", "own", "cos"):
        if s > 0:
            y = table[name](y)
    return y


def global_constants_and_defaults(x):
    return _defaults(x) + _defaults(x, 2, scale=0.25)


def _defaults(x, n=3, *, scale=0.5):
    y = x
    for _ in range(n):
        y = y * scale + _OFFSET
    return y


_OFFSET = 1.25


def try_finally_around_a_loop(x):
    total = 0.0
    try:
        for v in x:
            total = total + v * v
    finally:
        total = total + 1
    return total


def long_chain_of_conditions(x, k):
    if k == 0:
        y = x
    elif k == 1:
        y = x + 1
    elif k == 2:
        y = x + 2
    elif k == 3:
        y = x * 3
    elif k == 4:
        y = x - 4
    elif k == 5:
        y = x / 5
    elif k == 6:
        y = x * 6
    elif k == 7:
        y = x - 7
    else:
        y = -x
    return y


def deep_nesting(w, s):
    total = 0.0
    for row in w:
        if row.sum() > -10:
            for v in row:
                if v > 0:
                    n = 0
                    while n < 3:
                        if v > s:
                            for _ in range(2):
                                if total < 50:
                                    total += v
                                else:
                                    total -= v
                        else:
                            total += 0.5
                        n += 1
    return total


def a_very_long_function(x, s):
    y = x
    total = s
    a0 = y * 1 + total * 0.01
    if a0.sum() > 0:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 0
    a1 = y * 2 + total * 0.01
    if a1.sum() > 1:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 1
    a2 = y * 3 + total * 0.01
    if a2.sum() > 2:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 2
    a3 = y * 4 + total * 0.01
    if a3.sum() > 3:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 3
    a4 = y * 5 + total * 0.01
    if a4.sum() > 4:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 0
    a5 = y * 6 + total * 0.01
    if a5.sum() > 0:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 1
    a6 = y * 7 + total * 0.01
    if a6.sum() > 1:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 2
    a7 = y * 1 + total * 0.01
    if a7.sum() > 2:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 3
    a8 = y * 2 + total * 0.01
    if a8.sum() > 3:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 0
    a9 = y * 3 + total * 0.01
    if a9.sum() > 4:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 1
    a10 = y * 4 + total * 0.01
    if a10.sum() > 0:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 2
    a11 = y * 5 + total * 0.01
    if a11.sum() > 1:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 3
    a12 = y * 6 + total * 0.01
    if a12.sum() > 2:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 0
    a13 = y * 7 + total * 0.01
    if a13.sum() > 3:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 1
    a14 = y * 1 + total * 0.01
    if a14.sum() > 4:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 2
    a15 = y * 2 + total * 0.01
    if a15.sum() > 0:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 3
    a16 = y * 3 + total * 0.01
    if a16.sum() > 1:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 0
    a17 = y * 4 + total * 0.01
    if a17.sum() > 2:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 1
    a18 = y * 5 + total * 0.01
    if a18.sum() > 3:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 2
    a19 = y * 6 + total * 0.01
    if a19.sum() > 4:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 3
    a20 = y * 7 + total * 0.01
    if a20.sum() > 0:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 0
    a21 = y * 1 + total * 0.01
    if a21.sum() > 1:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 1
    a22 = y * 2 + total * 0.01
    if a22.sum() > 2:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 2
    a23 = y * 3 + total * 0.01
    if a23.sum() > 3:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 3
    a24 = y * 4 + total * 0.01
    if a24.sum() > 4:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 0
    a25 = y * 5 + total * 0.01
    if a25.sum() > 0:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 1
    a26 = y * 6 + total * 0.01
    if a26.sum() > 1:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 2
    a27 = y * 7 + total * 0.01
    if a27.sum() > 2:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 3
    a28 = y * 1 + total * 0.01
    if a28.sum() > 3:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 0
    a29 = y * 2 + total * 0.01
    if a29.sum() > 4:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 1
    a30 = y * 3 + total * 0.01
    if a30.sum() > 0:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 2
    a31 = y * 4 + total * 0.01
    if a31.sum() > 1:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 3
    a32 = y * 5 + total * 0.01
    if a32.sum() > 2:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 0
    a33 = y * 6 + total * 0.01
    if a33.sum() > 3:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 1
    a34 = y * 7 + total * 0.01
    if a34.sum() > 4:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 2
    a35 = y * 1 + total * 0.01
    if a35.sum() > 0:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 3
    a36 = y * 2 + total * 0.01
    if a36.sum() > 1:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 0
    a37 = y * 3 + total * 0.01
    if a37.sum() > 2:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 1
    a38 = y * 4 + total * 0.01
    if a38.sum() > 3:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 2
    a39 = y * 5 + total * 0.01
    if a39.sum() > 4:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 3
    a40 = y * 6 + total * 0.01
    if a40.sum() > 0:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 0
    a41 = y * 7 + total * 0.01
    if a41.sum() > 1:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 1
    a42 = y * 1 + total * 0.01
    if a42.sum() > 2:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 2
    a43 = y * 2 + total * 0.01
    if a43.sum() > 3:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 3
    a44 = y * 3 + total * 0.01
    if a44.sum() > 4:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 0
    a45 = y * 4 + total * 0.01
    if a45.sum() > 0:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 1
    a46 = y * 5 + total * 0.01
    if a46.sum() > 1:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 2
    a47 = y * 6 + total * 0.01
    if a47.sum() > 2:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 3
    a48 = y * 7 + total * 0.01
    if a48.sum() > 3:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 0
    a49 = y * 1 + total * 0.01
    if a49.sum() > 4:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 1
    a50 = y * 2 + total * 0.01
    if a50.sum() > 0:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 2
    a51 = y * 3 + total * 0.01
    if a51.sum() > 1:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 3
    a52 = y * 4 + total * 0.01
    if a52.sum() > 2:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 0
    a53 = y * 5 + total * 0.01
    if a53.sum() > 3:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 1
    a54 = y * 6 + total * 0.01
    if a54.sum() > 4:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 2
    a55 = y * 7 + total * 0.01
    if a55.sum() > 0:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 3
    a56 = y * 1 + total * 0.01
    if a56.sum() > 1:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 0
    a57 = y * 2 + total * 0.01
    if a57.sum() > 2:
        y = y * 0.9 + 0
    else:
        total = total + 0.1 * 1
    a58 = y * 3 + total * 0.01
    if a58.sum() > 3:
        y = y * 0.9 + 1
    else:
        total = total + 0.1 * 2
    a59 = y * 4 + total * 0.01
    if a59.sum() > 4:
        y = y * 0.9 + 2
    else:
        total = total + 0.1 * 3
    return y, total, a59
