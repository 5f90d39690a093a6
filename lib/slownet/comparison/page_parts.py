"""Tells which part of a page's time differs between a run and the field: connect, TLS, first byte or body. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from slownet.judge.records.cell import Cell
from slownet.model.errors import SlownetError
from slownet.report.text import number
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
