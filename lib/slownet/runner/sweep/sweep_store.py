"""The store of a sweep: what was measured, safe against a kill at any moment, and readable by other programs at any moment.

| file | contents |
|---|---|
| ``sweep.json`` | the sweep as it was asked for, its circumstances and the schema's number |
| ``journal.jsonl`` | what came since the last part: one line per boot, on disk before the boot counts as measured |
| ``samples/part-000001.parquet`` | one row per sample: condition, metrics, status; all parts have one schema |
| ``records/part-000001.parquet`` | each sample as a whole, with its single values and the tools' output |
| ``aside.jsonl`` | cells that could not be measured, with the reason |

A boot is stored whole or not at all, so that what is measured after a kill is what would have been measured without it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from slownet.judge.records.samples import write_json
from slownet.judge.records.sweep_sample import SweepSample
from slownet.judge.records.sweep_samples import (
    ASIDE,
    HEADER,
    JOURNAL,
    RECORDS,
    SAMPLES,
    SCHEMA,
    parts,
    read_header,
    read_journal,
    read_line,
    stored_units,
    whole,
)
from slownet.model.errors import SweepError
from slownet.model.shapes import Json
from slownet.runner.sweep import tables
from slownet.runner.sweep.task import FREE_SPACE

LOCK = ".lock"
FULL = 5000
"""Samples in the journal that become a part."""


class Store:
    """A sweep's folder, open for writing by this process alone. Use it as a context manager.

    Raises SweepError if another process has it, if it is no store, or if it has another schema.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._open = contextlib.ExitStack()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock()
            self.header: dict[str, Json] = read_header(directory) if (directory / HEADER).exists() else {"schema": SCHEMA}
            self.done = stored_units(directory)
            self._recent = self._recovered()
            self.done |= {each["unit"] for each in self._recent}
            self._journal = self._open.enter_context(open(directory / JOURNAL, "ab", buffering=0))
        except OSError as error:
            self._open.close()
            raise SweepError(f"cannot write to {directory}, {error.strerror}", "--out", "name another folder") from error
        except BaseException:
            self._open.close()
            raise

    def _lock(self) -> None:
        lock = self._open.enter_context(open(self.directory / LOCK, "w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._open.close()
            raise SweepError(f"another sweep writes to {self.directory}", "--out", "wait for it, or name another") from error

    def _recovered(self) -> list[SweepSample]:
        """Return the journal without what a kill cut short, or what is in a part already."""
        path = self.directory / JOURNAL
        if not path.exists():
            return []
        lines = path.read_bytes().split(b"\n")
        whole = [each for line in lines[:-1] for each in read_line(line)]
        found = [each for each in whole if each["unit"] not in self.done]
        if lines[-1] or len(found) != len(whole):
            draft = path.with_suffix(".half")
            draft.write_bytes(_bytes(found))
            os.replace(draft, path)
        return found

    def describe(self, facts: Mapping[str, Json]) -> None:
        """Write sweep.json, with these facts in place of older ones."""
        self.header = {**self.header, **facts, "schema": SCHEMA}
        write_json(self.directory / HEADER, self.header)

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
        try:
            self._write(b"".join(_bytes(each) for each in new if each))
            self._recent += [each for boot in new for each in boot]
            self.done |= units
        except BaseException as error:
            with contextlib.suppress(OSError):
                self._journal.truncate(journal)
            del self._recent[recent:]
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

    def roll(self) -> None:
        """Make a part of the journal. A kill at any moment leaves the samples in one of the two, or in both.

        After an interrupt it can be made again.
        """
        known = stored_units(self.directory)
        self._recent = [each for each in self._recent if each["unit"] not in known]
        if not self._recent:
            self._journal.truncate(0)
            return
        last = [*parts(self.directory, SAMPLES)][-1:]
        name = f"part-{int(last[0].stem.removeprefix('part-')) + 1 if last else 1:06}.parquet"
        tables.write(tables.records(self._recent), self.directory / RECORDS / name)
        tables.write(tables.table(self._recent), self.directory / SAMPLES / name)
        self._journal.truncate(0)
        self._recent = []

    def set_aside(self, cell: Mapping[str, str], repetition: int, why: str) -> None:
        """Record a cell that could not be measured."""
        with open(self.directory / ASIDE, "a", encoding="utf-8") as file:
            file.write(json.dumps({"cell": dict(cell), "repetition": repetition, "why": why}) + "\n")

    def clear_failed(self) -> None:
        """Forget which cells failed or could not be measured, before they are tried again. Raises SweepError."""
        (self.directory / ASIDE).unlink(missing_ok=True)
        self.roll()
        tables.forget_failed(self.directory)
        self.done = stored_units(self.directory)

    def merge(self, other: Path) -> int:
        """Take over the samples of another sweep, and return how many units were new. Raises SweepError.

        What failed there is not taken over: it is measured here.
        """
        header = read_header(other)
        ours = self.header.get("circumstances", {}).get("experiment")
        if (theirs := header.get("circumstances", {}).get("experiment")) != ours:
            raise SweepError(f"{other} is a sweep of {theirs}, not of {ours}", "--merge", "merge sweeps of one experiment")
        boots: dict[str, list[SweepSample]] = {}
        for each in [*whole(other, with_output=True), *read_journal(other)]:
            boots.setdefault(each["unit"], []).append(each)
        return self.append([boot for boot in boots.values() if all(each["status"] == "ok" for each in boot)])

    def samples(self) -> Iterator[SweepSample]:
        """Yield everything measured so far."""
        yield from whole(self.directory)
        yield from self._recent

    def close(self) -> None:
        """Make the last part, give all parts one schema, and let others write."""
        with self._open:
            self.roll()
            tables.same_schema(self.directory)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind and issubclass(kind, SweepError):
            self._open.close()  # what made it fail, such as a full disk, would hold up the part too; the journal has all
        else:
            self.close()


def _bytes(samples: Sequence[SweepSample]) -> bytes:
    """Return a line of the journal; bytes of output that are not UTF-8 survive."""
    found = [
        {
            "key": tables.key(each), "unit": each["unit"], "sample": tables.record(each),
            "raw": {name: content.decode("utf-8", "surrogateescape") for name, content in each["output"].items()},
        }
        for each in samples
    ]  # fmt: skip
    return json.dumps(found, allow_nan=False).encode() + b"\n" if found else b""
