"""How the documentation site is built: ``make docs``.

The source folder is the whole repository, so that links between README, docs and data lead to the same places on the
site and where the files are read. No page asks another host for anything; ``tools/check_site.py`` sees to that.
"""

import sys
from pathlib import Path

import anonhist

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "anonhist"
author = "The anonhist authors"
release = version = anonhist.__version__
html_title = "anonhist"
html_show_copyright = False

root_doc = "README"
include_patterns = ["*.md", "data/README.md", "papers/README.md", "docs/**"]
exclude_patterns = ["build", "docs/gallery/*", "docs/_templates", ".*"]
templates_path = [str(HERE / "_templates")]  # Sphinx itself and autosummary look from different folders
html_static_path = ["_static"]
html_extra_path = ["_root"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "contents",
    "mathml",
    "progress",
    "reference",
    "try_page",
]
suppress_warnings = ["ref.footnote"]  # docstrings list their sources, and refer to most as a whole

myst_enable_extensions = ["deflist", "dollarmath", "html_image"]
myst_heading_anchors = 3
highlight_language = "none"
html_math_renderer = "mathml"

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"MechanismName": "MechanismName"}  # nine words, in each overload of a signature
autodoc_member_order = "groupwise"
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_custom_sections = ["Guarantees"]
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"  # the column beside the page is narrow
maximum_signature_line_length = 80  # longer ones have a line for each parameter

sphinx_gallery_conf = {
    "examples_dirs": ["docs/gallery"],
    "gallery_dirs": ["docs/auto_gallery"],
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "plot_gallery": "True",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_sidebars = {"docs/tutorial": []}  # it has no pages below it
html_theme_options = {
    "show_prev_next": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "collapse_navigation": True,  # else each page has the names of all rooms
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_css_files = ["site.css"]
html_copy_source = False
