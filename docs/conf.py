"""Sphinx configuration: `make docs` builds HTML that reads offline, and the man page."""

import gc
import json
import sys
from pathlib import Path

from slownet import __version__
from slownet.theory import published

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from slownet_docs.facts import facts  # noqa: E402  # from the folder above

# Sphinx keeps millions of nodes: looking through all of them for garbage, again and again, would take half of the build's time.
gc.set_threshold(200_000, 50, 100)

project = "slownet"
author = "The authors of slownet"
copyright = "the authors of slownet, GPL-2.0-or-later"  # noqa: A001  # Sphinx's name
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "slownet_docs"]
exclude_patterns = ["_build", "_ext", "_generated"]
if tags.has("man"):  # noqa: F821  # Sphinx defines it
    root_doc, include_patterns = "reference/man", ["reference/man.md"]
else:
    exclude_patterns.append("reference/man.md")
nitpicky = True
# Types of other projects cannot be looked up offline; a reference to a name of slownet's own must resolve.
nitpick_ignore_regex = [(r"py:.*", r"(?!slownet\.).*")]
nitpick_ignore = [("py:class", "slownet.compose.model.Project")]  # not public

myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
myst_heading_anchors = 4
# Figures that pages quote: {{ figures... }}. `make docs-figures` measures and writes them.
FIGURES = json.loads((HERE / "figures/figures.json").read_text())
ARTICLES = {name.replace("-", "_"): article for name, article in published.articles().items()}
myst_substitutions = {
    "figures": FIGURES,
    "articles": ARTICLES,
    "protocols": published.protocols(),
    "databases": published.databases(),
    "facts": facts(),
    "version": __version__,
}

smartquotes = False  # --tdf stays --tdf
default_role = "code"  # docstrings write names in single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings state them
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"slownet {__version__}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["slownet.css"]
man_pages = [("reference/man", "slownet", "measure what a slow network does to a system", author, 1)]
