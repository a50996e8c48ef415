"""Loops on several threads."""

from __future__ import annotations

from graphify.engines.native.loops.program import For
from graphify.engines.native.translate.writer import Writer


def possible(w: Writer, stmt: For) -> bool:
    return False


def write(w: Writer, stmt: For) -> None:
    raise NotImplementedError
