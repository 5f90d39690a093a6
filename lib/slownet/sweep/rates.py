"""How often verdicts are wrong: runs simulated from a known truth, sampled and judged as real ones are.

A claim's margin belongs to the person who states it; what belongs to the statistics is how often noise alone decides
against the truth. `verdicts` counts that for one truth and one noise.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slownet.claim import REFUTED, SUPPORTED, Claim, all_of, bound, equal, grows, law, monotone, no_worse_than, ratio
from slownet.errors import TooFewError
from slownet.records.result import RunData, gather
from slownet.sweep.sampling import Rule, decide

METRIC = "time_per_request_ms"
ROUND_S = 10.0


@dataclass(frozen=True)
class Noise:
    """What blurs a simulated time, as parts of it: between repetitions, and between the requests of one.

    ``skewed`` draws log-normal times, which have a tail as real ones do, else normal ones.
    """

    between: float
    within: float
    requests: int = 100
    skewed: bool = True


@dataclass(frozen=True)
class World:
    """A truth: the time in ms at each round trip in ms, the noise, and the clock that the run is made on.

    ``bend_ms`` is how far off its time each cell is in all repetitions of a run: a standard deviation, drawn once a run.
    """

    times: Mapping[float, float]
    noise: Noise
    clock: str = "real"
    bend_ms: float = 0.0


def verdicts(claim: Claim, world: World, runs: int, rule: Rule, seed: int = 1) -> Counter[str]:
    """The verdicts of simulated runs, each sampled by the rule until the claim is decided; the same seed gives the same."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return Counter(_verdict(claim, world, rule, rng) for _ in range(runs))


def _verdict(claim: Claim, world: World, rule: Rule, rng: Any) -> str:
    facts: dict[str, Any] = {"experiment": "simulated", "clock": world.clock, "planned": [_label(rtt) for rtt in world.times]}
    labels: Sequence[Mapping[str, Any]] = facts["planned"]
    samples: list[dict[str, Any]] = []
    spent = 0.0
    if world.bend_ms:
        bent = {rtt: time + float(rng.normal(0, world.bend_ms)) for rtt, time in world.times.items()}
        world = replace(world, times=bent)
    while True:
        samples += [_sample(label, world, rng) for label in labels]
        run, spent = gather(samples, facts), spent + ROUND_S
        found = decide(run, [claim], {"simulated": run}, rule, spent, ROUND_S)
        if not found.cells:
            return _judged(claim, run.at_confidence(found.confidence))
        labels = found.cells


def _judged(claim: Claim, run: RunData) -> str:
    try:
        return claim.judge(run, {run.experiment: run}).verdict
    except TooFewError:
        return "too few"


def _sample(label: Mapping[str, Any], world: World, rng: Any) -> dict[str, Any]:
    """One repetition of one cell, as a tool's record would have it."""
    rtt = float(label["rtt"].removesuffix("ms"))
    noise = world.noise
    draw = _skewed if noise.skewed else _normal
    level = float(draw(rng, world.times[rtt], noise.between, 1)[0])
    values = draw(rng, level, noise.within, noise.requests)
    mean = float(values.sum()) / noise.requests
    off = values - mean
    record = {"mean": mean, "sd": math.sqrt(off.dot(off) / (noise.requests - 1)), "n": noise.requests}
    return {"cell": label, "condition": {"rtt_ms": rtt}, "status": "ok", "metrics": {METRIC: record}}


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


FAR = {"rtt": "10ms"}
CASES: Mapping[str, tuple[Claim, Mapping[float, float], Mapping[float, float]]] = {
    "law": (law(METRIC, 4, within=0.05), straight(4), straight(4.4)),
    "ratio": (ratio(METRIC, FAR, expected=5, within=0.05), {0: 10, 10: 50}, {0: 10, 10: 55}),
    "equal": (equal(METRIC, FAR, within=0.05), {0: 50, 10: 50}, {0: 50, 10: 55}),
    "no_worse_than": (no_worse_than(METRIC, FAR, within=0.05), {0: 50, 10: 50}, {0: 50, 10: 55}),
    "bound": (bound(METRIC, below=60), {0: 50, 10: 57}, {0: 50, 10: 66}),
    "monotone": (monotone(METRIC, within=0.05), {0: 50, 10: 50, 40: 50}, {0: 50, 10: 50, 40: 45}),
    "all_of": (
        all_of(law(METRIC, 4, within=0.05), bound(METRIC, below=520), grows(METRIC)),
        straight(4),
        straight(4.4),
    ),
}
"""A claim of each kind with a truth where it holds and one that is off by twice its margin."""
NOISES = {
    "calm": World({}, Noise(between=0.01, within=0.05)),
    "rough": World({}, Noise(between=0.05, within=0.3)),
    "one boot": World({}, Noise(between=0.0, within=0.3), clock="virtual"),
}
"""A quiet machine, a loaded one, and the virtual clock, where boots do not differ."""


def wrong(
    runs: int, rule: Rule, kinds: Iterable[str] = tuple(CASES), noises: Iterable[str] = tuple(NOISES), seed: int = 1
) -> dict[tuple[str, str], tuple[float, float]]:
    """For each kind of claim and each noise: the parts of runs that refute the true one, and that support the one off."""
    found = {}
    for kind, noise in itertools.product(kinds, noises):
        claim, true, off = CASES[kind]
        refuted = verdicts(claim, replace(NOISES[noise], times=true), runs, rule, seed)[REFUTED]
        supported = verdicts(claim, replace(NOISES[noise], times=off), runs, rule, seed)[SUPPORTED]
        found[kind, noise] = (refuted / runs, supported / runs)
    return found


BENDS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""How far cells are off the line of a law, in ms: from what no test sees to what keeps a claim open for good."""


def wrong_of_bent_laws(
    runs: int, rule: Rule, bends: Iterable[float] = BENDS, seed: int = 1
) -> dict[float, tuple[float, float]]:
    """The same two parts for claims about a law whose cells are off its line, by how far; the page takes 40 ms by itself."""
    claim, found = CASES["law"][0], {}
    for bend in bends:
        world = World({}, Noise(between=0.005, within=0.05), bend_ms=bend)
        refuted = verdicts(claim, replace(world, times=straight(4, 40)), runs, rule, seed)[REFUTED]
        supported = verdicts(claim, replace(world, times=straight(4.4, 40)), runs, rule, seed)[SUPPORTED]
        found[bend] = (refuted / runs, supported / runs)
    return found
