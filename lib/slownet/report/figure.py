"""A figure of a report: a picture, the numbers that it shows, and both as files for papers and programs."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from slownet.judge.records.samples import finite
from slownet.model.errors import SlownetError
from slownet.model.whole_file import place
from slownet.report import spreadsheet
from slownet.report.spreadsheet import Value
from slownet.report.text import number

FONTS = Path("/usr/share/fonts"), Path.home() / ".fonts", Path.home() / ".local/share/fonts"
SVG, PNG, PDF = KINDS = ("svg", "png", "pdf")
"""Formats of a picture; also the endings of their files."""
UNUSUAL = r"[^\w.,=+-]"
"""Characters of a record's names that no file of a figure has: above all ``/``."""
LONGEST = 120
CAIROSVG = "'cairosvg>=2.7'"
"""The requirement of the extra pdf, as a shell takes it."""
ZOOM = 4
"""Pixels of a PNG for each unit of the picture."""
HALO = re.compile(r'<text\b[^>]*\bclass="[^"]*\b(?:small|group)\b.*?</text>', re.DOTALL)
"""A text that is drawn on a halo: see page.css."""


@dataclass(frozen=True)
class Figure:
    """One picture with its numbers.

    name: for file names.
    title: what it shows, in a line above it.
    svg: the ``<svg>`` element, in colours of the page.
    head: the names of the columns of the numbers.
    rows: the numbers that the picture shows.
    note: a line below it.
    """

    name: str
    title: str
    svg: str
    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""

    @property
    def texts(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [[each if isinstance(each, str) else number(each) for each in row] for row in self.rows]

    @property
    def csv(self) -> str:
        """The numbers as CSV, in full precision."""
        return spreadsheet.text([self.head, *self.rows])

    @property
    def json(self) -> str:
        """The numbers as a JSON list of objects."""
        records: list[dict[str, Any]] = [dict(zip(self.head, row, strict=True)) for row in self.rows]
        return json.dumps(finite(records), ensure_ascii=False)

    @property
    def csv_url(self) -> str:
        """The CSV as a link of its own, so that the page needs no other file."""
        return f"data:text/csv;charset=utf-8,{quote(self.csv)}"

    @property
    def json_url(self) -> str:
        """The JSON as a link of its own."""
        return f"data:application/json;base64,{base64.b64encode(self.json.encode()).decode()}"

    @property
    def alone(self) -> str:
        """The picture as a file of its own: in light colours, with the style that the page gives it."""
        style, colours = _style()
        drawn = re.sub(r"var\(--(\w+)\)", lambda found: colours.get(found[1], "#000"), self.svg)
        drawn = re.sub(r' data-says="[^"]*"| data-[xy]="[^"]*"| class="mark"', "", drawn)
        return drawn.replace(">", f"><title>{_title(self.svg)}</title><style>{style}</style>", 1)

    def drawn(self, kind: str) -> bytes:
        """Return the picture as a file of its own.

        kind: one of `KINDS`: an SVG; a PNG on white, with `ZOOM` pixels for each unit; a PDF.
        Raises SlownetError: a font, or what makes PDFs, is not installed.
        """
        if kind == SVG:
            return self.alone.encode()
        if not any(next(folder.rglob("*.[to]tf"), None) for folder in FONTS if folder.is_dir()):
            what = f"no font for the text of a {kind.upper()}"
            raise SlownetError(what, "on this machine", "apt-get install fonts-dejavu-core")
        return self._png() if kind == PNG else self._pdf()

    def _png(self) -> bytes:
        import resvg_py

        return bytes(resvg_py.svg_to_bytes(svg_string=self.alone, background="#ffffff", zoom=ZOOM))

    def _pdf(self) -> bytes:
        try:
            import cairosvg
        except ImportError as error:
            fix = f"python -m pip install {CAIROSVG}"
            raise SlownetError("CairoSVG, which makes PDFs, is not installed", fix=fix) from error
        except OSError as error:
            raise SlownetError("Cairo, which makes PDFs, is not installed", fix="apt-get install libcairo2") from error
        return bytes(cairosvg.svg2pdf(bytestring=over_its_halo(self.alone).encode()))


def over_its_halo(svg: str) -> str:
    """Draw each text that has a halo once more, without it; return the picture.

    CairoSVG knows no ``paint-order``: it draws the halo, a stroke in the colour of the paper, over the text.
    """
    return HALO.sub(lambda found: found[0] + found[0].replace("<text", '<text style="stroke:none"', 1), svg)


def written(figures: Sequence[tuple[str, Figure]], folder: Path, kind: str) -> list[Path]:
    """Write figures as ``<name>.svg``, or another of `KINDS`, into a folder, and return their paths. Raises SlownetError.

    Names come from records, which another user may have written: whatever they contain, the files are in the folder itself.
    """
    found: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures:
            path = _free(folder, re.sub(UNUSUAL, "_", name).lstrip(".") or "figure", kind, found)
            place(path, figure.drawn(kind))
            found.append(path)
    except OSError as error:
        raise SlownetError(f"cannot write figures, {error.strerror}", str(folder)) from error
    return found


def _free(folder: Path, stem: str, kind: str, taken: Sequence[Path]) -> Path:
    """Return the path of a file that is not among those taken."""
    stem = stem[:LONGEST]
    names = (f"{stem}.{kind}", *(f"{stem}-{number}.{kind}" for number in range(2, len(taken) + 3)))
    return next(path for name in names if (path := folder / name) not in taken)


def _title(svg: str) -> str:
    found = re.search(r'aria-label="([^"]*)"', svg)
    return found[1] if found else ""


def _style() -> tuple[str, dict[str, str]]:
    """Return the style of charts and the light colours, both from the page's own style."""
    page = resources.files("slownet.report").joinpath("page.css").read_text("utf-8")
    colours = dict(re.findall(r"--(\w+): (#\w+);", page.partition("@media")[0]))
    rules = page.partition("/* charts */")[2].partition("/* end of charts */")[0]
    style = re.sub(r"var\(--(\w+)\)", lambda found: colours.get(found[1], "#000"), rules)
    return style.replace(".chart ", ""), colours
