"""Makes rows of the probes' numbers: configured and measured value, and the interval that theory allows.

A random quantity is compared with the distribution that the stated condition gives for the same number of packets. A correct
link is inside the 99 % interval of that in 99 % of cases, so with forty rows every third calibration has one outside. A row is
therefore ok inside a wider interval, which contains all rows in 99 % of calibrations (Sidak's correction). The row's own 99 %
interval is reported as well.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom, nbinom

from slownet.calibration.cases import Case
from slownet.links.conditions.impairment import Chance, GilbertElliott, Loss, Markov
from slownet.links.conditions.link import MTU
from slownet.links.conditions.queueing import Queue
from slownet.links.ip import TCP_HEADER
from slownet.model.errors import ConditionError
from slownet.model.shapes import Json
from slownet.model.units import show_duration, show_percent
from slownet.theory.stats import z_quantile

CONFIDENCE = 0.99
GOODPUT, WAITING = 0.02, 0.05
OWN_FREE_CPU_S, OWN_S = 0.00005, 0.0003  # how much the hosts themselves may add to a round trip or a delay
TABLE_SCALE = 8192
LEAST_RUNS = 100  # fewer bursts say little about their mean length

Numbers = Mapping[str, Json]
Interval = tuple[float, float]
Within = Callable[[float], Interval]
"""A function that returns the interval around the configured value for a confidence."""


@dataclass(frozen=True)
class Row:
    """One quantity of one case, in `unit`.

    ``measured`` must be between ``low`` and ``high``; ``rule`` explains why. ``alone``: a random quantity's 99 % interval.
    Unknown values are None: all if the link could not be set, ``measured`` if no packet arrived; ``note`` then explains why.
    """

    group: str
    condition: str
    what: str
    unit: str = ""
    stated: float | None = None
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    rule: str = ""
    alone: Interval | None = None
    note: str = ""

    @property
    def error(self) -> float | None:
        """Measured minus configured."""
        return None if self.measured is None or self.stated is None else self.measured - self.stated

    @property
    def ok(self) -> bool:
        if self.measured is None or self.low is None or self.high is None:
            return False
        return self.low <= self.measured <= self.high

    def to_json(self) -> dict[str, object]:
        """Return the row as JSON."""
        return {**vars(self), "error": self.error, "ok": self.ok}


def judge(measured: Sequence[tuple[Case, Numbers | str]], cpu_is_free: bool) -> list[Row]:
    """Return the rows of all cases, given the numbers of their probes, or an error message in their place."""
    own_s = OWN_FREE_CPU_S if cpu_is_free else OWN_S
    chancy = sum(row.alone is not None for row in _rows(measured, own_s, CONFIDENCE))
    return _rows(measured, own_s, CONFIDENCE ** (1 / max(1, chancy)))


def _rows(measured: Sequence[tuple[Case, Numbers | str]], own_s: float, confidence: float) -> list[Row]:
    rows: list[Row] = []
    for case, numbers in measured:
        if isinstance(numbers, str):
            rows.append(Row(case.group, case.name, "the link", note=numbers))
        else:
            rows += _JUDGES[case.probe](_Bench(case, numbers, own_s, confidence))
    return rows


@dataclass(frozen=True)
class _Bench:
    """A case with its numbers, and methods that make rows of them."""

    case: Case
    numbers: Numbers
    own_s: float
    confidence: float

    def near(self, what: str, unit: str, stated: float, measured: float | None, margin: float, rule: str) -> Row:
        """Return a row that must be within a margin of the configured value."""
        note = "" if measured is not None else "nothing arrived"
        low, high = stated - margin, stated + margin
        return Row(self.case.group, self.case.name, what, unit, stated, measured, low, high, rule, note=note)

    def shortest(self, what: str, stated_s: float, seconds: Sequence[float], rule: str) -> Row:
        """Return a row for the shortest of several times, because hosts and timers may be late but are never early."""
        measured = 1000 * min(seconds) if seconds else None
        return self.near(what, "ms", 1000 * stated_s, measured, 1000 * self.own_s, f"{rule}, shortest of {len(seconds)}")

    def by_chance(self, what: str, unit: str, stated: float, measured: float | None, within: Within, rule: str) -> Row:
        """Return a row for a random quantity, with the rule for its interval."""
        low, high = within(self.confidence)
        row = self.near(what, unit, stated, measured, 0.0, f"{rule}, {100 * self.confidence:.6g} %")
        return Row(**{**vars(row), "low": low, "high": high, "alone": within(CONFIDENCE)})

    def hits(self, what: str, count: int, probability: float, of: int) -> Row:
        """Return a row for the number of packets that were hit, independently of each other."""
        rule = f"binomial, {of:,} packets"
        within = lambda level: _binomial(of, probability, level)  # noqa: E731  # short, and used once
        return self.by_chance(what, "%", 100 * probability, 100 * count / of, within, rule)


def _echo(bench: _Bench) -> list[Row]:
    trips = bench.numbers["rtt_s"]
    return [bench.shortest("round trip", bench.case.condition.rtt, trips, f"± {show_duration(bench.own_s)}")]


def _numbers(bench: _Bench) -> list[Row]:
    one, sent = bench.case.condition, bench.numbers["sent"]
    if one.duplicate:
        return [bench.hits("duplicates", bench.numbers["copies"], one.duplicate.probability, sent)]
    assert one.loss is not None
    lost, chain = bench.numbers["lost"], Chain.of(one.loss)
    if isinstance(one.loss, Chance):
        share = bench.hits("lost", lost, one.loss.probability, sent)
    else:
        mean, sd = chain.share(sent)
        within = _normal(100 * mean, 100 * sd)
        share = bench.by_chance("lost", "%", 100 * mean, 100 * lost / sent, within, f"Markov chain, {sent:,} packets")
    return [share, *_burst(bench, chain)]


def _burst(bench: _Bench, chain: Chain) -> list[Row]:
    """Return a row for the mean burst length."""
    runs, sent = bench.numbers["runs"], bench.numbers["sent"]
    mean, sd = chain.run(sent)
    if chain.share(sent)[0] * sent / mean < LEAST_RUNS:
        return []
    measured = bench.numbers["lost"] / runs if runs else None
    if chain.burst_end and runs:
        burst_end = chain.burst_end
        within: Within = lambda level: _geometric(runs, burst_end, level)  # noqa: E731
        rule = f"geometric, {runs:,} bursts"
    else:
        within, rule = _normal(mean, sd), f"Markov chain, {runs:,} bursts"
    return [bench.by_chance("mean burst", "packets", mean, measured, within, rule)]


def _spread(bench: _Bench) -> list[Row]:
    """Return rows for the standard deviation and two quantiles of the delay, from the table that netem draws from."""
    one, count, table = bench.case.condition, bench.numbers["came"], sorted(bench.numbers["table"])
    unit_ms = 1000 * one.jitter / TABLE_SCALE
    own_ms, middle = 1000 * bench.own_s, 1000 * one.up
    mean, sd = statistics.fmean(table), statistics.pstdev(table)
    kurtosis = statistics.fmean(((each - mean) / sd) ** 4 for each in table)
    error = unit_ms * sd * math.sqrt((kurtosis - 1) / (4 * count))
    rule = f"netem's table, {count:,} packets"
    rows = [bench.by_chance("jitter sd", "ms", unit_ms * sd, 1000 * bench.numbers["sd_s"], _normal(unit_ms * sd, error), rule)]
    for key, seconds in bench.numbers["quantiles_s"].items():
        part = float(key)

        def within(level: float, part: float = part) -> Interval:
            low, high = _normal(part, math.sqrt(part * (1 - part) / count))(level)
            return middle + unit_ms * _quantile(table, low) - own_ms, middle + unit_ms * _quantile(table, high) + own_ms

        stated = middle + unit_ms * _quantile(table, part)
        rows.append(bench.by_chance(f"{part:.0%} quantile", "ms", stated, 1000 * seconds, within, rule))
    return rows


def _early(bench: _Bench) -> list[Row]:
    chance = bench.case.condition.reorder
    assert chance is not None
    return [bench.hits("reordered", bench.numbers["early"], chance.mean, bench.numbers["sent"])]


def _damage(bench: _Bench) -> list[Row]:
    chance = bench.case.condition.corrupt
    assert chance is not None
    return [bench.hits("damaged", bench.numbers["damaged"], chance.mean, bench.numbers["sent"])]


def _transfer(bench: _Bench) -> list[Row]:
    one = bench.case.condition
    assert one.rate_up is not None
    stated = one.rate_up / 1e6 * ((one.mtu or MTU) - bench.case.ip.header - TCP_HEADER) / one.frame
    rule = f"± {show_percent(GOODPUT)} of rate x payload / frame"
    return [bench.near("goodput", "Mbit/s", stated, bench.numbers["bit_s"] / 1e6, GOODPUT * stated, rule)]


def _crossing(bench: _Bench) -> list[Row]:
    one, delays = bench.case.condition, bench.numbers["delays_s"]
    assert one.rate_up is not None
    rule = f"frame / rate ± {show_duration(bench.own_s)}"
    return [bench.shortest("frame delay", one.up + 8 * one.frame / one.rate_up, delays, rule)]


def _fill(bench: _Bench) -> list[Row]:
    one = bench.case.condition
    assert one.rate_up is not None
    size = (one.queue or Queue(1, "bdp")).bytes(one.rate_up, one.rtt, one.frame)
    stated, measured = 8000 * size / one.rate_up, 1000 * bench.numbers["waited_s"] if bench.numbers["came"] else None
    return [bench.near("queue delay", "ms", stated, measured, WAITING * stated, f"± {show_percent(WAITING)} of size / rate")]


def _kept(bench: _Bench) -> list[Row]:
    queue = bench.case.condition.queue
    assert queue is not None
    return [bench.near("queue length", "packets", queue.amount, bench.numbers["came"], 0.0, "exactly")]


def _largest(bench: _Bench) -> list[Row]:
    mtu = bench.case.condition.mtu
    assert mtu is not None
    return [bench.near("largest packet", "B", mtu, bench.numbers["bytes"], 0.0, "exactly")]


_JUDGES: Mapping[str, Callable[[_Bench], list[Row]]] = {
    "echo": _echo, "numbers": _numbers, "spread": _spread, "early": _early, "damage": _damage, "transfer": _transfer,
    "crossing": _crossing, "fill": _fill, "kept": _kept, "largest": _largest,
}  # fmt: skip


def _binomial(of: int, probability: float, level: float) -> Interval:
    """Return the interval of the percentage of hits, equivalent to a Clopper-Pearson interval around the measured one."""
    tail = (1 - level) / 2
    return 100 * float(binom.ppf(tail, of, probability)) / of, 100 * float(binom.ppf(1 - tail, of, probability)) / of


def _geometric(runs: int, burst_end: float, level: float) -> Interval:
    """Return the interval of the mean of geometric burst lengths, whose sum is negative binomial."""
    tail = (1 - level) / 2
    low, high = (float(nbinom.ppf(part, runs, burst_end)) for part in (tail, 1 - tail))
    return 1 + low / runs, 1 + high / runs


def _normal(mean: float, sd: float) -> Within:
    def within(level: float) -> Interval:
        half = z_quantile(level) * sd
        return mean - half, mean + half

    return within


def _quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[min(max(round(part * (len(ordered) - 1)), 0), len(ordered) - 1)]


# The statistics of losses in bursts: how much the loss ratio and the mean burst length vary from sample to sample.
#
# A loss model is a Markov chain; in each state, packets are lost with a certain probability. The variance of what n packets
# show
# follows from the chain's fundamental matrix (Kemeny and Snell, Finite Markov Chains, 1960, section 4.6).

ROUNDING = 1e-12
Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Chain:
    """A loss model: the probabilities of transitions (each row sums to 1), and of losing a packet in each state."""

    transitions: tuple[tuple[float, ...], ...]
    loss: tuple[float, ...]

    @classmethod
    def of(cls, model: Loss) -> Chain:
        """Return the chain that netem runs for a model. Raises ConditionError for correlated losses, which are not a chain."""
        if isinstance(model, GilbertElliott):
            return cls(((1 - model.p, model.p), (model.r, 1 - model.r)), (model.good, model.bad))
        if isinstance(model, Markov):
            one = (1 - model.p13 - model.p14, 0.0, model.p13, model.p14)
            three = (model.p31, model.p32, 1 - model.p31 - model.p32, 0.0)
            return cls((one, (0.0, 1 - model.p23, model.p23, 0.0), three, (1.0, 0.0, 0.0, 0.0)), (0.0, 0.0, 1.0, 1.0))
        return cls.alone(model)

    @classmethod
    def alone(cls, chance: Chance) -> Chain:
        """Return the chain of one state, for independent losses."""
        if chance.correlation:
            raise ConditionError(
                "correlated loss cannot be judged as a Markov chain", fix="write the loss in bursts, such as 2% in bursts of 8"
            )
        return cls(((1.0,),), (chance.probability,))

    @property
    def burst_end(self) -> float | None:
        """The probability that a burst ends after a lost packet, if it is always the same: its length is then geometric."""
        if len(self.loss) == 1:
            return 1 - self.loss[0]
        reached = [state for state, part in enumerate(_stationary(np.array(self.transitions))) if part > ROUNDING]
        lossy = [state for state in reached if self.loss[state]]
        if len(lossy) == 1 and self.loss[lossy[0]] == 1:
            return 1 - self.transitions[lossy[0]][lossy[0]]
        return None

    def share(self, count: int) -> tuple[float, float]:
        """Return mean and standard deviation of the fraction of `count` packets that is lost."""
        return self._outcomes().mean_and_sd(count)

    def run(self, count: int) -> tuple[float, float]:
        """Return mean and standard deviation of the mean burst length among `count` packets."""
        return self._outcomes().run(count)

    def _outcomes(self) -> _Outcomes:
        """Return the chain whose states are (state, kept or lost)."""
        loss = np.array(self.loss)
        chances = np.concatenate([1 - loss, loss])
        return _Outcomes(np.tile(np.array(self.transitions), (2, 2)) * chances, np.repeat([0.0, 1.0], len(loss)))


@dataclass(frozen=True)
class _Outcomes:
    matrix: Matrix
    lost: Matrix

    def mean_and_sd(self, count: int) -> tuple[float, float]:
        at = _stationary(self.matrix)
        return float(at @ self.lost), math.sqrt(_variance(self.matrix, at, self.lost) / count)

    def run(self, count: int) -> tuple[float, float]:
        """Return the mean burst length, a ratio of lost packets to bursts, and its deviation by the delta method."""
        at, size = _stationary(self.matrix), len(self.lost)
        pairs = np.zeros((size * size, size * size))  # the chain whose states are (previous, current)
        for before in range(size):
            for now in range(size):
                pairs[before * size + now, now * size : (now + 1) * size] = self.matrix[now]
        at_pair = (at[:, None] * self.matrix).ravel()
        lost = np.tile(self.lost, size)
        begins = lost * (1 - np.repeat(self.lost, size))
        mean = float(at @ self.lost) / float(at_pair @ begins)
        spread = math.sqrt(_variance(pairs, at_pair, lost - mean * begins) / count)
        return mean, spread / float(at_pair @ begins)


def _stationary(matrix: Matrix) -> Matrix:
    size = len(matrix)
    equations = np.vstack([matrix.T - np.eye(size), np.ones(size)])
    found, *_ = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)
    stationary: Matrix = np.clip(found, 0.0, None)
    return stationary


def _variance(matrix: Matrix, at: Matrix, values: Matrix) -> float:
    """Return the limit, for many steps n, of the variance of the sum of a function of the states, divided by n."""
    centred = values - at @ values
    fundamental = np.linalg.inv(np.eye(len(matrix)) - matrix + np.outer(np.ones(len(matrix)), at))
    return float(2 * at @ (centred * (fundamental @ centred)) - at @ (centred * centred))
