"""Section `simulated`: how often verdicts on simulated runs are wrong, by kind of claim and by noise (slownet.runner.rates).

A rate is measured in some hundred runs and so has an error of its own. One above 1 % misses its target only if that many wrong
verdicts would be improbable at a rate of 1 % (exact binomial test, 1 %, divided by the number of rates); else more runs tell:
`--simulated`. The runs of a case are divided into `PARTS` with seeds of their own, which all processors simulate; the rates do
not depend on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from scipy.stats import binomtest

from trust import rates
from trust.figures import Figure, Report, table
from trust.steps import Log, Options, Record, Step

SECTION = "simulated"
RULE = rates.USUAL
ALLOWED = 0.01
PARTS = 8
SAID = {"refuted": "refute a true claim", "supported": "support one off by twice the margin", "margin": "decide on the margin"}
"""A record's rates."""


def steps(options: Options, log: Log) -> Iterator[Step]:
    """Yield one step for each kind of claim and each noise, and one for each curvature of a law."""
    for kind in rates.CASES:
        for noise in rates.NOISES:
            yield _step(f"{kind}, {noise}", options.simulated, partial(case, kind, noise))
    for bend in rates.BENDS:
        yield _step(f"law, cells {bend:g} ms off its line", options.simulated, partial(bent, bend))


def case(kind: str, noise: str, runs: int, seed: int) -> dict[str, float]:
    """Return the rates of a kind of claim with a noise."""
    wrong = rates.wrong(runs, RULE, [kind], [noise], seed)[kind, noise]
    return named(*wrong) | {"margin": rates.on_the_margin(runs, kind, noise, RULE, seed)}


def bent(bend: float, runs: int, seed: int) -> dict[str, float]:
    """Return the rates of a law whose cells are off its line."""
    return named(*rates.wrong_of_bent_laws(runs, RULE, [bend], seed)[bend])


def in_parts(simulated: Callable[[int, int], dict[str, float]], runs: int) -> dict[str, float]:
    """Return the rates over all runs; ``simulated(runs, seed)`` returns those over some."""
    sizes = [len(range(part, runs, PARTS)) for part in range(min(runs, PARTS))]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        parts = list(pool.map(simulated, sizes, range(1, len(sizes) + 1)))
    return {name: sum(size * part[name] for size, part in zip(sizes, parts, strict=True)) / runs for name in parts[0]}


def named(refuted: float, supported: float) -> dict[str, float]:
    return {"refuted": refuted, "supported": supported}


def _step(name: str, runs: int, simulated: Callable[[int, int], dict[str, float]]) -> Step:
    def measure() -> dict[str, Any]:
        found = in_parts(simulated, runs)
        said = ", ".join(f"{rate:.1%} {SAID[each]}" for each, rate in found.items())
        return {**found, "runs": runs, "said": said}

    return Step(SECTION, name, runs, measure)


def report(log: Log, options: Options) -> Report:
    records = log.of(SECTION)
    header = ("claim, noise", "runs", *SAID.values())
    rows = [
        [each["name"], str(each["runs"]), *(f"{each[name]:.1%}" if name in each else "" for name in SAID)] for each in records
    ]
    wrong = [(rate, each) for each in records for rate in (each["refuted"], each["supported"])]
    margin = [(each["margin"], each) for each in records if "margin" in each]
    figures = [_worst("wrong verdicts", wrong), _worst("verdicts on the margin", margin)]
    return Report(table(header, rows), tuple(each for each in figures if each))


def _worst(what: str, found: Sequence[tuple[float, Record]]) -> Figure | None:
    """Return the figure of the highest of these rates; None without any."""
    if not found:
        return None
    rate, record = max(found, key=lambda each: each[0])
    title = f"{what}, the worst case ({record['name']})"
    return Figure(title, f"{rate:.1%}", "at most 1 %", met(rate, record["runs"], len(found)))


def met(rate: float, runs: int, rates: int) -> bool | None:
    """Return whether the highest of so many rates meets the target; None if more runs must tell."""
    if rate <= ALLOWED:
        return True
    is_improbable = binomtest(round(rate * runs), runs, ALLOWED, alternative="greater").pvalue < ALLOWED / rates
    return False if is_improbable else None
