"""A run prepared for reports: one row per cell, with ratio, published numbers, law and verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slownet.judge.claim import verdict
from slownet.judge.records.cell import TIME, Cell, by_error
from slownet.judge.records.charging import Charging
from slownet.judge.records.condition_columns import NONE, is_of_links
from slownet.judge.records.intervals import Scope
from slownet.judge.records.naming import counted, metric_name, operation, varied, where
from slownet.judge.records.positions import shifts
from slownet.judge.records.quantity import not_below_zero
from slownet.judge.records.result import RunData, clock
from slownet.judge.records.samples import cell_key
from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.options import RESUME, TDF
from slownet.model.units import show_rate, spoken
from slownet.report.text import confidence, number
from slownet.report.words import few_boots, instructions_counted
from slownet.theory.law import Law, fit, per_round_trip, trip
from slownet.theory.stats import Summary, ratio

RATE = "requests_per_second"
ALONG = "rtt_ms"
CURE = "cure"
"""The condition that names a cure, or "none"."""
WITHIN = 0.05
"""Margin around the law within which a cell lies on it, as a fraction."""
ENOUGH = 100
NEGLIGIBLE = 0.001
"""Outliers within this part of the median are not noted where the CPU is free: each wait of a long operation has its timer's
slack, and their sum changes no digit that is shown."""
MOSTLY_CPU = 0.5
"""A cell is CPU-bound if T0 is more than this fraction of its time."""


@dataclass(frozen=True)
class Row:
    """One cell; times in ms, None if there is nothing to show."""

    title: str
    delay: float | None
    time: Summary | None
    rate: Summary | None
    ratio: Summary | None
    uncured: Summary | None
    """The ratio of the same cell without its cure."""
    published_time: float | None
    published_ratio: float | None
    predicted: Summary | None
    verified_rtt_ms: float | None
    verdict: str
    error: str | None
    cpu_share: float | None
    """T0 as a fraction of the time, 0 to 1."""
    cpu_bound: bool
    """True if the time is mostly T0 on a virtual clock that charges the CPU, so that it depends on the TDF more than on the
    network."""
    beyond_cpu: bool
    """True if a link is set to a rate that the CPU cannot carry."""
    article: Mapping[str, Any]
    """All published numbers of the cell, by metric; empty without any."""


@dataclass(frozen=True)
class View:
    """A run with its rows; ``law_note`` explains why ``law`` is None, or how it was fitted."""

    run: RunData
    metric: str
    along: str
    rows: tuple[Row, ...]
    law: Law | None
    law_note: str
    article: Mapping[float, Mapping[str, Any]]
    """The published rows by their value of ``along``; empty without any."""

    @property
    def lawful(self) -> bool:
        """True if a law makes sense: the run measured a time against a delay."""
        return per_round_trip(self.along) is not None and self.metric.endswith("_ms")

    @property
    def trip(self) -> float:
        """The ms that a round trip gains for each ms of the varied condition."""
        return trip(self.along)

    @property
    def errors(self) -> list[str]:
        """Why cells failed, a line for each reason."""
        return by_error((row.title, row.error) for row in self.rows if row.error)

    @property
    def cures(self) -> bool:
        """True if some cells were also measured without their cure."""
        return any(row.uncured for row in self.rows)

    @property
    def unit(self) -> str:
        """The main metric with its unit, for a heading."""
        return f"ms per {operation(self.run)}" if self.metric == TIME else spoken(self.metric)


def view(run: RunData) -> View:
    """Make the rows of a run, with the intervals of its verdicts: see `RunData.shown`."""
    run = run.shown
    metric = run.main_metric
    along = _along(run)
    law, note = _law(run, metric, along)
    published_rows = run.published.get("rows", ())
    article = {float(row[along]): row for row in published_rows if along in row}
    by_cell = {cell_key(row["cell"]): row for row in published_rows if "cell" in row}
    reader = _Reader(run, metric, along, law, article, by_cell)
    rows = tuple(reader.row(cell) for cell in run.cells)
    return View(run, metric, along, rows, law, note, article)


@dataclass(frozen=True)
class _Reader:
    """Makes rows of cells, with the law and the article's rows by delay and by cell."""

    run: RunData
    metric: str
    along: str
    law: Law | None
    article: Mapping[float, Mapping[str, Any]]
    by_cell: Mapping[str, Mapping[str, Any]]

    def published(self, cell: Cell) -> Mapping[str, Any]:
        """Return the article's row for a cell, empty if none exists."""
        found = self.by_cell.get(cell_key(cell.label))
        at = cell.condition.get(self.along)
        return found or (self.article.get(float(at), {}) if isinstance(at, int | float) else {})

    def row(self, cell: Cell) -> Row:
        """Make the row of a cell."""
        at = cell.condition.get(self.along)
        delay = float(at) if isinstance(at, int | float) else None
        time = cell.metrics.get(self.metric)
        shown = time and not_below_zero(time, self.metric)
        published = self.published(cell)
        added = None if delay is None else delay * trip(self.along)
        predicted = self.law.at(added) if self.law and added is not None else None
        share = None if self.run.charging is Charging.FREE else self._cpu_share(time)
        return Row(
            title=cell.title,
            delay=delay,
            time=shown,
            rate=None if time and self._is_nothing(time) else cell.metrics.get(RATE),
            ratio=self._ratio(cell),
            uncured=self._uncured(cell),
            published_time=published.get(self.metric),
            published_ratio=self._published_ratio(cell),
            predicted=predicted,
            verified_rtt_ms=cell.verified_rtt_ms,
            verdict=self._verdict(cell, added),
            error=cell.error,
            cpu_share=share,
            cpu_bound=share is not None and share > MOSTLY_CPU and self.run.charging in (Charging.TIME, Charging.WORK),
            beyond_cpu=self.run.beyond_cpu(cell),
            article=published,
        )

    def _within(self, cell: Cell | None) -> Summary | None:
        """Return the time of a cell for a comparison with other cells of the run; None if it has none."""
        return cell.summary(self.metric, Scope.WITHIN_RUN) if cell and self.metric in cell.metrics else None

    def _ratio(self, cell: Cell) -> Summary | None:
        base = baseline(self.run, cell) if len(self.run.cells) > 1 else None
        time, start = self._within(cell), self._within(base)
        if time is None or start is None or start.mean == 0 or self._is_nothing(start):
            return None
        return Summary(1.0, 1.0, 1.0, time.n) if cell is base else ratio(time, start)

    def _is_nothing(self, start: Summary) -> bool:
        return self.run.charging.means_nothing(start.mean, self.metric)

    def _uncured(self, cell: Cell) -> Summary | None:
        """Return the ratio of the cell that differs only by its condition ``cure``, which is "none"."""
        if cell.label.get(CURE, NONE) == NONE:
            return None
        same = self.run.exactly({**cell.label, CURE: NONE})
        return self._ratio(same) if same else None

    def _published_ratio(self, cell: Cell) -> float | None:
        base, published = baseline(self.run, cell), self.published(cell)
        start = self.published(base) if base else None
        if not start or not start.get(self.metric) or not published.get(self.metric):
            return None
        return float(published[self.metric]) / float(start[self.metric])

    def _cpu_share(self, time: Summary | None) -> float | None:
        """Return T0 divided by the cell's time: T0 is the time without delay, so mostly CPU."""
        if self.law is None or time is None or time.mean <= 0:
            return None
        return min(1.0, max(0.0, self.law.t0.mean / time.mean))

    def _verdict(self, cell: Cell, added: float | None) -> str:
        """Judge whether the cell lies on the law; empty with fewer than three points, which determine it."""
        if cell.status == "failed":
            return "failed"
        if cell is baseline(self.run, cell):
            return "baseline"
        if self.law is None or added not in self.law.delays or len(self.law.times) < 3:
            return ""
        margin = WITHIN * abs(self.law.at(added).mean)
        return verdict(self.law.distance(added), -margin, margin)


def _along(run: RunData) -> str:
    """Return the condition with another number in each cell: the round-trip delay, else the first; empty if none exists."""
    names = dict.fromkeys(name for cell in run.cells for name in cell.condition)
    return next((name for name in sorted(names, key=ALONG.__ne__) if _orders(run, name)), "")


def _orders(run: RunData, name: str) -> bool:
    """Return whether a condition has another number in each cell."""
    values = [cell.condition.get(name) for cell in run.cells]
    return all(isinstance(value, int | float) for value in values) and len(set(values)) == len(values)


def baseline(run: RunData, cell: Cell) -> Cell | None:
    """Return the cell that a cell is compared with; None if it was not measured."""
    try:
        return run.baseline_of(cell.label)
    except ExperimentError:
        return None


def _law(run: RunData, metric: str, along: str) -> tuple[Law | None, str]:
    """Fit the law to the successful cells; return it with a note for the reader."""
    if per_round_trip(along) is None or not metric.endswith("_ms"):
        return None, "a law needs times against delays"
    try:
        cells = [(delay * trip(along), cell) for delay, cell in run.along(along) if cell.status == "ok"]
        law = fit((delay, cell.summary(metric, Scope.WITHIN_RUN)) for delay, cell in cells)
    except SlownetError as error:
        return None, str(error)
    failed = len(run.failed)
    return law, f"fitted without {failed} failed cell{'s' * (failed > 1)}" if failed else ""


def clock_line(run: RunData) -> str:
    """Describe clock and place in one line: ``virtual clock, TDF 4, Linux 6.12.48, in the lab``."""
    facts = run.facts
    parts = [clock(facts)]
    if facts.get("kernel"):
        parts.append(f"Linux {facts['kernel']}")
    if facts.get("place"):
        parts.append("in the lab" if facts["place"] == "lab" else str(facts["place"]))
    return ", ".join(parts)


def beyond_line(run: RunData) -> str:
    """Explain the mark of a rate beyond the CPU in one line."""
    carried = show_rate(float(f"{run.facts['ceiling_bit_s']:.2g}"))
    return f"a link is set to a rate that this CPU cannot carry (at most {carried}): rerun with {TDF.typed} inf"


def intervals_line(seen: View) -> str:
    """Describe the intervals of a page or table in one line."""
    verdicts = ", as for the verdicts" if seen.run.claims else ""
    few = few_boots(seen.run)  # of these intervals lack what varies between boots
    return f"intervals: {confidence(seen.run.confidence)}{verdicts}{f', within {few}' if few else ''}"


def ratios_line(seen: View) -> str:
    """Name the cell that the ratios are relative to; empty without ratios, or where each operation has its own baseline."""
    bases = [baseline(seen.run, cell) for cell, row in zip(seen.run.cells, seen.rows, strict=True) if row.ratio]
    only = bases[0] if bases and all(each is bases[0] for each in bases) else None
    return f"ratios are relative to {only.title}, the baseline" if only else ""


def compares_ways(run: RunData) -> bool:
    """Return whether cells differ in more than their links: a row may then be of another protocol than the baseline."""
    return any(not is_of_links(name) for name in varied(run))


def sampling_notes(run: RunData) -> list[str]:
    """List notes about the measurement: repetitions and why they suffice, labs, changed facts, limits, warm-ups, outliers."""
    why = (run.facts.get("sampling") or {}).get("why")
    notes = [f"damaged: {line}" for line in run.damage]
    if run.unfinished:
        notes.append(f"unfinished: {run.unfinished}: {RESUME.in_command('run', run.directory)}")
    notes += few_values_notes(run)
    notes += [f"sampling: {why}"] if why else []
    if run.facts.get("labs", 1) > 1:
        notes.append(f"labs: {run.facts['labs']} side by side, one repetition each")
    for name, values in (run.facts.get("contradicted") or {}).items():
        notes.append(f"circumstances differed between repetitions: {name} was {', then '.join(map(str, values))}")
    limited = ((cell.title, cell.window_limited) for cell in run.cells if cell.window_limited)
    notes += [f"{title}: limited by the receive window for {share:.0%} of the time" for title, share in limited]
    notes += [
        f"{title}: ping sent every {every:.3g} ms instead of {asked:.3g}, because it waits up to 10 ms for a reply on its way"
        for title, (every, asked) in ((cell.title, cell.paced) for cell in run.cells if cell.paced)
    ]
    notes += position_notes(run)
    for cell in run.cells:
        for name, count in cell.warm_up.items():
            what = f"the first {count} values of {metric_name(name, run)}"
            notes.append(f"with {where(cell.label, run)}, {what} are warm-up and left out")
        for name, count in cell.outliers.items():
            if run.charging.slack_ms and cell.outliers_within(name, run.charging.slack_ms, NEGLIGIBLE):
                continue
            notes.append(f"with {where(cell.label, run)}, {metric_name(name, run)} has {counted(count, 'outlier')}, kept")
    return notes


def few_values_notes(run: RunData) -> list[str]:
    """Name the cells whose values differ so much that the interval of their time would begin below 0, and what to do."""
    found = ((cell, cell.metrics[name]) for cell in run.cells for name in (run.main_metric,) if name in cell.metrics)
    return [
        f"{cell.title}: single values of {run.main_metric} differ more than their mean is large, so its interval reaches 0: "
        f"measure {ENOUGH} requests"
        for cell, time in found
        if not_below_zero(time, run.main_metric) is not time
    ]


def position_notes(run: RunData) -> list[str]:
    """Return a note for each cell whose place in a boot explains its number, with the remedy."""
    remedy = "measure each in a run of its own" if run.facts.get("compose") else "try a larger warm_up"
    return [
        f"{each.cell.title}: its place in a boot explains {each.metric}, {number(each.forwards.mean)} in boots that go through "
        f"the cells forwards, {number(each.backwards.mean)} backwards: programs keep something from cell to cell, {remedy}"
        for each in shifts(run)
    ]


def instructions_lines(seen: View) -> list[str]:
    """Say what an operation costs the CPU, where the exact clock counted it: "a page costs 45.13 million instructions"."""
    counted = [(cell.title, seen.run.instructions(cell)) for cell in seen.run.cells]
    costs = f"a {operation(seen.run)} costs"
    return [f"{costs} {instructions_counted(count)} at {title}" for title, count in counted if count is not None]


def law_line(seen: View) -> str:
    """Format the law in one line: ``T(d) = 9.031 ms + 21.05 d (k 21.01 to 21.09)``, or why it is missing."""
    if seen.law is None:
        return f"none ({seen.law_note})"
    k, t0 = seen.law.k, seen.law.t0
    width = f" (k {number(k.low)} to {number(k.high)})" if k.known and k.low != k.high else ""
    note = f", d = {seen.trip:g} x {spoken(seen.along).partition(',')[0]}" if seen.trip != 1 else ""
    note += f", {seen.law_note}" if seen.law_note else ""
    return f"T(d) = {number(t0.mean)} ms + {number(k.mean)} d{width}{note}"
