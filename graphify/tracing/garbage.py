"""Reference cycles that a trace has dropped: found without going through what was there before.

with young():             # a trace
    ...
    gc.collect()          # takes time for what the trace has made, and for nothing else
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_frozen = False  # by a trace; to ask the collector takes time for each object it has


@contextlib.contextmanager
def young() -> Iterator[None]:
    """Leave what exists now to later collections; within another trace, or where somebody else
    froze objects, it does nothing."""
    global _frozen
    if _frozen or gc.get_freeze_count():
        yield
        return
    gc.freeze()
    _frozen = True
    try:
        yield
    finally:
        _frozen = False
        gc.unfreeze()
