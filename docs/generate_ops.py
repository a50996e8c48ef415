"""Writes ops.md, the table of all ops, from their records. `make docs` runs it.

The page is not kept in git: adding an op must stay one block in one file.
"""

from pathlib import Path

import graphify  # noqa: F401  # fills the registry
from graphify.ir.op import REGISTRY, Op

HEAD = """# Ops

Every op, from the records in `graphify/ops/`. A *view* shares storage with its operand, as in
NumPy; an *effect* runs in program order. The last three columns say whether the op has a rule of
its own for reverse derivatives, forward derivatives and batching.

| op | what it computes | kind | reverse | forward | batched |
|---|---|---|---|---|---|
"""


def row(op: Op) -> str:
    """One line of the table."""
    kind = "effect" if op.effects else "view" if op.put is not None else ""
    rules = ["yes" if rule is not None else "" for rule in (op.vjp, op.jvp, op.vmap)]
    cells = [f"`{op.name}`", op.doc.replace("|", "\\|"), kind, *rules]
    return f"| {' | '.join(cells)} |\n"


def write() -> None:
    """Writes the page beside this file."""
    page = HEAD + "".join(row(REGISTRY[name]) for name in sorted(REGISTRY))
    Path(__file__).with_name("ops.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    write()
