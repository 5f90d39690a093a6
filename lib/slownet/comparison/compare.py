"""Reads and compares two runs, or a run and a field measurement."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from slownet.comparison import baseline, outcome, record
from slownet.comparison.outcome import Part, parts
from slownet.comparison.record import Field, values
from slownet.comparison.row import Row, compared, with_holm
from slownet.comparison.runs import Comparison, compare_cells, compare_runs
from slownet.judge.claim import fitted
from slownet.judge.records import measured_folder
from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import COUNTED_MARGIN, USUAL_MARGIN, Charging
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError, SlownetError, TooFewError
from slownet.model.options import Option
from slownet.model.units import duration
from slownet.report.text import number
from slownet.theory.law import Law, fit
from slownet.theory.slow_start import CLOSE, LAST_BYTE, round_trips
from slownet.theory.stats import DECIDING, Summary, difference, from_error, median, needed, quantile, ratio, welch
from slownet.tools.fetch import RTT, SERVER, TIME, TLS, WITHOUT_TLS

# Compares the page time that a run's law predicts at the field's round trip with the measured one. Pure.
#
# k, the round trips per operation, belongs to the protocol and T0 to the machine. So there are two predictions: one with the
# run's T0, which is right if the field's machine is as fast as the lab's, and one with the field's T0, which is right if the
# page takes the same number of round trips.

ALONG = "rtt_ms"
MOSTLY = 0.5
"""The prediction with the field's T0 is made only if round trips are at least this fraction of the page time."""


def compare_field(run: RunData, field: Field, within: float, t0: str | None = None) -> Comparison:
    """Compare a run with the field, directly in cells with the field's round trip, and by the run's law.

    ``t0`` is the site's time without delay, such as ``12.3ms``; if given, it makes the only prediction.
    Raises SlownetError if there is neither such a cell nor a law.
    """
    if TIME not in run.metrics:
        raise ExperimentError(f"no metric '{TIME}'", f"in {run.experiment}", "compare the field with a run of ab")
    other, rtt = _as_run(field, TLS in run.metrics), round_trip(field)
    good = replace(run, cells=tuple(cell for cell in run.cells if cell.status == "ok")).at_confidence(DECIDING)
    near = [(cell.title, cell, other.cells[0]) for cell in good.cells if TIME in cell.metrics and _is_near(cell, rtt, within)]
    rows, notes = compare_cells(good, other, near, within, [TIME]) if near else ([], [])
    facts = None
    alike: tuple[Part, ...] = ()
    try:
        law = fitted(good, TIME, ALONG)
    except SlownetError as error:
        if not rows:
            raise
        notes.append(f"no law: {error}")
    else:
        own = _own_round_trip(good)
        facts = _facts(law, own, rtt, other.cells[0])
        delay = rtt.mean - (own or 0.0)
        rows += _predicted(_Lines(law, delay), rtt, other.cells[0], within, t0)
        alike = tuple(parts(lambda metric: _Lines(fitted(good, metric, ALONG), delay).time, other.cells[0]))
        notes += _doubts(law, own, rtt, run.charging.slack_ms)
    if run.failed:
        notes.append(f"left out {len(run.failed)} failed cell{'s' * (len(run.failed) > 1)}")
    notes += _differences(run, field)
    return Comparison(run, other, within, with_holm(rows), facts, tuple(notes), outcome.sites, alike)


def round_trip(field: Field) -> Summary:
    """Return the field's round trip: the median TCP handshake, which a lost SYN does not change."""
    times = values(field, RTT)
    try:
        return median(times, DECIDING)
    except TooFewError:
        return Summary(quantile(sorted(times), 0.5), -math.inf, math.inf, len(times), None, DECIDING)


class _Lines:
    """A run's law at one delay: interpolated between the neighbouring cells, or the fit of all cells outside their range.

    Interpolation is better inside, because measured times are more precise than a straight line through all of them.
    """

    def __init__(self, law: Law, delay: float) -> None:
        self._law = law
        self._points = dict(zip(law.delays, law.times, strict=True))
        self._delay = delay
        least, *others = self._points
        above = [each for each in others if each >= delay]
        self._between = bool(above) and (delay >= least or least == 0)
        self._least, self._upper = least, above[0] if above else math.nan

    @property
    def time(self) -> Summary:
        """The time at the delay."""
        lower = max((each for each in self._points if each < self._upper), default=math.nan)
        return self._through(lower).at(self._delay)

    @property
    def k(self) -> Summary:
        """The round trips per operation between no delay and this one."""
        return self._through(self._least).k

    def _through(self, lower: float) -> Law:
        return fit((each, self._points[each]) for each in (lower, self._upper)) if self._between else self._law


def _predicted(lines: _Lines, rtt: Summary, page: Cell, within: float, t0: str | None) -> list[Row]:
    """Return the rows that compare the measured time with the law's predictions."""
    time, k, at = page.summary(TIME), lines.k, f"RTT {number(rtt.mean)} ms"
    trips = (k.scaled(rtt.mean), rtt.scaled(k.mean))
    if t0 is not None:
        predicted = _sum(duration(t0, str(Option("t0"))) * 1000 + k.mean * rtt.mean, *trips)
        return [compared(f"{at}, law with T0 {t0}", TIME, predicted, time, within)]
    line = lines.time
    rows = [compared(f"{at}, law", TIME, _sum(line.mean, line, rtt.scaled(k.mean)), time, within)]
    if k.mean * rtt.mean >= MOSTLY * time.mean:
        start = page.summary(SERVER).at_confidence(DECIDING)
        predicted = _sum(start.mean + k.mean * rtt.mean, start, *trips)
        rows.append(compared(f"{at}, law with the field's T0", TIME, predicted, time, within))
    return rows


def _sum(mean: float, *parts: Summary) -> Summary:
    """Return a mean whose standard error combines those of independent parts."""
    n = min(part.n for part in parts)
    if not all(part.known for part in parts):
        return Summary(mean, -math.inf, math.inf, n, 0, DECIDING)
    error, df = welch(*((part.error, part.df_or_default) for part in parts))
    return from_error(mean, error, n, df, DECIDING)


def _facts(law: Law, own: float | None, rtt: Summary, page: Cell) -> dict[str, object]:
    """Return k and T0 of both. The field's T0 is its server's time to first byte, its k the remaining time in round trips."""
    start = page.summary(SERVER).at_confidence(DECIDING)
    rest = difference(page.summary(TIME).at_confidence(DECIDING), start)
    return {
        "run": {"k": law.k.to_json(), "t0_ms": law.t0.to_json(), "rtt_ms": own, "up_to_ms": max(law.delays), "bent": law.bent},
        "field": {"k": ratio(rest, rtt).to_json(), "t0_ms": start.to_json(), "rtt_ms": rtt.to_json()},
    }


def _doubts(law: Law, own: float | None, rtt: Summary, slack_ms: float) -> list[str]:
    notes = []
    if own is None:
        notes.append("the run's round trip without delay was not verified: 0 ms is assumed")
    if rtt.mean > max(law.delays):
        notes.append(f"{number(rtt.mean)} ms is an extrapolation: the longest measured delay is {number(max(law.delays))} ms")
    if law.is_bent_beyond(slack_ms):
        notes.append("the run's data deviate significantly from a straight line: the cells next to the field's RTT are used")
    if not rtt.known:
        enough = Option("requests").set(needed(50, DECIDING))
        notes.append(f"{rtt.n} requests are too few for the interval of a round trip: {enough} or more")
    return notes


def _differences(run: RunData, field: Field) -> list[str]:
    """Return notes on how the two pages differ."""
    notes = [f"the field measurement stopped early: {field.error}"] if field.error else []
    if any(page.tls_ms is not None for page in field.pages) and TLS not in run.metrics:
        notes.append("the field's times are without the TLS handshake, because the run has none")
    notes += _other_versions(run, field)
    least, most = field.lengths
    try:
        length, header = int(run.fact("document_length")), int(run.fact("header_length"))
    except SlownetError:
        return notes
    # The run's ab waits for the connection's end. `slownet field` stops at the last byte, and does not know its header's size.
    trips = {round_trips(each, until=LAST_BYTE, header_bytes=header) for each in (least, most)}
    if trips != {round_trips(length, until=CLOSE, header_bytes=header)}:
        there = f"{least:,} bytes" if least == most else f"{least:,} to {most:,} bytes"
        notes.append(f"the page has {there} in the field and {length:,} in the run: slow start takes other round trips")
    return notes


def _other_versions(run: RunData, field: Field) -> Iterator[str]:
    """Find the protocols that are spoken in another version."""
    for name, said in (("http", "HTTP/"), ("tls", "TLS ")):
        with contextlib.suppress(SlownetError):
            here, there = run.fact(name), field.facts.get(name)
            if here and there and here != there:
                yield f"the run speaks {said}{here}, the field {said}{there}"


def _as_run(field: Field, with_tls: bool) -> RunData:
    """Return the field as a run of one cell, with the page time without TLS if the run has none."""
    run = field.run().at_confidence(DECIDING)
    if with_tls:
        return run
    (cell,) = run.cells
    metrics = dict(cell.metrics)
    metrics.pop(TLS, None)
    metrics[TIME] = metrics.pop(WITHOUT_TLS, metrics[TIME])
    return replace(run, cells=(replace(cell, metrics=metrics),))


def _is_near(cell: Cell, rtt: Summary, within: float) -> bool:
    """Return whether a cell was measured at the field's round trip, within the margin."""
    seen = cell.verified_rtt_ms
    return seen is not None and abs(seen - rtt.mean) <= within * rtt.mean


def _own_round_trip(run: RunData) -> float | None:
    """Return the run's round trip without added delay, in ms; None if it was not verified by ping."""
    added, nearest = run.along(ALONG)[0]
    return None if nearest.verified_rtt_ms is None else max(0.0, nearest.verified_rtt_ms - added)


USUAL, COUNTED = USUAL_MARGIN, COUNTED_MARGIN
"""The margin of a comparison, and that of two runs whose numbers repeat: there 1 % more is found."""


def compare(
    first: Path | RunData,
    second: Path | RunData,
    within: float | None,
    metrics: Sequence[str] = (),
    at: Mapping[str, str] | None = None,
    t0: str | None = None,
    one_sided: bool = False,
    whole: bool = False,
) -> Comparison:
    """Compare two runs, or those, baselines or field measurements at paths; ``at`` selects cells.

    whole: of two runs, whether the second has to have measured all cells of the first, as it always has to if one_sided: a
    condition that was not measured again may be the one that is slower.
    within: the margin, by default `usual_margin`. Raises SlownetError.
    """
    one, other = (_read(path, at) for path in (first, second))
    if isinstance(one, Field) and isinstance(other, RunData):
        raise SlownetError(f"{first} is a field measurement", "as the first argument", "name the run first")
    if one_sided and (isinstance(one, Field) or isinstance(other, Field)):
        raise SlownetError("this is a field measurement", Option("fail_if_slower"), "compare two runs")
    if isinstance(one, RunData) and isinstance(other, Field):
        if metrics:
            raise SlownetError("a field measurement is compared by its page time only", Option("metric"), "leave it out")
        return compare_field(one, other, USUAL if within is None else within, t0)
    if t0:
        raise SlownetError("T0 applies to the field measurement", Option("t0"), "give it with a run and a field.json")
    runs = [each.run() if isinstance(each, Field) else each for each in (one, other)]
    found = compare_runs(runs[0], runs[1], usual_margin(*runs) if within is None else within, metrics, whole or one_sided)
    return replace(found, judge=outcome.gate) if one_sided else found


def usual_margin(first: RunData, second: RunData) -> float:
    """Return the margin of a comparison without a stated one, which is known before it: what both runs are good for.

    A run that was repeated until a difference would be found is good for half of it (`slownet.runner.finding`). Of others the
    clock says it: `COUNTED` where instructions are counted, and where the CPU is free and no number differs between boots.
    """
    if first.charging is not second.charging:
        return USUAL
    return max(_good_for(first), _good_for(second))


def _good_for(run: RunData) -> float:
    finds = (run.facts.get("sampling") or {}).get("finds")
    if finds:
        return min(USUAL, finds / 2)
    if run.charging is Charging.EXACT:
        return COUNTED
    repeats = run.charging is Charging.FREE and all(cell.is_exact for cell in run.cells)
    return COUNTED if repeats else USUAL


def _read(path: Path | RunData, at: Mapping[str, object] | None) -> RunData | Field:
    if isinstance(path, RunData):
        return path.where(at)
    path = measured_folder.of(path)
    if baseline.is_one(path):
        return baseline.read(path).where(at)
    file = record.find(path)
    return record.read(file) if file else measured_folder.load(path).where(at)
