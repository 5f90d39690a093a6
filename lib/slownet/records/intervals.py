"""The interval of a metric over a cell's samples: for tables, plots, claims and comparisons alike.

What counts as one independent value depends on what the clock charges (`slownet.records.charging`):

* real clock, CPU time: the means of boots. With fewer than three the blocks' own error is joined with the waver, the
  relative deviation between boots that was measured beforehand; no claim is decided on that (`Cell.deciding`).
* counted work: with three boots or more the means of boots, whose spread is pooled with the measured waver while both agree
  and no link draws by chance; with fewer the blocks' own error joined with the waver. Never narrower than the waver alone.
* free CPU: exact where nothing is random. Else seeds are independent: batch means of all of them around their common mean
  where values stand in time's order, else the seeds' means.
* no clock recorded (the field): the values' own spread, as with free CPU and chance.

Sources: Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013, for boots as units; "Guide to the expression of
uncertainty in measurement", 2008, 5.1.2 for joining in quadrature and 4.2.4 for a spread known from earlier measurements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist, fmean

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


def summary(samples: Sequence[Sample], metric: str, terms: Terms, confidence: float = CONFIDENCE) -> Summary:
    """A metric over the samples that are ok: see the module.

    A single number that says nothing of its spread (a printed percentile) has the interval of the recorded values, else none
    until it was measured again; readings that are the same for rounding vary as rounding does, by its step over the square
    root of 12 ("Guide to the expression of uncertainty in measurement", F.2.2.1). A count has that of a count.
    """
    boots = readings.boots(readings.good(samples, metric))
    means = [fmean(_mean(sample, metric) for sample in boot) for boot in boots]
    first = boots[0][0]["metrics"][metric]
    n = sum(int(record["n"]) for record in readings.settled(samples, metric))
    if is_exact(samples, terms) and len({_mean(sample, metric) for boot in boots for sample in boot}) == 1:
        return Summary(means[0], means[0], means[0], n, None, confidence)
    if first.get("count"):
        return _count(samples, metric, means, confidence)
    found = _printed(boots, means, metric, terms, confidence) if readings.is_printed(first) else None
    found = found or _of_boots(boots, means, metric, terms, confidence)
    return replace(found, n=n, degrees=found.freedom if found.known else 0)


def is_random(samples: Sequence[Sample]) -> bool:
    """Whether a link drew by chance in any of the samples."""
    return any(sample.get("random") for sample in samples)


def is_exact(samples: Sequence[Sample], terms: Terms) -> bool:
    """Whether the same measurement again gives the same: free CPU, and records that say that nothing is random."""
    settled = all(sample.get("random") is False for sample in samples)
    return terms.charging is Charging.FREE and settled and not terms.chance


def across_runs(samples: Sequence[Sample], metric: str, terms: Terms, found: Summary) -> Summary:
    """The summary as another run is compared with it.

    How fast a machine is changes from hour to hour as it does from boot to boot, and the boots of one run, which follow
    each other, share that: so the waver is in it once, however many boots there are.
    """
    return _widened(found, _waver(readings.boots(readings.good(samples, metric)), metric, terms))


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
    found = percentile(values, percent, confidence)
    boots = readings.boots(readings.good(samples, metric))
    if len(boots) < SPREAD_TAKES:
        return _widened(found, _waver(boots, metric, terms) / math.sqrt(len(boots)))
    means = [fmean(_mean(sample, metric) for sample in boot) for boot in boots]
    middle, sd = mean_and_sd(means)
    usual = t_quantile(len(means) - 1, confidence) / _z(confidence)
    return _widened(found, usual * sd / math.sqrt(len(means)) / abs(middle) if middle else 0.0)


def _mean(sample: Sample, metric: str) -> float:
    return float(readings.settle(sample["metrics"][metric])["mean"])


def _of_boots(
    boots: Sequence[Sequence[Sample]], means: Sequence[float], metric: str, terms: Terms, confidence: float
) -> Summary:
    """The summary of a mean."""
    middle, spread = mean_and_sd(means)
    count = len(boots)
    if terms.charging in (None, Charging.FREE):
        return _of_seeds(boots, means, metric, confidence)
    waver, within = _waver(boots, metric, terms), _within(boots, metric)
    if count < SPREAD_TAKES:
        return _joined(middle, within, waver / math.sqrt(count), count, confidence)
    error, degrees = spread / math.sqrt(count), count - 1.0
    if terms.charging.is_measured and not any(is_random(boot) for boot in boots):
        own = 0.0 if within is None else within[0] ** 2 * count
        error, degrees = _pooled(spread, count, math.sqrt(own + (waver * middle) ** 2))
    found = from_error(middle, error, count, degrees, confidence)
    least = _z(confidence) * waver * abs(middle) / math.sqrt(count)
    is_narrow = terms.charging not in (Charging.REAL, Charging.TIME) and found.half_width < least
    return from_error(middle, least / _z(confidence), count, KNOWN_DEGREES, confidence) if is_narrow else found


def _of_seeds(boots: Sequence[Sequence[Sample]], means: Sequence[float], metric: str, confidence: float) -> Summary:
    """Where no CPU is charged. Seeds that repeat each other to the digit are one: there is no news in the others."""
    news = list({_told(boot, metric): boot for boot in boots}.values())
    kept = [readings.settle(sample["metrics"][metric]) for boot in news for sample in boot]
    middle = fmean(means)
    if all(record.get("ordered") and len(record["values"]) > 1 for record in kept):
        return from_error(middle, *_with_n(correlated_error(*(record["values"] for record in kept)), kept), confidence)
    if len(news) > 1:
        middle, spread = mean_and_sd([fmean(_mean(sample, metric) for sample in boot) for boot in news])
        return from_moments(middle, spread, len(news), confidence)
    within = _within(news, metric)
    if within is None:
        same = len(boots) > 1
        return from_moments(middle, 0.0 if same else None, max(2, len(boots)), confidence)
    return from_error(middle, within[0], 1, within[1], confidence)


def _with_n(error: tuple[float, float], kept: Sequence[Reading]) -> tuple[float, int, float]:
    return error[0], sum(int(record["n"]) for record in kept), error[1]


def _told(boot: Sequence[Sample], metric: str) -> tuple[tuple[float, float | None, int], ...]:
    told = (sample["metrics"][metric] for sample in boot)
    return tuple((record["mean"], record.get("sd"), record["n"]) for record in told)


def _within(boots: Sequence[Sequence[Sample]], metric: str) -> tuple[float, float] | None:
    """The error of the mean of the boots' means from what varies within them, with its degrees; None where it is not known."""
    parts = [_of_blocks([readings.settle(sample["metrics"][metric]) for sample in boot]) for boot in boots]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    error, degrees = welch(*known)
    return error / len(parts), degrees


def _of_blocks(blocks: Sequence[Reading]) -> tuple[float, float] | None:
    """The error of one boot's mean: from its blocks' means where they are many, else from the values of each."""
    if len(blocks) >= MANY_BLOCKS:
        _, sd = mean_and_sd([float(block["mean"]) for block in blocks])
        return sd / math.sqrt(len(blocks)), len(blocks) - 1.0
    parts = [_of_values(block) for block in blocks]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    error, degrees = welch(*known)
    return error / len(blocks), degrees


def _of_values(block: Reading) -> tuple[float, float] | None:
    if block.get("ordered") and len(block["values"]) > 1:
        return correlated_error(block["values"])
    n, sd = int(block["n"]), block.get("sd")
    return None if sd is None or n < 2 else (float(sd) / math.sqrt(n), n - 1.0)


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


def _printed(
    boots: Sequence[Sequence[Sample]], means: Sequence[float], metric: str, terms: Terms, confidence: float
) -> Summary | None:
    """The summary of a single number; None where the boots' spread tells as for any mean."""
    records = [sample["metrics"][metric] for boot in boots for sample in boot]
    if len({(record["mean"], record["n"]) for record in records}) > 1:
        return None if len(boots) > 1 else _of_one_boot(boots[0], metric, terms, confidence)
    first = records[0]
    if len(records) > 1 and first.get("step"):
        rounded = from_moments(float(first["mean"]), float(first["step"]) / math.sqrt(12), len(records), confidence)
        return _widened(rounded, 0.0 if len(boots) >= SPREAD_TAKES else _waver(boots, metric, terms) / math.sqrt(len(boots)))
    found = printed(first, boots[0][0]["metrics"], confidence)
    return _widened(found, _waver(boots, metric, terms) / math.sqrt(len(boots)))


def _of_one_boot(boot: Sequence[Sample], metric: str, terms: Terms, confidence: float) -> Summary:
    """Several readings of one boot that differ: their mean with its t interval and the waver."""
    middle, sd = mean_and_sd([float(sample["metrics"][metric]["mean"]) for sample in boot])
    within = (sd / math.sqrt(len(boot)), len(boot) - 1.0)
    return _joined(middle, within, _waver([boot], metric, terms), len(boot), confidence)


def _count(samples: Sequence[Sample], metric: str, means: Sequence[float], confidence: float) -> Summary:
    """A count by chance: as boots spread, never narrower than a count's own interval."""
    records = readings.records(samples, metric)
    events, trials = (sum(float(record[name]) for record in records) for name in ("mean", "n"))
    own = counted(events, int(trials), len(records), confidence)
    if len(means) < SPREAD_TAKES:
        return own
    middle, spread = mean_and_sd(means)
    boots = from_moments(middle, spread, len(means), confidence)
    least = 0.0
    return replace(boots, low=max(least, min(boots.low, own.low)), high=max(boots.high, own.high), n=int(trials))


def _waver(boots: Sequence[Sequence[Sample]], metric: str, terms: Terms) -> float:
    """The relative deviation between boots of a metric: the clock's waver of the part that the CPU has in it.

    Of what is no time and no rate, and of a number that the values say to be constant, there is none.
    """
    kept = [(sample, sample["metrics"][metric]) for boot in boots for sample in boot]
    constant = all(record.get("sd") == 0 and int(record["n"]) > 1 for _, record in kept)
    if not metric.endswith(TIMED) or constant:
        return 0.0
    return terms.waver * fmean(_cpu_part(sample, metric, record) for sample, record in kept)


def _cpu_part(sample: Mapping[str, object], metric: str, record: Reading) -> float:
    """What part of a block's times is the CPU's, at most: all of it where that is not known.

    It is what was charged over the time that passed, or over the requests' own times where these are shorter, as they are
    beside a service's start.
    """
    charged, passed = sample.get("charged_s"), sample.get("virtual_s")
    if not isinstance(charged, (int, float)) or not isinstance(passed, (int, float)) or passed <= 0:
        return 1.0
    spans = [float(passed), _asked_s(metric, record)]
    return min(1.0, float(charged) / min(span for span in spans if span > 0))


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
