"""Library modules: native functions made once per process, when first needed.

    provide("graphify_matmul_float32", lambda: products.module(np.dtype("float32")))
    need("graphify_matmul_float32")       # its address

Compiled graphs only declare such symbols; linking one asks for their addresses here. A module may
define several symbols, which then share its variables. One that an earlier process made is found in
the disk cache by its symbols, before its text is written (known.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphify.engines.native import jit, known, symbols
from graphify.errors import InternalError

if TYPE_CHECKING:
    from graphify.engines.native.llvm import Module

_loaders: dict[str, Callable[[], bool]] = {}


def provide(
    names: str | Sequence[str],
    maker: Callable[..., Module],
    given: Callable[[], tuple[Any, ...]] = tuple,
) -> None:
    """Say what makes the module that defines a symbol, or several.

    Args:
        maker: writes the module, from this package's sources and what `given` gives alone. Called
            at most once per process, when one is needed.
        given: the arguments of `maker`, of which the `repr` tells all.
    """
    exports = (names,) if isinstance(names, str) else tuple(names)

    for name in exports:
        symbols.promise(name, lambda: _make(exports, maker, given()))
        _loaders[name] = lambda: _load(exports, maker, given())


def _make(exports: Sequence[str], maker: Callable[..., Module], given: tuple[Any, ...]) -> None:
    if _load(exports, maker, given):
        return
    code = jit.compile(maker(*given).text(), exports, name=exports[0])
    _define(exports, code)
    if (name := known.name_of_library(exports, given)) is not None:
        known.store(name, known.Entry(code.key, 0, code.imports))


def _load(exports: Sequence[str], maker: Callable[..., Module], given: tuple[Any, ...]) -> bool:
    """Define the symbols if an earlier process made the module; whether it did."""
    name = known.name_of_library(exports, given)
    entry = known.load(name) if name is not None else None
    if entry is None:
        return False
    code = jit.load(
        entry.key,
        lambda: maker(*given).text(),
        exports,
        name=exports[0],
        imports=entry.imports,
    )
    if code is not None:
        _define(exports, code)
    return code is not None


def _define(exports: Sequence[str], code: jit.Code) -> None:
    for name in exports:
        symbols.define(name, code.address(name), alive=code)


def need(name: str) -> int:
    """The address of a symbol; makes the module that defines it if that was not done yet."""
    found = symbols.address(name)
    if found is None:
        raise InternalError(f"native code: nothing provides the symbol {name!r}")
    return found


def at_hand(name: str) -> bool:
    """Whether a symbol is defined, or an earlier process has made it; nothing is compiled."""
    with symbols.lock:
        return symbols.known(name) is not None or _loaders[name]()
