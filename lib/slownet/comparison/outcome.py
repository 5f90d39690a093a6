"""The outcome of a comparison: better, worse, equal or open; its cause by the law; the part of a page's time that differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from slownet.comparison.row import DIFFERS, EQUIVALENT, INCONCLUSIVE, Row
from slownet.judge.records.cell import Cell
from slownet.model.errors import SlownetError
from slownet.report.text import number
from slownet.theory.law import Law
from slownet.theory.stats import DECIDING, Summary, difference, exceeds
from slownet.tools.fetch import PARTS

SURE = (1 - DECIDING) / 2


@dataclass(frozen=True)
class Part:
    """A phase of the request: what the run predicts at the field's round trip, and what the field has, in ms."""

    name: str
    metric: str
    first: Summary
    second: Summary
    difference: Summary
    """The second without the first."""

    def to_json(self) -> dict[str, object]:
        """Return the part as JSON."""
        numbers = {name: getattr(self, name).to_json() for name in ("first", "second", "difference")}
        return {"part": self.name, "metric": self.metric, **numbers}


def parts(predicted: Callable[[str], Summary], page: Cell) -> Iterator[Part]:
    """Find the parts that both have.

    predicted: the run's time of a metric at the field's round trip; it raises SlownetError if the run does not have it.
    """
    for metric, name in PARTS.items():
        try:
            first, second = predicted(metric).at_confidence(DECIDING), page.summary(metric).at_confidence(DECIDING)
        except SlownetError:
            continue
        yield Part(name, metric, first, second, difference(second, first))


def cause(found: Sequence[Part], within: float) -> str:
    """Return which part differs most; empty if none differs significantly by more than ``within`` of the whole time."""
    margin = within * sum(part.first.mean for part in found)
    apart = [part for part in found if part.difference.known and exceeds(part.difference, margin) <= SURE]
    if not apart:
        return ""
    most = max(apart, key=lambda part: abs(part.difference.mean))
    gap = most.difference
    low, high = sorted((abs(gap.low), abs(gap.high)))
    said = f"{number(abs(gap.mean))} ms ({number(low)} to {number(high)}) {'more' if gap.mean > 0 else 'less'}"
    return f"most in {most.name}, {said} than the run predicts"


BETTER, WORSE, EQUAL, DIFFERENT, OPEN, NO_SLOWER = "better", "worse", "equal", "different", "open", "no slower"
STATUS = {BETTER: 0, EQUAL: 0, NO_SLOWER: 0, WORSE: 1, DIFFERENT: 1, OPEN: 3}
"""The exit status of each outcome."""
LOWER, HIGHER = -1, 1
HALF, NEARLY = 0.5, 0.05
"""A change of k is given in whole round trips if its interval separates them and holds one, or nearly one if it is exact.

That it did not change is said if the interval excludes half of one."""
LEAST_TRIPS = 0.01
"""A smaller change of k does not count, however exact it is: the kernel's timers make 0.02 ms of it."""
RATES = ("per_s", "per_second")
TIMES = ("ms", "s", "seconds", "us")
COUNTS_OF_HARM = ("retransmits", "failed", "errors", "lost", "timeouts")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a comparison.

    word: "better", "worse", "equal", "different" (a metric differs, and neither direction is better) or "open"; with `gate`,
        "no slower" instead of "better" and "equal".
    text: the greatest difference, or why it is open.
    cause: what changed in the law; empty if none exists, or none in both.
    """

    word: str
    text: str
    cause: str = ""

    @property
    def status(self) -> int:
        """The exit status: 0 if the second run is equal or better, 1 if it is not, 3 if that is open."""
        return STATUS[self.word]

    def __str__(self) -> str:
        """Return the outcome in one line."""
        return "; ".join(filter(None, (f"{self.word}: {self.text}", self.cause)))


Judge = Callable[[Sequence[Row], float, str], Outcome]
"""Makes the outcome of a comparison from its rows, its margin and the change of the law."""


def better(metric: str) -> int | None:
    """Return whether lower (-1) or higher (1) is better for a metric, from its unit; None if neither is known to be.

    >>> better("time_per_request_ms"), better("transactions_per_s"), better("busy_threads")
    (-1, 1, None)
    """
    if metric.endswith(RATES):
        return HIGHER
    last = metric.rsplit("_", 1)[-1]
    return LOWER if last in TIMES or metric in COUNTS_OF_HARM else None


def versions(rows: Sequence[Row], within: float, cause: str = "") -> Outcome:
    """Compare two versions of a system: a row that is worse decides, then one that differs, then one that is open."""
    by_word: dict[str, list[Row]] = {}
    for row in rows:
        by_word.setdefault(word(row), []).append(row)
    for worst in (WORSE, DIFFERENT):
        if worst in by_word:
            return Outcome(worst, _greatest(by_word[worst]), cause)
    if OPEN in by_word or not rows:
        return Outcome(OPEN, _undecided(by_word.get(OPEN, ()), len(rows)))
    if BETTER in by_word:
        return Outcome(BETTER, _greatest(by_word[BETTER]), cause)
    return Outcome(EQUAL, f"all {len(rows)} comparisons are equivalent" if len(rows) > 1 else "equivalent")


def sites(rows: Sequence[Row], within: float, cause: str = "") -> Outcome:
    """Compare a run with a site: whether they agree, because neither is a version of the other."""
    apart = [row for row in rows if row.verdict == DIFFERS]
    return Outcome(DIFFERENT, _greatest(apart), cause) if apart else versions(rows, within, cause)


def gate(rows: Sequence[Row], within: float, cause: str = "") -> Outcome:
    """Find out whether the second version is slower by more than ``within``: only times and rates count, in one direction.

    A condition, or a time or a rate, that was not measured again leaves it open.
    """
    directed = [row for row in rows if not row.metric or better(row.metric)]
    worse = [row for row in directed if word(row) == WORSE]
    if worse:
        return Outcome(WORSE, _greatest(worse), cause)
    undecided = [row for row in directed if not _no_slower(row, within)]
    if undecided or not directed:
        return Outcome(OPEN, _undecided(undecided, len(directed)))
    return Outcome(NO_SLOWER, f"by more than {100 * within:g} %, in {len(directed)} comparison{'s' * (len(directed) > 1)}")


def in_the_law(first: Law, second: Law) -> str:
    """Return which part of the law changed, the round trips or the time at the ends; empty if neither does significantly."""
    k, t0 = difference(second.k, first.k), difference(second.t0, first.t0)
    if k.known and not k.low <= 0 <= k.high and abs(k.mean) > LEAST_TRIPS:
        whole = round(k.mean)
        said = "round trips changed"
        if whole and k.half_width < HALF and abs(k.mean - whole) <= max(k.half_width, NEARLY):
            count = "one" if abs(whole) == 1 else str(abs(whole))
            said = f"{count} round trip{'s' * (abs(whole) > 1)} {'more' if whole > 0 else 'fewer'} per operation"
        return f"{said}: k {number(first.k.mean, 3)} to {number(second.k.mean, 3)}"
    if t0.known and not t0.low <= 0 <= t0.high:
        trips = f"(k {number(first.k.mean, 3)} and {number(second.k.mean, 3)})"
        ends = f"T0 {number(first.t0.mean, 3)} to {number(second.t0.mean, 3)} ms"
        if k.known and max(-k.low, k.high) < HALF:
            return f"the round trips did not change {trips}, the time without delay did: {ends}"
        return f"the time without delay changed: {ends}; whether the round trips did is open {trips}"
    return ""


def word(row: Row) -> str:
    """Return "better", "worse", "equal", "different" or "open" for one row."""
    if row.verdict == EQUIVALENT:
        return EQUAL
    if row.verdict == INCONCLUSIVE or not row.difference:
        return OPEN
    direction = better(row.metric)
    return DIFFERENT if direction is None else BETTER if row.difference.mean * direction > 0 else WORSE


def _no_slower(row: Row, within: float) -> bool:
    if row.verdict == EQUIVALENT:
        return True
    if row.beyond is None or not row.beyond[0].known:
        return False
    gap, width = row.beyond
    return gap.high <= width if better(row.metric) == LOWER else gap.low >= -width


def _greatest(rows: Sequence[Row]) -> str:
    """Describe the row with the greatest ratio, and count the others.

    Of ratios that are written alike, as that of a time and that of its rate, the first row's counts: the run's main metric.
    """

    def size(row: Row) -> float:
        mean = row.ratio.mean if row.ratio else math.nan
        return round(abs(math.log(mean)), 3) if math.isfinite(mean) and mean > 0 else math.inf

    row = max(rows, key=size)
    if row.verdict == DIFFERS and row.ratio and math.isfinite(row.ratio.mean):
        times = f"{number(row.ratio.mean, 3)} times ({number(row.ratio.low, 3)} to {number(row.ratio.high, 3)})"
    else:
        times = " to ".join(number(each.mean if each else None) for each in (row.first, row.second))
    others = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{row.metric} {times}{f' at {row.condition}' if row.condition else ''}{others}"


def _undecided(rows: Sequence[Row], of_all: int) -> str:
    if not rows:
        return "nothing was compared"
    why = f" ({rows[0].note})" if rows[0].note else ""
    more = "; measuring more may decide" if any(row.first and row.second for row in rows) else ""
    return f"{len(rows)} of {of_all} comparisons are undecided, such as {rows[0].name}{why}{more}"
