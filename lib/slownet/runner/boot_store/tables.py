"""Writes the Parquet parts of a sweep's store: rows with one schema for all, and records with the tools' raw output."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from slownet.judge.records import sweep_samples
from slownet.judge.records.rows import SweepSample, row
from slownet.judge.records.sweep_samples import RECORDS, SAMPLES
from slownet.model.errors import SweepError
from slownet.model.whole_file import place
from slownet.runner.boot_store.task import FREE_SPACE

KNOWN = {
    "key": pa.string(), "unit": pa.string(), "experiment": pa.string(), "index": pa.int64(), "tool": pa.string(),
    "status": pa.string(), "error": pa.string(), "verified_rtt_ms": pa.float64(), "rate_bit_s": pa.float64(),
    "virtual_s": pa.float64(), "wall_s": pa.float64(), "charged_s": pa.float64(), "lab": pa.int64(), "boot": pa.int64(),
    "block": pa.int64(), "random": pa.bool_(), "seeds": pa.list_(pa.int64()), "facts": pa.string(), "counters": pa.string(),
}  # fmt: skip
LEFT_OUT = ("raw", "captures")
RECORD_SCHEMA = pa.schema(
    [("key", pa.string()), ("unit", pa.string()), ("record", pa.string()), ("raw", pa.map_(pa.string(), pa.binary()))]
)


def key(sample: SweepSample) -> str:
    """Return the key of a sample among those of all sweeps."""
    return f"{sample['unit']}-{sample['block']}"


def record(sample: SweepSample) -> dict[str, object]:
    """Return a sample as a record has it: without what has columns of its own."""
    return {name: value for name, value in sample.items() if name not in ("unit", "output")}


def table(samples: Sequence[SweepSample]) -> Any:
    """Return the rows of some samples as a table; its columns are known or follow from the values."""
    metrics = {name for each in samples for name in each.get("metrics") or {}}
    rows = [{"key": key(each), "unit": each["unit"], **row(each, metrics)} for each in samples]
    names = [name for name in dict.fromkeys([*KNOWN, *(name for each in rows for name in each)]) if name not in LEFT_OUT]
    return pa.table({name: _column(name, [each.get(name) for each in rows]) for name in names})


def _column(name: str, values: Sequence[Any]) -> Any:
    if name in KNOWN:
        return pa.array(values, KNOWN[name])
    kinds = {type(each) for each in values if each is not None}
    if kinds <= {int, float}:
        return pa.array([None if each is None else float(each) for each in values], pa.float64())
    return pa.array([None if each is None else str(each) for each in values], pa.string())


def records(samples: Sequence[SweepSample]) -> Any:
    """Return the whole samples as JSON, with the tools' output."""
    columns = (
        [key(each) for each in samples],
        [each["unit"] for each in samples],
        [json.dumps(record(each)) for each in samples],
        [[*each["output"].items()] for each in samples],
    )
    return pa.table(dict(zip(RECORD_SCHEMA.names, columns, strict=True)), RECORD_SCHEMA)


def packed(content: Any) -> bytes:
    """Return a table as the content of a part."""
    file = io.BytesIO()
    pq.write_table(content, file, compression="zstd")
    return file.getvalue()


def write(content: bytes, path: Path) -> None:
    """Write a part: whole, or not at all. Raises SweepError."""
    try:
        place(path, content, durable=True)
    except OSError as error:
        raise SweepError(f"cannot write {path.name}, {error.strerror or error}", f"in {path.parent}", FREE_SPACE) from error


def without_failed(directory: Path, names: Iterable[str]) -> Iterator[dict[str, bytes]]:
    """Yield parts, samples first, without the units that have a failed sample. Raises SweepError.

    A kill between the two of a part leaves records of no sample.
    """
    for name in names:
        rows = list(sweep_samples.rows(directory / SAMPLES / name, ["unit", "status"]))
        failed = {each["unit"] for each in rows if each["status"] != "ok"}
        good = pa.array({each["unit"] for each in rows} - failed, pa.string())
        changed = {}
        for folder in (SAMPLES, RECORDS):
            found = sweep_samples.part(directory / folder / name)
            kept = pc.is_in(found.column("unit"), good)
            if not all(kept.to_pylist()):
                changed[f"{folder}/{name}"] = packed(found.filter(kept))
        if changed:
            yield changed


def same_schema(directory: Path, names: Sequence[str]) -> Iterator[dict[str, bytes]]:
    """Yield the parts whose columns are not those of all, with those, so that every reader opens the folder as one table."""
    schemas = {name: pq.read_schema(directory / SAMPLES / name) for name in names}
    wanted = _common(schemas.values())
    for name, schema in schemas.items():
        if not schema.equals(wanted):
            found = sweep_samples.part(directory / SAMPLES / name)
            columns = [
                found.column(field.name).cast(field.type)
                if field.name in found.column_names
                else pa.nulls(len(found), field.type)
                for field in wanted
            ]
            yield {f"{SAMPLES}/{name}": packed(pa.table(columns, schema=wanted))}


def _common(schemas: Iterable[Any]) -> Any:
    """Return all columns; one that is a number in one part and a text in another is a text, one without values any kind."""
    kinds: dict[str, object] = {}
    for schema in schemas:
        for field in schema:
            kind = kinds.setdefault(field.name, field.type)
            if kind != field.type:
                kinds[field.name] = pa.string()
    return pa.schema(list(kinds.items()))
