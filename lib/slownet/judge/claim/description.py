"""The fields that tell what a judgement is about: the claim's kind, metric and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypedDict, TypeVar, cast

from slownet.judge.records.judgement import Judgement

CLAIMS = "claims"
THEORY = "theory"
"""The parameter that only judging knows, what a claim says of each cell: ``[{"cell": label, "value": number}]``."""
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
