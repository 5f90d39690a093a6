"""What was done to the links of a network, and how it was verified."""

from __future__ import annotations

from dataclasses import dataclass, field

from slownet.conditions.link import Condition
from slownet.net.play import Played
from slownet.net.verify import Verification
from slownet.tools.ping import Ping


@dataclass(frozen=True)
class Setting:
    """A link that was set, by the names of its ends, and how that was verified."""

    ends: tuple[str, str]
    condition: Condition
    verification: Verification

    @property
    def link(self) -> str:
        """Its ends: "client-switch"."""
        return "-".join(self.ends)

    @property
    def ping(self) -> Ping | None:
        """The ping that verified it, if one did."""
        return self.verification.ping

    def __str__(self) -> str:
        return f"{self.link}: {self.condition} ({self.verification})"


@dataclass
class Log:
    """All of it in order, the newest last; whoever reads it clears it."""

    verified: list[Ping] = field(default_factory=list)
    """The ping after each change of a link that had one."""
    settings: list[Setting] = field(default_factory=list)
    """Each change of a link by `set`."""
    played: list[Played] = field(default_factory=list)
    """What schedules did, and when."""
