"""Parts of a program as functions of their own, and what they need from around them.

    i32 @part(ptr context)      context: 64-bit words, one for each thing that the part uses

A function that is called with a context finds there the values of variables and the addresses of
buffers, and leaves there what others need later. Long blocks are cut into parts (`in_parts`), since
the time LLVM takes grows faster than the length of a function; the bodies of parallel loops are
parts, too (parallel.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphify.engines.native.elements.element import Element, register_types
from graphify.engines.native.llvm import I32, I64, PTR, Function, Type, V
from graphify.engines.native.loops.program import (
    Allocate,
    Block,
    Buffer,
    Checked,
    Expr,
    For,
    Free,
    Handle,
    Let,
    Literal,
    Point,
    Reduce,
    Set,
    Stmt,
    Swap,
    Var,
    View,
)
from graphify.engines.native.loops.walk import buffers_of, expressions_of, parts, statements
from graphify.engines.native.translate import cells, costs, memory
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.writer import NULL, Domain, Home, Unit, Writer

LONG, PART = 3000, 1200  # the size of blocks that are cut, and of the parts
HOME = 5  # words of a part's home

# --- what statements need -------------------------------------------------------------------------


@dataclass(slots=True)
class Needs:
    """Variables and buffers that some statements use, and those that they declare."""

    vars: dict[Var, None]
    buffers: dict[Buffer, None]  # roots
    declared: set[Var]
    allocated: set[Buffer]
    moved: set[Buffer]  # handles that change

    @property
    def free_vars(self) -> list[Var]:
        return [v for v in self.vars if v not in self.declared]

    @property
    def free_buffers(self) -> list[Buffer]:
        return [
            b for b in self.buffers if b not in self.allocated and not isinstance(b.home, Literal)
        ]


def needs(block: Iterable[Stmt], exprs: Iterable[Expr] = ()) -> Needs:
    """What statements, and further expressions, use."""
    from graphify.engines.native.translate.loops import changes

    block = tuple(block)
    found = Needs({}, {}, set(), set(), {c for c in changes(block) if isinstance(c, Buffer)})
    for expr in exprs:
        _use(found, expr)
    for stmt in statements(block):
        for expr in expressions_of(stmt):
            _use(found, expr)
        for buffer in _buffers(stmt):
            _use_buffer(found, buffer)
        match stmt:
            case Let(var) | Checked(var) | For(var):
                found.declared.add(var)
                found.vars[var] = None
            case Set(var) | Reduce(var):
                found.vars[var] = None
            case Allocate(buffer) if not isinstance(buffer.home, Handle):
                found.allocated.add(buffer)
        for var in getattr(stmt, "variables", ()):
            found.vars[var] = None
        found.declared.update(getattr(stmt, "turn", ()))
    return found


def _use(found: Needs, expr: Expr) -> None:
    for part in parts(expr):
        if isinstance(part, Var):
            found.vars[part] = None
        buffer = getattr(part, "buffer", None)
        if buffer is not None:
            _use_buffer(found, buffer)


def _use_buffer(found: Needs, buffer: Buffer) -> None:
    while True:
        if buffer in found.buffers:
            return
        found.buffers[buffer] = None
        for expr in (*buffer.shape, *(buffer.strides or ())):
            _use(found, expr)
        if not isinstance(buffer.home, View):
            return
        _use(found, buffer.home.offset)
        buffer = buffer.home.base


def _buffers(stmt: Stmt) -> Iterator[Buffer]:
    for buffer, _ in buffers_of(stmt):
        yield buffer
    match stmt:
        case Allocate(buffer) | Free(buffer):
            yield buffer
        case Point(a, b) | Swap(a, b):
            yield a
            yield b


# --- contexts -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Context:
    """Words that a caller fills for a function.

    Attributes:
        values: variables that the function only reads.
        cells: variables and handles that it may change.
        pointers: buffers.
        given: variables and buffers that it declares and that are used afterwards.
    """

    values: list[Var]
    cells: list[Var | Buffer]
    pointers: list[Buffer]
    given: list[Var | Buffer]

    @property
    def size(self) -> int:
        """An upper bound of the words."""
        count = 4 * (len(self.values) + len(self.cells) + len(self.given))
        return count + len(self.pointers)


def context_for(w: Writer, found: Needs, given: Sequence[Var | Buffer] = ()) -> Context:
    """What statements need of what there is in a function."""
    values: list[Var] = []
    changing: list[Var | Buffer] = []
    pointers: list[Buffer] = []
    for var in found.free_vars:
        held = w.values.get(var)
        if isinstance(held, Cell):
            changing.append(var)
        elif held is not None:
            values.append(var)
    for buffer in found.free_buffers:
        if isinstance(buffer.home, View):
            continue
        if isinstance(buffer.home, Handle):
            memory.cell_of(w, buffer)
        held_at = w.pointers.get(buffer)
        if isinstance(held_at, Cell):
            changing.append(buffer)
        elif held_at is not None:
            pointers.append(buffer)
    return Context(values, changing, pointers, list(given))


class Words:
    """One after the other, the words of a context."""

    def __init__(self, f: Function, base: V) -> None:
        self.f, self.base, self.count = f, base, 0

    def next(self) -> V:
        self.count += 1
        return self.f.at(self.base, I64, self.count - 1)

    def put(self, values: Iterable[V]) -> None:
        for value in values:
            self.f.store(value, self.next(), align=8)

    def take(self, types: Sequence[Type]) -> list[V]:
        return [self.f.load(t, self.next(), align=8) for t in types]


def fill(w: Writer, words: Words, context: Context) -> None:
    """The caller's side, before the call."""
    for var in context.values:
        held = w.values[var]
        assert isinstance(held, Element)
        words.put(held.parts)
    for thing in context.cells:
        words.put(cell_of(w, thing).raw(w.f))
    for buffer in context.pointers:
        pointer = w.pointers[buffer]
        assert isinstance(pointer, V)
        words.put([pointer])


def empty(w: Writer, words: Words, context: Context) -> None:
    """The function's side: all that it was given, defined in it."""
    for var in context.values:
        w.define(var, Element(var.dtype, tuple(words.take(register_types(var.dtype, 1)))))
    for thing in context.cells:
        cell = _new_cell(w, thing)
        cell.set_raw(w.f, words.take(cell.types))
        w.define(thing, cell)
    for buffer in context.pointers:
        w.define(buffer, words.take([PTR])[0])


def cell_of(w: Writer, thing: Var | Buffer) -> Cell:
    held = w.pointers[thing] if isinstance(thing, Buffer) else w.values[thing]
    assert isinstance(held, Cell)
    return held


def _new_cell(w: Writer, thing: Var | Buffer) -> Cell:
    if isinstance(thing, Buffer):
        return cells.pointer(w.f)
    make = cells.wide if thing in w.unit.wide else cells.plain
    return make(w.f, thing.dtype)


def inner_writer(w: Writer, f: Function) -> Writer:
    """For a function that is called from anywhere: it owns no memory, and cannot fail."""
    status = f.alloca(I32)
    home = Home(Domain(), NULL, NULL, NULL, NULL, status, f.label("exit"))
    inner = Writer(w.unit, f, home)
    inner.is_parallel, inner.polls = True, False
    return inner


# --- long blocks ----------------------------------------------------------------------------------


def is_long(unit: Unit, block: Block) -> bool:
    """Whether a block is to be cut."""
    if len(block) < 2:
        return False
    known = unit.sizes.get(id(block))
    if known is None:  # the block is kept, so that its identity stays its own
        known = unit.sizes[id(block)] = (block, costs.size(block))
    return known[1] > LONG


def in_parts(w: Writer, block: Block, after: Needs | None = None) -> None:
    """Write a long block as calls of functions that hold its statements.

    Args:
        after: what is used behind the block.
    """
    groups = list(_groups(block))
    used_later: list[set[Var | Buffer]] = []
    later: set[Var | Buffer] = {*after.vars, *after.buffers} if after else set()
    all_needs = [needs(group) for group in groups]
    for found in reversed(all_needs):
        used_later.append(set(later))
        later |= {*found.vars, *found.buffers}
    for group, found, later in zip(groups, all_needs, reversed(used_later), strict=True):
        _part(w, group, found, later)


def _groups(block: Block) -> Iterator[Block]:
    group: list[Stmt] = []
    size = 0
    for stmt in block:
        weight = costs.size((stmt,))
        if group and size + weight > PART:
            yield tuple(group)
            group, size = [], 0
        group.append(stmt)
        size += weight
    if group:
        yield tuple(group)


def _part(w: Writer, group: Block, found: Needs, later: set[Var | Buffer]) -> None:
    given: list[Var | Buffer] = []
    for stmt in group:
        match stmt:
            case Let(var) if var.mutable:
                if var in later and var not in w.values:
                    w.define(var, _new_cell(w, var))
                    found.declared.discard(var)
                elif var in w.values:
                    found.declared.discard(var)
            case Let(var) | Checked(var) if var in later:
                given.append(var)
            case Allocate(buffer) if buffer in later and not isinstance(buffer.home, Handle):
                given.append(buffer)
    context = context_for(w, found, given)
    words = w.f.alloca(I64, context.size + HOME)
    name = _write_part(w, group, context)
    _call_part(w, name, words, context)


def _home_words(home: Home) -> list[V]:
    return [home.slots, home.arena, home.words, home.outputs, home.unlock]


def _write_part(w: Writer, group: Block, context: Context) -> str:
    from graphify.engines.native.translate.statements import in_line

    unit = w.unit
    f = unit.module.function(
        unit.name("part"), I32, [(PTR, "context")], "internal", "noinline nounwind"
    )
    words = Words(f, f.args["context"])
    status = f.alloca(I32)
    f.store(V(I32, "0"), status)
    slots, arena, failure, outputs, unlock = words.take([PTR] * HOME)
    home = Home(w.home.domain, slots, arena, failure, outputs, status, f.label("exit"), unlock)
    inner = Writer(unit, f, home)
    inner.is_parallel = w.is_parallel
    empty(inner, words, context)
    in_line(inner, group)
    for thing in context.given:
        held = inner.pointers[thing] if isinstance(thing, Buffer) else inner.values[thing]
        assert not isinstance(held, Cell)
        words.put(held.parts if isinstance(held, Element) else [held])
    f.br(home.exit)
    f.start(home.exit)
    back = Words(f, f.args["context"])
    back.count = HOME + sum(len(register_types(v.dtype, 1)) for v in context.values)
    for thing in context.cells:
        back.put(cell_of(inner, thing).raw(f))
    f.ret(f.load(I32, status))
    return f.name


def _call_part(w: Writer, name: str, base: V, context: Context) -> None:
    f = w.f
    words = Words(f, base)
    words.put(_home_words(w.home))
    fill(w, words, context)
    status = f.call(name, I32, [base])
    back = Words(f, base)
    back.count = HOME + sum(len(register_types(v.dtype, 1)) for v in context.values)
    for thing in context.cells:
        cell = cell_of(w, thing)
        cell.set_raw(f, back.take(cell.types))
    w.leave_if(f.icmp("ne", status, V(I32, "0")), status)
    for thing in context.given:
        if isinstance(thing, Buffer):
            w.define(thing, words.take([PTR])[0])
        else:
            parts_ = words.take(register_types(thing.dtype, 1))
            w.define(thing, Element(thing.dtype, tuple(parts_)))
