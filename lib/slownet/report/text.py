"""Numbers as table and page write them."""

from __future__ import annotations

import math

from slownet.stats import Summary

NOTHING = "-"


def number(value: float | None, digits: int = 4) -> str:
    """Four significant digits, never an exponent for what a table holds: 0.0031, 51.83, 1099, 81460."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(0, min(decimals, 9))}f}"


def trimmed(value: float | None, digits: int = 4) -> str:
    """Like ``number`` without zeros at the end: 10, 0.1, 51.83."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def milliseconds(value: float | None) -> str:
    """A round trip as ping reads it, to 0.01 ms."""
    return NOTHING if value is None else f"{value:.2f}"


def confidence(value: float) -> str:
    """How sure intervals are: ``95 %``, ``99.97 %``."""
    return f"{100 * value:.4g} %"


def with_interval(summary: Summary | None) -> str:
    """``51.83 ± 0.08``; only the mean when the interval is not known or has no width to speak of."""
    if summary is None:
        return NOTHING
    text, half = number(summary.mean), summary.half_width
    decimals = len(text.partition(".")[2])
    shown = f"{half:.{decimals}f}" if math.isfinite(half) else ""
    return f"{text} ± {shown}" if shown and float(shown) > 0 else text


def spelled(summary: Summary | None) -> str:
    """``51.83 (51.75 to 51.91)``, for where there is room."""
    if summary is None:
        return NOTHING
    if not summary.known:
        return f"{number(summary.mean)} (interval not known)"
    if number(summary.low) == number(summary.high):
        return number(summary.mean)
    return f"{number(summary.mean)} ({number(summary.low)} to {number(summary.high)})"
