"""Notes for records on whether another run gives the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slownet.records.charging import Charging


@dataclass(frozen=True)
class Parted:
    """A difference found between runs of the same experiment with free CPU.

    ``spread``: by metric, the relative standard deviation between boots of cells whose links are not random, rounded up; for
    metrics of which it was measured.
    """

    text: str
    spread: Mapping[str, float] = field(default_factory=dict)


PARTED: Mapping[str, Parted] = {
    # Three runs, 9 boots: 0.09 % at most (Reno without loss); 0.0001 % on the narrow link.
    "congestion_control": Parted(
        "BBR starts its cycle of rates at random: its rate over loss differs by up to 2 %, all other rates by less than 0.5 %",
        {"mbit_per_s": 0.0015},
    ),
    "loss_tolerance": Parted(
        "BBR starts its cycle of rates at random: its rate under loss differs by up to 4 %, "
        "and CUBIC's, if it is measured after BBR's, by less than 1 %"
    ),
    # Three runs, 9 boots: 0.19 %.
    "queue_sizing": Parted(
        "which of several connections loses a packet depends on the order in which they start",
        {"mbit_per_s": 0.003},
    ),
    # Three runs, 17 boots: 1.8 % of BBR's share in the long queue, and 0.5 % of the round trip; 0.6 % in the short one.
    "fairness": Parted(
        "BBR starts its cycle of rates at random, and its share differs",
        {"first_share": 0.025, "rtt_ms": 0.01},
    ),
}

SAME = "the same numbers, bit for bit"
SAME_IF = f"{SAME}, if its programs draw no random numbers: a hash, an address or a file's place can be one"


def has_own_programs(*parts: Any) -> bool:
    """Return whether any of these functions and classes, of which some may be None, is from outside slownet."""
    modules = (getattr(each, "__module__", "") or "" for each in parts if each is not None)
    return any(each.partition(".")[0] != "slownet" for each in modules)


def chance(experiment: str, service: Any = None) -> str:
    """Describe the random behaviour in an experiment other than that of its links; empty if there is none.

    A service with such programs describes it in its attribute `chance`.
    """
    found = PARTED.get(experiment)
    return getattr(service, "chance", "") or (found.text if found else "")


def spread(experiment: str) -> dict[str, float]:
    """Return the known relative standard deviations between its boots, with free CPU, by metric."""
    found = PARTED.get(experiment)
    return dict(found.spread) if found else {}


def repeats(charging: Charging, experiment: str, service: Any = None, own: bool = False) -> str:
    """Describe how the numbers of another run would differ, from what the clock charges, the experiment and its service.

    own: whether programs are part of it that slownet does not know.
    """
    if charging is Charging.REAL:
        return "similar numbers: on the real clock all activity of this machine counts"
    if charging is Charging.TIME:
        return "similar numbers: CPU time is charged, and it always varies"
    if charging is not Charging.FREE:
        part = f"{100 * charging.waver:g} %"
        return f"similar numbers: the CPU's work is charged, and it differs by about {part} from boot to boot"
    if parted := chance(experiment, service):
        return f"similar numbers: {parted}"
    return SAME_IF if own else SAME
