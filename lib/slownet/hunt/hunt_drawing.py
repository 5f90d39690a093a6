"""Figures of a hunt's page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from slownet.hunt import coverage
from slownet.hunt.bench import Example
from slownet.hunt.coverage import PARTS, Coverage
from slownet.hunt.hunt_outcome import Hunted, in_words
from slownet.hypotheses.experiment import Experiment
from slownet.judge.records.naming import capital
from slownet.report.html_page import REPORT
from slownet.report.hunt_page import Drawn, write_hunt


def write(done: Hunted, experiment: Experiment, facts: Mapping[str, Any], baseline: Example) -> Path:
    """Write the page of a hunt into its folder. Raises SlownetError."""
    tried = coverage.of(each.faults for each in done.measured)
    shown = [(name, ", ".join(value) if isinstance(value, list) else str(value)) for name, value in facts.items()]
    return write_hunt(
        done.directory / REPORT, experiment.name, experiment.question, _answer(done, tried), list(_drawn(done, baseline)),
        list(tried.begun.items()), parts(tried), shown,
    )  # fmt: skip


def parts(tried: Coverage) -> list[str]:
    """Return the parts of the time, as text."""
    ends = [tried.within * part / PARTS for part in range(PARTS + 1)]
    return [f"{begin:.3g}-{end:.3g} s" for begin, end in pairwise(ends)]


def _answer(done: Hunted, tried: Coverage) -> str:
    more = f" {capital(done.failed_in_words)}." if done.failed else ""
    if done.smallest is None:
        return f"Nothing broke it in {in_words(tried.schedules)}.{more}"
    if not done.smallest.faults.steps:
        return "It breaks without any fault."
    found = f"That was found by schedule {done.tried}, of {done.schedules} tried in all."
    return f"It breaks: {done.smallest.faults}. {found}{more}"


def drawn(title: str, example: Example) -> Drawn:
    """Return what is drawn of an example that was measured."""
    assert example.history
    return Drawn(title, example.faults, example.history, example.violations, example.logs)


def _drawn(done: Hunted, baseline: Example) -> Iterator[Drawn]:
    shown = [("The smallest schedule that breaks it", done.smallest), ("The schedule that broke it first", done.first)]
    if done.smallest is None:
        shown = [("Without any fault", baseline)]
    elif done.first is None or done.first.faults == done.smallest.faults:
        shown = shown[:1]
    for title, example in shown:
        if example and example.history:
            yield drawn(title, example)
