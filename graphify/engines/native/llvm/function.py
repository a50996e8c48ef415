"""A function being written: its instructions, and the loops and conditions around them.

with f.counting(start, stop) as i:
    f.store(f.const(F64, 0.0), f.at(pointer, F64, i))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphify.engines.native.llvm.instructions import Instructions
from graphify.engines.native.llvm.types import I64, V


@dataclass(slots=True)
class Fold:
    """The values that a loop carries, see `Function.folding`."""

    index: V
    values: list[V]
    results: list[V] = field(default_factory=list)


class Function(Instructions):
    """One function being written, instruction by instruction."""

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
