"""Whether another boot would give the same numbers, and how many boots a verdict requires.

With a free CPU, boots differ only by random numbers. A link states its own, and what the programs draw that slownet brings is
known (`slownet.records.repeatability`). Whether other programs draw any cannot be known but can be seen: they are measured in
four boots, and are exact if all of these agree to the bit; otherwise the boots' spread is estimated. A program that draws one
of twelve numbers when it starts agrees with itself by chance in 1 of 12 runs of two boots, and in 1 of 1728 of four.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slownet.records import readings
from slownet.records.charging import LEAST_BOOTS, Charging, Terms
from slownet.records.samples import Sample

AGREEING = 4
"""Boots that have to give the same numbers before those of unknown programs count as exact."""


def is_random(samples: Sequence[Sample]) -> bool:
    """Return whether a link's condition was random in any of the samples."""
    return any(sample.get("random") for sample in samples)


def is_exact(samples: Sequence[Sample], terms: Terms) -> bool:
    """Return whether repetition gives the same numbers: the CPU is free, no link is random, and no program.

    Of programs that slownet does not know that is known only if several boots agree.
    """
    if not terms.repeats or not all(sample.get("random") is False for sample in samples):
        return False
    return not terms.own_programs or (len(readings.boots(samples)) >= AGREEING and agree(samples))


def agree(samples: Sequence[Sample]) -> bool:
    """Return whether all boots gave the same numbers."""
    boots = [[_numbers(sample) for sample in boot] for boot in readings.boots(samples)]
    return all(boot == boots[0] for boot in boots)


def verdict_from(samples: Sequence[Sample], terms: Terms) -> int:
    """Return the least number of boots for a verdict, as far as the samples show; there may be none."""
    least = (terms.charging or Charging.WORK).verdict_from(is_random(samples))
    if not terms.own_programs:
        return least
    may_be_exact = terms.repeats and not is_random(samples) and agree(samples)
    return AGREEING if may_be_exact else max(least, LEAST_BOOTS)


def _numbers(sample: Sample) -> dict[str, tuple[Any, ...]]:
    metrics = sample.get("metrics") or {}
    return {name: (record["mean"], record.get("sd"), record["n"]) for name, record in metrics.items()}
