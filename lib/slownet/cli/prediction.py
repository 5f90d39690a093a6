"""`slownet show --at`: predicts the time of a run's operation at another site with a known T0 and round trip."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from slownet.judge.claim import expected_round_trips, fitted
from slownet.judge.records.measured_folder import load
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError, nearest
from slownet.model.shapes import Json
from slownet.model.units import duration
from slownet.report import delayed_links
from slownet.report.text import confidence, number, spelled, trimmed
from slownet.theory.law import Law
from slownet.theory.stats import Summary, ratio

OWN_T0 = "T0 is where the run was made: add t0=TIME, on your machine without delay"
NAMES = ("rtt", "t0")
"""The conditions of another site."""


def conditions(texts: Sequence[str]) -> dict[str, str]:
    """Parse the values of ``--at``: ``["rtt=85ms", "t0=12ms"]`` or ``["rtt=85ms,t0=12ms"]``. Raises ExperimentError."""
    found: dict[str, str] = {}
    for text in (each.strip() for word in texts for each in word.split(",")):
        name, equals, value = text.partition("=")
        if not (equals and value):
            raise ExperimentError(f"'{text}' is not a condition", "--at", "write it like rtt=85ms")
        if name not in NAMES:
            raise ExperimentError(f"a law has no parameter '{name}'", "--at", f"{nearest(name, NAMES)}, as in rtt=85ms,t0=12ms")
        found[name] = value
    if "rtt" not in found:
        raise ExperimentError("the round trip of your users is missing", "--at", "add rtt=85ms")
    return found


def predict(run: RunData, metric: str | None, t0: str | None, rtt: str, along: str = "rtt_ms") -> dict[str, Json]:
    """Return the prediction and the law behind it, as ``--json`` prints them; times in ms.

    t0: by default that of the run's law.

    ``metric`` may be None if the run's main metric, or exactly one of its metrics, is a time. Raises SlownetError for a run
    without a law.
    """
    run = run.shown
    chosen = replace(run, cells=tuple(cell for cell in run.cells if cell.status == "ok"))
    name = metric or _time(run)
    law = fitted(chosen, name, along)
    is_own = t0 is None
    t0 = f"{max(law.t0.mean, 0.0):.9f}ms" if t0 is None else t0
    start, delay = duration(t0, "--at t0") * 1000, duration(rtt, "--at rtt") * 1000
    theory = expected_round_trips(run, name)
    taken = theory if theory is not None and law.explains(theory, delay) else None
    time = law.predict(t0, rtt, taken)
    fit = law.lack_of_fit()
    return {
        "experiment": run.experiment,
        "metric": name,
        "t0_ms": start,
        along: delay,
        "predicted": time.to_json(),
        "ratio": _times(time, start).to_json() if start else None,
        "law": {"k": law.k.to_json(), "t0": law.t0.to_json(), "worst_residual": fit.worst, "bent": law.bent},
        "round_trips_of_theory": taken,
        "delayed_links": delayed_links.count(chosen.cells),
        "measured_up_to_ms": max(law.delays),
        "notes": [*_notes(run, law, delay, taken), *([OWN_T0] if is_own else [])],
        "directory": str(run.directory),
    }


def run_and_show(directory: Path, metric: str | None, at: Mapping[str, str], as_json: bool) -> None:
    """Predict and print. at: `conditions`. Raises SlownetError."""
    found = predict(load(directory), metric, at.get("t0"), at["rtt"])
    if as_json:
        print(json.dumps(found))
        return
    time, k = Summary.from_json(found["predicted"]), Summary.from_json(found["law"]["k"])
    times = f", {spelled(Summary.from_json(found['ratio']))} times the time without delay" if found["ratio"] else ""
    t0 = at.get("t0", f"{number(found['t0_ms'])} ms")
    print(f"{found['metric']} at T0 {t0} and RTT {at['rtt']}: {spelled(time)} ms{times}")
    links = found["delayed_links"]
    slope = f"{spelled(k)} round trips" if links <= 1 else f"{spelled(k)} ms for each ms, which is set on {links} links"
    print(f"law of {found['experiment']}: {slope}, T0 {number(found['law']['t0']['mean'])} ms where it ran")
    print(f"intervals: {confidence(time.confidence)}")
    for note in found["notes"]:
        print(f"note: {note}")


def _time(run: RunData) -> str:
    times = [name for name in run.metrics if name.endswith("_ms")]
    if run.main_metric in times:
        return run.main_metric
    if len(times) == 1:
        return times[0]
    what = f"{len(times)} metrics of {run.experiment} are times"
    raise ExperimentError(what, fix=f"give --metric: {', '.join(times)}" if times else nearest("", run.metrics))


def _times(time: Summary, start: float) -> Summary:
    return ratio(time, Summary(start, start, start, time.n))


def _notes(run: RunData, law: Law, delay: float, theory: float | None) -> list[str]:
    notes, last = [], max(law.delays)
    if run.failed:
        notes.append(f"left out {len(run.failed)} failed cell{'s' * (len(run.failed) > 1)}")
    if delay > last:
        notes.append(f"{number(delay)} ms is an extrapolation: the longest measured delay is {number(last)} ms")
    if len(law.delays) < 4:
        little = "nothing" if len(law.delays) == 2 else "little"
        notes.append(f"{len(law.delays)} delays say {little} about linearity: a reliable interval takes four")
    if law.is_bent_beyond(run.charging.slack_ms):
        theirs = "" if theory is None else f"k is the theoretical {trimmed(theory)} and "
        bent = "the data deviate significantly from a straight line"
        notes.append(f"{bent}, so {theirs}the interval is computed from the deviations")
        if any(not claim.kind for claim in run.claims):
            notes.append("this record does not state the kinds of its claims, so the theoretical k is unknown: run it again")
    return notes
