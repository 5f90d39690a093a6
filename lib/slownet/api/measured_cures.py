"""Cures of an account, measured: the cell once more with each that slownet can switch on, beside what the account promised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from slownet.api import accounted
from slownet.api.accounted import Again
from slownet.judge.records.condition_columns import is_of_links
from slownet.judge.records.result import RunData
from slownet.model import host_settings
from slownet.model.errors import SlownetError
from slownet.model.sample import Sample, cell_in_words
from slownet.waits import of_run
from slownet.waits.account import Account
from slownet.waits.cures import Cure, Outcome, cures

NEAR = 0.05
"""A metric within this part of the account's time is the operation's."""
ELAPSED = "the last operation"
"""The time that is compared if no metric is the operation's."""
UNITS = {"_ms": 1.0, "_s": 1000.0, "_us": 0.001}


@dataclass(frozen=True)
class Otherwise:
    """Another cell of the run that differs in one condition, not a link's: the metric here, and what was measured there."""

    condition: str
    metric: str
    before: float
    after: float


@dataclass(frozen=True)
class Cured:
    """All cures of an account: measured or not, and what other cells of the run show."""

    outcomes: tuple[Outcome, ...]
    others: tuple[Otherwise, ...]
    interrupted: bool = False

    def to_json(self) -> dict[str, object]:
        """Return them as data: promised and measured savings in ms."""
        return {
            "cures": [
                {
                    "cure": each.cure.name, "promised_ms": each.cure.saves_ns / 1e6, "because": each.cure.because,
                    "settings": dict(each.cure.settings), "conditions": dict(each.cure.conditions),
                    "not_measured": each.error or each.cure.not_switched, "metric": each.metric, "before_ms": each.before_ms,
                    "after_ms": each.after_ms, "run": each.run,
                }
                for each in self.outcomes
            ],
            "other_cells": [
                {"condition": each.condition, "metric": each.metric, "before": each.before, "after": each.after}
                for each in self.others
            ],
        }  # fmt: skip


def cured(
    run: RunData, account: Account, label: Mapping[str, str], client: str | None = None, *, whole: bool = False,
    notify: Callable[[str], None] = lambda line: None, again: Again | None = None,
) -> Cured:  # fmt: skip
    """Measure an account's cures.

    run: the run whose captures the account is of.
    account: the account.
    label: the cell's conditions, as they were given.
    client, whole: as for the account.
    notify: gets a line about what is measured.
    again: measures a cell once more, with captures, by its conditions and variables of the lab; by default as the run was.
    returns: what cannot be measured has the reason; no error ends the others, but an interrupt does.
    Raises SlownetError: the run has no such cell.
    """
    sample = of_run.sample_of(run, label)
    metric = metric_of(sample, account)
    before = _time(sample, account, metric)
    outcomes: list[Outcome] = []
    interrupted = False
    for cure in cures(account, sample["cell"], str(sample.get("tool") or "")):
        if cure.not_switched or interrupted:
            outcomes.append(Outcome(cure, error="interrupted" if interrupted and not cure.not_switched else ""))
            continue
        notify(f"{cell_in_words(sample['cell']) or run.experiment} is measured with {cure.name}")
        try:
            other, after = _with(sample, cure, again or partial(accounted.again, run))
            found = of_run.of_sample(other, after, client, whole=whole)
        except SlownetError as error:
            outcomes.append(Outcome(cure, error=error.line))
            continue
        except KeyboardInterrupt:
            outcomes.append(Outcome(cure, error="interrupted"))
            interrupted = True
            continue
        outcomes.append(Outcome(cure, before, _time(after, found, metric), metric or ELAPSED, str(other.directory)))
    return Cured(tuple(outcomes), tuple(_others(run, sample, metric)), interrupted)


def metric_of(sample: Sample, account: Account) -> str:
    """Return the metric that is the time of the operation of an account: the one nearest to it; empty if none is near."""
    times = {name: ms for name, each in (sample.get("metrics") or {}).items() if (ms := _ms(name, each)) is not None}
    elapsed = account.elapsed_ns / 1e6
    nearest = min(times, key=lambda name: abs(times[name] - elapsed), default="")
    return nearest if nearest and abs(times[nearest] - elapsed) <= NEAR * elapsed else ""


def _ms(name: str, metric: object) -> float | None:
    mean = metric.get("mean") if isinstance(metric, Mapping) else metric
    unit = next((factor for end, factor in UNITS.items() if name.endswith(end)), None)
    if unit is None or not isinstance(mean, int | float) or (isinstance(metric, Mapping) and metric.get("of")):
        return None
    return float(mean) * unit


def _time(sample: Sample, account: Account, metric: str) -> float:
    found = _ms(metric, (sample.get("metrics") or {}).get(metric)) if metric else None
    return account.elapsed_ns / 1e6 if found is None else found


def _with(sample: Sample, cure: Cure, again: Again) -> tuple[RunData, Sample]:
    """Measure a sample's cell with a cure. Raises SlownetError."""
    cell = {**sample["cell"], **cure.conditions}
    env = {host_settings.VARIABLE: host_settings.written(cure.settings)} if cure.settings else {}
    run = again(cell, env)
    return run, accounted.captured(run, cell)


def _others(run: RunData, sample: Sample, metric: str) -> Sequence[Otherwise]:
    """Return what the run's cells show that differ in one condition of the experiment's own, such as its cure.

    Without a metric that is the operation's time, they are compared by the first metric that both have.
    """
    own = dict(sample["cell"])
    metric = metric or next(iter(sample.get("metrics") or {}), "")
    cells = [(dict(each.samples[0]["cell"]), each) for each in run.cells if each.samples and metric in each.metrics]
    itself = [cell for label, cell in cells if label == own]
    found: list[Otherwise] = []
    for label, cell in cells:
        names = [name for name in {**own, **label} if label.get(name) != own.get(name)]
        if len(names) == 1 and not is_of_links(names[0]):
            text = f"{names[0]} {label.get(names[0], 'none')} instead of {own.get(names[0], 'none')}"
            found += [Otherwise(text, metric, here.metrics[metric].mean, cell.metrics[metric].mean) for here in itself[:1]]
    return sorted(found, key=lambda each: each.after)
