"""The section of a run's report about where the time went: the account of one cell, or the command that makes it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slownet.judge.records.charging import Charging
from slownet.judge.records.result import RunData
from slownet.model.errors import SlownetError
from slownet.model.options import CELL
from slownet.model.sample import Sample, cell_in_words

if TYPE_CHECKING:
    from slownet.report.account_section import Seen

MOST_PACKETS = 50_000
"""Packets of a cell whose account is a part of the report: two seconds of its run's end."""
STEPS = "The time of an operation, step by step:"
TEST = "::"
"""A part of the names of tests, whose runs are not measured again by a name."""


@dataclass(frozen=True)
class TimeAccount:
    """The account of a run's cell as its report shows it.

    cell: the cell as text; empty if the run has one cell without conditions.
    seen: the account; None without captures.
    line: a sentence before the command, or a problem of the captures.
    command: the command for other cells, or for this one, as a shell takes it; empty after a problem.
    """

    cell: str
    seen: Seen | None
    line: str
    command: str = ""


def time_account(run: RunData, stem: str) -> TimeAccount | None:
    """Return the account of a run's last cell that has captures, if the CPU was free.

    run: the run.
    stem: the name of the run on the page.
    returns: none of a run on another clock, and of one that was not measured.
    """
    taken = [_sample(each.samples) for each in run.cells if each.samples and "cell" in each.samples[0]]
    if Charging.of(run.facts) is not Charging.FREE or not taken:
        return None
    captured = [each for each in taken if _packets(each)]
    if not captured:
        again = not run.facts.get("compose") and TEST not in str(run.facts.get("source") or TEST)
        return TimeAccount("", None, STEPS, _command(run, taken[-1])) if again else None
    sample = captured[-1]
    if _packets(sample) > MOST_PACKETS:
        return TimeAccount(cell_in_words(sample["cell"]), None, STEPS, _command(run, sample))
    found = _account(run, sample, f"why-{re.sub(r'[^A-Za-z0-9]+', '-', stem).strip('-')}")
    if len(taken) > 1 and found.seen:
        return TimeAccount(found.cell, found.seen, "Other cells:", _command(run, taken[0]))
    return found


def _account(run: RunData, sample: Sample, stem: str) -> TimeAccount:
    """Return the account of a sample; if its captures show none, a line about that."""
    from slownet.report.account_section import seen
    from slownet.waits import of_run

    cell = cell_in_words(sample["cell"])
    try:
        made = of_run.of_sample(run, sample)
    except SlownetError as error:
        problem = str(error)
    except Exception as error:  # a lab wrote the captures, and the report of what was measured does not depend on them
        problem = f"{type(error).__name__}: {ascii(str(error))[:200]}"
    else:
        return TimeAccount(cell, seen(made, of_run.links_between(run.facts.get("topology") or {}), stem), "")
    return TimeAccount(cell, None, f"The time of {cell or 'this run'} has no account: {problem}")


def _sample(samples: Sequence[Sample]) -> Sample:
    """Return a cell's first sample with captures, else its last one."""
    return next((each for each in samples if _packets(each)), samples[-1])


def _packets(sample: Sample) -> int:
    """Return the number of packets in the captures of hosts."""
    return sum(each.get("packets") or 0 for each in sample.get("captures") or () if "before" in each)


def _command(run: RunData, sample: Sample) -> str:
    cell = (word for name, value in sample["cell"].items() for word in (CELL.typed, f"{name}={value}"))
    return shlex.join(["slownet", "why", run.directory.name, *cell])
