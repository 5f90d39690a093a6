"""Names of cells, metrics and conditions in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from slownet.judge.records.condition_columns import NONE
from slownet.judge.records.result import RunData
from slownet.model.errors import UnitError
from slownet.model.units import rate, show_rate, spoken, stated, unit_of

OPERATION = "request"
"""The name of a timed operation, unless a run names it."""
NOUNS = {
    "mib_per_s": "the throughput", "mbit_per_s": "the throughput", "time_per_request_ms": "the time per {operation}",
    "answered_per_s": "the rate of answers", "round_trips": "the number of round trips",
    "round_trips_to_end": "the number of round trips to the last byte", "rtt_ms": "the round-trip time",
    "lost_percent": "the share of packets lost",
    "lookup_round_trips": "the number of round trips of the lookup", "first_byte_ms": "the time to the first byte",
    "received_bytes": "the number of bytes received", "bytes_after_stall": "the number of bytes after the stall",
    "stalls": "the number of stalls", "delayed": "the number of delayed ACKs", "quick_acks": "the number of quick ACKs",
    "quick_exchanges": "the number of quick exchanges", "delayed_ack_ms": "the delay of the ACK",
    "jain_index": "Jain's index of fairness", "first_share": "the first connection's share",
    "latency_min_ms": "the shortest time of a {operation}",
    "uncorrected_p99_s": "the 99th percentile from when requests were sent",
    "corrected_p99_s": "the 99th percentile from when requests were due",
    "load_ms": "the time until the page is loaded", "first_paint_ms": "the time to the first paint",
    "largest_paint_ms": "the time to the largest paint", "dom_ready_ms": "the time until the document is read",
    "speed_index_ms": "the speed index", "layout_shift": "the layout shift", "blocked_ms": "the blocking time",
    "connections": "the number of connections", "requests": "the number of requests",
    "held_back_objects": "the number of objects held back", "held_back_ms": "the time that objects are held back",
}  # fmt: skip
TIMES = re.compile(r"(^|_)(mean|p[\d_]+|max|min|avg|last|latency|lag|stall|delay|time|ack|seconds)(_|$)")
"""Metrics whose names state that they are times."""
PLACES = {
    "rtt": "{} of round trip", "delay": "{} of delay", "delay_up": "{} of delay", "delay_down": "{} of delay on the way back",
    "loss": "{} loss", "loss_up": "{} loss", "loss_down": "{} loss on the way back", "rate": "{}", "rate_up": "{}",
    "rate_down": "{} on the way back", "jitter": "{} of jitter", "queue": "a queue of {}",
}  # fmt: skip
"""Phrases for conditions of links; other conditions appear under their names."""
RATES = ("rate", "rate_up", "rate_down")
ITSELF = (
    "congestion", "pattern", "cure", "harm", "tool", "way", "mode", "operation", "client", "transport", "stack", "more",
    "protocol", "page", "aqm", "system",
)  # fmt: skip
"""Conditions whose value needs no name beside it."""
SILENT = ("seed",)
"""Conditions that are not cause of anything."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def operation(run: RunData) -> str:
    """Return what a run timed, as a noun: a page, a request."""
    return str(run.facts.get("operation") or OPERATION)


def metric_name(metric: str, run: RunData) -> str:
    """Return what a metric measures, without its unit: "the throughput", "the corrected p99"."""
    if metric in NOUNS:
        return NOUNS[metric].format(operation=operation(run))
    stem = spoken(re.sub(r"_p(\d+)_(\d+)_", r"_p\1.\2_", metric)).partition(",")[0]
    return f"the {stem} time" if unit_of(metric) in ("ms", "s") and not TIMES.search(metric) else f"the {stem}"


def metric_title(metric: str, run: RunData) -> str:
    """Return what a metric measures, for the start of a title: "Throughput"."""
    return capital(metric_name(metric, run).removeprefix("the "))


def counted(number: float, one: str) -> str:
    """Write a number of things: "four round trips", "21.05 round trips"."""
    whole = number == round(number) and 0 <= number < len(NUMBERS)
    text = NUMBERS[round(number)] if whole else stated(number)
    return f"{text} {one}{'s' * (text not in ('one', '1'))}"


def plural(number: int, one: str) -> str:
    """Write a number of things in digits: "1 student", "10 students"."""
    return f"{number} {one}{'s' * (number != 1)}"


def with_article(name: str) -> str:
    """Put the indefinite article before a noun, and a capital letter at the start."""
    return f"{'An' if name[:1] in 'aeiou' else 'A'} {name}"


def capital(sentence: str) -> str:
    """Write the first letter as a capital."""
    return sentence[:1].upper() + sentence[1:]


def listed(names: list[str]) -> str:
    """Join names: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def condition_phrase(name: str, value: Any) -> str:
    """Write a condition as text: "100 ms of delay", "congestion bbr"."""
    text = re.sub(r"^([\d.]+)([A-Za-z]+)$", r"\1 \2", str(value))
    text = re.sub(r"^([\d.]+)%", r"\1 %", text)
    if name in RATES and (said := _rate(str(value))):
        text = said
    if name in ITSELF:
        return f"no {name}" if text == NONE else text
    return PLACES[name].format(text) if name in PLACES else f"{name.replace('_', ' ')} {text}"


def conditions_phrase(label: Mapping[str, str], names: Iterable[str]) -> str:
    """Write those of some conditions that a cell has as text: "100 ms of delay and 10 % loss"; empty without any."""
    return listed([condition_phrase(name, label[name]) for name in names if name in label])


def _rate(text: str) -> str:
    """Write a rate as people do, "2 Mbit/s" for 2000kbit; an empty text otherwise."""
    try:
        return f"{show_rate(rate(text))}/s"
    except UnitError:
        return ""


def varied(run: RunData) -> list[str]:
    """Return the names of the conditions that are not the same in all cells, without those that cause nothing."""
    names = dict.fromkeys(name for cell in run.cells for name in cell.label if name not in SILENT)
    return [name for name in names if len({str(cell.label.get(name)) for cell in run.cells}) > 1]


def where(label: Mapping[str, str], run: RunData) -> str:
    """Describe what sets a cell apart from the other cells of a run: "100 ms of delay and 10 % loss"."""
    names = varied(run) or [name for name in label if name not in SILENT] or list(label)  # cells may differ by their seed alone
    return conditions_phrase(label, names) or "no condition"


def contrast(cell: Mapping[str, str], base: Mapping[str, str], run: RunData) -> tuple[str, str, str]:
    """Describe how two cells differ, and the shared conditions worth mentioning.

    returns: such as ("with congestion bbr", "with congestion cubic", "100 ms of delay"), or ("without a queue of 1000 packets",
        "with it", "").
    """
    names = [name for name in dict.fromkeys((*cell, *base)) if name not in SILENT]
    differing = [name for name in names if str(cell.get(name)) != str(base.get(name))]
    both = conditions_phrase(cell, [name for name in names if name not in differing and name in varied(run)])
    mine, other = (conditions_phrase(label, differing) for label in (cell, base))
    if not mine or not other:
        return (f"with {mine}", "without it", both) if mine else (f"without {other}", "with it", both)
    return f"with {mine}", f"with {other}", both
