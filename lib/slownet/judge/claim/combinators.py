"""Claims composed of other claims: all of them, any of them, not one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from slownet.judge.claim import validation
from slownet.judge.claim.base import ALONE, DECIDED, Claim, Judged, Siblings, all_hold, any_holds, judge_parts, raise_confidence
from slownet.judge.claim.description import with_description
from slownet.judge.records.judgement import REFUTED, SUPPORTED, Judgement, Verdict
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError


@dataclass(frozen=True, init=False)
class _Several(Judged):
    """Several claims as one."""

    in_files: ClassVar[bool] = False  # it is written as a table of others
    claims: tuple[Claim, ...]

    def __init__(self, *claims: Claim) -> None:
        if not claims:
            raise ExperimentError("a composed claim without parts", fix="give one or more")
        validation.claims(claims, "in a composed claim")
        object.__setattr__(self, "claims", claims)


@dataclass(frozen=True, init=False)
class all_of(_Several):  # noqa: N801
    """Claim that all of several claims hold.

    Parameters
    ----------
    *claims : Claim
        One or more.

    Raises
    ------
    ExperimentError
        No claim is given, or an argument is not a claim.
    """

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Judge all claims: supported if all are, refuted if one is."""
        return _judge(self.claims, " and ", all_hold, run, siblings, by_chance=REFUTED)


@dataclass(frozen=True, init=False)
class any_of(_Several):  # noqa: N801
    """Claim that at least one of several claims holds.

    Parameters
    ----------
    *claims : Claim
        One or more.

    Raises
    ------
    ExperimentError
        No claim is given, or an argument is not a claim.
    """

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Judge all claims: supported if one is, refuted if all are."""
        return _judge(self.claims, " or ", any_holds, run, siblings, by_chance=SUPPORTED)


@dataclass(frozen=True)
class not_(Judged):  # noqa: N801
    """Claim that another claim does not hold.

    Parameters
    ----------
    claim : Claim
        The claim to negate.

    Raises
    ------
    ClaimError
        It is not a claim.
    """

    in_files: ClassVar[bool] = False  # it is written as a table of others
    claim: Claim

    def __post_init__(self) -> None:
        validation.claims([self.claim], "in not_")

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Judge the claim and exchange supported and refuted; other verdicts stay."""
        found = self.claim.judge(run, siblings)
        opposite = {SUPPORTED: REFUTED, REFUTED: SUPPORTED}.get(found.verdict, found.verdict)
        why = DECIDED[opposite] if opposite != found.verdict else found.reason
        return replace(found, name=f"not: {found.name}", verdict=opposite, reason=why)


def parts_of(claim: object) -> tuple[Claim, ...]:
    """Return the claims that one is composed of; none if it is of another kind."""
    if isinstance(claim, _Several):
        return claim.claims
    return (claim.claim,) if isinstance(claim, not_) else ()


def _judge(
    claims: Sequence[Claim],
    joint: str,
    join: Callable[[str, Sequence[Judgement]], Judgement],
    run: RunData,
    siblings: Siblings,
    by_chance: Verdict,
) -> Judgement:
    def judge(run: RunData) -> Judgement:
        parts = [claim.judge(run, raise_confidence(siblings, run)) for claim in claims]
        return join(joint.join(part.name for part in parts), parts)

    return judge_parts(judge, run, len(claims), by_chance)
