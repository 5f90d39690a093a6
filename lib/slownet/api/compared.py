"""A comparison of two runs for Python and notebooks."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from rich.console import RenderableType

from slownet.api.presented import Printer, as_text
from slownet.comparison import field_tables
from slownet.comparison.runs import Comparison
from slownet.model.control_characters import visible
from slownet.model.truth import NoTruth
from slownet.report import html
from slownet.report.screen import Visible
from slownet.theory.stats import Summary

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Compared(NoTruth, Comparison):
    """A comparison of two runs, from `slownet.compare`; ``outcome`` is the result, ``rows`` hold each number.

    Parameters
    ----------
    first, second : RunData
        The runs.
    within : float
        Relative difference that counts as equal.
    rows : tuple of Row
        One per condition and metric.
    law : mapping, optional
        k and T0 of a run and of a field measurement; None if both are runs.
    notes : tuple of str
        What differs between the runs, and what was not compared.
    judge : callable
        Makes the outcome from the rows.
    """

    instead = "its `outcome` is the overall result, and its `status` is 0 if the second run is equal or better"

    @classmethod
    def of(cls, found: Comparison) -> Compared:
        """Return a comparison with its presentation.

        Parameters
        ----------
        found : Comparison
            Any comparison.
        """
        return cls(**{each.name: getattr(found, each.name) for each in fields(Comparison)})

    def frame(self) -> pandas.DataFrame:
        """Return a data frame with one row per condition and metric.

        Raises
        ------
        SlownetError
            pandas is not installed.
        """
        from slownet.api.data_frames import frame

        return frame([self._row(number) for number in range(len(self.rows))])

    def _row(self, number: int) -> dict[str, object]:
        row = self.rows[number]
        found: dict[str, object] = {"condition": row.condition, "metric": row.metric}
        for name in ("first", "second", "ratio", "difference"):
            found |= _numbers(name, getattr(row, name))
        return found | {"verdict": row.verdict, "note": row.note}

    def __rich__(self) -> RenderableType:
        return Visible(field_tables.compared(self))

    def __str__(self) -> str:
        return as_text(self.__rich__())

    def __repr__(self) -> str:
        return visible(f"<Compared {self.first.experiment} with {self.second.experiment}: {self.outcome}>")

    def _repr_html_(self) -> str:
        return html.of_comparison(str(self.outcome), *field_tables.lines(self))

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(repr(self) if cycle else str(self))


def _numbers(name: str, summary: Summary | None) -> dict[str, float]:
    mean, low, high = (summary.mean, summary.low, summary.high) if summary else (math.nan,) * 3
    return {name: mean, f"{name}_low": low, f"{name}_high": high}
