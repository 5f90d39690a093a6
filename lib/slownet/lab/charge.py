"""What the lab's clock has charged for CPU so far."""

from __future__ import annotations

from pathlib import Path

CLOCK = Path("/proc/skip_idle")
"""A lab's kernel: ``charged <ns>``, ``skipped <ns>`` and ``work <scope>``, a line each (the last patch in linux/7)."""


def charged_s(file: Path = CLOCK) -> float | None:
    """Seconds of CPU that the clock of this lab has charged since it booted; None where that is not known."""
    try:
        told = dict(line.split() for line in file.read_text().splitlines())
        return int(told["charged"]) / 1e9
    except (OSError, ValueError, KeyError):  # the real clock, or no lab
        return None


def charged_since(before: float | None) -> float | None:
    """Seconds of CPU charged since ``charged_s`` said ``before``."""
    now = charged_s()
    return None if before is None or now is None else now - before
