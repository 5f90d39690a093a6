"""Section `coverage`: how many of the printed 95 % intervals of cells contain the true mean.

The true mean is unknown, so the mean of all runs replaces it. A run deviates less from that mean than from the truth, by a
factor of sqrt(1 - 1/n) for n equal runs, because it is part of the mean. So each deviation is multiplied by sqrt(n / (n - 1)),
which is equivalent to leaving the run out of the mean and scaling its deviation from the others' mean to the variance of one
run. A cell with the same mean in all runs says nothing about intervals and is not counted.

Cells of one run, and metrics of one cell, are not independent. So the interval of a share is Wilson's with the effective number
of trials from the scatter of the hits between runs (the design effect: Kish, "Survey sampling", 1965); if all or none hit, with
the number of runs.

Runs at TDF inf repeat their seeds; random experiments are therefore also measured with other seeds here, without their claims.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slownet.hypotheses.catalogue import discover
from slownet.hypotheses.experiment import Experiment
from slownet.theory.stats import Summary, proportion
from trust import t0, verdicts
from trust.figures import Figure, Report, table
from trust.steps import ALONE, BESIDE_HOGS, Log, Options, Record, Step, slownet

SECTION = "coverage"
LEAST, MOST = 0.90, 0.98
MEANS, SINGLE = "means", "single numbers"
OTHER_SEEDS, BOTH = "other seeds", "alone or beside hogs"
REPETITIONS = 3
FIRST_SEED, SEEDS_APART = 1000, 100
RESEEDED = '''"""{name} with other seeds, without its claims."""

from dataclasses import replace

from slownet.hypotheses.catalogue import find

reseeded = replace(find({name!r}), listed={cells!r}, judged_by=[])
'''


@dataclass(frozen=True)
class Interval:
    """A printed mean with its interval; ``run`` identifies the run."""

    run: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Hits:
    """For each run, how many of its intervals contain the mean, and of how many; ``same`` counts cells with the same mean in
    all runs."""

    by_run: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    same: int = 0

    def __add__(self, other: Hits) -> Hits:
        runs = sorted(self.by_run.keys() | other.by_run.keys())
        pairs = ((self.by_run.get(run, (0, 0)), other.by_run.get(run, (0, 0))) for run in runs)
        summed = [(one[0] + two[0], one[1] + two[1]) for one, two in pairs]
        return Hits(dict(zip(runs, summed, strict=True)), self.same + other.same)

    @property
    def n(self) -> int:
        """Number of intervals."""
        return sum(n for _, n in self.by_run.values())

    @property
    def worth(self) -> float:
        """Effective number of independent intervals."""
        n, runs = self.n, len(self.by_run)
        part = sum(hits for hits, _ in self.by_run.values()) / n
        scatter = sum((hits - part * its) ** 2 for hits, its in self.by_run.values()) * runs / max(1, runs - 1)
        return float(runs) if part in (0, 1) else min(n, part * (1 - part) * n * n / scatter) if scatter else float(n)

    @property
    def part(self) -> Summary:
        """Share of intervals that contain the mean, with its 95 % interval."""
        part = sum(hits for hits, _ in self.by_run.values()) / self.n
        return replace(proportion(part * self.worth, self.worth), mean=part)

    def __str__(self) -> str:
        if not self.n:
            return f"- ({self.same} the same)" if self.same else "-"
        return f"{self.part.mean:.1%} of {self.n} ({self.part.low:.1%} to {self.part.high:.1%})"

    @property
    def met(self) -> bool | None:
        """Whether the share is in the target range; None if only its interval overlaps the range."""
        if not self.n:
            return None
        if LEAST <= self.part.mean <= MOST:
            return True
        return False if self.part.high < LEAST or self.part.low > MOST else None


def covered(intervals: Sequence[Interval]) -> Hits:
    """Count which intervals of one cell and metric, one per run, contain the mean of all runs."""
    n = len(intervals)
    if n < 2:
        return Hits()
    middle = math.fsum(each.mean for each in intervals) / n
    if all(math.isclose(each.mean, intervals[0].mean, rel_tol=1e-9, abs_tol=1e-12) for each in intervals):
        return Hits(same=1)
    larger = math.sqrt(n / (n - 1))
    return Hits({each.run: (int(each.low <= each.mean - larger * (each.mean - middle) <= each.high), 1) for each in intervals})


def steps(options: Options, log: Log) -> Iterator[Step]:
    """Yield runs with other seeds of the experiments whose cells have seeds; the other data comes from earlier sections."""
    for number in range(1, options.rounds + 1):
        for name, experiment in discover().items():
            if (not options.experiments or name in options.experiments) and any("seed" in cell for cell in experiment.cells()):

                def measure(number: int = number, experiment: Experiment = experiment) -> dict[str, Any]:
                    return reseeded(options, experiment, FIRST_SEED + SEEDS_APART * number)

                yield Step(SECTION, name, number, measure)


def reseeded(options: Options, experiment: Experiment, seed: int) -> dict[str, Any]:
    """Run the cells that have a seed, with another seed."""
    cells = [{**cell, "seed": str(seed)} for cell in experiment.cells() if "seed" in cell]
    file = options.folder / "reseeded" / f"{experiment.name}-{seed}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(RESEEDED.format(name=experiment.name, cells=cells))
    ((seconds, found),) = slownet(["run", file, "--repeat", REPETITIONS, "--out", "json=-", "--runs", options.runs])
    (run,) = found["runs"]
    return {"experiments": {experiment.name: verdicts.kept(run)}, "seconds": round(seconds, 3), "said": f"seed {seed}"}


Kind = tuple[str, str]
"""An experiment, and means or single numbers."""
Run = tuple[int, str, Mapping[str, Any]]
"""Its number, which dependent runs may share; its experiment; its data from `verdicts.kept`."""


def intervals(runs: Iterable[Run]) -> dict[Kind, list[list[Interval]]]:
    """Group the printed intervals by kind, then by cell and metric, one interval per run; cells ignore seeds."""
    found: dict[Kind, dict[tuple[str, str], list[Interval]]] = defaultdict(lambda: defaultdict(list))
    for number, name, run in runs:
        for cell in run["cells"]:
            condition = json.dumps({key: value for key, value in cell["condition"].items() if key != "seed"}, sort_keys=True)
            for metric, numbers in cell["metrics"].items():
                if None not in (numbers["mean"], numbers["low"], numbers["high"]):
                    kind = name, SINGLE if metric in run["single"] else MEANS
                    found[kind][condition, metric].append(Interval(number, numbers["mean"], numbers["low"], numbers["high"]))
    return {kind: list(each.values()) for kind, each in found.items()}


def hits(runs: Iterable[Run]) -> dict[Kind, Hits]:
    """Count the hits of `intervals` by kind."""
    return {kind: sum(map(covered, cells), Hits()) for kind, cells in intervals(runs).items()}


def report(log: Log, options: Options) -> Report:
    found = [(name, hits(runs)) for name, runs in sources(log) if runs]
    kinds = sorted({kind for _, each in found for kind in each})
    rows = [[*kind, *(str(each.get(kind, Hits())) for _, each in found)] for kind in kinds]
    header = ("experiment", "kind", *(name for name, _ in found))
    return Report(table(header, rows), tuple(figure for name, each in found for figure in _figures(name, each)))


def sources(log: Log) -> list[tuple[str, list[Run]]]:
    """Return groups of runs whose means should be equal."""
    records, boots = log.of(verdicts.SECTION), log.of(t0.SECTION)
    alone, hogs = ([each for each in records if each["beside"] == beside] for beside in (ALONE, BESIDE_HOGS))
    named = [(ALONE, alone), (BESIDE_HOGS, hogs), (BOTH, records), (OTHER_SEEDS, log.of(SECTION))]
    ways = dict.fromkeys(each["way"] for each in boots)
    return [
        *((name, _runs(each)) for name, each in named),
        *((f"one boot, {way}", _boots(each for each in boots if each["way"] == way)) for way in ways),
    ]


def _runs(records: Iterable[Record]) -> list[Run]:
    return [(number, name, run) for number, each in enumerate(records) for name, run in each["experiments"].items()]


def _boots(records: Iterable[Record]) -> list[Run]:
    return [(number, t0.EXPERIMENT, boot) for number, boot in enumerate(boot for each in records for boot in each["boots"])]


def _figures(source: str, found: Mapping[Kind, Hits]) -> Iterator[Figure]:
    for kind in (MEANS, SINGLE):
        total = sum((each for (_, name), each in found.items() if name == kind), Hits())
        if total.n:
            what, part = f"{source}: intervals of {kind} that contain the mean", f"{total.part.mean:.1%}"
            yield Figure(what, part, "90 to 98 %", total.met)
    outside = [f"{name} ({kind})" for (name, kind), each in found.items() if each.met is False]
    if any(each.n for each in found.values()):
        yield Figure(
            f"{source}: kinds significantly outside 90 to 98 %", str(len(outside)), "; ".join(outside) or "none", not outside
        )
