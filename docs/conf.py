"""Sphinx configuration: the Markdown pages of this folder, and the API from docstrings.

Build with ``pip install ".[docs]"`` and ``sphinx-build docs build/docs``.
"""

import skstruct

project = "skstruct"
author = "the skstruct developers"
copyright = "2026, the skstruct developers"
version = release = skstruct.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "alabaster"
html_title = f"skstruct {release}"
