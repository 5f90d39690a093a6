"""A cell's conditions as records hold them: numbers where there are any, the unit in the name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slownet.conditions import named as conditions
from slownet.conditions.impairment import Chance, loss
from slownet.conditions.queueing import Queue
from slownet.units import duration, rate

NONE = "none"


def condition(cell: Mapping[str, str]) -> dict[str, Any]:
    """A cell's conditions with the unit in the name: {"rtt": "10ms"} becomes {"rtt_ms": 10.0}.

    A named condition ("LTE") stays, and what it sets stands beside it. "none" stands for no number. A whole number
    stays one ("threads": "10"); a condition that is no link's, and a loss or a queue that one number cannot tell, stay text.
    Raises UnitError, ConditionError.
    """
    found: dict[str, Any] = {}
    for name, text in cell.items():
        if name == "condition":
            fields = conditions.row(text).fields
            found |= {"condition": text, **condition({key: str(value) for key, value in fields.items()})}
        elif name in _READERS:
            found |= {} if text == NONE else _READERS[name](name, text)
        else:
            found[name] = int(text) if text.isdecimal() else text
    return found


def _ms(name: str, text: str) -> dict[str, Any]:
    return {f"{name}_ms": round(duration(text) * 1000, 6)}


def _kbit(name: str, text: str) -> dict[str, Any]:
    return {f"{name}_kbit": round(rate(text) / 1000, 6)}


def _percent(name: str, text: str) -> dict[str, Any]:
    model = loss(text)
    plain = isinstance(model, Chance) and not model.correlation
    return {f"{name}_percent": round(model.mean * 100, 9)} if plain else {name: text}


def _queue(name: str, text: str) -> dict[str, Any]:
    queue = Queue.parse(text)
    return {"queue_packets": int(queue.amount)} if queue.unit == "packets" else {name: str(queue)}


_READERS: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    **dict.fromkeys(("rtt", "delay", "delay_up", "delay_down", "jitter"), _ms),
    **dict.fromkeys(("rate", "rate_up", "rate_down"), _kbit),
    **dict.fromkeys(("loss", "loss_up", "loss_down"), _percent),
    "queue": _queue,
}
