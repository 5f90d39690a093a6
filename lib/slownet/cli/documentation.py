"""The pages of the documentation on this machine: where they are, and which one is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from slownet.model.errors import SlownetError

FIRST = "index"
INSTALLED = Path(__file__).parents[1] / "manual"
"""In a wheel."""
BUILT = Path(__file__).parents[3] / "docs/_build/html"
"""In a checkout."""
_HEADING = re.compile(r"<h[12]>(.*?)<a class=\"headerlink\"", re.DOTALL)


def is_built() -> bool:
    """Return whether this machine has the pages."""
    return any((folder / f"{FIRST}.html").is_file() for folder in (BUILT, INSTALLED))


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


def pages(folder: Path) -> Mapping[str, Path]:
    """Return the pages by their names, such as ``howto/compose``."""
    return dict(sorted(_each(folder)))


def _each(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*.html"):
        name = str(path.relative_to(folder).with_suffix(""))
        if not name.startswith("_") and name not in ("genindex", "search", "py-modindex"):
            yield name, path


def about(word: str, known: Mapping[str, Path]) -> list[str]:
    """Return the pages that have a word, or one that begins with it, in their title or a heading: first those of the title."""
    begins = re.compile(rf"\b{re.escape(word)}", re.IGNORECASE)
    found: tuple[list[str], list[str]] = ([], [])
    for name, path in known.items():
        headings = [re.sub(r"<[^>]+>", "", each) for each in _HEADING.findall(path.read_text(encoding="utf-8"))]
        if any(map(begins.search, headings)):
            found[not begins.search(headings[0])].append(name)
    return [*found[0], *found[1]]


def called(page: str, known: Mapping[str, Path]) -> Sequence[str]:
    """Return the page of that name; else those whose last part it is, none or several."""
    name = page.removesuffix(".html").removesuffix(".md")
    if name in known:
        return [name]
    return [each for each in known if name in (each.rpartition("/")[2], each.removesuffix(f"/{FIRST}"))]
