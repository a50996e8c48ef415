"""The table of bad programs, and what test_error_table.py expects of each.

«» in a program stand around the expression that fails: the caret must be under it, and under
nothing else. The plain function raises the same class, unless the program is refused.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Case:
    """A program whose `f` fails on the arguments.

    Attributes:
        operands: as the message has them; None for an error of the user's own or Python's.
        frames: the user's functions on the way, outermost first.
        plain: whether plain Python fails, too.
        own: the text is the user's or Python's: no line, no remedy in it.
    """

    name: str
    source: str
    args: tuple[Any, ...]
    kind: type[BaseException]
    operands: str | None = None
    frames: str = "f"
    plain: bool = True
    own: bool = False

    @property
    def text(self) -> str:
        return self.source.replace("«", "").replace("»", "")

    @property
    def span(self) -> tuple[int, int, int, int]:
        """Line and column of the first character of the expression, and behind its last."""
        before, inside, _ = self.source.replace("»", "«").split("«")
        first, start = before.count("\n") + 1, len(before) - before.rfind("\n") - 1
        if "\n" not in inside:
            return first, start, first, start + len(inside)
        return first, start, first + inside.count("\n"), len(inside) - inside.rfind("\n") - 1


CASES: list[Case] = []


def case(name: str, source: str, *args: Any, **options: Any) -> None:
    values, (kind, *operands) = args[0], args[1:]
    CASES.append(Case(name, source, values, kind, *operands, **options))


V3, V4, E0 = np.arange(3.0), np.arange(4.0), np.ones(0)
M23, M34, I3 = np.ones((2, 3)), np.ones((3, 4)), np.arange(3)
B3, C3, F32 = np.array([True, False, True]), np.ones(3) * 1j, np.ones(3, np.float32)
BIG, ZERO = np.array(7), np.array(0)
S = "import numpy as np\n"

# --- shapes ---
XY = "x: f64[3], y: f64[4]"
case("add", "def f(x, y):\n    return «x + y»\n", (V3, V4), ValueError, XY)
case("subtract in place", "def f(x, y):\n    «x -= y»\n    return x\n", (V3, V4), ValueError, XY)
case("compare", "def f(x, y):\n    return («x < y»).sum()\n", (V3, V4), ValueError, XY)
case("part of a line", "def f(x, y):\n    return x * 2 + («x * y») - 1\n", (V3, V4), ValueError, XY)
case("power", "def f(x, y):\n    z = «x ** y»\n    return z\n", (V3, V4), ValueError, XY)
case("matmul", "def f(x, y):\n    return «x @ y»\n", (V3, V4), ValueError, XY)
case(
    "matmul of matrices",
    "def f(a, b):\n    return «a @ b» + 1\n",
    (M34, M34),
    ValueError,
    "a: f64[3,4], b: f64[3,4]",
)
case("dot", S + "def f(x, y):\n    return «np.dot(x, y)»\n", (V3, V4), ValueError, XY)
case("method dot", "def f(x, y):\n    return «x.dot(y)»\n", (V3, V4), ValueError, XY)
case("inner", S + "def f(x, y):\n    return «np.inner(x, y)»\n", (V3, V4), ValueError, XY)
case("vdot", S + "def f(x, y):\n    return «np.vdot(x, y)»\n", (V3, V4), ValueError, XY)
case(
    "tensordot",
    S + "def f(a, b):\n    return «np.tensordot(a, b, axes=1)»\n",
    (M34, M34),
    ValueError,
    "a: f64[3,4], b: f64[3,4]",
)
case(
    "concatenate",
    S + "def f(a, b):\n    return «np.concatenate([a, b], axis=0)»\n",
    (M23, M34),
    ValueError,
    "a: f64[2,3], b: f64[3,4]",
)
case(
    "axis of concatenate",
    S + "def f(x, y):\n    return «np.concatenate([x, y], axis=1)»\n",
    (V3, V4),
    np.exceptions.AxisError,
    XY,
)
case("stack", S + "def f(x, y):\n    return «np.stack([x, y])»\n", (V3, V4), ValueError, XY)
case("vstack", S + "def f(x, y):\n    return «np.vstack((x, y))»\n", (V3, V4), ValueError, XY)
case("reshape", "def f(x):\n    return «x.reshape(7)»\n", (V3,), ValueError, "x: f64[3]")
case(
    "reshape to names",
    S + "def f(x, n):\n    return «np.reshape(x, (n, 2))» * 2\n",
    (V3, 5),
    ValueError,
    "x: f64[3], n = 5",
)
case(
    "broadcast_to",
    S + "def f(x):\n    return «np.broadcast_to(x, (2, 5))»\n",
    (V3,),
    ValueError,
    "x: f64[3]",
)
case(
    "einsum",
    S + 'def f(a, b):\n    return «np.einsum("ij,jk->ik", a, b)»\n',
    (M23, M23),
    ValueError,
    "a: f64[2,3], b: f64[2,3]",
)
case(
    "einsum of too few letters",
    S + 'def f(a):\n    return «np.einsum("i->i", a)»\n',
    (M23,),
    ValueError,
    "a: f64[2,3]",
)
case(
    "where",
    S + "def f(c, x, y):\n    return «np.where(c, x, y)»\n",
    (B3, V3, V4),
    ValueError,
    "c: bool[3], x: f64[3], y: f64[4]",
)
case(
    "solve",
    S + "def f(a, y):\n    return «np.linalg.solve(a, y)»\n",
    (M23, V3),
    np.linalg.LinAlgError,
    "a: f64[2,3], y: f64[3]",
)
case(
    "inverse",
    S + "def f(a):\n    return 1 + «np.linalg.inv(a)»\n",
    (M23,),
    np.linalg.LinAlgError,
    "a: f64[2,3]",
)
case(
    "determinant of a vector",
    S + "def f(x):\n    return «np.linalg.det(x)»\n",
    (V3,),
    np.linalg.LinAlgError,
    "x: f64[3]",
)
case("axis of sum", "def f(x):\n    return «x.sum(axis=1)»\n", (V3,), ValueError, "x: f64[3]")
case(
    "axis of argmax",
    S + "def f(x, k):\n    return «np.argmax(x, axis=k)»\n",
    (V3, 2),
    ValueError,
    "x: f64[3], k = 2",
)
case("swapaxes", "def f(a):\n    return «a.swapaxes(0, 2)»\n", (M23,), ValueError, "a: f64[2,3]")
case("transpose", "def f(a):\n    return «a.transpose(0, 0)»\n", (M23,), ValueError, "a: f64[2,3]")
case(
    "squeeze",
    S + "def f(a):\n    return «np.squeeze(a, axis=0)»\n",
    (M23,),
    ValueError,
    "a: f64[2,3]",
)
case(
    "assign a row of another length",
    "def f(a, x):\n    «a[0] = x»\n    return a\n",
    (M23.copy(), V4),
    ValueError,
    "a: f64[2,3], x: f64[4]",
)
case("max of nothing", "def f(x):\n    return «x.max()»\n", (E0,), ValueError, "x: f64[0]")
case(
    "truth of an array",
    "def f(x):\n    «if x > 0»:\n        return x\n    return -x\n",
    (V3,),
    ValueError,
    "x: f64[3]",
)

# --- dtypes ---
case("shift", "def f(x):\n    return «x << 1.5»\n", (I3,), TypeError, "x: i64[3]")
case("invert", "def f(x):\n    return «~x»\n", (V3,), TypeError, "x: f64[3]")
case("bitwise", "def f(x, y):\n    return «x & y»\n", (V3, I3), TypeError, "x: f64[3], y: i64[3]")
case(
    "divide integers in place",
    "def f(x):\n    «x /= 2»\n    return x\n",
    (I3,),
    TypeError,
    "x: i64[3]",
)
case(
    "floor of complex numbers",
    S + "def f(z):\n    return «np.floor(z)»\n",
    (C3,),
    TypeError,
    "z: c128[3]",
)
case("modulo of complex numbers", "def f(z):\n    return «z % 2»\n", (C3,), TypeError, "z: c128[3]")
case("subtract booleans", "def f(b):\n    return «b - b»\n", (B3,), TypeError, "b: bool[3]")
case(
    "power of negative integers",
    "def f(x):\n    return «x ** -1»\n",
    (I3,),
    ValueError,
    "x: i64[3]",
)
case(
    "a Python int that does not fit",
    S + "def f(x):\n    return «x + 300»\n",
    (np.ones(3, np.uint8),),
    OverflowError,
    "x: u8[3]",
)
case(
    "astype of a forbidden kind",
    S + 'def f(x):\n    return «x.astype(np.int64, casting="safe")»\n',
    (V3,),
    TypeError,
    "x: f64[3]",
)
case(
    "unknown keyword",
    S + "def f(x):\n    return «np.sum(x, axes=0)»\n",
    (V3,),
    TypeError,
    own=True,
)

# --- indices, known while tracing ---
case("index", "def f(x):\n    return «x[9]»\n", (V3,), IndexError, "x: f64[3]")
case("negative index", "def f(x, k):\n    return «x[k]» + 1\n", (V3, -4), IndexError, "x: f64[3]")
case("too many indices", "def f(x):\n    return «x[0, 1]»\n", (V3,), IndexError, "x: f64[3]")
case("index of a row", "def f(a):\n    return a[0] + «a[5]»\n", (M23,), IndexError, "a: f64[2,3]")
case("float index", "def f(x):\n    return «x[1.0]»\n", (V3,), IndexError, "x: f64[3]")
case(
    "mask of another length",
    "def f(x, m):\n    return «x[m]»\n",
    (V4, B3),
    IndexError,
    "x: f64[4], m: bool[3]",
)
case(
    "set out of range",
    "def f(x):\n    «x[5] = 1.0»\n    return x\n",
    (V3.copy(),),
    IndexError,
    "x: f64[3]",
)
case("list index", "def f(x):\n    return «[x, x][2]»\n", (V3,), IndexError, "x: f64[3]")
case("take", S + "def f(x):\n    return «np.take(x, 8)»\n", (V3,), IndexError, "x: f64[3]")

# --- indices and numbers, known when it runs ---
case(
    "run-time index",
    "def f(x, i):\n    return «x[i]»\n",
    (V3, BIG),
    IndexError,
    "x: f64[3], i: i64[]",
)
case(
    "run-time index in a sum",
    "def f(x, i):\n    return x.sum() + «x[i]» * 2\n",
    (V3, BIG),
    IndexError,
    "x: f64[3], i: i64[]",
)
case(
    "run-time set",
    "def f(x, i):\n    «x[i] = 1.0»\n    return x\n",
    (V3.copy(), BIG),
    IndexError,
    "x: f64[3], i: i64[]",
)
case(
    "fancy index",
    S + "def f(x, i):\n    return «x[np.stack([i, i])]»\n",
    (V3, BIG),
    IndexError,
    "x: f64[3]",
)
case(
    "run-time take",
    S + "def f(x, i):\n    return «np.take(x, i)»\n",
    (V3, BIG),
    IndexError,
    "x: f64[3], i: i64[]",
)
case(
    "division by zero",
    "def f(x, n):\n    k = int(n)\n    return x * («10 // k»)\n",
    (V3, ZERO),
    ZeroDivisionError,
    "k: int",
)
case(
    "conversion of infinity",
    S + "def f(x):\n    y = x.sum() / 0\n    return «int(y)»\n",
    (V3,),
    OverflowError,
    "y: f64[]",
)
case(
    "singular matrix",
    S + "def f(a, y):\n    return «np.linalg.solve(a, y)»\n",
    (np.zeros((3, 3)), V3),
    np.linalg.LinAlgError,
    "a: f64[3,3], y: f64[3]",
)
case(
    "not positive definite",
    S + "def f(a):\n    return «np.linalg.cholesky(a)»\n",
    (-np.eye(3),),
    np.linalg.LinAlgError,
    "a: f64[3,3]",
)
case(
    "step of zero",
    "def f(x, k):\n    for i in «range(0, 10, k)»:\n        x = x + i\n    return x\n",
    (V3, ZERO),
    ValueError,
    "k: i64[]",
)

# --- where it stands ---
case(
    "in a staged loop",
    "def f(x, y):\n"
    "    s = 0.0\n"
    "    for i in range(100):\n"
    "        s = s + «y[i]» * x\n"
    "    return s\n",
    (V3, V4),
    IndexError,
    "y: f64[4], i: int",
)
case(
    "in a while loop",
    "def f(x):\n    i = 0\n    while «x[i]» >= 0:\n        i = i + 1\n    return i\n",
    (V3,),
    IndexError,
    "x: f64[3], i: int",
)
case(
    "a shape in a staged loop",
    "def f(x, y):\n    for i in range(100):\n        x = «x + y»\n    return x\n",
    (V3, V4),
    ValueError,
    XY,
)
case(
    "in a branch that is taken",
    "def f(x, y):\n    if x.sum() > 0:\n        return «x @ y»\n    return x.sum()\n",
    (V3, V4),
    ValueError,
    XY,
)
case(
    "in a branch in a loop",
    "def f(x, y):\n"
    "    s = x * 0\n"
    "    for i in range(50):\n"
    "        if y[0] >= 0:\n"
    "            s = s + «y[i]»\n"
    "    return s\n",
    (V3, V4),
    IndexError,
    "y: f64[4], i: int",
)
case(
    "three calls deep",
    "def a(p, q):\n    return «p + q»\n\ndef b(p, q):\n    r = a(p * 2, q)\n    return r\n\n"
    "def c(p, q):\n    return 1 + b(p, q)\n\ndef f(x, y):\n    return c(x, y)\n",
    (V3, V4),
    ValueError,
    "p: f64[3], q: f64[4]",
    frames="f c b a",
)
case(
    "three calls deep, when it runs",
    "def a(p, i):\n    return «p[i]»\n\ndef b(p, i):\n    r = a(p * 2, i)\n    return r\n\n"
    "def c(p, q):\n    return 1 + b(p, q)\n\ndef f(x, y):\n    return c(x, y)\n",
    (V3, BIG),
    IndexError,
    "p: f64[3], i: i64[]",
    frames="f c b a",
)
case(
    "in a callee of a loop, when it runs",
    "def at(y, i):\n"
    "    return «y[i]»\n"
    "\n"
    "def f(x, y):\n"
    "    for i in range(30):\n"
    "        x = x + at(y, i)\n"
    "    return x\n",
    (V3, V4),
    IndexError,
    "y: f64[4], i: int",
    frames="f at",
)
case("a lambda", "f = lambda x, y: «x + y»\n", (V3, V4), ValueError, XY, frames="<lambda>")
case(
    "a lambda of several in a line",
    "fs = [lambda x: x, lambda x, y: «x @ y», lambda x, y, z: z]\nf = fs[1]\n",
    (V3, V4),
    ValueError,
    XY,
    frames="<lambda>",
)
case(
    "a lambda passed on",
    "def apply(g, x, y):\n"
    "    return g(x, y)\n"
    "\n"
    "def f(x, y):\n"
    "    return apply(lambda p, q: «p - q», x, y)\n",
    (V3, V4),
    ValueError,
    "p: f64[3], q: f64[4]",
    frames="f apply <lambda>",
)
case(
    "a comprehension",
    S + "def f(x, y):\n    return np.stack([«v.reshape(4)» for v in (x, y)])\n",
    (V3, V4),
    ValueError,
    "v: f64[3]",
    frames="f",
)
case(
    "a method",
    "class Model:\n    def __init__(self, w):\n        self.w = w\n\n    def apply(self, x):\n"
    "        return «self.w @ x»\n\ndef f(w, x):\n    return Model(w).apply(x)\n",
    (M23, V4),
    ValueError,
    "self.w: f64[2,3], x: f64[4]",
    frames="f apply",
)
case(
    "a field, when it runs",
    "class Model:\n"
    "    def __init__(self, w):\n"
    "        self.w = w\n\n"
    "    def pick(self, i):\n"
    "        return «self.w[i]»\n\n"
    "model = Model([1.0, 2.0])\n"
    "def f(w, i):\n"
    "    model.w = w\n"
    "    return model.pick(i)\n",
    (V3, BIG),
    IndexError,
    "self.w: f64[3], i: i64[]",
    frames="f pick",
)
case(
    "a decorated callee",
    "import functools\n"
    "\n"
    "def twice(g):\n"
    "    @functools.wraps(g)\n"
    "    def wrapper(*args):\n"
    "        return 2 * g(*args)\n"
    "    return wrapper\n"
    "\n"
    "@twice\n"
    "def g(x, y):\n"
    "    return «x + y»\n"
    "\n"
    "def f(x, y):\n"
    "    return g(x, y)\n",
    (V3, V4),
    ValueError,
    XY,
    frames="f wrapper g",
)
case(
    "a closure",
    "def make(scale):\n"
    "    def inner(x, y):\n"
    "        return «x * y» * scale\n"
    "    return inner\n"
    "\n"
    "f = make(3)\n",
    (V3, V4),
    ValueError,
    XY,
    frames="inner",
)
case(
    "a conditional expression",
    "def f(x, y):\n    return «x + y» if x.sum() > 0 else x * 2.0\n",
    (V3, V4),
    ValueError,
    XY,
)
case(
    "several lines",
    S
    + (
        "def f(x, y):\n"
        "    z = (\n"
        "        «x * 2\n"
        "        + np.sin(\n"
        "            y)»\n"
        "    )\n"
        "    return z\n"
    ),
    (V3, V4),
    ValueError,
    XY,
)
case(
    "a call of several lines",
    S + "def f(x, y):\n    return «np.concatenate(\n        [x, y],\n        axis=2,\n    )»\n",
    (V3, V4),
    np.exceptions.AxisError,
    XY,
)
case(
    "one line of several",
    "def f(x, y):\n    return (\n        x * 2,\n        «x[4]»,\n    )\n",
    (V3, V4),
    IndexError,
    "x: f64[3]",
)
case(
    "a callee called over several lines",
    "def helper(\n"
    "    a,\n"
    "    b,\n"
    "):\n"
    "    return «a + b»\n"
    "\n"
    "def f(x, y):\n"
    "    return helper(\n"
    "        x,\n"
    "        y,\n"
    "    )\n",
    (V3, V4),
    ValueError,
    "a: f64[3], b: f64[4]",
    frames="f helper",
)
case(
    "letters outside ASCII",
    "def f(größe, y):\n    return 'é' and «größe + y»\n",
    (V3, V4),
    ValueError,
    "größe: f64[3], y: f64[4]",
)
case(
    "a default argument",
    "def g(x, n=4):\n    return «x.reshape(n)»\n\ndef f(x):\n    return g(x)\n",
    (V3,),
    ValueError,
    "x: f64[3], n = 4",
    frames="f g",
)

# --- refused ---
case(
    "async",
    "«async def f»(x):\n    return x\n",
    (V3,),
    NotImplementedError,
    plain=False,
)
case(
    "async inside",
    "def f(x):\n    «async def g»():\n        return x\n    return x\n",
    (V3,),
    NotImplementedError,
    plain=False,
)
case("locals", "def f(x):\n    return «locals()»['x']\n", (V3,), NotImplementedError, plain=False)

# --- the user's own, and Python's ---
case("raise", "def f(x):\n    «raise KeyError('a', 1)»\n", (V3,), KeyError, own=True)
case(
    "raise in a branch",
    "def f(x):\n    if x.sum() > 0:\n        «raise ValueError(f'sum {x.sum()}')»\n    return x\n",
    (V3,),
    ValueError,
    own=True,
)
case(
    "raise of a class of one's own",
    "class Bad(Exception):\n"
    "    pass\n"
    "\n"
    "def g(x):\n"
    "    if x[0] >= 0:\n"
    "        «raise Bad»\n"
    "    return x\n"
    "\n"
    "def f(x):\n"
    "    return g(x)\n",
    (V3,),
    Exception,
    own=True,
    frames="f g",
)
case(
    "assert",
    "def f(x):\n    «assert x.sum() < 0, 'too large'»\n    return x\n",
    (V3,),
    AssertionError,
    own=True,
)
case(
    "static assert",
    "def f(x):\n    «assert x.ndim == 2, x.ndim»\n    return x\n",
    (V3,),
    AssertionError,
    own=True,
)
case("an unknown name", "def f(x):\n    return x + «undefined»\n", (V3,), NameError, own=True)
case(
    "an unknown attribute",
    "def f(x):\n    return «x.no_such»\n",
    (V3,),
    AttributeError,
    "x: f64[3]",
)
case("None", "def f(x):\n    y = None\n    return «y + 1»\n", (V3,), TypeError, own=True)
case(
    "a missing argument",
    "def g(x, y):\n    return x\n\ndef f(x):\n    return «g(x)»\n",
    (V3,),
    TypeError,
    own=True,
)
case(
    "a missing key", "def f(x):\n    d = {'a': x}\n    return «d['b']»\n", (V3,), KeyError, own=True
)
case("unpacking", "def f(x):\n    «a, b» = (x, x, x)\n    return a\n", (V3,), ValueError, own=True)
