"""The judgement of a claim on a run: a verdict and the numbers that it rests on; and its publication to recorders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from slownet.judge.records.samples import finite
from slownet.judge.records.statement import Statement, text_of
from slownet.model.shapes import Json
from slownet.theory.stats import CONFIDENCE

Listener = Callable[[Any], None]

_listeners: list[Listener] = []


@contextmanager
def observed_by(listener: Listener) -> Iterator[None]:
    """Call the listener with every verdict (a Judgement) that is published inside this context."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def notify(verdict: Any) -> None:
    """Pass a verdict to all listeners."""
    for listener in tuple(_listeners):
        listener(verdict)


class Verdict(StrEnum):
    """The verdict on a claim; comparisons of runs and marks of answers have words of their own for it."""

    phrase: str
    compared: str
    mark: str

    def __new__(cls, value: str, phrase: str, compared: str, mark: str) -> Self:
        """Make a verdict of its name in records; its words in a sentence, for two numbers, and for an answer or prediction."""
        made = str.__new__(cls, value)
        made._value_, made.phrase, made.compared, made.mark = value, phrase, compared, mark
        return made

    SUPPORTED = "supported", "supported", "equivalent", "right"
    REFUTED = "refuted", "refuted", "differs", "wrong"
    INCONCLUSIVE = "inconclusive", "not decided", "inconclusive", "undecided"
    NOT_JUDGED = "not judged", "not judged", "not measured", "undecided"


SUPPORTED, REFUTED, INCONCLUSIVE, NOT_JUDGED = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.NOT_JUDGED
WORST_FIRST = (REFUTED, INCONCLUSIVE, NOT_JUDGED, SUPPORTED)
FIELDS = (
    "name", "verdict", "measured", "expected", "low", "high", "confidence", "setting", "kind", "metric", "parameters", "named",
    "reason",
)  # fmt: skip
"""Those that a record has as they are."""


class Reason(StrEnum):
    """Why a judgement has its verdict, for programs; its text has the same content to people, with the numbers."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """Make a reason of its name in records and its meaning."""
        made = str.__new__(cls, value)
        made._value_, made.meaning = value, meaning
        return made

    INSIDE = "inside", "The interval lies inside the margin: supported."
    OUTSIDE = "outside", "The interval lies wholly outside the margin: refuted."
    ACROSS = "across", "The interval crosses an end of the margin. More repetitions narrow it."
    AMONG_OTHERS = (
        "among others",
        "The claim's own interval lies outside; the wider one that all claims of a run require together crosses an end.",
    )
    NO_INTERVAL = "no interval", "The interval is not known: there is one value."
    FEW_BOOTS = "few boots", "The interval would decide, but fewer boots than a verdict requires were measured."
    FEW_VALUES = "few values", "A percentile has too few values."
    NO_WIDTH = "no width", "The margin has no width and the numbers vary. More repetitions do not help."
    BENT = "bent", "The law is bent, by more than noise can explain. More repetitions do not help."
    CPU_VARIES = "cpu varies", "CPU time differs that much between runs. More repetitions do not help."
    LATE = (
        "late",
        "Processors woke late, or a paint waited for its frame, which counts as part of the interval. More repetitions do not "
        "help where `stays_open` says so.",
    )
    NO_BASE = "no base", "The time that a ratio divides by means nothing, because the CPU is free."
    ERROR_LOST = "error lost", "The expected value is a plain number that was computed from measured ones."
    CELL_FAILED = "cell failed", "A cell of the claim failed."
    NOT_MEASURED = "not measured", "A cell of the claim was not measured, or an experiment that it needs."


@dataclass(frozen=True, repr=False)
class Judgement:
    """The judgement of a claim on a run; true in ``assert`` if the claim is supported.

    Parameters
    ----------
    name : str
        The claim as a sentence, of its fields and cells and never of what was measured: JUnit XML, OpenMetrics, run.json and a
        CI service's history know a claim by it, and a person reads it there.
    verdict : Verdict
        "supported" if the interval lies inside ``margin``, "refuted" if outside, else "inconclusive"; "not judged" if cells of
        the claim were not measured.
    measured : float, optional
        The number that was compared; None if the claim was not judged.
    expected : float, optional
        The expected value.
    low, high : float, optional
        The interval of ``measured``.
    margin : tuple of (float or None)
        Lower and upper end; None is open.
    findings : tuple of Statement
        What was found, as codes and numbers; ``text`` is the same in prose.
    cells : tuple of mapping
        The labels of the cells that it rests on; empty for all cells of the run.
    confidence : float
        Of the interval.
    setting : str
        The verified round trips and the clock.
    stays_open : Statement, optional
        Why more repetitions cannot decide an inconclusive claim; None if they may.
    kind : str
        The kind of the claim, such as "law" or "ratio"; empty if it was not judged for an experiment.
    metric : str
        The metric of the claim, with its unit; empty if it is composed of other claims.
    parameters : mapping
        The other fields of the claim: numbers, texts, conditions.
    named : bool
        Whether the claim's author gave it its name.
    reason : str
        A `Reason`; empty of claims of one's own that do not set it.
    recorded : str
        Its text as a record has it, which is shown where a package's words for its findings are not installed.
    """

    name: str
    verdict: Verdict
    measured: float | None = None
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    margin: tuple[float | None, float | None] = (None, None)
    findings: tuple[Statement, ...] = ()
    cells: tuple[Mapping[str, str], ...] = ()
    confidence: float = CONFIDENCE
    setting: str = ""
    stays_open: Statement | None = None
    kind: str = ""
    metric: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    named: bool = False
    reason: str = ""
    recorded: str = field(default="", compare=False)

    def __bool__(self) -> bool:
        """Return whether the claim is supported, for ``assert``."""
        return self.verdict == SUPPORTED

    @property
    def text(self) -> str:
        """A sentence about the numbers: its findings as text."""
        has_words = self.findings and all(each.has_words for each in self.findings)
        return text_of(self.findings) if has_words else self.recorded

    def saying(self, *findings: Statement, **changes: Any) -> Judgement:
        """Return it with findings in place of its own, and with other fields changed."""
        return replace(self, findings=findings, **changes)

    def adding(self, *findings: Statement, **changes: Any) -> Judgement:
        """Return it with more findings, and with other fields changed."""
        return replace(self, findings=(*self.findings, *findings), **changes)

    def report(self) -> Judgement:
        """Publish the judgement to the observers, such as the pytest plugin.

        Returns
        -------
        Judgement
            Itself, for ``assert law(...).judge(run).report()``.
        """
        notify(self)
        return self

    def __str__(self) -> str:
        """Return the whole judgement in one line."""
        ends = [each for each in (self.low, self.high) if each is not None and math.isfinite(each)]
        known = len(ends) == 2 and ends[0] != ends[1]
        interval = f"{100 * self.confidence:g} % interval {ends[0]:.4g} to {ends[1]:.4g}" if known else ""
        return "; ".join(filter(None, (f"{self.verdict}: {self.name}: {self.text}", interval, self.setting)))

    __repr__ = __str__

    def to_json(self) -> dict[str, object]:
        """Return the fields as a dict for JSON with the text, and None for numbers that are not finite."""
        plain = {name: getattr(self, name) for name in FIELDS}
        stays = None if self.stays_open is None else self.stays_open.to_json()
        record: dict[str, object] = finite({
            **plain, "margin": self.margin, "text": self.text, "findings": [each.to_json() for each in self.findings],
            "cells": self.cells, "stays_open": stays,
        })  # fmt: skip
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Json]) -> Judgement:
        """Read what `to_json` returned. Raises ValueError for an unknown verdict."""
        verdict = next((each for each in Verdict if each == record["verdict"]), None)
        if verdict is None:
            raise ValueError(f"a claim with the verdict {record['verdict']!r:.40}")
        least, most = record.get("margin") or (None, None)
        stays = record.get("stays_open")
        return cls(
            **{name: record[name] for name in FIELDS if name in record} | {"verdict": verdict},
            margin=(least, most),
            findings=tuple(map(Statement.from_json, record.get("findings") or ())),
            cells=tuple(record.get("cells") or ()),
            stays_open=None if stays is None else Statement.from_json(stays),
            recorded=record.get("text", ""),
        )
