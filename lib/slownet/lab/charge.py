"""What the lab's clock has charged for CPU so far."""

from __future__ import annotations


def charged_s() -> float | None:
    """Seconds of CPU that the clock of this lab has charged since it booted; None where that is not known."""
    return None


def charged_since(before: float | None) -> float | None:
    """Seconds of CPU charged since ``charged_s`` said ``before``."""
    now = charged_s()
    return None if before is None or now is None else now - before
