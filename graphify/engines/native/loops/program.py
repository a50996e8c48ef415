"""The loop-level program: buffers, loops and scalar expressions. What the native engine compiles.

    n = Var("n", INDEX)
    x, y = Buffer("x", F32, (n,), home=Param(0)), Buffer("y", F32, (n,), home=Result(0))
    i = Var("i", INDEX)
    For(i, n, (Store(y, (i,), Apply("exp", (Load(x, (i,)),), F32)),))

reads as

    for i in n:
        y[i] = exp(x[i])

It is a tree of statements over scalar expressions. A `Var` is a scalar in a register; a `Buffer`
is memory with a shape and strides, whose address may be another buffer's with an offset (a view).
Nothing here knows of LLVM, of graphs or of vectors: `kind` of a loop says what may be done with it.

    Expr  = Const(value, dtype) | Var(name, dtype) | Load(buffer, index) | Apply(op, args, dtype)
    Stmt  = Let(var, value) | Checked(var, op, args) | Set(var, value)
          | Store(buffer, index, value) | Reduce(var, op, value)
          | For(var, extent, body, kind) | While(test, condition, body)
          | If(condition, then, orelse)
          | Sections(parts) | Section(body)
          | Allocate(buffer) | Free(buffer) | Point(handle, buffer) | Swap(a, b)
          | Call(function, buffers, scalars, ...) | Fail(condition, site, values) | Note(text)
    Block = tuple of Stmt
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from graphify.ir.types import DType
from graphify.location import LazyLoc

INDEX = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)

# --- scalar expressions ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Const:
    """A number of a dtype (a Python bool, int, float or complex)."""

    value: Any
    dtype: DType

    def _key(self) -> Any:  # -0.0 is not 0.0, and NaN is itself
        return (repr(self.value), self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True, eq=False, slots=True)
class Var:
    """A scalar in a register: loop index, size, or intermediate result. Identity counts.

    A `mutable` one is declared by `Let` and changed by `Set` and `Reduce`.
    """

    name: str
    dtype: DType
    mutable: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """An element of a buffer. The index is in range: whoever wrote the program saw to that."""

    buffer: Buffer
    index: tuple[Expr, ...]

    @property
    def dtype(self) -> DType:
        return self.buffer.dtype


@dataclass(frozen=True, slots=True)
class Apply:
    """A scalar operation with the meaning the op of that name has for NumPy scalars.

    The operations are those of `elements.SCALARS`, and `cast`. On INDEX operands that are sizes or
    loop indices nothing overflows, and `floordiv` and `mod` have positive divisors.
    """

    op: str
    args: tuple[Expr, ...]
    dtype: DType


Expr: TypeAlias = Const | Var | Load | Apply

# --- memory ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Param:
    """The array given for parameter `position`."""

    position: int


@dataclass(frozen=True, slots=True)
class Result:
    """The array given out as result `position`; with `Allocate`, made by the program itself."""

    position: int


@dataclass(frozen=True, slots=True)
class Temporary:
    """Memory of the program's own, between its `Allocate` and its `Free`."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Constant data: bytes in C order."""

    array: np.ndarray[Any, Any] = field(compare=False)


@dataclass(frozen=True, slots=True)
class View:
    """Memory of another buffer, `offset` elements (of the view's own dtype) after its start."""

    base: Buffer
    offset: Expr


@dataclass(frozen=True, slots=True)
class Handle:
    """A name for memory that changes: `Point` aims it, `Swap` exchanges two, calls fill it in."""


Home: TypeAlias = Param | Result | Temporary | Literal | View | Handle


@dataclass(frozen=True, eq=False, slots=True)
class Buffer:
    """Memory with a shape. Identity counts.

    Attributes:
        shape: INDEX expressions, computable where the buffer is allocated or first used.
        strides: in elements; None for C order. Parameters that may have any layout have `Var`s
            here, whose values come with the argument.
    """

    name: str
    dtype: DType
    shape: tuple[Expr, ...]
    home: Home
    strides: tuple[Expr, ...] | None = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def root(self) -> Buffer:
        """The buffer that owns the memory."""
        buffer = self
        while isinstance(buffer.home, View):
            buffer = buffer.home.base
        return buffer


# --- statements -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Let:
    """Declares `var` with a value; visible to the end of the block and inside it."""

    var: Var
    value: Expr
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """`var = op(args)` on Python numbers: exact, or the failure that Python raises.

    Its failures are those of `elements.checked`; they keep the operands for the text.
    """

    var: Var
    op: str
    args: tuple[Expr, ...]
    site: int
    source: LazyLoc | None = None
    when: Expr | None = None  # failures count only if this holds


@dataclass(frozen=True, slots=True)
class Set:
    """Changes a mutable variable."""

    var: Var
    value: Expr
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class Store:
    buffer: Buffer
    index: tuple[Expr, ...]
    value: Expr
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class Reduce:
    """`var = op(var, value)` where the order does not matter: several accumulators may be kept.

    `op`: add, multiply, maximum, minimum, fmax, fmin, logical_and, logical_or, bitwise_*. A float
    sum is at least as accurate as NumPy's (blocks, or a wider accumulator).
    """

    var: Var
    op: str
    value: Expr
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class For:
    """`for var in range(extent)`.

    `kind`: "serial": in order. "vector": turns are independent but for `Reduce`, the body is
    Let, Set of own variables, Store, Reduce, If, While and further loops of extents that are the
    same in every turn: may run in lanes. "parallel": turns are independent: may run on several
    threads, each with its own copies of buffers allocated inside. The lowering also says "reduce"
    (independent but for `Reduce`) and "accumulate" (but for sums into elements of arrays, whose
    order is free), which the passes make one of the above.
    """

    var: Var
    extent: Expr
    body: Block
    kind: str = "serial"
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class While:
    """Runs `test`, then `body` while `condition` (which may use what `test` declares) holds."""

    test: Block
    condition: Expr
    body: Block
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    orelse: Block = ()
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """One of several parts of `Sections`: runs in order, on one thread."""

    body: Block


@dataclass(frozen=True, slots=True)
class Sections:
    """`Section`s that do not depend on each other: may run side by side, on several threads.

    What one of them writes or changes no other one touches; what it allocates or declares is its
    own. Where several fail, the failure of the first in order counts.
    """

    parts: Block


@dataclass(frozen=True, slots=True)
class Allocate:
    """Memory for a Temporary, for a Result whose shape only the run knows, or for a Handle."""

    buffer: Buffer


@dataclass(frozen=True, slots=True)
class Free:
    buffer: Buffer


@dataclass(frozen=True, slots=True)
class Point:
    """Aims a handle at another buffer of the same shape and strides."""

    handle: Buffer
    target: Buffer


@dataclass(frozen=True, slots=True)
class Swap:
    """Exchanges the memory of two handles."""

    a: Buffer
    b: Buffer


@dataclass(frozen=True, slots=True)
class Call:
    """A function outside the program: a matrix product, a sort, Python.

    Attributes:
        function: "matmul", "copy", "host", ...: what translate/calls.py knows.
        outputs: buffers it writes, `inputs` those it reads. Handles among the outputs are
            allocated by the callee, which sets the (mutable) variables of their shapes.
        scalars: INDEX or other scalar operands.
        variables: mutable variables that it sets.
        attrs: static data for the function's own rule.
        site: failures of the call are this site's.
        turn, body: what a product does with each element of its output as soon as that is done,
            while it is in the cache: Let, Store and Note statements that read it at `turn`.
    """

    function: str
    outputs: tuple[Buffer, ...]
    inputs: tuple[Buffer, ...]
    scalars: tuple[Expr, ...] = ()
    variables: tuple[Var, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    site: int = 0
    source: LazyLoc | None = None
    turn: tuple[Var, ...] = ()
    body: Block = ()


@dataclass(frozen=True, slots=True)
class Fail:
    """Leaves the program with failure `site` if `condition` holds; keeps `values` for the text."""

    condition: Expr
    site: int
    values: tuple[Expr, ...] = ()
    source: LazyLoc | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A line for people: what follows, and from which user line it comes."""

    text: str


Stmt: TypeAlias = (
    Let
    | Checked
    | Set
    | Store
    | Reduce
    | For
    | While
    | If
    | Section
    | Sections
    | Allocate
    | Free
    | Point
    | Swap
    | Call
    | Fail
    | Note
)
Block: TypeAlias = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A place where the program may fail, for the side that raises the exception.

    `template` is formatted with the values the failure kept: "index {} is out of bounds ...".
    `raiser`, where given, makes the exception from the values instead.
    """

    kind: type[BaseException]
    template: str
    source: LazyLoc | None = None
    dtypes: tuple[DType, ...] = ()
    raiser: Any = None


@dataclass(frozen=True, slots=True)
class Routine:
    """A function of scalars that may call itself; calls of "routine" name it by number.

    Attributes:
        params: the depth of the call, then the user's own.
        results: mutable variables that the body sets.
    """

    name: str
    params: tuple[Var, ...]
    results: tuple[Var, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Program:
    """A whole graph as loops.

    Attributes:
        params: buffers of the parameters; a size variable of theirs is a `Var` in a shape. Each
            axis of symbolic length has a `Var` of its own.
        results: buffers of the results.
        sizes: statements (Let, Fail) that compute sizes from the parameters' and check them; run
            first, and before the results are allocated.
        dims: for each result its shape, in the variables of `sizes`; None where only the run
            knows it (the program then allocates the result).
        body: the rest.
        sites: failure sites; their numbers start at 1.
        hosts: the Python functions that calls of "host" run, by number.
        routines: what calls of "routine" run.
    """

    name: str
    params: tuple[Buffer, ...]
    results: tuple[Buffer, ...]
    sizes: Block
    dims: tuple[tuple[Expr, ...] | None, ...]
    body: Block
    sites: tuple[Site, ...] = ()
    hosts: tuple[Any, ...] = ()
    routines: tuple[Routine, ...] = ()


# --- index arithmetic -----------------------------------------------------------------------------

_count = itertools.count()


def fresh_index(hint: str = "i") -> Var:
    """A new loop index."""
    return Var(hint, INDEX)


def index(value: int) -> Const:
    return Const(int(value), INDEX)


ZERO, ONE = index(0), index(1)


def plus(a: Expr, b: Expr) -> Expr:
    """a + b of indices, folded; constants to the right."""
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const):
        if b.value == 0:
            return a
        if isinstance(a, Const):
            return index(a.value + b.value)
        if isinstance(a, Apply) and a.op == "add" and isinstance(a.args[1], Const):
            return plus(a.args[0], index(a.args[1].value + b.value))
    return Apply("add", (a, b), INDEX)


def times(a: Expr, b: Expr) -> Expr:
    """a * b of indices, folded; constants to the right."""
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const):
        if b.value == 0:
            return ZERO
        if b.value == 1:
            return a
        if isinstance(a, Const):
            return index(a.value * b.value)
    return Apply("multiply", (a, b), INDEX)


def minus(a: Expr, b: Expr) -> Expr:
    if a is b or a == b:
        return ZERO
    if isinstance(b, Const):
        return plus(a, index(-b.value))
    if isinstance(a, Apply) and a.op == "add" and a.args[0] == b:
        return a.args[1]
    return Apply("subtract", (a, b), INDEX)


def select(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """yes if condition else no; folded."""
    if isinstance(condition, Const):
        return yes if condition.value else no
    return yes if yes == no else Apply("where", (condition, yes, no), yes.dtype)


def compare(op: str, a: Expr, b: Expr) -> Expr:
    """`op`: equal, not_equal, less, less_equal, greater, greater_equal."""
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(bool(getattr(np, op)(a.value, b.value)), BOOL)
    return Apply(op, (a, b), BOOL)


def c_strides(shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Strides, in elements, of an array in C order."""
    strides: list[Expr] = []
    step: Expr = ONE
    for dim in reversed(shape):
        strides.append(step)
        step = times(step, dim)
    return tuple(reversed(strides))


def f_strides(shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Strides, in elements, of an array in Fortran order."""
    return c_strides(shape[::-1])[::-1]


def strides_of(buffer: Buffer) -> tuple[Expr, ...]:
    return c_strides(buffer.shape) if buffer.strides is None else buffer.strides
