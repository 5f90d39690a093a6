"""What a sweep keeps of one measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slownet.model.sample import Sample
from slownet.model.shapes import Json

FREE_SPACE = "free space, then --resume"
"""The mend of a full disk."""


@dataclass(frozen=True)
class StoredSample:
    """A sample with its key, the key of its unit, and the tools' output by file name."""

    key: str
    unit: str
    sample: Sample
    raw: Mapping[str, bytes]

    def to_json(self) -> dict[str, object]:
        """Return it for the journal; bytes that are not UTF-8 survive."""
        texts = {name: content.decode("utf-8", "surrogateescape") for name, content in self.raw.items()}
        return {"key": self.key, "unit": self.unit, "sample": self.sample, "raw": texts}

    @classmethod
    def from_json(cls, record: Mapping[str, Json]) -> StoredSample:
        """Return it from the journal."""
        raw = {name: text.encode("utf-8", "surrogateescape") for name, text in record["raw"].items()}
        return cls(record["key"], record["unit"], record["sample"], raw)
