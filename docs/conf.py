"""Sphinx configuration: the pages of this folder, the gallery of examples, and the API
from docstrings.

Build with ``pip install ".[docs]"`` and ``sphinx-build -W docs build/docs``. Where
there is a network, names of other packages are links into their documentation.
"""

import contextlib
import importlib
import inspect
import io
import os
import pathlib
import sys
import urllib.request

import skstruct
from skstruct.datasets import columns_to_spans

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [
    str(HERE),
    str(HERE.parent / "examples"),
]  # gallery.py, and what the studies share
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault(
    "SKSTRUCT_DATA", str(HERE / "no-corpora")
)  # the gallery is the same everywhere

# What is said at the first compilation belongs to no page.
with contextlib.redirect_stderr(io.StringIO()):
    skstruct.warm_up()

project = "skstruct"
author = "the skstruct developers"
copyright = "2026, the skstruct developers"
version = release = skstruct.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
exclude_patterns = [
    "_build",
    "_templates",
    "**/GALLERY_HEADER.rst",
    "**/sg_execution_times.rst",
]
exclude_patterns += ["sg_execution_times.rst"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Class pages list methods in a table of their own (see _templates); numpydoc would list
# them again.
autosummary_generate = True
numpydoc_show_class_members = False
smartquotes = False  # quotes in signatures and code stay straight


OF_CORPORA = "column", "split"
"""What users call of what all corpora have behind the door."""


def foreign_methods():
    """For each public class the names of the methods that it has from other packages,
    or for the inside of this one.
    """
    found = {}
    parts = (
        "features",
        "features.patterns",
        "_data.inputs",
        "inspection",
        "metrics",
        "datasets",
        "serving",
    )
    for module in (
        skstruct,
        *(importlib.import_module(f"skstruct.{part}") for part in parts),
    ):
        for name in {
            *vars(module),
            *getattr(module, "__all__", ()),
        }:  # some are imported at their first use
            value = getattr(module, name)
            if inspect.isclass(value):
                maker = {
                    m: next(c for c in value.__mro__ if m in vars(c))
                    for m in dir(value)
                }
                found[name] = [
                    m
                    for m in maker
                    if not maker[m].__module__.startswith("skstruct")
                    or (
                        maker[m].__module__ == "skstruct._data.corpus"
                        and m not in OF_CORPORA
                    )
                ]
                found[name] += [m for m in maker if m.endswith("_request")]
    return found


autosummary_context = {"foreign_methods": foreign_methods()}
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # docstrings say more

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"skstruct {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"index": [], "install": [], "choosing": []}
html_show_sourcelink = False


# -- links into other documentation ----------------------------------------------------
def inventories(pages, seconds=5):
    """Those of ``pages`` (name -> address) whose inventory can be had: none without a
    network.
    """
    found = {}
    for name, address in pages.items():
        try:
            with urllib.request.urlopen(f"{address}objects.inv", timeout=seconds):
                found[name] = (address, None)
        except OSError:
            print(f"no inventory of {name}: its names are not links")
    return found


intersphinx_mapping = inventories(
    {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
    }
)

# -- gallery ---------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(_study|picture)\.py",
    "reset_argv": "gallery.arguments_of",
    "abort_on_example_error": True,
    "within_subsection_order": "gallery.order",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "backreferences_dir": "auto_backreferences",
    "doc_module": ("skstruct",),
    "min_reported_time": 10,
}


# -- the living example of the first page ----------------------------------------------
def write_living_example(app, error):
    """A page of a tagger of names in text, which the first page embeds."""
    if error is None and app.builder.format == "html":
        X, y = columns_to_spans(*skstruct.datasets.load_entities())
        tagger = skstruct.SpanTagger(skstruct.L1CRF(random_state=0)).fit(X, y)
        example = "\n".join(X[100:103])
        path = pathlib.Path(app.outdir) / "living.html"
        skstruct.interchange.export(
            tagger, path, title="Names, in this page", example=example
        )


def setup(app):
    """What Sphinx calls."""
    app.connect("build-finished", write_living_example)
