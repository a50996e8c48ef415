"""Machine code from LLVM IR: optimise, generate code, link, and free it when nobody needs it.

    code = compile(module.text(), ["run"], name="f")
    run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(code.address("run"))

The machine code lives as long as its `Code`. Symbols that the text declares and does not define are
found by `symbols.address`; the addresses are filled in when linking, so the text, and the object
file in the disk cache that is made from it, must not contain any.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import llvmlite.binding as llvm

from graphify.config import config
from graphify.engines.native import cache, marks, symbols
from graphify.engines.native.target import host
from graphify.errors import InternalError

Level = Literal["none", "light"]

define_symbol = symbols.define

# Passes of "light": what explicit vector code needs, at a fraction of O2's time. Functions with
# scalar loops, which say so by an attribute, get the passes of O2 for one function besides.
_LIGHT = (
    "add_always_inliner_pass",
    "add_sroa_pass",
    "add_instruction_combine_pass",
    "add_simplify_cfg_pass",
    "add_dead_code_elimination_pass",
)
# Libraries that one linker serves. Each leaves some kilobytes behind when its code is freed, and
# makes linking the next one slower; they go when the linker and the last of its code have gone.
_LIBRARIES_PER_LINKER = 256

_DECLARED = re.compile(r"^declare [^@\n]*@([\w.$]+)\(|^@([\w.$]+) = external ", re.MULTILINE)
_DEFINITION = re.compile(r"^(define .*)\{$", re.MULTILINE)


class Code:
    """Machine code in memory.

    Attributes:
        name: what it is called in logs.
        size: bytes of the object file it came from.
        cached: whether it came from the disk cache.
        key: of the object file in the disk cache.
        level: how LLVM optimised it.
        imports: the symbols that it takes from elsewhere.
    """

    __slots__ = (
        *("__weakref__", "_text", "_tracker"),
        *("cached", "imports", "key", "level", "name", "size"),
    )

    def __init__(
        self,
        name: str,
        text: Callable[[], str],
        level: Level,
        image: bytes,
        key: bytes,
        imports: Sequence[str],
        tracker: Any,
        cached: bool,
    ) -> None:
        self.name, self.level, self.size, self.key = name, level, len(image), key
        self.imports, self.cached = tuple(imports), cached
        self._text, self._tracker = text, tracker

    def __repr__(self) -> str:
        return f"<Code {self.name}: {self.size} bytes>"

    def address(self, name: str) -> int:
        """Where an exported function starts. Valid as long as this object lives."""
        return int(self._tracker[name])

    @property
    def llvm_ir(self) -> str:
        """The optimised IR, made anew from the text, with its comments."""
        text = self._text()
        with _compiler() as compiler, compiler.optimised(text, self.level, True) as module:
            return marks.in_ir(str(module), marks.comments(text))

    @property
    def asm(self) -> str:
        """The assembly, made anew from the text, with its comments."""
        text = self._text()
        with _compiler() as compiler, compiler.optimised(text, self.level, True) as module:
            assembly = compiler.machine(self.level).emit_assembly(module)
            return marks.in_assembly(assembly, marks.comments(text))


def compile(
    text: str,
    exports: Sequence[str],
    *,
    opt: Level = "light",
    name: str = "graphify",
    symbols: Mapping[str, int] = {},
) -> Code:
    """Compile the text of an LLVM module, or load what an earlier process made of the same text.

    Args:
        text: LLVM IR without target lines.
        exports: functions whose address `Code.address` is asked for.
        opt: "light", or "none" for LLVM's first answer.
        name: for logs.
        symbols: addresses of external symbols, before those known to the process.

    Raises:
        InternalError: text that LLVM refuses, or a symbol nobody defines.
    """
    began = time.perf_counter()
    imports = _resolved(_declared(text), symbols, name)
    key = cache.key(text, opt)
    image = cache.load(key)
    cached = image is not None
    with _compiler() as compiler:
        if image is None:
            image = compiler.image(text, opt, name)
        tracker = compiler.link(image, exports, imports, name)
    if not cached:
        cache.store(key, image)
    code = Code(name, lambda: text, opt, image, key, list(imports), tracker, cached)
    _report(code, time.perf_counter() - began)
    return code


def load(
    key: bytes,
    text: Callable[[], str],
    exports: Sequence[str],
    *,
    name: str,
    imports: Sequence[str],
    symbols: Mapping[str, int] = {},
) -> Code | None:
    """The code that an earlier process made, by the key of its object file; None: not there.

    Args:
        text: makes the LLVM IR, should anyone want to see it.
        imports: the symbols that the code takes from elsewhere.
    """
    began = time.perf_counter()
    image = cache.load(key)
    if image is None:
        return None
    resolved = _resolved(imports, symbols, name)  # may import, and compile what it needs
    with _compiler() as compiler:
        tracker = compiler.link(image, exports, resolved, name)
    code = Code(name, text, "light", image, key, imports, tracker, True)
    _report(code, time.perf_counter() - began)
    return code


def _report(code: Code, seconds: float) -> None:
    if config.debug < 1:
        return
    how = "loaded from the cache" if code.cached else "compiled"
    config.log(1, f"graphify: native code {code.name} {how} in {seconds * 1e3:.1f} ms")
    config.log(4, f"--- LLVM IR of {code.name} ---\n{code._text()}")
    if config.debug >= 5:
        config.log(5, f"--- assembly of {code.name} ---\n{code.asm}")


def _declared(text: str) -> Iterator[str]:
    """The symbols that a text declares and does not define."""
    for match in _DECLARED.finditer(text):
        symbol = match[1] or match[2]
        if not symbol.startswith("llvm."):
            yield symbol


def _resolved(names: Iterable[str], given: Mapping[str, int], name: str) -> dict[str, int]:
    """The address of every symbol."""
    found: dict[str, int] = {}
    for symbol in names:
        address = given.get(symbol) or symbols.address(symbol)
        if address is None:
            raise InternalError(f"native code {name}: nothing defines the symbol {symbol!r}")
        found[symbol] = address
    return found


# --- the one compiler of the process --------------------------------------------------------------


class _Compiler:
    """LLVM's objects. Everything here is called under `_compiler()`."""

    def __init__(self) -> None:
        for initialise in (llvm.initialize_native_target, llvm.initialize_native_asmprinter):
            initialise()
        self._linker: Any = None
        self._room = 0
        self._number = itertools.count()
        self._attributes = _attributes()

    @functools.cached_property
    def _header(self) -> str:
        layout = self.machine("light").target_data
        return f'target datalayout = "{layout}"\ntarget triple = "{host().triple}"\n'

    def _new_machine(self, level: Level) -> Any:
        target = llvm.Target.from_triple(host().triple)
        return target.create_target_machine(
            cpu=host().cpu,
            features=host().features,
            opt=0 if level == "none" else 2,
            codemodel="jitdefault",
            jit=True,
        )

    @functools.cached_property
    def _machines(self) -> dict[str, Any]:
        return {}

    def machine(self, level: Level) -> Any:
        if level not in self._machines:
            self._machines[level] = self._new_machine(level)
        return self._machines[level]

    @contextmanager
    def optimised(self, text: str, level: Level, marked: bool = False) -> Iterator[Any]:
        """The module of a text, after the passes of a level; `marked`: see marks.py."""
        text = self._header + _DEFINITION.sub(rf"\1{self._attributes}{{", text)
        if marked:
            text = marks.mark(text)
        # Each thing is closed before what it lives in. The garbage collector, to which they are
        # left if an exception keeps them, knows no such order, and LLVM does not survive another.
        # A context of its own: types and constants of the global one are never freed.
        with _closing(llvm.create_context()) as context:
            with _closing(llvm.parse_assembly(text, context)) as module:
                module.verify()
                if level != "none":
                    self._optimise(module)
                yield module

    def _optimise(self, module: Any) -> None:
        # No unrolling: it doubles the time to compile, and makes as many loops slower as faster.
        tuning = llvm.create_pipeline_tuning_options(speed_level=2)
        tuning.loop_unrolling = tuning.loop_vectorization = tuning.slp_vectorization = False
        with _closing(llvm.create_pass_builder(self.machine("light"), tuning)) as builder:
            with _passes(llvm.create_new_module_pass_manager()) as light:
                for add in _LIGHT:
                    getattr(light, add)()
                light.run(module, builder)
            scalar = [f for f in module.functions if any(map(_has_scalar_loops, f.attributes))]
            if scalar:
                with _passes(builder.getFunctionPassManager()) as full:
                    for function in scalar:
                        full.run(function, builder)

    def image(self, text: str, level: Level, name: str) -> bytes:
        """The object file of a text."""
        try:
            with self.optimised(text, level) as module:
                return bytes(self.machine(level).emit_object(module))
        except RuntimeError as error:
            raise InternalError(f"native code {name}: {error}") from error

    def link(
        self, image: bytes, exports: Sequence[str], imports: Mapping[str, int], name: str
    ) -> Any:
        """Load an object file; the result keeps it in memory and knows its addresses."""
        if not self._room:
            self._linker = llvm.create_lljit_compiler(
                self._new_machine("light"), use_jit_link=_needs_jit_link()
            )
            self._room = _LIBRARIES_PER_LINKER
        self._room -= 1
        library = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
        for symbol, address in imports.items():
            library.import_symbol(symbol, address)
        for symbol in exports:
            library.export_symbol(symbol)
        try:
            return library.link(self._linker, f"{name}.{next(self._number)}")
        except RuntimeError as error:
            raise InternalError(f"native code {name}: {error}") from error


def _has_scalar_loops(attributes: bytes) -> bool:
    return b'"scalar-loops"' in attributes


@contextmanager
def _closing(thing: Any) -> Iterator[Any]:
    """One of LLVM's objects, closed behind the block."""
    try:
        yield thing
    finally:
        thing.close()


@contextmanager
def _passes(manager: Any) -> Iterator[Any]:
    """A pass manager, freed behind the block.

    NOTE: its `close` finds another base class's method first, which does nothing.
    """
    try:
        yield manager
    finally:
        if type(manager)._dispose is llvm.ffi.ObjectRef._dispose:
            llvm.NewPassManager._dispose(manager)
            manager.detach()
        else:
            manager.close()


def _attributes() -> str:
    """Function attributes that depend on the machine, as text."""
    if host().vector_bytes < 64:
        return ""
    # LLVM splits 512-bit vectors into halves on many CPUs unless told that they are wanted.
    return '"prefer-vector-width"="512" "min-legal-vector-width"="512" '


def _needs_jit_link() -> bool:
    """Whether ORC's older linker does not serve this machine well (ARM, macOS)."""
    return not host().triple.startswith("x86_64") or "apple" in host().triple


_lock = threading.RLock()


@functools.cache
def _the_compiler() -> _Compiler:
    return _Compiler()


@contextmanager
def _compiler() -> Iterator[_Compiler]:
    with _lock:
        yield _the_compiler()


def _llvm_lock() -> Any:
    """The lock around every call of llvmlite, also those of other libraries."""
    return getattr(llvm.ffi.lib, "_lock", None)


def _before_fork() -> None:
    # A child made while another thread compiles would find LLVM locked for ever, and half changed.
    symbols.lock.acquire()  # in the order in which compiling takes them
    _lock.acquire()
    if (inner := _llvm_lock()) is not None:
        inner.__enter__()


def _after_fork() -> None:
    if (inner := _llvm_lock()) is not None:
        inner.__exit__(None, None, None)
    _lock.release()
    symbols.lock.release()


def _at_fork(before: Callable[[], None], after: Callable[[], None]) -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)


_at_fork(_before_fork, _after_fork)
