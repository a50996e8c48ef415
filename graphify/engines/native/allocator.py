"""The code of memory.py: aligned blocks that are used again instead of going back to the system.

A fresh large block costs more in page faults than most operations on it cost in arithmetic, so
freed blocks are kept, in one list for each of four sizes per power of two. Each list has a lock
that nobody waits for: whoever finds it taken asks the system instead. So a lock that a fork leaves
taken does no harm until the child frees it.
"""

from __future__ import annotations

from graphify.engines.native.llvm import I32, I64, PTR, VOID, Function, Module, Type, V

ALIGN = 64
_CLASSES = 256
_ROOM = 128  # bytes before a block: up to ALIGN of padding, and the header
_HUGE = 4 << 20  # from here on the kernel is asked for large pages, as NumPy does
_MADV_HUGEPAGE = 14


def module(most: int, large_pages: bool) -> Module:
    """The allocator.

    Args:
        most: bytes of freed blocks that are kept.
        large_pages: whether the kernel can be asked for them.
    """
    made = Module("memory")
    lists = Type(f"[{_CLASSES} x ptr]")
    made.variable("heads", lists)
    made.variable("locks", Type(f"[{_CLASSES} x i32]"))
    made.variable("held", I64)
    made.variable("most", I64, str(most))
    _write_take(made)
    _write_drop_all(made)
    _write_allocate(made, large_pages)
    _write_free(made)
    _write_recycle(made)
    _write_unlock(made)
    return made


HEADS, LOCKS, HELD, MOST = (V(PTR, f"@{name}") for name in ("heads", "locks", "held", "most"))


def _header(f: Function, block: V, back: int) -> V:
    """Where the block keeps its origin (back 2) and its class (back 1)."""
    return f.at(block, I64, -back)


def _size_of(f: Function, kind: V) -> V:
    """The bytes of the blocks of a class: class 4 * e + q has (5 + q) * 2 ** (e - 2)."""
    quarters = f.add(f.and_(kind, V(I64, "3")), V(I64, "5"))
    return f.shl(quarters, f.sub(f.lshr(kind, V(I64, "2")), V(I64, "2")))


def _class_of(f: Function, size: V) -> V:
    """The class of the smallest blocks that hold `size` bytes."""
    least = f.intrinsic("smax", size, V(I64, str(ALIGN)))
    last = f.sub(least, V(I64, "1"))
    exponent = f.sub(V(I64, "63"), f.intrinsic("ctlz", last, extra="i1 true"))
    quarter = f.and_(f.lshr(last, f.sub(exponent, V(I64, "2"))), V(I64, "3"))
    return f.or_(f.shl(exponent, V(I64, "2")), quarter)


def _write_take(made: Module) -> None:
    """Whether the lock at an address was free; it is taken now."""
    f = made.function("take", Type("i1"), [(PTR, "lock")], "internal", "alwaysinline nounwind")
    pair = f.op(Type("{ i32, i1 }"), "cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic")
    f.ret(f.op(Type("i1"), f"extractvalue {pair}, 1"))


def _release(f: Function, lock: V) -> None:
    f.line(f"store atomic i32 0, {lock} release, align 4")


def _count(f: Function, change: V) -> None:
    f.op(I64, f"atomicrmw add {HELD}, {change} monotonic")


def _write_allocate(made: Module, large_pages: bool) -> None:
    f = made.function("graphify_allocate", PTR, [(I64, "bytes")])
    with f.when(f.icmp("slt", f.args["bytes"], V(I64, "0"))):  # a product that has overflowed
        f.ret(V(PTR, "null"))
    kind = _class_of(f, f.args["bytes"])
    size = _size_of(f, kind)
    head, lock = f.at(HEADS, PTR, kind), f.at(LOCKS, I32, kind)
    some = f.icmp("ne", f.load(PTR, head), V(PTR, "null"))
    with f.when(some), f.when(f.call("take", Type("i1"), [lock])):
        block = f.load(PTR, head)
        found, none = f.label("found"), f.label("none")
        f.br_if(f.icmp("ne", block, V(PTR, "null")), found, none)
        f.start(found)
        f.store(f.load(PTR, block), head)
        _release(f, lock)
        _count(f, f.sub(V(I64, "0"), size))
        f.ret(block)
        f.start(none)
        _release(f, lock)
    whole = f.add(size, V(I64, str(_ROOM)))
    origin = f.call("malloc", PTR, [whole])
    with f.when(f.icmp("eq", origin, V(PTR, "null"))):
        f.ret(origin)
    start = f.convert("ptrtoint", origin, I64)
    address = f.and_(f.add(start, V(I64, str(_ROOM))), V(I64, str(-ALIGN)))
    block = f.convert("inttoptr", address, PTR)
    f.store(origin, _header(f, block, 2))
    f.store(kind, _header(f, block, 1))
    if large_pages:
        with f.when(f.icmp("sge", size, V(I64, str(_HUGE)))):
            page = f.and_(f.add(start, V(I64, "4095")), V(I64, "-4096"))
            inside = f.sub(whole, V(I64, "4096"))
            advice = V(I32, str(_MADV_HUGEPAGE))
            f.call("madvise", I32, [f.convert("inttoptr", page, PTR), inside, advice])
    f.ret(block)


def _write_free(made: Module) -> None:
    f = made.function("graphify_free", VOID, [(PTR, "block")])
    block = f.args["block"]
    with f.when(f.icmp("eq", block, V(PTR, "null"))):
        f.ret()
    kind = f.load(I64, _header(f, block, 1))
    size = _size_of(f, kind)
    most = f.load(I64, MOST)
    head, lock = f.at(HEADS, PTR, kind), f.at(LOCKS, I32, kind)
    with f.when(f.icmp("sle", size, most)):
        with f.when(f.icmp("sgt", f.add(f.load(I64, HELD), size), most)):
            f.call("drop_all", VOID, [])
        with f.when(f.call("take", Type("i1"), [lock])):
            f.store(f.load(PTR, head), block)
            f.line(f"store atomic {block}, {head} release, align 8")
            _release(f, lock)
            _count(f, size)
            f.ret()
    f.call("free", VOID, [f.load(PTR, _header(f, block, 2))])
    f.ret()


def _write_drop_all(made: Module) -> None:
    """Give every kept block back to the system: the ones kept may be of sizes nobody asks for."""
    f = made.function("drop_all", VOID, [], "internal", "noinline nounwind")
    with f.counting(V(I64, "0"), V(I64, str(_CLASSES))) as kind:
        head, lock = f.at(HEADS, PTR, kind), f.at(LOCKS, I32, kind)
        with f.when(f.call("take", Type("i1"), [lock])):
            test, body, done = f.label("test"), f.label("body"), f.label("done")
            f.start(test)
            block = f.load(PTR, head)
            f.br_if(f.icmp("ne", block, V(PTR, "null")), body, done)
            f.start(body)
            f.store(f.load(PTR, block), head)
            _count(f, f.sub(V(I64, "0"), _size_of(f, kind)))
            f.call("free", VOID, [f.load(PTR, _header(f, block, 2))])
            f.br(test)
            f.start(done)
            _release(f, lock)
    f.ret()


def _write_recycle(made: Module) -> None:
    f = made.function("graphify_recycle", VOID, [(I64, "bytes")])
    f.store(f.args["bytes"], MOST)
    with f.when(f.icmp("sgt", f.load(I64, HELD), f.args["bytes"])):
        f.call("drop_all", VOID, [])
    f.ret()


def _write_unlock(made: Module) -> None:
    """For the child of a fork: whoever had a lock is not there to give it back."""
    f = made.function("graphify_unlock_memory", VOID, [])
    with f.counting(V(I64, "0"), V(I64, str(_CLASSES))) as kind:
        _release(f, f.at(LOCKS, I32, kind))
    f.ret()
