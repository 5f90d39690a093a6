"""The shape of a sample, as `slownet.judge.records.samples` describes it: of one that a lab sends, and of one in a file.

Imported inside the lab, so standard library only.
"""

from __future__ import annotations

from slownet.lab.shapes import anything, each, flag, mapping, number, numbers, one_of, optional, record, text, whole

METRIC = record(
    {"mean": number(), "n": whole()},
    {
        "sd": optional(number(0)), "values": numbers, "ordered": optional(flag), "groups": optional(numbers),
        "steps": optional(each(numbers)), "step": optional(number()),
    },
    others=anything,
)  # fmt: skip
_FIELDS = {
    "metrics": optional(mapping(METRIC)), "experiment": text(), "condition": mapping(anything),
    "tool": optional(text()), "error": optional(text()), "verified_rtt_ms": optional(number()), "unverified": each(text()),
    "raw": each(text()), "virtual_s": optional(number(0)), "wall_s": optional(number(0)), "facts": mapping(anything),
    "links": mapping(text()), "counters": mapping(mapping(mapping(number()))), "captures": each(mapping(anything)),
    "rate_bit_s": optional(number(0)), "lab": whole(1), "boot": whole(1), "block": whole(1), "random": flag,
    "seeds": each(whole(-(2**64), 2**64)), "charged_s": optional(number(0)), "late": optional(number(0)),
    "limited": record({"share": number(0)}, others=anything),
}  # fmt: skip
SENT = record({"cell": mapping(text()), "index": whole(), "status": one_of("ok", "failed")}, _FIELDS, others=anything)
"""A sample that a lab sends."""
KEPT = record(
    {"cell": mapping(anything), "index": whole()},
    {"status": text(), **{name: optional(shape) for name, shape in _FIELDS.items()}},
    others=anything,
)
"""A sample in a file, which another version may have written, with fewer fields."""
