"""How the site is built: ``python -m sphinx -W -b html docs build/site``."""

import subprocess
import sys
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

import stakes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "stakes"
author = "the developers of stakes"
copyright = "2026, the developers of stakes"  # noqa: A001  (Sphinx names it so)
release = version = stakes.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples/README.md", "transcripts", "gallery", "**/sg_execution_times*", "sg_execution_times*"]
templates_path = ["_templates"]
root_doc = "index"
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_mock_imports = ["torch", "keras", "lightning", "xgboost", "lightgbm"]
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": FileNameSortKey,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "stakes"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt", "SKILL.md"]
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "search_bar_text": "Search",
}
html_context = {"default_mode": "auto"}  # the theme's scripts complain where none is said
# These have no pages below them, so that a list of such would be empty and take a quarter of the width.
_ALONE = "index start questions ideas howto ecosystem errata comparison conformance replications reliability glossary"
_ALONE += " records/benchmarks records/replications"
html_sidebars = {page: [] for page in _ALONE.split()}


def write_demo(app):
    """Make the report of the shipped example, and the page on which a file is dropped, without and with the example."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    for words in (
        ["demo", "--report", str(folder / "demo_report.html")],
        ["page", "--output", str(folder / "drop.html")],
        ["page", "--example", "--output", str(folder / "front.html")],
    ):
        subprocess.run([sys.executable, "-m", "stakes", *words], check=True, capture_output=True)


def write_figures(app):
    """Draw the pictures that stand on the pages below the lines that make them."""
    command = [sys.executable, str(HERE / "figures.py"), str(Path(app.outdir) / "_static" / "figures")]
    subprocess.run(command, check=True, capture_output=True)


def setup(app):
    app.connect("builder-inited", write_demo)
    app.connect("builder-inited", write_figures)
