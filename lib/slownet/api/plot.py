"""A picture of a run in a notebook, a terminal or a file."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table

from slownet.model import whole_file
from slownet.model.control_characters import visible
from slownet.model.errors import SlownetError
from slownet.report import figure
from slownet.report.figure import Figure
from slownet.report.screen import Visible

if TYPE_CHECKING:
    import pandas

PICTURES = tuple(f".{each}" for each in figure.KINDS)
KINDS = (*PICTURES, ".csv", ".json")


@dataclass(frozen=True, repr=False)
class Plot:
    """One picture of a run's report, which notebooks show; in a terminal, the numbers that it shows.

    Parameters
    ----------
    figure : Figure
        The picture and its numbers.
    """

    figure: Figure

    @property
    def name(self) -> str:
        """The name that `slownet.Run.plot` takes."""
        return self.figure.name

    @property
    def title(self) -> str:
        """The figure's content, in a line."""
        return self.figure.title

    @property
    def svg(self) -> str:
        """The picture as a file of its own, for light backgrounds."""
        return self.figure.alone

    def frame(self) -> pandas.DataFrame:
        """Return the numbers that the picture shows, as a data frame.

        Raises
        ------
        SlownetError
            pandas is not installed.
        """
        from slownet.api.data_frames import frame

        return frame([dict(zip(self.figure.head, row, strict=True)) for row in self.figure.rows])

    def save(self, path: Path | str) -> Path:
        """Write the picture or its numbers to a file and return its path.

        Parameters
        ----------
        path : Path or str
            Its suffix selects what is written: ``.svg``, ``.png``, ``.pdf``, or the numbers as ``.csv`` or ``.json``.

        Raises
        ------
        SlownetError
            The ending is another one, the file cannot be written, or the machine has no font for a PNG or a PDF, or not
            what makes PDFs (the extra ``pdf``, and Debian's libcairo2).
        """
        path = Path(path)
        if path.suffix not in KINDS:
            raise SlownetError(f"cannot write a picture as '{path.name}'", "in save()", f"end its name in {', '.join(KINDS)}")
        if path.suffix in PICTURES:
            content = self.figure.drawn(path.suffix[1:])
        else:
            content = (self.figure.csv if path.suffix == ".csv" else self.figure.json).encode()
        whole_file.write(path, content, "in save()", {path.suffix: ""})
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # As an image: the style inside would else apply to every other picture of the notebook.
        data = base64.b64encode(self.svg.encode()).decode()
        style = "background:#fff;max-width:100%;width:40rem"
        image = f'<img alt="{escape(self.title)}" style="{style}" src="data:image/svg+xml;base64,{data}">'
        note = f"<figcaption>{escape(self.figure.note)}</figcaption>" if self.figure.note else ""
        return f'<figure style="margin:0"><figcaption><b>{escape(self.title)}</b></figcaption>{image}{note}</figure>'

    def __rich__(self) -> RenderableType:
        table = Table(title=self.title, title_justify="left", box=None, pad_edge=False, header_style="dim")
        for name in self.figure.head:
            table.add_column(name)
        for row in self.figure.texts:
            table.add_row(*row)
        return Visible(table)

    def __repr__(self) -> str:
        return visible(f"<Plot {self.name}: {self.title}>")
