"""Graphs whose machine code an earlier process made: found by the graph, before it is lowered.

    name = name_of(graph, ("C",))    # None: the graph holds what has no name, such as a function
    entry = load(name)               # None: not there
    store(name, Entry(...))

    name = name_of_library(("graphify_enter",), ())    # the same for a library module

The machine code itself is in the cache by the hash of its LLVM IR (cache.py); an entry here says
which one it is. Its name depends on every op, attribute, constant and size of the graph, and on the
source files that make code of them, so that an edited one counts as another.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphify.config import BEGAN
from graphify.engines.native import cache
from graphify.ir.graph import Graph, Literal, Value
from graphify.ir.pretty import SizeNames
from graphify.ir.sizes import Size, SizeVar
from graphify.ir.types import Spec

_SOURCES = ("ir", "ops", "engines/native")  # folders of the package that decide what code is made
_SCALARS = (type(None), bool, int, float, complex, str, bytes)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a graph's machine code.

    Attributes:
        key: of the object file.
        sites: how many places can fail; 0 for a library module.
        imports: the symbols that it takes from elsewhere.
    """

    key: bytes
    sites: int
    imports: tuple[str, ...]


def load(name: bytes) -> Entry | None:
    """The entry of a graph, or of a library module, or None."""
    data = cache.load(name)
    if data is None:
        return None
    key, sites, *imports = data.decode().split(" ")
    return Entry(bytes.fromhex(key), int(sites), tuple(imports))


def store(name: bytes, entry: Entry) -> None:
    """Keep the entry of a graph, or of a library module."""
    words = (entry.key.hex(), str(entry.sites), *entry.imports)
    cache.store(name, " ".join(words).encode())


def name_of(graph: Graph, layouts: tuple[str, ...]) -> bytes | None:
    """A hash of all that the machine code of a graph depends on."""
    if cache.directory() is None or (sources := _sources()) is None:
        return None
    writer = _Writer()
    try:
        writer.graph(graph)
    except _Nameless:
        return None
    return cache.key("\n".join([sources, *layouts, *writer.words]), "graph")


def name_of_library(exports: Sequence[str], given: tuple[object, ...]) -> bytes | None:
    """A hash of all that the machine code of a library module depends on (library.py)."""
    if cache.directory() is None or (sources := _sources()) is None:
        return None
    return cache.key("\n".join([sources, *exports, repr(given)]), "library")


@functools.cache
def _sources() -> str | None:
    """The sizes and times of the files that make code; reading them all would take longer.

    None if one was edited after this process began: what is in memory may be older than the file.
    """
    root = Path(__file__).parents[2]
    found = sorted(file for folder in _SOURCES for file in _files(root / folder))
    if max(changed for _, _, changed in found) >= BEGAN:
        return None
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of the last change in nanoseconds, of every Python file."""
    with os.scandir(folder) as listing:
        for item in listing:
            if item.name.endswith(".py"):
                found = item.stat()
                yield item.path, found.st_size, found.st_mtime_ns
            elif item.is_dir() and item.name != "__pycache__":
                yield from _files(Path(item.path))


class _Nameless(Exception):
    """The graph holds an object that only this process knows."""


class _Writer:
    """Words that are the same for two graphs exactly if their machine code is."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.sizes = SizeNames()

    def graph(self, graph: Graph) -> None:
        numbers: dict[Value, int] = {}
        words = self.words
        for value in graph.params:
            numbers[value] = len(numbers)
            words.append(f"param {value.node.attrs.get('name')!r} {self.sizes.spec(value.spec)}")
        for node in graph.nodes:
            words.append(f"{node.op.name} {[numbers[value] for value in node.inputs]}")
            for name, value in node.attrs.items():
                words.append(name)
                self.attribute(value)
            for value in node.outputs:
                numbers[value] = len(numbers)
                words.append(self.sizes.spec(value.spec))
        words.append(f"return {[numbers[value] for value in graph.results]}")

    def attribute(self, value: Any) -> None:
        if type(value) in _SCALARS:
            self.words.append(f"{type(value).__name__} {value!r}")
        elif type(value) is tuple:
            self.words.append(f"tuple {len(value)}")
            for item in value:
                self.attribute(item)
        else:
            self._special(value)

    def _special(self, value: Any) -> None:
        match value:
            case Graph():
                self.words.append("graph")
                self.graph(value)
            case Size():
                self.words.append(f"size {self.sizes.dim(value)}")
            case SizeVar():
                self.words.append(f"variable {self.sizes.name(value)}")
            case Spec():
                self.words.append(f"spec {self.sizes.spec(value)}")
            case np.dtype():
                self.words.append(f"dtype {value.str} {value.name}")
            case Literal():
                array = np.ascontiguousarray(value.array)
                digest = hashlib.sha256(array.tobytes()).hexdigest()
                self.words.append(f"literal {array.dtype.name} {array.shape} {digest}")
            case slice():
                self.words.append("slice")
                for part in (value.start, value.stop, value.step):
                    self.attribute(part)
            case _:
                raise _Nameless
