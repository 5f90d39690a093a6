"""The columns of a run's table, for the page and the terminal: only those in which some row has something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slownet.judge.records.judgement import REFUTED, SUPPORTED
from slownet.judge.records.naming import operation
from slownet.report.text import NOTHING, milliseconds, number, spelled, with_interval
from slownet.report.view import WITHIN, Row, View
from slownet.theory.stats import Summary

SHARE = "T0 share"
EXTRA = ("published ratio", "law, ms", "verified RTT, ms")
"""Columns that a narrow terminal leaves out, from the last."""
LAW = {"supported": "on the law", "inconclusive": "undecided"}
"""Labels for the column ``verdict``: whether the cell lies on the fitted law. Claims are judged separately."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and for each row what is shown and, for a tooltip, the number with its whole interval."""

    title: str
    shown: tuple[str, ...]
    spelled: tuple[str, ...]


def columns(seen: View, narrow: bool = False) -> list[Column]:
    """Return the columns of numbers that are not empty; ``narrow`` leaves out the share of T0."""
    found = [_column(title, seen.rows, value, text) for title, value, text in _all(seen) if not (narrow and title == SHARE)]
    return [each for each in found if each.title == seen.unit or any(text != NOTHING for text in each.shown)]


def verdicts(seen: View) -> list[str]:
    """Return for each row whether it lies on the law; empty where no row can be said to, or to have failed."""
    found = [law_verdict(row) for row in seen.rows]
    marked = any(row.cpu_bound or row.beyond_cpu for row in seen.rows)
    return found if marked or any(each not in ("", "baseline") for each in found) else []


def law_verdict(row: Row) -> str:
    """Say whether a cell lies on the law: "on the law", "off the law, +7.3 %", "undecided", "baseline", "failed"."""
    if row.verdict == REFUTED and row.time and row.predicted:
        return f"off the law, {100 * (row.time.mean / row.predicted.mean - 1):+.2g} %"
    return LAW.get(row.verdict, row.verdict)


def beside_claims(seen: View) -> str:
    """Explain why a claim can be supported although a cell lies off the law; empty if no such pair exists."""
    off = [row.title for row in seen.rows if row.verdict == REFUTED]
    if not off or all(claim.verdict != SUPPORTED for claim in seen.run.claims):
        return ""
    lie = f"{off[0]} lies" if len(off) == 1 else f"{len(off)} cells lie"
    return (
        f"{lie} more than {100 * WITHIN:g} % off the line through all cells, and yet claims are supported: they are about "
        "other numbers, such as the slope of that line (k), not about each cell's distance from it"
    )


def among_claims(seen: View) -> str:
    """Explain why a supported claim can stand beside a refuted one; empty without two such claims."""
    found = {claim.verdict for claim in seen.run.claims}
    if not {SUPPORTED, REFUTED} <= found:
        return ""
    return "Each claim is about a number of its own, so that one can be supported and another one refuted by the same run"


def _all(seen: View) -> list[tuple[str, Callable[[Row], Summary | float | None], Callable[[Summary | float | None], str]]]:
    return [
        (f"{operation(seen.run)}s/s", lambda row: row.rate, _mean),
        (seen.unit, lambda row: row.time, _interval),
        ("published", lambda row: row.published_time, _mean),
        ("ratio", lambda row: row.ratio, _short),
        ("without cure", lambda row: row.uncured, _short),
        (EXTRA[0], lambda row: row.published_ratio, _short),
        (EXTRA[1], lambda row: row.predicted, _mean),
        (EXTRA[2], lambda row: row.verified_rtt_ms, _rtt),
        (SHARE, lambda row: row.cpu_share, _share),
    ]


def _column(
    title: str,
    rows: Sequence[Row],
    value: Callable[[Row], Summary | float | None],
    text: Callable[[Summary | float | None], str],
) -> Column:
    values = [value(row) for row in rows]
    whole = tuple(spelled(each) if isinstance(each, Summary) else "" for each in values)
    return Column(title, tuple(map(text, values)), whole)


def _plain(value: Summary | float | None) -> float | None:
    return value.mean if isinstance(value, Summary) else value


def _mean(value: Summary | float | None) -> str:
    return number(_plain(value))


def _short(value: Summary | float | None) -> str:
    return number(_plain(value), 3)


def _rtt(value: Summary | float | None) -> str:
    return milliseconds(_plain(value))


def _share(value: Summary | float | None) -> str:
    found = _plain(value)
    return NOTHING if found is None else f"{100 * found:.0f} %"


def _interval(value: Summary | float | None) -> str:
    return with_interval(value) if isinstance(value, Summary) else NOTHING
