"""Says the smallest difference that a comparison could have found, and what would find a smaller one. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from slownet.comparison.row import Row
from slownet.judge.records.charging import Charging
from slownet.model.options import CLOCK, RESUME
from slownet.model.options import REPEAT as REPETITIONS
from slownet.report.text import number

NOTED = 0.0005
"""A smaller variation of measurements is not mentioned."""
FINDS_MORE = "a smaller margin"
REPEAT = f"more repetitions ({RESUME.in_command('run', 'RUN')} {REPETITIONS.typed} N)"
MORE = "more requests or repetitions"
COUNT = f"both runs on the exact clock ({CLOCK.in_command('run', 'exact')}), which needs QEMU and no counter"


def smallest(row: Row) -> tuple[float, float] | None:
    """Return the smallest change that a row could have shown beyond its margin, and what of it is due to variation.

    Both are relative; None if the row does not give it.
    """
    if row.beyond is None or not row.beyond[0].known or not row.first or not row.second:
        return None
    gap, width = row.beyond
    if min(row.first.mean, row.second.mean) > 0:
        return math.expm1(width + gap.half_width), math.expm1(gap.half_width)
    mean = abs(row.first.mean or row.second.mean)
    return ((width + gap.half_width) / mean, gap.half_width / mean) if mean else None


def note(rows: Sequence[Row], within: float, charged: Collection[Charging]) -> str:
    """Return the note of a comparison; empty if nothing was compared, or nothing that another clock would tell apart.

    charged: what the clocks of both runs charge; in the field there is none.
    """
    seen = [(size, varies, row.name) for row in rows if (found := smallest(row)) for size, varies in [found]]
    if not seen:
        blind = any(row.first and row.second for row in rows) and _way(is_vague=True, charged=charged) == COUNT
        return f"no difference would have been found, for lack of an interval; to find any: {COUNT}" if blind else ""
    size, varies, name = max(seen)
    made = f", {_percent(within)} of margin and what measurements vary" if varies > NOTED else ", the margin"
    said = f"any difference of {_percent(size)} or more would have been found (in {name}{made}){_but(rows)}"
    return f"{said}; to find smaller ones: {_way(varies > within, charged)}"


def _but(rows: Sequence[Row]) -> str:
    """Return what the note excepts: pairs of numbers whose difference has no interval, in which none would have been found."""
    blind = [row.name for row in rows if row.first and row.second and not (row.beyond and row.beyond[0].known)]
    others = f" and {len(blind) - 1} more" if len(blind) > 1 else ""
    return f", but none in {blind[0]}{others}, for lack of an interval" if blind else ""


def _way(is_vague: bool, charged: Collection[Charging]) -> str:
    if not is_vague:
        return FINDS_MORE
    if not charged:
        return MORE
    return COUNT if {Charging.TIME, Charging.REAL} & {*charged} else REPEAT


def _percent(part: float) -> str:
    return f"{number(100 * part, 2)} %"
