"""A link's condition: what it does to packets now."""

from __future__ import annotations

from dataclasses import dataclass

from slownet.units import duration, show_duration


@dataclass(frozen=True)
class Condition:
    """One-way delays in seconds: `up` for what the link's first end sends, `down` for its second end."""

    up: float = 0.0
    down: float = 0.0

    @classmethod
    def parse(cls, *, delay: str | None = None, rtt: str | None = None) -> Condition:
        """From a text with a unit. `delay` is one-way, in each direction; `rtt` is what a round trip gains.

        Raises UnitError.
        """
        if delay is not None and rtt is not None:
            raise ValueError("a condition takes delay or rtt, not both")
        one_way = duration(delay) if delay is not None else duration(rtt) / 2 if rtt is not None else 0.0
        return cls(one_way, one_way)

    @property
    def rtt(self) -> float:
        """Seconds that a round trip over the link gains."""
        return self.up + self.down

    def __str__(self) -> str:
        return f"+{show_duration(self.rtt)} RTT" if self.rtt else "no condition"
