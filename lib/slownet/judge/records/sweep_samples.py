"""Reads what a sweep or a hunt stored: its samples, each once, also while it is measured or after it was killed.

`slownet.runner.sweep.sweep_store` writes it, and describes the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.parquet as pq

from slownet.judge.records.condition_columns import NONE
from slownet.judge.records.result import RunData, gather
from slownet.judge.records.samples import SWEEP
from slownet.judge.records.sweep_sample import SweepSample
from slownet.judge.records.unreadable import MALFORMED
from slownet.model import userfile
from slownet.model.errors import SweepError
from slownet.model.sample import Sample
from slownet.model.shapes import Json

SCHEMA = 1
HEADER, JOURNAL, ASIDE = SWEEP, "journal.jsonl", "aside.jsonl"

SAMPLES, RECORDS = "samples", "records"
"""The folders of the parts. DuckDB, polars and pandas open them as they are: ``FROM 'OUT/samples/*.parquet'``."""


class Aside(TypedDict):
    """A cell that could not be measured in a boot, and why."""

    cell: dict[str, str]
    repetition: int
    why: str


def read_header(directory: Path) -> dict[str, Json]:
    """Return the contents of a store's sweep.json. Raises SweepError."""
    try:
        found = userfile.json(userfile.read_text(directory / HEADER, userfile.MOST_RECORD))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SweepError(f"{directory} is no sweep", fix=f"name a folder with a {HEADER}") from error
    except (OSError, ValueError) as error:
        fix = "restore it, or sweep into a new folder"
        raise SweepError(f"cannot read {directory / HEADER}: {userfile.reason(error)}", fix=fix) from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        version = found.get("schema") if isinstance(found, dict) else None
        raise SweepError(
            f"{directory} has schema {version}, this version writes {SCHEMA}",
            fix="use the version that wrote it, or a new folder",
        )
    return found


def read_aside(directory: Path) -> list[Aside]:
    """Return the cells that could not be measured."""
    path = directory / ASIDE
    try:
        return [userfile.json(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    except (OSError, ValueError) as error:
        raise SweepError(f"{path} is damaged ({error})", fix="remove it: the cells in it are measured again") from error


def read_samples(directory: Path, with_output: bool = False) -> list[SweepSample]:
    """Return all samples of a sweep, also of one that was killed, each once. Raises SweepError.

    with_output: whether to read the tools' output, too.
    """
    read_header(directory)
    found = list(whole(directory, with_output))
    known = {each["unit"] for each in found}
    return found + [each for each in read_journal(directory) if each["unit"] not in known]


def load(directory: Path) -> RunData:
    """Return what a sweep or a hunt measured as a run, whose cells are sorted by their conditions. Raises SweepError."""
    header = read_header(directory)
    return gather(sorted(read_samples(directory), key=_order), header.get("facts") or {}, directory)


def _order(sample: Sample) -> tuple[object, ...]:
    """Order samples by their conditions, numbers before none and none before texts, then as they were measured."""
    conditions = [(isinstance(each, str), each != NONE, each) for each in sample.get("condition", {}).values()]
    return (conditions, sample.get("boot", 1), sample.get("block", 1))


def read_journal(directory: Path) -> list[SweepSample]:
    """Return the samples since the last part, without what a kill cut short."""
    path = directory / JOURNAL
    return [each for line in path.read_bytes().split(b"\n")[:-1] for each in read_line(line)] if path.exists() else []


def read_line(line: bytes) -> list[SweepSample]:
    """Return the samples of a line of the journal; none if a kill cut it short."""
    try:
        return [_sample(each) for each in userfile.json(line)]
    except MALFORMED:
        return []


def _sample(record: Mapping[str, Json]) -> SweepSample:
    sample: SweepSample = record["sample"]
    output = {name: text.encode("utf-8", "surrogateescape") for name, text in record["raw"].items()}
    return {**sample, "unit": record["unit"], "output": output}


def parts(directory: Path, folder: str) -> list[Path]:
    """Return the parts of a store, in order."""
    return sorted((directory / folder).glob("part-*.parquet"))


def stored_units(directory: Path) -> set[str]:
    """Return the keys of the units whose samples are in the parts. Raises SweepError."""
    found: set[str] = set()
    for path in parts(directory, SAMPLES):
        found.update(part(path, ["unit"]).column("unit").to_pylist())
    return found


def whole(directory: Path, with_output: bool = False) -> Iterator[SweepSample]:
    """Yield the samples of the parts that are whole: a kill may have come between a part's records and its samples.

    with_output: whether to read the tools' output, too. Raises SweepError.
    """
    columns = ["unit", "record", *(["raw"] if with_output else [])]
    for path in parts(directory, SAMPLES):
        for each in part(directory / RECORDS / path.name, columns).to_pylist():
            found: SweepSample = json.loads(each["record"])
            found["unit"] = each["unit"]
            yield {**found, "output": dict(each["raw"])} if with_output else found


def part(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Return a part's table, or some columns of it. Raises SweepError."""
    try:
        return pq.read_table(path, columns=columns)
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        said = " ".join(str(error).split()).partition(". ")[0][:120]
        why = "No such file or directory" if isinstance(error, FileNotFoundError) else said
        raise SweepError(f"cannot read {path}: {why}", fix="restore it, or sweep into a new folder") from error
