"""A run read back from its directory: its cells with summaries, its facts, its claims.

`slownet.judge.records.samples.SampleLog` writes while the lab runs; `load` reads afterwards.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from slownet.judge.records import run_json, sample_values
from slownet.judge.records.cell import TIME, Cell, of_samples
from slownet.judge.records.charging import Block, Charging, Terms, cpu_part
from slownet.judge.records.condition_columns import OPERATION
from slownet.judge.records.intervals import Scope
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.rows import row, table
from slownet.judge.records.run_json import MALFORMED, unreadable
from slownet.judge.records.samples import RUN, cell_key, finite, read_log, write_run_json
from slownet.lab.run.clock import in_words
from slownet.model import userfile
from slownet.model.errors import DamageWarning, ExperimentError, NoCellError, SlownetError, first_of, nearest
from slownet.model.facts import Facts, Published
from slownet.model.sample import Sample, cell_in_words
from slownet.model.shapes import ShapeError
from slownet.model.whole_file import drafted
from slownet.theory.law import milliseconds, trip
from slownet.theory.stats import CONFIDENCE, DECIDING

# Instructions of an operation on the exact clock: a number of the programs, not of a machine. Pure.
#
# A time on that clock is a count of instructions. Of a time without delay, all of which the processor worked, it is the
# operation's own count; where it also waited, it is unknown which part was which operation's.

NANOSECONDS = {"_ms": 1e6, "_us": 1e3, "_s": 1e9}
NO_DELAY_MS = 0.1
"""The longest round trip that counts as zero: within the lab, a ping takes about 0.01 ms."""


def instructions_per_ns(facts: Facts) -> int | None:
    """Return how many instructions a nanosecond has on the clock of a run; None on any other clock than the exact one."""
    return (facts.get("machine") or {}).get("instructions_per_ns")


def instructions_per_operation(cell: Cell, metric: str, facts: Facts) -> float | None:
    """Return the instructions of one operation, from its time in a cell; None if it is unknown."""
    count, unit = instructions_per_ns(facts), next((NANOSECONDS[each] for each in NANOSECONDS if metric.endswith(each)), None)
    if count is None or unit is None or metric not in cell.metrics or cell.rate_bit_s is not None:
        return None
    if cell.verified_rtt_ms is None or cell.verified_rtt_ms > NO_DELAY_MS:
        return None
    samples = sample_values.good(cell.samples, metric)
    if any(cpu_part(Block(sample_values.settle(each, metric), each), metric) < 1 for each in samples):
        return None
    return cell.metrics[metric].mean * unit * count


PARQUET = "samples.parquet"


@dataclass(frozen=True)
class RunData:
    """A run of an experiment.

    Parameters
    ----------
    directory : Path
        Its directory.
    experiment : str
        The experiment's name.
    facts : mapping
        The contents of run.json.
    cells : tuple of Cell
        The cells, in order.
    claims : tuple of Judgement
        The judged claims.
    confidence : float
        Of the intervals of the cells' summaries.
    lasting : float
        Upper limit of the confidence for a law's bend: see `slownet.theory.law.Law`.
    damage : tuple of str
        What of its samples is damaged or missing, a line each; the others are used.
    unfinished : str
        How much of what was planned a run measured that ended before it was judged, such as by an interrupt; else empty.
    """

    directory: Path
    experiment: str
    facts: Facts
    cells: tuple[Cell, ...]
    claims: tuple[Judgement, ...] = field(default=())
    confidence: float = CONFIDENCE
    lasting: float = DECIDING
    damage: tuple[str, ...] = ()
    unfinished: str = ""

    def at_confidence(self, confidence: float) -> RunData:
        """Return the run with intervals of another confidence."""
        if confidence == self.confidence:
            return self
        return replace(self, cells=tuple(cell.with_intervals(confidence) for cell in self.cells), confidence=confidence)

    def for_verdicts(self, confidence: float) -> RunData:
        """Return the run for judging claims: intervals of cells with fewer boots than a verdict requires are unknown."""
        return replace(
            self, cells=tuple(cell.with_intervals(confidence, Scope.WITHIN_RUN) for cell in self.cells), confidence=confidence
        )

    @property
    def repetitions(self) -> int:
        """The number of boots: more than any cell's if open claims had their cells repeated alone."""
        good = (sample for cell in self.cells for sample in cell.samples if sample.get("status") == "ok")
        boots = {sample["boot"] for sample in good if sample.get("boot") is not None}  # older records have none
        return max((len(boots), *(cell.repetitions for cell in self.cells)))

    @property
    def charging(self) -> Charging:
        """The CPU charging of its clock; that of the real clock if no clock is recorded."""
        return self.terms.charging or Charging.REAL

    @property
    def terms(self) -> Terms:
        """The inputs of its intervals besides the numbers, and whether it repeats."""
        return Terms.of(self.facts)

    @property
    def shown(self) -> RunData:
        """The run with the intervals of its verdicts, so that a number has the same interval everywhere."""
        recorded = (self.facts.get("sampling") or {}).get("confidence")
        return self.at_confidence(float(recorded)) if self.claims and recorded else self

    def where(self, at: Mapping[str, object] | None) -> RunData:
        """Select cells by their conditions.

        Parameters
        ----------
        at : mapping of str to str or None
            Values of some conditions: ``{"loss": "1%"}``; None selects all cells.

        Returns
        -------
        RunData
            The run with only these cells.

        Raises
        ------
        ExperimentError
            No such cell or condition; the message lists the existing ones.
        """
        wanted = at or {}
        cells = tuple(
            c for c in self.cells if all(n in c.label and sample_values.alike(c.label[n], v) for n, v in wanted.items())
        )
        if cells or not wanted:
            return replace(self, cells=cells)
        where = f"in experiment {self.experiment}"
        names = {name for cell in self.cells for name in cell.label}
        for name in wanted:
            if name not in names:
                raise ExperimentError(f"no condition '{name}'", where, nearest(name, names))
        known = first_of([cell.title for cell in self.cells], between="; ")
        raise NoCellError(f"no cell at {cell_in_words(wanted)}", where, f"the cells are {known}")

    def exactly(self, label: Mapping[str, object]) -> Cell | None:
        """Return the cell that has these conditions and no others; None if none exists."""
        return self._by_label.get(cell_key(label))

    @cached_property
    def _by_label(self) -> Mapping[str, Cell]:
        """The cells by their conditions: a search through all for each cell takes the square of their number."""
        return {cell_key(cell.label): cell for cell in reversed(self.cells)}  # the first of those that are alike

    def at(self, label: Mapping[str, object]) -> Cell:
        """Return one cell.

        Parameters
        ----------
        label : mapping of str to str
            Exactly the conditions of the cell, or those that only this cell has.

        Raises
        ------
        ExperimentError
            No such cell, or several; the message lists the existing ones.
        """
        if exact := self.exactly(label):
            return exact
        cells = self.where(label).cells
        if len(cells) == 1:
            return cells[0]
        what = f"{len(cells)} cells at {cell_in_words(label) or 'any condition'}"
        raise ExperimentError(what, f"in experiment {self.experiment}", "name one: " + "; ".join(c.title for c in cells))

    def baseline_of(self, label: Mapping[str, object]) -> Cell:
        """Return the cell that another cell is compared with, by claims and by reports.

        Parameters
        ----------
        label : mapping of str to str
            The other cell's conditions: all, or those that only this cell has.

        Returns
        -------
        Cell
            The first planned cell; in a run of several operations, the first one with the same operation. Conditions that
            ``label`` does not name are the other cell's.

        Raises
        ------
        ExperimentError
            No such cell, or several; the message lists the existing ones.
        """
        own = self.at(label).label
        planned = self.facts.get("planned") or [dict(cell.label) for cell in self.cells]
        first = next((cell for cell in planned if cell.get(OPERATION) == own.get(OPERATION)), planned[0])
        kept = {name: value for name, value in own.items() if name not in label}
        if not kept:
            return self.at(first)
        return self.at(kept | {name: first[name] for name in label if name in first})

    @property
    def setting(self) -> str:
        """The verified round trips and the clock in one line, for a judgement."""
        pinged = [f"{cell.verified_rtt_ms:.2f}" for cell in self.cells if cell.verified_rtt_ms is not None]
        verified = f"verified RTT {', '.join(pinged)} ms" if pinged else ""
        return ", ".join(filter(None, (verified, clock(self.facts))))

    @property
    def failed(self) -> tuple[Cell, ...]:
        """The cells that failed."""
        return tuple(cell for cell in self.cells if cell.status == "failed")

    def beyond_cpu(self, cell: Cell) -> bool:
        """Return whether a link of the cell has a rate that the CPU cannot carry; a free CPU carries every rate."""
        if self.charging is Charging.FREE:
            return False
        ceiling, rate = self.facts.get("ceiling_bit_s"), cell.rate_bit_s
        return ceiling is not None and rate is not None and rate > ceiling

    def instructions(self, cell: Cell) -> float | None:
        """Return how many instructions an operation takes in a cell, on the exact clock; None where that is unknown."""
        return instructions_per_operation(cell, self.main_metric, self.facts)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The names of all measured metrics, in order."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.metrics))

    @property
    def main_metric(self) -> str:
        """The metric of table, page and prediction: the published one, else the time per request, else the first."""
        stated = self.published.get("metric")
        return str(stated or (TIME if TIME in self.metrics or not self.metrics else self.metrics[0]))

    @property
    def published(self) -> Published:
        """The article's numbers: ``{"metric", "title", "rows": [{"rtt_ms", "time_per_request_ms"...}]}``, or empty.

        A row names its cell by ``rtt_ms``, or by ``"cell"`` as the experiment writes it: ``{"rtt": "10ms", "loss": "1%"}``.
        """
        return self.facts.get("published") or {}

    def value(self, name: str, cell: Cell) -> float:
        """Return a condition's value in a cell. Raises ExperimentError if the cell lacks it, or if it is not a number."""
        where = f"in experiment {self.experiment}"
        if name not in cell.condition:
            raise ExperimentError(f"no condition '{name}'", where, nearest(name, cell.condition))
        value = cell.condition[name]
        if not isinstance(value, (int, float)):
            raise ExperimentError(f"{name} {value} is not a number", where, "name a cell by its conditions")
        return float(value)

    def along(self, name: str) -> tuple[tuple[float, Cell], ...]:
        """Sort the cells by one condition.

        Parameters
        ----------
        name : str
            The condition with its unit, such as ``"rtt_ms"``.

        Returns
        -------
        tuple of (float, Cell)
            The value and the cell, by rising value.

        Raises
        ------
        ExperimentError
            A cell lacks the condition, its value is not a number, or two cells have the same value.
        """
        pairs = [(self.value(name, cell), cell) for cell in self.cells]
        pairs.sort(key=lambda pair: pair[0])
        for (value, cell), (following, other) in pairwise(pairs):
            if value == following:
                what = f"two cells at {name} = {value:g}"
                apart = {key: said for key, said in cell.label.items() if other.label.get(key) != said}
                fix = f"vary one condition only; law, grows and monotone take at={apart}"
                raise ExperimentError(what, f"in experiment {self.experiment}", fix)
        return tuple(pairs)

    def cell(self, name: str, value: float) -> Cell:
        """Return the cell with a value of a condition, such as ``rtt_ms`` and 10. Raises ExperimentError with all values."""
        pairs = self.along(name)
        for measured, cell in pairs:
            if math.isclose(measured, value, rel_tol=1e-9, abs_tol=1e-12):
                return cell
        known = ", ".join(f"{measured:g}" for measured, _ in pairs) or "none"
        what = f"no cell at {name} = {value:g}"
        raise NoCellError(what, f"in experiment {self.experiment}", f"the values are {known}")

    def round_trips(self, metric: str, at: Mapping[str, object] | None = None, along: str = "rtt_ms") -> float:
        """Return how many round trips an operation takes: what it takes longer at the greatest delay than at the least.

        Parameters
        ----------
        metric : str
            A time, such as ``"page_ms"``.
        at : mapping of str to str, optional
            Values of the other conditions.
        along : str
            The delay with its unit.

        Returns
        -------
        float
            The difference of the means, divided by what a round trip gains. `slownet.law` fits a line and has an interval.

        Raises
        ------
        ExperimentError
            Fewer than two delays exist, the cells differ in another condition, too, or the metric is not a time.
        """
        pairs = self.where(at).along(along)
        if len(pairs) < 2:
            what = f"one delay, {along} = {pairs[0][0]:g}" if pairs else "no cell"
            raise ExperimentError(what, f"in experiment {self.experiment}", "measure at two")
        (least, near), (most, far) = pairs[0], pairs[-1]
        longer = milliseconds(metric) * (far.summary(metric).mean - near.summary(metric).mean)
        return longer / ((most - least) * trip(along))

    def fact(self, name: str) -> Any:
        """Return a fact of the samples, such as ``document_length``, from the first that has it. Raises ExperimentError."""
        known: set[str] = set()
        for cell in self.cells:
            for sample in cell.samples:
                facts = sample.get("facts") or {}
                if name in facts:
                    return facts[name]
                known.update(facts)
        raise ExperimentError(f"no fact '{name}'", f"in experiment {self.experiment}", nearest(name, known))

    def judged(self, claims: Iterable[Judgement]) -> RunData:
        """Return the run with these claims."""
        return replace(self, claims=tuple(claims), unfinished="")

    def to_json(self) -> dict[str, object]:
        """Return the run as ``--json`` prints it."""
        facts = {name: self.facts.get(name) for name in ("clock", "tdf", "kernel")}
        cells = self._cells_json()
        claims = [claim.to_json() for claim in self.claims]
        named = {"experiment": self.experiment, **facts, "cells": cells, "claims": claims, "damage": list(self.damage)}
        record: dict[str, object] = finite(named)
        return record | {"directory": str(self.directory)}

    def _cells_json(self) -> list[dict[str, object]]:
        found = []
        for cell in self.cells:
            counted = self.instructions(cell)
            own = {} if counted is None else {"instructions": round(counted)}
            found.append(cell.to_json() | {"beyond_cpu": self.beyond_cpu(cell)} | own)
        return found

    def save(self) -> Path:
        """Write run.json, the facts with cells and claims, and return its path."""
        cells = self._cells_json()
        claims = [claim.to_json() for claim in self.claims]
        facts = {**self.facts, "experiment": self.experiment, "cells": cells, "claims": claims}
        return write_run_json(self.directory, facts)

    def rows(self) -> list[dict[str, object]]:
        """Return one row per sample, as in samples.parquet.

        Each condition is a column of that name; each metric is three columns: ``<name>``, ``<name>_sd``, ``<name>_n``.
        """
        return [row(sample) for cell in self.cells for sample in cell.samples]

    def write_parquet(self) -> Path:
        """Write samples.parquet, one row per sample, and return its path; see `rows`."""
        import pyarrow.parquet as pq

        path = self.directory / PARQUET
        with drafted(path) as file:
            pq.write_table(table(self.rows()), file)
        return path


def load(directory: Path | str) -> RunData:
    """Read a run from ``samples.jsonl`` and ``run.json``; one of the two is enough.

    What is damaged or missing in the samples is left out, with a `DamageWarning`; see `RunData.damage`.

    directory: the run's directory.
    Raises SlownetError: neither file exists, or they are damaged or of a newer version.
    """
    try:
        run = _load(Path(directory))
    except MALFORMED as error:
        raise unreadable(directory, error) from error
    for line in run.damage:
        warnings.warn(f"{line}, in {directory}", DamageWarning, stacklevel=2)
    return run


def _load(directory: Path) -> RunData:
    facts: Facts = {}
    try:
        facts = run_json.read(directory)
    except FileNotFoundError:
        pass
    except NotADirectoryError as error:
        raise SlownetError("no run here", f"in {directory}", "name the directory of a run, which holds run.json") from error
    except ShapeError:  # of another version, perhaps: `load` says so
        raise
    except ValueError as error:
        fix = "it is damaged: measure again, or restore it from a copy"
        raise SlownetError(f"cannot read {RUN}, {userfile.reason(error)}", f"in {directory}", fix) from error
    except OSError as error:
        raise SlownetError(f"cannot read {RUN}, {userfile.reason(error)}", f"in {directory}") from error
    log = read_log(directory, facts)
    if "experiment" not in facts and not log.samples:
        fix = f"its {RUN} is of another program: name a run's directory" if facts else "give a directory that holds run.json"
        raise SlownetError("no run here", f"in {directory}", fix)
    planned, measured = len(facts.get("planned") or ()), len(log.latest)
    ended = "claims" in facts or measured >= planned
    unfinished = "" if ended else f"{measured} of {planned} planned measurements, and nothing is judged"
    return replace(gather(log.latest, facts, directory), damage=tuple(log.damage), unfinished=unfinished)


def gather(samples: Iterable[Sample], facts: Facts, directory: Path = Path()) -> RunData:
    """Make a run from samples and facts, without reading files.

    samples: as `slownet.judge.records.samples` describes them.
    facts: the contents of run.json.
    directory: the run's directory.
    """
    samples = list(samples)
    by_cell: dict[str, list[Sample]] = {}
    for sample in samples:
        by_cell.setdefault(cell_key(sample["cell"]), []).append(sample)
    name = facts.get("experiment") or (samples[0].get("experiment") if samples else None)
    claims = tuple(Judgement.from_json(record) for record in facts.get("claims") or ())
    terms, own = Terms.of(facts), f"{name} {directory} {facts.get('started')}"
    cells = tuple(of_samples(each, terms, run=own) for each in by_cell.values())
    return RunData(directory, str(name or "unnamed"), facts, cells, claims)


def clock(facts: Facts) -> str:
    """Describe the clock of a run from its facts: ``virtual clock, TDF 4, work charged``."""
    speed = instructions_per_ns(facts)
    return in_words(facts["clock"], facts.get("tdf"), facts.get("cpu"), speed) if facts.get("clock") else "clock not recorded"
