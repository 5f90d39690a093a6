"""Whether a run that is made again gives the same numbers: part of every record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FREE = "inf"
PARTED: Mapping[str, str] = {
    "congestion_control": "BBR draws by chance where its cycle of rates begins: its rate over loss differs by up to 2 %, "
    "all other rates by less than 0.0001 %",
}
"""What differed where the same experiment was run twice with free CPU."""


def exact(facts: Mapping[str, Any]) -> bool:
    """Whether a run's clock counts nothing that another run of it would not: free CPU on the virtual clock."""
    return facts.get("clock") == "virtual" and facts.get("tdf") == FREE


def repeats(kind: str, tdf: Any, experiment: str, service: Any = None) -> str:
    """What to expect of the same run again, for its clock (as records hold it), its experiment and service.

    A service that runs programs with a randomness of their own says so in its attribute `chance`.
    """
    if kind != "virtual":
        return "near, not the same: on the real clock everything counts that this machine does"
    if tdf != FREE:
        return "near, not the same: the CPU's time is charged, and is never quite the same"
    parted = getattr(service, "chance", "") or PARTED.get(experiment, "")
    if parted:
        return f"near, not the same: {parted}"
    return "the same numbers, bit for bit"
