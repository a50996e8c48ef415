"""Settings of the documentation. Build it with `make docs`."""

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
