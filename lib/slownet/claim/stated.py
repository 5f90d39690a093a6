"""What a judgement is about, as fields: the kind of its claim, the metric, and what else the claim states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from slownet.records.judgement import Judgement

KIND, METRIC, PARAMETERS, CLAIMS = "kind", "metric", "parameters", "claims"
SAID = (METRIC, "name", "because")
"""Fields of a claim that are no parameters: a judgement has a field for the metric, and a sentence for the others."""

Judge = TypeVar("Judge", bound=Callable[..., Judgement])


def stating(judge: Judge) -> Judge:
    """Decorates a claim's ``judge``, so that its judgements say what they are about: see `stated`."""

    @wraps(judge)
    def stating_judge(claim: Any, *args: Any, **more: Any) -> Judgement:
        return stated(claim, judge(claim, *args, **more))

    return cast(Judge, stating_judge)


def stated(claim: Any, found: Judgement) -> Judgement:
    """The judgement with the claim's kind, metric and parameters."""
    return replace(found, **statement(claim))


def statement(claim: Any) -> dict[str, Any]:
    """``{"kind", "metric", "parameters"}`` of a claim, as JSON can hold them.

    Parameters are the fields that hold numbers, texts and conditions. What a function or a measured number says stands in the
    judgement's ``expected``. Claims that others are composed of are statements themselves, below "claims".
    """
    given = {each.name: getattr(claim, each.name) for each in fields(claim)} if is_dataclass(claim) else {}
    parameters = {name: plain for name, value in given.items() if name not in SAID and (plain := _plain(value)) is not None}
    parts = given.get(CLAIMS) or (given["claim"],) if {CLAIMS, "claim"} & set(given) else ()
    if parts:
        parameters[CLAIMS] = [statement(part) for part in parts]
    return {KIND: type(claim).__name__.rstrip("_"), METRIC: str(given.get(METRIC, "")), PARAMETERS: parameters}


def _plain(value: Any) -> Any:
    """A value as JSON can hold it, None for what is no number, text, or collection of these."""
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
