"""Writes examples.md, the gallery of examples/numerics, from docstrings.

    python docs/generate_examples.py

The page is kept in git; a test compares it with what this makes.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1]
FAMILIES = PROJECT / "examples" / "numerics"
HEAD = """# Examples

Longer programs that show one thing each: `examples/kmeans_digits.py` (a clustering, traced, read
and exported), `examples/train_classifier.py` (gradients), `examples/signal_convnet.py`
(`graphify.nn`), and `examples/cavity_flow.py` (a flow, plain and staged, with its stream lines as a
picture).

The programs below are plain NumPy with loops, slices, masks, updates in place and early exits, as
people write them; nothing in `examples/numerics/` knows of graphify. Each runs unmodified:

    import graphify
    from examples.numerics.factorisations import lu_pivoted

    graphify.function(lu_pivoted)(A)

`tests/test_examples_numerics.py` runs them plain and staged for two sizes, compares what they
return and what they change, differentiates and vectorises them, and counts the nodes of their
graphs, which do not grow with the sizes.
"""


def first_sentence(text: str) -> str:
    """The summary of a docstring, on one line, without its full stop."""
    return " ".join(text.split("\n\n")[0].split()).removesuffix(".")


def sections() -> Iterator[str]:
    """The lines of the page after its head."""
    for path in sorted(FAMILIES.glob("*.py")):
        if path.name == "__init__.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield f"\n## {path.stem.capitalize()}\n\n{ast.get_docstring(tree)}\n\n"
        yield "| program | what it computes |\n|---|---|\n"
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                said = first_sentence(ast.get_docstring(node) or "").replace("|", "\\|")
                yield f"| `{node.name}` | {said} |\n"


def page() -> str:
    """The whole page."""
    return HEAD + "".join(sections())


if __name__ == "__main__":
    Path(__file__).with_name("examples.md").write_text(page(), encoding="utf-8")
