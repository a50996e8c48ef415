"""Random programs of try, with, loops, jumps and raises: staged, they do what plain Python does.

What a program prints, gives, raises and leaves in its arguments must be the same. Everything stands
in a `try` that catches all, since outside of one a failure that nobody needs does not happen.
"""

import contextlib
import copy
import importlib.util
import io
import random

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError

PROGRAMS = 60
CALLS = ((0, 1.5), (2, -0.5), (3, 0.2), (5, 2.5), (1, 0.7))

HEAD = """
import numpy as np


class Own(Exception):
    def __init__(self, v):
        super().__init__(f"own {v}")
        self.v = v


class Log:
    def __init__(self, notes, eats):
        self.notes, self.eats = notes, eats

    def __enter__(self):
        self.notes[0] += 1
        return self

    def __exit__(self, kind, error, trace):
        self.notes[1 if kind is None else 2] += 1
        return self.eats and kind is not None and issubclass(kind, IndexError)


def callee(x, k, s):
    if s > k:
        raise Own(s)
    return x[k]


def program(x, k, s):
    t, u, j = s * 1.0, 0.5, 0
    a, notes = np.zeros(4), np.zeros(3)
    try:
"""
TAIL = """
    except Exception as e:
        print(type(e).__name__, k)
    return t, u, a, notes
"""

VALUES = (
    *("x[k]", "x[k + 1]", "x[j]", "t + 1", "t * 0.5", "x.sum()", "s * 2", "u - t"),
    *("float(10 // (k - 1))", "float(7 % (k - 2))", "callee(x, k, s)", "callee(x, k - 1, t)"),
)
TESTS = (
    *("s > 0", "t > 2", "k > 1", "x[k] > 0", "t > s", "u < t", "j == 1", "k == 2"),
    "callee(x, k, s) > 1",
)
KINDS = (
    *("IndexError", "ZeroDivisionError", "Own", "(IndexError, Own)", "ValueError", "LookupError"),
    *("AssertionError", "Exception", "ArithmeticError"),
)


class Writer:
    """Writes one program; `depth`: how deep statements may still nest."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def block(self, depth, loop):
        lines = [
            line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth, loop)
        ]
        return ["    " + line for line in lines]

    def statement(self, depth, loop):
        forms = [self.simple] * 6 + [
            self.branch,
            self.loop,
            self.context,
            self.guarded,
            self.guarded,
        ]
        form = self.simple if depth <= 0 else self.random.choice(forms)
        return form(depth, loop)

    def simple(self, depth, loop):
        value = self.pick(*VALUES)
        places = ("k", "0", "k + 1", "j")
        jumps = ("break", "continue") if loop else ("t, u = u, t",)
        return [
            self.pick(
                *(f"t = {value}", f"t = {value}", f"u += {value}", f"u += {value}"),
                f"a[{self.pick(*places)}] = {self.pick('t', 's', 'u')}",
                f"print({self.pick('t + s', 'u + s', 'k')})",
                f"raise {self.pick('Own(t)', 'ValueError(s)', 'IndexError', 'KeyError(k)')}",
                f"assert {self.pick(*TESTS)}",
                f"return {self.pick('t, u', 's, u', 'u, t')}",
                "j = j + 1",
                self.pick(*jumps),
            )
        ]

    def branch(self, depth, loop):
        lines = [f"if {self.pick(*TESTS)}:", *self.block(depth - 1, loop)]
        return lines + (
            ["else:", *self.block(depth - 1, loop)] if self.random.random() < 0.5 else []
        )

    def loop(self, depth, loop):
        if self.random.random() < 0.4:
            return ["for v in x:", "    t = v", *self.block(depth - 1, True)]
        return [f"for j in range({self.pick('2', '3', 'k', '12')}):", *self.block(depth - 1, True)]

    def context(self, depth, loop):
        manager = self.pick("Log(notes, True)", "Log(notes, False)", "np.errstate(all='ignore')")
        return [f"with {manager}:", *self.block(depth - 1, loop)]

    def guarded(self, depth, loop):
        lines, handlers = ["try:", *self.block(depth - 1, loop)], self.random.randint(0, 2)
        for _ in range(handlers):
            lines += self.handler(depth, loop)
        if handlers and self.random.random() < 0.3:
            lines += ["else:", *self.block(depth - 1, loop)]
        if not handlers or self.random.random() < 0.35:
            lines += ["finally:", *self.block(depth - 1, loop)]
        return lines

    def handler(self, depth, loop):
        named = self.random.random() < 0.4
        lines = [f"except {self.pick(*KINDS)}{' as e' if named else ''}:"]
        if named:
            lines.append(f"    {self.pick('print(e, k)', 'print(type(e).__name__, k)')}")
        lines += self.block(depth - 1, loop)
        again = self.random.random()
        if named and again < 0.1:
            return [*lines, "    raise Own(u) from e"]
        return [*lines, "    raise"] if again < 0.3 else lines

    def program(self):
        return HEAD + "\n".join("    " + line for line in self.block(2, False)) + TAIL


def load(seed, folder):
    path = folder / f"program_{seed}.py"
    path.write_text(Writer(seed).program())
    spec = importlib.util.spec_from_file_location(f"program_{seed}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def outcome(function, args):
    out, args = io.StringIO(), copy.deepcopy(args)
    with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
        try:
            result = [np.asarray(value, dtype=float).tolist() for value in function(*args)]
        except TraceError:
            raise
        except Exception as error:
            result = (type(error).__name__, str(error).split("\nin user code")[0])
    return result, out.getvalue(), args[0].tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_program(seed, tmp_path):
    program = load(seed, tmp_path)
    staged = graphify.function(program, engine="reference" if seed % 3 else "native")
    for k, s in CALLS:
        args = [np.array([1.0, 2.0, -3.0]), np.array(k), np.array(s)]
        assert outcome(staged, args) == outcome(program, args), (k, s)
