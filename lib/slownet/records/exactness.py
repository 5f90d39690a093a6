"""Whether another boot would give the same numbers, and how many boots a verdict requires.

With a free CPU, boots differ only by random numbers. A link states its own, and what the programs draw that slownet brings is
known (`slownet.records.repeatability`). Whether other programs draw any cannot be known but can be seen: they are measured in
two boots, and if any number differs, the boots' spread must be estimated, which takes as many as anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slownet.records import readings
from slownet.records.charging import LEAST_BOOTS, Charging, Terms
from slownet.records.samples import Sample

SEEN = 2
"""Boots needed to see whether they give the same numbers."""


def is_random(samples: Sequence[Sample]) -> bool:
    """Return whether a link's condition was random in any of the samples."""
    return any(sample.get("random") for sample in samples)


def is_exact(samples: Sequence[Sample], terms: Terms) -> bool:
    """Return whether repetition gives the same numbers: the CPU is free, no link is random, and no program.

    Of programs that slownet does not know that is known only if several boots agree.
    """
    if not terms.repeats or not all(sample.get("random") is False for sample in samples):
        return False
    return not terms.own_programs or (_boots(samples) >= SEEN and agree(samples))


def agree(samples: Sequence[Sample]) -> bool:
    """Return whether all boots gave the same numbers."""
    boots = [[_numbers(sample) for sample in boot] for boot in readings.boots(samples)]
    return all(boot == boots[0] for boot in boots)


def verdict_from(samples: Sequence[Sample], terms: Terms) -> int:
    """Return the boots that a verdict requires, as far as the samples tell, of which there may be none yet."""
    charging = terms.charging or Charging.WORK
    least = charging.verdict_from(is_random(samples))
    if not terms.own_programs or least > 1:
        return least
    may_be_exact = charging is Charging.FREE and not terms.chance and agree(samples)
    return SEEN if may_be_exact else LEAST_BOOTS


def _boots(samples: Sequence[Sample]) -> int:
    return len(readings.boots(samples))


def _numbers(sample: Sample) -> dict[str, tuple[Any, ...]]:
    metrics = sample.get("metrics") or {}
    return {name: (record["mean"], record.get("sd"), record["n"]) for name, record in metrics.items()}
