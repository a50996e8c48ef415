"""Writes tutorial.md from tutorial.py: comments become text, the rest code. `make docs` runs it.

The page is not kept in git; the program is what is read, run and tested.
"""

import ast
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent


def page(source: str) -> str:
    """The tutorial as Markdown."""
    tree = ast.parse(source)
    head = ast.get_docstring(tree) or ""
    rest = source.splitlines()[tree.body[0].end_lineno or 0 :]
    parts = ["# Tutorial", head]
    for is_text, group in groupby(rest, key=lambda line: line.startswith("#")):
        lines = list(group)
        if is_text:
            parts.append("\n".join(line[1:].removeprefix(" ") for line in lines))
        elif code := "\n".join(lines).strip("\n"):
            parts.append(f"```python\n{code}\n```")
    return "\n\n".join(parts) + "\n"


def write() -> None:
    """Writes the page beside this file."""
    source = (HERE / "tutorial.py").read_text(encoding="utf-8")
    (HERE / "tutorial.md").write_text(page(source), encoding="utf-8")


if __name__ == "__main__":
    write()
