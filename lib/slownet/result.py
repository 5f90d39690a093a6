"""A run read back from its directory: cells with their summaries, the facts, the claims.

``SampleLog`` (from ``slownet.samples``) writes while the lab runs; ``load`` reads afterwards.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from slownet.cell import Cell, alike, cell_of
from slownet.errors import ExperimentError, SlownetError, nearest
from slownet.judgement import Judgement
from slownet.samples import (
    RUN,
    Sample,
    SampleLog,
    cell_key,
    finite,
    new_run_directory,
    read_samples,
    write_run_json,
)
from slownet.stats import CONFIDENCE

__all__ = [
    "Cell",
    "Judgement",
    "RunData",
    "SampleLog",
    "cell_key",
    "gather",
    "load",
    "new_run_directory",
    "write_run_json",
]

PARQUET = "samples.parquet"
PLAIN = (
    *("experiment", "index", "tool", "status", "error"),
    *("verified_rtt_ms", "virtual_s", "wall_s", "raw"),
)
"""What samples.parquet takes from a sample as it is."""


@dataclass(frozen=True)
class RunData:
    """A run: its directory, its facts (what run.json holds), its cells in order, its claims."""

    directory: Path
    experiment: str
    facts: Mapping[str, Any]
    cells: tuple[Cell, ...]
    claims: tuple[Judgement, ...] = field(default=())
    confidence: float = CONFIDENCE
    """Of the intervals of the cells' summaries."""

    def at_confidence(self, confidence: float) -> RunData:
        """The same run with other intervals."""
        cells = (
            replace(cell, metrics={name: each.at_confidence(confidence) for name, each in cell.metrics.items()})
            for cell in self.cells
        )
        return replace(self, cells=tuple(cells), confidence=confidence)

    def where(self, at: Mapping[str, Any] | None) -> RunData:
        """The same run with only the cells where the conditions have these values: ``{"loss": "1%"}``; None is all.

        Raises ExperimentError with what there is when no cell has.
        """
        wanted = at or {}
        cells = tuple(c for c in self.cells if all(n in c.label and alike(c.label[n], v) for n, v in wanted.items()))
        if cells or not wanted:
            return replace(self, cells=cells)
        where = f"in experiment {self.experiment}"
        names = {name for cell in self.cells for name in cell.label}
        for name in wanted:
            if name not in names:
                raise ExperimentError(f"no condition '{name}'", where, nearest(name, names))
        what = "no cell at " + ", ".join(f"{name} {value}" for name, value in wanted.items())
        raise ExperimentError(what, where, "measured were " + "; ".join(cell.title for cell in self.cells))

    def cell_at(self, at: Mapping[str, Any]) -> Cell:
        """The one cell where the conditions have these values. Raises ExperimentError, also for more than one."""
        cells = self.where(at).cells
        if len(cells) == 1:
            return cells[0]
        what = f"{len(cells)} cells at {', '.join(f'{name} {value}' for name, value in at.items()) or 'any condition'}"
        raise ExperimentError(what, f"in experiment {self.experiment}", "name one: " + "; ".join(c.title for c in cells))

    def start_of(self, at: Mapping[str, Any]) -> Cell:
        """The baseline that a cell is compared with: the conditions named have their first values, the others are its own."""
        cell = self.cell_at(at)
        planned = self.facts.get("planned") or [each.label for each in self.cells]
        return self.cell_at({**cell.label, **{name: planned[0][name] for name in at}})

    @property
    def setting(self) -> str:
        """Verified round trips and clock in one line, for a judgement."""
        pinged = [f"{cell.verified_rtt_ms:.2f}" for cell in self.cells if cell.verified_rtt_ms is not None]
        verified = f"verified RTT {', '.join(pinged)} ms" if pinged else ""
        return ", ".join(filter(None, (verified, clock(self.facts))))

    @property
    def failed(self) -> tuple[Cell, ...]:
        """The cells that failed."""
        return tuple(cell for cell in self.cells if cell.status == "failed")

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics measured, in order."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.metrics))

    def along(self, name: str) -> tuple[tuple[float, Cell], ...]:
        """``(value, cell)`` by rising value of one condition, such as ``rtt_ms``."""
        pairs = []
        for cell in self.cells:
            if name not in cell.condition:
                known = nearest(name, cell.condition)
                raise ExperimentError(f"no condition '{name}'", f"in experiment {self.experiment}", known)
            pairs.append((float(cell.condition[name]), cell))
        pairs.sort(key=lambda pair: pair[0])
        for (value, _), (following, _) in pairwise(pairs):
            if value == following:
                what = f"two cells at {name} = {value:g}"
                raise ExperimentError(what, f"in experiment {self.experiment}", "vary one condition only")
        return tuple(pairs)

    def cell(self, name: str, value: float) -> Cell:
        """The cell where a condition has a value. Raises ExperimentError that lists the values measured."""
        pairs = self.along(name)
        for measured, cell in pairs:
            if math.isclose(measured, value, rel_tol=1e-9, abs_tol=1e-12):
                return cell
        known = ", ".join(f"{measured:g}" for measured, _ in pairs) or "nothing"
        what = f"no cell at {name} = {value:g}"
        raise ExperimentError(what, f"in experiment {self.experiment}", f"measured were {known}")

    def baseline(self, name: str = "rtt_ms") -> Cell:
        """The cell that the others are compared with: where the condition is least."""
        pairs = self.along(name)
        if not pairs:
            raise ExperimentError("no cell was measured", f"in experiment {self.experiment}", "run it again")
        return pairs[0][1]

    def fact(self, name: str) -> Any:
        """A fact that the samples carry, such as ``document_length``, from the first that has it."""
        known: set[str] = set()
        for cell in self.cells:
            for sample in cell.samples:
                facts = sample.get("facts") or {}
                if name in facts:
                    return facts[name]
                known.update(facts)
        raise ExperimentError(f"no fact '{name}'", f"in experiment {self.experiment}", nearest(name, known))

    def judged(self, claims: Iterable[Judgement]) -> RunData:
        """The same run with these claims."""
        return replace(self, claims=tuple(claims))

    def to_json(self) -> dict[str, Any]:
        """The run as ``--json`` prints it."""
        facts = {name: self.facts.get(name) for name in ("clock", "tdf", "kernel")}
        cells = [cell.to_json() for cell in self.cells]
        claims = [claim.to_json() for claim in self.claims]
        named = {"experiment": self.experiment, **facts, "cells": cells, "claims": claims}
        record: dict[str, Any] = finite(named)
        return record | {"directory": str(self.directory)}

    def save(self) -> Path:
        """Write run.json: the facts with cells and claims."""
        cells = [cell.to_json() for cell in self.cells]
        claims = [claim.to_json() for claim in self.claims]
        facts = {**self.facts, "experiment": self.experiment, "cells": cells, "claims": claims}
        return write_run_json(self.directory, facts)

    def write_parquet(self) -> Path:
        """Write samples.parquet, one row a sample.

        A condition is a column under its name; a metric is three: ``<name>``, ``<name>_sd``, ``<name>_n``.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = [_row(sample) for cell in self.cells for sample in cell.samples]
        columns = dict.fromkeys(name for row in rows for name in row)
        path = self.directory / PARQUET
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns}), path)
        return path


def load(directory: Path | str) -> RunData:
    """Read a run from ``samples.jsonl`` and ``run.json``; one of the two is enough.

    Lines cut short by a kill are skipped with a warning. Raises SlownetError when neither is there.
    """
    directory = Path(directory)
    facts: dict[str, Any] = {}
    try:
        facts = json.loads((directory / RUN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise SlownetError(f"cannot read {RUN}, {error}", f"in {directory}") from error
    samples = read_samples(directory)
    if not facts and not samples:
        raise SlownetError("no run here", f"in {directory}", "give a directory that holds run.json")
    return gather(samples, facts, directory)


def gather(samples: Iterable[Sample], facts: Mapping[str, Any], directory: Path = Path()) -> RunData:
    """A run of samples that may never have been on disk."""
    samples = list(samples)
    by_cell: dict[str, list[Sample]] = {}
    for sample in samples:
        by_cell.setdefault(cell_key(sample["cell"]), []).append(sample)
    name = facts.get("experiment") or (samples[0].get("experiment") if samples else None)
    claims = tuple(Judgement.from_json(record) for record in facts.get("claims") or ())
    return RunData(directory, str(name or "unnamed"), facts, tuple(map(cell_of, by_cell.values())), claims)


def clock(facts: Mapping[str, Any]) -> str:
    """The clock of a run: ``virtual clock, TDF 4``."""
    kind = f"{facts['clock']} clock" if facts.get("clock") else "clock not recorded"
    return f"{kind}, TDF {facts['tdf']}" if facts.get("tdf") is not None else kind


def _row(sample: Sample) -> dict[str, Any]:
    row = {name: sample.get(name) for name in PLAIN} | dict(sample.get("condition") or {})
    for name, moments in (sample.get("metrics") or {}).items():
        row |= {name: moments["mean"], f"{name}_sd": moments.get("sd"), f"{name}_n": moments["n"]}
    return row | {"facts": json.dumps(sample.get("facts") or {})}
