"""A module of LLVM IR: functions, declarations, globals and constants, as text.

module = Module("demo")
module.declare("llvm.fabs.f64", F64, [F64])
module.text()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphify.engines.native.llvm.function import Function
from graphify.engines.native.llvm.types import PTR, Parameter, Type, V

if TYPE_CHECKING:
    from graphify.engines.native.target import Target

LEGIBLE = 4096  # longer literals are written by their bytes, of which Python makes short work


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
        if len(data) > LEGIBLE:
            body = "\\" + data.hex("\\")
        else:
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
