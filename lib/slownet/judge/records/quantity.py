"""Formatting of numbers: with the interval, and a metric's with its unit, as exactly as it is known."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

from slownet.model.units import TIMES, unit_of
from slownet.theory.stats import Summary

LEAST_DIGITS, MOST_DIGITS, DIGITS = 3, 5, 4
"""Significant digits: of a number with an interval, whose first digit is shown too if it is among them; of a number without."""
MOST_DECIMALS = 9
LARGEST_COUNT = 1e9
"""Up to here a whole number is written as it is."""
_TIME_UNITS = frozenset(each.name for each in TIMES)
RATIO_DIGITS = 3
"""Decimal places of ratios; a smaller one is written with more."""


def interval(summary: Summary, digits: int = 2) -> str:
    """Format a number with its interval.

    summary: the number.
    digits: decimal places.
    returns: ``4.02 (3.98 to 4.06)``; only the mean if the interval is unknown or has no width.
    """
    if digits >= RATIO_DIGITS and 0 < abs(summary.mean) < 10.0 ** (1 - digits):  # it would be 0.00
        digits = 2 - math.floor(math.log10(abs(summary.mean)))
    mean, low, high = (f"{each:z.{digits}f}" for each in (summary.mean, summary.low, summary.high))
    return f"{mean} ({low} to {high})" if summary.known and low != high else mean


def not_below_zero(summary: Summary, metric: str) -> Summary:
    """Return a metric's number for people: the interval of a time does not begin below 0, which a t interval does not know.

    Verdicts and comparisons use the whole interval.
    """
    is_time = unit_of(metric) in _TIME_UNITS
    return replace(summary, low=0.0) if is_time and summary.known and summary.low < 0 <= summary.mean else summary


def quantity(summary: Summary, metric: str, signed: bool = False) -> str:
    """Format a metric's number.

    summary: the number.
    metric: its name, which ends with the unit.
    signed: whether the number is a difference, which may be below 0.
    returns: ``52.797 (52.791 to 52.802) s``; only the mean if the interval is unknown or has no width: ``1200``, ``44 ms``.

    Examples
    --------
    >>> quantity(Summary(52.79651, 52.7912, 52.8018, 3), "page_s"), quantity(Summary(1200.0, 1200.0, 1200.0, 3), "stalls")
    ('52.797 (52.791 to 52.802) s', '1200')
    """
    unit = unit_of(metric)
    summary = summary if signed else not_below_zero(summary, metric)
    return f"{_with_interval(summary) or _alone(summary.mean)} {unit}".rstrip()


def _with_interval(summary: Summary) -> str:
    mean, low, high = summary.mean, summary.low, summary.high
    if not summary.known or not 0 < high - low < math.inf:
        return ""
    finest = math.floor(math.log10((high - low) / 2))
    if mean:
        first = math.floor(math.log10(abs(mean))) + 1
        finest = max(first - MOST_DIGITS, min(first - LEAST_DIGITS, finest))
    decimals = min(MOST_DECIMALS, max(0, -finest))
    least, middle, most = (f"{each:z.{decimals}f}" for each in (low, mean, high))
    return f"{middle} ({least} to {most})" if least != most else ""


def _alone(value: float) -> str:
    if not math.isfinite(value):
        return "unknown"
    if value == round(value) and abs(value) < LARGEST_COUNT:
        return f"{value:z.0f}"
    return f"{Decimal(f'{value:.{DIGITS}g}'):f}"
