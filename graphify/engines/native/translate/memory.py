"""Buffers that come and go: `Allocate`, `Free`, `Point`, `Swap`.

Every block from the heap stands in a slot of its owner (`Domain`) until it is freed, so that
whoever leaves early frees what is there. Small temporaries of fixed size lie in an arena on the
stack. A handle has a slot, too: it owns the memory that was allocated for it, and hands it on with
`Swap`, or with `Point` to another handle.
"""

from __future__ import annotations

from math import prod

from graphify.engines.native import memory as blocks
from graphify.engines.native.llvm import BIT, I8, I64, PTR, VOID, Function, Type, V
from graphify.engines.native.loops.program import (
    Allocate,
    Buffer,
    Const,
    Free,
    Handle,
    Point,
    Result,
    Swap,
)
from graphify.engines.native.translate import addresses, cells
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.statements import rule
from graphify.engines.native.translate.writer import NULL, Unit, Writer, number

ALLOCATE, FREE = blocks.NAMES[:2]
ARENA = 16 << 10  # bytes of small temporaries on the stack
ALIGN = 64
MOST = 1 << 62  # bytes that no machine has


@rule(Allocate)
def _allocate(w: Writer, stmt: Allocate) -> None:
    buffer = stmt.buffer
    size = _fixed_size(buffer)
    if size is not None and _fits_arena(w, buffer, size):
        pointer = w.f.at(w.home.arena, I8, w.home.domain.arena)
        w.home.domain.arena += -(-size // ALIGN) * ALIGN
        w.define(buffer, pointer)
        return
    pointer = allocate(w, _bytes(w, buffer))
    own(w, buffer, pointer)


def _fixed_size(buffer: Buffer) -> int | None:
    if not all(isinstance(d, Const) for d in buffer.shape) or buffer.strides is not None:
        return None
    dims = [int(d.value) for d in buffer.shape if isinstance(d, Const)]
    return prod(dims) * buffer.dtype.itemsize


def _fits_arena(w: Writer, buffer: Buffer, size: int) -> bool:
    """In a loop, every turn has the same place: nothing but a handle could keep an older one."""
    if isinstance(buffer.home, Handle | Result) or w.home.domain.arena + size > ARENA:
        return False
    return buffer not in w.unit.pointed


def _bytes(w: Writer, buffer: Buffer) -> V:
    """The size of a buffer; more than there ever is where 64 bits do not hold it."""
    fixed, total = buffer.dtype.itemsize, None
    for dim in buffer.shape:
        if isinstance(dim, Const):
            fixed *= int(dim.value)
            continue
        length = addresses.value(w, dim)
        total = length if total is None else saturating_product(w.f, total, length)
    if total is None:
        return number(min(fixed, MOST))
    return saturating_product(w.f, total, number(min(fixed, MOST)))


def saturating_product(f: Function, a: V, b: V) -> V:
    """a * b of numbers that are not negative, MOST if that is too large."""
    both = Type("{ i64, i1 }")
    pair = f.intrinsic("smul.with.overflow", a, b, result=both)
    product, over = f.op(I64, f"extractvalue {pair}, 0"), f.op(BIT, f"extractvalue {pair}, 1")
    return f.select(over, number(MOST), product)


def allocate(w: Writer, size: V) -> V:
    """A block from the heap; leaves where there is none."""
    block = w.f.call(ALLOCATE, PTR, [size])
    w.leave_if(w.f.icmp("eq", block, NULL), w.unit.no_memory)
    return block


def slot(w: Writer, buffer: Buffer) -> V:
    """Where the block that a buffer owns is noted."""
    domain = w.home.domain
    position = domain.owned.get(buffer)
    if position is None:
        position = domain.owned[buffer] = domain.slots
        domain.slots += 1
        if isinstance(buffer.home, Result):
            domain.results.append(position)
        if isinstance(buffer.home, Handle) or buffer not in w.unit.freed:
            domain.leaks = True
    return w.f.at(w.home.slots, PTR, position)


def own(w: Writer, buffer: Buffer, block: V) -> None:
    """A block is a buffer's from here on."""
    w.f.store(block, slot(w, buffer))
    if isinstance(buffer.home, Handle):
        cell_of(w, buffer).set_raw(w.f, [block])
        return
    w.define(buffer, block)
    if isinstance(buffer.home, Result):
        give_out(w, buffer, block)


def give_out(w: Writer, buffer: Buffer, block: V) -> None:
    """Tell the caller where a result is, and its shape."""
    assert isinstance(buffer.home, Result)
    at = result_word(w.unit, buffer.home.position)
    w.f.store(block, w.f.at(w.home.outputs, I64, at))
    for axis, dim in enumerate(buffer.shape):
        w.f.store(addresses.value(w, dim), w.f.at(w.home.outputs, I64, at + 1 + axis))


def result_word(unit: Unit, position: int) -> int:
    """The first word of a result among the outputs."""
    return sum(1 + b.ndim for b in unit.program.results[:position])


def cell_of(w: Writer, handle: Buffer) -> Cell:
    """Where the address in a handle is kept; made on first need."""
    if handle not in w.pointers:
        cell = cells.pointer(w.f)
        w.pointers[handle], w.levels[handle] = cell, 0
    found = w.pointers[handle]
    assert isinstance(found, Cell)
    return found


@rule(Free)
def _free(w: Writer, stmt: Free) -> None:
    buffer, f = stmt.buffer, w.f
    if buffer not in w.home.domain.owned and not isinstance(buffer.home, Handle):
        return  # in the arena
    place = slot(w, buffer)
    f.call(FREE, VOID, [f.load(PTR, place)])
    f.store(NULL, place)


@rule(Point)
def _point(w: Writer, stmt: Point) -> None:
    f, handle, target = w.f, stmt.handle, stmt.target
    cell_of(w, handle).set_raw(f, [addresses.base(w, target)])
    mine = slot(w, handle)
    before = f.load(PTR, mine)
    if isinstance(target.home, Handle):
        theirs = slot(w, target)
        f.store(f.load(PTR, theirs), mine)
        f.store(NULL, theirs)
    else:
        f.store(NULL, mine)
    f.call(FREE, VOID, [before])


@rule(Swap)
def _swap(w: Writer, stmt: Swap) -> None:
    f = w.f
    a, b = cell_of(w, stmt.a), cell_of(w, stmt.b)
    first, second = a.raw(f), b.raw(f)
    a.set_raw(f, second)
    b.set_raw(f, first)
    places = slot(w, stmt.a), slot(w, stmt.b)
    owned = [f.load(PTR, p) for p in places]
    for block, place in zip(reversed(owned), places, strict=True):
        f.store(block, place)


def release(unit: Unit) -> str:
    """The function that frees what is in the slots; its name."""
    name = "release"
    if name not in unit.module.functions:
        f = unit.module.function(name, VOID, [(PTR, "slots"), (I64, "count")], "internal")
        with f.counting(number(0), f.args["count"]) as i:
            block = f.load(PTR, f.at(f.args["slots"], PTR, i))
            with f.when(f.icmp("ne", block, NULL)):
                f.call(FREE, VOID, [block])
        f.ret()
    return name
