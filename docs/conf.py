"""Settings of Sphinx. Pages of the API and of the reproduction are written before each build."""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

import api_pages  # noqa: E402
import linked_code  # noqa: E402
import reproduction_pages  # noqa: E402

import paucens  # noqa: E402

project = "paucens"
author = copyright = "The paucens developers"
version = release = paucens.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
    "sphinx_design",
]
exclude_patterns = ["examples/*", "gallery/*.ipynb"]
myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 3

# Types stand in the sections of the docstrings; members are chosen by api_pages.py.
autodoc_typehints = "none"
default_role = "linked_code"
toc_object_entries_show_parents = "hide"
autosummary_generate = False
numpydoc_show_class_members = False
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|pandas|matplotlib|PIL)\..*")]

# Links to other projects need the network, so they are made on demand: PAUCENS_INTERSPHINX=1 make docs
OTHERS = {
    "numpy": ("https://numpy.org/doc/stable/", None),
    "python": ("https://docs.python.org/3/", None),
    "sklearn": ("https://scikit-learn.org/stable/", None),
}
intersphinx_mapping = OTHERS if os.environ.get("PAUCENS_INTERSPHINX") == "1" else {}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "reset_modules": (),
    "download_all_examples": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("scraper",),
    "min_reported_time": 3600,  # times are those of the machine that builds
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "paucens"
html_static_path = ["_static"]
html_css_files = ["paucens.css"]
html_show_sourcelink = False
html_sidebars = {"start": [], "contributing": []}
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_toc_level": 2,
}


def setup(app):
    app.add_role("linked_code", linked_code.make_role())
    api_pages.write(DOCS / "api")
    reproduction_pages.write(DOCS / "reproduction")
