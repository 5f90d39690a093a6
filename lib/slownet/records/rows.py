"""A sample as a row of a table."""

from __future__ import annotations

import json
from typing import Any

from slownet.records.samples import Sample

PLAIN = (
    *("experiment", "index", "tool", "status", "error"),
    *("verified_rtt_ms", "rate_bit_s", "virtual_s", "wall_s", "charged_s", "lab", "boot", "block", "random", "seeds", "raw"),
)
"""The fields of a sample that are columns of their own."""


def row(sample: Sample) -> dict[str, Any]:
    """Return a sample with each condition in a column of that name, and each metric in three: mean, ``_sd`` and ``_n``."""
    found = {name: sample.get(name) for name in PLAIN} | dict(sample.get("condition") or {})
    for name, moments in (sample.get("metrics") or {}).items():
        found |= {name: moments["mean"], f"{name}_sd": moments.get("sd"), f"{name}_n": moments["n"]}
    return found | {name: json.dumps(sample.get(name) or {}) for name in ("facts", "counters", "captures")}
