"""Claims made of claims: all of them, any of them, not one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from slownet.claim.base import ALONE, Claim, Siblings, all_hold, any_holds, as_sure, surely
from slownet.claim.stated import stating
from slownet.errors import ExperimentError
from slownet.records.judgement import REFUTED, SUPPORTED, Judgement
from slownet.records.result import RunData


@dataclass(frozen=True, init=False)
class all_of:  # noqa: N801
    """Every one of the claims holds."""

    claims: tuple[Claim, ...]

    def __init__(self, *claims: Claim) -> None:
        object.__setattr__(self, "claims", _some(claims))

    @stating
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Supported if each claim is, refuted if one is."""
        return _judge(self.claims, " and ", all_hold, run, siblings, by_chance=REFUTED)


@dataclass(frozen=True, init=False)
class any_of:  # noqa: N801
    """At least one of the claims holds."""

    claims: tuple[Claim, ...]

    def __init__(self, *claims: Claim) -> None:
        object.__setattr__(self, "claims", _some(claims))

    @stating
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Supported if one claim is, refuted if each is."""
        return _judge(self.claims, " or ", any_holds, run, siblings, by_chance=SUPPORTED)


@dataclass(frozen=True)
class not_:  # noqa: N801
    """The claim does not hold; an undecided one stays so."""

    claim: Claim

    @stating
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Supported if the claim is refuted, refuted if it is supported."""
        found = self.claim.judge(run, siblings)
        opposite = {SUPPORTED: REFUTED, REFUTED: SUPPORTED}.get(found.verdict, found.verdict)
        return replace(found, name=f"not: {found.name}", verdict=opposite)


def _some(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    if not claims:
        raise ExperimentError("a claim composed of none", fix="give one or more")
    return tuple(claims)


def _judge(
    claims: Sequence[Claim],
    word: str,
    join: Callable[[str, Sequence[Judgement]], Judgement],
    run: RunData,
    siblings: Siblings,
    by_chance: str,
) -> Judgement:
    def judge(run: RunData) -> Judgement:
        parts = [claim.judge(run, as_sure(siblings, run)) for claim in claims]
        return join(word.join(part.name for part in parts), parts)

    return surely(judge, run, len(claims), by_chance)
