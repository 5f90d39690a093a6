"""A condition's fields as text for reports: each function returns a list of texts, empty for an absent value."""

from __future__ import annotations

from typing import Any

from slownet.links.conditions.jitter import Table
from slownet.model.units import show_duration, show_percent, show_rate


def delay(up: float, down: float) -> list[str]:
    """Return a text such as "+10 ms RTT"; arguments in seconds."""
    if not up + down:
        return []
    ways = f" ({show_duration(up)} up, {show_duration(down)} down)" if up != down else ""
    return [f"+{show_duration(up + down)} RTT{ways}"]


def jitter(up: float, down: float, distribution: str | Table, correlation: float) -> list[str]:
    """Return a text such as "uniform jitter 2 ms up correlated by 25 %", for the larger of the two; arguments in seconds."""
    larger = max(up, down)
    if not larger:
        return []
    related = f" correlated by {show_percent(correlation)}" if correlation else ""
    one_way = "" if up and down else " up" if up else " down"
    size = larger * (distribution.deviation if isinstance(distribution, Table) else 1)
    return [f"{distribution} jitter {show_duration(size)}{one_way}{related}"]


def loss(each: Any, up: Any, down: Any) -> list[str]:
    """Return texts such as "loses 1 %", or "loses 1 % up"."""
    stated = (("", each), (" up", up), (" down", down))
    return [f"loses {model}{way}" for way, model in stated if model is not None]


def rate(up: float | None, down: float | None) -> list[str]:
    """Return texts such as "2 Mbit", or "1 Mbit up" and "8 Mbit down"; arguments in bit/s."""
    if up == down:
        return [] if up is None else [show_rate(up)]
    return [f"{show_rate(bits)} {way}" for way, bits in (("up", up), ("down", down)) if bits is not None]


def aqm(name: str | None, ecn: bool | None) -> list[str]:
    """Return a text such as "red with ECN"."""
    return [] if name is None else [name + {None: "", True: " with ECN", False: " without ECN"}[ecn]]


def said(verb: str, value: Any, unit: str = "") -> list[str]:
    """Return the verb and the value of a given field."""
    return [] if value is None else [f"{verb} {value}{unit}"]
