"""Reads run.json, and checks that what is used of it has the types that slownet writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slownet.judge.records.samples import RUN
from slownet.lab.shapes import ShapeError, anything, each, mapping, number, optional, record, text, whole
from slownet.model import userfile


def _plain(value: Any, where: str) -> None:
    """A text, a number or nothing."""
    if isinstance(value, (dict, list)):
        raise ShapeError(f"{where} is {'an object' if isinstance(value, dict) else 'a list'}, not a text or a number")


_SPREAD = record({"metric": text(), "relative": number(0)}, {"at": mapping(text())}, others=anything)
_TABLE = optional(mapping(anything))
SHAPE = record(
    {},
    {
        **dict.fromkeys(("experiment", "question", "source", "error", "operation"), optional(text())),
        **dict.fromkeys(("started", "place", "clock", "clock_because"), optional(text())),
        **dict.fromkeys(("tdf", "kernel", "image", "slownet", "cpu", "repeats", "confined", "chance"), _plain),
        **dict.fromkeys(("sampling", "given", "topology", "published", "contradicted", "versions", "settings"), _TABLE),
        **dict.fromkeys(("samples", "project", "compose"), _TABLE),
        "machine": optional(record({}, {"instructions_per_ns": whole(1)}, others=anything)),
        "planned": each(mapping(text())), "cells": each(mapping(anything)), "boots": optional(each(mapping(anything))),
        "claims": optional(each(mapping(anything))), "argv": optional(each(text())), "labs": whole(1),
        "wall_s": optional(number()), "ceiling_bit_s": optional(number(0)), "chance_spread": optional(each(_SPREAD)),
    },
    others=anything,
)  # fmt: skip
"""What every reader may rely on; older versions wrote less."""


def read(directory: Path | str) -> dict[str, Any]:
    """Return the content of a run's run.json. Raises OSError and ValueError."""
    facts = userfile.json(userfile.read_record(Path(directory) / RUN))
    SHAPE(facts, RUN)
    found: dict[str, Any] = facts
    return found
