"""Reference cycles that a trace has dropped: found without going through what was there before.

with young():             # a trace
    ...
    gc.collect()          # takes time for what the trace has made, and for nothing else

The interpreter goes through all objects once a quarter of them are new, but does not count those
that were frozen: who only traces would never see it. They are counted here, by the same rule.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

FEW = 100_000  # objects that are not worth to go through all

_frozen = False  # by a trace; to ask the collector takes time for each object it has
_uncounted: int | None = None  # objects that freezing made old since all were gone through, or
# since the first trace: what there was before it are modules, which stay
_many = FEW  # of them: a quarter of all


@contextlib.contextmanager
def young() -> Iterator[None]:
    """Leave what exists now to later collections; within another trace, or where somebody else
    froze objects, it does nothing."""
    global _frozen, _uncounted
    if _frozen or gc.get_freeze_count():
        yield
        return
    _uncounted = 0 if _uncounted is None else _uncounted + _newly_made()
    gc.freeze()
    _frozen = True
    try:
        yield
    finally:
        _frozen = False
        _uncounted += _newly_made()
        if _uncounted > _many and gc.isenabled():
            _go_through_all()
        else:
            gc.unfreeze()


def _newly_made() -> int:
    """About how many objects there are that the interpreter has yet to go through twice."""
    youngest, collections, older_collections = gc.get_count()
    often, less_often, _ = gc.get_threshold()
    return youngest + often * (collections + less_often * older_collections)


def _go_through_all() -> None:
    global _uncounted, _many
    _uncounted, _many = 0, max(FEW, gc.get_freeze_count() // 4)
    gc.unfreeze()
    gc.collect()
