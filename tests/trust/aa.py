"""Section `aa`: `slownet compare` of runs of the same experiment. Every difference that it reports is an error."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from slownet.comparison.compare import compare
from slownet.comparison.row import DIFFERS, EQUIVALENT, INCONCLUSIVE, Row
from slownet.model.errors import SlownetError
from slownet.theory.stats import Summary
from trust import t0, verdicts
from trust.figures import Figure, Report, of, table
from trust.steps import ALONE, BESIDE_HOGS, Log, Options, Record, Step

SECTION = "aa"
WITHIN = 0.05
"""The default margin of `slownet compare`."""
ALLOWED = 0.01
KINDS = (EQUIVALENT, DIFFERS, INCONCLUSIVE)
Pair = tuple[str, Path, Path]
"""An experiment (and how the CPU was charged), and the directories of two runs."""


def steps(options: Options, log: Log) -> Iterator[Step]:
    """Return no steps: this section compares the runs of earlier sections."""
    return iter(())


def pairs(records: Sequence[Record]) -> Iterator[Pair]:
    """Pair each run with the next one under the same load, and the two runs of a round, alone and beside hogs."""
    by: dict[tuple[str, str], dict[int, Path]] = defaultdict(dict)
    for each in records:
        for name, run in _named(each):
            by[name, each["beside"]][each["number"]] = Path(run["directory"])
    for (name, beside), found in by.items():
        yield from ((name, found[one], found[other]) for one, other in pairwise(sorted(found)))
        if beside == ALONE:
            hogs = by.get((name, BESIDE_HOGS), {})
            yield from ((name, found[number], hogs[number]) for number in sorted(found.keys() & hogs.keys()))


def _named(record: Record) -> list[tuple[str, Mapping[str, Any]]]:
    if "boots" in record:
        return [(f"{t0.EXPERIMENT}, one boot, {record['way']}", record["boots"][0])]
    return list(record["experiments"].items())


def report(log: Log, options: Options) -> Report:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    different, failed = [], []
    for name, one, other in [*pairs(log.of(verdicts.SECTION)), *pairs(log.of(t0.SECTION))]:
        try:
            rows = compare(one, other, WITHIN).rows
        except SlownetError as error:
            failed.append(f"{name}: {error}")
            continue
        found[name].update(row.verdict for row in rows)
        different += [f"{name}: {_shown(row)}" for row in rows if row.verdict == DIFFERS]
    shown = table(("experiment", *KINDS), [[name, *(str(each[kind]) for kind in KINDS)] for name, each in found.items()])
    return Report([*shown, *different, *failed], tuple(_figures(found)))


def _shown(row: Row) -> str:
    return f"{row.condition} {row.metric} differs: {_number(row.first)} against {_number(row.second)}"


def _number(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.mean:.4g} ({summary.low:.4g} to {summary.high:.4g})"


def _figures(found: Mapping[str, Counter[str]]) -> Iterable[Figure]:
    """Yield the figures of the experiments together, and of each way of charging the CPU separately."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for name, each in found.items():
        groups[name.partition(", ")[2]].update(each)
    for group, counts in groups.items():
        total, wrong = counts.total(), counts[DIFFERS]
        if total:
            wanted = ("at most 1 %", wrong <= ALLOWED * total)
            yield Figure(f"rows that differ, A against A{f', {group}' if group else ''}", of(wrong, total), *wanted)
