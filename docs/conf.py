"""The documentation site: ``make docs`` writes it to docs/_build/html, and it needs no network to be read."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))

from pygments.lexers.special import TextLexer  # noqa: E402 - after the path

from stepnet import __version__  # noqa: E402

project = "stepnet"
author = "The stepnet developers"
project_copyright = "the stepnet developers, MIT licence"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "command_reference",
    "layers",
    "leaving_links",
    "mathml",
    "notebooks",
]
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # types in docstrings are words for people, such as "array-like"
nitpick_ignore = [("py:mod", "stepnet.formulations.layered"), ("py:meth", "from_dict")]
suppress_warnings = ["myst.header"]  # the results of the paper's experiments are tables, two levels down

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
smartquotes_action = "D"  # dashes alone: quotes are part of what one types

html_theme = "furo"
html_title = "stepnet"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
pygments_dark_style = "github-dark"
html_theme_options = {"navigation_with_keys": True}
highlight_language = "text"  # of blocks that name none

linkcheck_anchors = False
linkcheck_timeout = 20
linkcheck_retries = 2


def setup(app):
    app.connect("autodoc-skip-member", _skips)
    app.add_lexer("csv", TextLexer)


def _skips(app, what, name, member, skip, options):
    """What scikit-learn adds to estimators is in its own documentation."""
    module = getattr(member, "__module__", None) or ""
    return skip or module.startswith("sklearn") or (name.startswith("set_") and name.endswith("_request"))
