"""The interval of a metric over a cell's samples: for tables, plots, claims and comparisons alike.

What counts as one independent value depends on what the clock charges (`slownet.records.charging`):

* real clock, CPU time: the means of boots. With fewer than three the blocks' own error is joined with the waver, the
  relative deviation between boots that was measured beforehand; no claim is decided on that (`Cell.deciding`).
* counted work: with three boots or more the means of boots, whose spread is pooled with the measured waver while both agree
  and no link draws by chance; with fewer the blocks' own error joined with the waver. Never narrower than the waver alone.
* free CPU: exact where nothing is random. Where a service alone draws by chance, the means of three boots or more. Else seeds
  are independent: batch means of all of them around their common mean where values stand in time's order, else the seeds'
  means.
* no clock recorded (the field): the values' own spread, as with free CPU and chance.

Sources: Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013, for boots as units; "Guide to the expression of
uncertainty in measurement", 2008, 5.1.2 for joining in quadrature and 4.2.4 for a spread known from earlier measurements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist, fmean
from typing import NamedTuple

from slownet.errors import ExperimentError
from slownet.records import readings
from slownet.records.charging import SPREAD_TAKES, Charging, Terms
from slownet.records.readings import Reading
from slownet.records.samples import Sample
from slownet.stats import (
    CONFIDENCE,
    Summary,
    correlated_error,
    counted,
    from_error,
    from_moments,
    mean_and_sd,
    of_groups,
    percentile,
    printed,
    quantile,
    t_quantile,
    welch,
)

MEASURED_DEGREES = 9.0
"""Degrees of freedom of a measured waver: of ten boots."""
KNOWN_DEGREES = 1e6
"""Those of a waver that is taken as it is, because it was set with room."""
MANY_BLOCKS = 5
"""Blocks of one boot from which their own means show how they vary."""
AGREE = 0.95
"""Level of the test whether boots spread as the waver says."""
TIMED = ("_ms", "_us", "_s", "_per_second")
"""How the names of times and rates end, which a slower CPU changes."""


class Block(NamedTuple):
    """What one sample says of a metric: its record without the warm-up."""

    record: Reading
    sample: Sample

    @property
    def mean(self) -> float:
        return float(self.record["mean"])


Boot = Sequence[Block]


def summary(samples: Sequence[Sample], metric: str, terms: Terms, confidence: float = CONFIDENCE) -> Summary:
    """A metric over the samples that are ok: see the module.

    A single number that says nothing of its spread (a printed percentile) has the interval of the recorded values, else none
    until it was measured again; readings that are the same for rounding vary as rounding does, by its step over the square
    root of 12 ("Guide to the expression of uncertainty in measurement", F.2.2.1). A count has that of a count.
    """
    boots = _boots(samples, metric)
    first = boots[0][0]
    n = sum(int(block.record["n"]) for boot in boots for block in boot)
    if is_exact(samples, terms) and len({block.mean for boot in boots for block in boot}) == 1:
        return Summary(first.mean, first.mean, first.mean, n, None, confidence)
    if first.record.get("count"):
        return _count(boots, confidence)
    found = _printed(boots, metric, terms, confidence) if readings.is_printed(first.record) else None
    found = found or _of_means(boots, metric, terms, confidence)
    return replace(found, n=n, degrees=found.freedom if found.known else 0)


def is_random(samples: Sequence[Sample]) -> bool:
    """Whether a link drew by chance in any of the samples."""
    return any(sample.get("random") for sample in samples)


def is_exact(samples: Sequence[Sample], terms: Terms) -> bool:
    """Whether the same measurement again gives the same: free CPU, and records that say that nothing is random."""
    return terms.repeats and all(sample.get("random") is False for sample in samples)


def across_runs(samples: Sequence[Sample], metric: str, terms: Terms, found: Summary) -> Summary:
    """The summary as another run is compared with it.

    How fast a machine is changes from hour to hour as it does from boot to boot, and the boots of one run, which follow
    each other, share that: so the waver is in it once, however many boots there are.
    """
    return _widened(found, _waver(_boots(samples, metric), metric, terms))


def percentile_of(samples: Sequence[Sample], metric: str, percent: float, terms: Terms, confidence: float) -> Summary:
    """A percentile of the single values of all samples, whose interval holds also how boots differ.

    Raises TooFewError, and ExperimentError where the values were not kept.
    """
    values = readings.values(samples, metric)
    if values is None:
        raise ExperimentError(f"metric '{metric}' has no single values")
    if is_exact(samples, terms):
        exact = quantile(sorted(values), percent / 100)
        return Summary(exact, exact, exact, len(values), None, confidence)
    found, boots = percentile(values, percent, confidence), _boots(samples, metric)
    if len(boots) < SPREAD_TAKES:
        return _widened(found, _waver(boots, metric, terms) / math.sqrt(len(boots)))
    middle, sd = mean_and_sd(_means(boots))
    usual = t_quantile(len(boots) - 1, confidence) / _z(confidence)
    return _widened(found, usual * sd / math.sqrt(len(boots)) / abs(middle) if middle else 0.0)


def _boots(samples: Sequence[Sample], metric: str) -> list[Boot]:
    found = readings.boots(readings.good(samples, metric))
    return [[Block(readings.settle(sample["metrics"][metric]), sample) for sample in boot] for boot in found]


def _means(boots: Sequence[Boot]) -> list[float]:
    return [fmean(block.mean for block in boot) for boot in boots]


def _of_means(boots: Sequence[Boot], metric: str, terms: Terms, confidence: float) -> Summary:
    """The summary of a mean."""
    if terms.charging in (None, Charging.FREE):
        return _of_seeds(boots, confidence)
    count, waver = len(boots), _waver(boots, metric, terms)
    middle, spread = mean_and_sd(_means(boots))
    if count < SPREAD_TAKES:
        return _joined(middle, _within(boots), waver / math.sqrt(count), count, confidence)
    if terms.charging in (Charging.REAL, Charging.TIME):
        return from_moments(middle, spread, count, confidence)
    error, degrees = spread / math.sqrt(count), count - 1.0
    if not any(block.sample.get("random") for boot in boots for block in boot):
        within = _within(boots)
        own = 0.0 if within is None else within[0] ** 2 * count
        error, degrees = _pooled(spread, count, math.sqrt(own + (waver * middle) ** 2))
    found = from_error(middle, error, count, degrees, confidence)
    least = waver * abs(middle) / math.sqrt(count)
    is_narrow = found.half_width < _z(confidence) * least
    return from_error(middle, least, count, KNOWN_DEGREES, confidence) if is_narrow else found


def _of_seeds(boots: Sequence[Boot], confidence: float) -> Summary:
    """Where no CPU is charged. Seeds that repeat each other to the digit are one: there is no news in the others.

    Where no link draws by chance, it is a service that does, and what differs from request to request does so in each boot.
    """
    middle, spread = mean_and_sd(_means(boots))
    if len(boots) >= SPREAD_TAKES and all(block.sample.get("random") is False for boot in boots for block in boot):
        return from_moments(middle, spread, len(boots), confidence)
    news = list({_told(boot): boot for boot in boots}.values())
    kept = [block.record for boot in news for block in boot]
    series = [_in_order(record) for record in kept]
    if all(len(each) > 1 for each in series):
        error, degrees = correlated_error(*series)
        return from_error(middle, error, len(kept), degrees, confidence)
    if len(news) > 1:
        middle, spread = mean_and_sd(_means(news))
        return from_moments(middle, spread, len(news), confidence)
    within = _within(news)
    if within is not None:
        return from_error(middle, within[0], 1, within[1], confidence)
    return from_moments(middle, 0.0 if len(boots) > 1 else None, max(2, len(boots)), confidence)


def _told(boot: Boot) -> tuple[tuple[float, float | None, int], ...]:
    return tuple((block.mean, block.record.get("sd"), block.record["n"]) for block in boot)


def _within(boots: Sequence[Boot]) -> tuple[float, float] | None:
    """The error of the mean of the boots' means from what varies within them, with its degrees; None where it is not known."""
    return _of_parts([_of_blocks([block.record for block in boot]) for boot in boots])


def _of_blocks(blocks: Sequence[Reading]) -> tuple[float, float] | None:
    """The error of one boot's mean: from its blocks' means where they are many, else from the values of each."""
    if len(blocks) >= MANY_BLOCKS:
        _, sd = mean_and_sd([float(block["mean"]) for block in blocks])
        return sd / math.sqrt(len(blocks)), len(blocks) - 1.0
    return _of_parts([_of_values(block) for block in blocks])


def _of_values(block: Reading) -> tuple[float, float] | None:
    if len(series := _in_order(block)) > 1:
        return correlated_error(series)
    n, sd = int(block["n"]), block.get("sd")
    return None if sd is None or n < 2 else (float(sd) / math.sqrt(n), n - 1.0)


def _in_order(record: Reading) -> Sequence[float]:
    """What stands in time's order of a record: its values, or the means of groups of them; empty where none do."""
    if record.get("ordered"):
        values: Sequence[float] = record["values"]
        return values
    return of_groups(record["values"], record["groups"]) if record.get("groups") and record.get("values") else []


def _of_parts(parts: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    """The error of a mean of independent parts, each with an error and its degrees."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    error, degrees = welch(*known)
    return error / len(parts), degrees


def _joined(middle: float, within: tuple[float, float] | None, waver: float, n: int, confidence: float) -> Summary:
    """A mean whose error is that within boots and the waver."""
    if within is None:
        return from_moments(middle, None, n, confidence)
    error, degrees = welch(within, (waver * abs(middle), KNOWN_DEGREES))
    return from_error(middle, error, n, degrees, confidence)


def _pooled(spread: float, count: int, told: float) -> tuple[float, float]:
    """The error of a mean of boots and its degrees, from how they spread and how they were ``told`` to beforehand.

    Two estimates of one variance are pooled by their degrees. Boots that spread clearly further than told are not what was
    measured then: they speak for themselves.
    """
    degrees = count - 1.0
    if not told or spread**2 > told**2 * _f_quantile(degrees, MEASURED_DEGREES):
        return spread / math.sqrt(count), degrees
    variance = (degrees * spread**2 + MEASURED_DEGREES * told**2) / (degrees + MEASURED_DEGREES)
    return math.sqrt(variance / count), degrees + MEASURED_DEGREES


def _printed(boots: Sequence[Boot], metric: str, terms: Terms, confidence: float) -> Summary | None:
    """The summary of a single number; None where the boots' spread tells as for any mean."""
    blocks = [block for boot in boots for block in boot]
    waver = _waver(boots, metric, terms) / math.sqrt(len(boots))
    if len({(block.mean, block.record["n"]) for block in blocks}) > 1:
        if len(boots) > 1:
            return None
        middle, sd = mean_and_sd([block.mean for block in blocks])
        return _joined(middle, (sd / math.sqrt(len(blocks)), len(blocks) - 1.0), waver, len(blocks), confidence)
    first = blocks[0]
    if len(blocks) > 1 and first.record.get("step"):
        rounded = from_moments(first.mean, float(first.record["step"]) / math.sqrt(12), len(blocks), confidence)
        return rounded if len(boots) >= SPREAD_TAKES else _widened(rounded, waver)
    return _widened(printed(first.record, first.sample["metrics"], confidence), waver)


def _count(boots: Sequence[Boot], confidence: float) -> Summary:
    """A count by chance: as boots spread, never narrower than a count's own interval."""
    records = [block.record for boot in boots for block in boot]
    events, trials = (sum(float(record[name]) for record in records) for name in ("mean", "n"))
    own = counted(events, int(trials), len(records), confidence)
    if len(boots) < SPREAD_TAKES:
        return own
    middle, spread = mean_and_sd(_means(boots))
    found = from_moments(middle, spread, len(boots), confidence)
    return replace(found, low=max(0.0, min(found.low, own.low)), high=max(found.high, own.high), n=int(trials))


def _waver(boots: Sequence[Boot], metric: str, terms: Terms) -> float:
    """The relative deviation between boots of a metric: the clock's waver of the part that the CPU has in it.

    Of what is no time and no rate, and of a number that the values say to be constant, there is none.
    """
    if not terms.waver or not metric.endswith(TIMED):
        return 0.0
    blocks = [block for boot in boots for block in boot]
    if all(block.record.get("sd") == 0 and int(block.record["n"]) > 1 for block in blocks):
        return 0.0
    return terms.waver * fmean(_cpu_part(block, metric) for block in blocks)


def _cpu_part(block: Block, metric: str) -> float:
    """What part of a block's times is the CPU's, at most: all of it where that is not known.

    It is what was charged over the time that passed, or over the requests' own times where these are shorter, as they are
    beside a service's start.
    """
    charged, passed = block.sample.get("charged_s"), block.sample.get("virtual_s")
    if charged is None or not passed:
        return 1.0
    asked = _asked_s(metric, block.record)
    return min(1.0, float(charged) / (min(passed, asked) if asked > 0 else float(passed)))


def _asked_s(metric: str, record: Reading) -> float:
    """Seconds that the requests of a record took, one after the other; 0 where it does not say."""
    mean, n = float(record["mean"]), int(record["n"])
    for unit, seconds in (("_ms", 1e-3), ("_us", 1e-6), ("_per_second", 0.0), ("_per_s", 0.0), ("_s", 1.0)):
        if metric.endswith(unit):
            return mean * n * seconds if seconds else n / mean if mean > 0 else 0.0
    return 0.0


def _widened(found: Summary, relative: float) -> Summary:
    """The summary joined with a relative deviation of its mean that is known."""
    if not relative or not found.known:
        return found
    more = _z(found.confidence) * relative * abs(found.mean)
    low, high = math.hypot(found.mean - found.low, more), math.hypot(found.high - found.mean, more)
    return replace(found, low=found.mean - low, high=found.mean + high)


@lru_cache(maxsize=256)
def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


@lru_cache(maxsize=256)
def _f_quantile(degrees: float, others: float) -> float:
    from scipy.special import fdtri

    return float(fdtri(degrees, others, AGREE))
