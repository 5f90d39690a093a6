"""The store of a sweep: what was measured, safe against a kill at any moment, and readable by other programs at any moment.

| file | contents |
|---|---|
| ``sweep.json`` | the sweep as it was asked for, its circumstances, the schema's number, and the sums of the other files |
| ``journal.jsonl`` | what came since the last part: one line per boot, on disk before the boot counts as measured |
| ``samples/part-000001.parquet`` | one row per sample: condition, metrics, status; all parts have one schema |
| ``records/part-000001.parquet`` | each sample as a whole, with its single values and the tools' output |
| ``aside.jsonl`` | cells that could not be measured, with the reason |
| ``damaged/`` | files that were not what was written, when the sweep was resumed |

A boot is stored whole or not at all, so that what is measured after a kill is what would have been measured without it.

A part counts when sweep.json names it with its sum; until then its samples are in the journal. Before a part is replaced,
sweep.json has both sums. So at every moment what a file holds has a sum that is known, or is in the journal, too; what has not
was damaged.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from slownet.judge.records import sweep_samples
from slownet.judge.records.rows import SweepSample, row
from slownet.judge.records.samples import sealed_line
from slownet.judge.records.sweep_samples import (
    ASIDE,
    FILES,
    HEADER,
    JOURNAL,
    RECORDS,
    RESTORE,
    SAMPLES,
    SCHEMA,
    Found,
    look,
    parts,
    read_header,
    whole_samples,
)
from slownet.lab.run.outbox import appending
from slownet.model.errors import DamageWarning, SweepError
from slownet.model.options import Option
from slownet.model.shapes import Json
from slownet.model.whole_file import place
from slownet.runner.boot_store.task import FREE_SPACE

# Writes the Parquet parts of a sweep's store: rows with one schema for all, and records with the tools' raw output.

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


LOCK = ".lock"
DAMAGED = "damaged"
FULL = 5000
"""Samples in the journal that become a part."""


class Store:
    """A sweep's folder, open for writing by this process alone. Use it as a context manager.

    What is damaged there is set aside, with a `DamageWarning`, and its cells count as not measured. Raises SweepError if
    another process has it, if it is not a store, or if it has another schema.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._open = contextlib.ExitStack()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock()
            self.header: dict[str, Json] = {"schema": SCHEMA}
            self._files: dict[str, list[str]] = {}
            self._recent: list[SweepSample] = []
            self._after = self._aside_after = ""
            self._asides = 0
            self.done: set[str] = set()
            if (directory / HEADER).exists():
                self._recover()
            elif parts(directory, RECORDS) or parts(directory, SAMPLES):
                raise SweepError(f"{directory} has parts of a sweep, but no {HEADER}", Option("out"), RESTORE)
            self._journal: BinaryIO = self._open.enter_context(open(directory / JOURNAL, "ab", buffering=0))
        except OSError as error:
            self._open.close()
            raise SweepError(f"cannot write to {directory}, {error.strerror}", Option("out"), "name another folder") from error
        except BaseException:
            self._open.close()
            raise

    def _lock(self) -> None:
        lock = self._open.enter_context(open(self.directory / LOCK, "w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._open.close()
            raise SweepError(
                f"another sweep writes to {self.directory}", Option("out"), "wait for it, or name another"
            ) from error

    def _recover(self) -> None:
        """Take what is in the folder, without what a kill cut short, or what is in a part already.

        What is damaged is moved to where it is kept.
        """
        found = look(self.directory)
        self.header = {name: value for name, value in found.header.items() if name not in (FILES, ASIDE)}
        self._files = {name: list(sums) for name, sums in (found.header.get(FILES) or {}).items()}
        for line in found.damage:
            warnings.warn(f"{line}, in {self.directory}", DamageWarning, stacklevel=4)
        self.done = sweep_samples.units(self.directory, found)
        recent = found.recent
        self._recent = [each for each in recent if each["unit"] not in self.done]
        self._recover_parts(found, self.done | {each["unit"] for each in recent})
        self.done |= {each["unit"] for each in self._recent}
        path = self.directory / JOURNAL
        text = self._journal_of(self._recent)
        if not path.exists() or path.read_bytes() != text:
            if found.journal.damage:
                self._keep_damaged(JOURNAL)
            place(path, text, durable=True)
        self._recover_aside(found)
        if found.damage:
            self._write_header()

    def _recover_parts(self, found: Found, known: set[str]) -> None:
        for name in found.unlisted:  # written, but not named before a kill: the journal has the same
            folders = [each for each in (RECORDS, SAMPLES) if (self.directory / each / name).exists()]
            try:
                is_known = all(
                    each["unit"] in known
                    for folder in folders
                    for each in sweep_samples.rows(self.directory / folder / name, ["unit"])
                )
            except SweepError:
                is_known = False
            for folder in folders:
                (self.directory / folder / name).unlink() if is_known else self._keep_damaged(f"{folder}/{name}")
        for name in found.broken:
            folder, _, part = name.partition("/")
            if (self.directory / name).exists():
                self._keep_damaged(name)
            if folder == SAMPLES and part in found.parts:  # its rows follow from its records
                rows = list(whole_samples(self.directory, Found(found.header, [part], broken=[name]), with_output=True))
                content = packed(table(rows))
                write(content, self.directory / name)
                self._files[name] = [_sum(content)]
            elif folder == RECORDS:
                if (self.directory / SAMPLES / part).exists() and f"{SAMPLES}/{part}" not in found.broken:
                    self._keep_damaged(f"{SAMPLES}/{part}")
                self._files.pop(f"{SAMPLES}/{part}", None)
                self._files.pop(name, None)
            elif part not in found.parts:
                self._files.pop(name, None)

    def _recover_aside(self, found: Found) -> None:
        path, asides = self.directory / ASIDE, sweep_samples.asides(found)
        self._asides, text = 0, ""
        for each in asides:
            line, self._aside_after = sealed_line(each, self._aside_after)
            text, self._asides = f"{text}{line}\n", self._asides + 1
        if path.exists() and path.read_bytes() != text.encode():
            if found.aside.damage:
                self._keep_damaged(ASIDE)
            place(path, text.encode(), durable=True)

    def _keep_damaged(self, name: str) -> None:
        """Move a file to where damaged ones are kept, beside those of the same name."""
        path = self.directory / name
        if not path.exists():
            return
        folder, number = self.directory / DAMAGED, 1
        folder.mkdir(exist_ok=True)
        while (target := folder / f"{name.replace('/', '-')}{f'-{number}' if number > 1 else ''}").exists():
            number += 1
        os.replace(path, target)

    def describe(self, facts: Mapping[str, Json]) -> None:
        """Write sweep.json, with these facts in place of older ones. Raises SweepError."""
        self.header = {**self.header, **facts, "schema": SCHEMA}
        self._write_header()

    def _write_header(self) -> None:
        whole = {**self.header, FILES: self._files, ASIDE: {"lines": self._asides, "sum": self._aside_after}}
        try:
            place(self.directory / HEADER, sweep_samples.sealed(whole), durable=True)
        except OSError as error:
            raise SweepError(f"cannot write {HEADER}, {error.strerror}", f"in {self.directory}", FREE_SPACE) from error

    def keep(self, name: str, content: bytes) -> None:
        """Write a file of the folder, in place of an older one, so that sweep.json knows its sum. Raises SweepError."""
        with self._replacing({name: content}):
            write(content, self.directory / name)

    @contextlib.contextmanager
    def _replacing(self, files: Mapping[str, bytes]) -> Iterator[None]:
        """Have the sums of files that are replaced in this block in sweep.json at every moment: the old and the new ones."""
        new = {name: _sum(content) for name, content in files.items()}
        for name, own in new.items():
            self._files[name] = list(dict.fromkeys([*self._files.get(name, [])[-1:], own]))
        self._write_header()
        yield
        self._files |= {name: [own] for name, own in new.items()}
        self._write_header()

    def append(self, boots: Sequence[Sequence[SweepSample]]) -> int:
        """Append the samples of some boots; they are on disk when this returns. Units that are known are left out.

        Returns the number of new units. Raises SweepError; then, and after an interrupt, no sample of these boots counts, and
        they can be appended again.
        """
        new: list[list[SweepSample]] = []
        units: set[str] = set()
        for boot in boots:
            fresh = [each for each in boot if each["unit"] not in self.done and each["unit"] not in units]
            units.update(each["unit"] for each in fresh)
            new.append(fresh)
        journal, recent = os.fstat(self._journal.fileno()).st_size, len(self._recent)
        self._after = after = self._after if journal else ""
        try:
            self._write(b"".join(self._line(each) for each in new if each))
            self._recent += [each for boot in new for each in boot]
            self.done |= units
        except BaseException as error:
            with contextlib.suppress(OSError):
                self._journal.truncate(journal)
            del self._recent[recent:]
            self._after = after
            self.done -= units
            if isinstance(error, OSError):
                raise SweepError(f"cannot write samples, {error.strerror}", f"in {self.directory}", FREE_SPACE) from error
            raise
        if len(self._recent) >= FULL:
            self.roll()
        return len(units)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[self._journal.write(data) :]
        os.fsync(self._journal.fileno())

    def _line(self, samples: Sequence[SweepSample]) -> bytes:
        """Return a line of the journal; bytes of output that are not UTF-8 survive."""
        found = [
            {
                "key": key(each), "unit": each["unit"], "sample": record(each),
                "raw": {name: content.decode("utf-8", "surrogateescape") for name, content in each["output"].items()},
            }
            for each in samples
        ]  # fmt: skip
        line, self._after = sealed_line({"samples": found}, self._after)
        return line.encode() + b"\n"

    def _journal_of(self, samples: Sequence[SweepSample]) -> bytes:
        """Return a journal of these samples alone."""
        self._after = ""
        boots: dict[tuple[str, object], list[SweepSample]] = {}
        for each in samples:
            boots.setdefault((each["unit"], each.get("boot")), []).append(each)
        return b"".join(self._line(each) for each in boots.values())

    def _empty_journal(self) -> None:
        self._journal.truncate(0)
        self._after = ""

    def roll(self) -> None:
        """Make parts of the journal. A kill at any moment leaves the samples in one of the two, or in both.

        After an interrupt it can be made again. Raises SweepError.
        """
        known = sweep_samples.units(self.directory, self._stored())
        self._recent = [each for each in self._recent if each["unit"] not in known]
        for few in _in_parts(self._recent):
            name = self._next_part()
            new = {
                f"{RECORDS}/{name}": packed(records(few)), f"{SAMPLES}/{name}": packed(table(few)),
            }  # fmt: skip
            for each, content in new.items():
                write(content, self.directory / each)
            self._files |= {each: [_sum(content)] for each, content in new.items()}
        self._write_header()
        self._empty_journal()
        self._recent = []

    def _next_part(self) -> str:
        """Return the name of a part that sweep.json does not know: what has it was left by a kill, or an interrupt."""
        known = [int(Path(each).stem.removeprefix("part-")) for each in self._files if each.startswith(f"{RECORDS}/")]
        return f"part-{max(known, default=0) + 1:06}.parquet"

    def _stored(self) -> Found:
        """Return the parts as this process has written them."""
        names = sorted(each.partition("/")[2] for each in self._files if each.startswith(f"{SAMPLES}/"))
        return Found(self.header, names)

    def set_aside(self, cell: Mapping[str, str], repetition: int, why: str) -> None:
        """Record a cell that could not be measured. Raises SweepError."""
        line, after = sealed_line({"cell": dict(cell), "repetition": repetition, "why": why}, self._aside_after)
        try:
            with appending(self.directory / ASIDE) as file:
                file.write(f"{line}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SweepError(f"cannot write {ASIDE}, {error.strerror}", f"in {self.directory}", FREE_SPACE) from error
        self._asides, self._aside_after = self._asides + 1, after

    def clear_failed(self) -> None:
        """Forget which cells failed or could not be measured, before they are tried again. Raises SweepError."""
        self._asides, self._aside_after = 0, ""
        self._write_header()
        (self.directory / ASIDE).unlink(missing_ok=True)
        self.roll()
        for changed in without_failed(self.directory, self._stored().parts):
            self._rewrite(changed)
        self.done = sweep_samples.units(self.directory, self._stored())

    def _rewrite(self, changed: Mapping[str, bytes]) -> None:
        with self._replacing(changed):
            for name, content in changed.items():
                write(content, self.directory / name)

    def merge(self, other: Path) -> int:
        """Take over the samples of another sweep, and return how many units were new. Raises SweepError, also if it is damaged.

        What failed there is not taken over: it is measured here.
        """
        header = read_header(other)
        ours = self.header.get("circumstances", {}).get("experiment")
        if (theirs := header.get("circumstances", {}).get("experiment")) != ours:
            raise SweepError(
                f"{other} is a sweep of {theirs}, not of {ours}", Option("merge"), "merge sweeps of one experiment"
            )
        found = look(other)
        if found.damage:
            fix = "restore it, or resume that sweep first, which measures it again"
            raise SweepError(f"{other} is damaged: {found.damage[0]}", Option("merge"), fix)
        boots: dict[str, list[SweepSample]] = {}
        for each in [*whole_samples(other, found, with_output=True), *found.recent]:
            boots.setdefault(each["unit"], []).append(each)
        return self.append([boot for boot in boots.values() if all(each["status"] == "ok" for each in boot)])

    def samples(self) -> Iterator[SweepSample]:
        """Yield everything measured so far."""
        yield from whole_samples(self.directory, self._stored())
        yield from self._recent

    def asides(self) -> list[sweep_samples.Aside]:
        """Return the cells that could not be measured."""
        return sweep_samples.read_aside(self.directory)

    def close(self) -> None:
        """Make the last part, give all parts one schema, and let others write."""
        with self._open:
            if self._recent or os.fstat(self._journal.fileno()).st_size:
                self.roll()
            for changed in same_schema(self.directory, self._stored().parts):
                self._rewrite(changed)
            if (self.directory / HEADER).exists():
                self._write_header()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind and issubclass(kind, SweepError):
            self._open.close()  # what made it fail, such as a full disk, would hold up the part too; the journal has all
        else:
            self.close()


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _in_parts(samples: Sequence[SweepSample]) -> Iterator[Sequence[SweepSample]]:
    """Yield samples in parts of about `FULL`; a unit is in one of them."""
    begin = 0
    for at in range(1, len(samples) + 1):
        is_full = at - begin >= FULL and samples[at - 1]["unit"] != samples[min(at, len(samples) - 1)]["unit"]
        if at == len(samples) or is_full:
            yield samples[begin:at]
            begin = at
