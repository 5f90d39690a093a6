"""The record of a field measurement: each page, the metrics, and field.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from slownet.errors import SlownetError
from slownet.field.request import Page
from slownet.records.result import RunData, gather
from slownet.tools.numbers import Metric, mean, metric, sample_sd

FILE = "field.json"
KIND = "field"
TIME, RTT, SERVER, WITHOUT_TLS = "time_per_request_ms", "connect_rtt_ms", "server_ms", "time_without_tls_ms"


@dataclass(frozen=True)
class Field:
    """A measurement of a service; ``facts`` holds its URL, and how it was measured."""

    facts: Mapping[str, Any]
    pages: tuple[Page, ...]
    error: str | None = None
    """Why it stopped early; None if it did not."""

    def metrics(self) -> dict[str, Metric]:
        """Return the metrics of `ab`, the connection's round trip, ``waiting_ms``, ``server_ms``, and with TLS its time.

        ``server_ms`` is the server's time to its first byte: ``waiting_ms`` without a round trip.
        """
        series = {
            TIME: [page.total_ms for page in self.pages],
            RTT: [page.connect_ms for page in self.pages],
            "waiting_ms": [page.waiting_ms for page in self.pages],
            SERVER: [page.waiting_ms - page.connect_ms for page in self.pages],
        }
        tls = [page.tls_ms for page in self.pages if page.tls_ms is not None]
        if tls:
            series["tls_ms"] = tls
            series[WITHOUT_TLS] = [total - part for total, part in zip(series[TIME], tls, strict=True)]
        found = {name: metric(mean(each), sample_sd(each), len(each), each, ordered=True) for name, each in series.items()}
        time, sd = found[TIME]["mean"], found[TIME]["sd"]
        if time > 0:  # as for ab, the deviation follows from the time's
            found["requests_per_second"] = metric(1000 / time, 1000 / time * sd / time, len(self.pages))
        return found

    @property
    def lengths(self) -> tuple[int, int]:
        """The sizes of the shortest and the longest page in bytes."""
        lengths = [page.length for page in self.pages]
        return min(lengths), max(lengths)

    def run(self) -> RunData:
        """Return the measurement as a run of one cell without conditions."""
        sample = {
            "experiment": self.facts["url"], "cell": {}, "condition": {}, "index": 0, "tool": KIND, "status": "ok",
            "error": None, "metrics": self.metrics(), "facts": {"document_length": self.pages[0].length},
        }  # fmt: skip
        return gather([sample], {"experiment": self.facts["url"]})

    def to_json(self) -> dict[str, Any]:
        """Return the content of field.json."""
        pages = [asdict(page) for page in self.pages]
        return {"kind": KIND, **self.facts, "error": self.error, "metrics": self.metrics(), "pages": pages}

    def write(self, directory: Path) -> Path:
        """Write field.json and return its path. Raises SlownetError."""
        path = directory / FILE
        try:
            path.write_text(json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
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
        record = json.loads(path.read_text(encoding="utf-8"))
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
    except (KeyError, TypeError):
        raise SlownetError(f"{path} is not a field measurement", fix="name a field.json that `slownet field` wrote") from None
    return found


def values(field: Field, name: str) -> Sequence[float]:
    """Return a metric's values in the order of measurement."""
    return tuple(field.metrics()[name]["values"])
