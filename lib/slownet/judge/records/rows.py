"""A sample as a row of a table."""

from __future__ import annotations

import json
from collections.abc import Collection

from slownet.model.sample import Sample

PLAIN = (
    *("experiment", "index", "tool", "status", "error"),
    *("verified_rtt_ms", "rate_bit_s", "virtual_s", "wall_s", "charged_s", "lab", "boot", "block", "random", "seeds", "raw"),
)
"""The fields of a sample that are columns of their own."""


def row(sample: Sample, metrics_of_all: Collection[str] = ()) -> dict[str, object]:
    """Return a sample with each condition in a column of that name, and each metric in three: mean, ``_sd`` and ``_n``.

    A condition that is called like a metric, such as ping's ``rtt_ms``, is in the column ``condition_rtt_ms``;
    metrics_of_all: the names of the other rows' metrics, because a failed sample has none.
    """
    metrics, condition = sample.get("metrics") or {}, sample.get("condition") or {}
    found = {name: sample.get(name) for name in PLAIN}
    found |= {
        f"condition_{name}" if name in metrics or name in metrics_of_all else name: value for name, value in condition.items()
    }
    for name, moments in metrics.items():
        found |= {name: moments["mean"], f"{name}_sd": moments.get("sd"), f"{name}_n": moments["n"]}
    return found | {name: json.dumps(sample.get(name) or {}) for name in ("facts", "counters", "captures")}
