"""Section `power`: whether small changes of known size are detected, and unchanged pages are not reported as changed.

`changed/changes.py` tests each change as an engineer would, with a claim of equality within half of the change, measured until
it is decided; and pages of one run are compared with those of the next, like two versions with `slownet compare`.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from slownet.comparison.row import DIFFERS, compared
from slownet.judge.claim import REFUTED
from slownet.judge.records import result
from slownet.judge.records.samples import RUN
from slownet.model.errors import SlownetError
from trust import t0, verdicts
from trust.figures import Figure, Report, of, table
from trust.steps import Log, Options, Record, Step, slownet

SECTION = "power"
FILE = Path(__file__).parent / "changed" / "changes.py"
PAGE = "time_per_request_ms"
CHANGES = {"query": "one query more", "work": "1 % more CPU work", "delay": "1 ms more delay"}
MARGINS = {"query": 0.015, "work": 0.005, "delay": 0.02}
"""The margins of the experiment."""


def steps(options: Options, log: Log) -> Iterator[Step]:
    for number in range(1, options.rounds + 1):
        yield Step(SECTION, "changes", number, lambda: measure(options))


def measure(options: Options) -> dict[str, Any]:
    """Measure one run with as many repetitions as it takes, in one lab, which all compared cells share."""
    ((seconds, found),) = slownet(["run", FILE, "--tdf", 1, "--labs", 1, "--out", "json=-", "--runs", options.runs])
    (run,) = found["runs"]
    record = {**verdicts.kept(run), "cpu": charged(Path(run["directory"]))}
    repetitions = max(cell["repetitions"] for cell in record["cells"])
    said = ", ".join(f"{name} {verdict(record, name, 'more')}" for name in CHANGES)
    return {**record, "seconds": round(seconds, 3), "repetitions": repetitions, "said": f"{said}; {repetitions} repetitions"}


def charged(directory: Path) -> str:
    """Return how a run charged the CPU; "time" if its facts do not say."""
    return str(json.loads((directory / RUN).read_text(encoding="utf-8")).get("cpu", t0.TIME))


def verdict(record: Record, what: str, change: str) -> str:
    """Return the verdict on the claim that a page is the same after a change."""
    changed = {"what": what, "change": change}
    about = (each["verdict"] for each in record["claims"].values() if (each["parameters"] or {}).get("at") == changed)
    return next(about, verdicts.NOT_JUDGED)


def part(record: Record, what: str, change: str) -> float | None:
    """Return the relative increase of a page's time after a change."""
    took = [
        cell["metrics"][PAGE]["mean"]
        for each in ("none", change) for cell in record["cells"] if cell["condition"] == {"what": what, "change": each}
    ]  # fmt: skip
    return took[1] / took[0] - 1 if len(took) == 2 else None


def report(log: Log, options: Options) -> Report:
    records = log.of(SECTION)
    rows, figures = [], []
    for what, title in CHANGES.items():
        for change in ("more", "same"):
            if records:
                rows.append(_row(records, what, title, change))
        figures += _figures(records, what, title)
    header = ("change", "measured %", "sd %", "refuted/inconclusive/supported", "repetitions")
    return Report(table(header, rows), tuple(figures))


def _row(records: Sequence[Record], what: str, title: str, change: str) -> list[str]:
    parts = [found for each in records if (found := part(each, what, change)) is not None]
    found = [verdict(each, what, change) for each in records]
    counts = "/".join(str(found.count(each)) for each in reversed(verdicts.VERDICTS[:3]))
    sd = f"{100 * statistics.stdev(parts):.2f}" if len(parts) > 1 else "-"
    mean = f"{100 * statistics.fmean(parts):+.2f}" if parts else "-"
    repetitions = f"{statistics.fmean(_repetitions(each, what) for each in records):.1f}"
    return [title if change == "more" else f"{title}: the same again", mean, sd, counts, repetitions]


def _repetitions(record: Record, what: str) -> int:
    return max(cell["repetitions"] for cell in record["cells"] if cell["condition"]["what"] == what)


def _figures(records: Sequence[Record], what: str, title: str) -> Iterator[Figure]:
    if not records:
        return
    found = sum(verdict(each, what, "more") == REFUTED for each in records)
    yield _found(f"{title}: found by a claim", found, records, what)
    wrong = sum(verdict(each, what, "same") == REFUTED for each in records)
    yield Figure("    the same again, found to differ", of(wrong, len(records)), "0", wrong == 0)
    between = list(_between(records, what, "none", "more"))
    if between:
        same = list(_between(records, what, "none", "none"))
        yield _found("    found by comparing with another run", sum(between), records[: len(between)], what)
        yield Figure("    unchanged, and found to differ from another run", of(sum(same), len(same)), "0", not any(same))


def _found(title: str, found: int, records: Sequence[Record], what: str) -> Figure:
    """Return the figure of detected changes; without a target for CPU work if time is charged, which varies by more than 1
    %."""
    if what == "work" and any(each["cpu"] != t0.WORK for each in records):
        return Figure(title, of(found, len(records)), f"all, where --cpu is {t0.WORK}")
    return Figure(title, of(found, len(records)), "all", found == len(records))


def _between(records: Sequence[Record], what: str, one: str, other: str) -> Iterator[bool]:
    """Yield whether a run's page differs from the next run's, each after its change."""
    for first, second in pairwise(records):
        try:
            runs = [result.load(each["directory"]) for each in (first, second)]
            pages = [
                run.at({"what": what, "change": change}).summary(PAGE) for run, change in zip(runs, (one, other), strict=True)
            ]
        except SlownetError:  # the directory is gone
            continue
        yield compared(what, PAGE, *pages, MARGINS[what]).verdict == DIFFERS
