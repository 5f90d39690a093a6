"""The answer to a run's question in a sentence, made from its claims and numbers, and never surer than the verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from slownet.judge.records.cell import Cell
from slownet.judge.records.condition_columns import NONE
from slownet.judge.records.intervals import Scope
from slownet.judge.records.judgement import INCONCLUSIVE, NOT_JUDGED, REFUTED, SUPPORTED, Judgement, Verdict
from slownet.judge.records.naming import (
    capital,
    conditions_phrase,
    counted,
    listed,
    metric_name,
    operation,
    varied,
    where,
    with_article,
)
from slownet.judge.records.quantity import quantity
from slownet.judge.records.result import RunData
from slownet.model.errors import SlownetError
from slownet.model.units import amount, spoken, unit_of
from slownet.report import delayed_links
from slownet.report.text import trimmed, whole_or_rounded
from slownet.report.view import CURE, WITHIN, Row, View, baseline
from slownet.theory.law import Law, fit, per_round_trip, trip
from slownet.theory.stats import Summary

DELAYS = 3
"""Of each group, at least: two points lie on a line in any case."""
ENDING = "_ms"


class _Group(NamedTuple):
    """The cells that differ by their delay alone: the phrase of what they share, the delays, and the law of their times."""

    shared: str
    delays: tuple[float, ...]
    law: Law
    links: int


def of_grid(seen: View) -> str:
    """Return the sentence, without a full stop; empty if no delay varies beside others, or if a group is not on a line.

    Round trips are the same whatever the others are if their numbers differ by no more than the margin of a cell on a law.
    """
    run, column = seen.run, _delay(seen.run)
    names = [name for name in varied(run) if name != column.removesuffix(ENDING)]
    if not column or not names or not seen.metric.endswith(ENDING):
        return ""
    found = _law_groups(seen, column, names)
    if len(found) < 2 or min(each.law.k.mean for each in found) <= 0:
        return ""
    few, many = (of(found, key=lambda each: each.law.k.mean) for of in (min, max))
    thing = with_article(operation(run))
    if (links := max(each.links for each in found)) > 1:
        rates = [each.law.k.mean * trip(column) for each in (few, many)]
        slope = " to ".join(dict.fromkeys(trimmed(each, 3) for each in rates))
        return f"{thing} {delayed_links.slope_words(f'{slope} ms', column.removesuffix(ENDING), links)}"
    if many.law.k.mean - few.law.k.mean > WITHIN * few.law.k.mean:
        trips = trimmed(many.law.k.mean, 3)
        return f"{thing} costs {_trips(few.law)} with {few.shared}, and {trips} with {many.shared}"
    gap = few.delays[-2 if len(few.delays) > DELAYS else -1] * trip(column)
    longer = amount(few.law.k.mean * gap, "ms", 2)
    whatever = listed([f"the {spoken(name).partition(',')[0]}" for name in names])
    return f"{thing} costs {_trips(few.law)}, whatever {whatever}: {trimmed(gap)} ms further away, it takes {longer} longer"


def _trips(law: Law) -> str:
    return counted(whole_or_rounded(law.k.mean), "round trip")


def _delay(run: RunData) -> str:
    """Return the only delay that varies, as a column; empty if none does, or several do."""
    columns = dict.fromkeys(name for cell in run.cells for name in cell.condition if per_round_trip(name) is not None)
    found = [name for name in columns if len({cell.condition.get(name) for cell in run.cells}) > 1]
    return found[0] if len(found) == 1 and found[0].removesuffix(ENDING) in varied(run) else ""


def _law_groups(seen: View, column: str, names: list[str]) -> list[_Group]:
    by_others: dict[tuple[str, ...], list[Cell]] = {}
    for cell in seen.run.cells:
        if cell.status == "ok" and seen.metric in cell.metrics and isinstance(cell.condition.get(column), int | float):
            by_others.setdefault(tuple(str(cell.label.get(name)) for name in names), []).append(cell)
    found = []
    for cells in by_others.values():
        points: Mapping[float, Cell] = {float(cell.condition[column]): cell for cell in cells}
        if len(points) < DELAYS or len(points) < len(cells):
            return []
        ordered = sorted(points)
        try:
            law = fit((each * trip(column), points[each].summary(seen.metric, Scope.WITHIN_RUN)) for each in ordered)
        except SlownetError:
            return []
        found.append(_Group(conditions_phrase(cells[0].label, names), tuple(ordered), law, delayed_links.count(cells)))
    return found


LATENCIES = ("corrected_p99_s", "uncorrected_p99_s")
STEP = 5.0
"""Cells fall into two groups if one is this many times the other or more."""
NARROW = 0.005
"""An interval that is narrower than this part of its number is not part of a sentence; the claim's text has it."""
BEND = 0.01
"""A bend is reported if a time is off the line by more than this part of the longest one."""
ROUNDED = 0.01
"""In a sentence without "about", two digits of a time that are off by more than this part of it are not enough."""
FEW = 3
"""Groups of up to this many cells are listed."""


def answer(seen: View) -> str:
    """Return the answer in a sentence; empty if nothing was measured."""
    if not any(row.time for row in seen.rows):
        return ""
    if own := str(seen.run.facts.get("answer") or ""):
        return own if all(seen.run.claims) else f"As measured: {own}"
    said = _law(seen) or of_grid(seen)
    if not said:
        said = _latencies(seen.run) or _cures(seen) or _groups(seen) or _extremes(seen)
        said = said if all(claim.verdict == SUPPORTED for claim in seen.run.claims) else f"as measured, {said}"
    return said and f"{capital(said)}."


def standing(claims: Sequence[Judgement]) -> str:
    """Say how far the claims carry the answer, in a sentence; empty without claims."""
    verdicts = [claim.verdict for claim in claims]
    if not verdicts:
        return ""
    count = len(verdicts)
    words = {each: each.phrase for each in Verdict}
    if count == 1:
        return f"The claim is {words[verdicts[0]]}."
    if len(set(verdicts)) == 1:
        _, is_not, rest = words[verdicts[0]].rpartition("not ")
        if is_not:
            return f"{'Neither claim' if count == 2 else f'None of the {_count(count)} claims'} is {rest}."
        return f"{'Both' if count == 2 else f'All {_count(count)}'} claims are {rest}."
    counts = [
        f"{_count(verdicts.count(each))} {'is' if verdicts.count(each) == 1 else 'are'} {word}"
        for each, word in words.items()
        if each in verdicts
    ]
    return f"Of the {_count(count)} claims {listed(counts)}."


def _count(number: int) -> str:
    return counted(number, "").strip() if number == 1 else counted(number, "").removesuffix(" s")


MOST_USED = 3
"""With more distances the answer speaks of the last but one: the largest is often there for the law's sake."""


def _law(seen: View) -> str:
    """Answer by the law, as sure as the claim about it; without a claim as what was measured."""
    law, run = seen.law, seen.run
    farther = sorted({row.delay for row in seen.rows if row.time and row.delay is not None})
    if law is None or len(farther) < 2 or law.k.mean <= 0:
        return ""
    claim = next((each for each in run.claims if each.kind == "law" and each.metric == seen.metric), None)
    gap = farther[-2 if len(farther) > MOST_USED else -1] * seen.trip  # a distance that was asked for
    thing, ms = operation(run), law.k.mean * gap
    then = f"{trimmed(gap)} ms further away, it takes"
    digits = 2 if abs(float(f"{ms:.2g}") - ms) <= ROUNDED * ms else 3  # three round trips of 35 ms are 105 ms, not 100
    exactly, about = (amount(ms, "ms", each) for each in (digits, 2))
    return _judged_law(seen, claim, thing, f"{then} {exactly} longer", f"{then} about {about} longer")


def _judged_law(seen: View, claim: Judgement | None, thing: str, then: str, about: str) -> str:
    assert seen.law is not None
    k = seen.law.k
    is_narrow = k.known and k.half_width < NARROW * k.mean
    middle, _, rest = (trimmed(k.mean, 3) if is_narrow else quantity(k, "round_trips")).partition(" ")
    found = f"{middle} round trip{'s' * (middle != '1')} {rest}".rstrip()
    verdict = NOT_JUDGED if claim is None else claim.verdict  # a judgement itself is true only if supported
    expected = None if claim is None else claim.expected
    links = delayed_links.count(seen.run.cells)
    if links > 1 and not expected:
        rate = k.mean * seen.trip
        slope = f"{trimmed(rate, 3)} ms" if is_narrow or seen.trip != 1 else f"{middle} ms {rest}".rstrip()
        return f"{with_article(thing)} {delayed_links.slope_words(slope, seen.along.removesuffix('_ms'), links)}"
    if expected and verdict == SUPPORTED:
        about_k = expected if abs(expected - round(expected)) < 1e-9 else float(f"{k.mean:.3g}")
        return f"{with_article(thing)} costs {counted(about_k, 'round trip')}: {then}"
    if expected and verdict == REFUTED:
        wanted = counted(expected, "round trip")
        was = "was" if wanted == counted(1, "round trip") else "were"
        return f"{with_article(thing)} does not cost the {wanted} that {was} expected, but {found}: {about}"
    if verdict == INCONCLUSIVE:
        return f"not decided: {with_article(thing).lower()} seems to cost {found}, so that {about}"
    far = max(time.mean for time in seen.law.times)
    is_bent = seen.law.bent and max(map(abs, seen.law.residuals)) > BEND * far  # long measurements detect any bend
    bend = "" if not is_bent else ", though the times do not lie on a straight line"
    return f"{with_article(thing)} costs {found} as measured here: {about}{bend}"


def _latencies(run: RunData) -> str:
    """Answer by both latencies, where a run has both."""
    cells = [cell for cell in run.cells if all(name in cell.metrics for name in LATENCIES)]
    if not cells:
        return ""
    compared = [cell for cell in cells if cell is not baseline(run, cell)] or cells
    worst = max(compared, key=lambda cell: cell.metrics[LATENCIES[0]].mean)
    due, sent = (amount(worst.metrics[name].mean, "s") for name in LATENCIES)
    at = f"with {where(worst.label, run)}, " if len(cells) > 1 else ""
    found = f"{at}99 % of requests took up to {due} from when they were due"
    return f"{found}; counted from when they were sent, it looks like {sent}"


def _cures(seen: View) -> str:
    """Answer by the best cure of each harm."""
    pairs = [(cell, row) for cell, row in zip(seen.run.cells, seen.rows, strict=True) if row.time]
    cured = [(cell, row) for cell, row in pairs if row.uncured and row.ratio and cell.label.get("harm") != NONE]
    said = []
    for (operation_, harm), found in groupby(cured, key=lambda pair: (pair[0].label.get("operation"), _harm(pair[0]))):
        best, row = min(found, key=lambda pair: pair[1].time.mean if pair[1].time else math.inf)
        uncured = next(
            (each.time for cell, each in pairs if _without(best, cell)), None
        )  # fmt: skip
        if uncured is None or row.time is None:
            continue
        gain = f"{_plain(uncured, seen)} to {_plain(row.time, seen)}"
        what = f"{harm} ({operation_})" if operation_ else harm
        if row.time.mean < uncured.mean:
            said.append(f"{what}: from {gain} with {best.label[CURE]}")
        else:
            said.append(f"{what}: no cure helps")
    return f"the best cure of each harm: {'; '.join(said)}" if said else ""


def _harm(cell: Cell) -> str:
    names = [name for name in cell.label if name not in (CURE, "operation")]
    if "harm" in cell.label:
        return str(cell.label["harm"])
    return conditions_phrase(cell.label, names)


def _without(cured: Cell, cell: Cell) -> bool:
    return {**cured.label, CURE: NONE} == dict(cell.label)


def _groups(seen: View) -> str:
    """Answer by two groups of cells, if one is far from the other and one of them is small."""
    found = sorted(_measured(seen), key=lambda pair: pair[1].mean)
    if len(found) < FEW:
        return ""
    steps = [after[1].mean / before[1].mean for before, after in pairwise(found) if before[1].mean > 0]
    if len(steps) != len(found) - 1 or max(steps) < STEP:
        return ""
    at = steps.index(max(steps)) + 1
    low, high = found[:at], found[at:]
    if sorted(steps)[-2] > max(steps) / STEP or min(len(low), len(high)) > FEW:
        return ""
    small, other, far = (high, low, "at most") if len(high) <= len(low) else (low, high, "at least")
    titles = [where(cell.label, seen.run) for cell, _ in small]
    names = ", or with ".join(titles) if any(" and " in title for title in titles) else listed(titles)
    edge = max(other, key=lambda pair: pair[1].mean) if far == "at most" else min(other, key=lambda pair: pair[1].mean)
    rest = f"the other {len(other)}" if len(other) > 1 else f"{where(other[0][0].label, seen.run)}"
    return (
        f"{metric_name(seen.metric, seen.run)} is {_span([each for _, each in small], seen)} with {names}, "
        f"and {far} {_plain(edge[1], seen)} with {rest}"
    )


def _extremes(seen: View) -> str:
    """Answer by the smallest and the largest number."""
    found, what = _measured(seen), metric_name(seen.metric, seen.run)
    if not found:
        return ""
    many = not unit_of(seen.metric) and what.endswith("s") and not what.endswith(("ss", "us"))
    low, high = min(found, key=lambda pair: pair[1].mean), max(found, key=lambda pair: pair[1].mean)
    if len(found) == 1 or low[1].mean == high[1].mean:
        return f"{what} {'are' if many else 'is'} {_plain(low[1], seen)}"
    first, last = (f"{_plain(each, seen)} with {where(cell.label, seen.run)}" for cell, each in (low, high))
    return f"{what} {'range' if many else 'ranges'} from {first} to {last}"


def _measured(seen: View) -> list[tuple[Cell, Summary]]:
    rows: Sequence[Row] = seen.rows
    return [(cell, row.time) for cell, row in zip(seen.run.cells, rows, strict=True) if row.time]


def _span(found: Sequence[Summary], seen: View) -> str:
    means = [each.mean for each in found]
    low, high = (amount(value, unit_of(seen.metric)) for value in (min(means), max(means)))
    return low if low == high else f"{low} to {high}"


def _plain(summary: Summary, seen: View) -> str:
    return amount(summary.mean, unit_of(seen.metric))
