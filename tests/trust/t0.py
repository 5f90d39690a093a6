"""Section `t0`: the time of `client_delay`'s page without delay, boot by boot, for each way of charging the CPU.

A step is one boot in one lab at TDF 1. Ways of charging and kinds of load alternate within a round.
"""

from __future__ import annotations

import math
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from trust.figures import Figure, Report, table
from trust.steps import ALONE, BESIDE_HOGS, SLOWNET, TWO_LABS, Log, Options, Record, Step, others, slownet, surroundings
from trust.verdicts import kept

SECTION = "t0"
EXPERIMENT, METRIC, CONDITION = "client_delay", "time_per_request_ms", "rtt_ms"
TIME, WORK = "time", "work"
UNNAMED = "default"
"""The only way in versions whose commands have no --cpu."""
GOOD_SD, GOOD_PRICE = 0.01, 1.5
BEST_SD, BEST_PRICE = 0.003, 2.5
SAME = 0.01
"""How much a mean may change with hogs, or with a second lab, next to it."""
FEWEST = 3
"""Minimum number of boots to judge a standard deviation."""


def steps(options: Options, log: Log) -> Iterator[Step]:
    """Yield the steps; a way that this machine refuses is not tried again."""
    for number in range(1, options.rounds + 1):
        for beside in (ALONE, BESIDE_HOGS, TWO_LABS):
            for way in ways():
                if not log.refused(SECTION, f"{way} "):

                    def measure(way: str = way, beside: str = beside) -> dict[str, Any]:
                        return boot(options, way, beside)

                    yield Step(SECTION, f"{way} {beside}", number, measure)


@cache
def ways() -> tuple[str, ...]:
    """Return the values of `slownet run --cpu`, the most expensive last."""
    asked = subprocess.run([SLOWNET, "run", "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "200"})
    return (TIME, WORK) if "--cpu" in asked.stdout else (UNNAMED,)


def boot(options: Options, way: str, beside: str) -> dict[str, Any]:
    """Measure one boot, or two labs at once."""
    cpu = [] if way == UNNAMED else ["--cpu", way]
    words = ["run", EXPERIMENT, "--tdf", 1, "--labs", 1, "--repeat", 1, "--out", "json=-", "--runs", options.runs, *cpu]
    with surroundings(beside, options.processors):
        done = slownet(*[words] * (2 if beside == TWO_LABS else 1))
    boots = [{**kept(run), "times": times(run)} for _, found in done for run in found["runs"]]
    said = "T0 " + " and ".join(f"{each['times']['0']:.3f} ms" for each in boots)
    return {"way": way, "beside": beside, "seconds": round(max(took for took, _ in done), 3), "boots": boots, "said": said}


def times(run: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean time of a page by round trip in ms, written as in JSON."""
    return {f"{cell['condition'][CONDITION]:g}": cell["metrics"][METRIC]["mean"] for cell in run["cells"]}


def report(log: Log, options: Options) -> Report:
    records = log.of(SECTION)
    found = list(dict.fromkeys(each["way"] for each in records))
    rows = [_row(records, way, beside) for way in found for beside in (ALONE, BESIDE_HOGS, TWO_LABS)]
    header = ("CPU charged by", "beside", "boots", "T0 ms", "sd %", "s a boot")
    refused = [each for each in log.records if each["section"] == SECTION and "refused" in each]
    lines = [*table(header, filter(None, rows)), *(f"{each['name']}: {each['refused']}" for each in refused)]
    return Report(
        lines, (*(figure for way in found for figure in _of_way(records, way)), *_wanted(records, found), *others(records))
    )


def _row(records: Sequence[Record], way: str, beside: str) -> list[str]:
    t0s = at(records, way, "0", beside)
    if not t0s:
        return []
    sd = f"{100 * relative_sd(t0s):.2f}" if len(t0s) > 1 else "-"
    took = statistics.median(_took(records, way, beside))
    return [way, beside, str(len(t0s)), f"{statistics.fmean(t0s):.3f}", sd, f"{took:.1f}"]


def at(records: Sequence[Record], way: str, rtt: str, *besides: str) -> list[float]:
    """Return the times of a page at a round trip, one per boot."""
    chosen = [each for each in records if each["way"] == way and each["beside"] in besides]
    return [boot["times"][rtt] for each in chosen for boot in each["boots"]]


def _took(records: Sequence[Record], way: str, beside: str) -> list[float]:
    return [each["seconds"] for each in records if (each["way"], each["beside"]) == (way, beside)]


def relative_sd(values: Sequence[float]) -> float:
    """Return the sample standard deviation relative to the mean."""
    return statistics.stdev(values) / statistics.fmean(values)


def price(records: Sequence[Record], way: str) -> float | None:
    """Return the duration of a boot relative to one that charges time in the same round: the median over the rounds."""
    took = {(each["way"], each["number"]): each["seconds"] for each in records if each["beside"] == ALONE}
    parts = [seconds / took[TIME, number] for (name, number), seconds in took.items() if name == way and (TIME, number) in took]
    return statistics.median(parts) if parts else None


@dataclass(frozen=True)
class Change:
    """The relative increase of a mean compared with alone, and its standard error (inf for single boots)."""

    part: float
    error: float

    def __str__(self) -> str:
        return f"{self.part:+.2%}" + (f" ± {self.error:.2%}" if math.isfinite(self.error) else "")

    @property
    def met(self) -> bool | None:
        """Whether the mean is the same; None if the standard error is too large to tell."""
        return abs(self.part) <= SAME and (self.error <= SAME or None)


def change(records: Sequence[Record], way: str, beside: str, rtt: str = "0") -> Change | None:
    """Return how a mean changes under that load."""
    alone, others = at(records, way, rtt, ALONE), at(records, way, rtt, beside)
    if not alone or not others:
        return None
    part = statistics.fmean(others) / statistics.fmean(alone)
    known = len(alone) > 1 and len(others) > 1
    error = part * math.sqrt(sum(relative_sd(each) ** 2 / len(each) for each in (alone, others))) if known else math.inf
    return Change(part - 1, error)


def largest_change(records: Sequence[Record], way: str, beside: str) -> tuple[Change, str] | None:
    """Return the largest change over all delays, and its delay."""
    delays = next(boot["times"] for each in records if each["way"] == way for boot in each["boots"])
    found = [(changed, rtt) for rtt in delays if (changed := change(records, way, beside, rtt))]
    return max(found, key=lambda each: abs(each[0].part)) if found else None


def _of_way(records: Sequence[Record], way: str) -> Iterator[Figure]:
    judged = way != TIME
    if len(t0s := at(records, way, "0", ALONE, BESIDE_HOGS)) > 1:
        sd = relative_sd(t0s)
        met = sd < GOOD_SD if judged and len(t0s) >= FEWEST else None
        yield Figure(f"{way}: sd of T0 over {len(t0s)} boots, beside hogs or not", f"{sd:.2%}", _if(judged, "under 1 %"), met)
    if changed := change(records, way, BESIDE_HOGS):
        yield Figure(f"{way}: mean T0 beside hogs", str(changed), *_within(judged, changed))
    for beside in (BESIDE_HOGS, TWO_LABS):
        if found := largest_change(records, way, beside):
            changed, rtt = found
            yield Figure(f"{way}: {beside}, largest change (at {rtt} ms)", str(changed), *_within(judged, changed))
    if way != TIME and (times_as_long := price(records, way)) is not None:
        yield Figure(f"{way}: wall time relative to charging time", f"{times_as_long:.2f} times")


def _if(judged: bool, text: str) -> str:
    return text if judged else ""


def _within(judged: bool, changed: Change) -> tuple[str, bool | None]:
    return (f"within {SAME:.0%}", changed.met) if judged else ("", None)


def _wanted(records: Sequence[Record], found: Sequence[str]) -> Iterator[Figure]:
    """Yield whether some way meets each target of precision and price."""
    known = {
        way: (relative_sd(t0s), cost)
        for way in found
        if len(t0s := at(records, way, "0", ALONE, BESIDE_HOGS)) >= FEWEST and (cost := price(records, way)) is not None
        if way != TIME
    }
    for sd, cost in ((GOOD_SD, GOOD_PRICE), (BEST_SD, BEST_PRICE)):
        if known:
            able = [way for way, (its_sd, its_cost) in known.items() if its_sd < sd and its_cost <= cost]
            what = f"a way with sd under {sd:.1%} at {cost:g} times the wall time or less"
            yield Figure(what, ", ".join(able) or "none", "one", bool(able))
