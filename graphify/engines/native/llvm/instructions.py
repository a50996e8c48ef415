"""The instructions of a function: one method each, which returns a typed value.

f.fmul(f.load(F64, p), f.const(F64, 0.5))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphify.engines.native.llvm.text import Text
from graphify.engines.native.llvm.types import BIT, I32, I64, PTR, VOID, Type, V, float_literal


class Instructions(Text):
    """Constants, arithmetic, calls and memory."""

    # --- constants --------------------------------------------------------------------------------

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

    # --- arithmetic -------------------------------------------------------------------------------

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

    # --- calls ------------------------------------------------------------------------------------

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

    # --- memory -----------------------------------------------------------------------------------

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

    # --- atomics ----------------------------------------------------------------------------------

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
