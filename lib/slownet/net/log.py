"""The log of changes to the links of a network, and of how they were verified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from slownet.links.conditions.link import Condition
from slownet.net.icmp_echo import Echoes
from slownet.net.play import Played
from slownet.net.verify import Verification


@dataclass(frozen=True)
class Setting:
    """One change of a link by `Link.set`.

    ends: the nodes at its ends; `condition.up` is what the first one sends.
    condition: with the seed that the kernel got.
    verification: the ping that verified it, or why it is missing.
    """

    ends: tuple[str, str]
    condition: Condition
    verification: Verification

    @property
    def link(self) -> str:
        """The names of its ends: "client-switch"."""
        return "-".join(self.ends)

    @property
    def ping(self) -> Echoes | None:
        """The ping that verified it, if there was one."""
        return self.verification.ping

    @property
    def late(self) -> float | None:
        """The share of the verifying ping by which the link is later than configured; None without a delay or a ping."""
        rtt = self.ping.rtt_ms if self.ping else None
        if rtt is None or self.condition.rtt <= 0:
            return None
        return max(0.0, rtt.avg - 1000 * self.condition.rtt) / rtt.avg

    def __str__(self) -> str:
        return f"{self.link}: {self.condition} ({self.verification})"


@dataclass
class Log:
    """All changes in order, the newest last; its readers clear it."""

    verified: list[Echoes] = field(default_factory=list)
    """The pings that verified a link."""
    settings: list[Setting] = field(default_factory=list)
    """The changes by `Link.set`."""
    played: list[Played] = field(default_factory=list)
    """The schedules that were played, with the times of their steps."""


def latest(settings: Iterable[Setting]) -> float | None:
    """Return the largest share by which a link is later than configured, each as it was set last.

    None if none has a delay, or if one that has was not verified by a ping.
    """
    last = {frozenset(each.ends): each for each in settings}.values()
    late = [each.late for each in last if each.condition.rtt > 0]
    return max((each for each in late if each is not None), default=None) if None not in late else None


def longest(settings: Iterable[Setting]) -> float | None:
    """Return the longest of the links' round trips in ms, each as its last change was verified; None if none was by a ping.

    Where several links are set, one may have a delay and another one loss, whichever was set last.
    """
    last = {frozenset(each.ends): each.ping for each in settings}
    return max((ping.rtt_ms.min for ping in last.values() if ping and ping.rtt_ms), default=None)
