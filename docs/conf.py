"""Settings of the documentation. Build it with `make docs`."""

import re
import sys
from pathlib import Path

from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).parent))

import generate_ops  # noqa: E402
import generate_tutorial  # noqa: E402

generate_ops.write()
generate_tutorial.write()

project = "graphify"
author = copyright = "The graphify authors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3  # errors.md#specerror: error messages link there

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_numpy_docstring = False

html_theme = "alabaster"
html_theme_options = {"description": project, "page_width": "64rem"}

# Docstrings are plain text with `code` in single backticks, which reStructuredText would take for a
# reference; a letter right after it needs an escape.
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)(\w?)")


def mark_code(app, what, name, obj, options, lines):
    """Makes `code` of a docstring ``code``."""
    lines[:] = [CODE.sub(lambda m: f"``{m[1]}``{chr(92) + m[2] if m[2] else ''}", s) for s in lines]


def setup(app):
    """Connects what is defined here."""
    app.add_lexer("mermaid", TextLexer)  # pictures stay text here; code hosts draw them
    app.connect("autodoc-process-docstring", mark_code)
