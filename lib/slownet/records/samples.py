"""Samples, written to disk one by one: one JSON object per line, safe against a kill at any moment.

Imported inside the lab, so standard library only. A sample is a dict with the keys::

    experiment, cell {"rtt": "10ms"}, condition {"rtt_ms": 10.0}, index (position in the plan), tool,
    status "ok" or "failed", error (a line or None), metrics {name: {"mean", "sd", "n",
    and if known "values" [single values], with "ordered" true if they are in time order, or "groups" [sizes] if they are
    consecutive groups with unknown order within each; or "steps" [[value, number of values up to it]]; "step" if the mean was
    rounded to multiples of it; a percentile that a tool printed has "sd" None, "percent" and "of", the metric with its values;
    another single number has "sd" None}},
    verified_rtt_ms, unverified [configured links that no ping could verify, each with the reason],
    raw [paths in the run directory], virtual_s, wall_s, facts {name: value},
    links {link: its conditions in words, without those that have none},
    counters {link: {"up" or "down": {counter: number}}}, captures [{"file", "interface", "packets", "dropped"}],
    rate_bit_s (the highest rate configured on a link, or None), lab (which of the parallel labs measured it, from 1),
    boot (the repetition, a fresh lab or network, from 1), block (the number of the call of the measuring function in this cell
    and boot, from 1), random (whether a link's condition is random), seeds (those of the random links, in order, one per
    condition: the second direction has 1 more; empty if the kernel chose them), charged_s (seconds of CPU that the lab's clock
    charged meanwhile, or None)

A boot that was killed and resumed was measured in several labs under the same number; "boots" in run.json names the last one.

Parallel labs write one file each, the first one ``samples.jsonl``, because a kernel does not see what another one has appended
to a shared file. `collect` merges them afterwards.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from slownet.errors import SlownetError

SAMPLES = "samples.jsonl"
RUN = "run.json"
RAW = "raw"

Sample = dict[str, Any]
_sorted = json.JSONEncoder(sort_keys=True).encode


def of_lab(name: str, lab: int) -> str:
    """Return the name of a lab's own file or folder in a run: ``name`` for the first lab, then ``name-2.suffix``."""
    stem, suffix = os.path.splitext(name)
    return name if lab == 1 else f"{stem}-{lab}{suffix}"


def cell_key(cell: Mapping[str, Any]) -> str:
    """Return a string that identifies a cell, independent of the order of its conditions."""
    return _sorted(cell)


def new_run_directory(root: Path | str, name: str) -> Path:
    """Make ``root/<YYYYmmdd-HHMMSS>-<name>`` and return it; ``-2``, ``-3``... make it unique."""
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{name}"
    try:
        Path(root).mkdir(parents=True, exist_ok=True)
        for number in range(1, 1000):
            directory = Path(root) / (stem if number == 1 else f"{stem}-{number}")
            try:
                directory.mkdir()
            except FileExistsError:
                continue
            return directory
    except OSError as error:
        raise SlownetError(f"cannot make a run directory, {error.strerror}", f"in {root}") from error
    raise SlownetError(f"{stem} and 999 more exist already", f"in {root}", "name another directory")


def write_run_json(directory: Path | str, facts: Mapping[str, Any]) -> Path:
    """Write ``run.json`` atomically; numbers that are not finite become null. Raises SlownetError."""
    return write_json(Path(directory) / RUN, facts)


def write_json(path: Path, facts: Mapping[str, Any]) -> Path:
    """Write a JSON file atomically; numbers that are not finite become null. Raises SlownetError."""
    draft = path.with_suffix(".json.part")
    text = json.dumps(finite(facts), indent=1, allow_nan=False, default=str)
    try:
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise SlownetError(f"cannot write {path.name}, {error.strerror}", f"in {path.parent}") from error
    return path


def finite(value: Any) -> Any:
    """Copy a JSON value, with None instead of infinities and NaN, which JSON cannot represent."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, Mapping):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return value


def read_samples(directory: Path | str) -> list[Sample]:
    """Read the samples of a run, sorted by index, those of the same index oldest first.

    A line that a kill cut short is skipped with a warning. A sample that was taken again (same cell, same index) replaces the
    older one at its position.
    """
    latest: dict[tuple[str, int], Sample] = {}
    first = Path(directory) / SAMPLES
    for path in [*([first] if first.exists() else []), *_of_others(Path(directory))]:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            if not line.strip():
                continue
            try:
                sample = json.loads(line)
                latest[cell_key(sample["cell"]), sample["index"]] = sample
            except (ValueError, KeyError, TypeError):
                warnings.warn(f"{path}:{number} is cut short and was skipped", stacklevel=2)
    return sorted(latest.values(), key=lambda sample: int(sample["index"]))


def taken(directory: Path | str) -> set[tuple[str, int]]:
    """Return ``(cell_key(cell), index)`` of each successful sample, which need not be measured again."""
    samples = read_samples(directory)
    return {(cell_key(each["cell"]), each["index"]) for each in samples if each.get("status") == "ok"}


def collect(directory: Path | str) -> None:
    """Append the samples of parallel labs to ``samples.jsonl``, once the labs have ended. A kill loses nothing."""
    parts = _of_others(Path(directory))
    if not parts:
        return
    with SampleLog(directory) as log:
        for part in parts:
            log.take_over(part)
            part.unlink()


def _of_others(directory: Path) -> list[Path]:
    """Return the files of all labs but the first."""
    stem, suffix = os.path.splitext(SAMPLES)
    return sorted(directory.glob(f"{stem}-*{suffix}"))


class SampleLog:
    """The log of samples of a run directory, or of one ``lab`` in it; each sample is on disk before the next is measured.

    Use it as a context manager, or call ``close()``.
    """

    def __init__(self, directory: Path | str, lab: int = 1) -> None:
        self.directory = Path(directory)
        path = self.directory / of_lab(SAMPLES, lab)
        try:
            (self.directory / RAW).mkdir(parents=True, exist_ok=True)
            torn = _is_torn(path)
            self._file = open(path, "a", encoding="utf-8")
            if torn:
                self._file.write("\n")
        except OSError as error:
            raise SlownetError(f"cannot write samples, {error.strerror}", f"in {directory}") from error

    def append(self, sample: Mapping[str, Any]) -> None:
        """Append one sample; it is on disk when this returns."""
        if "cell" not in sample or "index" not in sample:
            raise SlownetError("a sample needs 'cell' and 'index'", f"in {self.directory}")
        try:
            line = json.dumps(sample, allow_nan=False)
        except ValueError as error:
            what = f"sample {sample['index']} holds a number that is not finite"
            raise SlownetError(what, f"in {self.directory}", "its raw output is kept") from error
        self._write(line)

    def take_over(self, part: Path) -> None:
        """Append the samples of another file; they are on disk when this returns."""
        for line in part.read_text(encoding="utf-8", errors="replace").splitlines():
            self._write(line)

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise SlownetError(f"cannot write samples, {error.strerror}", f"in {self.directory}") from error

    def raw(self, name: str, content: str | bytes) -> str:
        """Write a tool's raw output to ``raw/<name>``, and return that path relative to the run directory.

        Nothing is overwritten: if the name exists, ``-2``, ``-3``... is inserted before its suffix.
        """
        if Path(name).name != name or name in ("", ".", ".."):
            raise SlownetError(f"'{name}' is not a plain file name", f"in {self.directory / RAW}")
        stem, suffix = os.path.splitext(name)
        path, number = self.directory / RAW / name, 1
        while True:
            try:
                with open(path, "xb") as file:
                    file.write(content if isinstance(content, bytes) else content.encode(errors="surrogateescape"))
                return f"{RAW}/{path.name}"
            except FileExistsError:
                number += 1
                path = path.with_name(f"{stem}-{number}{suffix}")
            except OSError as error:
                raise SlownetError(f"cannot keep raw output, {error.strerror}", str(path)) from error

    def close(self) -> None:
        """Close the file; the samples are on disk already."""
        self._file.close()

    def __enter__(self) -> SampleLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _is_torn(path: Path) -> bool:
    """Return whether a kill left an incomplete last line."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            if file.tell() == 0:
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except FileNotFoundError:
        return False
