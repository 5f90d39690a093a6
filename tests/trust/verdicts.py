"""Section `verdicts`: repeats all shipped experiments, alone and beside hogs, and checks that every verdict stays the same."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from slownet.judge.claim import INCONCLUSIVE, REFUTED, SUPPORTED
from slownet.judge.records.samples import read_samples
from trust.figures import Figure, Report, of, table
from trust.steps import ALONE, BESIDE_HOGS, Log, Options, Record, Step, others, slownet, surroundings

SECTION = "verdicts"
NOT_JUDGED = "not judged"
VERDICTS = (SUPPORTED, INCONCLUSIVE, REFUTED, NOT_JUDGED)
WANTED_S = 300
KEPT = ("verdict", "measured", "low", "high", "expected", "margin", "parameters")


def steps(options: Options, log: Log) -> Iterator[Step]:
    """Yield steps that alternate between alone and beside hogs, so that a drift of the machine affects both.

    ``experiments`` may also name groups of `slownet reproduce`, such as ``protocols``.
    """
    is_all = not options.experiments
    which = ["--all"] if is_all else [word for name in options.experiments for word in ("--only", name)]
    chosen = "" if is_all else f", {' '.join(options.experiments)}"
    for number in range(1, options.rounds + 1):
        for beside in (ALONE, BESIDE_HOGS):

            def measure(beside: str = beside) -> dict[str, Any]:
                with surroundings(beside, options.processors):
                    ((seconds, found),) = slownet(["reproduce", "--out", "json=-", "--runs", options.runs, *which])
                return {"beside": beside, "seconds": round(seconds, 3), "all": is_all, **summary(found)}

            yield Step(SECTION, beside + chosen, number, measure)


def summary(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data to keep from the output of `slownet reproduce --out json=-`."""
    ends = {each["experiment"]: each for each in found["reproduction"]["experiments"]}
    runs = {
        run["experiment"]: {**kept(run), "wall_s": end["wall_s"], "failed": failure(end)}
        for run in found["runs"] for end in [ends[run["experiment"]]]
    }  # fmt: skip
    counts = Counter(claim["verdict"] for run in runs.values() for claim in run["claims"].values())
    broken = [name for name, run in runs.items() if run["failed"]]
    said = ", ".join(f"{counts[each]} {each}" for each in VERDICTS if counts[each])
    return {"experiments": runs, "said": said + (f"; failed: {', '.join(broken)}" if broken else "")}


def kept(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data to keep of a run as JSON: its claims by name, its cells' intervals, and its directory."""
    cells = [{name: cell[name] for name in ("condition", "metrics", "repetitions")} for cell in run["cells"]]
    claims = {claim["name"]: {name: claim.get(name) for name in KEPT} for claim in run["claims"]}
    return {
        "directory": run["directory"], "clock": run.get("clock"), "tdf": run.get("tdf"), "claims": claims, "cells": cells,
        "single": sorted(single_numbers(Path(run["directory"]))),
    }  # fmt: skip


def single_numbers(directory: Path) -> set[str]:
    """Return the metrics of a run that are not means but single numbers per sample: percentiles, maxima, counts."""
    samples = read_samples(directory)
    return {name for each in samples for name, record in (each.get("metrics") or {}).items() if record.get("sd", 0) is None}


def failure(end: Mapping[str, Any]) -> str:
    """Return one line on why an experiment failed; empty if it did not."""
    return end["error"] or "; ".join(end["failed"])


def report(log: Log, options: Options) -> Report:
    records = log.of(SECTION)
    names = list(dict.fromkeys(name for each in records for name in each["experiments"]))
    rows = [row for name in names if (row := _row(records, name))]
    unsteady = {name: found for name in names if (found := unlike(records, name))}
    header = ("experiment", f"{ALONE}: {'/'.join(VERDICTS)}", BESIDE_HOGS, "not the same", f"s {ALONE}", f"s {BESIDE_HOGS}")
    lines = [*table(header, rows), *(line for name, found in unsteady.items() for line in _unlike_lines(records, name, found))]
    lines += [
        f"{name} failed {each['name']} {each['number']}: {run['failed']}"
        for each in records for name, run in each["experiments"].items() if run["failed"]
    ]  # fmt: skip
    return Report(lines, (*_figures(records, unsteady), *others(records)))


def _row(records: Sequence[Record], name: str) -> list[str]:
    counts = ["/".join(str(verdicts(records, name, beside)[each]) for each in VERDICTS) for beside in (ALONE, BESIDE_HOGS)]
    return [name, *counts, str(len(unlike(records, name))), *(_seconds(records, name, each) for each in (ALONE, BESIDE_HOGS))]


def _seconds(records: Sequence[Record], name: str, beside: str) -> str:
    took = [each["experiments"][name]["wall_s"] for each in records if each["beside"] == beside and name in each["experiments"]]
    return f"{statistics.median(took):.0f}" if took else ""


def verdicts(records: Sequence[Record], name: str, beside: str) -> Counter[str]:
    """Count the verdicts on all claims of an experiment over the runs under that load; a missing claim is "not judged"."""
    found: Counter[str] = Counter()
    for claim in _claims(records, name):
        found.update(verdict for each, verdict in _of(records, name, claim) if each["beside"] == beside)
    return found


def unlike(records: Sequence[Record], name: str) -> list[str]:
    """Return the claims of an experiment whose verdict was not the same in all runs."""
    return [claim for claim in _claims(records, name) if len({verdict for _, verdict in _of(records, name, claim)}) > 1]


def _claims(records: Sequence[Record], name: str) -> list[str]:
    return list(
        dict.fromkeys(claim for each in records if name in each["experiments"] for claim in each["experiments"][name]["claims"])
    )


def _of(records: Sequence[Record], name: str, claim: str) -> list[tuple[Record, str]]:
    """Return the verdict on a claim in each run that includes the experiment."""
    runs = [(each, each["experiments"][name]["claims"]) for each in records if name in each["experiments"]]
    return [(each, claims[claim]["verdict"] if claim in claims else NOT_JUDGED) for each, claims in runs]


def _unlike_lines(records: Sequence[Record], name: str, claims: Sequence[str]) -> Iterator[str]:
    for claim in claims:
        yield f"{name}: {claim}"
        for record, verdict in _of(records, name, claim):
            numbers = record["experiments"][name]["claims"].get(claim)
            yield f"    {record['beside']} {record['number']}: {verdict}{_numbers(numbers) if numbers else ''}"


def _numbers(claim: Mapping[str, Any]) -> str:
    least, most = claim["margin"] or (None, None)
    return (
        f", {_short(claim['measured'])} ({_short(claim['low'])} to {_short(claim['high'])}), expected "
        f"{_short(claim['expected'])}, margin {_short(least)} to {_short(most)}"
    )


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _figures(records: Sequence[Record], unsteady: Mapping[str, Sequence[str]]) -> Iterator[Figure]:
    if not records:
        return
    refuted = sum(_count(each, REFUTED) for each in records)
    yield Figure("claims refuted in any run", str(refuted), "0", refuted == 0)
    names = {name for each in records for name in each["experiments"]}
    claims = sum(len(_claims(records, name)) for name in names)
    changing = sum(map(len, unsteady.values()))
    yield Figure("claims whose verdict was not the same in all runs", of(changing, claims), "0", changing == 0)
    for beside in (ALONE, BESIDE_HOGS):
        if runs := [each for each in records if each["beside"] == beside]:
            good = sum(whole(each) for each in runs)
            yield Figure(f"runs {beside} with every claim supported", of(good, len(runs)), "all", good == len(runs))
            took = [each["seconds"] for each in runs if each["all"]]
            if took:
                wanted = ("under 300 s on 2 processors", max(took) < WANTED_S) if beside == ALONE else ()
                yield Figure(f"reproduce {beside}, longest of {len(took)}", f"{max(took):.0f} s", *wanted)
                yield Figure("    median", f"{statistics.median(took):.0f} s")


def whole(record: Record) -> bool:
    """Return whether every claim of a run was supported, and every cell measured."""
    runs = record["experiments"].values()
    return _count(record, SUPPORTED) == sum(len(run["claims"]) for run in runs) and not any(run["failed"] for run in runs)


def _count(record: Record, verdict: str) -> int:
    return sum(claim["verdict"] == verdict for run in record["experiments"].values() for claim in run["claims"].values())
