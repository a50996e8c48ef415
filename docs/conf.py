"""Settings of the documentation. Build it with `make docs`."""

import sys
from pathlib import Path

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
