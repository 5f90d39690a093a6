"""The summary of a path that a program printed, and the numbers of its JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition
from slownet.links.traces.pinglog import each_way


@dataclass(frozen=True)
class PathReport:
    """A summary of the path to a host: its hops, or 0 if it does not count them, pings, and times in seconds."""

    program: str
    host: str
    hops: int
    sent: int
    loss: float
    best: float
    mean: float
    worst: float

    def condition(self) -> Condition:
        """Return a condition with the mean round trip and the loss of round trips, divided between the directions."""
        loss = each_way(self.loss)
        return Condition(up=self.mean / 2, down=self.mean / 2, loss=Chance(loss) if loss else None)

    def facts(self) -> dict[str, object]:
        """Return the path's numbers, and the condition that they make."""
        return {
            "kind": f"report of {self.program}", "host": self.host, **({"hops": self.hops} if self.hops else {}),
            "pings": self.sent, "loss_share": self.loss, "min_rtt_s": self.best, "mean_rtt_s": self.mean,
            "max_rtt_s": self.worst, "condition": str(self.condition()),
        }  # fmt: skip


def whole(value: Any) -> int:
    """Return a number of pings. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        raise ValueError(f"{json.dumps(value)[:40]} is not a number of pings")
    return value


def seconds_of(value: Any, unit: float) -> float:
    """Return a time in seconds; ``unit``: how many of its own make a second. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{json.dumps(value)[:40]} is not a time")
    return value / unit
