"""What a loop-level program consists of: its kernels, its buffers, what is left to Python.

    report = describe(program)
    print(report)                       # tables
    report.kernels[0].flops             # Amount: 27*n*m

A kernel is a loop or a call at the top level of a program, with the scalars computed before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from graphify.engines.native.inspection.amounts import Amount
from graphify.engines.native.inspection.tables import table
from graphify.engines.native.inspection.work import (
    Definitions,
    Work,
    amount,
    called,
    elements,
    measure,
)
from graphify.engines.native.loops.lines import quoted, user_lines
from graphify.engines.native.loops.pretty import block_text
from graphify.engines.native.loops.program import (
    Allocate,
    Apply,
    Block,
    Buffer,
    Call,
    Const,
    For,
    If,
    Literal,
    Param,
    Program,
    Result,
    Sections,
    Stmt,
    While,
)
from graphify.engines.native.loops.walk import buffers_of, statements
from graphify.ir.types import short_name
from graphify.location import SourceLoc

SHOWN = 12  # operations of a kernel that the table names
# Functions that share their work between threads.
SHARED = frozenset(["matmul", "convolution"])
MAIN = (For, While, If, Sections, Call)  # what a kernel ends with


@dataclass(frozen=True, slots=True)
class Kernel:
    """A part of a program that runs as one.

    Attributes:
        head: its first line: "parallel for i in n".
        lines: the user's lines that were fused into it.
        ops: the operations on elements, in order.
        parallel: whether several threads may share it, which they do where it is worth it.
        vector: whether its inmost loops run in vector lanes.
        flops: operations on elements; an exponential counts as the twenty or so it is made of.
        bytes: what goes between it and memory if each element does so once.
        buffers: the memory it touches.
        statements: the kernel itself.
    """

    head: str
    lines: tuple[SourceLoc, ...]
    ops: tuple[str, ...]
    parallel: bool
    vector: bool
    flops: Amount
    bytes: Amount
    buffers: tuple[Buffer, ...] = field(repr=False)
    statements: Block = field(repr=False)

    @property
    def threads(self) -> str:
        return "several" if self.parallel else "one"


@dataclass(frozen=True, slots=True)
class Memory:
    """A buffer of a program. `kind`: argument, result, temporary or constant."""

    name: str
    kind: str
    type: str
    bytes: Amount


@dataclass(frozen=True, slots=True)
class InPython:
    """An op that has no loops of its own: compiled code calls its meaning in Python."""

    op: str
    source: SourceLoc | None


@dataclass(frozen=True, slots=True)
class KernelReport:
    """What the native engine made of a graph. `str` gives it as tables."""

    name: str
    kernels: tuple[Kernel, ...]
    buffers: tuple[Memory, ...]
    in_python: tuple[InPython, ...]

    def __str__(self) -> str:
        count = len(self.kernels)
        parts = [f"native engine: {self.name}, {count} kernel{'s' * (count != 1)}"]
        if self.kernels:
            parts.append(_kernel_table(self.kernels))
        if self.buffers:
            rows = [[b.name, b.kind, b.type, str(b.bytes)] for b in self.buffers]
            parts.append(table(["buffer", "kind", "type", "bytes"], rows))
        parts.append(self._python())
        return "\n\n".join(parts)

    def _python(self) -> str:
        if not self.in_python:
            return "Python runs nothing."
        rows = [f"{each.op}, {each.source or 'no line of yours'}" for each in self.in_python]
        return "Python runs, called from compiled code:\n    " + "\n    ".join(dict.fromkeys(rows))


def _kernel_table(kernels: tuple[Kernel, ...]) -> str:
    head = ["#", "kernel", "lines", "threads", "lanes", "flops", "bytes", "does"]
    rows = [
        [
            str(number),
            kernel.head,
            shown_lines(kernel),
            kernel.threads,
            "yes" if kernel.vector else "no",
            str(kernel.flops),
            str(kernel.bytes),
            " ".join([*kernel.ops[:SHOWN], *["..."] * (len(kernel.ops) > SHOWN)]),
        ]
        for number, kernel in enumerate(kernels)
    ]
    places = {(p.file, p.line): p for kernel in kernels for p in kernel.lines}
    quotes = quoted(places.values())
    return "\n".join([table(head, rows, right={0}), *(f"    {line}" for line in quotes)])


def shown_lines(kernel: Kernel) -> str:
    """The numbers of its lines."""
    return ", ".join(dict.fromkeys(str(place.line) for place in kernel.lines))


# --- taking a program apart -----------------------------------------------------------------------


def divide(program: Program) -> list[Block]:
    """The program's body in kernels: each ends with a loop, a branch or a call."""
    kernels: list[list[Stmt]] = [[]]
    for stmt in program.body:
        kernels[-1].append(stmt)
        if isinstance(stmt, MAIN):
            kernels.append([])
    rest = kernels.pop()
    if kernels:
        kernels[-1] += rest
    elif rest:
        kernels.append(rest)
    return [tuple(kernel) for kernel in kernels]


def describe(program: Program) -> KernelReport:
    """The report on a program after its passes."""
    known: Definitions = {}
    measure(program.sizes, known)
    kernels = tuple(_kernel(program, block, known) for block in divide(program))
    return KernelReport(
        program.name, kernels, tuple(_buffers(program, known)), tuple(_in_python(program))
    )


def _kernel(program: Program, block: Block, known: Definitions) -> Kernel:
    work: Work = measure(block, known)
    within = {s.buffer for s in statements(block) if isinstance(s, Allocate)}
    inside = within & _freed_or_local(block)
    loops = [s for s in statements(block) if isinstance(s, For)]
    calls = [s for s in statements(block) if isinstance(s, Call)]
    main = next((s for s in block if isinstance(s, MAIN)), None)
    return Kernel(
        _head(program, main),
        tuple(user_lines(block)),
        tuple(_ops(program, work, calls)),
        isinstance(main, Sections)
        or any(s.kind == "parallel" for s in loops)
        or any(c.function in SHARED for c in calls),
        any(s.kind == "vector" for s in loops),
        work.flops,
        work.bytes_moved(inside, known),
        tuple(dict.fromkeys(buffer.root for buffer, _ in work.touched)),
        block,
    )


def _ops(program: Program, work: Work, calls: list[Call]) -> Iterator[str]:
    for op in work.ops:
        if op == "host":
            yield from dict.fromkeys(
                _op_of_host(program, call) for call in calls if call.function == "host"
            )
        else:
            yield op


def _freed_or_local(block: Block) -> set[Buffer]:
    """Buffers that are allocated inside a loop of the block: made anew for each turn."""
    found: set[Buffer] = set()
    for stmt in block:
        if isinstance(stmt, (For, While, If, Sections)):
            found |= {s.buffer for s in statements((stmt,)) if isinstance(s, Allocate)}
    return found


def _head(program: Program, main: Stmt | None) -> str:
    if main is None:
        return "scalars"
    if isinstance(main, Call):
        if main.function == "host":
            return f"Python: {_op_of_host(program, main)}"
        return called(main)
    if isinstance(main, While):
        return "while"
    if isinstance(main, Sections):
        return f"{len(main.parts)} sections side by side"
    if isinstance(main, For) and (tile := _tile(main)) is not None:
        main = replace(tile, kind="parallel")
    first = block_text((main,)).splitlines()[0]
    return first.partition("  #")[0].rstrip(":")


def _tile(loop: For) -> For | None:
    """The whole loop, if `loop` goes through it in blocks (see schedule.py)."""
    for inner in loop.body:
        match inner:
            case For(extent=Apply("minimum", (Apply("subtract", (whole, _)), Const()))):
                return replace(inner, extent=whole)
            case For(extent=Apply("minimum", (Apply("add", (whole, _)), Const()))):
                return replace(inner, extent=whole)
    return None


def _op_of_host(program: Program, call: Call) -> str:
    node = getattr(program.hosts[call.attrs["number"]], "node", None)
    return node.op.name if node is not None else "host"


def _in_python(program: Program) -> Iterator[InPython]:
    for stmt in statements(program.body):
        if isinstance(stmt, Call) and stmt.function == "host":
            source = stmt.source.resolve() if stmt.source is not None else None
            place = source and SourceLoc(source.file, source.line, source.function)
            yield InPython(_op_of_host(program, stmt), place)


def _buffers(program: Program, known: Definitions) -> Iterator[Memory]:
    """Arguments, results, what the program allocates, and its constants."""
    found: dict[Buffer, str] = {}
    for buffer in (*program.params, *program.results):
        found[buffer] = "argument" if isinstance(buffer.home, Param) else "result"
    for stmt in statements(program.body):
        if isinstance(stmt, Allocate) and not isinstance(stmt.buffer.home, Result):
            found.setdefault(stmt.buffer, "temporary")
        for touched, _ in buffers_of(stmt):
            if isinstance(touched.root.home, Literal):
                found.setdefault(touched.root, "constant")
    for buffer, kind in found.items():
        sizes = ", ".join(str(amount(d, known)) for d in buffer.shape)
        type = f"{short_name(buffer.dtype)}[{sizes}]"
        yield Memory(buffer.name, kind, type, elements(buffer, known) * buffer.dtype.itemsize)
