"""Claims: statements about a run that it can support or refute.

An experiment lists its claims. Their names are lower case, so that an experiment reads as a sentence::

    claims=[law("time_per_request_ms", round_trips=4, within=0.05), ...]

All kinds share one vocabulary. The metric and the cell (``at``) are positional, everything else is a keyword: ``of`` is the
cell to compare with, ``expected`` the value that theory gives, ``within`` the margin around it as a fraction (0.05 for 5 %),
and ``at_least`` and ``at_most`` are limits.

The measured interval decides: the claim is supported if the interval lies inside the margin, refuted if it lies wholly
outside, else inconclusive. This rule needs no variance, so it also works for an exact run (TDF inf). A claim about cells that
were not measured is not judged. `slownet.judge.claim.family` describes how the claims of one experiment share their error rate.
The expected value may be measured too, and then its error counts: see `slownet.judge.claim.expected_values`.

A custom kind of claim is any class with a method ``judge``; ``decide`` does the rest:

>>> from dataclasses import KW_ONLY, dataclass
>>> from slownet.judge.claim import ALONE, decide
>>> from slownet.judge.records.result import gather
>>> from slownet.theory.stats import difference
>>>
>>> @dataclass(frozen=True)
... class gains:
...     "A metric at some conditions is above the baseline's by no more than a limit."
...     metric: str
...     at: dict
...     _: KW_ONLY
...     at_most: float
...
...     def judge(self, run, siblings=ALONE):
...         cell, base = run.at(self.at), run.baseline_of(self.at)
...         gap = lambda: difference(cell.summary(self.metric), base.summary(self.metric))
...         return decide(run, f"at most {self.at_most:g} more", gap, margin=(None, self.at_most), cells=(base, cell))
>>>
>>> def sample(rtt, mean):
...     return {"cell": {"rtt": rtt}, "status": "ok", "metrics": {"time_ms": {"mean": mean, "sd": 0.4, "n": 100}}}
>>> run = gather([sample("0ms", 12.3), sample("10ms", 51.8)], {"clock": "virtual", "tdf": "inf"})
>>> gains("time_ms", {"rtt": "10ms"}, at_most=45).judge(run)
supported: at most 45 more: 39.50 (39.39 to 39.61) measured; 95 % interval 39.39 to 39.61; virtual clock, TDF inf
"""

from typing import Any

from slownet.judge.claim.base import (
    ALONE,
    Claim,
    Judged,
    Siblings,
    all_hold,
    any_holds,
    decide,
    judged,
    placed,
    undecided,
    verdict,
)
from slownet.judge.claim.bounds import bound
from slownet.judge.claim.cell_comparisons import equal, no_worse_than, ratio
from slownet.judge.claim.combinators import all_of, any_of, not_
from slownet.judge.claim.expect import Expectation, about, slowed
from slownet.judge.claim.family import judge_all, not_judged
from slownet.judge.claim.laws import constant_round_trips, expected_round_trips, fitted, law, more_round_trips, published_times
from slownet.judge.claim.predicted_claims import follows, predicted, round_trips_between
from slownet.judge.claim.trends import grows, monotone
from slownet.judge.records.judgement import INCONCLUSIVE, NOT_JUDGED, REFUTED, SUPPORTED, Judgement
from slownet.judge.records.quantity import interval
from slownet.model.extensions import Register
from slownet.theory.stats import DECIDING

__all__ = [
    "ALONE",
    "DECIDING",
    "INCONCLUSIVE",
    "KINDS",
    "NOT_JUDGED",
    "REFUTED",
    "SUPPORTED",
    "Claim",
    "Expectation",
    "Judged",
    "Judgement",
    "Siblings",
    "about",
    "all_hold",
    "all_of",
    "any_holds",
    "any_of",
    "bound",
    "constant_round_trips",
    "decide",
    "equal",
    "expected_round_trips",
    "fitted",
    "follows",
    "grows",
    "interval",
    "judge_all",
    "judged",
    "law",
    "monotone",
    "more_round_trips",
    "no_worse_than",
    "not_",
    "not_judged",
    "placed",
    "predicted",
    "published_times",
    "ratio",
    "round_trips_between",
    "slowed",
    "undecided",
    "verdict",
]

OWN: dict[str, Any] = {
    name: each for name, each in globals().items() if isinstance(each, type) and issubclass(each, Judged) and each is not Judged
}
"""The project's kinds of claims by their names."""
KINDS: Register[Any] = Register("claims", OWN)
"""All kinds by their names: the project's, and those of other packages."""
