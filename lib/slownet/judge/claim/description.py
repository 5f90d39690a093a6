"""A claim's fields as a judgement has them (kind, metric, parameters), and their words in its name and sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypedDict, TypeVar, cast

from slownet.judge.records.judgement import Judgement
from slownet.judge.records.naming import contrast, metric_name, operation, where, with_article
from slownet.judge.records.result import RunData
from slownet.model.units import stated

# A name depends on the claim's fields alone: records and other runs know a claim by it. A sentence is for people, who see it
# beside the run: it names what sets cells apart there, and what was measured as a noun.

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


CLAIMS = "claims"
THEORY = "theory"
"""The parameter that only judging knows, what a claim states of each cell: ``[{"cell": label, "value": number}]``."""
NOT_PARAMETERS = ("metric", "name", "because")
"""Fields of a claim that are not parameters: a judgement has a field for the metric, and its name and text have the others."""

Judge = TypeVar("Judge", bound=Callable[..., Judgement])


def with_description(judge: Judge) -> Judge:
    """Decorate a claim's ``judge``, so that its judgements have the claim's kind, metric and parameters."""

    @wraps(judge)
    def describing_judge(claim: Any, *args: Any, **more: Any) -> Judgement:
        return add_description(claim, judge(claim, *args, **more))

    return cast(Judge, describing_judge)


class Description(TypedDict):
    """The subject of a judgement."""

    kind: str
    metric: str
    parameters: dict[str, object]


def add_description(claim: Any, found: Judgement) -> Judgement:
    """Add the claim's kind, metric and parameters to a judgement, and whether its author named it."""
    says = description(claim)
    if THEORY in found.parameters:
        says["parameters"][THEORY] = found.parameters[THEORY]
    return replace(found, **says, named=bool(getattr(claim, "name", "")))


def description(claim: Any) -> Description:
    """Return ``{"kind", "metric", "parameters"}`` of a claim, ready for JSON.

    Parameters are the fields that hold numbers, texts and conditions. The value of a function or a measured number is in the
    judgement's ``expected`` instead. The parts of a composed claim are listed as "claims", in the same form.
    """
    given = {each.name: getattr(claim, each.name) for each in fields(claim)} if is_dataclass(claim) else {}
    parameters = {
        name: plain for name, value in given.items() if name not in NOT_PARAMETERS and (plain := _plain(value)) is not None
    }
    parts = given.get(CLAIMS) or (given["claim"],) if {CLAIMS, "claim"} & set(given) else ()
    if parts:
        parameters[CLAIMS] = [description(part) for part in parts]
    return {"kind": type(claim).__name__.rstrip("_"), "metric": str(given.get("metric", "")), "parameters": parameters}


def _plain(value: Any) -> Any:
    """Convert a value for JSON; None unless it is a number, a text, or a collection of these."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        found = [_plain(each) for each in value]
        return None if None in found else found
    return None


def described(kind: str, given: Mapping[str, Any]) -> str:
    """Return a claim that is not judged yet by its kind and fields: "bound: metric lag_ms, at_most 5"."""
    return f"{kind}: " + ", ".join(f"{name} {shown(value)}" for name, value in given.items())


def shown(value: Any) -> str:
    """Return a field's value as text: "rtt 10ms" of a table, "10ms and 40ms" of a list."""
    if isinstance(value, Mapping):
        return " ".join(f"{name} {each}" for name, each in value.items())
    if isinstance(value, tuple | list):
        return " and ".join(map(shown, value))
    return unjudged(value) if hasattr(value, "judge") else "by a function" if callable(value) else str(value)


def unjudged(claim: Any) -> str:
    """Return a claim by its name, or by its kind and fields if it has no name before it is judged."""
    kind = type(claim).__name__
    if not is_dataclass(claim):
        return kind
    if name := getattr(claim, "name", ""):
        return str(name)
    given = {each.name: getattr(claim, each.name) for each in fields(claim)}
    return described(kind, {name: value for name, value in given.items() if value not in (None, "")})
