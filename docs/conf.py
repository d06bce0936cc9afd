"""How the site is built: ``make docs``."""

import sys
from pathlib import Path

import ranksvm

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "ranksvm"
author = "the ranksvm developers"
copyright = author
release = version = ranksvm.__version__

extensions = [
    "example_report",
    "mathml",
    "myst_parser",
    "no_mail",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "terminal",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.md5", "gallery/*.py"]
templates_path = ["_templates"]
default_role = "py:obj"
nitpicky = True
# Docstrings put parameters and attributes into single backticks, too.
nitpick_ignore_regex = [
    ("py:obj", r"[a-zA-Z]\w*_?"),
    ("py:class", r"(np|numpy|scipy|enum)\..*"),
    ("py:obj", r"sklearn\..*"),
]
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = "ranksvm"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_math_renderer = "mathml"
math_eqref_format = "equation {number}"
html_show_copyright = False
html_copy_source = False
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_predict_request, set_score_request, "
    "set_transform_request, set_output",
}
autosummary_generate = True
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "gallery.surround"),
    "reset_modules_order": "both",
    "image_srcset": ["2x"],
    "thumbnail_size": (640, 400),
    "remove_config_comments": True,
    "show_signature": False,
    "notebook_extensions": set(),
    "write_computation_times": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "doc_module": ("ranksvm",),
    "backreferences_dir": None,
}
