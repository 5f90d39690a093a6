"""A teacher's key: what was measured for each open prediction, and which answers are right.

An answer is right if the claim is supported with it, so that its margin makes a range. A file of keys may be edited: a missing
`low` or `high` is no limit on that side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.hypotheses.answers import Question, quoted
from slownet.hypotheses.source import read_toml
from slownet.judge.claim import SUPPORTED, Judgement
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.options import KEY
from slownet.model.userfile import toml_text

HEAD = f"""\
# Measured by `{KEY.in_command("check")}`. Answers from low to high are right; without one of them that side is open.
# Widen a range where more answers are.
"""
OWN = {".toml": HEAD[:20], ".md": ""}
"""The first lines of a key: see `slownet.model.whole_file.check`."""
HALVINGS = 60
MOST = 1e9
NUMBERS = ("measured", "low", "high")


@dataclass(frozen=True)
class Solution:
    """The right answers for one open number."""

    name: str
    says: str
    unit: str = ""
    measured: float | None = None
    low: float | None = None
    high: float | None = None

    def accepts(self, number: float) -> bool:
        """True if this answer is right."""
        return (self.low is None or self.low <= number) and (self.high is None or number <= self.high)

    @property
    def span(self) -> str:
        """The range as text: "1.9 to 2.1", "at most 3"."""
        low, high = (None if each is None else f"{each:.4g}" for each in (self.low, self.high))
        if low and high:
            return low if low == high else f"{low} to {high}"
        return f"at least {low}" if low else f"at most {high}" if high else "any number"


@dataclass(frozen=True)
class Exercise:
    """A hypothesis file's solutions."""

    name: str
    question: str
    clock: str
    solutions: Sequence[Solution]


def solve(question: Question, run: RunData, judgement: Judgement) -> Solution:
    """Return which answers are right, given a run. Raises ExperimentError if it is not given."""
    prediction = question.prediction

    def is_right(number: float) -> bool:
        try:
            claim = prediction.filled({question.field: number}).blank.claim()
            return claim.judge(run).verdict == SUPPORTED
        except SlownetError:
            return False

    blank = prediction.blank.fields[question.field]
    likely = [each for each in (judgement.measured, judgement.low, judgement.high, float(blank)) if each is not None]
    inside = next((each for each in likely if is_right(each)), None)
    if inside is None:
        what = f"no answer can be marked right: {judgement.text}"
        raise ExperimentError(what, f"{run.experiment}, {question.name}", "repeat it more often, or widen its within")
    low, high = (_limit(is_right, inside, far) for far in (-MOST, MOST))
    return Solution(question.name, prediction.text.rstrip(".:"), question.unit, judgement.measured, low, high)


def _limit(is_right: Callable[[float], bool], inside: float, far: float) -> float | None:
    """Return the last right answer in that direction, to five digits; None if all are right."""
    if is_right(far) or (far < 0 and is_right(0.0)):
        return None
    if far < 0 < inside:
        far = 0.0
    for _ in range(HALVINGS):
        middle = (inside + far) / 2
        inside, far = (middle, far) if is_right(middle) else (inside, middle)
    return float(f"{inside:.5g}")


def as_toml(exercises: Sequence[Exercise]) -> str:
    """Return the file of a key."""
    lines = [HEAD]
    for each in exercises:
        lines += [f"[{quoted(each.name)}]", f"question = {toml_text(each.question)}", f"clock = {toml_text(each.clock)}", ""]
        for one in each.solutions:
            lines += [f"[{quoted(each.name)}.answers.{quoted(one.name)}]", f"says = {toml_text(one.says)}"]
            lines += [f"unit = {toml_text(one.unit)}"] if one.unit else []
            lines += [f"{name} = {number:.6g}" for name in NUMBERS if (number := getattr(one, name)) is not None]
            lines.append("")
    return "\n".join(lines)


def read(path: Path) -> list[Exercise]:
    """Read a key. Raises ExperimentError."""
    if path.suffix == ".md" and path.is_file():
        raise ExperimentError(f"{path} is a key for people", fix=f"{KEY.in_command('check', 'KEY.toml')} writes one that marks")
    found = []
    for name, table in read_toml(path)[1].items():
        answers = table.get("answers") if isinstance(table, dict) else None
        if not isinstance(answers, dict) or not answers:
            raise ExperimentError(f"{name} has no answers", str(path), f"{KEY.in_command('check', 'KEY.toml')} writes a key")
        solutions = [_solution(path, name, field, each) for field, each in answers.items()]
        found.append(Exercise(name, str(table.get("question", name)), str(table.get("clock", "")), solutions))
    if not found:
        raise ExperimentError("it is not a key", str(path), f"{KEY.in_command('check', 'KEY.toml')} writes one")
    return found


def _solution(path: Path, exercise: str, name: str, table: Any) -> Solution:
    where = f"{path}, {exercise}.answers.{name}"
    if not isinstance(table, dict):
        raise ExperimentError("it is not a table", where, "write low = ... and high = ...")
    numbers = {each: table[each] for each in NUMBERS if each in table}
    for each, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ExperimentError(f"{each} is {value!r}", where, "write a number")
    low, high = numbers.get("low"), numbers.get("high")
    if low is not None and high is not None and low > high:
        raise ExperimentError(f"low ({low:g}) is greater than high ({high:g})", where, "exchange them")
    return Solution(name, str(table.get("says", name)), str(table.get("unit", "")), **numbers)
