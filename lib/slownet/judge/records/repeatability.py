"""Notes for records on whether another run gives the same numbers."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import FunctionType
from typing import Any

from slownet.judge.records.charging import Charging
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.facts import SpreadFacts


@dataclass(frozen=True)
class Spread:
    """The relative standard deviation of a metric between boots with free CPU, in cells whose links are not random, rounded up.

    ``at``: the conditions of the cells that it was measured in; all of the experiment's own unless given.
    """

    metric: str
    relative: float
    at: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> SpreadFacts:
        """Return it as in a run's record."""
        return {"metric": self.metric, "relative": self.relative, "at": dict(self.at)}


PLAIN = (str, bytes, int, float, bool, type(None))
KNOWN = ("slownet", "mininet")
"""Packages whose functions and classes are known."""


def has_own_programs(*parts: Any) -> bool:
    """Return whether any part of an experiment is not slownet's own, so that its numbers may differ from boot to boot.

    A part is known if it is a function or class at the top of a module of slownet, or made of such parts alone. Everything else
    counts as unknown: another package's, and what was made at run time, such as a closure, which may call anything. Where that
    wraps known parts, give these instead (`slownet.hypotheses.experiment.Experiment.parts`).
    """
    return not all(map(_is_known, parts))


def _is_known(part: Any) -> bool:
    if isinstance(part, PLAIN):
        return True
    if isinstance(part, functools.partial):
        return all(map(_is_known, (part.func, *part.args, *part.keywords.values())))
    if isinstance(part, list | tuple | dict):
        return all(map(_is_known, part.values() if isinstance(part, dict) else part))
    if isinstance(part, FunctionType):
        module = sys.modules.get(part.__module__ or "")
        return _is_of_slownet(part) and module is not None and vars(module) is part.__globals__
    if isinstance(part, type):
        return _is_of_slownet(part) and not hasattr(part, BRINGS)
    if not _is_known(type(part)):
        return False
    return all(_is_known(getattr(part, each.name)) for each in fields(part)) if is_dataclass(part) else _is_topology(part)


BRINGS = "serve"
"""The attribute of a topology that brings programs along, as a compose project does."""


def _is_of_slownet(part: Any) -> bool:
    return (part.__module__ or "").partition(".")[0] in KNOWN and "<locals>" not in part.__qualname__


def _is_topology(part: Any) -> bool:
    return any(base.__module__ == "mininet.topo" for base in type(part).__mro__)


def chance(*parts: Any) -> str:
    """Describe the random behaviour of an experiment's parts other than that of its links; empty if none is known.

    A part with such programs, as a service, describes it in its attribute `chance`.
    """
    return next(filter(None, (getattr(each, "chance", "") for each in parts)), "")


def repeats(charging: Charging, chance: str = "", own: bool = False) -> Statement:
    """State how the numbers of another run would differ, from what the clock charges.

    chance: as `chance` describes it; own: whether programs are part of it that slownet does not know.
    """
    if charging is Charging.REAL:
        return SIMILAR_ON_REAL_CLOCK()
    if charging is Charging.TIME:
        return SIMILAR_WITH_CPU_TIME()
    if charging is Charging.EXACT:
        return SAME_ON_EXACT_CLOCK()
    if charging is not Charging.FREE:
        return SIMILAR_WITH_CPU_WORK(part=charging.cpu_variation)
    if chance:
        return SIMILAR_BY_CHANCE(chance=chance)
    return SAME_IF_NOT_RANDOM() if own else SAME_AGAIN()


SAME = "the same numbers, bit for bit"
SIMILAR_ON_REAL_CLOCK = Phrase(
    "similar on the real clock", lambda: "similar numbers: on the real clock all activity of this machine counts"
)
SIMILAR_WITH_CPU_TIME = Phrase("similar with CPU time", lambda: "similar numbers: CPU time is charged, and it always varies")
SAME_ON_EXACT_CLOCK = Phrase(
    "same on the exact clock", lambda: f"{SAME}, from the same versions of slownet, its image and QEMU, and the same files"
)
SIMILAR_WITH_CPU_WORK = Phrase(
    "similar with CPU work",
    lambda part: f"similar numbers: the CPU's work is charged, and it differs by about {100 * part:g} % from boot to boot",
)
SIMILAR_BY_CHANCE = Phrase("similar by chance", lambda chance: f"similar numbers: {chance}")
SAME_IF_NOT_RANDOM = Phrase(
    "same if nothing is random",
    lambda: f"{SAME}, if its programs draw no random numbers: a hash, an address or a file's place can be one",
)
SAME_AGAIN = Phrase("same", lambda: SAME)
