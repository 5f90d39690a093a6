"""Replays what a hunt has found: the same schedule in a new boot, with the same checks, and its history compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from slownet.hunt.bench import Example, Subject
from slownet.hunt.drawing import drawn
from slownet.hunt.hunting import again
from slownet.judge.histories.history import History
from slownet.links import fault_file
from slownet.links.faults import Faults
from slownet.model import userfile
from slownet.model.errors import ExperimentError
from slownet.model.options import Option
from slownet.report.hunt_page import write_hunt
from slownet.runner.where import Where


def write(path: Path, done: Replayed) -> None:
    """Write the page of a replay's last boot. Raises ExperimentError if it could not be measured."""
    last = done.examples[-1]
    if not last.history:
        raise ExperimentError(f"the last boot was not measured: {last.error}", Option("report"), "fix that first")
    answer = f"It breaks: {last.faults}." if last.breaks else f"Nothing breaks: {last.faults}."
    facts = [("experiment", done.source), ("boots", str(len(done.examples)))]
    write_hunt(path, done.name, done.question, answer, [drawn("The replayed schedule", last)], [], [], facts)


@dataclass(frozen=True)
class Replayed:
    """The outcome of a replay.

    faults: the schedule.
    examples: one for each boot.
    differs: for each boot, where its history differs first from what is beside the file, or else from that of the first boot;
        empty if in no digit.
    """

    faults: Faults
    examples: tuple[Example, ...]
    differs: tuple[str, ...]
    is_compared: bool = True
    """True if there is a history beside the file; else that of the first boot is compared with nothing."""
    source: str = ""
    """The experiment's name or file; with its own name and its question."""
    name: str = ""
    question: str = ""


def replay(path: Path, experiment: str | None, where: Where, times: int = 1) -> Replayed:
    """Measure the schedule of a file again.

    experiment: name or file; None for the one that the file names. Raises SlownetError.
    """
    saved = fault_file.read(path)
    named = experiment or saved.found.get("experiment")
    if not named:
        raise ExperimentError(f"{path} names no experiment", fix="name one after the file: slownet hunt replay FILE mine.py")
    if not experiment and named.endswith(".py"):
        named = str(_moved(path.parent / named, path))
    subject = Subject.of(named, where)
    examples = [again(subject, saved.faults) for _ in range(times)]
    known = _beside(path)
    first = known or examples[0].history or History()
    differs = tuple(_difference(first, each) for each in examples)
    about = subject.experiment
    return Replayed(
        saved.faults, tuple(examples), differs, known is not None, subject.source, about.name, about.question
    )  # fmt: skip


def _moved(source: Path, path: Path) -> Path:
    """Return the experiment that a file names, or the one of its name beside the file: both may be in another place now."""
    beside = path.parent / source.name
    if source.exists() or beside.exists():
        return source if source.exists() else beside
    raise ExperimentError(f"no file {source}", str(path), f"name it after the file: slownet hunt replay {path} {source.name}")


def _beside(path: Path) -> History | None:
    beside = path.with_suffix(".jsonl")
    try:
        return History.read(userfile.read_text(beside, userfile.MOST_RECORD), str(beside))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ExperimentError(f"{beside} cannot be read: {userfile.reason(error)}", fix="remove it") from error


def _difference(first: History, example: Example) -> str:
    return first.differs_from(example.history) if example.history else f"it was not measured: {example.error}"
