"""Answers to open predictions: their units, reading a number as people write it, and files with a student's answers.

A file holds the student's name, and a table for each hypothesis file, by its name without the ending::

    student = "Ada Lovelace"
    id = "ada@example.org"                    # if the university knows the student by it: an address, a login or a number

    [02_a_small_page]
    round_trips = 2                           # or a text with a unit, where the prediction has one: "100ms"
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from slownet.hypotheses.predictions import Prediction
from slownet.hypotheses.source import read_toml
from slownet.lab.run.outbox import Outbox, RefusedError, read_up_to
from slownet.model import userfile, whole_file
from slownet.model.control_characters import visible
from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.shapes import Json
from slownet.model.units import BITS_PER_SECOND, BYTES, NAMED, TIMES, TimeUnit, duration, percent, rate, unit_of
from slownet.model.userfile import toml_text
from slownet.theory.law import per_round_trip

STUDENT, ID = "student", "id"
NOTHING: Mapping[str, str] = MappingProxyType({})
LONGEST = 60
"""Characters of a name in a file that was handed in."""
ROUND_TRIPS, FOLD, SHARE = "round trips", "times", "a share of 1"
BARE = re.compile(r"[A-Za-z0-9_-]+")
_Reader = tuple[Callable[[str], float], float, str]
"""The reading of a text in a unit: the reader, what its result is multiplied by, and an example."""
_FRACTIONS: Mapping[str, _Reader] = {SHARE: (percent, 1.0, "0.1 or 10%"), "%": (percent, 100.0, "10 or 10%")}


def _of_time(unit: TimeUnit) -> _Reader:
    return duration, float(1 / unit.seconds), f"2.5 or 2.5{unit.name}"


def _of_rate(unit: str) -> _Reader:
    """Return the reader of a unit of ``units.NAMED`` such as Mbit/s or MiB/s."""
    of_bits = unit.removesuffix("/s")
    of_bytes = BYTES.get(of_bits.lower())
    bits = 8 * of_bytes if of_bytes else BITS_PER_SECOND[of_bits.lower()]
    return rate, float(1 / bits), f"2.5 or 20{of_bits[:-1]}bit" if of_bytes else f"2.5 or 2.5{of_bits}"


_WITH_UNIT: Mapping[str, _Reader] = {
    **{each.name: _of_time(each) for each in TIMES if each.of_metrics},
    **{each: _of_rate(each) for each in NAMED.values() if each.endswith("/s")},
    **_FRACTIONS,
}
"""The units of texts, as `units.unit_of` names them."""


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
    def asks(self) -> str:
        """The question for a person: "How many round trips?", "At most how many ms?"."""
        asked = {
            FOLD: "how many times as much",
            SHARE: "what share (0.1 or 10%)",
            "%": "how many percent",
            "": f"which number ({self.name})",
        }.get(self.unit, f"how many {self.unit}")
        limit = {"at_least": "at least ", "at_most": "at most "}.get(self.field, "")
        return f"{limit}{asked}?"[:1].upper() + f"{limit}{asked}?"[1:]

    @property
    def unit(self) -> str:
        """The unit of the number; empty if the unit is unknown."""
        fields, kind = self.prediction.fields, self.prediction.kind
        if self.field == "round_trips" or "round_trips" in kind:
            return ROUND_TRIPS if per_round_trip(str(fields.get("along", "rtt_ms"))) else ""
        if kind == "ratio":
            return FOLD
        metric = str(fields.get("metric", ""))
        return unit_of(metric) or (SHARE if metric.endswith("loss") else "")

    def number(self, text: str | float) -> float:
        """Read an answer, in `unit`. Raises ExperimentError."""
        return number(text, self.unit, self.name)


def number(text: str | float, unit: str, name: str) -> float:
    """Read an answer to the question of that name, in that unit. Raises ExperimentError."""
    found = _read(str(text).strip(), unit)
    if found is None or not math.isfinite(found):
        example = _WITH_UNIT[unit][2] if unit in _WITH_UNIT else "2.5"
        what = f"'{text}' is not a number" + (f" ({unit})" if unit else "")
        raise ExperimentError(what, where=name, fix=f"write a number, such as {example}")
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
        """The key that two files of one student share: the id, or the name in any capitals."""
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
        whole_file.write(self.path, "\n".join(lines) + "\n", own={self.path.suffix.lower(): ""}, is_input=True)


def read(path: Path) -> Answers:
    """Read one's own answers. Raises ExperimentError."""
    return _of_tables(path, read_toml(path)[1])


def read_handed_in(path: Path, *, alone: bool = False, tables: Mapping[str, str] = NOTHING) -> Answers:
    """Read answers that another user handed in, as what a lab writes is read: a regular file of bounded size, and no link.

    alone: what is wrong with it is shown to the student, so it must be no hard link, and nothing of it is quoted.
    tables: the exercise of each question, which the advice for an answer without its table names.
    Raises ExperimentError, whose line quotes no value of the file.
    """
    try:
        with Outbox(path.parent).open(path.name, userfile.MOST) as file:
            if alone and os.fstat(file.fileno()).st_nlink > 1:
                raise RefusedError(f"{path.name} is a hard link")
            content = read_up_to(file, userfile.MOST + 1)
        if len(content) > userfile.MOST:
            raise RefusedError(f"{path.name} grows while it is read")
        return _of_tables(path, userfile.toml(userfile.decoded(content)), tables)
    except RefusedError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise ExperimentError(f"cannot read {path}", fix=str(error.__cause__.strerror)) from error
        raise ExperimentError(error.what, f"in {path.parent}", "hand in a file of answers itself") from error
    except UnicodeDecodeError as error:
        raise ExperimentError(f"cannot read {path}", fix=userfile.reason(error)) from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at [^()]*\)$", str(error))
        what = f"not TOML{place[0] if place else ''}" if alone else f"not TOML: {error}"
        raise ExperimentError(what, where=str(path)) from error


def _of_tables(path: Path, data: dict[str, Json], tables: Mapping[str, str] = NOTHING) -> Answers:
    student = data.pop(STUDENT, path.stem)
    if not isinstance(student, str) or not student.strip():
        raise ExperimentError(f"{STUDENT} is {_kind(student)}", str(path), f'write {STUDENT} = "Ada Lovelace"')
    known_as = "" if isinstance(data.get(ID), dict) else data.pop(ID, "")
    if isinstance(known_as, bool) or not isinstance(known_as, (str, int)):
        raise ExperimentError(f"{ID} is {_kind(known_as)}", str(path), f'write {ID} = "ada@example.org", or leave it out')
    for exercise, found in data.items():
        if not isinstance(found, dict) and exercise in tables:
            what = f"{shown(exercise)} stands in no table"
            raise ExperimentError(what, str(path), f"write [{quoted(tables[exercise])}] in a line above it")
        if not isinstance(found, dict):
            fix = f"write [{shown(quoted(exercise))}], and below it lines such as round_trips = 2"
            raise ExperimentError(f"{shown(exercise)} is not a table", str(path), fix)
        for name, each in found.items():
            if isinstance(each, bool) or not isinstance(each, (str, int, float)):
                what = f"{shown(exercise)}.{shown(name)} is {_kind(each)}"
                raise ExperimentError(what, str(path), 'write a number, or a text such as "100ms"')
    return Answers(path, " ".join(student.split()), data, " ".join(str(known_as).split()))


def _kind(value: object) -> str:
    """Return what a value is, without the value: it may be another one's secret, to which a file of answers was linked."""
    if isinstance(value, bool):
        return "true or false"
    kinds = {dict: "a table", list: "a list", str: "an empty text", int: "a number", float: "a number"}
    return kinds.get(type(value), "a date or a time")


def shown(name: str) -> str:
    """Return a name of another user's as a line has it: printable and short."""
    text = visible(" ".join(name.split()))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def quoted(name: str) -> str:
    """Return a key of TOML."""
    return name if BARE.fullmatch(name) else toml_text(name)


def _value(given: str | float) -> str:
    return toml_text(given) if isinstance(given, str) else f"{given:g}" if math.isfinite(given) else '"?"'
