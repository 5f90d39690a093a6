"""The interval of a metric over a cell's samples, for tables, plots, claims and comparisons alike.

`summary` has a scope. `Scope.WITHIN_RUN` is what varies within a run, for comparing its cells; `Scope.BETWEEN_RUNS` adds what
varies between runs, for a number by itself and for comparisons between runs.

What counts as one independent value depends on what the clock charges (`slownet.judge.records.charging`). "Variation" is the
relative standard deviation between boots that was measured beforehand.

* real clock, CPU time: the means of boots. With fewer than three boots, the error within blocks combined with the variation,
  and no claim is decided on that (`Cell.has_too_few`). Such an error is a factor, the machine's speed: the interval of a time
  or a rate is symmetric on a logarithmic scale, and ends above 0 however wide it is.
* counted work: with three boots or more the means of boots; their spread is pooled with the variation if both agree and no link
  is random. With fewer boots, the error within blocks combined with the variation. Never narrower than the variation alone.
* free CPU: exact if nothing is random. If only programs are random, the spread that this was measured to make between boots,
  pooled with that of three boots or more; if it was not measured, the means of three boots or more. Otherwise seeds are
  independent: batch means of all values around their common mean if the values are in time order, else the means of seeds.
* exact clock: one run gives the same numbers as the next, so the spread of the values within a boot is not an error. Seeds are
  the repetitions: three boots or more show what they make, nothing if all have the same digits; with fewer it is the variation.
* no clock recorded (the field): the spread of the values, as with free CPU and randomness.

What this file takes from others: `sample_values`, the values of a metric in samples, and which of them are independent;
`charging`, what the clock charges, as one value; `cpu_variation`, how much a metric varies between boots because of the CPU;
`exactness`, whether nothing varies at all; `slownet.theory.stats`, the formulas. `Cell.summary` calls it, and keeps what comes.

Sources: Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013, for boots as units; "Guide to the expression of
uncertainty in measurement", 2008, 5.1.2 for addition in quadrature and 4.2.4 for a spread known from earlier measurements.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean

from slownet.judge.records import sample_values
from slownet.judge.records.charging import LEAST_BOOTS, TIMED, Block, Boot, Charging, Terms, metric_variation
from slownet.judge.records.exactness import is_exact
from slownet.judge.records.sample_values import Reading
from slownet.model.errors import ExperimentError
from slownet.model.sample import Sample
from slownet.theory.stats import (
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
    z_quantile,
)

MEASURED_DEGREES = 9.0
"""Degrees of freedom of a measured variation of the CPU: ten boots."""
KNOWN_DEGREES = 1e6
"""Degrees of freedom of a variation that is taken as exact, because it was rounded up."""
MANY_BLOCKS = 5
"""Blocks of one boot needed to estimate the variation between them."""
AGREE = 0.95
"""Level of the test whether the spread of boots agrees with the variation."""


class Scope(enum.Enum):
    """The variation that an interval holds."""

    WITHIN_RUN = enum.auto()
    """Between boots of one run, which share the speed of the machine at that time."""
    BETWEEN_RUNS = enum.auto()
    """Also between runs, each measured at another speed of the machine."""


def summary(
    samples: Sequence[Sample], metric: str, terms: Terms, confidence: float = CONFIDENCE, scope: Scope = Scope.WITHIN_RUN
) -> Summary:
    """Summarize a metric over the successful samples: see the module's docstring."""
    found = _within_run(samples, metric, terms, confidence)
    return across_runs(samples, metric, terms, found) if scope is Scope.BETWEEN_RUNS else found


def _within_run(samples: Sequence[Sample], metric: str, terms: Terms, confidence: float) -> Summary:
    """Summarize a metric by what varies within a run.

    A single number without a spread (a printed percentile) has the interval of the recorded values; without these it has none
    until it is measured again. Readings that are equal because of rounding get its standard deviation, the step divided by the
    square root of 12 ("Guide to the expression of uncertainty in measurement", F.2.2.1), and no interval of rounded readings is
    narrower than the step, because all of them may be rounded the same way. A count has a count's interval.
    """
    boots = _boots(samples, metric)
    first = boots[0][0]
    n = sum(int(block.record["n"]) for boot in boots for block in boot)
    # From what is known best to what has to be estimated. Where nothing varies, not even a count has an interval; a spread that
    # was measured beforehand goes before that of these few boots; only then does a printed number stand for itself.
    if is_exact(samples, terms) and len({block.mean for boot in boots for block in boot}) == 1:
        return Summary(first.mean, first.mean, first.mean, n, None, confidence)
    if first.record.get("count"):
        return _count(boots, confidence)
    if known := terms.spread(metric, first.sample.get("cell") or {}) if _only_programs_are_random(boots) else 0.0:
        found: Summary | None = _of_known(boots, known, confidence)
    elif _only_seeds_differ(boots, metric, terms):
        found = _of_programs_seeds(boots, metric_variation(boots, metric, terms), confidence)
    else:
        found = _printed(boots, metric, terms, confidence) if sample_values.is_printed(first.record) else None
    found = _not_finer_than(float(first.record.get("step") or 0), found or _of_means(boots, metric, terms, confidence))
    # n tells readers how many values there are. The interval came from fewer, the independent ones: its degrees of freedom are
    # stated here, or they would be taken for n - 1.
    found = replace(found, n=n, df=found.df_or_default if found.known else 0)
    is_factor = terms.charging in (Charging.REAL, Charging.TIME) and metric.endswith(TIMED)
    return found.positive() if is_factor else found


def by_boot(samples: Sequence[Sample], metric: str, terms: Terms) -> dict[Hashable, float]:
    """Return what each boot measured, where boots are the units and share the speed of the CPU; empty where they do not.

    Numbers of such boots are compared within each: `slownet.theory.stats.paired`. Readings that are rounded are not: their
    boots may be equal for that reason alone.
    """
    if terms.charging not in (Charging.REAL, Charging.TIME) or not metric.endswith(TIMED):
        return {}
    boots = _boots(samples, metric)
    numbers = [boot[0].sample.get("boot") for boot in boots]
    if None in numbers or any(block.record.get("step") or block.record.get("count") for boot in boots for block in boot):
        return {}
    return dict(zip(numbers, _means(boots), strict=True))


def across_runs(samples: Sequence[Sample], metric: str, terms: Terms, found: Summary) -> Summary:
    """Widen a summary, which holds what varies within a run, by what varies between runs.

    The speed of a machine varies from hour to hour as it does from boot to boot, and the consecutive boots of one run share
    it. So the variation is included once, regardless of the number of boots. On the exact clock the next run has the same
    seeds.
    """
    if terms.charging is Charging.EXACT:
        return found
    return _widened(found, metric_variation(_boots(samples, metric), metric, terms))


def percentile_of(samples: Sequence[Sample], metric: str, percent: float, terms: Terms, confidence: float) -> Summary:
    """Estimate a percentile of the values of all samples; its interval includes the variation between boots.

    Raises TooFewError, and ExperimentError if the values were not kept.
    """
    values = sample_values.values(samples, metric)
    if values is None:
        raise ExperimentError(f"no single values of '{metric}' were kept")
    if is_exact(samples, terms):
        exact = quantile(sorted(values), percent / 100)
        return Summary(exact, exact, exact, len(values), None, confidence)
    found, boots = percentile(values, percent, confidence), _boots(samples, metric)
    if _only_seeds_differ(boots, metric, terms):
        exact = quantile(sorted(values), percent / 100)
        found = Summary(exact, exact, exact, len(values), None, confidence)
    if len(boots) < LEAST_BOOTS:
        return _widened(found, metric_variation(boots, metric, terms) / math.sqrt(len(boots)))
    middle, sd = mean_and_sd(_means(boots))
    # _widened multiplies by the normal quantile, as for a variation that is known; that of a few boots needs t's.
    usual = t_quantile(len(boots) - 1, confidence) / z_quantile(confidence)
    return _widened(found, usual * sd / math.sqrt(len(boots)) / abs(middle) if middle else 0.0)


def _boots(samples: Sequence[Sample], metric: str) -> list[Boot]:
    found = sample_values.boots(sample_values.good(samples, metric))
    return [[Block(sample_values.settle(sample, metric), sample) for sample in boot] for boot in found]


def _means(boots: Sequence[Boot]) -> list[float]:
    return [fmean(block.mean for block in boot) for boot in boots]


def _of_means(boots: Sequence[Boot], metric: str, terms: Terms, confidence: float) -> Summary:
    """Summarize the means of boots."""
    if terms.charging in (None, Charging.FREE):
        return _of_seeds(boots, confidence)
    count, cpu_variation = len(boots), metric_variation(boots, metric, terms)
    middle, spread = mean_and_sd(_means(boots))
    if count < LEAST_BOOTS:
        return _joined(middle, _within(boots), cpu_variation / math.sqrt(count), count, confidence)
    if terms.charging in (Charging.REAL, Charging.TIME):
        return from_moments(middle, spread, count, confidence)
    error, df = spread / math.sqrt(count), count - 1.0
    if not any(block.sample.get("random") for boot in boots for block in boot):
        within = _within(boots)
        # What boots are expected to spread by: the CPU, and what varies within each. `within` is the error of the mean of all
        # of them, so that a single one's variance is `count` times as large.
        own = 0.0 if within is None else within[0] ** 2 * count
        error, df = _pooled(spread, count, math.sqrt(own + (cpu_variation * middle) ** 2))
    return _at_least(from_error(middle, error, count, df, confidence), cpu_variation * abs(middle) / math.sqrt(count))


def _of_known(boots: Sequence[Boot], known: float, confidence: float) -> Summary:
    """Summarize boots between which the relative standard deviation is known, whatever varies within them."""
    middle, spread = mean_and_sd(_means(boots))
    count, error, df = len(boots), known * abs(middle) / math.sqrt(len(boots)), KNOWN_DEGREES
    if count >= LEAST_BOOTS:
        error, df = _pooled(spread, count, known * abs(middle))
    return _at_least(from_error(middle, error, count, df, confidence), known * abs(middle) / math.sqrt(count))


def _of_programs_seeds(boots: Sequence[Boot], known: float, confidence: float) -> Summary:
    """Summarize boots of the exact clock, which differ by programs' seeds: how much is known until three boots show it."""
    if len(boots) < LEAST_BOOTS:
        return _of_known(boots, known, confidence)
    middle, spread = mean_and_sd(_means(boots))
    return from_moments(middle, spread, len(boots), confidence)


def _at_least(found: Summary, error: float) -> Summary:
    """Return a summary, but not narrower than its known standard error makes it."""
    is_narrow = found.half_width < z_quantile(found.confidence) * error
    return from_error(found.mean, error, found.n, KNOWN_DEGREES, found.confidence) if is_narrow else found


def _not_finer_than(step: float, found: Summary) -> Summary:
    """Return the summary of readings that were rounded to multiples of a step (0: not rounded)."""
    # _at_least multiplies by the quantile again: the interval reaches at least half a step to either side, which is how far all
    # readings together may be off.
    return _at_least(found, step / 2 / z_quantile(found.confidence))


def _only_programs_are_random(boots: Sequence[Boot]) -> bool:
    return all(block.sample.get("random") is False for boot in boots for block in boot)


def _only_seeds_differ(boots: Sequence[Boot], metric: str, terms: Terms) -> bool:
    """Return whether a metric varies only between programs' seeds, by no more than the variation: a time on the exact clock."""
    return terms.charging is Charging.EXACT and metric.endswith(TIMED) and _only_programs_are_random(boots)


def _of_seeds(boots: Sequence[Boot], confidence: float) -> Summary:
    """Summarize boots that differ by their seeds, because no CPU is charged.

    Boots with identical numbers count once: the others add no information. If no link is random, a service is: its requests
    vary alike in every boot, so the means of boots count.
    """
    middle, spread = mean_and_sd(_means(boots))
    if len(boots) >= LEAST_BOOTS and _only_programs_are_random(boots):
        return from_moments(middle, spread, len(boots), confidence)
    distinct = list({_numbers(boot): boot for boot in boots}.values())
    kept = [block.record for boot in distinct for block in boot]
    series = [_in_order(record) for record in kept]
    if all(len(each) > 1 for each in series):
        error, df = correlated_error(*series)
        return from_error(middle, error, len(kept), df, confidence)
    if len(distinct) > 1:
        middle, spread = mean_and_sd(_means(distinct))
        return from_moments(middle, spread, len(distinct), confidence)
    within = _within(distinct)
    if within is not None:
        return from_error(middle, within[0], 1, within[1], confidence)
    return from_moments(middle, 0.0 if len(boots) > 1 else None, max(2, len(boots)), confidence)


def _numbers(boot: Boot) -> tuple[tuple[float, float | None, int], ...]:
    return tuple((block.mean, block.record.get("sd"), block.record["n"]) for block in boot)


def _within(boots: Sequence[Boot]) -> tuple[float, float] | None:
    """Return the error of the mean of boots from the variation within them, with its degrees of freedom; None if unknown."""
    return _of_parts([_of_blocks([block.record for block in boot]) for boot in boots])


def _of_blocks(blocks: Sequence[Reading]) -> tuple[float, float] | None:
    """Return the error of one boot's mean: from the means of its blocks if there are enough, else from their values."""
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
    """Return the values of a record that are in time order, or the means of consecutive groups; empty if none exist."""
    if record.get("ordered"):
        values: Sequence[float] = record["values"]
        return values
    groups = record.get("groups")
    return of_groups(record["values"], groups) if groups and record.get("values") else []


def _of_parts(parts: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    """Return the error of a mean of independent parts, each ``(error, degrees)``; None if one is unknown."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    error, df = welch(*known)
    return error / len(parts), df


def _joined(middle: float, within: tuple[float, float] | None, cpu_variation: float, n: int, confidence: float) -> Summary:
    """Summarize a mean whose error combines that within boots with the variation."""
    if within is None:
        return from_moments(middle, None, n, confidence)
    error, df = welch(within, (cpu_variation * abs(middle), KNOWN_DEGREES))
    return from_error(middle, error, n, df, confidence)


def _pooled(spread: float, count: int, known: float) -> tuple[float, float]:
    """Return the error of a mean of boots and its degrees of freedom, from their spread and the ``known`` one.

    The two estimates of the variance are pooled, weighted by their degrees of freedom. If the boots spread significantly
    more than known beforehand, only their own spread counts.
    """
    df = count - 1.0
    # One-sided: boots that spread less than was known are luck, and pooling allows for it; those that spread more show that
    # something else varies today.
    if not known or spread**2 > known**2 * _f_quantile(df, MEASURED_DEGREES):
        return spread / math.sqrt(count), df
    variance = (df * spread**2 + MEASURED_DEGREES * known**2) / (df + MEASURED_DEGREES)
    return math.sqrt(variance / count), df + MEASURED_DEGREES


def _printed(boots: Sequence[Boot], metric: str, terms: Terms, confidence: float) -> Summary | None:
    """Summarize single numbers, such as printed percentiles; None if the boots' spread gives the interval, as for a mean."""
    blocks = [block for boot in boots for block in boot]
    cpu_variation = metric_variation(boots, metric, terms) / math.sqrt(len(boots))
    if len({(block.mean, block.record["n"]) for block in blocks}) > 1:
        if len(boots) > 1:
            return None
        middle, sd = mean_and_sd([block.mean for block in blocks])
        return _joined(middle, (sd / math.sqrt(len(blocks)), len(blocks) - 1.0), cpu_variation, len(blocks), confidence)
    first = blocks[0]
    if len(boots) >= LEAST_BOOTS and "percent" not in first.record and not first.record.get("step"):
        return None  # boots that gave the same digits, in a cell of which another metric varies
    if len(blocks) > 1 and (step := first.record.get("step")):
        rounded = from_moments(first.mean, float(step) / math.sqrt(12), len(blocks), confidence)
        return rounded if len(boots) >= LEAST_BOOTS else _widened(rounded, cpu_variation)
    return _widened(printed(first.record, first.sample["metrics"], confidence), cpu_variation)


def _count(boots: Sequence[Boot], confidence: float) -> Summary:
    """Summarize a random count: by the spread of boots, but never narrower than a count's own interval."""
    records = [block.record for boot in boots for block in boot]
    events, trials = (sum(float(record[name]) for record in records) for name in ("mean", "n"))
    own = counted(events, int(trials), len(records), confidence)
    if len(boots) < LEAST_BOOTS:
        return own
    middle, spread = mean_and_sd(_means(boots))
    found = from_moments(middle, spread, len(boots), confidence)
    return replace(found, low=max(0.0, min(found.low, own.low)), high=max(found.high, own.high), n=int(trials))


def _widened(found: Summary, relative: float) -> Summary:
    """Widen a summary by a known relative standard deviation of its mean, in quadrature."""
    if not relative or not found.known:
        return found
    if found.is_positive:
        return found.with_log_half(math.hypot(found.log_half, z_quantile(found.confidence) * relative))
    more = z_quantile(found.confidence) * relative * abs(found.mean)
    low, high = math.hypot(found.mean - found.low, more), math.hypot(found.high - found.mean, more)
    return replace(found, low=found.mean - low, high=found.mean + high)


@lru_cache(maxsize=256)
def _f_quantile(df: float, others: float) -> float:
    from scipy.special import fdtri

    return float(fdtri(df, others, AGREE))
