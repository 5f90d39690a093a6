"""The fields of a condition with what the kernel gets for each, and the named conditions: from the tables that slownet uses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

from slownet.judge.records.condition_columns import condition as recorded
from slownet.links.conditions.link import WORDS, Condition
from slownet.links.conditions.profiles import TABLE
from slownet.net.plan import layers

NEEDED: Mapping[str, Mapping[str, str]] = {
    "jitter": {"delay": "10ms"},
    "jitter_up": {"delay": "10ms"},
    "jitter_down": {"delay": "10ms"},
    "correlation": {"delay": "10ms", "jitter": "2ms"},
    "distribution": {"delay": "10ms", "jitter": "2ms"},
    "reorder": {"delay": "10ms"},
    "gap": {"delay": "10ms", "reorder": "1%"},
    "overhead": {"rate": "2Mbit"},
    "burst": {"rate": "2Mbit"},
    "queue": {"rate": "2Mbit"},
    "aqm": {"rate": "2Mbit"},
    "ecn": {"rate": "2Mbit", "aqm": "fq_codel"},
    "seed": {"loss": "1%"},
}
"""What an example of a field needs beside it."""
EXAMPLES: Mapping[str, str] = {
    **dict.fromkeys(("delay", "delay_up", "delay_down"), "5ms"),
    **dict.fromkeys(("jitter", "jitter_up", "jitter_down"), "2ms"),
    **dict.fromkeys(("loss", "loss_up", "loss_down", "duplicate", "reorder", "corrupt"), "1%"),
    **dict.fromkeys(("rate", "rate_up", "rate_down"), "2Mbit"),
    **{"rtt": "10ms", "correlation": "25%", "distribution": "normal", "gap": "5", "slot": "5ms", "overhead": "38B"},
    **{"burst": "20kB", "queue": "30 packets", "aqm": "fq_codel", "ecn": "off", "mtu": "1400", "offloads": "on", "seed": "7"},
}
OTHERWISE: Mapping[str, str] = {
    "mtu": "the MTU of both ends' interfaces, by ip link",
    "offloads": "the segmentation offloads of both ends' interfaces, by ethtool; off unless asked for",
}
"""What is set by another program than tc."""


def page() -> str:
    """Return a section a field: what it states, an example, and what tc is given for it."""
    return "\n".join(line for name in WORDS for line in _field(name))


def named() -> str:
    """Return the table of the named conditions."""
    rows = (f"| `{each.name}` | {each.condition} | {_escaped(each.source)} |" for each in TABLE)
    return "\n".join(["| name | what the link does | source of the numbers |", "|---|---|---|", *rows, ""])


def _field(name: str) -> Iterator[str]:
    stated = {**NEEDED.get(name, {}), name: EXAMPLES[name]}
    one = Condition.parse(**stated)
    yield from (f"### {name}", "", _meaning(name), "")
    words = ", ".join(f'{key}="{value}"' for key, value in stated.items())
    yield from (f"`set({words})`: {one}.", "")
    if column := recorded({name: EXAMPLES[name]}):
        yield from (f"In records: {', '.join(f'`{key}`' for key in column)}.", "")
    if name in OTHERWISE:
        yield from (f"Sets {OTHERWISE[name]}.", "")
        return
    yield from ("```text", *_changed(one, name, stated), "```", "")


def _changed(one: Condition, name: str, stated: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines for tc that differ from those without the field, for each direction."""
    without = Condition.parse(**{key: value for key, value in stated.items() if key != name})
    for way in ("up", "down"):
        before = {layer.command("DEV") for layer in layers(without, way)}
        for layer in layers(one, way):
            if layer.command("DEV") not in before:
                yield f"{way + ':':6}tc {layer.command('DEV')}"


def _meaning(name: str) -> str:
    """Return what the docstring of `Condition.parse` says of a field."""
    text = inspect.getdoc(Condition.parse) or ""
    entries = re.findall(r"^(\w[\w, ]*?) : (.*)\n((?:    .*\n)+)", text.partition("Parameters\n")[2], re.MULTILINE)
    for names, kind, lines in entries:
        if name in names.split(", "):
            return f"*{kind}*: {' '.join(lines.split())}"
    raise LookupError(f"Condition.parse does not explain {name}")


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")
