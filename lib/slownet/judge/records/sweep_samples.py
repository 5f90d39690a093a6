"""Reads what a sweep or a hunt stored: its samples, each once, also while it is measured or after it was killed.

`slownet.runner.boot_store.sweep_store` writes it, and describes the files. All of them have sums: sweep.json its own and those
of the parts, the lines of the journal and of what was set aside each its own and that of the line before. What is damaged or
missing is left out and named, as in a run.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.parquet as pq

from slownet.judge.records import samples as run_samples
from slownet.judge.records.condition_columns import NONE
from slownet.judge.records.result import RunData, gather
from slownet.judge.records.rows import SweepSample
from slownet.judge.records.run_json import MALFORMED
from slownet.judge.records.samples import AFTER, SUM, SWEEP, Log
from slownet.model import shapes, userfile
from slownet.model.errors import DamageWarning, SweepError
from slownet.model.facts import SHAPE as FACTS
from slownet.model.sample import KEPT, Sample
from slownet.model.shapes import Json, anything, mapping, record, text, whole

SCHEMA = 2
HEADER, JOURNAL, ASIDE = SWEEP, "journal.jsonl", "aside.jsonl"

SAMPLES, RECORDS = "samples", "records"
"""The folders of the parts. DuckDB, polars and pandas open them as they are: ``FROM 'OUT/samples/*.parquet'``."""
FILES = "files"
"""In sweep.json: the SHA-256 of each part, and of a hunt's examples; two while one takes the place of the other."""
MOST_PART = 2**30
"""Bytes of a part, packed; and `MOST_ROWS` and `MOST_TEXT` of what is in it, which a few bytes may unfold to."""
MOST_ROWS = 1_000_000
MOST_TEXT = 2**28
ROWS = 32
"""Rows of a part that are unpacked at a time."""
_TYPES = {"unit": pa.string(), "status": pa.string(), "record": pa.string(), "raw": pa.map_(pa.string(), pa.binary())}
AGAIN = 3
"""The number of attempts to read the folder of a running sweep."""
_NAME = re.compile(rf"({SAMPLES}|{RECORDS})/part-\d{{6,9}}\.parquet|[a-z]+\.(toml|jsonl)")
_SEAL = re.compile(rb',\n "sum": "([0-9a-f]{64})"\n}\n')
_WHOLE_LINE = re.compile(r'"sum": "[0-9a-f]{32}"\}')
RESTORE = "restore it, or sweep into a new folder"


class Aside(TypedDict):
    """A cell that could not be measured in a boot, and why."""

    cell: dict[str, str]
    repetition: int
    why: str


@dataclass
class Found:
    """The contents of a sweep's folder, without damaged parts: a line of `damage` for each thing."""

    header: dict[str, Json]
    parts: list[str] = field(default_factory=list)
    """The names of the parts whose records are whole."""
    unlisted: list[str] = field(default_factory=list)
    """Parts that sweep.json does not name: a kill came before that, and the journal has their samples."""
    broken: list[str] = field(default_factory=list)
    """Files of parts that are missing or not what was written, as ``samples/NAME``."""
    journal: Log = field(default_factory=Log)
    aside: Log = field(default_factory=Log)
    damage: list[str] = field(default_factory=list)

    @property
    def recent(self) -> list[SweepSample]:
        """The samples of the journal."""
        lines: list[Any] = list(self.journal.samples)
        return [_sample(each) for line in lines for each in line["samples"]]


def sealed(facts: Mapping[str, object]) -> bytes:
    """Return the content of sweep.json with the sum of itself at its end. Raises ValueError for what is not JSON."""
    body = json.dumps(run_samples.finite(facts), indent=1, allow_nan=False, default=str).encode().removesuffix(b"\n}")
    return body + f',\n "{SUM}": "{hashlib.sha256(body).hexdigest()}"\n}}\n'.encode()


def read_header(directory: Path) -> dict[str, Json]:
    """Return the contents of a store's sweep.json. Raises SweepError, also if it was changed."""
    path = directory / HEADER
    try:
        content = userfile.read_bytes(path, userfile.MOST_RECORD)
        found = userfile.json(content)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SweepError(f"{directory} is not a sweep", fix=f"name a folder with a {HEADER}") from error
    except (OSError, ValueError) as error:
        raise SweepError(f"cannot read {path}: {userfile.reason(error)}", fix=RESTORE) from error
    if not isinstance(found, dict) or (SUM not in found and found.get("schema") != SCHEMA):
        version = found.get("schema") if isinstance(found, dict) else None
        raise SweepError(
            f"{directory} has schema {version!s:.20}, this version writes {SCHEMA}",
            fix="use the version that wrote it, or a new folder",
        )
    end = _SEAL.search(content, max(0, len(content) - 100))
    if not end or end.end() != len(content) or hashlib.sha256(content[: end.start()]).hexdigest() != end[1].decode():
        raise SweepError(f"{path} was changed: its sum is wrong", fix=RESTORE)
    if found.get("schema") != SCHEMA:
        what = f"{directory} has schema {found.get('schema')!s:.20}, this version writes {SCHEMA}"
        raise SweepError(what, fix="use the version that wrote it, or a new folder")
    try:
        _SHAPE(found, HEADER)
    except ValueError as error:
        raise SweepError(f"cannot read {path}: {error}", fix=RESTORE) from error
    if odd := next((each for each in found.get(FILES) or {} if not _NAME.fullmatch(each)), None):
        raise SweepError(f"cannot read {path}: {odd!r:.60} is the name of none of its files", fix=RESTORE)
    found.pop(SUM)
    return found


_TEXTS = mapping(text())
_SHAPE = shapes.late(
    lambda: record(
        {"schema": whole()},
        {
            "facts": FACTS,
            "circumstances": mapping(anything),
            "spec": mapping(anything),
            "hunt": record({}, {"examples": whole(), "seed": whole(-(2**63), 2**63)}, others=anything),
            "verdicts": _TEXTS,
            "flips": shapes.each(anything),
            FILES: mapping(shapes.each(text(64), 2)),
            ASIDE: record({"lines": whole(), "sum": text(64)}),
            SUM: text(64),
        },
        others=anything,
    )
)


def look(directory: Path) -> Found:
    """Read sweep.json, the journal and what was set aside, and check the sums of the parts.

    Raises SweepError for a sweep.json that cannot be used, or a file that cannot be read at all.
    """
    for _ in range(AGAIN):
        found = _look(directory)
        if not found.damage or read_header(directory) == found.header:
            break  # else a sweep is at work there, and had replaced what was read next
    return found


def _look(directory: Path) -> Found:
    found = Found(read_header(directory))
    known: Mapping[str, Sequence[str]] = found.header.get(FILES) or {}
    for name, sums in sorted(known.items()):
        wrong = _wrong(directory / name, sums)
        if wrong:
            found.broken.append(name)
            found.damage.append(f"{name} {wrong}")
    names = sorted({name.partition("/")[2] for name in known if name.startswith((f"{SAMPLES}/", f"{RECORDS}/"))})
    found.parts = [each for each in names if f"{RECORDS}/{each}" in known and f"{RECORDS}/{each}" not in found.broken]
    there = {each.name for folder in (SAMPLES, RECORDS) for each in parts(directory, folder)}
    found.unlisted = sorted(there - set(names))
    found.journal, found.aside = _journal(directory), _aside(directory, found.header)
    found.damage += [*found.journal.damage, *found.aside.damage]
    if found.unlisted and not found.journal.sums:
        found.damage += [f"{SAMPLES}/{each} is not one of its parts, and was left out" for each in found.unlisted]
    return found


def _wrong(path: Path, sums: Sequence[str]) -> str:
    try:
        return "" if sum_of(path) in sums else "was changed"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({userfile.reason(error)})"


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a part's content. Raises OSError, also for what is larger than a part can be."""
    digest, left = hashlib.sha256(), MOST_PART
    with userfile.opened(path) as file:
        while piece := file.read(userfile.MEBIBYTE):
            digest.update(piece)
            if (left := left - len(piece)) < 0:
                raise OSError(27, "it is too large")
    return digest.hexdigest()


def _journal(directory: Path) -> Log:
    return _lines(directory, JOURNAL, _of(_JOURNAL_SHAPE))


def _aside(directory: Path, header: Mapping[str, Json]) -> Log:
    log = _lines(directory, ASIDE, _of(_ASIDE_SHAPE), must_be=False)
    known = header.get(ASIDE) or {"lines": 0, "sum": ""}
    if (missing := known["lines"] - len(log.sums)) > 0:
        log.damage.append(f"{ASIDE}: {'the last line is' if missing == 1 else f'the last {missing} lines are'} missing")
    elif known["lines"] and log.sums[known["lines"] - 1] != known["sum"] and not log.damage:
        log.damage.append(f"{ASIDE}: line {known['lines']} is not the one that {HEADER} knows")
    return log


def _lines(directory: Path, name: str, parse: run_samples.Parse, must_be: bool = True) -> Log:
    """Read a log of the store, without what a kill cut short at its end."""
    try:
        lines = list(userfile.record_lines(directory / name))
    except FileNotFoundError:
        return Log(damage=[f"{name} is missing"] if must_be else [])
    except OSError as error:
        raise SweepError(f"cannot read {directory / name}: {userfile.reason(error)}", fix=RESTORE) from error
    if lines and not lines[-1].endswith("\n") and not _WHOLE_LINE.search(lines[-1]):
        del lines[-1]
    return run_samples.checked([each.removesuffix("\n") for each in lines], name, parse)


def _of(shape: shapes.Shape) -> run_samples.Parse:
    def parse(line: str) -> Any:
        try:
            found = userfile.json(line)
            shape(found, "a line")
        except (ValueError, RecursionError):
            return None
        return found

    return parse


_JOURNAL_SHAPE = shapes.late(
    lambda: record(
        {
            "samples": shapes.each(record({"unit": text(), "sample": KEPT, "raw": mapping(_output)}, {"key": text()})),
            AFTER: text(),
            SUM: text(),
        }
    )
)
_ASIDE_SHAPE = shapes.late(lambda: record({"cell": _TEXTS, "repetition": whole(), "why": text(), AFTER: text(), SUM: text()}))


def _output(value: Any, where: str) -> None:
    """A tool's output; bytes that are not UTF-8 are surrogates."""
    if not isinstance(value, str):
        raise shapes.ShapeError(f"{where} is not a text")


def read_aside(directory: Path) -> list[Aside]:
    """Return the cells that could not be measured. Raises SweepError."""
    return asides(look(directory))


def asides(found: Found) -> list[Aside]:
    """Return the cells that could not be measured."""
    lines: list[Any] = list(found.aside.samples)
    return [Aside(cell=each["cell"], repetition=each["repetition"], why=each["why"]) for each in lines]


def read_samples(directory: Path, with_output: bool = False) -> list[SweepSample]:
    """Return all samples of a sweep, also of one that was killed, each once. Raises SweepError.

    with_output: whether to read the tools' output, too. What is damaged is left out, with a `DamageWarning`.
    """
    return _samples(directory, with_output)[1]


def _samples(directory: Path, with_output: bool = False) -> tuple[Found, list[SweepSample]]:
    for _ in range(AGAIN):
        found = look(directory)
        stored = list(whole_samples(directory, found, with_output))
        if read_header(directory).get(FILES) == found.header.get(FILES):
            break  # else what was in the journal has become a part meanwhile
    for line in found.damage:
        warnings.warn(f"{line}, in {directory}", DamageWarning, stacklevel=3)
    known = {each["unit"] for each in stored}
    return found, stored + [each for each in found.recent if each["unit"] not in known]


def load(directory: Path) -> RunData:
    """Return what a sweep or a hunt measured as a run, whose cells are sorted by their conditions. Raises SweepError.

    What is damaged or missing is left out, with a `DamageWarning`, and named by `RunData.damage`.
    """
    found, stored = _samples(directory)
    try:
        run = gather(sorted(stored, key=_order), found.header.get("facts") or {}, directory)
    except MALFORMED as error:
        raise SweepError(f"cannot read the samples of {directory} ({type(error).__name__}: {error})", fix=RESTORE) from error
    return replace(run, damage=tuple(found.damage))


def _order(sample: Sample) -> tuple[object, ...]:
    """Order samples by their conditions, numbers before none and none before texts, then as they were measured."""
    conditions = [(isinstance(each, str), each != NONE, each) for each in sample.get("condition", {}).values()]
    return (conditions, sample.get("boot", 1), sample.get("block", 1))


def _sample(record: Mapping[str, Json]) -> SweepSample:
    sample: SweepSample = record["sample"]
    output = {name: text.encode("utf-8", "surrogateescape") for name, text in record["raw"].items()}
    return {**sample, "unit": record["unit"], "output": output}


def parts(directory: Path, folder: str) -> list[Path]:
    """Return the parts of a store, in order."""
    return sorted((directory / folder).glob("part-*.parquet"))


def units(directory: Path, found: Found) -> set[str]:
    """Return the keys of the units whose samples are in the parts. Raises SweepError."""
    return {each for name in found.parts for each in _units(directory, found, name)}


def _units(directory: Path, found: Found, name: str) -> list[str]:
    """Return the units of a part: those of its rows, as long as they are whole, for a kill may have left more records."""
    folder = RECORDS if f"{SAMPLES}/{name}" in found.broken else SAMPLES
    return [each["unit"] for each in rows(directory / folder / name, ["unit"])]


def whole_samples(directory: Path, found: Found, with_output: bool = False) -> Iterator[SweepSample]:
    """Yield the samples of the parts that are whole. Raises SweepError.

    with_output: whether to read the tools' output, too.
    """
    columns = ["unit", "record", *(["raw"] if with_output else [])]
    for name in found.parts:
        counted = set(_units(directory, found, name))
        for each in rows(directory / RECORDS / name, columns):
            if each["unit"] in counted:
                yield _of_record(each, directory / RECORDS / name, with_output)


def _of_record(row: Mapping[str, Any], path: Path, with_output: bool) -> SweepSample:
    try:
        found: SweepSample = userfile.json(row["record"])
        KEPT(found, "a record")
        found["unit"] = row["unit"]
        return {**found, "output": dict(row["raw"])} if with_output else found
    except MALFORMED as error:
        raise SweepError(f"cannot read {path}: {error!s:.120}", fix=RESTORE) from error


def rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part, of which a few are unpacked at a time. Raises SweepError."""
    left = MOST_TEXT
    try:
        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows > MOST_ROWS:
                raise SweepError(f"cannot read {path}: it has {file.metadata.num_rows:,} rows", fix=RESTORE)
            groups = (file.metadata.row_group(each) for each in range(file.metadata.num_row_groups))
            if sum(each.total_byte_size for each in groups) > MOST_TEXT:
                raise SweepError(f"cannot read {path}: it unfolds to more than {MOST_TEXT:,} bytes", fix=RESTORE)
            known = {each.name: each.type for each in file.schema_arrow}
            if wrong := [each for each in columns if known.get(each) != _TYPES[each]]:
                what = f"its column '{wrong[0]}' is {known.get(wrong[0], 'missing')!s:.40}"
                raise SweepError(f"cannot read {path}: {what}", fix=RESTORE)
            for batch in file.iter_batches(batch_size=ROWS, columns=list(columns)):
                if (left := left - batch.nbytes) < 0:
                    raise SweepError(f"cannot read {path}: it unfolds to more than {MOST_TEXT:,} bytes", fix=RESTORE)
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise _unreadable(path, error) from error


def part(path: Path) -> Any:
    """Return a part's table. Raises SweepError."""
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException, KeyError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> SweepError:
    said = " ".join(str(error).split()).partition(". ")[0][:120]
    why = "No such file or directory" if isinstance(error, FileNotFoundError) else said
    return SweepError(f"cannot read {path}: {why}", fix=RESTORE)
