"""How much CPU the lab's clock has charged so far."""

from __future__ import annotations

from pathlib import Path

CLOCK = Path("/proc/skip_idle")
"""A file of the lab's kernel with the lines ``charged <ns>``, ``skipped <ns>``, ``work <scope>`` (last patch in linux/7)."""


def charged_s(file: Path = CLOCK) -> float | None:
    """Return the seconds of CPU that this lab's clock has charged since boot; None if unknown."""
    try:
        values = dict(line.split() for line in file.read_text().splitlines())
        return int(values["charged"]) / 1e9
    except (OSError, ValueError, KeyError):  # the real clock, or not in a lab
        return None


def charged_since(before: float | None) -> float | None:
    """Return the seconds of CPU charged since ``charged_s`` returned ``before``."""
    now = charged_s()
    return None if before is None or now is None else now - before
