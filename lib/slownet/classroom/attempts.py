"""The choice among a student's files: several are attempts, late ones count less or not at all, unusable ones are named."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.hypotheses import answers as files
from slownet.hypotheses.answers import NOTHING, Answers
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.options import Option
from slownet.model.units import percent

LAST, BEST = "last", "best"
COUNTS = (LAST, BEST)


@dataclass(frozen=True)
class Rules:
    """The attempt that counts, and the others."""

    counts: str = LAST
    """The rule for attempts in time: the last, or the one with the most points."""
    due: datetime.datetime | None = None
    late: float = 0.0
    """The share of its points that an attempt keeps that came after `due`; it counts only if none came in time."""


@dataclass(frozen=True)
class Attempt:
    """A file of answers, and when it was written."""

    answers: Answers
    at: datetime.datetime

    def is_late(self, rules: Rules) -> bool:
        """True if it came after what was due."""
        return rules.due is not None and self.at > rules.due


@dataclass(frozen=True)
class Unmarked:
    """A file that cannot be marked, and its fault."""

    path: Path
    error: SlownetError
    answers: Answers | None = None
    """Its answers, if it can be read."""

    @property
    def student(self) -> str:
        """The name of the student, or of the file if that cannot be read."""
        return self.answers.student if self.answers else self.path.stem


@dataclass(frozen=True)
class Counted:
    """The attempt of a student that counts, and why it does."""

    answers: Answers
    share: float = 1.0
    why: str = ""


def due(text: str) -> datetime.datetime:
    """Read when something is due: a date, to the end of that day, or date and time; without a zone it is this machine's.

    Raises ExperimentError.
    """
    try:
        found = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        raise ExperimentError(f"'{text}' is not a time", Option("due"), "write 2026-11-30 or 2026-11-30T18:00") from None
    if len(text.strip()) <= len("2026-11-30"):
        found += datetime.timedelta(days=1)
    return found if found.tzinfo else found.astimezone()


def share(text: str) -> float:
    """Read what a late submission keeps of its points. Raises ExperimentError."""
    try:
        return percent(text)
    except SlownetError as error:
        raise ExperimentError(error.what, Option("late"), "write a percentage such as 50%") from error


def rules(counts: str, due_at: str | None, late: str | None) -> Rules:
    """Return the rules that these options make. Raises ExperimentError."""
    keeps = share(late) if late is not None else 0.0
    if late is not None and not due_at:
        raise ExperimentError("no file is late without a due date", Option("late"), f"add {Option('due').set('2026-11-30')}")
    if counts not in COUNTS:
        raise ExperimentError(f"unknown attempt '{counts}'", Option("counts"), nearest(counts, COUNTS))
    return Rules(counts, due(due_at) if due_at else None, keeps)


def read(
    paths: Iterable[Path], check: Callable[[Answers], object], *, alone: bool = False, tables: Mapping[str, str] = NOTHING
) -> tuple[list[Attempt], list[Unmarked]]:
    """Read files of answers that were handed in; return those that can be marked, and each other one with its fault.

    alone, tables: see `answers.read_handed_in`.
    """
    found, wrong = [], []
    for path in paths:
        one = None
        try:
            one = files.read_handed_in(path, alone=alone, tables=tables)
            check(one)
            found.append(Attempt(one, _written(path)))
        except SlownetError as error:
            wrong.append(Unmarked(path, error, one))
    return found, wrong


def choose(attempts: Sequence[Attempt], rules: Rules, points: Callable[[Answers], float]) -> list[Counted]:
    """Return each student's attempt that counts, in the order the students come first."""
    by_student: dict[str, list[Attempt]] = {}
    for each in attempts:
        by_student.setdefault(each.answers.identity, []).append(each)
    return [_choose(each, rules, points) for each in by_student.values()]


def _choose(attempts: Sequence[Attempt], rules: Rules, points: Callable[[Answers], float]) -> Counted:
    in_time = [each for each in attempts if not each.is_late(rules)]
    ordered = sorted(in_time or attempts, key=lambda each: (each.at, str(each.answers.path)))
    if rules.counts == BEST:
        ordered.sort(key=lambda each: points(each.answers))  # the last of equals: sorting is stable
    chosen = ordered[-1]
    said = []
    if len(attempts) > 1:
        of = f"of {len(attempts)} attempts" + (
            f", {len(attempts) - len(in_time)} late" if 0 < len(in_time) < len(attempts) else ""
        )
        said.append(f"{chosen.answers.path}, the {rules.counts} {of}")
    if not in_time and rules.due:
        when = chosen.at.astimezone(rules.due.tzinfo).isoformat(" ", "minutes")
        said.append(f"late: {when}, counts {rules.late:.0%}")
    return Counted(chosen.answers, 1.0 if in_time else rules.late, "; ".join(said))


def _written(path: Path) -> datetime.datetime:
    try:
        return datetime.datetime.fromtimestamp(path.lstat().st_mtime, datetime.UTC)
    except (OSError, OverflowError, ValueError) as error:
        raise ExperimentError(f"the time of {path} cannot be read ({error})", fix="save it again") from error
