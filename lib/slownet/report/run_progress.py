"""A run in progress: how far it is, what it measures now, how long it takes and what the virtual clock saves. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slownet.judge.records.cell import TIME
from slownet.judge.records.quantity import not_below_zero
from slownet.model.units import unit_of
from slownet.report.text import number, with_interval
from slownet.theory.stats import Summary, from_error

LIKELY = 0.95
"""Confidence of an estimate's interval while a run is in progress; verdicts need more."""
WORTH_SAYING_S = 10.0
"""The virtual clock's gain is said from here on."""


@dataclass
class RunProgress:
    """One experiment in progress, as its events tell; times are seconds of the caller's monotonic clock."""

    name: str
    total: int
    done: int = 0
    began: float | None = None
    virtual_s: float = 0.0
    spent_s: float = 0.0
    """In measurements, the labs' times added."""
    booted_s: float = 0.0
    """From the beginning, or from the plan of further boots, to the first cell: a boot, services and the warm-up."""
    labs: int = 1
    """The most that measured at once."""
    doing: str = "waiting"
    now: dict[int, str] = field(default_factory=dict)
    """The cell that each lab measures, by the lab's number."""
    _cell_began: dict[int, float] = field(default_factory=dict)
    _boot_began: float | None = None
    metric: str = ""
    found: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    """The values of the metric in each cell's samples, by the cell's title."""

    def take(self, event: Mapping[str, Any], now: float) -> None:
        """Take an event of the run."""
        self.began = now if self.began is None else self.began
        lab, kind = event.get("lab", 1), event["event"]
        if self.began == now and not self.now:
            self._boot_began = now
        if kind == "facts":
            self.doing = "services up"
        elif kind == "warming":
            self.doing = f"warming up {_title(event['cell'])}: {event['done']:g} of {event['of']:g}".replace(" :", ":")
        elif kind == "cell":
            if self._boot_began is not None:
                self.booted_s, self._boot_began = now - self._boot_began, None
            self.now[lab], self._cell_began[lab] = _title(event["cell"]), now
            self.labs = max(self.labs, len(self.now))
        elif kind == "planned":
            self.now.clear()
            self._boot_began = now
            self.total, self.doing = event["cells"], "booting again"
        elif kind == "end":
            self.now.pop(lab, None)
            self._boot_began = None if self.now else now
        elif kind == "sample":
            self.done += 1
            self.spent_s += now - self._cell_began.pop(lab, now)
            self.virtual_s += event.get("virtual_s") or 0.0
            self._keep(self.now.get(lab, ""), event.get("metrics") or {})

    def _keep(self, cell: str, metrics: Mapping[str, Mapping[str, Any]]) -> None:
        if not metrics:
            return
        self.metric = self.metric or (TIME if TIME in metrics else next(iter(metrics)))
        if self.metric in metrics:
            self.found.setdefault(cell, []).append(metrics[self.metric])

    @property
    def is_going(self) -> bool:
        """True if it has begun, and has measurements left that are planned so far."""
        return self.began is not None and self.done < self.total

    def estimate(self, cell: str) -> Summary | None:
        """Return the mean of a cell's metric so far, with an interval; None if nothing of it is measured."""
        samples = self.found.get(cell)
        if not samples:
            return None
        means = [each["mean"] for each in samples]
        mean = math.fsum(means) / len(means)
        if len(means) > 1:
            variance = math.fsum((each - mean) ** 2 for each in means) / (len(means) - 1)
            return from_error(mean, math.sqrt(variance / len(means)), len(means), len(means) - 1, LIKELY)
        sd, count = samples[0].get("sd"), samples[0].get("n") or 1
        if sd is None or count < 2:
            return Summary(mean, -math.inf, math.inf, 1, 0, LIKELY)
        return from_error(mean, sd / math.sqrt(count), count, count - 1, LIKELY)

    def elapsed_s(self, now: float) -> float:
        """Return how long it has run."""
        return 0.0 if self.began is None else now - self.began

    def left_s(self, now: float) -> float | None:
        """Return how long the measurements that are planned so far will take, as long each as those before; None at first.

        Boots are apart: what they take is not part of each measurement, and comes once more while labs boot again.
        """
        if not self.done or self.total <= self.done:
            return None
        booting = max(0.0, self.booted_s - (now - self._boot_began)) if self._boot_began is not None else 0.0
        under_way = sum(now - each for each in self._cell_began.values())
        return booting + max(0.0, self.spent_s / self.done * (self.total - self.done) - under_way) / self.labs

    def saved_s(self, now: float) -> float:
        """Return how much longer the measurements would have taken on the real clock; 0 if not longer."""
        return max(0.0, self.virtual_s - self.elapsed_s(now))

    def progress(self, now: float) -> str:
        """Say how far it is: "5 of 12, 0:21, 0:29 left"."""
        left = self.left_s(now)
        parts = [f"{self.done} of {self.total}", clock(self.elapsed_s(now)), f"{clock(left)} left" if left is not None else ""]
        return ", ".join(filter(None, parts))

    def activity(self, now: float) -> str:
        """Say what is measured, what it is so far, and the time saved: "rtt 40ms: 160.2 ± 0.1 ms; 12:40 saved"."""
        labs = [self.now[lab] for lab in sorted(self.now)]
        cells = [self._cell(each) for each in dict.fromkeys(labs)] or [self.doing]
        saved = self.saved_s(now)
        return "; ".join([*cells, *([f"{clock(saved)} saved"] if saved >= WORTH_SAYING_S else [])])

    def _cell(self, cell: str) -> str:
        found = self.estimate(cell)
        if found is None:
            return cell or "measuring"
        found = not_below_zero(found, self.metric)
        value = with_interval(found) if found.known else number(found.mean)
        return f"{cell}: {value} {unit_of(self.metric)}".strip().removeprefix(": ")

    def summary(self, now: float) -> str:
        """Say how long it took, and what the clock saved."""
        saved = self.saved_s(now)
        gain = f"; the virtual clock saved {clock(saved)}" if saved >= WORTH_SAYING_S else ""
        return f"{self.done} measurements in {clock(self.elapsed_s(now))}{gain}"


def _title(cell: Mapping[str, str]) -> str:
    return " ".join(f"{key} {value}" for key, value in cell.items())


def clock(seconds: float) -> str:
    """Write a duration as a clock does: 0:07, 12:40, 1:02:03."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
