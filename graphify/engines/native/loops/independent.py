"""Which loops have turns that never meet in memory: those are parallel, however they were written.

for j in n - k:                         parallel for j in n - k:
    a[i, j + k] = a[i, j + k] - ...  ->     a[i, j + k] = a[i, j + k] - ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from graphify.engines.native.loops.knowledge import ONE, Form, Knowledge, plus
from graphify.engines.native.loops.program import (
    For,
    Stmt,
    Var,
)
from graphify.engines.native.loops.summary import Access, summary
from graphify.engines.native.loops.walk import statements


def independent(loop: For, known: Knowledge) -> bool:
    """Whether no turn of a loop reads or writes what another one writes."""
    fact = summary(loop)
    if fact.effects or not fact.changes <= fact.defines:
        return False
    for root, writes in fact.writes.items():
        if root in fact.allocates:
            continue
        accesses = [*fact.reads.get(root, ()), *writes]
        inner = [*_loops_in(loop.body), loop.var]
        varying = fact.defines.difference(inner)
        if len(accesses) > 24 or not all(
            _apart(w, a, inner, varying, known) for w in writes for a in accesses
        ):
            return False
    return True


def _loops_in(block: Sequence[Stmt]) -> list[Var]:
    return [s.var for s in statements(tuple(block)) if isinstance(s, For)]


def _apart(
    write: Access,
    other: Access,
    inner: Sequence[Var],
    varying: AbstractSet[Var],
    known: Knowledge,
) -> bool:
    """Whether a write in one turn of loop inner[-1] never meets an access in another turn."""
    if write[0] is not other[0] or write[1] is None or other[1] is None:
        return False
    for e, f in zip(write[1], other[1], strict=True):
        a, b = known.form(e), known.form(f)
        if a is None or b is None or not _steady({*a, *b}, varying):
            continue
        if _in_step(a, b, inner) or _distinct(a, b, inner, known):
            return True
    return False


def _steady(atoms: AbstractSet[Any], varying: AbstractSet[Var]) -> bool:
    """Whether, but for loop indices, nothing in a form changes from turn to turn."""
    return all(atom is ONE or (isinstance(atom, Var) and atom not in varying) for atom in atoms)


def _in_step(a: Form, b: Form, inner: Sequence[Var]) -> bool:
    """Equal forms of the loop's index, and of nothing else that changes in a turn."""
    return a == b and inner[-1] in a and not any(v in a for v in inner[:-1])


def _distinct(a: Form, b: Form, inner: Sequence[Var], known: Knowledge) -> bool:
    """Never equal, whatever the two turns are."""
    twins = {v: Var(v.name, v.dtype) for v in inner}
    for v in reversed(inner):  # outermost first
        if v in known.loops:
            known.loops[twins[v]] = _renamed(known.loops[v], twins)
    other = _renamed(b, twins)
    gap = plus(a, other, -1)
    apart = known.proves(plus(gap, {ONE: -1})) or known.proves(
        plus({atom: -c for atom, c in gap.items()}, {ONE: -1})
    )
    for twin in twins.values():
        known.loops.pop(twin, None)
    return apart


def _renamed(form: Form, twins: Mapping[Var, Var]) -> Form:
    return {twins.get(atom, atom) if atom is not ONE else ONE: c for atom, c in form.items()}
