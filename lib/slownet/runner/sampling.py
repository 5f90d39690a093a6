"""Decides how often the cells of a run are measured: until every claim is decided or the budget is spent. Pure.

A repetition is a boot of its own: network and services are created anew and seeds advance, so that effects fixed by chance at
boot vary between repetitions (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013). It measures the cells
forwards and backwards (`slownet.runner.job`), so that drift affects baseline and conditions alike. Parallel labs measure one
repetition each (`slownet.runner.sharing`). With a free CPU, cells without random links are not measured again for the first
look: no speed of a boot is shared with others, and what seeds vary does not concern them. Cells of programs that slownet does
not know are, to see whether these draw random numbers (`slownet.judge.records.exactness`).

`schedule` has the boots after which claims are judged, and the confidence of each look, so that stopping at the first
decision does not make wrong ones more likely. That concerns noise, which is drawn anew in each repetition. A fixed property of
the cells, such as curvature, is the same at every look and takes no share; repetition stops when only that leaves a claim
undecided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.claim import INCONCLUSIVE, Claim, Judgement, judge_all, not_judged
from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import FIRST_SHARE, LEAST_BOOTS, Charging, Terms
from slownet.judge.records.exactness import AGREEING, verdict_from
from slownet.judge.records.result import RunData
from slownet.model.options import BUDGET as BUDGETED
from slownet.model.options import REPEAT, TDF
from slownet.model.sample import Label, Metric
from slownet.model.units import show_duration
from slownet.runner import finding
from slownet.runner.rule import CEILING, Rule
from slownet.theory.stats import DECIDING, t_quantile

FORESEEN = 1000
"""Largest number of repetitions that is predicted for a claim."""


@dataclass(frozen=True)
class Decision:
    """The decision after a look: the cells to measure again, or none to end; ``why`` gives the reason."""

    cells: tuple[Label, ...]
    confidence: float
    """Confidence of the intervals at this look."""
    why: str
    boots: int = 0
    """Boots before the next look; 0 is the end."""
    last_line: str = ""
    """One line for the caller if repetition ended with undecided claims and an option can change that: the wall time was spent,
    or the requested repetitions are too few. Otherwise empty."""
    finds: float | None = None
    """The relative difference to another such run that it is repeated for; None if it is repeated for claims, or not."""


@dataclass(frozen=True)
class Open:
    """An open claim: its cells (empty for all), and the reason if repeating them cannot decide it."""

    cells: tuple[Label, ...] = ()
    stays_open: str = ""
    predicted_repetitions: int | None = None
    """Predicted total of repetitions that would decide it; None if it cannot be predicted."""


def first_boots(rule: Rule, terms: Terms, claims: bool) -> int:
    """Return the boots before the first look. Whether links draw random numbers is only known after the first boot."""
    charging = terms.charging or Charging.REAL
    if rule.find is not None:
        return min(finding.first(terms), rule.most)
    least = charging.first_look(verdict_from((), terms)) if claims else finding.first_without_claims(terms)
    return rule.repeat or min(least, rule.most)


def decide(
    run: RunData, claims: Sequence[Claim], siblings: Mapping[str, RunData], rule: Rule, spent_s: float, round_s: float
) -> Decision:
    """Decide what to do after a boot that took ``round_s`` of the ``spent_s`` seconds of wall time.

    ``run`` and ``siblings`` hold the samples so far; their facts name the clock. Between two looks the decision only shows how
    many boots are left until the next one.
    """
    repetitions = run.repetitions
    good = tuple(cell for cell in run.cells if cell.status == "ok")
    if rule.repeat is not None:
        return _fixed(run, good, claims, repetitions, rule.repeat)
    if rule.find is not None and good:
        return _until_found(run, good, rule, rule.find, spent_s, round_s)
    if not good:
        return Decision((), DECIDING, f"{_count(repetitions)}: no cell is ok")
    if not claims:
        return _without_claims(run, good, rule, spent_s, round_s)
    plan = _schedule(run, good, rule.most)
    left = RemainingBudget(
        min(plan.next(repetitions) - repetitions, _affordable(rule, spent_s, round_s)), repetitions, rule, round_s
    )
    if repetitions < plan.first:
        unknown = _without_a_spread(run, claims, siblings) if run.charging is Charging.FREE else ()
        return _before_the_first_look(run, good, plan, left, unknown)
    confidence = 1 - plan.share(repetitions, left.boots < 1)
    if repetitions not in plan.looks and left.boots > 0:
        return Decision(_labels(good), confidence, f"{_count(repetitions)}, judged after {plan.next(repetitions)}", left.boots)
    return _look(run, claims, siblings, confidence, left)


def _until_found(run: RunData, good: Sequence[Cell], rule: Rule, part: float, spent_s: float, round_s: float) -> Decision:
    """Repeat until a difference of a part would be found between this run and one like it: `slownet.runner.finding`."""
    repetitions = run.repetitions
    total = min(finding.needed(run, part), rule.most)
    why = f"{_count(repetitions)}: {finding.reached(run, part)}"
    if repetitions >= total:
        return Decision((), DECIDING, why, finds=part)
    more = min(total - repetitions, _affordable(rule, spent_s, round_s))
    if more < 1:
        spent = f"{why}, and the wall time of {show_duration(rule.budget_s)} is spent: {BUDGETED}"
        return Decision((), DECIDING, why, last_line=spent, finds=part)
    again = _labels(finding.too_seldom(run, good, part))
    return Decision(again, DECIDING, f"{_count(repetitions)} of about {total}", more, finds=part)


def _without_claims(run: RunData, good: Sequence[Cell], rule: Rule, spent_s: float, round_s: float) -> Decision:
    """Repeat until the run can be compared with another one, if the budget is enough for that."""
    repetitions = run.repetitions
    part = finding.of_a_comparison(run, rule.most)
    if part is None:
        return Decision((), DECIDING, f"{_count(repetitions)}: there is no claim to decide")
    total = finding.needed(run, part)
    if total <= rule.most:
        return _until_found(run, good, rule, part, spent_s, round_s)
    why = f"{_count(repetitions)}: {finding.reached(run, part)}; {100 * part:g} % would take about {_count(total)}"
    return Decision((), DECIDING, why, finds=part)


@dataclass(frozen=True)
class RemainingBudget:
    """The rest of a budget: the boots until the next look."""

    boots: int
    repetitions: int
    rule: Rule
    round_s: float

    @property
    def is_time(self) -> bool:
        """True if wall time ended the repetition."""
        return self.boots < 1 and self.repetitions < self.rule.most

    @property
    def why(self) -> str:
        """The reason to boot no further."""
        if not self.is_time:
            return f"the maximum is {_count(self.rule.most)}"
        bound = show_duration(self.rule.budget_s)
        return f"another of {show_duration(self.round_s)} exceeds the wall time of {bound}"

    def last_line(self, unsettled: str) -> str:
        """Return the last line if wall time ended the repetition, else an empty text."""
        if not self.is_time:
            return ""
        bound, more = show_duration(self.rule.budget_s), show_duration(2 * self.rule.budget_s).replace(" ", "")
        ended = f"stopped by the wall time of {bound} after {self.repetitions} of at most {_count(self.rule.most)}"
        return f"{ended}, {unsettled}: {BUDGETED.set(f'{self.rule.most},{more}')}"


def _schedule(run: RunData, good: Sequence[Cell], most: int) -> Schedule:
    return Schedule.of(run.charging, _least(good), all(cell.is_exact for cell in good), most)


def _least(good: Sequence[Cell]) -> int:
    """Return the boots that verdicts on all these cells require."""
    return max((cell.verdict_from for cell in good), default=1)


def _fixed(run: RunData, good: Sequence[Cell], claims: Sequence[Claim], repetitions: int, repeat: int) -> Decision:
    """Follow ``--repeat``, and report if that is too few for a verdict."""
    if repetitions < repeat:
        return Decision(_labels(good), DECIDING, f"{_count(repetitions)} of {repeat}", repeat - repetitions)
    why = f"{_count(repetitions)}, as requested"
    if too_few := _too_few(run, good, claims, repetitions):
        return Decision((), DECIDING, f"{why}: {too_few}", last_line=f"{_count(repetitions)}: {too_few}")
    return Decision((), DECIDING, why)


def _too_few(run: RunData, good: Sequence[Cell], claims: Sequence[Claim], repetitions: int) -> str:
    """Say that these repetitions are too few to decide a claim, and what to do; empty if they are enough."""
    least = _least(good)
    if not claims or repetitions >= least:
        return ""
    if any(cell.is_random for cell in good):
        return f"too few for a verdict, which needs {least} seeds: {REPEAT.set(least)} or more"
    if _is_for_programs(run):
        how = f"of programs that slownet does not know a verdict needs {least} boots, {_to_learn(run)}"
        return f"too few for a verdict: {how}: {REPEAT.set(least)} or more"
    how = f"on {run.charging} a verdict needs {least} boots, {_to_learn(run)}"
    return f"too few for a verdict: {how}: {REPEAT.set(least)} or more, or {TDF.set('inf')} if CPU time does not matter"


def _is_for_programs(run: RunData) -> bool:
    """Return whether a verdict requires several boots only because slownet does not know the programs."""
    return run.terms.own_programs and run.charging.verdict_from(is_random=False) == 1


def _to_learn(run: RunData) -> str:
    return (
        "to see whether they differ" if any(cell.verdict_from == AGREEING for cell in run.cells) else "to estimate their spread"
    )


def _before_the_first_look(
    run: RunData, good: Sequence[Cell], plan: Schedule, left: RemainingBudget, unknown: Sequence[Label]
) -> Decision:
    seeds = any(cell.is_random for cell in good)
    is_for_clock = not seeds and not _is_for_programs(run)
    needs = f"{run.charging} needs {plan.first}" if is_for_clock else f"{plan.first} {'seeds ' * seeds}are needed"
    why = f"{_count(left.repetitions)}: {needs} {_to_learn(run)}"
    if not plan.looks and left.repetitions >= left.rule.most:
        line = f"{why}, but {left.why}: {BUDGETED.set(plan.first)}"
        return Decision((), DECIDING, line, last_line=line)
    if left.boots < 1 and left.is_time:
        return Decision((), DECIDING, f"{why}, but {left.why}", last_line=left.last_line("before any claim was judged"))
    return Decision(_labels(_too_seldom(run, good, unknown)), DECIDING, why, max(1, left.boots))


def _too_seldom(run: RunData, good: Sequence[Cell], unknown: Sequence[Label]) -> Sequence[Cell]:
    """Return the cells that were measured too seldom for a verdict.

    With a free CPU that is only those with random links, and those of numbers without a spread, which have no interval before.
    Where CPU is charged it is all, because cells that are compared share boots, whose speeds differ.
    """
    free = run.charging is Charging.FREE
    return [cell for cell in good if not free or cell.repetitions < cell.verdict_from or cell.label in unknown]


def _without_a_spread(run: RunData, claims: Sequence[Claim], siblings: Mapping[str, RunData]) -> list[Label]:
    """Return the labels of the cells of claims about numbers whose interval is unknown whatever their value is."""
    found = judge_all(claims, run, siblings, lambda claim, error: not_judged(claim, error, run))
    return [
        label
        for each in found
        if each.verdict == INCONCLUSIVE and each.measured is not None and not math.isfinite((each.high or 0) - (each.low or 0))
        for label in each.cells
    ]


def _look(
    run: RunData, claims: Sequence[Claim], siblings: Mapping[str, RunData], confidence: float, left: RemainingBudget
) -> Decision:
    """Judge the claims and find the cells of the open ones.

    An error in a claim is not raised here but when the run is judged.
    """
    seen, repetitions = run.for_verdicts(confidence), left.repetitions
    sure = {name: seen if each is run else each.for_verdicts(confidence) for name, each in siblings.items()}
    found = judge_all(claims, seen, sure, lambda claim, error: not_judged(claim, error, run))
    still = [_open(each, run) for each in found if each.verdict == INCONCLUSIVE and each.measured is not None]
    good = [cell for cell in run.cells if cell.status == "ok"]
    asked = [each.cells for each in still if not each.stays_open]
    needed = [cell for cell in good if any(not labels or cell.label in labels for labels in asked)]
    unsettled = f"{len(still)} of {len(claims)} claim{'s' * (len(claims) > 1)} open"
    state = f"{_count(repetitions)}, {unsettled}"
    if not needed and (stays := "; ".join(dict.fromkeys(each.stays_open for each in still if each.stays_open))):
        return Decision((), confidence, f"{state}: more repetitions do not help: {stays}")
    if not needed:
        return Decision((), confidence, f"{_count(repetitions)}: all decidable claims are decided; {_why_enough(run, good)}")
    if all(cell.is_exact for cell in needed):
        return Decision((), confidence, f"{state}: nothing is random, another repetition gives the same numbers")
    if all(_repeats(cell) for cell in needed):
        return Decision((), confidence, f"{state}: all gave identical numbers")
    if left.boots < 1:
        predicted = _predicted(still, repetitions)
        return Decision((), confidence, f"{state}: {left.why}{predicted}", last_line=left.last_line(f"{unsettled}{predicted}"))
    return Decision(_labels(needed), confidence, state, left.boots)


def _open(found: Judgement, run: RunData) -> Open:
    repetitions = max((cell.repetitions for cell in run.cells if not found.cells or cell.label in found.cells), default=0)
    return Open(found.cells, str(found.stays_open or ""), predicted_repetitions(found, repetitions))


def predicted_repetitions(found: Judgement, repetitions: int) -> int | None:
    """Predict the total of repetitions that would decide an open claim if the noise stays the same; None if impossible.

    The half-width of the interval shrinks with the square root of the repetitions and with Student's t, until it is at most the
    distance of the measured number from the nearer end of the margin; for a single look of 99 %.
    """
    if found.measured is None or found.low is None or found.high is None or repetitions < 2:
        return None
    half = (found.high - found.low) / 2
    ends = [end for end in found.margin if end is not None and math.isfinite(end)]
    distance = min((abs(found.measured - end) for end in ends), default=0.0)
    if not (distance and math.isfinite(half)):
        return None
    error = half / t_quantile(repetitions - 1, found.confidence) * math.sqrt(repetitions)
    for number in range(repetitions + 1, FORESEEN):
        if error * t_quantile(number - 1, 1 - ALL) <= distance * math.sqrt(number):
            return number
    return FORESEEN


def _predicted(still: Sequence[Open], repetitions: int) -> str:
    """Say how many repetitions would decide the open claims, if that can be predicted."""
    predicted = [each.predicted_repetitions for each in still if each.predicted_repetitions is not None and not each.stays_open]
    if not predicted:
        return ""
    if max(predicted) >= FORESEEN:
        return f"; the result is so close to a margin's end that {FORESEEN:,} would not decide it"
    return f"; about {_count(max(*predicted, repetitions + 1))} would decide {'it' if len(still) == 1 else 'all'}"


def _affordable(rule: Rule, spent_s: float, round_s: float) -> int:
    """Return how many boots the wall time still allows."""
    left = rule.budget_s - spent_s
    if not math.isfinite(left):
        return CEILING
    return CEILING if round_s <= 0 < left else max(0, math.floor(left / round_s)) if round_s > 0 else 0


def _repeats(cell: Cell) -> bool:
    """Return whether all samples gave the same numbers."""
    good = [_means(sample["metrics"]) for sample in cell.samples if sample.get("status") == "ok"]
    return len(good) > 1 and all(means == good[0] for means in good)


def _means(metrics: Mapping[str, Metric]) -> dict[str, tuple[float, float | None]]:
    return {name: (record["mean"], record.get("sd")) for name, record in metrics.items()}


def _labels(cells: Sequence[Cell]) -> tuple[Label, ...]:
    return tuple(cell.label for cell in cells)


def _why_enough(run: RunData, good: Sequence[Cell]) -> str:
    if run.charging is Charging.FREE:
        if all(cell.is_exact for cell in good):
            known = not run.terms.own_programs
            return f"with free CPU {'and nothing random another repetition gives' if known else 'all gave'} the same numbers"
        seeds = any(cell.is_random for cell in good)
        order = " and the order of cells" if run.terms.own_programs else ""
        differ = f"with free CPU only programs' own random numbers{order} differ"
        return "the intervals include the spread of seeds" if seeds else differ
    if run.charging is Charging.EXACT and all(cell.is_exact for cell in good):
        return "every instruction is counted and nothing is random: another repetition gives the same numbers"
    if run.charging is Charging.EXACT and min((cell.repetitions for cell in good), default=0) >= LEAST_BOOTS:
        return "the intervals are what programs' seeds make"
    if run.charging.is_measured:
        return f"the intervals include the spread between boots as measured earlier ({100 * run.charging.cpu_variation:g} %)"
    return "the intervals include the spread between boots"


def _count(repetitions: int) -> str:
    return f"{repetitions} repetition{'s' * (repetitions != 1)}"


# The schedule of looks (when the claims of a run are judged) and the error probability of each. Pure.
#
# Judging repeatedly until a claim is decided would make wrong verdicts more frequent. So the looks share a total error
# probability of 1 % for a truth on the edge of a margin: the sum of their shares bounds it, whatever the noise and however few
# the boots (Bonferroni). The spending function is that of the power family of Kim and DeMets ("Design and analysis of group
# sequential tests based on the type I error spending rate function", 1987) with exponent 1: the share spent is proportional to
# the repetitions. For 30 repetitions:
#
#     after boots         3      4      6      9     14     20     30    in all
#     share, %         0.10   0.033  0.067  0.10   0.167  0.20   0.333     1
#
# If the spread between boots is known beforehand, the first look takes half of the total, because most claims are decided
# there,
# and the other looks share the rest in the same way. If nothing is random, there is one look: the margin alone decides.

ALL = 0.01
"""Error probability of all looks together."""
USUAL = (3, 4, 6, 9, 14, 20, 30)
"""Boots after which claims are judged; beyond these, each look comes after 1.5 times as many boots."""


@dataclass(frozen=True)
class Schedule:
    """The looks of a run: after how many boots they come, and the error probability of each."""

    looks: tuple[int, ...]
    """Increasing; empty if all repetitions together are too few for a verdict."""
    first: int
    """Boots before the first look, even if it is never reached."""
    first_share: float = 0.0
    """Fixed share of the first look; the others' shares are proportional to the repetitions since the look before."""

    @classmethod
    def of(cls, charging: Charging, least: int, is_exact: bool, most: int) -> Schedule:
        """Return the schedule of a run with at most ``most`` boots.

        ``least``: boots required for a verdict; ``is_exact``: whether every boot gives the same numbers.
        """
        first = charging.first_look(least)
        if most < least:
            return cls((), first)
        if is_exact:
            return cls((least,), least)
        known = least == 1
        return cls(_looks(first, most), min(first, most), FIRST_SHARE if known and most > first else 0.0)

    def next(self, boots: int) -> int:
        """Return the number of boots at the next look; 0 if none exists."""
        return next((at for at in self.looks if at > boots), 0)

    def share(self, boots: int, is_last: bool = False) -> float:
        """Return the error probability of the look after that many boots; the last look of a run takes the whole rest.

        A look between two scheduled ones takes the share of the later one.
        """
        boots = min(boots, self.looks[-1]) if self.looks else boots
        before = max((at for at in self.looks if at < boots), default=0)
        at = next((at for at in self.looks if at >= boots), 0)
        if is_last or not at:
            return ALL - self._spent(before)
        return self._spent(at) - self._spent(before)

    def _spent(self, boots: int) -> float:
        """Return the total error probability of all looks up to the one after that many boots."""
        if not boots or not self.looks:
            return 0.0
        first, last = (self.looks[0], self.looks[-1]) if self.first_share else (0, self.looks[-1])
        return self.first_share + (ALL - self.first_share) * (boots - first) / (last - first) if last > first else ALL


def _looks(first: int, most: int) -> tuple[int, ...]:
    found = [at for at in (1, 2, *USUAL) if first <= at < most]
    while found and found[-1] >= USUAL[-1] and math.ceil(1.5 * found[-1]) < most:
        found.append(math.ceil(1.5 * found[-1]))
    return (*found, most)
