# ruff: noqa: UP031  # the operator % is part of the language
"""Texts with run-time values: print, f-strings, format, %, str, repr, join, assert and raise."""

import warnings

import numpy as np

NO_GRADIENT: dict[str, str] = {}
NO_VMAP: dict[str, str] = {}


def print_of_several_values(x, s):
    print("sum", x.sum(), "of", len(x), sep=" | ", end=".\n")
    print(s, x[:2])
    return x * s


def print_with_format_specifications(x, s):
    print(f"{s:8.3f}|{s:<8}|{s:+.1e}|{x[0]:>10.2f}|{int(s):05d}")
    return x + s


def print_of_names_and_values(x, s):
    total = x.sum()
    print(f"{total=} {s!r} {s = :.2f}")
    return total


def width_known_at_the_run(x, k):
    width = int(k) + 6
    print(f"{x[0]:{width}.2f}|{'a':>3}|")
    return x[0]


def table_of_rows(x, y):
    print("%-4s%8.2f%8.2f" % ("sum", x.sum(), y.sum()))
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        print("%-4d%8.2f%8.2f" % (i, a, b))
    return x @ y


def text_built_before_it_is_printed(x, s):
    label = f"{s:.2f}".rjust(9)
    if s > 0:
        label = "+" + label
    print(label + "|", end="\n")
    return x * s


def text_joined_of_parts(x):
    print(", ".join(f"{v:.1f}" for v in (x[0], x[1])) + ";")
    print(" ".join([str(x[0]), "and", repr(float(x[1]))]))
    return x[0] * x[1]


def text_of_containers(x, k):
    print([x[0], int(k)], (x[1],), {"k": k})
    print(f"{[float(x[0]), True]} and {x[:2]}")
    return x[0]


def padded_text_of_containers(x, k):
    row = "{!s:>14}|{k!r:^16}|"
    print(row.format([int(k)], k=(int(k), True)), f"{ {'k': int(k)}!s:<12}|")
    for v in x:
        print("{0!s:>12} {0}".format([int(v)]))
    return x[0] * 2


def word_chosen_by_a_number(x, s):
    word = "up" if s > 0 else "down" if s < 0 else "level"
    print(f"{word:>6}: {s}")
    return abs(x) * s


def hexadecimal_and_binary(x, k):
    print(hex(int(k) + 254), bin(int(k)), f"{int(k):#06x}", format(int(k), "b"))
    return x * 1.0


def format_by_method(x, s):
    print("{0:.2f} {name} {0!r}".format(float(s), name=x[0]))
    return x[0] + s


def message_of_an_assertion(x, s):
    assert s < 1e6, f"too large: {s:.3f} of {x}"
    assert x.sum() > -1e6, "sum %r" % x.sum()
    return x / (1 + s * s)


def message_of_an_error(x, s):
    if s > 1e6:
        raise OverflowError(f"{s:.1e} is more than {max(x):.2f}")
    return x * s


def warning_where_it_is_due(x, s):
    if s > 1e6:
        warnings.warn(f"{s:.1e} is large", RuntimeWarning, stacklevel=2)
    return x * s


def progress_in_a_loop(x):
    error, turn = abs(x).sum() + 1, 0
    while error > 0.1:
        error = error / 4
        turn += 1
        if turn % 2 == 0:
            print(f"turn {turn:2d}: {error:.4f}")
    return error


def printed_in_a_branch_only(x, s):
    if s > 0:
        print("positive", s)
        return x * s
    print("not positive")
    return x - s


def printed_by_a_callee(x):
    def show(name, value):
        print(f"{name:<6}={value:10.4f}")
        return value

    return show("first", x[0]) * show("last", x[-1])


def list_of_any_length_is_printed(x):
    positive = [v for v in x if v > 0]
    print(positive, len(positive))
    return sum(positive)


def numbers_of_numpy_and_of_python(x, k):
    print(x[0], float(x[0]), [x[0]], [float(x[0])], k, [int(k)], np.float32(x[1]))
    return x[0] * 2


def short_floats_in_f_strings(x):
    single = np.float32(x[0])
    print(f"{single}", f"{single!s}", f"{single:.3f}", "{} {!r}".format(single, single), single)  # noqa: UP032
    return x


def text_of_the_path_taken(x, s):
    message = f"large: {s:.2f}" if s > 0 else "small"
    for v in x:
        if v > 1:
            message = f"{v:.1f} is more than one"
    print(message)
    return x * s


def number_or_none_is_printed(x, s):
    best = None
    for v in x:
        if v > s:
            best = v
    print(best, f"{best}", [best])
    return x + s


def text_that_is_not_shown(x, s):
    label = f"step {s:.3f} of " + str(x)
    if len(x) > 100:
        print(label)
    return x * s
