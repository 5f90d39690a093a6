"""What Mininet's TCLink is told, as a condition of what one interface sends.

Mininet makes tc commands of its parameters and prints what tc answers. Here they are read once, and what tc would refuse, drop
or do otherwise is said:

    bw above 1000       Mininet ignores it; here it is the rate
    delay='10'          tc takes microseconds; here it is an error
    jitter, no delay    tc refuses, and the link stays as it was; here it is an error
    loss=101, bw=-1     Mininet prints a line and goes on; here it is an error
    no max_queue_size   Mininet leaves 1000 packets, those that travel among them; here one bandwidth-delay product waits

A shaper's name (use_htb, use_hfsc) says by what means, not what happens, and changes nothing; use_tbf has a bucket and a queue
of its own, and keeps them.
"""

from __future__ import annotations

import re
from typing import Any

from slownet.conditions.link import Condition
from slownet.errors import ConditionError

TBF_BURST = 15_000  # bytes, as in Mininet's TCIntf.bwCmds; so are the thresholds
RED = "red 30000B 35000B"
RED_LIMIT = "1MB"
# tc's other names of units (tc_util.c), which a program may use.
_UNITS = {"sec": "s", "secs": "s", "msec": "ms", "msecs": "ms", "usec": "us", "usecs": "us", "nsec": "ns", "nsecs": "ns"}
_TIME = re.compile(r"(-?[\d.]+) ?([a-z]*)", re.ASCII)


def condition(
    *, bw: float | None = None, delay: str | None = None, jitter: str | None = None, loss: float | str | None = None,
    max_queue_size: int | None = None, use_tbf: bool = False, latency_ms: float | None = None, enable_ecn: bool = False,
    enable_red: bool = False,
) -> Condition:  # fmt: skip
    """The condition of those parameters of Mininet's TCIntf; all that is not stated is none.

    bw: Mbit/s. delay: one-way, as a person writes it for tc: "5ms", also "5ms 1ms 25% distribution normal". loss: percent.
    max_queue_size: packets. latency_ms: how long a packet may wait for a token, with use_tbf. Raises UnitError, ConditionError.
    """
    fields = _delay(delay, jitter)
    if loss is not None:
        fields["loss"] = _loss(loss)
    if max_queue_size is not None:
        fields["queue"] = f"{_number(max_queue_size, 'max_queue_size'):.0f} packets"
    if bw is None:
        unlimited = {"use_tbf": use_tbf, "latency_ms": latency_ms, "enable_ecn": enable_ecn, "enable_red": enable_red}
        for name, given in unlimited.items():
            if given:
                raise ConditionError(f"{name} without bw: there is no bottleneck", fix="give a bw in Mbit/s")
        return Condition.parse(**fields)
    rate = _number(bw, "bw") * 1e6
    if rate <= 0:
        raise ConditionError(f"bw={bw} lets nothing through", fix="give Mbit/s above 0, or loss=100 for a link that is cut")
    fields["rate"] = f"{rate:.0f}bit"
    if use_tbf:
        fields["burst"] = f"{TBF_BURST}B"
        waits = 8 * TBF_BURST / rate if latency_ms is None else _number(latency_ms, "latency_ms") / 1e3
        fields.setdefault("queue", f"{waits * 1e9:.0f}ns")
    elif latency_ms is not None:
        raise ConditionError(
            "latency_ms without use_tbf: only that shaper has a latency", fix="give use_tbf=True, or max_queue_size"
        )
    if enable_ecn or enable_red:
        fields |= {"aqm": RED, "ecn": bool(enable_ecn)}
        fields.setdefault("queue", RED_LIMIT)
    return Condition.parse(**fields)


def _delay(delay: Any, jitter: Any) -> dict[str, Any]:
    """delay, jitter, correlation and distribution, in the words of tc-netem(8)."""
    words = " ".join(str(each) for each in (delay, jitter) if each not in (None, 0)).split()
    fields: dict[str, Any] = {}
    if "distribution" in words:
        place = words.index("distribution")
        fields["distribution"] = " ".join(words[place + 1 :])
        words = words[:place]
    names = ["delay", "jitter", "correlation"][(delay in (None, 0)) :]
    if len(words) > len(names):
        raise ConditionError(f"delay '{' '.join(words)}' has more than a delay, a jitter and a correlation", fix="write 5ms")
    for name, word in zip(names, words, strict=False):
        fields[name] = word if name == "correlation" else _time(word)
    if fields.get("jitter") in ("0s", "0ms"):
        fields = {"delay": fields.get("delay")}
    return fields


def _time(word: str) -> str:
    """tc's units as the project's; whether it is a time at all is for the reader of units to say."""
    found = _TIME.fullmatch(word.lower())
    if not found:
        return word
    number, unit = found.groups()
    if not unit and not float(number or 0):
        return "0s"
    return number + _UNITS.get(unit, unit)


def _loss(loss: float | str) -> str:
    if isinstance(loss, str) and loss.strip().endswith("%"):
        return loss
    percent = _number(loss, "loss")
    if not 0 <= percent <= 100:
        raise ConditionError(f"loss={loss} is no percentage", fix="give 0 to 100")
    return f"{percent:.7f}%"


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        units = {"bw": "Mbit/s", "loss": "percent", "max_queue_size": "packets", "latency_ms": "milliseconds"}
        raise ConditionError(f"{name}={value!r} is no number", fix=f"give {units[name]}") from None
