"""Section `simulated`: how often verdicts on simulated runs are wrong, by kind of claim and by noise (slownet.runner.rates)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from slownet.runner import rates
from trust.figures import Figure, Report, table
from trust.steps import Log, Options, Step

SECTION = "simulated"
RULE = rates.USUAL
ALLOWED = 0.01


def steps(options: Options, log: Log) -> Iterator[Step]:
    """Yield one step for each kind of claim and each noise, and one for each curvature of a law."""
    for kind in rates.CASES:
        for noise in rates.NOISES:

            def case(kind: str = kind, noise: str = noise) -> tuple[float, float]:
                return rates.wrong(options.simulated, RULE, [kind], [noise])[kind, noise]

            yield _step(f"{kind}, {noise}", options.simulated, case)
    for bend in rates.BENDS:

        def bent(bend: float = bend) -> tuple[float, float]:
            return rates.wrong_of_bent_laws(options.simulated, RULE, [bend])[bend]

        yield _step(f"law, cells {bend:g} ms off its line", options.simulated, bent)


def _step(name: str, runs: int, rate: Callable[[], tuple[float, float]]) -> Step:
    def measure() -> dict[str, Any]:
        refuted, supported = rate()
        return {
            "refuted": refuted, "supported": supported, "runs": runs,
            "said": f"{refuted:.1%} refute a true claim, {supported:.1%} support a false one",
        }  # fmt: skip

    return Step(SECTION, name, runs, measure)


def report(log: Log, options: Options) -> Report:
    records = log.of(SECTION)
    header = ("claim, noise", "runs", "refute a true one", "support one off by twice the margin")
    rows = [[each["name"], str(each["runs"]), f"{each['refuted']:.1%}", f"{each['supported']:.1%}"] for each in records]
    if not records:
        return Report()
    worst = max(records, key=lambda each: max(each["refuted"], each["supported"]))
    rate = max(worst["refuted"], worst["supported"])
    figure = Figure(f"wrong verdicts, the worst case ({worst['name']})", f"{rate:.1%}", "at most 1 %", rate <= ALLOWED)
    return Report(table(header, rows), (figure,))
