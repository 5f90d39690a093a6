"""How often the cells of a run are measured: until every claim is decided, or the budget is spent. Pure decisions.

A repetition is a boot of its own: network and services are made anew, so that what a boot fixes by chance varies with
it (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013). It measures the cells one after the other,
every second one backwards, so that a drift hits baseline and conditions alike. Labs side by side share its cells
(`slownet.sweep.sharing`), each with a boot of its own.

Each look at the claims may be wrong once in a while, so each takes its share of the 1 % that all looks together may be
(1/2, 1/6, 1/12, ...): stopping at the first decision does not make wrong ones more likely. That is for the noise, which
each repetition draws anew. What the cells have for good, such as the bend of a law, is the same at every look and takes no
share; a claim that it keeps open is not measured on for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.claim import INCONCLUSIVE, Claim, judge_all, not_judged
from slownet.errors import ExperimentError
from slownet.measured import DECIDING
from slownet.records.cell import Cell
from slownet.records.result import RunData
from slownet.units import duration, show_duration

BUDGET = "5min"
MOST = 30
"""Repetitions of a cell at most."""
LEAST = {"virtual": 1, "real": 3}
"""Repetitions before the first look: how boots differ on the real clock takes three to see."""


@dataclass(frozen=True)
class Rule:
    """How often to measure: ``repeat`` times, or while claims are open if None, for ``budget_s`` of wall time."""

    repeat: int | None = None
    budget_s: float = 300.0

    def to_json(self) -> dict[str, Any]:
        """As a run's record holds it."""
        return {"repeat": self.repeat or "auto", "budget_s": self.budget_s}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Rule:
        """The reverse of ``to_json``."""
        repeat = record.get("repeat", "auto")
        return cls(None if repeat == "auto" else int(repeat), float(record.get("budget_s", 300.0)))


@dataclass(frozen=True)
class Decision:
    """What to do after a look: the cells to measure once more, in this order; none is the end, and ``why`` says so."""

    cells: tuple[Mapping[str, Any], ...]
    confidence: float
    why: str


@dataclass(frozen=True)
class Open:
    """An open claim: the cells that it speaks of (empty for all), and why repeating them does not decide it, if so."""

    cells: tuple[Mapping[str, Any], ...] = ()
    stays_open: str = ""


def read_rule(repeat: str, budget: str) -> Rule:
    """The rule of ``--repeat 3`` or ``auto`` and ``--budget 5m``. Raises ExperimentError, UnitError."""
    if repeat != "auto" and not (repeat.isascii() and repeat.isdigit() and 0 < int(repeat) < 1000):
        raise ExperimentError(f"unclear repetitions '{repeat}'", "--repeat", "write a whole number from 1 to 999, or auto")
    minutes = budget + "in" if budget.endswith("m") else budget
    return Rule(None if repeat == "auto" else int(repeat), duration(minutes))


def decide(
    run: RunData, claims: Sequence[Claim], siblings: Mapping[str, RunData], rule: Rule, spent_s: float, round_s: float
) -> Decision:
    """What to do after a round that took ``round_s`` of the ``spent_s`` seconds of wall time.

    ``run`` and ``siblings`` hold what was measured so far; their facts name the clock.
    """
    rounds = max((cell.repetitions for cell in run.cells), default=0)
    good = tuple(cell for cell in run.cells if cell.status == "ok")
    if rule.repeat is not None:
        told = f"{_count(rounds)}, as told"
        return Decision(_order(good, rounds) if rounds < rule.repeat else (), DECIDING, told)
    least = LEAST[_clock(run)] if claims else 1
    confidence = _surety(max(0, rounds - least))
    if not claims or not good:
        return Decision((), confidence, f"{_count(rounds)}: {'no cell is ok' if claims else 'there is no claim to decide'}")
    exhausted = _exhausted(rule, rounds, spent_s, round_s)
    if rounds < least:
        why = f"{_count(rounds)}: the real clock takes {least} to see how boots differ"
        return (
            Decision((), confidence, f"{why}, but {exhausted}")
            if exhausted
            else Decision(_order(good, rounds), confidence, why)
        )
    return _look(run, claims, siblings, confidence, exhausted, rounds)


def _look(
    run: RunData, claims: Sequence[Claim], siblings: Mapping[str, RunData], confidence: float, exhausted: str, rounds: int
) -> Decision:
    """Judge the claims and see which cells the open ones speak of.

    A mistake in one is raised where the verdict is asked for.
    """
    sure = {name: each.at_confidence(confidence) for name, each in siblings.items()}
    found = judge_all(claims, run.at_confidence(confidence), sure, lambda claim, error: not_judged(claim, error, run))
    still = [Open(each.cells, each.stays_open) for each in found if each.verdict == INCONCLUSIVE and each.measured is not None]
    good = [cell for cell in run.cells if cell.status == "ok"]
    asked = [each.cells for each in still if not each.stays_open]
    needed = [cell for cell in good if any(not labels or cell.label in labels for labels in asked)]
    open_ones = f"{len(still)} of {len(claims)} claim{'s' * (len(claims) > 1)} open"
    if not needed and (stays := "; ".join(dict.fromkeys(each.stays_open for each in still if each.stays_open))):
        return Decision((), confidence, f"{_count(rounds)}, {open_ones}: more repetitions do not help: {stays}")
    if not needed:
        return Decision((), confidence, f"{_count(rounds)}: every claim is decided that can be; {_why_enough(run)}")
    if all(_repeats(cell) for cell in needed):
        return Decision((), confidence, f"{_count(rounds)}, {open_ones}: the last repeated the one before to the digit")
    if exhausted:
        return Decision((), confidence, f"{_count(rounds)}, {open_ones}: {exhausted}")
    return Decision(_order(needed, rounds), confidence, f"{_count(rounds)}, {open_ones}")


def _surety(look: int) -> float:
    """The confidence of one look, counted from 0; what all looks leave sums up to what one may."""
    return 1 - (1 - DECIDING) / ((look + 1) * (look + 2))


def _exhausted(rule: Rule, rounds: int, spent_s: float, round_s: float) -> str:
    """Why there is no further round, empty while there is one."""
    if rounds >= MOST:
        return f"{MOST} repetitions are the most"
    if spent_s + round_s > rule.budget_s:
        return f"another of {show_duration(round_s)} is beyond the budget of {show_duration(rule.budget_s)}"
    return ""


def _repeats(cell: Cell) -> bool:
    """Whether the last two repetitions gave the same numbers."""
    good = [sample["metrics"] for sample in cell.samples if sample.get("status") == "ok"]
    return len(good) > 1 and _means(good[-1]) == _means(good[-2])


def _means(metrics: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {name: (record["mean"], record.get("sd")) for name, record in metrics.items()}


def _order(cells: Sequence[Cell], rounds: int) -> tuple[Mapping[str, Any], ...]:
    labels = tuple(cell.label for cell in cells)
    return labels[::-1] if rounds % 2 else labels


def _clock(run: RunData) -> str:
    return "virtual" if run.facts.get("clock") == "virtual" else "real"


def _why_enough(run: RunData) -> str:
    if _clock(run) == "real":
        return "the intervals hold how boots differ"
    if run.facts.get("tdf") == "inf":
        return "the virtual clock with free CPU counts nothing but what the network does"
    return "the virtual clock counts only what the network and the CPU do, not what else this machine does"


def _count(rounds: int) -> str:
    return f"{rounds} repetition{'s' * (rounds != 1)}"
