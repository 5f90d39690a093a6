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

from slownet.judge.claim.base import ALONE as ALONE
from slownet.judge.claim.base import Claim as Claim
from slownet.judge.claim.base import Judged as Judged
from slownet.judge.claim.base import Siblings as Siblings
from slownet.judge.claim.base import all_hold as all_hold
from slownet.judge.claim.base import any_holds as any_holds
from slownet.judge.claim.base import decide as decide
from slownet.judge.claim.base import judged as judged
from slownet.judge.claim.base import placed as placed
from slownet.judge.claim.base import undecided as undecided
from slownet.judge.claim.base import verdict as verdict
from slownet.judge.claim.expect import Expectation as Expectation
from slownet.judge.claim.expect import about as about
from slownet.judge.claim.expect import slowed as slowed
from slownet.judge.claim.family import judge_all as judge_all
from slownet.judge.claim.family import not_judged as not_judged
from slownet.judge.claim.kinds import *
from slownet.judge.claim.laws import expected_round_trips as expected_round_trips
from slownet.judge.claim.laws import fitted as fitted
from slownet.judge.records.judgement import INCONCLUSIVE as INCONCLUSIVE
from slownet.judge.records.judgement import NOT_JUDGED as NOT_JUDGED
from slownet.judge.records.judgement import REFUTED as REFUTED
from slownet.judge.records.judgement import SUPPORTED as SUPPORTED
from slownet.judge.records.judgement import Judgement as Judgement
from slownet.judge.records.quantity import interval as interval
from slownet.model.extensions import Register
from slownet.theory.stats import DECIDING as DECIDING

OWN: dict[str, Any] = {
    name: each for name, each in globals().items() if isinstance(each, type) and issubclass(each, Judged) and each is not Judged
}
"""The project's kinds of claims by their names."""
KINDS: Register[Any] = Register("claims", OWN)
"""All kinds by their names: the project's, and those of other packages."""
