"""The documentation site; CONTRIBUTING.md says how to build it."""

import sys
from pathlib import Path

import matplotlib

DOCS = Path(__file__).parent

# What is installed is documented, not the checkout, which `python3 -m` puts first on the path.
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != DOCS.parent]
sys.path.insert(0, str(DOCS / "_ext"))
matplotlib.use("agg")

import dpmlite

project = "dpmlite"
author = copyright = "the dpmlite developers"
release = version = dpmlite.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax from a package: no page asks another host for a script
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "repository_pages",
    "index_toctrees",
    "public_names",
]
exclude_patterns = ["generated/site", "gallery"]
templates_path = ["_templates"]
nitpicky = True  # a link that leads nowhere is a warning
default_role = "autolink"
highlight_language = "text"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have them
numpydoc_show_class_members = False  # the template of classes lists them

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # a build on a busy machine says nothing about an example
    "write_computation_times": False,
    "doc_module": ("dpmlite",),
    "backreferences_dir": "generated/backreferences",
    "reference_url": {"dpmlite": None},
    "capture_repr": (),
    "image_scrapers": ["figures.new_figures"],
}

html_theme = "furo"
html_title = f"dpmlite {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
