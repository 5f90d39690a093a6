"""An experiment: one question, asked of a topology under varying conditions, with claims about the answer.

An experiment file holds one function, decorated with `experiment`; its docstring is the question, its parameters are
the network, the service and one condition each. It is imported on the host to list and judge, and in the lab to run.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Protocol, TypeVar, overload

from slownet.errors import ExperimentError, nearest
from slownet.lab.clock import check_tdf
from slownet.records.columns import condition
from slownet.topologies import find as find_topology

if TYPE_CHECKING:
    from slownet.claim import Claim
    from slownet.mininets import Topology
    from slownet.net.network import Network

__all__ = ["Cell", "Experiment", "Record", "condition", "experiment"]

Cell = dict[str, str]


S = TypeVar("S")


class Record(Protocol):
    """What a measuring function returns: a tool's record."""

    @property
    def command(self) -> Sequence[str]:
        """The program that was run, with its arguments."""

    @property
    def raw(self) -> str:
        """What it printed, kept with the run."""

    def metrics(self) -> Mapping[str, Mapping[str, Any]]:
        """Its numbers by their names, which end with the unit: ``{"rtt_ms": {"mean": 10.2, "sd": 0.1, "n": 5}}``."""


@dataclass
class Experiment:
    """One question, asked of a topology in several conditions; the decorator `experiment` makes it.

    Parameters
    ----------
    name, question
        The measuring function's name, and the first paragraph of its docstring.
    measure
        The function: (net[, service], one parameter a condition) -> record.
    topology, vary, service, published, tdf, blocks
        As `experiment` takes them; a topology's name has become its class.
    judged_by
        The claims, in their order.
    listed
        The cells where they were listed.
    """

    name: str
    question: str
    measure: Callable[..., Record]
    topology: Topology | Callable[[], Topology]
    vary: Mapping[str, Sequence[str]]
    service: Callable[[Network, Path], AbstractContextManager[Any]] | None = None
    published: Mapping[str, Any] | None = None
    judged_by: list[Claim] = field(default_factory=list)
    listed: Sequence[Cell] = ()
    tdf: str | None = None
    blocks: int | None = None

    def claims(self, *claims: Claim) -> None:
        """States what should hold, and is judged after every run.

        Parameters
        ----------
        *claims
            Added to those that were stated before.
        """
        self.judged_by.extend(claims)

    def cells(self, chosen: Mapping[str, Sequence[str]] | None = None) -> list[Cell]:
        """The listed cells, or every combination of conditions, the baseline first.

        Parameters
        ----------
        chosen
            Values that replace those of some conditions; of listed cells it picks those that have one of these values.

        Returns
        -------
        list of dict
            A text with its unit for each condition: ``[{"rtt": "0ms"}, {"rtt": "10ms"}]``.

        Raises
        ------
        ExperimentError
            The experiment does not vary such a condition, or has no such cell.
        UnitError
            A value cannot be read.
        """
        if self.listed:
            return self._picked(chosen or {})
        values = dict(self.vary)
        for name, texts in (chosen or {}).items():
            if name not in values:
                raise ExperimentError(f"{self.name} does not vary '{name}'", fix=nearest(name, values))
            values[name] = list(texts)
        cells = [dict(zip(values, texts, strict=True)) for texts in itertools.product(*values.values())]
        for cell in cells:
            condition(cell)
        return cells

    def _picked(self, chosen: Mapping[str, Sequence[str]]) -> list[Cell]:
        cells = [dict(cell) for cell in self.listed]
        for name, texts in chosen.items():
            known = {cell[name] for cell in self.listed if name in cell}
            if not known:
                raise ExperimentError(f"{self.name} does not vary '{name}'", fix=nearest(name, self.conditions))
            for text in texts:
                if text not in known:
                    raise ExperimentError(f"{self.name} has no cell of {name} {text}", fix=nearest(text, known))
            cells = [cell for cell in cells if cell.get(name) in texts]
        if not cells:
            raise ExperimentError(f"{self.name} has no such cell", fix="see slownet list")
        return cells

    @property
    def conditions(self) -> dict[str, list[str]]:
        """The conditions and their values, each once, in order."""
        names = dict.fromkeys(name for cell in self.listed for name in cell)
        values = {name: list(dict.fromkeys(cell[name] for cell in self.listed if name in cell)) for name in names}
        return values or {name: list(texts) for name, texts in self.vary.items()}


@overload
def experiment(
    *,
    topology: type[Topology] | Topology | str,
    vary: Mapping[str, Sequence[str]] | None = None,
    cells: Sequence[Cell] = (),
    service: None = None,
    published: Mapping[str, Any] | None = None,
    tdf: str | None = None,
    blocks: int | None = None,
) -> Callable[[Callable[Concatenate[Network, ...], Record]], Experiment]: ...


@overload
def experiment(
    *,
    topology: type[Topology] | Topology | str,
    vary: Mapping[str, Sequence[str]] | None = None,
    cells: Sequence[Cell] = (),
    service: Callable[[Network, Path], AbstractContextManager[S]],
    published: Mapping[str, Any] | None = None,
    tdf: str | None = None,
    blocks: int | None = None,
) -> Callable[[Callable[Concatenate[Network, S, ...], Record]], Experiment]: ...


def experiment(
    *,
    topology: type[Topology] | Topology | str,
    vary: Mapping[str, Sequence[str]] | None = None,
    cells: Sequence[Cell] = (),
    service: Callable[[Network, Path], AbstractContextManager[Any]] | None = None,
    published: Mapping[str, Any] | None = None,
    tdf: str | None = None,
    blocks: int | None = None,
) -> Callable[[Callable[..., Record]], Experiment]:
    """Makes an experiment of a function (net[, service], one parameter a condition) -> record of a tool.

    Parameters
    ----------
    topology
        A Mininet ``Topo`` class, or the name of one of the project's.
    vary
        ``{condition: values, the baseline first}``, each value a text with its unit; every combination is a cell.
    cells
        Instead of ``vary``: each cell, the baseline first, with the conditions that it has.
    service
        Called with the network and the run directory; gives a context manager, and what that gives is the function's
        second argument.
    published
        The article's numbers, for the report.
    tdf
        How the CPU is charged unless the caller says otherwise (--clock, --tdf): a whole number of times cheaper,
        ``"auto"``, or ``"inf"`` where only the network is asked about.
    blocks
        How often a boot goes through the cells, forwards and backwards in turn, calling the function in each: two times
        where CPU is charged or the clock is real, else once.

    Returns
    -------
    Callable
        The decorator of the function, which becomes an `Experiment`.

    Raises
    ------
    ExperimentError
        Neither or both of ``vary`` and ``cells`` are given, ``blocks`` is no whole number from 1 on, or no topology has
        this name.
    UnitError
        A cell's value cannot be read.
    LabError
        ``tdf`` cannot be read.
    """
    if bool(vary) == bool(cells):
        raise ExperimentError("an experiment states vary or cells", where="@experiment", fix="give one of them")
    for cell in cells:
        condition(cell)
    if tdf is not None:
        check_tdf(tdf)
    if blocks is not None and (not isinstance(blocks, int) or isinstance(blocks, bool) or blocks < 1):
        raise ExperimentError(
            f"no number of blocks: {blocks!r}", where="@experiment", fix="write a whole number from 1, or none"
        )

    def make(measure: Callable[..., Record]) -> Experiment:
        question = " ".join((inspect.getdoc(measure) or "").split("\n\n")[0].split())
        cls = find_topology(topology) if isinstance(topology, str) else topology
        return Experiment(
            measure.__name__, question, measure, cls, vary or {}, service, published, listed=cells, tdf=tdf, blocks=blocks
        )

    return make
