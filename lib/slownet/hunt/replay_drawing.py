"""The page of a replay: the history of its last boot, and the lines logged meanwhile."""

from __future__ import annotations

from pathlib import Path

from slownet.hunt.drawing import drawn
from slownet.hunt.replaying import Replayed
from slownet.model.errors import ExperimentError
from slownet.model.options import Option
from slownet.report.hunt_page import write_hunt


def write(path: Path, done: Replayed) -> None:
    """Write the page of a replay's last boot. Raises ExperimentError if it could not be measured."""
    last = done.examples[-1]
    if not last.history:
        raise ExperimentError(f"the last boot was not measured: {last.error}", Option("report"), "fix that first")
    answer = f"It breaks: {last.faults}." if last.breaks else f"Nothing breaks: {last.faults}."
    facts = [("experiment", done.source), ("boots", str(len(done.examples)))]
    write_hunt(path, done.name, done.question, answer, [drawn("The replayed schedule", last)], [], [], facts)
