"""Reference cycles that a trace has dropped: found without going through what was there before.

with young():             # a trace
    ...
    gc.collect()          # takes time for what the trace has made, and for nothing else
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def young() -> Iterator[None]:
    """Leave what exists now to later collections; nested, or where somebody else froze objects,
    it does nothing."""
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
