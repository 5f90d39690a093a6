"""Variants of an exercise: each student has one, always the same, with other numbers than a neighbour's.

An exercise is a text with names such as ``${far}``; a file of variants gives their values::

    [[there_and_back]]
    far = "20ms"

    [[there_and_back]]
    far = "30ms"

Filled in, variant 2 is the hypothesis file ``there_and_back__2.toml``: a teacher measures all of them into one key, and a
student has one of them as ``there_and_back.toml``. Files that an exercise names, such as ``mine.py`` in ``mine.py:shop``, go
along to another folder.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slownet.classroom.key import Exercise
from slownet.hypotheses import file as hypothesis
from slownet.hypotheses import own
from slownet.hypotheses.source import read_text, read_toml
from slownet.model import userfile, whole_file
from slownet.model.errors import ExperimentError, nearest, writing
from slownet.model.options import OUT

MARK = "__"
_NUMBERED = re.compile(rf"(.+?){MARK}([1-9]\d*)")
Variants = Sequence[Mapping[str, Any]]


def number(exercise: str, student: str, count: int) -> int:
    """Return which of so many variants of an exercise a student has, from 1."""
    digest = hashlib.sha256(f"{exercise}\0{student.strip().casefold()}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count + 1


def read(path: Path, exercise: str) -> Variants:
    """Read the variants of an exercise. Raises ExperimentError."""
    _, data = read_toml(path)
    if exercise not in data:
        raise ExperimentError(f"no variants of '{exercise}'", str(path), nearest(exercise, data))
    found = data[exercise]
    if not isinstance(found, list) or not found or not all(isinstance(each, dict) for each in found):
        raise ExperimentError(f"{exercise} is not a list of tables", str(path), f"write [[{exercise}]] above each variant")
    if any(each.keys() != found[0].keys() for each in found):
        raise ExperimentError(f"the variants of {exercise} have different names", str(path), "give each one all values")
    return found


def fill(path: Path, values: Mapping[str, Any]) -> str:
    """Return an exercise's text with these values. Raises ExperimentError."""
    template = string.Template(read_text(path))
    if not template.is_valid():
        raise ExperimentError("a $ that begins no name", str(path), "write $$ for a dollar sign, ${far} for a name")
    if lacking := sorted(set(template.get_identifiers()) - values.keys()):
        raise ExperimentError(f"no variant has a value for ${{{lacking[0]}}}", str(path), nearest(lacking[0], values))
    if spare := sorted(values.keys() - set(template.get_identifiers())):
        raise ExperimentError(f"its text does not use ${{{spare[0]}}}", str(path), "write it where the value belongs")
    return template.substitute({name: str(value) for name, value in values.items()})


def write(path: Path, variants: Variants, folder: Path, student: str | None = None) -> list[Path]:
    """Write all variants of an exercise to a folder, or a student's one under the exercise's name.

    Returns the files. Raises ExperimentError, also if one of them cannot be read as a hypothesis file.
    """
    written = []
    for count, values in enumerate(variants, 1):
        if student is not None and count != number(path.stem, student, len(variants)):
            continue
        target = folder / (f"{path.stem}.toml" if student is not None else f"{path.stem}{MARK}{count}.toml")
        if target.exists() and path.exists() and target.samefile(path):
            raise ExperimentError(f"{target} is the exercise itself", OUT, "name another folder")
        text = fill(path, values)
        with writing(target, OUT):
            folder.mkdir(parents=True, exist_ok=True)
        whole_file.write(target, text, OUT, {".toml": ""})
        _bring_along(path, read_toml(target)[1], folder)
        hypothesis.read(target)
        written.append(target)
    return written


def _bring_along(path: Path, exercise: Mapping[str, Any], folder: Path) -> None:
    """Copy the files beside an exercise that it names. Raises ExperimentError."""
    for each in {own.file_of(exercise.get(key)) for key in ("topology", "service", "tool")} - {""}:
        source, target = path.parent / each, folder / each
        if source.is_file() and not (target.exists() and target.samefile(source)):
            with writing(target, OUT):
                target.parent.mkdir(parents=True, exist_ok=True)
            with userfile.opened(source) as reading, whole_file.output(target, OUT, {target.suffix.lower(): ""}) as file:
                shutil.copyfileobj(reading, file)


class Assigned:
    """The exercises of a key, under the names that students know, and which of them a student has."""

    def __init__(self, key: Sequence[Exercise]) -> None:
        self._all: list[tuple[int, Exercise]] = []
        self._counts: dict[str, int] = {}
        for each in key:
            match = _NUMBERED.fullmatch(each.name)
            name, variant = (match[1], int(match[2])) if match else (each.name, 0)
            self._all.append((variant, replace(each, name=name) if variant else each))
            self._counts[name] = max(self._counts.get(name, 0), variant)

    @property
    def exercises(self) -> list[Exercise]:
        """All of them: several of one name, where there are variants."""
        return [each for _, each in self._all]

    def of(self, student: str) -> list[Exercise]:
        """Return a student's."""
        chosen = {name: number(name, student, count) if count else 0 for name, count in self._counts.items()}
        return [each for variant, each in self._all if variant in (0, chosen[each.name])]
