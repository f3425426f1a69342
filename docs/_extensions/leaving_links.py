"""Links from pages to files of the repository outside docs/: to the page that shows the file, where there is one."""

import posixpath
import re

SHOWN = {
    "paper/results/results.md": "paper_results.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CODE_OF_CONDUCT.md": "contributing.md",
    "README.md": "index.md",
}
_LINK = re.compile(r"\]\((?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def setup(app):
    app.connect("source-read", _redirect)
    app.connect("include-read", _redirect_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _redirect(app, name, source):
    source[0] = redirected(source[0], posixpath.dirname(f"docs/{name}"), posixpath.dirname(name))


def _redirect_included(app, path, name, source):
    """An included file links from where it lies."""
    folder = posixpath.dirname(posixpath.normpath(posixpath.join("docs", str(path))))
    source[0] = redirected(source[0], folder, posixpath.dirname(name))


def redirected(text, folder, page_folder):
    """The text of a file in ``folder`` (from the root) with links that work on a page in ``page_folder`` (of docs)."""

    def link(match):
        path = match["path"]
        if "://" in path or path.startswith(("mailto:", "/")):
            return match[0]
        target = posixpath.normpath(posixpath.join(folder, path))
        if target in SHOWN:
            target = posixpath.join("docs", SHOWN[target])
        elif folder.startswith("docs") or not target.startswith("docs/"):
            return match[0]
        where = posixpath.relpath(target, posixpath.join("docs", page_folder))
        return f"]({where}{match['anchor'] or ''})"

    return _LINK.sub(link, text)
