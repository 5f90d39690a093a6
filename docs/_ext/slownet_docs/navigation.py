"""The tree of all pages, which each page of the theme shows, in a fraction of the time.

Sphinx copies the whole contents of all pages, with every heading and documented name, for each page, and then drops all but the
titles. Here it copies the titles alone.
"""

from __future__ import annotations

from typing import Any


def on_page(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the theme the same function `toctree`, which copies less where only titles are asked for."""
    whole = context["toctree"]

    def toctree(**options: Any) -> str:
        if not options.get("titles_only"):
            return str(whole(**options))
        contents, app.env.tocs = app.env.tocs, _titles(app)
        try:
            return str(whole(**options))
        finally:
            app.env.tocs = contents

    context["toctree"] = toctree


def _titles(app: Any) -> dict[str, Any]:
    """Return the contents of all pages without what `titles_only` leaves out; made once a build, when all pages are read."""
    if not hasattr(app, "slownet_titles"):
        app.slownet_titles = {name: _title(contents) for name, contents in app.env.tocs.items()}
    return app.slownet_titles


def _title(contents: Any) -> Any:
    """Return a page's contents with its title and the pages below it, as `_entries_from_toctree` of Sphinx keeps them."""
    from sphinx import addnodes  # here, because tests import this package without it

    kept = contents.deepcopy()
    for item in kept.children:
        if len(item) > 1:
            if below := list(item.findall(addnodes.toctree)):
                item[1][:] = below
            else:
                item.pop(1)
    return kept
