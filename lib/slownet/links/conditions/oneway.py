"""One direction of a link's condition: what one end of a cable sends."""

from __future__ import annotations

from dataclasses import dataclass

from slownet.links.conditions.field_row import Added
from slownet.links.conditions.impairment import Loss
from slownet.links.conditions.jitter import ENDS
from slownet.links.conditions.link import Condition
from slownet.links.conditions.queueing import Queue, Sizes


@dataclass(frozen=True)
class OneWay:
    """A condition and the direction, "up" or "down", that an end of a cable sends: the argument of a row's functions."""

    condition: Condition
    way: str = "up"

    @property
    def delay(self) -> float:
        """The delay in seconds."""
        return self.condition.up if self.way == "up" else self.condition.down

    @property
    def jitter(self) -> float:
        """The jitter in seconds."""
        return self.condition.jitter_up if self.way == "up" else self.condition.jitter_down

    @property
    def spread(self) -> float:
        """The largest deviation from the configured delay, in seconds."""
        return self.jitter * (1 if self.condition.distribution == "uniform" else ENDS)

    @property
    def rate(self) -> float | None:
        """The rate in bit/s."""
        return self.condition.rate_up if self.way == "up" else self.condition.rate_down

    @property
    def limited(self) -> bool:
        """True if there is a rate limit."""
        return self.rate is not None

    @property
    def loss(self) -> Loss | None:
        """The loss in this direction."""
        return self.condition.loses(self.way)

    @property
    def sizes(self) -> Sizes:
        """The size of the queue in front of the bottleneck; one bandwidth-delay product by default."""
        one = self.condition
        return Sizes(one.queue or Queue(1, "bdp"), self.rate or 0.0, one.rtt, one.frame)

    @property
    def manager(self) -> str:
        """The queueing discipline in front of a token bucket: the AQM, or a FIFO that counts in the queue's unit."""
        if self.condition.aqm:
            return self.condition.aqm.split()[0]
        return "pfifo" if self.sizes.queue.unit == "packets" else "bfifo"

    @property
    def tokens(self) -> int:
        """The size of a token bucket in bytes."""
        return self.sizes.tokens(self.condition.burst)

    def on_the_wire(self, bits: float) -> Added:
        """Return the time that bits take at the rate. A token bucket lets a packet on an idle link pass at once."""
        seconds = bits / self.rate if self.rate else 0.0
        paced = self.condition.aqm is None and self.condition.burst is None
        return Added(high=seconds, surely=seconds if paced else 0.0)

    @property
    def sent(self) -> Condition:
        """The condition as seen from this end: `up` is what it sends."""
        return self.condition if self.way == "up" else self.condition.reversed
