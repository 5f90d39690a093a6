"""What was measured in the field: the pages one by one, their metrics, and field.json."""

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
    """A measurement of a service; ``facts`` say of which, from where and how."""

    facts: Mapping[str, Any]
    pages: tuple[Page, ...]
    error: str | None = None
    """Why it broke off, None if it did not."""

    def metrics(self) -> dict[str, Metric]:
        """As `ab`'s, with the connection's round trip and ``server_ms``, what the server takes to its first byte beyond a
        round trip; with TLS also its share."""
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
        if time > 0:  # as in ab: the deviation follows from the time's
            found["requests_per_second"] = metric(1000 / time, 1000 / time * sd / time, len(self.pages))
        return found

    @property
    def lengths(self) -> tuple[int, int]:
        """Bytes of the shortest and of the longest page."""
        lengths = [page.length for page in self.pages]
        return min(lengths), max(lengths)

    def run(self) -> RunData:
        """The measurement as a run of one cell without conditions."""
        sample = {
            "experiment": self.facts["url"], "cell": {}, "condition": {}, "index": 0, "tool": KIND, "status": "ok",
            "error": None, "metrics": self.metrics(), "facts": {"document_length": self.pages[0].length},
        }  # fmt: skip
        return gather([sample], {"experiment": self.facts["url"]})

    def to_json(self) -> dict[str, Any]:
        """What field.json holds."""
        pages = [asdict(page) for page in self.pages]
        return {"kind": KIND, **self.facts, "error": self.error, "metrics": self.metrics(), "pages": pages}

    def write(self, directory: Path) -> Path:
        """Writes field.json. Raises SlownetError."""
        path = directory / FILE
        try:
            path.write_text(json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise SlownetError(f"cannot write {FILE}, {error.strerror}", f"in {directory}") from error
        return path


def find(path: Path) -> Path | None:
    """The field.json that a path means: itself or one in a directory; None if it means no such file."""
    if path.is_dir():
        return path / FILE if (path / FILE).is_file() else None
    return path if path.suffix == ".json" else None


def read(path: Path) -> Field:
    """The measurement in a file. Raises SlownetError."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SlownetError(f"cannot read {path}", error.strerror or "", "name a run or a field.json") from None
    except ValueError as error:
        raise SlownetError(f"{path} is no JSON ({error})", fix="name a field.json that `slownet field` wrote") from None
    try:
        pages = tuple(Page(**each) for each in record["pages"])
        facts = {name: value for name, value in record.items() if name not in ("kind", "error", "metrics", "pages")}
        if record["kind"] != KIND or not pages or "url" not in facts:
            raise KeyError
        found = Field(facts, pages, record["error"])
        found.metrics()
    except (KeyError, TypeError):
        raise SlownetError(
            f"{path} is no measurement of the field", fix="name a field.json that `slownet field` wrote"
        ) from None
    return found


def values(field: Field, name: str) -> Sequence[float]:
    """The single values of a metric that has them, in time's order."""
    return tuple(field.metrics()[name]["values"])
