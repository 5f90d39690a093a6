"""The CPU charging of a run's clock, as one value.

It determines how much a time varies between boots, how many boots a verdict requires, and whether another run gives the same
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from slownet.lab.run import clock
from slownet.model.errors import SlownetError, nearest
from slownet.model.facts import Facts, SpreadFacts
from slownet.model.units import milliseconds_of
from slownet.theory.stats.student import z_quantile

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
        """Return the boots required for a verdict: three if their variation must be estimated from them, else one.

        ``is_random`` shows whether a link's condition is random, so that each boot has another seed.
        """
        return LEAST_BOOTS if is_random or self in (Charging.REAL, Charging.TIME) else 1

    def first_look(self, least: int) -> int:
        """Return the boots before the claims are judged for the first time; ``least`` are required for a verdict.

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
