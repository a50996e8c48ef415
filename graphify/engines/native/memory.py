"""Memory for results: aligned blocks that are used again instead of going back to the system.

    ptr graphify_allocate(i64 bytes)      64-byte aligned, or null
    void graphify_free(ptr block)
    void graphify_recycle(i64 bytes)      keep at most so many bytes of freed blocks

Their code is in allocator.py.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import TYPE_CHECKING

from graphify.config import config
from graphify.engines.native import library, symbols

if TYPE_CHECKING:
    from graphify.engines.native.llvm import Module

NAMES = ("graphify_allocate", "graphify_free", "graphify_recycle", "graphify_unlock_memory")


def allocate(size: int) -> int:
    """The address of a block of `size` bytes (0: no memory)."""
    if size >= 1 << 63:
        return 0
    return _function("graphify_allocate", ctypes.c_void_p, ctypes.c_int64)(size) or 0


def free(block: int) -> None:
    """Give a block back."""
    _function("graphify_free", None, ctypes.c_void_p)(block)


def keep_at_most(size: int) -> None:
    """Bound the bytes of freed blocks that are kept; drops all if there are more now."""
    _function("graphify_recycle", None, ctypes.c_int64)(size)


@functools.cache
def _function(name: str, result: type | None, argument: type) -> ctypes._CFunctionType:
    return ctypes.CFUNCTYPE(result, argument)(library.need(name))


def _module(most: int, large_pages: bool) -> Module:
    from graphify.engines.native import allocator

    return allocator.module(most, large_pages)


def _given() -> tuple[int, bool]:
    large_pages = symbols.address("madvise") is not None and os.uname().sysname == "Linux"
    return config.recycle << 20, large_pages


def _in_child() -> None:
    if unlock := symbols.known("graphify_unlock_memory"):
        ctypes.CFUNCTYPE(None)(unlock)()


library.provide(NAMES, _module, _given)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
