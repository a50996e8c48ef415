"""The state of one LLVM function being written: what variables and buffers are, and where.

    w = Writer(unit, f, home)
    with w.scope():
        w.define(var, element)
    pointer = w.placed(key, level, lambda: f.at(base, F32, offset))

`placed` puts what does not change in a loop in front of the loop, as soon as it is asked for: every
loop has a spot before its first turn, and a value goes to the spot of the outermost loop that it
does not depend on. So there is no analysis pass, and nothing is left for LLVM to hoist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import I32, I64, PTR, Function, Module, Spot, V
from graphify.engines.native.loops.program import (
    Apply,
    Block,
    Buffer,
    Const,
    Expr,
    Handle,
    Program,
    Var,
    View,
    strides_of,
)
from graphify.engines.native.target import Target
from graphify.engines.native.translate.arithmetic import is_arithmetic
from graphify.engines.native.translate.cells import Cell

PENDING = -1  # a status beside those of sites: a Python exception has been set


@dataclass(slots=True)
class Unit:
    """What all functions of a module share."""

    module: Module
    program: Program
    target: Target
    wide: frozenset[Var] = frozenset()  # variables that collect float sums
    freed: frozenset[Buffer] = frozenset()  # buffers that the program frees itself
    pointed: frozenset[Buffer] = frozenset()  # buffers that handles are aimed at
    definitions: dict[Var, Expr] = field(default_factory=dict)  # of variables that do not change
    strides: dict[Buffer, tuple[Expr, ...]] = field(default_factory=dict)
    literals: dict[Buffer, V] = field(default_factory=dict)
    long: bool = False  # a program of many loops: each is written once, if that costs little
    compact: bool = False  # a large program: less code rather than the fastest
    inner: dict[Var, Expr] = field(default_factory=dict)  # what variables of parallel bodies are
    sizes: dict[int, tuple[Block, int]] = field(default_factory=dict)  # of blocks, by identity
    names: int = 0

    @property
    def no_memory(self) -> V:
        """The status of a run that got no block: the one after those of the sites."""
        return V(I32, str(len(self.program.sites) + 1))

    def name(self, hint: str) -> str:
        """A new name for a function of the module."""
        self.names += 1
        return f"{hint}.{self.names}"


@dataclass(slots=True)
class Domain:
    """Memory with one owner: the whole run, or one piece of a parallel loop.

    Attributes:
        slots: how many places for blocks that are to be freed on the way out.
        arena: bytes of small temporaries on the stack.
        results: slots of blocks that are the caller's, also after a failure.
        leaks: whether blocks may be left when all has gone well.
    """

    slots: int = 0
    arena: int = 0
    results: list[int] = field(default_factory=list)
    leaks: bool = False
    owned: dict[Buffer, int] = field(default_factory=dict)


@dataclass(slots=True)
class Home:
    """Where a function finds the memory it needs, and how it leaves."""

    domain: Domain
    slots: V
    arena: V
    words: V  # of the failure
    outputs: V
    status: V
    exit: str
    unlock: V = V(PTR, "null")  # where there is what gives locks back, see draws.py


@dataclass(slots=True)
class Scope:
    """A block of statements; of a loop, with the place before its first turn."""

    spot: Spot | None = None
    changed: frozenset[Any] = frozenset()  # mutable variables and handles that the loop changes
    keys: list[Any] = field(default_factory=list)  # of values known up to the end of the scope


class Writer:
    """One function."""

    def __init__(self, unit: Unit, f: Function, home: Home) -> None:
        self.unit, self.f, self.home = unit, f, home
        self.scopes = [Scope()]
        self.values: dict[Var, Element | Cell] = {}
        self.pointers: dict[Buffer, V | Cell] = {}
        self.levels: dict[Var | Buffer, int] = {}
        self._known: dict[Any, V] = {}
        self.polls = True  # looks for Ctrl-C in loops
        self.is_parallel = False  # runs in a piece of a parallel loop already
        self.watch: Callable[[], None] | None = None  # what else there is to look at when polling

    # --- scopes ---------------------------------------------------------------------------------

    @contextmanager
    def scope(
        self, spot: Spot | None = None, changed: frozenset[Any] = frozenset()
    ) -> Iterator[None]:
        """What is defined inside ends with it."""
        self.scopes.append(scope := Scope(spot, changed))
        try:
            yield
        finally:
            for key in scope.keys:
                del self._known[key]
            self.scopes.pop()

    def define(self, thing: Var | Buffer, value: Element | Cell | V) -> None:
        """What a variable, or the address of a buffer, is from here on."""
        self.levels[thing] = len(self.scopes) - 1
        if isinstance(thing, Buffer):
            assert not isinstance(value, Element)
            self.pointers[thing] = value
        else:
            assert not isinstance(value, V)
            self.values[thing] = value

    # --- what depends on what -------------------------------------------------------------------

    def level_of_thing(self, thing: Var | Buffer) -> int:
        """The innermost scope in which a variable or handle has its present value."""
        level = self.levels[thing]
        for depth in range(len(self.scopes) - 1, level, -1):
            if thing in self.scopes[depth].changed:
                return depth
        return level

    def is_fixed(self, expr: Expr) -> bool:
        """Whether nothing in it ever changes (so that its value may be kept)."""
        match expr:
            case Const():
                return True
            case Var():
                return not expr.mutable
            case Apply(_, args):
                return all(self.is_fixed(a) for a in args)
        return False

    def level(self, expr: Expr) -> int:
        """The innermost scope that an expression of indices depends on."""
        match expr:
            case Const():
                return 0
            case Var():
                return self.level_of_thing(expr) if expr.mutable else self.levels[expr]
            case Apply(_, args) if is_arithmetic(expr):
                return max((self.level(a) for a in args), default=0)
        return len(self.scopes) - 1  # right where it is asked for

    def buffer_level(self, buffer: Buffer) -> int:
        """The innermost scope that a buffer's address depends on."""
        level = 0
        while isinstance(buffer.home, View):
            level = max(level, self.level(buffer.home.offset))
            buffer = buffer.home.base
        if isinstance(buffer.home, Handle):
            return max(level, self.level_of_thing(buffer))
        return max(level, self.levels.get(buffer, 0))

    # --- values that are computed once ----------------------------------------------------------

    def placed(self, key: Any, level: int, make: Callable[[], V], keep: bool = True) -> V:
        """A value made in front of the loops that it does not depend on.

        Args:
            level: the scope that it depends on.
            make: writes it; straight-line code without effects that may run for nothing.
            keep: whether it stays the same in its scope, so that later questions find it.
        """
        known = self._known.get(key)
        if known is not None:
            return known
        target = self.loop_after(level)
        if target is None:
            value = make()
            if keep:
                self._remember(key, value, self.scopes[-1])
            return value
        assert target.spot is not None
        with self.f.writing_at(target.spot):
            value = make()
        self._remember(key, value, target)
        return value

    def loop_after(self, level: int) -> Scope | None:
        """The outermost open loop inside a scope."""
        for scope in self.scopes[level + 1 :]:
            if scope.spot is not None:
                return scope
        return None

    def _remember(self, key: Any, value: V, scope: Scope) -> None:
        if key not in self._known:
            self._known[key] = value
            scope.keys.append(key)

    def strides(self, buffer: Buffer) -> tuple[Expr, ...]:
        """The strides of a buffer, made once."""
        known = self.unit.strides.get(buffer)
        if known is None:
            known = self.unit.strides[buffer] = strides_of(buffer)
        return known

    # --- leaving --------------------------------------------------------------------------------

    def leave(self, status: V) -> None:
        """Go to the function's exit with a status."""
        self.f.store(status, self.home.status)
        self.f.br(self.home.exit)

    def leave_if(
        self,
        condition: V,
        status: V,
        before: Callable[[], None] | None = None,
        counts: V | None = None,
    ) -> None:
        """Leave where an unlikely condition holds.

        Args:
            counts: what must hold, too: looked at where the first condition does, so that it costs
                nothing elsewhere.
        """
        f = self.f
        out, on = f.label("out"), f.label("on")
        first = out if counts is None else f.label("maybe")
        f.br_if(condition, first, on, self.unlikely)
        if counts is not None:
            f.start(first)
            f.br_if(counts, out, on)
        f.start(out)
        if before is not None:
            before()
        self.leave(status)
        f.start(on)

    @property
    def unlikely(self) -> str:
        """Says of a branch that it is hardly ever taken."""
        node = self.f.module.metadata('!{!"branch_weights", i32 1, i32 100000}')
        return f", !prof {node}"

    def poll(self) -> None:
        """Leave if somebody has pressed Ctrl-C."""
        if not self.polls:
            return
        status = self.f.call("graphify_poll", I32, [])
        self.leave_if(self.f.icmp("ne", status, V(I32, "0")), V(I32, str(PENDING)))
        if self.watch is not None:
            self.watch()


def number(value: int) -> V:
    """A literal i64."""
    return V(I64, str(value))


NULL = V(PTR, "null")
