"""Section `digits`: whether a page of WordPress on the exact clock takes the same digits in all runs, beside hogs too, and how
long such a run takes: the first one, those from a snapshot, and one with two labs against one with one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from slownet.lab.build import cache
from trust.figures import Figure, Report, of, table
from trust.steps import ALONE, BESIDE_HOGS, TWO_LABS, Log, Options, Record, Step, others, slownet, surroundings

SECTION = "digits"
TIME = "time_per_request_ms"
FIRST, ONE_LAB = "the first", "one lab"
FIRST_S, LATER_S, SIDE_BY_SIDE = 60.0, 30.0, 1.8
"""The targets: seconds of a run without and with a snapshot, and how many times as fast two labs are."""
BOOTS = 2
"""Repetitions of the runs that compare one lab with two."""


def steps(options: Options, log: Log) -> Iterator[Step]:
    yield Step(SECTION, FIRST, 1, partial(first, options))
    for number in range(1, options.rounds + 1):
        name = BESIDE_HOGS if number % 2 == 0 else ALONE
        yield Step(SECTION, name, number, partial(measure, options, name))
    for name, labs in ((ONE_LAB, 1), (TWO_LABS, 2)):
        yield Step(SECTION, name, 1, partial(measure, options, name, labs, BOOTS))


def first(options: Options) -> dict[str, Any]:
    """Measure with a cache that has all parts of a lab, and no snapshot."""
    with tempfile.TemporaryDirectory() as empty, _environment(XDG_CACHE_HOME=empty, SLOWNET_SYSTEM_CACHE=str(cache.root())):
        return measure(options, FIRST)


def measure(options: Options, name: str, labs: int = 1, boots: int = 1) -> dict[str, Any]:
    """Measure the page, and return what its samples are, as a hash, and how long it took from the command to the table."""
    words = ["run", "client_delay", "--clock", "exact", "--repeat", boots, "--labs", labs, "--out", "json=-"]
    with surroundings(name, options.processors):
        ((seconds, found),) = slownet([*words, "--runs", options.runs / SECTION])
    (run,) = found["runs"]
    digest = hashlib.sha256((Path(run["directory"]) / "samples.jsonl").read_bytes()).hexdigest()
    means = [cell["metrics"][TIME]["mean"] for cell in run["cells"]]
    taken = {"took": round(seconds, 3), "digest": digest, "means": means, "beside": name}
    return {**taken, "said": f"{seconds:.1f} s, {means[0]} ms, samples {digest[:8]}"}


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def report(log: Log, options: Options) -> Report:
    records = log.of(SECTION)
    names = [name for name in (FIRST, ALONE, BESIDE_HOGS, ONE_LAB, TWO_LABS) if _named(records, name)]
    rows = [_row(name, _named(records, name)) for name in names]
    once = [each for each in records if each["name"] in (FIRST, ALONE, BESIDE_HOGS)]
    figures = [*_same(once), *_seconds(records), *others(records)]
    return Report(table(("client_delay", "seconds", "T0, ms"), rows), tuple(figures))


def _named(records: Sequence[Record], name: str) -> list[Record]:
    return [each for each in records if each["name"] == name]


def _row(name: str, records: Sequence[Record]) -> list[str]:
    seconds = ", ".join(f"{each['took']:.1f}" for each in records)
    return [name, seconds, ", ".join(sorted({f"{each['means'][0]}" for each in records}))]


def _same(records: Sequence[Record]) -> Iterator[Figure]:
    if records:
        ((_, most),) = Counter(each["digest"] for each in records).most_common(1)
        yield Figure("runs with the same samples to the byte", of(most, len(records)), "all", most == len(records))


def _seconds(records: Sequence[Record]) -> Iterator[Figure]:
    for what, name, limit in (("without a snapshot", FIRST, FIRST_S), ("from a snapshot", ALONE, LATER_S)):
        if taken := [each["took"] for each in _named(records, name)]:
            middle = median(taken)
            yield Figure(f"from the command to the table, {what}", f"{middle:.1f} s", f"under {limit:g} s", middle < limit)
    one, two = (_named(records, name) for name in (ONE_LAB, TWO_LABS))
    if one and two:
        times = one[0]["took"] / two[0]["took"]
        yield Figure("two labs against one", f"{times:.2f} times", f"{SIDE_BY_SIDE:g} times", times >= SIDE_BY_SIDE)
