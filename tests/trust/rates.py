"""Error rates and power of verdicts: simulates runs with a known truth, samples and judges them like real ones.

Whoever states a claim chooses its margin; the statistics control how often noise alone leads to a verdict against the truth.
`verdicts` counts that for one truth and one noise; `wrong`, `on_the_margin` and `power` for kinds of claims and measured
noises; `rows` yields a table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from slownet.judge.claim import (
    REFUTED,
    SUPPORTED,
    Claim,
    all_of,
    bound,
    equal,
    grows,
    judge_all,
    law,
    monotone,
    no_worse_than,
    ratio,
)
from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.repeatability import Spread
from slownet.judge.records.result import RunData, gather
from slownet.runner.rule import Rule
from slownet.runner.sampling import Decision, decide, first_boots

METRIC = "time_per_request_ms"
BOOT_S = 10.0
USUAL = Rule(budget_s=math.inf)
"""The default rule without a limit on wall time."""
BLOCKS = 2


@dataclass(frozen=True)
class Noise:
    """The noise of a simulated time: standard deviations relative to it.

    ``between``: between boots, independent for each cell (or between seeds, with free CPU); ``blocks``: between the blocks of a
    boot; ``drift``: from the first to the last block of a boot, the same for all cells; ``within``: between requests.
    ``correlated``: correlation of a request with the one before; values are then kept in order of time. ``tail``: "normal";
    "skewed", log-normal with a tail like real times; or "heavy" (boots follow Student's t with 3 degrees of freedom).
    """

    between: float
    within: float
    blocks: float = 0.0
    drift: float = 0.0
    correlated: float = 0.0
    requests: int = 100
    tail: str = "skewed"


@dataclass(frozen=True)
class World:
    """A truth: the time in ms at each round trip in ms, the noise, and what the clock of the run charges.

    ``cpu_ms``: the part of each time that is CPU time (None: all of it), which varies between boots and blocks and with drift,
    and is recorded as charged. ``bend_ms``: deviation of each cell from its time, constant over the repetitions of a run; the
    standard deviation of a value drawn once per run. ``random``: links draw random numbers, so each boot has its own seed.
    ``spread``: the relative standard deviation between boots that is known of random programs (`Spread`); None if the programs
    are not known at all.
    """

    times: Mapping[float, float]
    noise: Noise
    charging: Charging = Charging.REAL
    cpu_ms: float | None = None
    bend_ms: float = 0.0
    random: bool = False
    spread: float | None = 0.0

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of a run on such a clock."""
        if self.charging is Charging.REAL:
            return {"experiment": "simulated", "clock": "real"}
        facts = {"experiment": "simulated", "clock": "virtual", "cpu": self.charging.value, "own_programs": self.spread is None}
        if not self.spread:
            return facts
        return facts | {"chance": "programs", "chance_spread": [asdict(Spread(METRIC, self.spread))]}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one simulated run: its verdict, and how many boots it took."""

    verdict: str
    boots: int


def outcomes(claim: Claim, world: World, runs: int, rule: Rule = USUAL, seed: int = 1) -> list[Outcome]:
    """Simulate runs, each sampled by the rule until the claim is decided; the same seed gives the same outcomes."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return [_outcome(claim, world, rule, rng) for _ in range(runs)]


def verdicts(claim: Claim, world: World, runs: int, rule: Rule = USUAL, seed: int = 1) -> dict[str, int]:
    """Count the verdicts of simulated runs, {verdict: number}."""
    found = [each.verdict for each in outcomes(claim, world, runs, rule, seed)]
    return {verdict: found.count(verdict) for verdict in dict.fromkeys((SUPPORTED, REFUTED, *found))}


def _outcome(claim: Claim, world: World, rule: Rule, rng: Any) -> Outcome:
    if world.bend_ms:
        bent = {rtt: time + float(rng.normal(0, world.bend_ms)) for rtt, time in world.times.items()}
        world = replace(world, times=bent)
    facts: dict[str, Any] = {**world.facts, "planned": [_label(rtt) for rtt in world.times]}
    samples: list[dict[str, Any]] = []
    boots, found = 0, Decision(facts["planned"], 0.0, "", first_boots(rule, Terms.of(facts), claims=True))
    while found.cells:
        chosen = [rtt for rtt in world.times if _label(rtt) in found.cells]
        for _ in range(found.boots):
            boots += 1
            samples += _boot(world, chosen, boots, rng)
        run = gather(samples, facts)
        found = decide(run, [claim], {"simulated": run}, rule, BOOT_S * boots, BOOT_S)
    return Outcome(_judged(claim, run.for_verdicts(found.confidence)), boots)


def _judged(claim: Claim, run: RunData) -> str:
    (found,) = judge_all([claim], run, {run.experiment: run})
    return found.verdict


def _boot(world: World, chosen: Sequence[float], boot: int, rng: Any) -> Iterator[dict[str, Any]]:
    """Yield the samples of one boot, its cells forwards and backwards."""
    noise = world.noise
    levels = {rtt: _factor(rng, noise.between, noise.tail) for rtt in chosen}
    slope = float(rng.normal(0, noise.drift)) if noise.drift else 0.0
    passes = [chosen if (boot + block) % 2 else chosen[::-1] for block in range(BLOCKS)]
    order = [(block, rtt) for block, cells in enumerate(passes, 1) for rtt in cells]
    for place, (block, rtt) in enumerate(order):
        drifted = slope * (place / max(1, len(order) - 1) - 0.5)
        factor = levels[rtt] * _factor(rng, noise.blocks, noise.tail) * (1 + drifted)
        cpu = world.times[rtt] if world.cpu_ms is None else min(world.cpu_ms, world.times[rtt])
        time = world.times[rtt] + cpu * (factor - 1)
        record, taken = _record(rng, time, noise), time * noise.requests / 1000
        yield {
            "cell": _label(rtt), "condition": {"rtt_ms": rtt}, "status": "ok", "metrics": {METRIC: record}, "boot": boot,
            "block": block, "random": world.random, "virtual_s": taken, "charged_s": taken * cpu * factor / time,
        }  # fmt: skip


def _factor(rng: Any, part: float, tail: str) -> float:
    """Draw a positive number with mean 1 and that standard deviation."""
    if not part:
        return 1.0
    if tail == "heavy":
        return max(0.05, 1 + part * float(rng.standard_t(3)) / math.sqrt(3))
    if tail == "normal":
        return max(0.05, float(rng.normal(1, part)))
    return float(_skewed(rng, 1.0, part, 1)[0])


def _record(rng: Any, time: float, noise: Noise) -> dict[str, Any]:
    """Draw the requests of one block, in the form of a tool's record."""
    draw = _normal if noise.tail == "normal" else _skewed
    values = draw(rng, time, noise.within, noise.requests)
    if noise.correlated:
        values = _correlated(values, time, noise.correlated)
    mean = float(values.sum()) / noise.requests
    off = values - mean
    record: dict[str, Any] = {"mean": mean, "sd": math.sqrt(off.dot(off) / (noise.requests - 1)), "n": noise.requests}
    return record | {"values": values.tolist(), "ordered": True} if noise.correlated else record


def _correlated(values: Any, mean: float, part: float) -> Any:
    """Correlate each value with the one before, keeping the standard deviation."""
    left = math.sqrt(1 - part * part)
    for at in range(1, len(values)):
        values[at] = mean + part * (values[at - 1] - mean) + left * (values[at] - mean)
    return values


def _label(rtt: float) -> dict[str, str]:
    return {"rtt": f"{rtt:g}ms"}


def _normal(rng: Any, mean: float, part: float, n: int) -> Any:
    return rng.normal(mean, part * mean, n)


def _skewed(rng: Any, mean: float, part: float, n: int) -> Any:
    """Draw log-normal values with that mean and relative deviation."""
    variance = math.log(1 + part * part)
    return rng.lognormal(math.log(mean) - variance / 2, math.sqrt(variance), n)


def straight(k: float, t0: float = 10.0) -> dict[float, float]:
    """Return the times of a law at the articles' delays, in ms."""
    return {rtt: t0 + k * rtt for rtt in (0.0, 10.0, 40.0, 120.0)}


@dataclass(frozen=True)
class Case:
    """A kind of claim with three truths: it holds, lies at the end of its margin, or is off by twice the margin."""

    claim: Claim
    true: Mapping[float, float]
    edge: Mapping[float, float]
    off: Mapping[float, float]


FAR = {"rtt": "10ms"}
LAW = law(METRIC, round_trips=4, within=0.05)
CASES: Mapping[str, Case] = {
    "law": Case(LAW, straight(4), straight(4.2), straight(4.4)),
    "ratio": Case(ratio(METRIC, FAR, expected=5, within=0.05), {0: 10, 10: 50}, {0: 10, 10: 52.5}, {0: 10, 10: 55}),
    "equal": Case(equal(METRIC, FAR, within=0.05), {0: 50, 10: 50}, {0: 50, 10: 52.5}, {0: 50, 10: 55}),
    "no_worse_than": Case(no_worse_than(METRIC, FAR, within=0.05), {0: 50, 10: 50}, {0: 50, 10: 52.5}, {0: 50, 10: 55}),
    "bound": Case(bound(METRIC, at_most=60), {0: 50, 10: 57}, {0: 50, 10: 60}, {0: 50, 10: 66}),
    "monotone": Case(
        monotone(METRIC, within=0.05), {0: 50, 10: 50, 40: 50}, {0: 50, 10: 50, 40: 47.5}, {0: 50, 10: 50, 40: 45}
    ),
    "all_of": Case(all_of(LAW, bound(METRIC, at_most=520), grows(METRIC)), straight(4), straight(4.2), straight(4.4)),
}
NOISES: Mapping[str, World] = {
    "calm": World({}, Noise(between=0.01, within=0.05)),
    "rough": World({}, Noise(between=0.05, within=0.3)),
    "CPU time": World({}, Noise(between=0.15, within=0.3, blocks=0.12), Charging.TIME),
    "CPU time, 10 ms of it": World({}, Noise(between=0.15, within=0.1, blocks=0.12), Charging.TIME, cpu_ms=10),
    "drift": World({}, Noise(between=0.03, within=0.1, blocks=0.03, drift=0.1), Charging.TIME),
    "heavy tails": World({}, Noise(between=0.03, within=0.8, blocks=0.03, tail="heavy"), Charging.TIME),
    "counted work": World({}, Noise(between=0.003, within=0.1, blocks=0.003), Charging.WORK),
    "counted work, correlated": World({}, Noise(between=0.003, within=0.1, blocks=0.003, correlated=0.7), Charging.WORK),
    "seeds": World({}, Noise(between=0.05, within=0.3), Charging.FREE, random=True),
    "seeds, correlated": World({}, Noise(between=0.0, within=0.1, correlated=0.7), Charging.FREE, random=True),
    "random programs": World({}, Noise(between=0.02, within=0.1), Charging.FREE, spread=0.02),
    "unknown programs": World({}, Noise(between=0.02, within=0.1), Charging.FREE, spread=None),
}
"""A quiet and a loaded machine on the real clock; CPU time as measured (10 to 19 % between boots, nearly as much
between blocks), for times that are all CPU and for pages with 10 ms of CPU; drift of 10 % within a boot; boots with a heavy
tail; counted instructions, uncorrelated and correlated; and free CPU, where only seeds differ, or where programs are random,
with nearly the largest spread that was measured, known or not."""


def wrong(
    runs: int,
    rule: Rule = USUAL,
    kinds: Iterable[str] = tuple(CASES),
    noises: Iterable[str] = tuple(NOISES),
    seed: int = 1,
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return, for each kind of claim and noise, the shares of runs that refute the true claim and that support the false
    one."""
    found = {}
    for kind, noise in itertools.product(kinds, noises):
        case = CASES[kind]
        refuted = verdicts(case.claim, replace(NOISES[noise], times=case.true), runs, rule, seed)[REFUTED]
        supported = verdicts(case.claim, replace(NOISES[noise], times=case.off), runs, rule, seed)[SUPPORTED]
        found[kind, noise] = (refuted / runs, supported / runs)
    return found


def on_the_margin(runs: int, kind: str, noise: str, rule: Rule = USUAL, seed: int = 1) -> float:
    """Return the share of runs that decide either way if the truth is exactly at the margin's end: at most 1 %."""
    case = CASES[kind]
    found = verdicts(case.claim, replace(NOISES[noise], times=case.edge), runs, rule, seed)
    return (found[SUPPORTED] + found[REFUTED]) / runs


@dataclass(frozen=True)
class Power:
    """Share of true claims supported and of false ones refuted, and the mean number of boots of the supported ones."""

    supported: float
    refuted: float
    boots: float


def power(runs: int, kind: str, noise: str, rule: Rule = USUAL, seed: int = 1) -> Power:
    """Return how often there is a verdict within the rule's budget, and after how many boots."""
    case = CASES[kind]
    true = outcomes(case.claim, replace(NOISES[noise], times=case.true), runs, rule, seed)
    off = outcomes(case.claim, replace(NOISES[noise], times=case.off), runs, rule, seed)
    took = [each.boots for each in true if each.verdict == SUPPORTED]
    return Power(len(took) / runs, sum(each.verdict == REFUTED for each in off) / runs, fmean(took) if took else math.nan)


HEADER = (
    "claim",
    "noise",
    "refutes a true one",
    "supports a false one",
    "decides on the margin",
    "true one supported",
    "boots",
)


def rows(
    runs: int,
    rule: Rule = USUAL,
    kinds: Iterable[str] = tuple(CASES),
    noises: Iterable[str] = tuple(NOISES),
    seed: int = 1,
) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table with `HEADER`, one per kind and noise, each as soon as it is done."""
    for kind, noise in itertools.product(kinds, noises):
        case = CASES[kind]
        parts = {}
        for name, truth in (("true", case.true), ("off", case.off), ("edge", case.edge)):
            parts[name] = outcomes(case.claim, replace(NOISES[noise], times=truth), runs, rule, seed)
        took = [each.boots for each in parts["true"] if each.verdict == SUPPORTED]
        rates = (
            _part(parts["true"], REFUTED), _part(parts["off"], SUPPORTED),
            _part(parts["edge"], REFUTED, SUPPORTED), _part(parts["true"], SUPPORTED),
        )  # fmt: skip
        yield kind, noise, *(f"{rate:.1%}" for rate in rates), f"{fmean(took):.1f}" if took else "-"


def _part(found: Sequence[Outcome], *wanted: str) -> float:
    return sum(each.verdict in wanted for each in found) / len(found)


BENDS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Deviations of cells from a law's line, in ms: from undetectable to so large that the claim stays open."""


def wrong_of_bent_laws(
    runs: int,
    rule: Rule = USUAL,
    bends: Iterable[float] = BENDS,
    seed: int = 1,
) -> dict[float, tuple[float, float]]:
    """Return the same two shares as `wrong`, by deviation from a law's line in ms; T0 is 40 ms."""
    found = {}
    for bend in bends:
        world = World({}, Noise(between=0.005, within=0.05), bend_ms=bend)
        refuted = verdicts(LAW, replace(world, times=straight(4, 40)), runs, rule, seed)[REFUTED]
        supported = verdicts(LAW, replace(world, times=straight(4.4, 40)), runs, rule, seed)[SUPPORTED]
        found[bend] = (refuted / runs, supported / runs)
    return found
