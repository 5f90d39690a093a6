"""Answers to open predictions: their units, reading a number as people write it, and files with a student's answers.

A file holds the student's name, and a table for each hypothesis file, by its name without the ending::

    student = "Ada Lovelace"
    id = "ada@example.org"                    # if the university knows the student by it: an address, a login or a number

    [02_a_small_page]
    round_trips = 2                           # or a text with a unit, where the prediction has one: "100ms"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slownet.hypotheses.predictions import Prediction
from slownet.hypotheses.source import read_toml
from slownet.model.errors import ExperimentError, SlownetError, writing
from slownet.model.units import duration, percent, rate
from slownet.model.userfile import toml_text
from slownet.theory.law import per_round_trip

STUDENT, ID = "student", "id"
ROUND_TRIPS, TIMES, SHARE = "round trips", "times", "a share of 1"
BARE = re.compile(r"[A-Za-z0-9_-]+")
UNITS = {"_ms": "ms", "mbit_per_s": "Mbit/s", "mib_per_s": "MiB/s", "_per_s": "per second", "_s": "s", "loss": SHARE}
"""Units by the ends of metrics' names; the first that fits counts."""
_WITH_UNIT: Mapping[str, tuple[Callable[[str], float], float, str]] = {
    "ms": (duration, 1e3, "100 or 100ms"),
    "s": (duration, 1.0, "2 or 2s"),
    "Mbit/s": (rate, 1e-6, "10 or 10Mbit"),
    "MiB/s": (rate, 1 / 8 / 2**20, "10 or 80Mbit"),
    SHARE: (percent, 1.0, "0.1 or 10%"),
}
"""How a text is read in each unit: the reader, what its result is multiplied by, and an example."""


@dataclass(frozen=True)
class Question:
    """One number that a hypothesis file leaves open."""

    name: str
    """Its field, with a number if an earlier prediction of the file has the same."""
    field: str
    prediction: Prediction
    position: int = 0
    """The prediction's place in its file."""

    @property
    def unit(self) -> str:
        """What the number counts; empty if it is none of the known units."""
        fields, kind = self.prediction.fields, self.prediction.kind
        if self.field == "round_trips" or "round_trips" in kind:
            return ROUND_TRIPS if per_round_trip(str(fields.get("along", "rtt_ms"))) else ""
        if kind == "ratio":
            return TIMES
        metric = str(fields.get("metric", ""))
        return next((unit for ending, unit in UNITS.items() if metric.endswith(ending)), "")

    def number(self, text: str | float) -> float:
        """Read an answer, in `unit`. Raises ExperimentError."""
        return number(text, self.unit, self.name)


def number(text: str | float, unit: str, name: str) -> float:
    """Read an answer to the question of that name, in that unit. Raises ExperimentError."""
    found = _read(str(text).strip(), unit)
    if found is None or not math.isfinite(found):
        example = _WITH_UNIT[unit][2] if unit in _WITH_UNIT else "4"
        what = f"'{text}' is not a number" + (f" ({unit})" if unit else "")
        raise ExperimentError(what, where=name, fix=f"write {example}")
    return found


def _read(text: str, unit: str) -> float | None:
    try:
        return float(text.removesuffix(unit))
    except ValueError:
        if unit not in _WITH_UNIT:
            return None
    reader, factor, _ = _WITH_UNIT[unit]
    try:
        return reader(text) * factor
    except SlownetError:
        return None


def questions(predictions: Iterable[Prediction]) -> list[Question]:
    """Return what is left open, in order."""
    found: list[Question] = []
    for position, prediction in enumerate(predictions):
        for name in prediction.open:
            before = sum(each.field == name for each in found)
            found.append(Question(f"{name}_{before + 1}" if before else name, name, prediction, position))
    return found


@dataclass
class Answers:
    """A student's answers: texts or numbers by exercise and question."""

    path: Path
    student: str = ""
    given: dict[str, dict[str, str | float]] = field(default_factory=dict)
    id: str = ""

    @property
    def identity(self) -> str:
        """What two files of one student have in common: the id, or the name in any capitals."""
        return (self.id or self.student).casefold()

    def find(self, exercise: str, name: str) -> str | float | None:
        """Return an answer as it was written, or None."""
        return self.given.get(exercise, {}).get(name)

    def write(self) -> None:
        """Write the file. Raises ExperimentError."""
        lines = [f"{STUDENT} = {toml_text(self.student)}"]
        lines += [f"{ID} = {toml_text(self.id)}"] if self.id else []
        for exercise, found in self.given.items():
            lines += ["", f"[{quoted(exercise)}]", *(f"{quoted(name)} = {_value(each)}" for name, each in found.items())]
        with writing(self.path):
            self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path: Path) -> Answers:
    """Read a student's answers. Raises ExperimentError."""
    _, data = read_toml(path)
    student = data.pop(STUDENT, path.stem)
    if not isinstance(student, str) or not student.strip():
        raise ExperimentError(f"{STUDENT} is {student!r}", str(path), f'write {STUDENT} = "Ada Lovelace"')
    known_as = "" if isinstance(data.get(ID), dict) else data.pop(ID, "")
    if isinstance(known_as, bool) or not isinstance(known_as, (str, int)):
        raise ExperimentError(f"{ID} is {known_as!r}", str(path), f'write {ID} = "ada@example.org", or leave it out')
    for exercise, found in data.items():
        if not isinstance(found, dict):
            fix = f'write [{quoted(exercise)}], and below it lines such as round_trips = "{found}"'
            raise ExperimentError(f"{exercise} is not a table", str(path), fix)
        for name, each in found.items():
            if isinstance(each, bool) or not isinstance(each, (str, int, float)):
                raise ExperimentError(f"{exercise}.{name} is {each!r}", str(path), 'write a number, or a text such as "100ms"')
    return Answers(path, " ".join(student.split()), data, " ".join(str(known_as).split()))


def quoted(name: str) -> str:
    """Return a key of TOML."""
    return name if BARE.fullmatch(name) else toml_text(name)


def _value(given: str | float) -> str:
    return toml_text(given) if isinstance(given, str) else f"{given:g}" if math.isfinite(given) else '"?"'
