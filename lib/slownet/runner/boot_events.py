"""The events of one boot: what the host takes from `slownet.runner.inside`, and nothing else.

A field that is not named here ends the boot, so a new one is added here, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from slownet.lab.events import Grammar
from slownet.lab.shapes import (
    anything,
    each,
    flag,
    mapping,
    member,
    number,
    numbers,
    one_of,
    optional,
    record,
    text,
    whole,
)

_METRIC = record(
    {"mean": number()},
    {
        "sd": optional(number(0)), "n": optional(whole()), "values": optional(numbers), "ordered": optional(flag),
        "groups": optional(numbers), "steps": optional(each(numbers)), "step": optional(number()),
    },
    others=anything,
)  # fmt: skip
SAMPLE = record(
    {"cell": mapping(text()), "index": whole(), "status": one_of("ok", "failed")},
    {
        "metrics": optional(mapping(_METRIC)), "experiment": text(), "condition": mapping(anything),
        "tool": optional(text()), "error": optional(text()), "verified_rtt_ms": optional(number()), "unverified": each(text()),
        "raw": each(text()), "virtual_s": optional(number(0)), "wall_s": optional(number(0)), "facts": mapping(anything),
        "links": mapping(text()), "counters": mapping(mapping(anything)), "captures": each(mapping(anything)),
        "rate_bit_s": optional(number(0)), "lab": whole(1), "boot": whole(1), "block": whole(1), "random": flag,
        "seeds": each(whole(-(2**64), 2**64)), "charged_s": optional(number(0)), "limited": mapping(anything),
    },
    others=anything,
)  # fmt: skip
"""A whole sample, as `slownet.records.samples` describes it."""


def grammar(indices: Iterable[int]) -> Grammar:
    """Return the events of a boot that measures these places of the plan, each of which has one "cell" and one "sample"."""
    index = member(frozenset(indices), "a place in the plan of this boot")
    return {
        "facts": record(
            {},
            {
                "settings": mapping(text()),
                "openvswitch": text(),
                "service": mapping(anything),
                "topology": record({"hosts": each(text()), "switches": each(text()), "links": mapping(each(text(), most=2))}),
            },
        ),
        "cell": record({"index": index, "cell": mapping(text())}),
        "sample": record({"index": index, "sample": SAMPLE}),
        "end": record({"virtual_s": number(0)}),
        "error": record({"line": text(), "log": text()}),
    }
