"""slownet's Sphinx extension: pages that are generated from the code, and a list of the links to elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from slownet_docs import api, commands, conditions, costs, messages, navigation, page_texts, tables

PAGES = {
    **api.pages(),
    "commands": commands.page,
    "compose": tables.compose,
    "conditions": conditions.page,
    "errors": messages.page,
    "fixtures": tables.fixtures,
    "hypothesis-keys": tables.keys,
    "kernel-base": tables.base_configuration,
    "kernel-wide": tables.wide_modules,
    "markers": tables.markers,
    "named-conditions": conditions.named,
    "predictions": tables.predicted,
    "project-keys": tables.project_keys,
    "pytest-options": tables.options,
    "costs": costs.page,
    "query-cost": tables.query_cost,
    "records": tables.records,
    "growth": tables.growth,
    "calls": tables.calls,
    "call-parts": tables.call_parts,
    "repeats": tables.repeats,
    "samples": tables.sample_fields,
    "reasons": tables.reasons,
    "services": tables.services,
    "statuses": tables.statuses,
    "tools": tables.tools,
    "topologies": tables.drawn,
    "variables": tables.variables,
}
"""File of docs/_generated -> the function that returns its text in MyST."""
OF_THE_MAN_PAGE = ("commands", "variables")


def write(folder: Path, names: Iterable[str] = PAGES) -> None:
    """Write generated pages, each only if its text has changed: Sphinx rebuilds pages that include a newer file."""
    folder.mkdir(exist_ok=True)
    for name in names:
        path, text = folder / f"{name}.md", PAGES[name]()
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _external(app: Any, error: Exception | None) -> None:
    """Write all links that leave the documentation to external-links.txt beside the pages; nothing is fetched."""
    if error or app.builder.format != "html":
        return
    from docutils import nodes  # here, because tests import this package without it

    found = {
        (node["refuri"], name)
        for name in app.env.found_docs
        for node in app.env.get_doctree(name).findall(nodes.reference)
        if node.get("refuri", "").startswith(("http:", "https:"))
    }
    lines = [f"{address} {page}\n" for address, page in sorted(found)]
    (Path(app.outdir).parent / "external-links.txt").write_text("".join(lines))


def _references(app: Any, kind: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Write a docstring's references as a list: their numbers, as [1]_, would be the same in several of a page."""
    lines[:] = [re.sub(r"^\.\. \[\d+\] ", "- ", re.sub(r" \[\d+\]_", "", line)) for line in lines]


def _is_left_out(app: Any, kind: str, name: str, found: object, skip: bool, options: object) -> bool | None:
    """Leave out the fields of a named tuple, which Python describes by their numbers: its docstring has them."""
    return True if type(found).__name__ == "_tuplegetter" else None


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    names = OF_THE_MAN_PAGE if app.tags.has("man") else PAGES
    app.connect("config-inited", lambda app, config: write(Path(app.srcdir) / "_generated", names))
    app.connect("build-finished", _external)
    app.connect("autodoc-skip-member", _is_left_out)
    app.connect("build-finished", page_texts.write)
    app.connect("build-finished", costs.write)
    app.connect("html-page-context", page_texts.on_search)
    app.connect("html-page-context", navigation.on_page, priority=100)  # before the theme
    app.connect("autodoc-process-docstring", _references, priority=100)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
