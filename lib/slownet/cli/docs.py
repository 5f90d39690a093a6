"""`slownet docs`: where the documentation is on this machine, and opening a page of it."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from slownet.model.errors import SlownetError, nearest

FIRST = "index"
INSTALLED = Path(__file__).parents[1] / "manual"
"""In a wheel."""
BUILT = Path(__file__).parents[3] / "docs/_build/html"
"""In a checkout."""


def docs(
    page: Annotated[
        str | None, typer.Argument(metavar="PAGE", help="A page, such as conditions or howto/compose; default: the first.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    every: Annotated[bool, typer.Option("--list", help="List the pages instead.")] = False,
) -> None:
    """Print where a page of the documentation is on this machine, or open it; it needs no network."""
    known = _pages(root())
    if every:
        print("\n".join(known))
        return
    found = known[_named(page or FIRST, known)]
    print(found)
    if show and not webbrowser.open(found.as_uri()):
        raise SlownetError("no browser can be opened here", "--open", f"open {found.as_uri()}")


def root() -> Path:
    """Return the folder of the built pages. Raises SlownetError."""
    for folder in (BUILT, INSTALLED):
        if (folder / f"{FIRST}.html").is_file():
            return folder
    fix = (
        "make docs, in the checkout"
        if (BUILT.parents[1] / "conf.py").is_file()
        else "install a wheel that was built after make docs"
    )
    raise SlownetError("the documentation is not built", fix=fix)


def _pages(folder: Path) -> Mapping[str, Path]:
    return dict(sorted(_each(folder)))


def _each(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*.html"):
        name = str(path.relative_to(folder).with_suffix(""))
        if not name.startswith("_") and name not in ("genindex", "search", "py-modindex"):
            yield name, path


def _named(page: str, known: Mapping[str, Path]) -> str:
    """Return the page of that name, or the only one whose last part is that. Raises SlownetError."""
    name = page.removesuffix(".html").removesuffix(".md")
    ends = [each for each in known if name in (each, each.rpartition("/")[2], each.removesuffix(f"/{FIRST}"))]
    if name in known or len(ends) == 1:
        return name if name in known else ends[0]
    if ends:
        raise SlownetError(f"several pages are called '{page}'", fix=f"choose from {', '.join(ends)}")
    raise SlownetError(f"no page '{page}'", fix=nearest(page, [*known, *(each.rpartition("/")[2] for each in known)]))
