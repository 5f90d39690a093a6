"""How often verdicts are wrong, and how often there is one: runs simulated from a known truth, sampled and judged as real ones.

A claim's margin belongs to the person who states it; what belongs to the statistics is how often noise alone decides against
the truth. `verdicts` counts that for one truth and one noise, `wrong`, `on_the_margin` and `power` for kinds of claims and
noises that were measured, `rows` puts them into a table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from slownet.claim import REFUTED, SUPPORTED, Claim, all_of, bound, equal, grows, judge_all, law, monotone, no_worse_than, ratio
from slownet.records.charging import Charging
from slownet.records.result import RunData, gather
from slownet.runner.rule import Rule
from slownet.runner.sampling import Decision, decide, first_boots

METRIC = "time_per_request_ms"
BOOT_S = 10.0
USUAL = Rule(budget_s=math.inf)
"""The usual repetitions, without a bound on their time."""
BLOCKS = 2


@dataclass(frozen=True)
class Noise:
    """What blurs a simulated time: standard deviations as parts of it.

    ``between`` boots, each cell for itself (or seeds, with free CPU), ``blocks`` between those of one boot, ``drift`` from the
    first to the last block of a boot, the same for all cells, ``within`` between requests. ``correlated`` is how much a
    request has of the one before; values are kept in time's order then. Times are log-normal, which have a tail as real ones
    do, of ``tail`` "normal", "skewed" or "heavy" (boots then as Student's t of 3 degrees of freedom).
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

    ``cpu_ms`` is what of each time is the CPU's and wavers between boots, blocks and with drift (all of it if None), and is
    recorded as charged. ``bend_ms`` is how far off its time each cell is in all repetitions of a run: a standard deviation,
    drawn once a run. ``random``: links draw by chance, so boots are seeds.
    """

    times: Mapping[float, float]
    noise: Noise
    charging: Charging = Charging.REAL
    cpu_ms: float | None = None
    bend_ms: float = 0.0
    random: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        """Those of a run on such a clock."""
        if self.charging is Charging.REAL:
            return {"experiment": "simulated", "clock": "real"}
        return {"experiment": "simulated", "clock": "virtual", "cpu": self.charging.value}


@dataclass(frozen=True)
class Outcome:
    """What became of one simulated run: its verdict, and how many boots it took."""

    verdict: str
    boots: int


def outcomes(claim: Claim, world: World, runs: int, rule: Rule = USUAL, seed: int = 1) -> list[Outcome]:
    """Simulated runs, each sampled by the rule until the claim is decided; the same seed gives the same."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return [_outcome(claim, world, rule, rng) for _ in range(runs)]


def verdicts(claim: Claim, world: World, runs: int, rule: Rule = USUAL, seed: int = 1) -> dict[str, int]:
    """How many of simulated runs end with which verdict."""
    found = [each.verdict for each in outcomes(claim, world, runs, rule, seed)]
    return {verdict: found.count(verdict) for verdict in dict.fromkeys((SUPPORTED, REFUTED, *found))}


def _outcome(claim: Claim, world: World, rule: Rule, rng: Any) -> Outcome:
    if world.bend_ms:
        bent = {rtt: time + float(rng.normal(0, world.bend_ms)) for rtt, time in world.times.items()}
        world = replace(world, times=bent)
    facts: dict[str, Any] = {**world.facts, "planned": [_label(rtt) for rtt in world.times]}
    samples: list[dict[str, Any]] = []
    boots, found = 0, Decision(facts["planned"], 0.0, "", first_boots(rule, world.charging, claims=True))
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
    """The samples of one boot, its cells forwards and backwards."""
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
    """A positive number of mean 1 and that deviation."""
    if not part:
        return 1.0
    if tail == "heavy":
        return max(0.05, 1 + part * float(rng.standard_t(3)) / math.sqrt(3))
    if tail == "normal":
        return max(0.05, float(rng.normal(1, part)))
    return float(_skewed(rng, 1.0, part, 1)[0])


def _record(rng: Any, time: float, noise: Noise) -> dict[str, Any]:
    """The requests of one block, as a tool's record has them."""
    draw = _normal if noise.tail == "normal" else _skewed
    values = draw(rng, time, noise.within, noise.requests)
    if noise.correlated:
        values = _correlated(values, time, noise.correlated)
    mean = float(values.sum()) / noise.requests
    off = values - mean
    record: dict[str, Any] = {"mean": mean, "sd": math.sqrt(off.dot(off) / (noise.requests - 1)), "n": noise.requests}
    return record | {"values": values.tolist(), "ordered": True} if noise.correlated else record


def _correlated(values: Any, mean: float, part: float) -> Any:
    """Values of which each has so much of the one before, with the same deviation."""
    left = math.sqrt(1 - part * part)
    for at in range(1, len(values)):
        values[at] = mean + part * (values[at - 1] - mean) + left * (values[at] - mean)
    return values


def _label(rtt: float) -> dict[str, str]:
    return {"rtt": f"{rtt:g}ms"}


def _normal(rng: Any, mean: float, part: float, n: int) -> Any:
    return rng.normal(mean, part * mean, n)


def _skewed(rng: Any, mean: float, part: float, n: int) -> Any:
    """Log-normal values of that mean and relative deviation."""
    variance = math.log(1 + part * part)
    return rng.lognormal(math.log(mean) - variance / 2, math.sqrt(variance), n)


def straight(k: float, t0: float = 10.0) -> dict[float, float]:
    """The times of a law at the articles' delays."""
    return {rtt: t0 + k * rtt for rtt in (0.0, 10.0, 40.0, 120.0)}


@dataclass(frozen=True)
class Case:
    """A kind of claim with a truth where it holds, one at the end of its margin, and one that is off by twice the margin."""

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
}
"""A quiet machine and a loaded one on the real clock; CPU time as DESIGN.md has it measured (10 to 19 % between boots, and
nearly as much between blocks of one), for times that are all CPU and for pages of which 10 ms are; drift of 10 % within a boot;
boots with a heavy tail; instructions counted in windows and always; and free CPU, where seeds differ."""


def wrong(
    runs: int,
    rule: Rule = USUAL,
    kinds: Iterable[str] = tuple(CASES),
    noises: Iterable[str] = tuple(NOISES),
    seed: int = 1,
) -> dict[tuple[str, str], tuple[float, float]]:
    """For each kind of claim and each noise: the parts of runs that refute the true one, and that support the one off."""
    found = {}
    for kind, noise in itertools.product(kinds, noises):
        case = CASES[kind]
        refuted = verdicts(case.claim, replace(NOISES[noise], times=case.true), runs, rule, seed)[REFUTED]
        supported = verdicts(case.claim, replace(NOISES[noise], times=case.off), runs, rule, seed)[SUPPORTED]
        found[kind, noise] = (refuted / runs, supported / runs)
    return found


def on_the_margin(runs: int, kind: str, noise: str, rule: Rule = USUAL, seed: int = 1) -> float:
    """The part of runs that decide either way where the truth is at the very end of the margin: 1 % at most."""
    case = CASES[kind]
    found = verdicts(case.claim, replace(NOISES[noise], times=case.edge), runs, rule, seed)
    return (found[SUPPORTED] + found[REFUTED]) / runs


@dataclass(frozen=True)
class Power:
    """How often a true claim is supported and one off refuted, and how many boots the supported ones took on average."""

    supported: float
    refuted: float
    boots: float


def power(runs: int, kind: str, noise: str, rule: Rule = USUAL, seed: int = 1) -> Power:
    """How often there is a verdict within the rule's budget, and after how many boots."""
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
    """A table's rows for `HEADER`, one a kind and a noise, each as it is done."""
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
"""How far cells are off the line of a law, in ms: from what no test sees to what keeps a claim open for good."""


def wrong_of_bent_laws(
    runs: int,
    rule: Rule = USUAL,
    bends: Iterable[float] = BENDS,
    seed: int = 1,
) -> dict[float, tuple[float, float]]:
    """The same two parts for claims about a law whose cells are off its line, by how far; the page takes 40 ms by itself."""
    found = {}
    for bend in bends:
        world = World({}, Noise(between=0.005, within=0.05), bend_ms=bend)
        refuted = verdicts(LAW, replace(world, times=straight(4, 40)), runs, rule, seed)[REFUTED]
        supported = verdicts(LAW, replace(world, times=straight(4.4, 40)), runs, rule, seed)[SUPPORTED]
        found[bend] = (refuted / runs, supported / runs)
    return found
