"""Writing LLVM IR: types, values, and the functions of a module as text.

    module = Module("demo")
    f = module.function("twice", F32, [(F32, "x")])
    f.ret(f.fadd(f.args["x"], f.args["x"]))
    module.text()

A thin layer: one method per instruction, each returns a typed `V`. Text rather than an object tree
because text is quick to make, is what LLVM parses, and is what people read when they debug.
The IR keeps to forms that several LLVM releases parse.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphify.engines.native.target import Target

_SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}
_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "i1": 1}


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type, or a vector of `lanes` of them.

    >>> str(Type("float", 8)), Type("float", 8).suffix
    ('<8 x float>', 'v8f32')
    """

    scalar: str
    lanes: int = 1

    def __str__(self) -> str:
        return self.scalar if self.lanes == 1 else f"<{self.lanes} x {self.scalar}>"

    @property
    def suffix(self) -> str:
        """How intrinsics name the type."""
        one = _SUFFIX.get(self.scalar, self.scalar)
        return one if self.lanes == 1 else f"v{self.lanes}{one}"

    @property
    def is_float(self) -> bool:
        return self.scalar in ("half", "bfloat", "float", "double")

    @property
    def bytes(self) -> int:
        """Bytes of one scalar in memory."""
        return _BYTES.get(self.scalar) or int(self.scalar[1:]) // 8

    def of(self, lanes: int) -> Type:
        """The same scalar in `lanes` lanes."""
        return Type(self.scalar, lanes)

    def like(self, scalar: str) -> Type:
        """Another scalar in as many lanes."""
        return Type(scalar, self.lanes)


VOID, BIT, PTR = Type("void"), Type("i1"), Type("ptr")
I8, I16, I32, I64 = Type("i8"), Type("i16"), Type("i32"), Type("i64")
F16, BF16, F32, F64 = Type("half"), Type("bfloat"), Type("float"), Type("double")


@dataclass(frozen=True, slots=True)
class V:
    """A value: its type and how the text names it ("%v7", "42")."""

    type: Type
    text: str

    def __str__(self) -> str:
        """With the type, as operands are written."""
        return f"{self.type} {self.text}"


Parameter = tuple[Type, str] | tuple[Type, str, str]  # type, name, attributes ("noalias readonly")


class Module:
    """Functions, declarations and globals of one LLVM module, made for one machine."""

    def __init__(self, name: str = "graphify", target: Target | None = None) -> None:
        self.name = name
        self._target = target
        self.functions: dict[str, Function] = {}
        self._declarations: dict[str, str] = {}
        self._globals: dict[str, str] = {}
        self._table: dict[tuple[str, str], int] = {}  # (scalar, literal) -> slot of @constants
        self._metadata: list[str] = []

    @property
    def target(self) -> Target:
        """The machine the code is made for: the host unless the module was told otherwise."""
        if self._target is None:
            from graphify.engines.native.target import host  # it imports this file

            self._target = host()
        return self._target

    def function(
        self,
        name: str,
        result: Type,
        params: Sequence[Parameter],
        linkage: str = "",
        attributes: str = "nounwind",
    ) -> Function:
        """A new function, open at its entry block."""
        assert name not in self.functions, name
        self.functions[name] = function = Function(self, name, result, params, linkage, attributes)
        return function

    def declare(self, name: str, result: Type, params: Sequence[Type], suffix: str = "") -> str:
        """Declare an external function or intrinsic once; returns its name."""
        if name not in self._declarations and name not in self.functions:
            kinds = ", ".join(map(str, params))
            self._declarations[name] = f"declare {result} @{name}({kinds}) {suffix}".rstrip()
        return name

    def external(self, name: str) -> V:
        """The address of a symbol defined elsewhere."""
        self._declarations.setdefault(name, f"@{name} = external global i8")
        return V(PTR, f"@{name}")

    def constant_bytes(self, name: str, data: bytes, align: int = 64) -> V:
        """A read-only global holding `data`."""
        body = "".join(
            chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in data
        )
        self._globals[name] = (
            f'@{name} = internal constant [{len(data)} x i8] c"{body}", align {align}'
        )
        return V(PTR, f"@{name}")

    def variable(self, name: str, type: Type, init: str = "zeroinitializer") -> V:
        """A writable global of the module's own."""
        self._globals[name] = f"@{name} = internal global {type} {init}, align 64"
        return V(PTR, f"@{name}")

    def metadata(self, text: str) -> str:
        """A metadata node; returns its name, "!7"."""
        if text not in self._metadata:
            self._metadata.append(text)
        return f"!{self._metadata.index(text)}"

    def slot(self, type: Type, literal: str) -> int:
        """Where in `@constants` a scalar constant lies: its byte.

        NOTE: vector constants cost 0.1 ms each to compile; a load and a broadcast cost nothing.
        The table is `global`, not `constant`, so that LLVM does not turn it back into them, and
        one table rather than a global each, because an address is an instruction and a register.
        """
        return 8 * self._table.setdefault((type.scalar, literal), len(self._table))

    def _constants(self) -> Iterator[str]:
        if self._table:
            fields = [
                f"{scalar} {literal}, [{8 - Type(scalar).bytes} x i8] zeroinitializer"
                for scalar, literal in self._table
            ]
            kinds = [f"{scalar}, [{8 - Type(scalar).bytes} x i8]" for scalar, _ in self._table]
            yield (
                f"@constants = internal global <{{ {', '.join(kinds)} }}> "
                f"<{{ {', '.join(fields)} }}>, align 64"
            )

    def text(self) -> str:
        """The module in LLVM's own notation."""
        lines = [f"; {self.name}", *self._declarations.values(), *self._globals.values()]
        lines += self._constants()
        for function in self.functions.values():
            lines += ["", *function.lines()]
        lines += [f"!{i} = {text}" for i, text in enumerate(self._metadata)]
        return "\n".join(lines) + "\n"


@dataclass(slots=True)
class Fold:
    """The values that a loop carries, see `Function.folding`."""

    index: V
    values: list[V]
    results: list[V] = field(default_factory=list)


class Spot:
    """A place in a function's text that may still be written at: see `Function.writing_at`."""

    __slots__ = ("block", "lines")

    def __init__(self, block: str) -> None:
        self.lines: list[Any] = []
        self.block = block  # the label of the block that is open there


class Function:
    """One function being written, instruction by instruction."""

    def __init__(
        self,
        module: Module,
        name: str,
        result: Type,
        params: Sequence[Parameter],
        linkage: str,
        attributes: str,
    ) -> None:
        self.module, self.name, self.result = module, name, result
        self.linkage, self.attributes = linkage, attributes
        self._params = params
        self.args = {p[1]: V(p[0], f"%{p[1]}") for p in params}
        self._count = 0
        self._allocas: list[str] = []
        self._constants: V | None = None  # where the module's table of constants is
        self._lines: list[Any] = []  # lines, and lists of the lines written at spots
        self.block = "entry"  # the label of the open block
        self.closed = False  # whether the open block has ended (br, ret)
        self.calls = 0  # how often the module calls it

    # --- text -----------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many instructions were written."""
        return len(self._lines)

    def lines(self) -> Iterator[str]:
        params = ", ".join(
            f"{p[0]} {p[2] + ' ' if len(p) > 2 else ''}%{p[1]}" for p in self._params
        )
        linkage = f"{self.linkage} " if self.linkage else ""
        yield f"define {linkage}{self.result} @{self.name}({params}) {self.attributes} {{"
        yield "entry:"
        yield from self._allocas
        yield from _flat(self._lines)
        yield "}"

    def spot(self, hint: str = "at") -> Spot:
        """A place right here, followed by a block of its own, to be filled in later.

        What is written there dominates what follows, so it is where a loop's fixed values go.
        """
        after = self.label(hint)
        spot = Spot(self.block)
        self._lines += [spot.lines, f"  br label %{after}", f"{after}:"]
        self.block, self.closed = after, False
        return spot

    @contextmanager
    def writing_at(self, spot: Spot) -> Iterator[None]:
        """What is written inside goes to an earlier place of the function."""
        if self._lines is spot.lines:
            yield
            return
        here = self._lines, self.block, self.closed
        self._lines, self.block, self.closed = spot.lines, spot.block, False
        try:
            yield
        finally:
            spot.block = self.block
            self._lines, self.block, self.closed = here

    def line(self, text: str) -> None:
        """An instruction without result."""
        self._lines.append("  " + text)

    def comment(self, text: str) -> None:
        self._lines.append(f"  ; {text}")

    def op(self, type: Type, text: str) -> V:
        """An instruction with a result."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {text}")
        return V(type, name)

    def reserve(self) -> tuple[list[Any], int]:
        """A line right here whose text comes later: see `fill`."""
        self._lines.append("")
        return self._lines, len(self._lines) - 1

    def fill(self, line: tuple[list[Any], int], text: str) -> None:
        """The text of a reserved line."""
        line[0][line[1]] = "  " + text

    def stack(self, name: str, type: Type, count: int, align: int = 64) -> V:
        """Stack memory with a name of its own; may be asked for when its size is known."""
        self._allocas.append(f"  %{name} = alloca {type}, i64 {count}, align {align}")
        return V(PTR, f"%{name}")

    # --- constants ------------------------------------------------------------------------------

    def const(self, type: Type, number: Any) -> V:
        """A constant; vectors of one non-trivial float are broadcast from memory."""
        one = Type(type.scalar)
        literal = self._literal(one, number)
        if type.lanes == 1:
            return V(type, literal)
        if not number and not (type.is_float and str(float(number)).startswith("-")):
            return V(type, "zeroinitializer")
        if not type.is_float:
            return V(type, "<" + ", ".join([f"{one} {literal}"] * type.lanes) + ">")
        place = self.op(
            PTR, f"getelementptr i8, {self._table()}, i64 {self.module.slot(one, literal)}"
        )
        return self.splat(self.load(one, place), type.lanes)

    def _table(self) -> V:
        """The address of the constants, in a register.

        NOTE: through an empty piece of assembly, or LLVM would fold it into every load, where it
        takes an instruction and a register of its own.
        """
        if self._constants is None:
            text = 'call ptr asm "", "=r,0"(ptr @constants)'
            self._allocas.insert(0, f"  %constants = {text}")
            self._constants = V(PTR, "%constants")
        return self._constants

    def _literal(self, type: Type, number: Any) -> str:
        if type.scalar == "ptr":
            return "null"
        if type.scalar == "i1":
            return "true" if number else "false"
        if not type.is_float:
            return str(int(number))
        return float_literal(type.scalar, number)

    def splat(self, x: V, lanes: int) -> V:
        """A scalar in every lane."""
        if lanes == 1:
            return x
        type = x.type.of(lanes)
        one = self.op(type, f"insertelement {type} poison, {x}, i32 0")
        mask = f"<{lanes} x i32> zeroinitializer"
        return self.op(type, f"shufflevector {one}, {type} poison, {mask}")

    def iota(self, type: Type) -> V:
        """0, 1, 2, ... in the lanes of an integer type."""
        if type.lanes == 1:
            return self.const(type, 0)
        return V(type, "<" + ", ".join(f"{type.scalar} {i}" for i in range(type.lanes)) + ">")

    # --- arithmetic -----------------------------------------------------------------------------

    def binary(self, opcode: str, a: V, b: V) -> V:
        return self.op(a.type, f"{opcode} {a}, {b.text}")

    def fadd(self, a: V, b: V) -> V:
        return self.binary("fadd", a, b)

    def fsub(self, a: V, b: V) -> V:
        return self.binary("fsub", a, b)

    def fmul(self, a: V, b: V) -> V:
        return self.binary("fmul", a, b)

    def fdiv(self, a: V, b: V) -> V:
        return self.binary("fdiv", a, b)

    def fneg(self, a: V) -> V:
        return self.op(a.type, f"fneg {a}")

    def add(self, a: V, b: V) -> V:
        return self.binary("add", a, b)

    def sub(self, a: V, b: V) -> V:
        return self.binary("sub", a, b)

    def mul(self, a: V, b: V) -> V:
        return self.binary("mul", a, b)

    def and_(self, a: V, b: V) -> V:
        return self.binary("and", a, b)

    def or_(self, a: V, b: V) -> V:
        return self.binary("or", a, b)

    def xor(self, a: V, b: V) -> V:
        return self.binary("xor", a, b)

    def shl(self, a: V, b: V) -> V:
        return self.binary("shl", a, b)

    def lshr(self, a: V, b: V) -> V:
        return self.binary("lshr", a, b)

    def ashr(self, a: V, b: V) -> V:
        return self.binary("ashr", a, b)

    def not_(self, a: V) -> V:
        ones = True if a.type.scalar == "i1" else -1
        return self.xor(a, self.const(a.type, ones))

    def fcmp(self, predicate: str, a: V, b: V) -> V:
        """`predicate`: oeq, one, olt, ole, ogt, oge, une, ult, uno, ord, ..."""
        return self.op(a.type.like("i1"), f"fcmp {predicate} {a}, {b.text}")

    def icmp(self, predicate: str, a: V, b: V) -> V:
        """`predicate`: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge."""
        return self.op(a.type.like("i1"), f"icmp {predicate} {a}, {b.text}")

    def select(self, condition: V, yes: V, no: V) -> V:
        return self.op(yes.type, f"select {condition}, {yes}, {no}")

    def convert(self, opcode: str, x: V, type: Type) -> V:
        """`opcode`: fpext, fptrunc, fptosi, fptoui, sitofp, uitofp, sext, zext, trunc, bitcast."""
        return self.op(type, f"{opcode} {x} to {type}")

    def bits(self, x: V) -> V:
        """The bits of a float as an integer of the same width."""
        return self.convert("bitcast", x, x.type.like(f"i{x.type.bytes * 8}"))

    def intrinsic(self, name: str, *args: V, result: Type | None = None, extra: str = "") -> V:
        """`llvm.<name>` overloaded on the type of its first argument, e.g. "fma", "sqrt", "fabs".

        Args:
            extra: further immediate arguments, as text ("i1 false").
        """
        type = result or args[0].type
        full = f"llvm.{name}.{args[0].type.suffix}"
        kinds = [a.type for a in args] + ([Type(extra.split()[0])] if extra else [])
        self.module.declare(full, type, kinds)
        text = ", ".join([*map(str, args), *([extra] if extra else [])])
        return self.op(type, f"call {type} @{full}({text})")

    def fma(self, a: V, b: V, c: V) -> V:
        return self.intrinsic("fma", a, b, c)

    def call(self, name: str, result: Type, args: Sequence[V]) -> V:
        """Call a function of the module or a declared one."""
        if name in self.module.functions:
            self.module.functions[name].calls += 1
        else:
            self.module.declare(name, result, [a.type for a in args])
        text = f"call {result} @{name}({', '.join(map(str, args))})"
        if result == VOID:
            self.line(text)
            return V(VOID, "")
        return self.op(result, text)

    def call_pointer(self, target: V, result: Type, args: Sequence[V]) -> V:
        """Call the function at an address."""
        text = f"call {result} {target.text}({', '.join(map(str, args))})"
        if result == VOID:
            self.line(text)
            return V(VOID, "")
        return self.op(result, text)

    # --- memory ---------------------------------------------------------------------------------

    def alloca(self, type: Type, count: int = 1, align: int = 64) -> V:
        """Stack memory, reserved at the function's entry."""
        self._count += 1
        name = f"%stack{self._count}"
        self._allocas.append(f"  {name} = alloca {type}, i64 {count}, align {align}")
        return V(PTR, name)

    def at(self, pointer: V, type: Type, index: V | int) -> V:
        """The address of element `index` of an array of `type`."""
        where = V(I64, str(index)) if isinstance(index, int) else index
        return self.op(PTR, f"getelementptr {type}, {pointer}, {where}")

    def load(self, type: Type, pointer: V, align: int | None = None, extra: str = "") -> V:
        tail = f", align {align}" if align else ""
        return self.op(type, f"load {type}, {pointer}{tail}{extra}")

    def store(self, value: V, pointer: V, align: int | None = None, extra: str = "") -> None:
        tail = f", align {align}" if align else ""
        self.line(f"store {value}, {pointer}{tail}{extra}")

    def masked_load(self, type: Type, pointer: V, mask: V, align: int) -> V:
        """Lanes where `mask` holds; zero elsewhere, without touching memory there."""
        name = f"llvm.masked.load.{type.suffix}.p0"
        self.module.declare(name, type, [PTR, I32, mask.type, type])
        zero = f"{type} zeroinitializer"
        return self.op(type, f"call {type} @{name}({pointer}, i32 {align}, {mask}, {zero})")

    def masked_store(self, value: V, pointer: V, mask: V, align: int) -> None:
        name = f"llvm.masked.store.{value.type.suffix}.p0"
        self.module.declare(name, VOID, [value.type, PTR, I32, mask.type])
        self.line(f"call void @{name}({value}, {pointer}, i32 {align}, {mask})")

    # --- atomics --------------------------------------------------------------------------------

    def atomic_load(self, type: Type, pointer: V, order: str = "acquire") -> V:
        """`order`: monotonic, acquire, seq_cst."""
        return self.op(type, f"load atomic {type}, {pointer} {order}, align {type.bytes}")

    def atomic_store(self, value: V, pointer: V, order: str = "release") -> None:
        """`order`: monotonic, release, seq_cst."""
        self.line(f"store atomic {value}, {pointer} {order}, align {value.type.bytes}")

    def atomic_add(self, pointer: V, value: V, order: str = "seq_cst") -> V:
        """Add in memory; gives what was there before."""
        return self.op(value.type, f"atomicrmw add {pointer}, {value} {order}")

    def compare_exchange(self, pointer: V, expected: V, new: V) -> tuple[V, V]:
        """Write `new` where `expected` is found; gives what was there, and whether it was."""
        pair = Type(f"{{ {new.type}, i1 }}")
        both = self.op(pair, f"cmpxchg {pointer}, {expected}, {new} seq_cst seq_cst")
        return self.op(new.type, f"extractvalue {both}, 0"), self.op(BIT, f"extractvalue {both}, 1")

    # --- control --------------------------------------------------------------------------------

    def label(self, hint: str = "b") -> str:
        """A new label, not placed yet."""
        self._count += 1
        return f"{hint}{self._count}"

    def start(self, label: str) -> None:
        """Open the block `label`; falls through from the open block if that has not ended."""
        if not self.closed:
            self.br(label)
        self._lines.append(f"{label}:")
        self.block, self.closed = label, False

    def br(self, label: str) -> None:
        self.line(f"br label %{label}")
        self.closed = True

    def br_if(self, condition: V, yes: str, no: str, extra: str = "") -> None:
        self.line(f"br {condition}, label %{yes}, label %{no}{extra}")
        self.closed = True

    def ret(self, value: V | None = None) -> None:
        self.line(f"ret {value}" if value is not None else "ret void")
        self.closed = True

    def phi(self, type: Type, sources: Sequence[tuple[V, str]]) -> V:
        """The value that comes with the edge taken. `sources`: (value, label)."""
        pairs = ", ".join(f"[{value.text}, %{label}]" for value, label in sources)
        return self.op(type, f"phi {type} {pairs}")

    @contextmanager
    def counting(self, start: V, stop: V, step: int = 1, hint: str = "loop") -> Iterator[V]:
        """`for i in range(start, stop, step)` around what is written inside; yields `i` (i64)."""
        head, body, done = self.label(hint), self.label(hint), self.label(hint)
        self._count += 1
        index, following = V(I64, f"%i{self._count}"), V(I64, f"%n{self._count}")
        before = self.block
        self.br(head)
        self.start(head)
        at = len(self._lines)
        self._lines.append("")  # the phi: its second edge is known at the end
        self.br_if(self.icmp("slt", index, stop), body, done)
        self.start(body)
        yield index
        self.line(f"{following.text} = add nsw {index}, {step}")
        last = self.block
        self.br(head)
        self._lines[at] = (
            f"  {index.text} = phi i64 [{start.text}, %{before}], [{following.text}, %{last}]"
        )
        self.start(done)

    @contextmanager
    def folding(
        self,
        start: V,
        stop: V,
        values: Sequence[V],
        step: int = 1,
        hint: str = "fold",
        surely: bool = False,
    ) -> Iterator[Fold]:
        """A counting loop that carries values: what is written inside gives `fold.values` anew.

        The test is at the end of the body, so that a pass costs one branch. After the loop
        `fold.results` are the last values, or the first ones if there was no pass.

        Args:
            surely: there is a pass in any case, also where start is not below stop.
        """
        body, latch, done = self.label(hint), self.label(hint), self.label(hint)
        self._count += 1
        index, following = V(I64, f"%i{self._count}"), V(I64, f"%n{self._count}")
        names = [V(v.type, f"%c{self._count}.{k}") for k, v in enumerate(values)]
        before = self.block
        if not surely:
            self.br_if(self.icmp("slt", start, stop), body, done)
        self.start(body)
        at = len(self._lines)
        fold = Fold(index, list(names))
        yield fold
        self.start(latch)
        self.line(f"{following.text} = add nsw {index}, {step}")
        self.br_if(self.icmp("slt", following, stop), body, done)
        carried = zip([index, *names], [start, *values], [following, *fold.values], strict=True)
        self._lines[at:at] = [
            f"  {name.text} = phi {name.type} [{first.text}, %{before}], [{next.text}, %{latch}]"
            for name, first, next in carried
        ]
        self.start(done)
        fold.results = list(fold.values)
        if not surely:
            fold.results = [
                self.phi(first.type, [(first, before), (last, latch)])
                for first, last in zip(values, fold.values, strict=True)
            ]

    @contextmanager
    def when(self, condition: V, hint: str = "then") -> Iterator[None]:
        """What is written inside runs if `condition` holds."""
        yes, after = self.label(hint), self.label(hint)
        self.br_if(condition, yes, after)
        self.start(yes)
        yield
        self.start(after)


def _flat(lines: Sequence[Any]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flat(line)


def float_literal(scalar: str, number: Any) -> str:
    """A float constant as LLVM writes it exactly.

    >>> float_literal("double", 0.5), float_literal("half", 1.0)
    ('0x3FE0000000000000', '0xH3C00')
    """
    if scalar == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    if scalar == "bfloat":
        import ml_dtypes
        import numpy as np

        return f"0xR{int(np.asarray(number, ml_dtypes.bfloat16).view(np.uint16)):04X}"
    if scalar == "float":  # written as the double of the same value
        import numpy as np

        number = float(np.float32(number))
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
