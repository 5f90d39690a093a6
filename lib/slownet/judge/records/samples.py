"""Samples, written to disk one by one: one JSON object per line, safe against a kill at any moment.

Imported inside the lab, so standard library only. What a sample is: `slownet.model.sample.Sample`.

A boot that was killed and resumed was measured in several labs under the same number; "boots" in run.json names the last one.

Every line ends with two more keys, so that damage is found: "sum", a checksum of the line before that key, and "after", the sum
of the line before it, empty in the first one. run.json has the number of lines and the last sum as "samples".
The file is the host's: a lab sends its samples over its channel (`slownet.runner.booting`).
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from slownet.lab.run.outbox import Outbox, appending
from slownet.model import userfile
from slownet.model.errors import SlownetError
from slownet.model.facts import Facts, Seal
from slownet.model.sample import KEPT, Sample
from slownet.model.whole_file import place

SAMPLES = "samples.jsonl"
DAMAGED = "samples.damaged.jsonl"
"""The lines set aside when samples were added to a damaged file."""
RUN, SWEEP = "run.json", "sweep.json"
"""The files that identify the folder of a run and of a sweep."""
RAW = "raw"
SUM, AFTER = "sum", "after"
SUM_DIGITS = 32

MOST_DAMAGE = 5
"""Damaged lines that are named."""

_sorted = json.JSONEncoder(sort_keys=True).encode


def of_lab(name: str, lab: int) -> str:
    """Return the name of a lab's own file or folder in a run: ``name`` for the first lab, then ``name-2.suffix``."""
    stem, suffix = os.path.splitext(name)
    return name if lab == 1 else f"{stem}-{lab}{suffix}"


def cell_key(cell: Mapping[str, object]) -> str:
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
        raise _no_run_directory(error.strerror, root) from error
    raise SlownetError(f"{stem} and 999 more exist already", f"in {root}", "name another directory")


def need_place_for_runs(root: Path | str) -> None:
    """Raise SlownetError if no run directory can be made there, before something is measured that would be lost."""
    there = next(each for each in (Path(root).absolute(), *Path(root).absolute().parents) if each.exists())
    if not there.is_dir():
        raise _no_run_directory(os.strerror(errno.ENOTDIR), root)
    if not os.access(there, os.W_OK | os.X_OK):
        raise _no_run_directory(os.strerror(errno.EACCES), root)


def _no_run_directory(why: str | None, root: Path | str) -> SlownetError:
    return SlownetError(f"cannot make a run directory, {why}", f"in {root}", "work in a folder that you may write to")


def _not_written(what: str, error: OSError, where: Path | str) -> SlownetError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    why = f"{SAMPLES} is a link" if error.errno == errno.ELOOP else error.strerror
    fix = "free space" if full else "measure into another folder, or correct what is wrong with this one"
    return SlownetError(f"cannot write {what}, {why}", f"in {where}", fix)


def write_run_json(directory: Path | str, facts: Mapping[str, object]) -> Path:
    """Write ``run.json`` atomically; numbers that are not finite become null. Raises SlownetError."""
    return write_json(Path(directory) / RUN, facts)


def write_json(path: Path, facts: Mapping[str, object]) -> Path:
    """Write a JSON file atomically; numbers that are not finite become null. Raises SlownetError."""
    text = json.dumps(finite(facts), indent=1, allow_nan=False, default=str)
    try:
        place(path, (text + "\n").encode(), durable=True)
    except OSError as error:
        raise _not_written(path.name, error, path.parent) from error
    return path


def finite(value: Any) -> Any:
    """Copy a JSON value, with None instead of infinities and NaN, which JSON cannot represent."""
    if value is None or isinstance(value, str | int):  # most values; whether they are an abstract class's is dear to ask
        return value
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, Mapping):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return value


@dataclass
class Log:
    """The content of a file of samples: the good ones in the file's order, and a line for each damage."""

    samples: list[Sample] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    """The sum of each line."""

    @property
    def seal(self) -> Seal:
        """The record of the file in run.json, so that lines missing at its end are noticed."""
        return {"lines": len(self.sums), "sum": self.sums[-1] if self.sums else ""}

    @property
    def latest(self) -> list[Sample]:
        """The samples sorted by index. One that was taken again (same cell, same index) replaces the older one."""
        found = {(cell_key(each["cell"]), each["index"]): each for each in self.samples}
        return sorted(found.values(), key=lambda sample: int(sample["index"]))


def read_log(directory: Path | str, facts: Facts | None = None) -> Log:
    """Read the samples of a run, and check that they are whole.

    directory: the run's directory.
    facts: the contents of run.json, which knows how many lines there must be.
    """
    log = checked(_lines(Path(directory) / SAMPLES), SAMPLES, _parsed)
    sealed = facts.get("samples") if facts else None
    if isinstance(sealed, Mapping) and isinstance(sealed.get("lines"), int):
        _compare(log, sealed["lines"], str(sealed.get("sum")))
    if (more := len(log.damage) - MOST_DAMAGE) > 0:
        log.damage[MOST_DAMAGE:] = [f"{SAMPLES}: {more} more of its lines are damaged"]
    return log


def read_samples(directory: Path | str) -> list[Sample]:
    """Read the good samples of a run, sorted by index, those of the same index oldest first; see `Log`."""
    return read_log(directory).latest


def taken(directory: Path | str) -> set[tuple[str, int]]:
    """Return ``(cell_key(cell), index)`` of each successful sample, which need not be measured again."""
    samples = read_samples(directory)
    return {(cell_key(each["cell"]), each["index"]) for each in samples if each.get("status") == "ok"}


def _lines(path: Path) -> list[str]:
    try:
        return [line.removesuffix("\n") for line in userfile.record_lines(path) if line.strip()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SlownetError(f"cannot read {path.name}, {error.strerror}", f"in {path.parent}") from error


Parse = Callable[[str], Any]
"""Returns what a line holds; None if that is not what it should be."""


def checked(lines: Iterable[str], name: str, parse: Parse) -> Log:
    """Parse the lines of a file, and check the sum of each and its link to the one before."""
    log = Log()
    before: str | None = ""  # None after a line whose sum is not known
    is_sealed = False
    for number, line in enumerate(lines, 1):
        sample: Any = parse(line)
        found: str | None = sample.get(SUM) if sample else None
        if sample is None:
            log.damage.append(f"{name}: line {number} is cut short or no sample, and was left out")
        elif found is None and is_sealed:
            log.damage.append(f"{name}: line {number} has no checksum, and was left out")
        elif found is not None and not is_whole(line, str(found)):
            log.damage.append(f"{name}: line {number} was changed, and was left out")
        else:
            if found is not None and before is not None and sample.get(AFTER) != before:
                log.damage.append(f"{name}: lines are missing before line {number}, or are in another order")
            log.samples.append(cast(Sample, {key: value for key, value in sample.items() if key not in (SUM, AFTER)}))
            before = found or _sum(line)
            is_sealed = is_sealed or found is not None
            log.sums.append(before)
            continue
        before = None
        log.sums.append(str(found or _sum(line)))
    return log


def is_whole(line: str, found: str) -> bool:
    """Return True if that sum is the line's."""
    text = line.rpartition(f', "{SUM}": ')[0]
    return found == _sum(text) and line == f'{text}, "{SUM}": "{found}"}}'


def sealed_line(facts: Mapping[str, object], before: str) -> tuple[str, str]:
    """Return the line of a record that comes after a line with that sum, and its own sum. Raises ValueError."""
    text = json.dumps({**facts, AFTER: before}, allow_nan=False)[:-1]
    own = _sum(text)
    return f'{text}, "{SUM}": "{own}"}}', own


def _parsed(line: str) -> Sample | None:
    try:
        sample = userfile.json(line)
        KEPT(sample, "a sample")
    except (ValueError, RecursionError):  # a ShapeError is a ValueError
        return None
    return cast(Sample, sample)


def _compare(log: Log, lines: int, last: str) -> None:
    """Add what run.json knows of the file's end; the file may have more lines, if the run was killed before they were noted."""
    if len(log.sums) < lines:
        missing = lines - len(log.sums)
        log.damage.append(f"{SAMPLES}: {'the last line is' if missing == 1 else f'the last {missing} lines are'} missing")
    elif lines and log.sums[lines - 1] != last and not log.damage:
        log.damage.append(f"{SAMPLES}: line {lines} is not the one that {RUN} knows")


def _sum(text: str) -> str:
    import hashlib  # loads OpenSSL, which is not needed when this module is imported inside a lab

    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:SUM_DIGITS]


class Raw:
    """The folder of a run where a lab of the place keeps the output of tools."""

    def __init__(self, directory: Path | str, lab: int = 1) -> None:
        self._folder = Path(directory) / of_lab(RAW, lab)

    def keep(self, name: str, content: str | bytes) -> str:
        """Write a tool's raw output to ``raw/<name>``, and return that path relative to the run directory.

        Nothing is overwritten: if the name exists, ``-2``, ``-3``... is inserted before its suffix.
        """
        if Path(name).name != name or name in ("", ".", ".."):
            raise SlownetError(f"'{name}' is not a plain file name", f"in {self._folder}")
        stem, suffix = os.path.splitext(name)
        path, number = self._folder / name, 1
        while True:
            try:
                with open(path, "xb") as file:
                    file.write(content if isinstance(content, bytes) else content.encode(errors="surrogateescape"))
                return f"{self._folder.name}/{path.name}"
            except FileExistsError:
                number += 1
                path = path.with_name(f"{stem}-{number}{suffix}")
            except OSError as error:
                raise _not_written("raw output", error, path) from error


class RawOutput:
    """The tools' output that the place kept, which the host reads without trusting it or following links."""

    def __init__(self, directory: Path | str) -> None:
        self._directory = Path(directory)

    def read(self, path: str) -> bytes:
        """Return the content of a file that a sample names: ``raw/<name>``, ``raw-2/<name>``... Raises RefusedError."""
        folder, _, name = path.partition("/")
        if not re.fullmatch(rf"{RAW}(-[1-9]\d?)?", folder):
            folder, name = RAW, path
        return Outbox(self._directory / folder).read(name)

    def text(self, path: str) -> str:
        """Return its text, with replacement characters for what is not UTF-8. Raises RefusedError."""
        return self.read(path).decode(errors="replace")


class SampleLog:
    """The log of samples of a run directory; each sample is on disk before the next one is added.

    Use it as a context manager, or call ``close()``. A damaged file is set aside first, as `DAMAGED`; its good lines are kept.
    """

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        path = self.directory / SAMPLES
        self._raw = Raw(directory)
        try:
            (self.directory / RAW).mkdir(parents=True, exist_ok=True)
            self._log = Log()
            lines = _lines(path)
            old = read_log(directory)
            if old.damage:
                os.replace(path, _unused(self.directory / DAMAGED))
                lines = self._sealed(old.latest)
                place(path, "".join(f"{line}\n" for line in lines).encode(), durable=True)
            self._log = checked(lines, SAMPLES, _parsed)
            self._file = appending(path)
            if lines and not _ends(path):
                self._file.write(b"\n")
        except OSError as error:
            raise _not_written("samples", error, directory) from error

    @property
    def seal(self) -> Seal:
        """The record of the file for run.json: see `Log.seal`."""
        return self._log.seal

    def append(self, sample: Sample) -> None:
        """Append one sample; it is on disk when this returns."""
        line, own = self._line(sample, self._log.sums[-1] if self._log.sums else "")
        try:
            self._file.write(f"{line}\n".encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _not_written("samples", error, self.directory) from error
        self._log.sums.append(own)

    def raw(self, name: str, content: str | bytes) -> str:
        """Keep a tool's raw output: see `Raw.keep`."""
        return self._raw.keep(name, content)

    def _sealed(self, samples: Iterable[Sample]) -> list[str]:
        lines, before = [], ""
        for sample in samples:
            line, before = self._line(sample, before)
            lines.append(line)
        return lines

    def _line(self, sample: Sample, before: str) -> tuple[str, str]:
        """Return the line of a sample that comes after a line with that sum, and its own sum."""
        if "cell" not in sample or "index" not in sample:
            raise SlownetError("a sample needs 'cell' and 'index'", f"in {self.directory}")
        try:
            return sealed_line(sample, before)
        except ValueError as error:
            what = f"sample {sample['index']} holds a number that is not finite"
            raise SlownetError(what, f"in {self.directory}", "its raw output is kept") from error

    def close(self) -> None:
        """Close the file; the samples are on disk already."""
        self._file.close()

    def __enter__(self) -> SampleLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _ends(path: Path) -> bool:
    """Return whether the last line of a file has its end."""
    with userfile.opened_record(path) as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _unused(path: Path) -> Path:
    """Return the path, or with -2, -3... before its suffix if it exists."""
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found
