"""`slownet field trace FILE`: prints a summary of a recorded trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli.options import (
    JsonOption,
)
from slownet.model.shapes import Json
from slownet.model.units import show_duration, show_percent, show_rate

SHOW = {"bit_s": show_rate, "share": show_percent, "s": show_duration}
"""Number formats, by the end of the name."""


def trace(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A trace (Mahimahi, Pensieve, TheaterQ, CellReplay, LENS, WetLinks), ping's output, or a capture.",
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Summarize a recorded trace: its length, rates or round-trip times, and losses."""
    from slownet.links.traces.trace_summary import load

    found = load(file).facts()
    if as_json:
        print(json.dumps(found))
        return
    for name, text in lines(found).items():
        print(f"{name:<16} {text}")


def lines(found: Mapping[str, Json]) -> dict[str, str]:
    """Return what is printed of facts, by its name."""
    told = {}
    for name, value in found.items():
        unit = next((each for each in SHOW if name.endswith(f"_{each}")), "")
        words = name.removesuffix(f"_{unit}").replace("_", " ")
        told[words] = SHOW[unit](value) if unit else str(value)
    return told
