"""Columns of a record from a condition's fields: a number, with its unit in the column's name.

Each function takes a field's name and text; a value that is more than one number stays a text. They raise UnitError and
ConditionError.
"""

from __future__ import annotations

from slownet.links.conditions.impairment import Chance, loss
from slownet.links.conditions.queueing import Queue
from slownet.links.conditions.slot import Slot
from slownet.model.units import duration, rate, size


def milliseconds(name: str, text: str) -> dict[str, float | str]:
    """``("rtt", "10ms")`` gives ``{"rtt_ms": 10.0}``."""
    return {f"{name}_ms": round(duration(text) * 1000, 6)}


def kilobits(name: str, text: str) -> dict[str, float | str]:
    """``("rate", "2Mbit")`` gives ``{"rate_kbit": 2000.0}``."""
    return {f"{name}_kbit": round(rate(text) / 1000, 6)}


def octets(name: str, text: str) -> dict[str, float | str]:
    """``("overhead", "38B")`` gives ``{"overhead_bytes": 38}``."""
    return {f"{name}_bytes": size(text)}


def percentage(name: str, text: str) -> dict[str, float | str]:
    """``("loss", "1%")`` gives ``{"loss_percent": 1.0}``; bursts and correlated losses stay a text."""
    model = loss(text)
    plain = isinstance(model, Chance) and not model.correlation
    return {f"{name}_percent": round(model.mean * 100, 9)} if plain else {name: text}


def queue(name: str, text: str) -> dict[str, float | str]:
    """``("queue", "100 packets")`` gives ``{"queue_packets": 100}``; other sizes stay a text."""
    read = Queue.parse(text)
    return {f"{name}_packets": int(read.amount)} if read.unit == "packets" else {name: str(read)}


def slot(name: str, text: str) -> dict[str, float | str]:
    """``("slot", "10ms")`` gives ``{"slot_ms": 10.0}``; slots of random length, or with limits, stay a text."""
    read = Slot.parse(text)
    return {f"{name}_ms": round(read.least * 1000, 6)} if read == Slot(read.least, read.least) else {name: str(read)}
