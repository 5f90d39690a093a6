"""Samples on disk as they come: one JSON object per line, safe against a kill at any moment.

Imported inside the lab, so standard library only. A sample is a dict with the keys::

    experiment, cell {"rtt": "10ms"}, condition {"rtt_ms": 10.0}, index (its place in the plan), tool,
    status "ok" or "failed", error (a line or None), metrics {name: {"mean", "sd", "n",
    and where known "values" [single ones], "ordered" true if they stand in time's order or "groups" [how many] if only
    consecutive groups of them do and the order within one is not known, or "steps" [[value, how many are
    up to there]]; a percentile that a tool printed has "sd" None, "percent" and "of", the metric that has its values; another
    single number has "sd" None, and "step" where it is rounded}},
    verified_rtt_ms, unverified [the links that were set and that no ping could verify, each with the reason],
    raw [paths in the run directory], virtual_s, wall_s, facts {name: value},
    counters {link: {"up" or "down": {counter: number}}}, captures [{"file", "interface", "packets", "dropped"}],
    rate_bit_s (the highest that a link was told, or None), lab (which of those side by side measured it, from 1),
    boot (the repetition, a fresh lab or network, from 1), block (which call of the measuring function in this cell and boot,
    from 1), random (whether a link's condition drew by chance), seeds (what such links were told, in order, one a condition:
    the second direction's is 1 more; empty where the kernel took a number of its own), charged_s (seconds of CPU that the
    lab's clock charged meanwhile, or None)

A boot that was killed and continued was measured in several labs under its one number; run.json's "boots" name the last one.

Labs side by side write a file each, the first one ``samples.jsonl``: what one kernel has appended to a shared file another
does not see. `collect` puts them together afterwards.
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
    """What a file or a folder of a run is called that each lab has for itself: the first one's name, or ``name-2.suffix``."""
    stem, suffix = os.path.splitext(name)
    return name if lab == 1 else f"{stem}-{lab}{suffix}"


def cell_key(cell: Mapping[str, Any]) -> str:
    """One string per cell, the same whatever the order of its names."""
    return _sorted(cell)


def new_run_directory(root: Path | str, name: str) -> Path:
    """Make ``root/<YYYYmmdd-HHMMSS>-<name>`` and return it; ``-2``, ``-3``... keep it unique."""
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
    raise SlownetError(f"{stem} and 999 more are there already", f"in {root}", "name another directory")


def write_run_json(directory: Path | str, facts: Mapping[str, Any]) -> Path:
    """Write ``run.json`` whole or not at all; numbers that are not finite become null."""
    return write_json(Path(directory) / RUN, facts)


def write_json(path: Path, facts: Mapping[str, Any]) -> Path:
    """Write a JSON file whole or not at all; numbers that are not finite become null. Raises SlownetError."""
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
    """A copy of a JSON value in which infinities and NaN are None, which JSON can hold."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, Mapping):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return value


def read_samples(directory: Path | str) -> list[Sample]:
    """The samples of a run, in the order of their indices, those of the same index oldest first.

    A line that a kill cut short is skipped with a warning. A sample that was taken again (same cell,
    same index) replaces the older one, in the older one's place.
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
    """What need not be measured again: ``(cell_key(cell), index)`` of each sample that is ok."""
    samples = read_samples(directory)
    return {(cell_key(each["cell"]), each["index"]) for each in samples if each.get("status") == "ok"}


def collect(directory: Path | str) -> None:
    """Append what labs side by side have written to ``samples.jsonl``, once they have ended. A kill loses nothing."""
    parts = _of_others(Path(directory))
    if not parts:
        return
    with SampleLog(directory) as log:
        for part in parts:
            log.take_over(part)
            part.unlink()


def _of_others(directory: Path) -> list[Path]:
    """The files of the labs beside the first one."""
    stem, suffix = os.path.splitext(SAMPLES)
    return sorted(directory.glob(f"{stem}-*{suffix}"))


class SampleLog:
    """The samples of one run directory, or of one ``lab`` in it, each on disk before the next is measured.

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
        """Add one sample; when this returns, it is on disk."""
        if "cell" not in sample or "index" not in sample:
            raise SlownetError("a sample needs 'cell' and 'index'", f"in {self.directory}")
        try:
            line = json.dumps(sample, allow_nan=False)
        except ValueError as error:
            what = f"sample {sample['index']} holds a number that is not finite"
            raise SlownetError(what, f"in {self.directory}", "its raw output is kept") from error
        self._write(line)

    def take_over(self, part: Path) -> None:
        """Add the samples of another file; when this returns, they are on disk."""
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
        """Keep a tool's raw output, a text or bytes, as ``raw/<name>``; return that path, relative to the run directory.

        Nothing is overwritten: if the name is taken, ``-2``, ``-3``... goes before its suffix.
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
    """Whether a kill left a last line without its end."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            if file.tell() == 0:
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except FileNotFoundError:
        return False
