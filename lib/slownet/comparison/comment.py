"""A comparison as a comment of at most 20 lines for a pull request, with the course of each number over the last runs.

The course comes from a file of history, a line of JSON for each compared run, which the repository or a CI's cache keeps.
"""

from __future__ import annotations

import errno
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.comparison.row import DIFFERS, EQUIVALENT, Row
from slownet.comparison.runs import Comparison
from slownet.judge.records.quantity import quantity
from slownet.judge.records.samples import finite
from slownet.model import userfile, whole_file
from slownet.model.errors import ExperimentError
from slownet.model.options import OUT
from slownet.model.units import show_percent
from slownet.report import summary
from slownet.report.text import confidence
from slownet.theory.stats import DECIDING, Summary

OPTION = OUT.set("history")
SHOWN = 10
"""Numbers that are listed: those that differ first, then those that are open, each by the size of the change."""
RUNS = 12
"""Runs of a course, with the last one."""
LARGEST = 4 * userfile.MEBIBYTE
"""Bytes of a file of history; a run of ten numbers has half a kilobyte."""
BARS = "▁▂▃▄▅▆▇█"
MARKS = {EQUIVALENT: "✅", DIFFERS: "❌"}


@dataclass(frozen=True)
class Entry:
    """A run in a file of history: when it started, and its numbers by name."""

    started: str
    numbers: Mapping[str, float]

    @classmethod
    def of(cls, found: Comparison) -> Entry:
        """Return what the history keeps of a comparison: the numbers of its second run."""
        numbers = {row.name: row.second.mean for row in found.rows if row.second and math.isfinite(row.second.mean)}
        return cls(str(found.second.facts.get("started") or ""), numbers)


def read(path: Path) -> list[Entry]:
    """Read a file of history, oldest run first; none if no such file exists yet. Raises ExperimentError."""
    found = []
    try:
        for number, line in enumerate(userfile.read_text(path, LARGEST).split("\n"), 1):
            if not line:
                continue
            try:
                entry = userfile.json(line)
                numbers = {str(name): float(value) for name, value in entry["numbers"].items()}
                found.append(Entry(str(entry["started"]), numbers))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                where = f"{path} line {number}"
                raise ExperimentError("this is not a line of a history", where, "leave the line out") from error
    except FileNotFoundError:
        return []
    except OSError as error:
        fix = "leave out its first lines" if error.errno == errno.EFBIG else "name another file"
        raise ExperimentError(f"cannot read {path}, {userfile.reason(error)}", OPTION, fix) from error
    except UnicodeDecodeError as error:
        raise ExperimentError(f"cannot read {path}, {userfile.reason(error)}", OPTION, "name another file") from error
    return found


def append(path: Path, entry: Entry) -> None:
    """Add a run to a file of history. Raises ExperimentError."""
    line = json.dumps(finite({"started": entry.started, "numbers": dict(entry.numbers)}), allow_nan=False)
    whole_file.append(path, f"{line}\n", OPTION)


def comment(found: Comparison, before: Sequence[Entry] = ()) -> str:
    """Return the comment.

    before: the history without the second run.
    returns: markdown of at most 20 lines.
    """
    entries = [*(each for each in before if each != Entry.of(found)), Entry.of(found)][-RUNS:]
    changed = sorted((row for row in found.rows if row.verdict != EQUIVALENT), key=_first)
    lines = [f"### {summary.cell(found.second.experiment)}: {summary.cell(str(found.outcome))}", ""]
    listed = changed[:SHOWN] or found.rows[:1]
    if listed:
        rows = [
            (
                f"{MARKS.get(row.verdict, summary.OPEN)} {row.name}", _shown(row.first, row), _shown(row.second, row),
                _change(row), course([each.numbers.get(row.name) for each in entries]),
            )
            for row in listed
        ]  # fmt: skip
        lines += [*summary.table(("number", "before", "now", "change", last(len(entries))), rows), ""]
    rest = len(found.rows) - len(listed)
    others = f"{rest} other number{'s' * (rest != 1)} in the job's summary; " if rest else ""
    lines.append(f"_{others}equal means within {show_percent(found.within)}, intervals are {confidence(DECIDING)}._")
    return "\n".join([*lines, ""])


def last(count: int) -> str:
    """Return the head of the column of courses."""
    return f"last {count} runs" if count > 1 else "last runs"


def course(values: Sequence[float | None]) -> str:
    """Return numbers as bars from the smallest to the largest; a gap where one is unknown, nothing for fewer than two.

    Examples
    --------
    >>> course([1.0, 1.0, None, 2.0])
    '▁▁ █'
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    steps = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(" " if value is None else BARS[round((value - low) * steps)] for value in values)


def _first(row: Row) -> tuple[bool, float]:
    """Order rows: what differs first, and larger changes before smaller ones."""
    ratio = row.ratio.mean if row.ratio else math.inf
    return row.verdict != DIFFERS, -abs(math.log(ratio)) if 0 < ratio < math.inf else -math.inf


def _shown(value: Summary | None, row: Row) -> str:
    return quantity(Summary(value.mean, value.mean, value.mean, value.n), row.metric) if value else "-"


def _change(row: Row) -> str:
    """Return by how much a number changed, in percent with the ends of the interval if it is known; empty for one from 0."""
    if row.ratio is None or not math.isfinite(row.ratio.mean):
        return ""
    percent = [f"{100 * (each - 1):+.1f}" for each in (row.ratio.mean, row.ratio.low, row.ratio.high)]
    ends = f" ({percent[1]} to {percent[2]})" if row.ratio.known and percent[1] != percent[2] else ""
    return f"{percent[0]}{ends} %"
