"""The parameters of Mininet's TCLink: their names, what other programs call them, and the condition that they state.

Mininet turns its parameters into tc commands and prints tc's answers. Here they are read once; the differences are:

    bw above 1000       Mininet ignores it; here it is the rate
    delay='10'          tc assumes microseconds; here it is an error
    jitter, no delay    tc refuses it and the link stays unchanged; here it is an error
    loss=101, bw=-1     Mininet prints a line and continues; here it is an error
    loss='1%'           Mininet ends with a traceback; here it is 1 %, like bw='10Mbit' and other numbers with a clear unit
    a fast, long link   Mininet's netem holds 1000 packets, those in flight included; here as many more as are in flight

The kernel's queueing disciplines are Mininet's own, see `slownet.net.shaper`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from slownet.links.conditions.field_row import Fields
from slownet.links.conditions.link import WORDS, Condition
from slownet.links.conditions.other_names import MEANT
from slownet.model.errors import ConditionError, nearest
from slownet.model.mininets import Parameters

TBF_BURST = 15_000  # bytes; like the thresholds from Mininet's TCIntf.bwCmds
RED = "red 30000B 35000B"
RED_LIMIT = "1MB"
# tc's other unit names (tc_util.c), which a program may use.
_UNITS = {"sec": "s", "secs": "s", "msec": "ms", "msecs": "ms", "usec": "us", "usecs": "us", "nsec": "ns", "nsecs": "ns"}
_TIME = re.compile(r"(-?[\d.]+) ?([a-z]*)", re.ASCII)
_APART = re.compile(r"(?<![\w.%])(\d[\d.]*) +([a-zA-Z%]+)(?= |$)", re.ASCII)

NUMBERS = ("bw", "loss", "max_queue_size", "latency_ms", "speedup")
FLAGS = ("use_hfsc", "use_tbf", "enable_ecn", "enable_red", "use_htb", "gro", "txo", "rxo", "disable_gro")
SHAPING = ("bw", "delay", "jitter", "loss", "max_queue_size", "speedup", "latency_ms", *FLAGS[:5])
"""The parameters that need a TCIntf: another interface passes over them. `use_htb` is an old one, and the default."""

_TURNED_ON = {True: True, False: False, "on": True, "off": False, "true": True, "false": False, "yes": True, "no": False}
_RATE = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+) ?(?P<scale>[kmgKMG]?)(?P<unit>[A-Za-z/]*)", re.ASCII)
_RATE_UNITS = {
    **dict.fromkeys(("", "b", "bit", "bits", "b/s", "bit/s", "bits/s", "bit/sec", "bits/sec"), 1),
    **dict.fromkeys(("B/s", "Byte/s", "Bytes/s", "byte/s", "bytes/s"), 8),
}
_SCALES = {"": 1e-6, "k": 1e-3, "m": 1.0, "g": 1e3}


def unknown(name: str, known: Iterable[str], kind: str) -> ConditionError:
    """Return the error for a parameter that a class does not take, without its place.

    name: the parameter.
    known: what the class takes.
    kind: the class, such as "a TCLink".
    """
    names = set(known)
    if name in MEANT and MEANT[name] in names:
        fix = f"did you mean '{MEANT[name]}'?"
    elif name == "rtt":
        fix = "give delay, which is one-way: half of the round trip"
    elif name in WORDS and "bw" in names:
        fix = f"a running link takes it: net.link(...).set({name}=...) in a test or an experiment"
    else:
        fix = nearest(name, names)
    return ConditionError(f"{kind} has no parameter '{name}'", fix=fix)


def numbers(params: Parameters) -> Parameters:
    """Return parameters of an interface with texts read as numbers, and as on or off.

    params: as given to the link; others than TCLink's stay as they are.
    Raises ConditionError: a text is not a number of the parameter's unit.
    """
    read = dict(params)
    for name in FLAGS:
        if params.get(name) is not None:
            value = params[name]
            word = value.lower() if isinstance(value, str) else value
            if word not in _TURNED_ON:
                raise ConditionError(f"{name}={value!r} is neither on nor off", fix="give True or False")
            read[name] = _TURNED_ON[word]
    for name in NUMBERS:
        if params.get(name) is not None:
            read[name] = _megabits(params[name], name) if name in ("bw", "speedup") else _number(params[name], name)
    if read.get("speedup") and read.get("bw") is None:
        raise ConditionError("speedup without bw: a switch has no rate to replace", fix="give a bw in Mbit/s")
    return read


def condition(
    *, bw: float | None = None, delay: str | None = None, jitter: str | None = None, loss: float | str | None = None,
    max_queue_size: int | None = None, use_tbf: bool = False, latency_ms: float | None = None, enable_ecn: bool = False,
    enable_red: bool = False, use_hfsc: bool = False,
) -> Condition:  # fmt: skip
    """Return the condition of these parameters of Mininet's TCIntf.

    bw: mbit/s.
    delay: one-way, as written for tc: "5ms", also "5ms 1ms 25% distribution normal".
    jitter: such as "1ms".
    loss: percent.
    max_queue_size: packets.
    use_tbf: whether a token bucket of 15,000 bytes limits the rate.
    latency_ms: with `use_tbf`: how long a packet may wait for a token, in milliseconds.
    enable_ecn, enable_red: whether RED manages the queue, and with `enable_ecn` marks packets.
    use_hfsc: whether HFSC limits the rate instead of HTB.
    Raises UnitError, ConditionError.
    """
    fields = _delay(delay, jitter)
    if loss is not None:
        fields["loss"] = _loss(loss)
    if max_queue_size is not None:
        fields["queue"] = f"{packets(max_queue_size):d} packets"
    if bw is None:
        _need_a_rate(
            use_tbf=use_tbf, latency_ms=latency_ms, enable_ecn=enable_ecn, enable_red=enable_red, use_hfsc=use_hfsc
        )  # fmt: skip
        return Condition.parse(**fields)
    if use_hfsc and use_tbf:
        raise ConditionError("use_hfsc and use_tbf: one shaper limits a rate", fix="give one of them")
    rate = _rate(bw)
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


def _need_a_rate(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise ConditionError(f"{name} without bw: there is no rate limit", fix="give a bw in Mbit/s")


def _rate(bw: Any) -> float:
    """Return a bw in bit/s. Raises ConditionError."""
    rate = _megabits(bw, "bw") * 1e6
    if rate <= 0:
        fix = "give Mbit/s above 0, or loss=100 for a link that is cut"
        raise ConditionError(f"bw={rate / 1e6:g} lets no packet through", fix=fix)
    return rate


def shaper(*, bw: Any = None, use_hfsc: bool = False, use_tbf: bool = False, **others: Any) -> str:
    """Return which queueing discipline limits the rate: "htb", "hfsc" or "tbf", or "" without a rate.

    bw, use_hfsc, use_tbf: as for `condition`.
    **others: the other parameters of `condition`.
    """
    if bw is None:
        return ""
    return "hfsc" if use_hfsc else "tbf" if use_tbf else "htb"


def _delay(delay: Any, jitter: Any) -> Fields:
    """Return delay, jitter, correlation and distribution from texts as in tc-netem(8)."""
    text = " ".join(str(each) for each in (delay, jitter) if each not in (None, 0))
    words = _APART.sub(r"\1\2", text).split()  # 5 ms is 5ms
    fields: Fields = {}
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


def packets(size: Any) -> int:
    """Return a max_queue_size as a number of packets.

    size: such as 100 or "100 packets".
    Raises ConditionError.
    """
    number = _number(size, "max_queue_size")
    if number != int(number) or number < 0:
        raise ConditionError(f"max_queue_size={number:g} is not a whole number of packets", fix="give 1 or more")
    return int(number)


def _loss(loss: float | str) -> str:
    percent = _number(loss, "loss")
    if not 0 <= percent <= 100:
        raise ConditionError(f"loss={percent:g} is not a percentage", fix="give 0 to 100")
    return f"{percent:.7f}%"


def _megabits(value: Any, name: str) -> float:
    """Read a rate in Mbit/s: a number, or a text with a unit of bits. Raises ConditionError."""
    if not isinstance(value, str):
        return _number(value, name)
    fix = "give Mbit/s, such as 10 or '10Mbit'"
    found = _RATE.fullmatch(value.strip())
    if found is None:
        return _number(value, name)  # such as "1e3" and "-5"
    number, scale, unit = float(found["number"]), found["scale"].lower(), found["unit"]
    if not scale and not unit:
        return number
    if unit.lower() == "bps":
        what = f"{name}={value!r}: tc reads {found['scale']}bps as bytes per second, most people as bits"
        raise ConditionError(what, fix=fix)
    factor = _RATE_UNITS.get(unit if "B" in unit else unit.lower())
    if factor is None:
        raise ConditionError(f"{name}={value!r} has an unknown unit", fix=fix)
    return number * _SCALES[scale] * factor


_UNITS_OF = {"loss": ("%", "percent"), "max_queue_size": ("packets", "packet", "p", "pkts"), "latency_ms": ("ms", "msec")}


def _number(value: Any, name: str) -> float:
    """Read a number, or a text that ends in the parameter's own unit. Raises ConditionError."""
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str):
        text = next((text.removesuffix(unit) for unit in _UNITS_OF.get(name, ()) if text.lower().endswith(unit)), text)
    try:
        if isinstance(value, bool):
            raise TypeError
        number = float(text)
    except (TypeError, ValueError):
        units = {"loss": "percent", "max_queue_size": "packets", "latency_ms": "milliseconds"}
        raise ConditionError(f"{name}={value!r} is not a number", fix=f"give {units.get(name, 'Mbit/s')}") from None
    if not math.isfinite(number):
        raise ConditionError(f"{name}={value!r} is not finite", fix="leave it out for no limit")
    return number
