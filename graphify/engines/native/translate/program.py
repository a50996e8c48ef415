"""From a loop-level program to an LLVM module.

    module = translate(program, target)
    code = jit.compile(module.text(), ["shapes", "run"])

    i32 @shapes(ptr inputs, ptr outputs)      sizes, checked; the shapes of results that follow
    i32 @run(ptr inputs, ptr outputs)         everything; 0 or the number of the site that failed

Words of the inputs: for each parameter its address, dims and strides. Words of the outputs: for
each result its address and dims, then eight words for the values in a failure's message. Statuses
beside those of sites: -1, a Python exception is pending; one more than there are sites, no memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphify.config import config
from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import BIT, I8, I32, I64, PTR, VOID, Module, V
from graphify.engines.native.loops.check import check
from graphify.engines.native.loops.program import (
    INDEX,
    Allocate,
    Call,
    Fail,
    Free,
    Point,
    Program,
    Reduce,
    Var,
)
from graphify.engines.native.loops.walk import statements
from graphify.engines.native.target import Target
from graphify.engines.native.translate import (
    addresses,
    calls,
    convolution,
    costs,
    draws,
    lapack,
    library,
    loops,
    memory,
    sections,
    vectors,
)
from graphify.engines.native.translate.routines import write_routines
from graphify.engines.native.translate.statements import block, in_line
from graphify.engines.native.translate.writer import NULL, Domain, Home, Unit, Writer, number
from graphify.ir.types import is_inexact

PARAMS = [(PTR, "inputs"), (PTR, "outputs")]


def translate(program: Program, target: Target) -> Module:
    """The module of a program, with its functions `shapes` and `run`."""
    if config.check:
        check(program)
    module = Module(program.name, target)
    unit = _unit(module, program, target)
    write_routines(unit)
    _shapes(unit)
    _run(unit)
    return module


def _unit(module: Module, program: Program, target: Target) -> Unit:
    wide, freed, pointed = set(), set(), set()
    for stmt in statements(program.body):
        match stmt:
            case Reduce(var, "add") if is_inexact(var.dtype):
                wide.add(var)
            case Free(buffer):
                freed.add(buffer)
            case Point(_, buffer):
                pointed.add(buffer.root)
    unit = Unit(module, program, target, frozenset(wide), frozenset(freed), frozenset(pointed))
    size = costs.size(program.body)
    unit.long, unit.compact = size > vectors.LONG, size > vectors.HEAVY
    return unit


# --- the two functions ----------------------------------------------------------------------------


def _shapes(unit: Unit) -> None:
    w = _open(unit, "shapes", NULL, NULL)
    _load_inputs(w)
    in_line(w, unit.program.sizes)  # not in parts: what they declare is used below
    for position, dims in enumerate(unit.program.dims):
        at = memory.result_word(unit, position) + 1
        for axis in range(unit.program.results[position].ndim):
            length = number(-1) if dims is None else addresses.value(w, dims[axis])
            w.f.store(length, w.f.at(w.home.outputs, I64, at + axis))
    _close(w)


def _run(unit: Unit) -> None:
    w = _open(unit, "run", V(PTR, "%slots"), V(PTR, "%arena"))
    if any(isinstance(s, Call) and s.function == "lock" for s in statements(unit.program.body)):
        w.home.unlock = w.f.alloca(PTR)
        w.f.store(NULL, w.home.unlock)
    spot = w.f.spot("body")
    _load_inputs(w)
    _load_outputs(w)
    in_line(w, tuple(s for s in unit.program.sizes if not isinstance(s, Fail)))  # by @shapes
    block(w, unit.program.body)
    _close(w)
    with w.f.writing_at(spot):
        reserve(w)


def _open(unit: Unit, name: str, slots: V, arena: V) -> Writer:
    f = unit.module.function(name, I32, PARAMS)
    status = f.alloca(I32)
    f.store(V(I32, "0"), status)
    outputs = f.args["outputs"]
    words = f.at(outputs, I64, memory.result_word(unit, len(unit.program.results)))
    home = Home(Domain(), slots, arena, words, outputs, status, f.label("exit"))
    return Writer(unit, f, home)


def _close(w: Writer) -> None:
    """The way out of a function that owns memory."""
    f = w.f
    f.br(w.home.exit)
    f.start(w.home.exit)
    if w.home.unlock != NULL:
        draws.unlock(w, w.home)
    status = f.load(I32, w.home.status)
    leave_memory(w, f.icmp("ne", status, V(I32, "0")))
    f.ret(status)


def reserve(w: Writer) -> None:
    """The stack memory of a domain, when its size is known."""
    domain, f = w.home.domain, w.f
    f.stack("slots", PTR, max(1, domain.slots))
    f.stack("arena", I8, max(1, domain.arena))
    if domain.slots:
        size = number(8 * domain.slots)
        f.call("llvm.memset.p0.i64", VOID, [w.home.slots, V(I8, "0"), size, V(BIT, "false")])


def leave_memory(w: Writer, failed: V) -> None:
    """Free what is still in the slots. Results are the caller's, also after a failure."""
    domain, f = w.home.domain, w.f
    if not domain.slots:
        return
    on, done = f.label("free"), f.label("left")
    if domain.leaks:
        f.br(on)
    else:
        f.br_if(failed, on, done, w.unlikely)
    f.start(on)
    for position in domain.results:
        place = f.at(w.home.slots, PTR, position)
        f.store(NULL, place)
    f.call(memory.release(w.unit), VOID, [w.home.slots, number(domain.slots)])
    f.start(done)


# --- arguments ------------------------------------------------------------------------------------


def _load_inputs(w: Writer) -> None:
    """Addresses, lengths and strides of the parameters."""
    f, word = w.f, 0
    for buffer in w.unit.program.params:
        w.define(buffer, f.load(PTR, f.at(f.args["inputs"], I64, word)))
        _load_words(w, buffer.shape, word + 1)
        _load_words(w, buffer.strides or (), word + 1 + buffer.ndim)
        word += 1 + 2 * buffer.ndim


def _load_words(w: Writer, things: Sequence[object], word: int) -> None:
    for axis, var in enumerate(things):
        if isinstance(var, Var) and var not in w.values:
            value = w.f.load(I64, w.f.at(w.f.args["inputs"], I64, word + axis))
            w.define(var, Element(INDEX, (value,)))


def _load_outputs(w: Writer) -> None:
    """Addresses of the results whose shape the caller knew."""
    own = {s.buffer for s in _allocations(w.unit.program)}
    for position, buffer in enumerate(w.unit.program.results):
        if w.unit.program.dims[position] is not None and buffer not in own:
            at = w.f.at(w.home.outputs, I64, memory.result_word(w.unit, position))
            w.define(buffer, w.f.load(PTR, at))


def _allocations(program: Program) -> list[Allocate]:
    return [s for s in statements(program.body) if isinstance(s, Allocate)]


__all__ = ["calls", "convolution", "draws", "lapack", "library", "loops", "sections", "translate"]
