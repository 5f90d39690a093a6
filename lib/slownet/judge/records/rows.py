"""A sample as a row of a table, and as a sweep keeps it; without the modules that read Parquet."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Required

from slownet.judge.records.samples import finite
from slownet.model.sample import Sample


class SweepSample(Sample, total=False):
    """A sample as a sweep keeps it."""

    unit: Required[str]
    """The key of all that determines it: see `slownet.runner.boot_store.identity`."""
    output: Mapping[str, bytes]
    """The tools' output by file name, which a run has as files; only where it is asked for."""


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


def table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a `pyarrow.Table`, whose types follow from the values.

    Arrow reads them as JSON: an array of Python's objects brings pandas, 0.2 s of CPU time at the end of every run.
    """
    import pyarrow as pa
    from pyarrow import json as arrow_json

    names = dict.fromkeys(name for each in rows for name in each)
    columns = {name: _of_one_type([finite(each.get(name)) for each in rows]) for name in names}
    if not columns:
        return pa.table({})
    one_each = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    lines = "\n".join(map(json.dumps, one_each)).encode()
    types = arrow_json.ParseOptions(explicit_schema=pa.schema([(name, _type(values)) for name, values in columns.items()]))
    whole = arrow_json.ReadOptions(block_size=len(lines) + 1)
    return arrow_json.read_json(pa.BufferReader(lines), whole, types)


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return a column, as texts if some are: of the conditions "1.1" and "2" only one is a whole number."""
    if not any(isinstance(each, str) for each in values):
        return values
    return [each if each is None else str(each) for each in values]


def _type(values: Collection[Any]) -> Any:
    """Return Arrow's type of a column, or of the items of its lists."""
    import pyarrow as pa

    kinds = {type(each) for each in values if each is not None}
    if list in kinds:
        return pa.list_(_type([item for each in values for item in each or ()]))
    if not kinds:
        return pa.null()
    if kinds == {bool}:
        return pa.bool_()
    return pa.string() if kinds == {str} else pa.int64() if kinds == {int} else pa.float64()
