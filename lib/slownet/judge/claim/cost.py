"""Claims that depend on the cost of the CPU, so that the clock of a run can be chosen by what is claimed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from slownet.judge.claim.combinators import parts_of
from slownet.judge.claim.laws import constant_round_trips, law, more_round_trips, published_times
from slownet.judge.claim.predicted_claims import round_trips_between

ROUND_TRIPS = (law, constant_round_trips, more_round_trips, published_times, round_trips_between)
"""Claims about how a time grows with the network's delay. What the CPU takes is the same near and far, and drops out."""
OF_LINKS = ("loss",)
"""Metrics that links alone make."""


def depends_on_cpu(claim: Any) -> bool:
    """Return whether a claim's verdict may depend on what the CPU costs.

    Parameters
    ----------
    claim : Claim
        Any claim, also one of a user's own class.

    Returns
    -------
    bool
        False for claims about round trips and about what links alone make, such as a loss. True for all others: how long
        something takes, a rate, ratios of these, and claims of kinds that are not known.
    """
    if parts := parts_of(claim):
        return any(map(depends_on_cpu, parts))
    if isinstance(claim, ROUND_TRIPS):
        return False
    return getattr(claim, "metric", None) not in OF_LINKS


def any_depends_on_cpu(claims: Iterable[Any]) -> bool:
    """Return whether one of several claims does; True without any: what is asked for is a number then."""
    listed = list(claims)
    return not listed or any(map(depends_on_cpu, listed))
