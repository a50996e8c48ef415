"""Library modules: native functions made once per process, when first needed.

    provide("graphify_matmul_float32", lambda: products.module(np.dtype("float32")))
    need("graphify_matmul_float32")       # its address

Compiled graphs only declare such symbols; linking one asks for their addresses here. A module may
define several symbols, which then share its variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphify.engines.native import jit, symbols
from graphify.engines.native.llvm import Module
from graphify.errors import InternalError


def provide(names: str | Sequence[str], maker: Callable[[], Module]) -> None:
    """Say what makes the module that defines a symbol, or several.

    Args:
        maker: writes the module. Called at most once per process, when one is needed.
    """
    exports = (names,) if isinstance(names, str) else tuple(names)

    def keep() -> None:
        code = jit.compile(maker().text(), exports, name=exports[0])
        for name in exports:
            symbols.define(name, code.address(name), alive=code)

    for name in exports:
        symbols.promise(name, keep)


def need(name: str) -> int:
    """The address of a symbol; makes the module that defines it if that was not done yet."""
    found = symbols.address(name)
    if found is None:
        raise InternalError(f"native code: nothing provides the symbol {name!r}")
    return found
