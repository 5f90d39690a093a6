"""Repeatability of a run's numbers, and the number of boots that a verdict requires.

With a free CPU, boots differ only by random numbers. A link states its own, and what the programs draw that slownet brings is
known (`slownet.judge.records.repeatability`). Whether other programs draw any cannot be known but can be seen: they are
measured in four boots, two of which go through the cells backwards, and are exact if all of these agree: to the bit where the
order is the same, and nearly where it is not, as programs and kernel keep something from cell to cell. Otherwise the boots'
spread is estimated. A program that draws one of twelve numbers when it starts agrees with itself by chance in 1 of 12 runs of
two boots, and in 1 of 1728 of four.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from slownet.judge.records import sample_values
from slownet.judge.records.charging import LEAST_BOOTS, Charging, Terms
from slownet.model.sample import Sample
from slownet.model.units import milliseconds_of

Numbers = Mapping[str, tuple[Any, ...]]
"""Mean, spread and number of values by metric."""
Boot = Sequence[Numbers]
"""The numbers of a boot's blocks."""
AGREEING = 4
"""Boots that have to give the same numbers before those of unknown programs count as exact."""
RATE = "_per_second"
"""The ending of rates of operations."""
NEAR, NEAR_MS = 0.001, 0.02
"""A relative difference between orders of cells that hides no margin, and one of times that the kernel's timers make."""


def is_random(samples: Sequence[Sample]) -> bool:
    """Return whether a link's condition was random in any of the samples."""
    return any(sample.get("random") for sample in samples)


def is_exact(samples: Sequence[Sample], terms: Terms) -> bool:
    """Return whether repetition gives the same numbers: the CPU is free, no link is random, and no program.

    Of programs that slownet does not know that is known only if several boots agree. On the exact clock it is known of none,
    since whatever a program draws, such as a key, costs instructions: boots, each with its own seed, have to give the same
    digits.
    """
    if terms.charging is Charging.EXACT:
        numbers = [[_numbers(sample) for sample in boot] for boot in sample_values.boots(samples)]
        return not is_random(samples) and len(numbers) >= LEAST_BOOTS and all(each == numbers[0] for each in numbers)
    if not terms.repeats or not all(sample.get("random") is False for sample in samples):
        return False
    return not terms.own_programs or (len(sample_values.boots(samples)) >= AGREEING and agree(samples))


def agree(samples: Sequence[Sample]) -> bool:
    """Return whether all boots gave the same numbers: to the bit in the same order of cells, nearly in the other one."""
    orders: dict[int, list[Boot]] = {}
    for boot in sample_values.boots(samples):
        orders.setdefault((boot[0].get("boot") or 0) % 2, []).append([_numbers(sample) for sample in boot])
    firsts = [boots[0] for boots in orders.values()]
    return all(boot == boots[0] for boots in orders.values() for boot in boots) and all(
        _are_near(firsts[0], each) for each in firsts
    )


def _are_near(one: Boot, other: Boot) -> bool:
    """Return whether the means of two boots hardly differ."""
    left, right = (
        {(at, name): numbers[0] for at, block in enumerate(boot) for name, numbers in block.items()} for boot in (one, other)
    )
    return left.keys() == right.keys() and all(is_near(key[1], left[key], right[key]) for key in left)


def is_near(metric: str, one: float, other: float) -> bool:
    """Return whether two numbers of a metric differ by no more than programs and kernel make of the order of cells."""
    least = NEAR_MS / (milliseconds_of(metric) or math.inf)
    if math.isclose(one, other, rel_tol=NEAR, abs_tol=least):
        return True
    is_rate = metric.endswith(RATE) and min(one, other) > 0  # a rate is as near as the time that it is made of
    return is_rate and abs(1000 / one - 1000 / other) <= NEAR_MS


def verdict_from(samples: Sequence[Sample], terms: Terms) -> int:
    """Return the least number of boots for a verdict, as far as the samples show; it may be missing."""
    least = (terms.charging or Charging.WORK).verdict_from(is_random(samples))
    if not terms.own_programs:
        return least
    may_be_exact = terms.repeats and not is_random(samples) and agree(samples)
    return AGREEING if may_be_exact else max(least, LEAST_BOOTS)


def _numbers(sample: Sample) -> Numbers:
    metrics = sample.get("metrics") or {}
    return {name: (record["mean"], record.get("sd"), record["n"]) for name, record in metrics.items()}
