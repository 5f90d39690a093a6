"""The CPU charging of a run's clock, and how much a metric varies between boots because of the CPU's speed.

It determines how much a time varies between boots, how many boots a verdict requires, and whether another run gives the same
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from slownet.judge.records.sample_values import Reading
from slownet.lab.run import clock
from slownet.model.errors import SlownetError, nearest
from slownet.model.facts import Facts, SpreadFacts
from slownet.model.sample import Sample
from slownet.model.units import milliseconds_of
from slownet.theory.stats.student import z_quantile

# On the real clock the share is a bound, from how busy the machine was and how late its links were: `slownet.lab.host.busy`
# says why it is one. CPU time varies by the clock's variation. What is late may be all late or not at all: its standard
# deviation is at most its size, as that of an exponentially distributed wait. Together they are never more than if all of the
# time were the machine's.

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
    """Return at most the share of a time that is due to late wake-ups; 0 on other clocks than the real one, or if unknown.

    A processor that waits for a link wakes late in every round trip of every boot alike. How late is known from the ping that
    verified the link (`slownet.lab.host.busy`); it wakes one program in a round trip, a request and its response two.

    late: the share of the ping by which it was later than configured.
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


USUAL_MARGIN = 0.05
"""The default margin of claims. Experiments with narrower margins are about the network only and run with free CPU."""
COUNTED_MARGIN = 0.005
"""The default margin of comparisons of runs whose numbers repeat: there only what one cares about needs a margin."""
LEAST_BOOTS = 3
"""Boots, or seeds, needed to estimate the variation between them: two would give Student's t one degree of freedom."""
NOTHING_MS = 1.0
"""With a free CPU a shorter time is clock readings and the lab's own share, not programs: no ratio to it is shown."""
FIRST_SHARE = 0.005
"""Error rate of the first look at the claims if the variation between boots was measured beforehand: half of 1 %."""


TIMER_SLACK_MS = 0.05
"""Linux may wake a program that much after its timer (prctl(2), PR_SET_TIMERSLACK)."""


class Charging(Enum):
    """The CPU charging of a clock; the value is the word for it in records."""

    REAL = "real"
    """The real clock, in a lab or natively: all activity of the machine counts."""
    TIME = clock.TIME
    """Virtual clock: CPU time is charged."""
    WORK = clock.WORK
    """Virtual clock: retired instructions are counted and charged."""
    FREE = clock.FREE
    """Virtual clock: the CPU is free (TDF inf)."""
    EXACT = clock.INSTRUCTIONS
    """Exact clock: an emulated machine's instructions are counted. Only what programs draw at random differs, by the seed."""

    @classmethod
    def of(cls, facts: Facts) -> Charging:
        """Read it from a run's facts ``clock``, ``tdf`` and ``cpu``; older records lack ``cpu``.

        Raises SlownetError for an unknown word in ``cpu``.
        """
        if facts.get("clock") == clock.EXACT:
            return cls.EXACT
        if facts.get("clock") != "virtual":
            return cls.REAL
        word = facts.get("cpu") or (clock.FREE if facts.get("tdf") == clock.TDF_INF else clock.TIME)
        charged = {each.value: each for each in (cls.TIME, cls.WORK, cls.FREE)}
        if word not in charged:
            raise SlownetError(f"a clock that charges '{word}'", "cpu in the facts of a run", nearest(str(word), charged))
        return charged[word]

    @property
    def cpu_variation(self) -> float:
        """Relative standard deviation of the CPU's share of a time between boots, and between blocks of one boot."""
        return CPU_VARIATION[self]

    @property
    def slack_ms(self) -> float:
        """Differences of times, in ms, that are not worth a note: those that repeat where the CPU is free."""
        return TIMER_SLACK_MS if self is Charging.FREE else 0.0

    @property
    def is_measured(self) -> bool:
        """True if `cpu_variation` is known well enough to replace an estimate from several boots."""
        return self in (Charging.WORK, Charging.EXACT)

    def means_nothing(self, value: float, metric: str) -> bool:
        """True if a metric is a time too short to mean anything: with a free CPU, what is left of one without a network."""
        unit_ms = milliseconds_of(metric)
        return self is Charging.FREE and unit_ms is not None and abs(value) * unit_ms < NOTHING_MS

    def verdict_from(self, is_random: bool) -> int:
        """Return the number of boots that a verdict requires: three if their variation must be estimated from them, else one.

        ``is_random`` shows whether a link's condition is random, so that each boot has another seed.
        """
        return LEAST_BOOTS if is_random or self in (Charging.REAL, Charging.TIME) else 1

    def first_look(self, least: int) -> int:
        """Return the number of boots before claims are judged for the first time; ``least`` are required for a verdict.

        If `cpu_variation` was measured, as many as narrow the interval of a ratio of two pure CPU times to half of the default
        margin: 1 for WORK (1.2 %). With TIME's it would be 364, so three boots estimate the actual variation instead.
        """
        if not self.is_measured:
            return least
        half = z_quantile(1 - FIRST_SHARE) * math.sqrt(2) * self.cpu_variation
        return max(least, math.ceil((half / (USUAL_MARGIN / 2)) ** 2))

    def __str__(self) -> str:
        return IN_WORDS[self]


CPU_VARIATION: Mapping[Charging, float] = MappingProxyType(
    {Charging.REAL: 0.12, Charging.TIME: 0.12, Charging.WORK: 0.003, Charging.FREE: 0.0, Charging.EXACT: 0.003}
)
"""Rounded up from measurements of client_delay's T0 at TDF 1, five boots each: CPU time
10.6 % on an idle machine, 10 to 19 % at other times and next to other work; counted instructions 0.10 % on an idle machine,
0.19 % over idle boots and boots next to busy loops. `make trust` measures them again. On the exact clock seeds
differ: ten pages by 0.12 % over four boots of four blocks each, the first ten of a boot by 0.21 % in three."""

IN_WORDS: Mapping[Charging, str] = MappingProxyType(
    {
        Charging.REAL: "the real clock",
        Charging.TIME: "the virtual clock with CPU time charged",
        Charging.WORK: "the virtual clock with counted work charged",
        Charging.FREE: "the virtual clock with free CPU",
        Charging.EXACT: "the exact clock",
    }
)


TERMS = ("clock", "tdf", "cpu", "chance", "chance_spread", "own_programs")
"""The facts of a run that its `Terms` are read from."""


@dataclass(frozen=True)
class Terms:
    """The inputs of intervals besides the numbers."""

    charging: Charging | None = None
    """The charging of the clock; None if no clock is recorded, as in the field."""
    chance: bool = False
    """True if a program in the lab uses its own random numbers, so that runs differ a little even with free CPU."""
    chance_spread: Sequence[SpreadFacts] = ()
    """If it was measured, the relative standard deviation between boots that this makes with free CPU."""
    own_programs: bool = False
    """True if programs take part that slownet does not know: `slownet.judge.records.exactness`."""

    @classmethod
    def of(cls, facts: Facts) -> Terms:
        """Read them from a run's facts. Raises SlownetError like `Charging.of`."""
        charging = Charging.of(facts) if facts.get("clock") else None
        return cls(charging, bool(facts.get("chance")), facts.get("chance_spread") or (), bool(facts.get("own_programs")))

    @property
    def cpu_variation(self) -> float:
        """That of `charging`, 0 if no clock is recorded."""
        return self.charging.cpu_variation if self.charging else 0.0

    def spread(self, metric: str, label: Mapping[str, str]) -> float:
        """Return that of a metric in a cell; 0 if it was not measured, or if CPU is charged."""
        if self.charging is not Charging.FREE:
            return 0.0
        matching = (each for each in self.chance_spread if each["metric"] == metric and each["at"].items() <= label.items())
        return float(next((each["relative"] for each in matching), 0.0))

    @property
    def repeats(self) -> bool:
        """True if another run gives the same numbers unless a link is random: the CPU is free, and no known program is."""
        return self.charging is Charging.FREE and not self.chance


UNKNOWN = Terms()
"""The terms of numbers whose circumstances are unknown."""
