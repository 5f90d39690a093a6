"""How numbers of claims are written: margins, limits, round trips."""

from __future__ import annotations

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
