"""Formatting of numbers for tables and pages."""

from __future__ import annotations

import math
from pathlib import Path

from slownet.theory.stats import Summary

NOTHING = "-"


def number(value: float | None, digits: int = 4) -> str:
    """Format a number with four significant digits and without an exponent: 0.003100, 51.83, 1099, 81460.

    What is less than half of the ninth decimal, as rounding leaves it where two numbers are the same, is 0.
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    text = f"{rounded:.{max(0, min(decimals, 9))}f}"
    return text if float(text) else "0"


def trimmed(value: float | None, digits: int = 4) -> str:
    """Format like `number`, without trailing zeros: 10, 0.1, 51.83."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def whole_or_rounded(count: float) -> float:
    """Return a measured count as the whole number that it is within 0.5 % of, or else with three digits: 4, 26.5."""
    return round(count) if abs(count - round(count)) <= 0.005 * count else float(f"{count:.3g}")


def milliseconds(value: float | None) -> str:
    """Format a round trip to 0.01 ms."""
    return NOTHING if value is None else f"{value:.2f}"


def confidence(value: float) -> str:
    """Format a confidence: ``95 %``, ``99.97 %``."""
    return f"{100 * value:.4g} %"


LOPSIDED = 1.2
"""The ratio of the upper side of an interval to the lower one up to which both are shown as one half width."""


def with_interval(summary: Summary | None) -> str:
    """Format a number as ``51.83 ± 0.08``; only the mean if the interval is unknown or its width rounds to 0.

    An interval whose sides differ by more than a fifth is given by its ends: ``8.6 (1.4 to 54)``.
    """
    if summary is None:
        return NOTHING
    up, down = summary.high - summary.mean, summary.mean - summary.low
    if summary.known and (up > LOPSIDED * down > 0 or (summary.low == 0 and up > down)):
        return spelled(summary)
    text, half = number(summary.mean), summary.half_width
    decimals = len(text.partition(".")[2])
    shown = f"{half:.{decimals}f}" if math.isfinite(half) else ""
    return f"{text} ± {shown}" if shown and float(shown) > 0 else text


def spelled(summary: Summary | None) -> str:
    """Format a number as ``51.83 (51.75 to 51.91)``, for tooltips."""
    if summary is None:
        return NOTHING
    if not summary.known:
        return f"{number(summary.mean)} (interval unknown)"
    if number(summary.low) == number(summary.high):
        return number(summary.mean)
    return f"{number(summary.mean)} ({number(summary.low)} to {number(summary.high)})"


def near(path: Path) -> str:
    """Format a path: from the working directory if it is below it, else whole."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
