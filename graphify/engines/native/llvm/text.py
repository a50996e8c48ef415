"""A function's text: its lines, its blocks, and places in it that are written at later.

    f.start(f.label("then"))     # a new block
    f.op(F64, "fadd double %x, %y")

Text rather than an object tree because text is quick to make, is what LLVM parses, and is what
people read when they debug.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphify.engines.native.llvm.types import PTR, Parameter, Type, V

if TYPE_CHECKING:
    from graphify.engines.native.llvm.module import Module


class Spot:
    """A place in a function's text that may still be written at: see `Function.writing_at`."""

    __slots__ = ("block", "lines")

    def __init__(self, block: str) -> None:
        self.lines: list[Any] = []
        self.block = block  # the label of the block that is open there


class Text:
    """The lines of a function, in blocks."""

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
        self.scalar_loops = False  # whether it has loops for LLVM to look at, see jit.py

    # --- lines ------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many instructions were written."""
        return len(self._lines)

    def lines(self) -> Iterator[str]:
        params = ", ".join(
            f"{p[0]} {p[2] + ' ' if len(p) > 2 else ''}%{p[1]}" for p in self._params
        )
        linkage = f"{self.linkage} " if self.linkage else ""
        attributes = f'{self.attributes} "scalar-loops"' if self.scalar_loops else self.attributes
        yield f"define {linkage}{self.result} @{self.name}({params}) {attributes} {{"
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

    def alloca(self, type: Type, count: int = 1, align: int = 64) -> V:
        """Stack memory, reserved at the function's entry."""
        self._count += 1
        name = f"%stack{self._count}"
        self._allocas.append(f"  {name} = alloca {type}, i64 {count}, align {align}")
        return V(PTR, name)

    # --- blocks -----------------------------------------------------------------------------------

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


def _flat(lines: Sequence[Any]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flat(line)
