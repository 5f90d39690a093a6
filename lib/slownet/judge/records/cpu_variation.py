"""Variation of a metric between boots because of the CPU's speed: the clock's variation times the CPU's share of it.

On the real clock the share is a bound, from how busy the machine was and how late its links were: `slownet.lab.host.busy` says
why it is one. CPU time varies by the clock's variation. What is late may be all late or not at all: its standard deviation is
at most its size, as that of an exponentially distributed wait. Together they are never more than if all of the time were the
machine's.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.sample_values import Reading
from slownet.model.sample import Sample
from slownet.model.units import milliseconds_of

TIMED = ("_ms", "_us", "_s", "_per_second")
"""Suffixes of times and rates, which depend on the speed of the CPU."""


class Block(NamedTuple):
    """One sample with its record of a metric, without the warm-up."""

    record: Reading
    sample: Sample

    @property
    def mean(self) -> float:
        """The mean of the record."""
        return float(self.record["mean"])


Boot = Sequence[Block]


def metric_variation(boots: Sequence[Boot], metric: str, terms: Terms) -> float:
    """Return the relative standard deviation of a metric between boots: the clock's variation times the CPU's share.

    It is 0 for metrics that are neither times nor rates, and for values that are constant.
    """
    if not terms.cpu_variation or not metric.endswith(TIMED):
        return 0.0
    blocks = [block for boot in boots for block in boot]
    if all(block.record.get("sd") == 0 and int(block.record["n"]) > 1 for block in blocks):
        return 0.0
    return fmean(_cpu_variation(block, metric, terms) for block in blocks)


def _cpu_variation(block: Block, metric: str, terms: Terms) -> float:
    """Return the relative standard deviation of a block's times that is due to the CPU."""
    if terms.charging is not Charging.REAL:
        return terms.cpu_variation * cpu_part(block, metric)
    late, verified = block.sample.get("late"), block.sample.get("verified_rtt_ms")
    if late is None or not verified or 1000 * _each_s(metric, block.record) < float(verified) * (1 - float(late)):
        return terms.cpu_variation  # none of its times contains a round trip over the link
    return terms.cpu_variation * min(1.0, 2 * cpu_part(block, metric) + float(late) / terms.cpu_variation)


def woken_late(charging: Charging | None, late: float | None) -> float:
    """Return at most the share of a time by which processors woke late; 0 on other clocks than the real one, or if unknown.

    A processor that waits for a link wakes late in every round trip of every boot alike. How late is known from the ping that
    verified the link (`slownet.lab.host.busy`); it wakes one program in a round trip, a request and its response two.

    late: the share of the ping by which it was later than stated.
    """
    return min(1.0, 2 * (late or 0.0)) if charging is Charging.REAL else 0.0


def cpu_part(block: Block, metric: str) -> float:
    """Return an upper limit of the CPU's share of a block's times: 1 if unknown.

    It is the charged time divided by the time that passed, or by the total of the requests' times if that is shorter, as it is
    if a service was started meanwhile.
    """
    charged, passed = block.sample.get("charged_s"), block.sample.get("virtual_s")
    if charged is None or not passed:
        return 1.0
    asked = _asked_s(metric, block.record)
    return min(1.0, float(charged) / (min(passed, asked) if asked > 0 else float(passed)))


def _asked_s(metric: str, record: Reading) -> float:
    """Return the total seconds of a record's requests; 0 if unknown."""
    return _each_s(metric, record) * int(record["n"])


def _each_s(metric: str, record: Reading) -> float:
    """Return the mean seconds of a record's requests; 0 if unknown."""
    mean = float(record["mean"])
    if (unit_ms := milliseconds_of(metric)) is not None:
        return mean * unit_ms / 1000
    return 1 / mean if mean > 0 and metric.endswith(("_per_second", "_per_s")) else 0.0
