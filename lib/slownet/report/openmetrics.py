"""Runs as OpenMetrics text, which Prometheus reads: from a file by the node exporter's textfile collector, say. Pure.

A metric of a run is a gauge with the labels of its cell, beside it the ends of its interval; a claim is a gauge a verdict,
1 for its own. Format: https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from slownet.judge.records.judgement import WORST_FIRST
from slownet.judge.records.result import RunData

PREFIX = "slownet"
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")
_SAID: Mapping[str, str] = {
    "": "mean of the metric, as the tool names it", "_low": "lower end of its interval", "_high": "upper end of its interval",
}  # fmt: skip


def write(runs: Iterable[RunData]) -> str:
    """Return the text of runs: families of samples, each family once, and the mark of the end."""
    families: dict[str, tuple[str, list[str]]] = {}
    for run in runs:
        for family, about, labels, value in _samples(run):
            families.setdefault(family, (about, []))[1].append(f"{family}{_labels(labels)} {_number(value)}")
    lines: list[str] = []
    for family, (about, samples) in families.items():
        lines += [f"# TYPE {family} gauge", f"# HELP {family} {_escaped(about)}", *dict.fromkeys(samples)]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _samples(run: RunData) -> Iterator[tuple[str, str, Mapping[str, str], float]]:
    """Yield (family, what it is, labels, value)."""
    for metric in run.metrics:
        for cell in run.cells:
            found = cell.metrics.get(metric)
            if found is None or run.charging.means_nothing(found.mean, metric):
                continue
            own = {"experiment": run.experiment, **{_name(name): str(value) for name, value in cell.label.items()}}
            for ending, value in (("", found.mean), ("_low", found.low), ("_high", found.high)):
                if value is not None:
                    yield f"{PREFIX}_{_name(metric)}{ending}", f"{metric}: {_SAID[ending]}", own, value
    for claim in run.claims:
        for verdict in WORST_FIRST:
            labels = {"experiment": run.experiment, "claim": claim.name, "verdict": verdict}
            yield f"{PREFIX}_claim", "1 for a claim's verdict, 0 for the others", labels, float(verdict == claim.verdict)


def _name(text: str) -> str:
    """Return a name that the format allows."""
    return _NOT_A_NAME.sub("_", text)


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
