"""The native engine: graph -> loop-level program -> LLVM -> machine code.

    executable = get_engine("native").compile(graph)
    executable([np.arange(3.0)])
    print(executable.lowered().text)       # the loops; .llvm_ir and .asm beside it

A graph is compiled once for all sizes, and anew for another layout of its arguments: "C" or "F"
order, where addresses are products of sizes, or "any", where strides come with the argument.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphify.collecting import rare_collections
from graphify.config import config
from graphify.engines.base import Array
from graphify.engines.native import jit, known
from graphify.engines.native.entry.host import HostSite
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.entry.room import Quick
from graphify.engines.native.target import host
from graphify.errors import at
from graphify.ir.graph import Graph
from graphify.ir.op import Op
from graphify.ir.types import DType, Spec, is_float

# Lowering, passes, translation and inspection are imported where they are used: a graph whose code
# is in the cache needs none of them, and they take longer to import than its code to load.
if TYPE_CHECKING:
    from graphify.engines.native.inspection.kernels import KernelReport
    from graphify.engines.native.inspection.profile import Profile
    from graphify.engines.native.llvm import Module
    from graphify.engines.native.loops.program import Program, Site

Layouts = tuple[str, ...]
EXPORTS = ("shapes", "run")
_NO_HOSTS = (ctypes.c_int64 * 1)()


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure site of a program as the calling side wants it."""

    site: Site

    def error(self, words: Sequence[int]) -> BaseException:
        """The exception, from the words a failure left."""
        site = self.site
        values = [_value(word, dtype) for word, dtype in zip(words, site.dtypes, strict=False)]
        error = site.raiser(values) if site.raiser else site.kind(site.template.format(*values))
        return at(error, site.source.resolve() if site.source is not None else None)


def _value(word: int, dtype: DType) -> Any:
    """A number as Python shows it."""
    if is_float(dtype):
        return np.int64(word).view(np.float64).item()
    if dtype.kind == "u":
        return word & (1 << 64) - 1
    return bool(word) if dtype.kind == "b" else word


class _Failures(Sequence[Failure]):
    """The failure sites of a program, which is looked at when one has failed."""

    def __init__(self, length: int, program: Callable[[], Program]) -> None:
        self.length, self.program = length, program

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, number: Any) -> Any:
        return Failure(self.program().sites[number])


class Compiled:
    """A program, its machine code, and what calls it."""

    def __init__(self, program: Callable[[], Program], code: jit.Code, runner: Runner) -> None:
        self._program, self.code, self.runner = program, code, runner

    @property
    def program(self) -> Program:
        """The loops; made when asked for, where the code was loaded from the cache."""
        return self._program()

    @property
    def text(self) -> str:
        """The loop-level program, with the user's lines."""
        from graphify.engines.native.loops import pretty

        return pretty.text(self.program)

    @property
    def llvm_ir(self) -> str:
        """The optimised LLVM IR, with the user's lines."""
        return self.code.llvm_ir

    @property
    def asm(self) -> str:
        """The assembly, with the user's lines."""
        return self.code.asm

    def report(self) -> KernelReport:
        """Kernels, buffers, and what is left to Python."""
        from graphify.engines.native.inspection.kernels import describe

        return describe(self.program)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        size = f"{self.code.size} bytes of machine code"
        return f"<{self.program.name} as loops, {size}; print it to read it>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        import html

        page = f"<pre>{html.escape(self.text)}</pre>"
        return {"text/plain": self.text, "text/html": page}


def _layout(array: Array) -> str:
    """In which order the elements lie in memory."""
    flags = array.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "any"


class NativeExecutable:
    """A graph with its machine code, one version for each layout of arguments met so far."""

    gives_new_arrays = True  # results never share memory with arguments or each other

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._versions: dict[Layouts, Compiled] = {}
        self._lock = threading.Lock()
        self._in_order: Layouts = ("C",) * len(graph.params)

    def __call__(self, args: Sequence[Array]) -> list[Array]:
        arrays = [np.asarray(arg) for arg in args]
        layouts = self._in_order
        if not all(array.flags.c_contiguous for array in arrays):
            layouts = tuple(_layout(a) for a in arrays)
        return self.version(layouts).runner(arrays)

    def quick(self, function: Any, description: Quick, compile: bool) -> bool:
        """Serve calls of a function without Python, see entry/vectorcall.py.

        Args:
            compile: whether anything may be compiled for this.
        """
        layouts = tuple("any" if each.scattered else "C" for each in description.inputs)
        if not (compile or layouts in self._versions):
            return False
        return self.version(layouts).runner.quick(function, description, compile)

    def version(self, layouts: Layouts) -> Compiled:
        """The machine code for arguments of these layouts."""
        compiled = self._versions.get(layouts)
        if compiled is None:
            with self._lock:
                compiled = self._versions.get(layouts)
                if compiled is None:
                    compiled = self._versions[layouts] = compile_graph(self.graph, layouts)
        return compiled

    def lowered(self) -> Compiled:
        """The version for arguments in C order."""
        return self.version(self._in_order)

    def report(self) -> KernelReport:
        """What the graph became: kernels, buffers, and what is left to Python."""
        return self.lowered().report()

    def profile(self, args: Sequence[Array], repeat: int | None = None) -> Profile:
        """How long each kernel takes on these arrays, beside what the machine could do."""
        from graphify.engines.native.inspection.profile import profile

        arrays = [np.asarray(arg, order="C") for arg in args]
        return profile(self.graph, arrays, repeat)


def loops(graph: Graph, layouts: Layouts | None = None) -> Program:
    """The loop-level program of a graph after its passes."""
    from graphify.engines.native.loops import passes
    from graphify.engines.native.lower import lower

    return passes.optimise(lower(graph, layouts=layouts or ("C",) * len(graph.params)))


@rare_collections()
def compile_graph(graph: Graph, layouts: Layouts) -> Compiled:
    """Machine code for a graph: an earlier process's, if there is any."""
    watched = config.check or config.debug >= 4 or config.dump
    name = None if watched else known.name_of(graph, layouts)
    if name is not None and (found := _loaded(graph, layouts, name)) is not None:
        return found
    program = loops(graph, layouts)
    compiled = compile_program(graph, program, layouts)
    if name is not None and not program.hosts:  # those are functions of this process
        code = compiled.code
        known.store(name, known.Entry(code.key, len(program.sites), code.imports))
    return compiled


def _loaded(graph: Graph, layouts: Layouts, name: bytes) -> Compiled | None:
    entry = known.load(name)
    if entry is None:
        return None
    program = functools.cache(lambda: loops(graph, layouts))
    code = jit.load(
        entry.key,
        lambda: _module(program()).text(),
        EXPORTS,
        name=graph.name,
        imports=entry.imports,
        symbols={"graphify_hosts": ctypes.addressof(_NO_HOSTS)},
    )
    if code is None:
        return None
    sites = _Failures(entry.sites, program)
    return Compiled(program, code, _runner(graph, code, sites, layouts, ()))


def _module(program: Program) -> Module:
    from graphify.engines.native.translate.program import translate

    return translate(program, host())


@rare_collections()
def compile_program(
    graph: Graph, program: Program, layouts: Layouts, symbols: Mapping[str, int] = {}
) -> Compiled:
    """Machine code for a graph whose loops are `program`.

    Args:
        symbols: addresses of further names that the program's calls use.
    """
    if config.debug >= 4 or config.dump:
        from graphify.engines.native.loops import pretty

        text = pretty.text(program)
        config.log(4, f"--- loops of {program.name} ---\n{text}")
        config.write(f"{program.name}.loops.txt", text)
    hosts = [_host_site(function) for function in program.hosts]
    table = (ctypes.c_int64 * max(1, len(hosts)))(*(site.number for site in hosts))
    code = jit.compile(
        _module(program).text(),
        EXPORTS,
        name=program.name,
        symbols={"graphify_hosts": ctypes.addressof(table), **symbols},
    )
    sites = [Failure(site) for site in program.sites]
    runner = _runner(graph, code, sites, layouts, [*hosts, table])
    return Compiled(lambda: program, code, runner)


def _runner(
    graph: Graph,
    code: jit.Code,
    sites: Sequence[Failure],
    layouts: Layouts,
    hosts: Sequence[Any],
) -> Runner:
    return Runner(
        code,
        [value.spec for value in graph.params],
        graph.specs,
        sites,
        names=[value.node.attrs.get("name") or i for i, value in enumerate(graph.params)],
        in_order=[i for i, layout in enumerate(layouts) if layout == "C"],
        hosts=hosts,
        effects=graph.effects,
    )


def _host_site(function: Any) -> HostSite:
    from graphify.engines.native.generators import Lock, Locking

    if isinstance(function, Locking):
        return Lock(function)
    return HostSite(
        function.call,
        [Spec((-1,) * rank, dtype) for dtype, rank in function.inputs],
        [Spec((-1,) * rank, dtype) for dtype, rank in function.outputs],
    )


class NativeEngine:
    """Compiles every op that has a meaning: those without loops of their own call it."""

    name = "native"

    def supports(self, op: Op) -> bool:
        return op.eval is not None or op.name == "param"

    def compile(self, graph: Graph) -> NativeExecutable:
        executable = NativeExecutable(graph)
        executable.lowered()
        return executable

    def report(self, graph: Graph) -> KernelReport:
        """What a graph becomes: kernels, buffers, and what is left to Python."""
        from graphify.engines.native.inspection.kernels import describe

        return describe(loops(graph))


ENGINE = NativeEngine()
