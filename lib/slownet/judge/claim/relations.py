"""The experiments whose runs the claims of one need besides its own. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slownet.judge.claim.base import Claim
from slownet.judge.claim.combinators import parts_of
from slownet.judge.claim.laws import more_round_trips

OWN = __name__.rpartition(".")[0]


def related(claims_of: Mapping[str, Sequence[Claim]]) -> list[list[str]]:
    """Divide experiments into groups whose claims need no run of another group.

    Parameters
    ----------
    claims_of : mapping of str to sequence of Claim
        The claims of each experiment.

    Returns
    -------
    list of list of str
        The groups, and in each the experiments, in the given order.
    """
    groups = [{name} for name in claims_of]
    for name, claims in claims_of.items():
        needed = _needed(claims)
        together = set(claims_of) if needed is None else (needed & set(claims_of)) | {name}
        joined = set().union(*(group for group in groups if group & together))
        groups = [*(group for group in groups if not group & joined), joined]
    found = [[name for name in claims_of if name in group] for group in groups]
    order = list(claims_of)
    return sorted(found, key=lambda group: order.index(group[0]))


def _needed(claims: Iterable[Claim]) -> set[str] | None:
    """Return the experiments whose runs these claims ask for; None if they may ask for any: only slownet's own are known."""
    found = set[str]()
    for each in claims:
        inner = _needed(parts_of(each))
        if inner is None or not type(each).__module__.startswith(f"{OWN}."):
            return None
        found |= inner | ({each.of} if isinstance(each, more_round_trips) else set())
    return found
