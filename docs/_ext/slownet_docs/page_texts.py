"""The text of every page in one script, for a search in pages that were opened as files."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

NAME = "page-texts.js"


def write(app: Any, error: Exception | None) -> None:
    """Write the texts beside the pages' other static files: by page, its sections with their names, as short HTML."""
    if error or app.builder.format != "html":
        return
    texts = {app.builder.get_target_uri(name): _sections(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
    (Path(app.outdir) / "_static" / NAME).write_text(f"window.slownetPageTexts = {json.dumps(texts)};\n")


def _sections(node: Any) -> str:
    """Return the text of a document or a section, with each section in an element of its name."""
    from docutils import nodes  # here, because tests import this package without it

    found = []
    for child in node.children:
        if isinstance(child, nodes.section):
            found.append(f'<section id="{html.escape(child["ids"][0])}">{_sections(child)}</section>')
        elif not isinstance(child, nodes.raw | nodes.comment | nodes.system_message):
            found.append(f"<p>{html.escape(child.astext())}</p>")
    return "".join(found)


def on_search(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load the script that reads the texts on the page of the search alone."""
    if page == "search":
        app.add_js_file("offline-search.js")
