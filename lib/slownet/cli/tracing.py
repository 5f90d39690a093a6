"""`slownet trace FILE`: prints a summary of a recorded trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from slownet.links.traces.trace_summary import load
from slownet.model.shapes import Json
from slownet.model.units import show_duration, show_percent, show_rate

SHOW = {"bit_s": show_rate, "share": show_percent, "s": show_duration}


def show(path: Path, as_json: bool = False) -> None:
    """Print a summary of a trace file. Raises TraceError."""
    found = load(path).facts()
    if as_json:
        print(json.dumps(found))
        return
    for name, text in _lines(found).items():
        print(f"{name:<16} {text}")


def _lines(found: Mapping[str, Json]) -> dict[str, str]:
    lines = {}
    for name, value in found.items():
        unit = next((each for each in SHOW if name.endswith(f"_{each}")), "")
        words = name.removesuffix(f"_{unit}").replace("_", " ")
        lines[words] = SHOW[unit](value) if unit else str(value)
    return lines
