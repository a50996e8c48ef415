"""How much statements of a loop-level program compute, and how much memory they go through.

    work = measure(block, definitions)
    work.flops                      # Amount: 27*n*m
    work.bytes_moved(inside)        # every element counts once, however often it is read

An addition is one flop, an exponential the twenty or so it is made of (translate/costs.py). The
turns of a `while` are a symbol, "turns"; of two branches the one with more work counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from graphify.engines.native.inspection.amounts import Amount, larger, smaller
from graphify.engines.native.loops.program import (
    INDEX,
    Apply,
    Block,
    Buffer,
    Call,
    Checked,
    Const,
    Expr,
    Fail,
    For,
    If,
    Let,
    Load,
    Reduce,
    Section,
    Sections,
    Set,
    Stmt,
    Store,
    Var,
    While,
)
from graphify.engines.native.loops.walk import expressions_of, parts
from graphify.engines.native.translate.costs import WEIGHTS

Definitions = dict[Var, Amount]
Touched = dict[tuple[Buffer, bool], Amount]  # (buffer, whether written) -> how many accesses

NOTHING = Amount({})
ONE = Amount.of(1)
# What moves, chooses or compares is no arithmetic.
_NO_FLOP = frozenset(
    ["cast", "where", "real", "imag", "conj", "equal", "not_equal", "less", "less_equal"]
    + ["greater", "greater_equal", "logical_and", "logical_or", "logical_not", "logical_xor"]
)


@dataclass(slots=True)
class Work:
    """What a block does.

    Attributes:
        flops: operations on elements.
        touched: how often elements of a buffer are read or written.
        ops: the names of the operations, in order.
    """

    flops: Amount = NOTHING
    touched: Touched = field(default_factory=dict)
    ops: dict[str, None] = field(default_factory=dict)

    def add(self, other: Work) -> None:
        self.flops = self.flops + other.flops
        for key, count in other.touched.items():
            self.touched[key] = self.touched.get(key, NOTHING) + count
        self.ops.update(other.ops)

    def scaled(self, by: Callable[[Amount], Amount]) -> Work:
        touched = {key: by(count) for key, count in self.touched.items()}
        return Work(by(self.flops), touched, self.ops)

    def bytes_moved(self, inside: Collection[Buffer], sizes: Definitions) -> Amount:
        """Bytes between the block and memory: each element of a buffer is read, or written, once.

        What a block reads after it has written it comes from the cache.

        Args:
            inside: buffers that live in the block only; they stay in the cache.
        """
        whole: dict[tuple[Buffer, bool], Amount] = {}
        for (buffer, written), count in self.touched.items():
            key = (buffer.root, written)
            if not written and key not in whole and (buffer.root, True) in whole:
                continue
            seen = smaller(count, elements(buffer, sizes))
            whole[key] = whole.get(key, NOTHING) + seen
        total = NOTHING
        for (root, _), count in whole.items():
            if root not in inside:
                total = total + smaller(count, elements(root, sizes)) * root.dtype.itemsize
        return total


def elements(buffer: Buffer, sizes: Definitions) -> Amount:
    """How many elements a buffer has."""
    total = ONE
    for dim in buffer.shape:
        total = total * amount(dim, sizes)
    return total


# --- index arithmetic as polynomials --------------------------------------------------------------


def amount(expr: Expr, known: Definitions) -> Amount:
    """An index expression; what is no polynomial is a symbol, by the name of its variable."""
    match expr:
        case Const(value):
            return Amount.of(int(value))
        case Var():
            return known.get(expr, Amount.of(expr))
        case Apply("add", (a, b)):
            return amount(a, known) + amount(b, known)
        case Apply("subtract", (a, b)):
            return amount(a, known) - amount(b, known)
        case Apply("multiply", (a, b)):
            return amount(a, known) * amount(b, known)
        case Apply("floor_divide", (a, Const(divisor))) if divisor:
            return _quotient(amount(a, known), int(divisor))
        case Apply("maximum", (a, Const(0))) | Apply("maximum", (Const(0), a)):
            return amount(a, known)
        case Apply("minimum", (a, b)):
            return smaller(amount(a, known), amount(b, known))
    return Amount.of("?")


def _quotient(a: Amount, divisor: int) -> Amount:
    """a // divisor, where it matters little: without the rest, without rounding up."""
    rest = a - (divisor - 1)  # (n + d - 1) // d: n / d, rounded up
    constant = a.terms.get((), Fraction(0))
    chosen = rest if constant == divisor - 1 else a
    return chosen * Fraction(1, divisor)


# --- statements -----------------------------------------------------------------------------------


def measure(block: Iterable[Stmt], known: Definitions) -> Work:
    """The work of some statements; `known` collects what their variables are."""
    return _Walk(known).block(tuple(block))


class _Walk:
    """Goes through statements and remembers what variables stand for.

    Attributes:
        data: variables of INDEX dtype that hold elements of arrays, not positions in them.
    """

    def __init__(self, known: Definitions) -> None:
        self.known = known
        self.data: set[Var] = set()
        self.extents: dict[Var, Amount] = {}
        self.starts: dict[Var, Var] = {}  # start of a tile -> the loop over tiles

    def block(self, block: Block) -> Work:
        total = Work()
        for stmt in block:
            total.add(self.statement(stmt))
        return total

    def statement(self, stmt: Stmt) -> Work:
        match stmt:
            case For(var, extent, body):
                count = self.extent(extent)
                self.extents[var] = count
                return self.block(body).scaled(lambda a: a.summed(var, count))
            case While(test, condition, body):
                inner = self.block((*test, *body))
                inner.add(self.expressions([condition]))
                return inner.scaled(lambda a: a * Amount.of("turns"))
            case If(condition, then, orelse):
                total = self.expressions([condition])
                total.add(_either(self.block(then), self.block(orelse)))
                return total
            case Section(inside) | Sections(inside):
                return self.block(inside)
            case Call():
                return self.call(stmt)
            case Fail():
                return Work()
        if isinstance(stmt, Let):
            self.define(stmt)
        total = self.expressions(e for e in expressions_of(stmt) if not self.place(stmt, e))
        if isinstance(stmt, Store):
            total.add(Work(touched={(stmt.buffer, True): ONE}))
            total.add(self.addresses(stmt.index))
        elif isinstance(stmt, Reduce):
            total.add(Work(_flops(stmt.op, stmt.var.dtype.kind), {}, {stmt.op: None}))
        elif isinstance(stmt, Checked):
            total.add(Work(_flops(stmt.op, "i"), {}, {stmt.op: None}))
        return total

    def place(self, stmt: Stmt, expr: Expr) -> bool:
        """Whether an expression of a statement computes a position rather than an element."""
        if isinstance(stmt, Store):
            return any(expr is i for i in stmt.index)
        if isinstance(stmt, (Let, Set)) and expr.dtype == INDEX:
            return not self.holds_data(expr)
        return False

    def holds_data(self, expr: Expr) -> bool:
        return any(isinstance(p, Load) or p in self.data for p in parts(expr))

    def define(self, stmt: Let) -> None:
        var, value = stmt.var, stmt.value
        if var.dtype == INDEX and self.holds_data(value):
            self.data.add(var)
        elif var.dtype == INDEX and not var.mutable:
            match value:
                case Apply("multiply", (Var() as turn, Const())) if turn in self.extents:
                    self.starts[var] = turn
            found = amount(value, self.known)
            if "?" not in found.symbols:
                self.known[var] = found

    def extent(self, expr: Expr) -> Amount:
        """The turns of a loop. Those over tiles, and in a tile, give the whole length together."""
        match expr:
            case Apply("minimum", (Apply("subtract", (whole, Var() as start)), Const(most))):
                turn = self.starts.get(start)
                tiles = self.extents[turn].number if turn is not None else None
                if tiles:
                    return amount(whole, self.known) * (1 / tiles)
                if turn is not None:
                    return Amount.of(int(most))
        return amount(expr, self.known)

    # --- expressions ----------------------------------------------------------------------------

    def expressions(self, exprs: Iterable[Expr]) -> Work:
        total, stack = Work(), list(exprs)[::-1]
        names: list[str] = []
        while stack:
            e = stack.pop()
            if isinstance(e, Apply):
                total.flops = total.flops + _flops(e.op, e.dtype.kind)
                names.append(e.op)
                stack += e.args[::-1]
            elif isinstance(e, Load):
                total.add(Work(touched={(e.buffer, False): ONE}))
                total.add(self.addresses(e.index))
        total.ops.update(dict.fromkeys(reversed(names)))  # operands before what uses them
        return total

    def addresses(self, index: Iterable[Expr]) -> Work:
        """The loads in positions: gathers. Their arithmetic is not counted."""
        total = Work()
        for i in index:
            for part in parts(i):
                if isinstance(part, Load):
                    total.add(Work(touched={(part.buffer, False): ONE}))
        return total

    def call(self, stmt: Call) -> Work:
        touched: Touched = {}
        for written, buffers in ((False, stmt.inputs), (True, stmt.outputs)):
            for b in buffers:
                touched[b, written] = touched.get((b, written), NOTHING) + self.length(b)
        flops = CALLS[stmt.function](self, stmt) if stmt.function in CALLS else NOTHING
        total = Work(flops, touched, {called(stmt): None})
        if stmt.body:
            turns = self.length(stmt.outputs[0])
            total.add(self.block(stmt.body).scaled(lambda a: a * turns))
        return total

    def length(self, buffer: Buffer) -> Amount:
        return elements(buffer, self.known)


def called(call: Call) -> str:
    """What a call calls, by its own name where it has one."""
    return str(call.attrs.get("symbol") or call.attrs.get("routine") or call.function)


def _either(a: Work, b: Work) -> Work:
    total = Work(larger(a.flops, b.flops), dict(a.touched), {**a.ops, **b.ops})
    for key, count in b.touched.items():
        total.touched[key] = larger(total.touched.get(key, NOTHING), count)
    return total


def _flops(op: str, kind: str) -> Amount:
    if op in _NO_FLOP:
        return NOTHING
    return Amount.of(WEIGHTS.get(op, 1) * (4 if kind == "c" else 1))


# --- calls ----------------------------------------------------------------------------------------


def _of_matmul(walk: _Walk, stmt: Call) -> Amount:
    (c,), (a, _) = stmt.outputs, stmt.inputs
    return walk.length(c) * amount(a.shape[-1], walk.known) * 2


def _of_convolution(walk: _Walk, stmt: Call) -> Amount:
    """The scalars are the words of products/convolution.py."""
    samples, groups, channels, features, *axes = (amount(e, walk.known) for e in stmt.scalars)
    total = samples * groups * channels * features * 2
    for axis in range(0, len(axes), 6):
        _, window, places = axes[axis : axis + 3]
        total = total * window * places
    return total


# Flops of functions outside the program; those that are not here are counted as moving data only.
CALLS: dict[str, Callable[[_Walk, Call], Amount]] = {
    "matmul": _of_matmul,
    "convolution": _of_convolution,
}
