"""Text in columns.

print(table(["name", "bytes"], [["x", "4*n"], ["total", "8"]], right={1}))
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

WIDEST = 44  # characters of a cell, the last column excepted


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Rows under a head, in columns as wide as they must be.

    Args:
        right: columns whose text stands at the right.
    """
    last = len(head) - 1
    cells = [[_cut(c) if i < last else c for i, c in enumerate(row)] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = []
    for row in cells:
        parts = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."
