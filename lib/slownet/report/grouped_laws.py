"""The answer of a grid of conditions with a delay: an operation's round trips, whatever the other conditions are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from slownet.judge.records.cell import Cell
from slownet.judge.records.intervals import Scope
from slownet.judge.records.naming import conditions_phrase, counted, listed, operation, varied, with_article
from slownet.judge.records.result import RunData
from slownet.model.errors import SlownetError
from slownet.model.units import amount, spoken
from slownet.report import delayed_links
from slownet.report.text import trimmed, whole_or_rounded
from slownet.report.view import WITHIN, View
from slownet.theory.law import Law, fit, per_round_trip, trip

DELAYS = 3
"""Of each group, at least: two points lie on a line in any case."""
ENDING = "_ms"


class _Group(NamedTuple):
    """The cells that differ by their delay alone: the phrase of what they share, the delays, and the law of their times."""

    shared: str
    delays: tuple[float, ...]
    law: Law
    links: int


def answer(seen: View) -> str:
    """Return the sentence, without a full stop; empty if no delay varies beside others, or if a group is not on a line.

    Round trips are the same whatever the others are if their numbers differ by no more than the margin of a cell on a law.
    """
    run, column = seen.run, _delay(seen.run)
    names = [name for name in varied(run) if name != column.removesuffix(ENDING)]
    if not column or not names or not seen.metric.endswith(ENDING):
        return ""
    found = _groups(seen, column, names)
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


def _groups(seen: View, column: str, names: list[str]) -> list[_Group]:
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
