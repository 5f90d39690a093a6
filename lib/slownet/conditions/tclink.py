"""The parameters of Mininet's TCLink as a condition of what one interface sends.

Mininet turns its parameters into tc commands and prints tc's answers. Here they are read once; the differences are:

    bw above 1000       Mininet ignores it; here it is the rate
    delay='10'          tc assumes microseconds; here it is an error
    jitter, no delay    tc refuses it and the link stays unchanged; here it is an error
    loss=101, bw=-1     Mininet prints a line and continues; here it is an error
    no max_queue_size   Mininet allows 1000 packets, those in flight included; here the queue is one bandwidth-delay product

The choice of a shaper (use_htb, use_hfsc) has no effect, because it does not change the condition; use_tbf keeps its own
bucket and queue.
"""

from __future__ import annotations

import re
from typing import Any

from slownet.conditions.link import Condition
from slownet.errors import ConditionError

TBF_BURST = 15_000  # bytes; like the thresholds from Mininet's TCIntf.bwCmds
RED = "red 30000B 35000B"
RED_LIMIT = "1MB"
# tc's other unit names (tc_util.c), which a program may use.
_UNITS = {"sec": "s", "secs": "s", "msec": "ms", "msecs": "ms", "usec": "us", "usecs": "us", "nsec": "ns", "nsecs": "ns"}
_TIME = re.compile(r"(-?[\d.]+) ?([a-z]*)", re.ASCII)


def condition(
    *, bw: float | None = None, delay: str | None = None, jitter: str | None = None, loss: float | str | None = None,
    max_queue_size: int | None = None, use_tbf: bool = False, latency_ms: float | None = None, enable_ecn: bool = False,
    enable_red: bool = False,
) -> Condition:  # fmt: skip
    """Return the condition of these parameters of Mininet's TCIntf.

    Parameters
    ----------
    bw : float
        Mbit/s.
    delay : str
        One-way, as written for tc: "5ms", also "5ms 1ms 25% distribution normal".
    jitter : str
        Such as "1ms".
    loss : float or str
        Percent.
    max_queue_size : int
        Packets.
    use_tbf : bool
        Whether a token bucket of 15,000 bytes limits the rate.
    latency_ms : float
        With `use_tbf`: how long a packet may wait for a token, in milliseconds.
    enable_ecn, enable_red : bool
        Whether RED manages the queue, and with `enable_ecn` marks packets.

    Returns
    -------
    Condition

    Raises
    ------
    UnitError, ConditionError
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
                raise ConditionError(f"{name} without bw: there is no rate limit", fix="give a bw in Mbit/s")
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
            "latency_ms without use_tbf: other shapers have no latency", fix="give use_tbf=True, or max_queue_size"
        )
    if enable_ecn or enable_red:
        fields |= {"aqm": RED, "ecn": bool(enable_ecn)}
        fields.setdefault("queue", RED_LIMIT)
    return Condition.parse(**fields)


def _delay(delay: Any, jitter: Any) -> dict[str, Any]:
    """Return delay, jitter, correlation and distribution from texts as in tc-netem(8)."""
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
    """Replace tc's unit by the project's; the reader of durations refuses what is not a time."""
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
        raise ConditionError(f"loss={loss} is not a percentage", fix="give 0 to 100")
    return f"{percent:.7f}%"


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        units = {"bw": "Mbit/s", "loss": "percent", "max_queue_size": "packets", "latency_ms": "milliseconds"}
        raise ConditionError(f"{name}={value!r} is not a number", fix=f"give {units[name]}") from None
