"""The wording of a claim: its margin, its limits, its cells, in its name and in its sentence.

A name depends on the claim's fields alone: records and other runs know a claim by it. A sentence is for people, who see it
beside the run: it names what sets cells apart there, and what was measured as a noun.
"""

from __future__ import annotations

from collections.abc import Mapping

from slownet.judge.records.judgement import Judgement
from slownet.judge.records.naming import contrast, metric_name, operation, where, with_article
from slownet.judge.records.result import RunData
from slownet.model.units import stated

Limit = float | str | None


def within(part: float) -> str:
    """Write the margin of a claim: "within 5 %"."""
    return f"within {100 * part:g} %"


def limits(at_least: Limit, at_most: Limit) -> str:
    """Write limits: "at least 40ms", "39 to 48"."""
    least, most = (each if isinstance(each, str) or each is None else stated(each) for each in (at_least, at_most))
    if least is None:
        return f"at most {most}"
    if most is None or least == most:
        return f"at least {least}" if most is None else least
    return f"{least} to {most}"


def round_trips(number: float) -> str:
    """Write a number of round trips: "1 round trip", "0.5 round trips"."""
    text = stated(number)
    return f"{text} round trip{'s' * (text != '1')}"


def margin(claim: Judgement) -> str:
    """Return the margin of a judged claim for the end of its sentence: " (within 5 %)"; empty without one."""
    return f" ({within(float(claim.parameters['within']))})" if claim.parameters.get("within") else ""


def timed(claim: Judgement, run: RunData) -> str:
    """Return what costs round trips: the operation, or, of another time than that of the run, what that measures."""
    if claim.metric == run.main_metric:
        return f"{with_article(operation(run))} costs"
    return f"{metric_name(claim.metric, run)} is"


def two_cells(claim: Judgement, run: RunData) -> tuple[str, str, str]:
    """Return how a claim's second cell and its first differ, and what is the same in both."""
    base, cell = claim.cells
    mine, other, both = contrast(cell, base, run)
    return mine, other, f", at {both}" if both else ""


def apart(label: Mapping[str, str], run: RunData) -> str:
    """Name a cell by what sets it apart among the cells of the run: "with 10 ms of round trip"."""
    exact = run.exactly(label)
    return f"with {where(label if exact is None else exact.label, run)}"


def span(least: Limit, most: Limit, of: str = "") -> str:
    """Return limits with the unit after the last number: "39 to 48 ms"; an upper limit of 0 is 0."""
    tail = f" {of}" if of else ""
    mixed = least is not None and most is not None and isinstance(least, str) != isinstance(most, str)
    unit, tail = (tail, "") if mixed or isinstance(least, str) or isinstance(most, str) else ("", tail)
    low, high = (each if each is None or isinstance(each, str) else f"{stated(float(each))}{unit}" for each in (least, most))
    if low is None:  # a count or a time is not less than nothing
        return f"at most {high}{tail}" if high != "0" else f"0{tail}"
    if high is None:
        return f"at least {low}{tail}"
    return f"{low}{tail}" if low == high else f"{low} to {high}{tail}"
