"""A field of a condition as columns of a record: its number, with the unit in the name.

Each takes the word as it was stated and its text; what one number cannot tell stays a text. Raises UnitError, ConditionError.
"""

from __future__ import annotations

from typing import Any

from slownet.conditions.impairment import Chance, loss
from slownet.conditions.queueing import Queue
from slownet.conditions.slot import Slot
from slownet.units import duration, rate, size


def milliseconds(name: str, text: str) -> dict[str, Any]:
    """``("rtt", "10ms")`` gives ``{"rtt_ms": 10.0}``."""
    return {f"{name}_ms": round(duration(text) * 1000, 6)}


def kilobits(name: str, text: str) -> dict[str, Any]:
    """``("rate", "2Mbit")`` gives ``{"rate_kbit": 2000.0}``."""
    return {f"{name}_kbit": round(rate(text) / 1000, 6)}


def octets(name: str, text: str) -> dict[str, Any]:
    """``("overhead", "38B")`` gives ``{"overhead_bytes": 38}``."""
    return {f"{name}_bytes": size(text)}


def percentage(name: str, text: str) -> dict[str, Any]:
    """``("loss", "1%")`` gives ``{"loss_percent": 1.0}``; losses in bursts, or correlated ones, stay a text."""
    model = loss(text)
    plain = isinstance(model, Chance) and not model.correlation
    return {f"{name}_percent": round(model.mean * 100, 9)} if plain else {name: text}


def queue(name: str, text: str) -> dict[str, Any]:
    """``("queue", "100 packets")`` gives ``{"queue_packets": 100}``; other sizes stay a text."""
    read = Queue.parse(text)
    return {f"{name}_packets": int(read.amount)} if read.unit == "packets" else {name: str(read)}


def slot(name: str, text: str) -> dict[str, Any]:
    """``("slot", "10ms")`` gives ``{"slot_ms": 10.0}``; slots that vary, or end earlier, stay a text."""
    read = Slot.parse(text)
    return {f"{name}_ms": round(read.least * 1000, 6)} if read == Slot(read.least, read.least) else {name: str(read)}
