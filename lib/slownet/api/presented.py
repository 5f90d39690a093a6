"""Runs and comparisons as notebooks, terminals and data frames show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Protocol

from rich.console import RenderableType

from slownet.api.plot import Plot
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import finite
from slownet.model.control_characters import visible
from slownet.model.errors import ExperimentError, nearest
from slownet.model.truth import NoTruth
from slownet.report import html, table
from slownet.report.answer import answer
from slownet.report.plots import figures
from slownet.report.screen import Screen, Visible
from slownet.report.text import near
from slownet.report.topology import topology_figure
from slownet.report.view import View, view
from slownet.report.words import verdicts_counted
from slownet.theory.law import Law

if TYPE_CHECKING:
    import pandas

    from slownet.waits.account import Account

WIDE = 160
"""Columns of a text that is not shown on a terminal."""


class Printer(Protocol):
    """The argument that IPython passes to ``_repr_pretty_``."""

    def text(self, text: str) -> None:
        """Print it."""


@dataclass(frozen=True, repr=False)
class Run(NoTruth, RunData):
    """A run of an experiment, from `slownet.run` or `slownet.load`: `RunData` with its law, its plots and its data frame.

    A notebook shows it as question, answer, table, claims and picture; ``print(run)`` shows what `slownet run` prints.

    Parameters
    ----------
    directory, experiment, facts, cells, claims, confidence, lasting, damage, unfinished
        As in `RunData`.
    """

    instead = "its `supported` is True if every claim is"

    @classmethod
    def of(cls, run: RunData) -> Run:
        """Return a run with its presentation.

        Parameters
        ----------
        run : RunData
            Any run.
        """
        claims = tuple(map(_as_recorded, run.claims))
        return cls(**{each.name: getattr(run, each.name) for each in fields(RunData)} | {"claims": claims})

    @property
    def question(self) -> str:
        """The experiment's question."""
        return str(self.facts.get("question") or self.experiment)

    @property
    def answer(self) -> str:
        """The answer in a sentence, never surer than the verdicts; empty if nothing was measured."""
        return answer(self._view)

    @property
    def law(self) -> Law | None:
        """The law fitted to the main metric; None unless that is a time against a delay, measured at two delays or more."""
        return self._view.law

    @property
    def supported(self) -> bool:
        """True if every claim is supported, every cell was measured and no sample is damaged: status 0 of the commands."""
        return all(self.claims) and not (self.failed or self.damage or self.unfinished or self.facts.get("error"))

    @property
    def plots(self) -> tuple[str, ...]:
        """The names of its pictures, the main one first."""
        return tuple(self._plots)

    def plot(self, name: str | None = None) -> Plot:
        """Return a picture of the report.

        Parameters
        ----------
        name : str, optional
            One of `plots`; without it, the main picture.

        Raises
        ------
        ExperimentError
            No such picture.
        """
        wanted = next(iter(self._plots), "") if name is None else name
        if wanted not in self._plots:
            what = f"no plot '{wanted}'" if wanted else "there is nothing to plot"
            raise ExperimentError(what, f"in run {self.experiment}", nearest(wanted, self._plots))
        return self._plots[wanted]

    def why(self, cell: Mapping[str, str] | None = None, *, client: str | None = None, whole: bool = False) -> Account:
        """Return where the time of an operation went, from the captures of a cell.

        Parameters
        ----------
        cell : mapping of str to str, optional
            The cell's conditions, as they were given: ``{"rtt": "40ms"}``; without it the run's last cell.
        client : str, optional
            The host that began the operation; without it the first one that sent something.
        whole : bool
            Whether several connections to a server, one after the other, are one operation; otherwise the last of them is.

        Returns
        -------
        Account
            Its steps, in order; `slownet.waits.account_text.text` makes the command's text of it.

        Raises
        ------
        ExperimentError
            The run has no such cell, or no captures.
        ToolError
            A capture cannot be read.
        """
        from slownet.waits import of_run

        sample = of_run.sample_of(self, cell or {})
        if not of_run.has_captures(sample):
            raise ExperimentError("the run has no captures", f"run {self.directory}", "run it with capture=True")
        return of_run.of_sample(self, sample, client, whole=whole)

    def frame(self) -> pandas.DataFrame:
        """Return a data frame with one row per sample.

        Each condition is a column, such as ``rtt_ms``; each metric is three columns: its mean, ``<name>_sd`` and ``<name>_n``.

        Raises
        ------
        SlownetError
            pandas is not installed.
        """
        from slownet.api.data_frames import frame

        return frame(self.rows())

    @cached_property
    def _view(self) -> View:
        return view(self)

    @cached_property
    def _plots(self) -> Mapping[str, Plot]:
        from slownet.report.sweep_page import maps_of

        found: dict[str, Plot] = {}
        for each in (*maps_of(self), *figures(self._view), topology_figure(self, law=self._view.law)):
            if each:
                found.setdefault(each.name, Plot(each))
        return found

    def __rich__(self) -> RenderableType:
        return Visible(table.show(self))

    def __str__(self) -> str:
        return as_text(self.__rich__())

    def __repr__(self) -> str:
        return visible(f"<Run {self.experiment}: {verdicts_counted(self.claims)}, {near(self.directory)}>")

    def _repr_html_(self) -> str:
        picture = next(iter(self._plots.values()))._repr_html_() if self._plots else ""
        return html.of_run(self._view, picture)

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(repr(self) if cycle else str(self))


def as_text(shown: RenderableType) -> str:
    """Return what rich would print, as wide as the terminal.

    shown: a table, for example.
    """
    file = StringIO()
    width = get_terminal_size((WIDE, 24)).columns
    Screen(file=file, width=width, color_system=None, force_jupyter=False).print(shown)
    return file.getvalue().rstrip("\n")


def _as_recorded(claim: Judgement) -> Judgement:
    """Return a claim with None for what is not known, as `slownet.load` reads it: then both are equal."""
    numbers = {name: finite(getattr(claim, name)) for name in ("measured", "expected", "low", "high")}
    return replace(claim, **numbers, margin=tuple(finite(claim.margin)))
