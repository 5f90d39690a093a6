"""Whether a run that is made again gives the same numbers: part of every record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slownet.records.charging import Charging

PARTED: Mapping[str, str] = {
    "congestion_control": "BBR draws by chance where its cycle of rates begins: its rate over loss differs by up to 2 %, "
    "all other rates by less than 0.0001 %",
}
"""What differed where the same experiment was run twice with free CPU."""


def chance(experiment: str, service: Any = None) -> str:
    """What draws random numbers of its own in an experiment, beside its links; empty where nothing does.

    A service that runs such programs says so in its attribute `chance`.
    """
    return getattr(service, "chance", "") or PARTED.get(experiment, "")


def repeats(charging: Charging, experiment: str, service: Any = None) -> str:
    """What to expect of the same run again, for what its clock charges, its experiment and service."""
    if charging is Charging.REAL:
        return "near, not the same: on the real clock everything counts that this machine does"
    if charging is Charging.TIME:
        return "near, not the same: the CPU's time is charged, and is never quite the same"
    if charging is not Charging.FREE:
        part = f"{100 * charging.waver:g} %"
        return f"near, not the same: what the CPU does is charged, and differs by some {part} from boot to boot"
    if parted := chance(experiment, service):
        return f"near, not the same: {parted}"
    return "the same numbers, bit for bit"
