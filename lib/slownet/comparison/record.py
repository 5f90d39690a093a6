"""The record of a field measurement: each page, the metrics, and field.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from slownet.judge.records.result import RunData, gather
from slownet.judge.records.run_json import MALFORMED
from slownet.model import userfile
from slownet.model.errors import SlownetError
from slownet.model.sample import Sample
from slownet.model.shapes import Json
from slownet.model.whole_file import place
from slownet.tools.fetch import phases
from slownet.tools.numbers import Metric
from slownet.tools.web.request import Page

FILE = "field.json"
KIND = "field"


@dataclass(frozen=True)
class Field:
    """A measurement of a service; ``facts`` holds its URL, and how it was measured."""

    facts: Mapping[str, Json]
    pages: tuple[Page, ...]
    error: str | None = None
    """Why it stopped early; None if it did not."""

    def metrics(self) -> dict[str, Metric]:
        """Return the metrics of `slownet.tools.fetch.phases`."""
        return phases(self.pages)

    @property
    def lengths(self) -> tuple[int, int]:
        """The sizes of the shortest and the longest page in bytes."""
        lengths = [page.length for page in self.pages]
        return min(lengths), max(lengths)

    def run(self) -> RunData:
        """Return the measurement as a run of one cell without conditions."""
        sample: Sample = {
            "experiment": self.facts["url"], "cell": {}, "condition": {}, "index": 0, "tool": KIND, "status": "ok",
            "error": None, "metrics": self.metrics(), "facts": {"document_length": self.pages[0].length},
        }  # fmt: skip
        return gather([sample], {"experiment": self.facts["url"]})

    def to_json(self) -> dict[str, object]:
        """Return the content of field.json."""
        pages = [asdict(page) for page in self.pages]
        return {"kind": KIND, **self.facts, "error": self.error, "metrics": self.metrics(), "pages": pages}

    def write(self, directory: Path) -> Path:
        """Write field.json and return its path. Raises SlownetError."""
        path = directory / FILE
        try:
            place(path, (json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n").encode(), durable=True)
        except OSError as error:
            raise SlownetError(f"cannot write {FILE} ({error.strerror})", f"in {directory}") from error
        return path


def find(path: Path) -> Path | None:
    """Return the path of a field.json, given the file or its directory; None if it is neither."""
    if path.is_dir():
        return path / FILE if (path / FILE).is_file() else None
    return path if path.suffix == ".json" else None


def read(path: Path) -> Field:
    """Read a measurement from a file. Raises SlownetError."""
    try:
        record = userfile.json(userfile.read_text(path, userfile.MOST_RECORD))
    except OSError as error:
        raise SlownetError(f"cannot read {path}", error.strerror or "", "name a run or a field.json") from None
    except ValueError as error:
        raise SlownetError(f"{path} is not JSON ({error})", fix="name a field.json that `slownet field` wrote") from None
    try:
        pages = tuple(Page(**each) for each in record["pages"])
        facts = {name: value for name, value in record.items() if name not in ("kind", "error", "metrics", "pages")}
        if record["kind"] != KIND or not pages or "url" not in facts:
            raise KeyError
        found = Field(facts, pages, record["error"])
        found.metrics()
    except MALFORMED:
        raise SlownetError(f"{path} is not a field measurement", fix="name a field.json that `slownet field` wrote") from None
    return found


def values(field: Field, name: str) -> Sequence[float]:
    """Return a metric's values in the order of measurement."""
    return tuple(field.metrics()[name]["values"])
