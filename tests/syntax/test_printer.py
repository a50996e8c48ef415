"""Printed text means the tree it was printed from, and is as a person would write it."""

import ast
import random
import sysconfig
from pathlib import Path

import gast
import pytest

from graphify.syntax.printer import to_source

LIBRARY = Path(sysconfig.get_path("stdlib"))
MODULES = sorted(path for path in LIBRARY.glob("*.py"))


def round_trip(tree):
    text = to_source(tree)
    assert ast.dump(ast.parse(text)) == ast.dump(tree), text


@pytest.mark.parametrize("seed", range(4))
def test_standard_library(seed):
    for path in random.Random(seed).sample(MODULES, 8):
        round_trip(ast.parse(path.read_bytes()))


@pytest.mark.slow
def test_the_whole_standard_library():
    for path in MODULES:
        round_trip(ast.parse(path.read_bytes()))


# Text that is printed as it stands.
SAME = """
x = (a + b) * c - (d - e) - f**-g**h
x = (a**b) ** c if (lambda: 1) else not a in b
x = (yield), (await_ := 1), *rest
x[1:2, ::3, ...] = y[*a, b] = z[()]
x = (a, b)[0], (1,), ()
(x): int = 3
x: int
print(*a, k=1, **b)
f(x for x in y if (x if x else y))
f((x for x in y), 1)
x = [i for j, in a for i in (b if c else d)]
x = {**a, "b": 1, c: 2}, {1, *d}, {*()}
x = {i: j for i, j in a}
x = 1 .real + 1.5.imag - 2j
x = "it's" 'say "so"'
x = f"{a!r:>{w}.2f}{b['k']} {{}} {'c'}"
x = a < b <= c is not d not in e
del a, b.c, d[0]
assert a, "b"
raise A from b
with a as b, c as (d, e): ...
lambda a, /, b=1, *c, d, e=2, **f: (a, b)
lambda *, a: a
async def f(a: int = 1, *b: *c, **d) -> None: ...
class A(B, metaclass=C): ...
""".strip().splitlines()


@pytest.mark.parametrize("text", SAME)
def test_statement(text):
    round_trip(ast.parse(text))


BLOCKS = '''
def f(x, /, y: int = 2, *, z=3) -> str:
    """Docs with \\\\ and 'quotes'.

    More.
    """
    if x:
        return x
    elif y:
        raise ValueError(f"{y!r}")
    else:
        pass
    for i, j in x:
        while i:
            break
        else:
            continue
    try:
        with open(x) as g, h:
            pass
    except (A, B) as e:
        raise
    finally:
        return {**x, "a": [1, *y]}
@decorate(1)
class A(B):
    match x:
        case [1, *_] | {"k": 1 | 2 as v, **rest}:
            pass
        case C(d, e=-1.5) if v:
            pass
        case None | "s" | a.b:
            pass
        case _:
            pass
try:
    pass
except* E:
    pass
'''.strip("\n")


def test_blocks_print_as_they_were_written():
    assert to_source(ast.parse(BLOCKS)) == BLOCKS


def test_gast_trees_print_too():
    assert to_source(gast.parse("def f(x=(1)):\n  return -(x)")) == "def f(x=1):\n    return -x"


def test_type_parameters():
    import sys

    if sys.version_info < (3, 12):
        pytest.skip("Python 3.12 has type parameters")
    round_trip(ast.parse("def f[T: int, *Ts, **P](x: T): ...\ntype X[T] = list[T]"))


def test_comments_stand_at_the_end_of_their_line():
    tree = ast.parse("if a:\n    b = 1\nelif c:\n    d()")
    text = to_source(tree, lambda node: f"line {node.lineno}")
    assert text.splitlines() == [
        "if a:  # line 1",
        "    b = 1  # line 2",
        "elif c:  # line 3",
        "    d()  # line 4",
    ]


@pytest.mark.parametrize("name", ["f", "some_function_whose_name_" + "goes_on_and_on_" * 3])
def test_long_calls_are_broken_between_arguments(name):
    arguments = ", ".join(f"argument_number_{i}" for i in range(9))
    tree = ast.parse(f"if x:\n    result = {name}({arguments}, key={'k' * 30})")
    assert max(map(len, to_source(tree).splitlines())) <= 100
    round_trip(tree)
