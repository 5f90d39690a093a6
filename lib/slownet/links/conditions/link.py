"""A link's condition: what the link does to packets now."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slownet.links.conditions import field_row
from slownet.links.conditions.field_row import Part, Row
from slownet.links.conditions.field_table import Fields
from slownet.links.conditions.impairment import Chance, Loss
from slownet.model.errors import ConditionError

MTU = 1500
ETHERNET = 14  # bytes of a frame header, which the kernel's queueing counts too


@dataclass(frozen=True)
class Condition(Fields):
    """The condition of a link: `up` holds for packets from its first end, `down` for those from its second.

    Build it with `parse`, which reads units and refuses contradictions and what the kernel cannot do. Attributes without a
    direction hold for each direction.

    Attributes
    ----------
    up, down : float
        One-way delays in seconds.
    jitter_up, jitter_down : float
        Seconds: half the width of a uniform distribution, the unit of a measured table, the standard deviation of any other.
    correlation : float
        How much of a jitter draw carries over to the next one, 0 to 1.
    distribution : str or Table
        Of the jitter: "uniform", "normal", "pareto", "paretonormal", or a measured `slownet.links.conditions.jitter.Table`.
    loss, loss_up, loss_down : Chance, GilbertElliott, Markov or None
        Loss in both directions, or in one (`slownet.links.conditions.impairment`).
    duplicate, reorder, corrupt : Chance or None
        The probability that a packet is duplicated, overtakes the delayed ones, or is damaged.
    gap : int
        Only every gap-th packet may overtake; 0 leaves it to netem, which then considers every packet.
    slot : Slot or None
        Intervals at whose end waiting packets leave together.
    rate_up, rate_down : float or None
        bit/s of whole Ethernet frames; None is as fast as the machine.
    overhead : int or None
        Bytes that each frame has in addition on the line.
    burst : int or None
        Size of the token bucket in bytes.
    queue : Queue or None
        Size of the queue in front of the bottleneck; None is one bandwidth-delay product.
    aqm : str or None
        Active queue management: "fq_codel", "cake", "pie", "red", or "red" with its two thresholds.
    ecn : bool or None
        Whether the AQM marks packets instead of dropping them; None is the kernel's default.
    mtu : int or None
        Bytes; None is the interface's default.
    offloads : bool
        Whether segmentation offloads are on.
    seed : int or None
        Seed of netem's random numbers: the same seed repeats the same pattern of losses.
    """

    def __post_init__(self) -> None:
        """Refuse what the kernel cannot do, or would silently do differently."""
        for row in ROWS:
            for applies, what, fix in row.refuse(self):
                if applies:
                    raise ConditionError(what, fix=fix)

    @classmethod
    def parse(cls, **fields: Any) -> Condition:
        """Read a condition from texts with units.

        A field that is None counts as not given. Fields without `_up` or `_down` hold for each direction.

        Parameters
        ----------
        delay, delay_up, delay_down : str
            One-way delay, such as "5ms": as `delay` it adds 10 ms to a round trip.
        rtt : str
            What a round trip gains, half of it in each direction; instead of `delay`.
        jitter, jitter_up, jitter_down : str
            Such as "2ms"; never more than the delay.
        distribution : str or Table
            Of the jitter: "uniform", "normal", "pareto", "paretonormal" or a measured `slownet.links.conditions.jitter.Table`.
        correlation : str
            Of the jitter, such as "25%".
        loss, loss_up, loss_down : str, Chance, GilbertElliott or Markov
            "1%", "1% 25%" (with correlation), "2% in bursts of 8", or netem's "gemodel 1% 10%" or "state 1% 30%". "100%"
            cuts the link: packets in flight are lost, too.
        duplicate, reorder, corrupt : str or Chance
            "1%", or "1% 25%" with correlation.
        gap : int
            Only every gap-th packet may overtake; needs `reorder`.
        slot : str or Slot
            Packets leave together every "5ms", every "2ms 10ms" (random between the two), or at most "5ms 20 packets 30kB".
        rate, rate_up, rate_down : str
            Such as "2Mbit", of whole Ethernet frames.
        overhead, burst : str
            Bytes that each frame has in addition on the line, such as "38B"; size of the token bucket, such as "3kB".
        queue : str or Queue
            "100 packets", "64kB", "50ms", "bdp" or "0.5 bdp".
        aqm : str
            "fq_codel", "cake", "pie", "red", or "red 30kB 35kB" with its thresholds.
        ecn, offloads : bool or str
            True, False, "on" or "off".
        mtu, seed : int
            As the attributes of these names.

        Returns
        -------
        Condition

        Raises
        ------
        UnitError
            A text has no unit, or an unknown one.
        ConditionError
            A field is unknown, fields contradict each other, or the kernel cannot do it.

        Examples
        --------
        >>> str(Condition.parse(rtt="40ms", loss="1%", rate="2Mbit"))
        '+40 ms RTT, loses 1 %, 2 Mbit'
        """
        return cls().but(**fields)

    def but(self, **fields: Any) -> Condition:
        """Return this condition with some fields changed.

        Parameters
        ----------
        **fields : any
            As in `parse`; None resets a field to its default.

        Returns
        -------
        Condition

        Raises
        ------
        UnitError, ConditionError
            As for `parse`.
        """
        return dataclasses.replace(self, **read(fields))

    @property
    def rtt(self) -> float:
        """The time that the link adds to a round trip, in seconds."""
        return self.up + self.down

    @property
    def jitter(self) -> float:
        """The larger of the two jitters, in seconds."""
        return max(self.jitter_up, self.jitter_down)

    @property
    def rates(self) -> list[float]:
        """The configured rates of the two directions, in bit/s."""
        return [each for each in (self.rate_up, self.rate_down) if each is not None]

    @property
    def cut(self) -> bool:
        """True if every packet is lost in both directions."""
        return self.loss == Chance(1.0)

    @property
    def frame(self) -> int:
        """Size of a full frame in bytes, as the kernel's queueing counts it."""
        return (self.mtu or MTU) + ETHERNET

    def loses(self, way: str) -> Loss | None:
        """Return the loss in one direction.

        Parameters
        ----------
        way : str
            "up" or "down".

        Returns
        -------
        Chance, GilbertElliott, Markov or None
        """
        return self.loss or (self.loss_up if way == "up" else self.loss_down)

    @property
    def lossy(self) -> bool:
        """True if packets get lost in either direction."""
        return bool(self.loses("up") or self.loses("down"))

    @property
    def chancy(self) -> bool:
        """True if the link may treat two packets differently."""
        return any(getattr(self, name) != row.default for name, row in ATTRIBUTES.items() if row.part is Part.CHANCE)

    @property
    def random(self) -> bool:
        """True if the kernel draws random numbers for packets or flows: each AQM does, a loss of 100 % does not."""
        return not self.cut and any(row.draws(self) for row in ROWS)

    @property
    def seedless(self) -> bool:
        """True if some draws ignore the seed: netem starts correlated ones from a random number of its own."""
        return any(row.seedless(self) for row in ROWS)

    @property
    def steady(self) -> Condition:
        """The condition without its random parts: what a ping can verify."""
        if not self.chancy:
            return self
        taken = {name: row.default for name, row in ATTRIBUTES.items() if row.part is not Part.STEADY}
        return dataclasses.replace(self, **taken)

    @property
    def reversed(self) -> Condition:
        """The same link as seen from its other end."""
        return dataclasses.replace(self, **{name: getattr(self, other) for name, other in OPPOSITE.items()})

    def __str__(self) -> str:
        return ", ".join(word for row in ROWS for word in row.text(self)) or "no condition"


def read(fields: Mapping[str, object]) -> field_row.Fields:
    """Return a condition's attributes from the fields of `Condition.parse`; None gives a field's default.

    fields: as for `Condition.parse`.
    returns: by the names of the attributes.
    Raises UnitError, ConditionError: as for `Condition.parse`.
    """
    return field_row.fields(WORDS, fields)


_FIELDS = [(field.name, field.metadata["way"], field.metadata["row"]) for field in dataclasses.fields(Condition)]
ATTRIBUTES: Mapping[str, Row] = {name: row for name, _, row in _FIELDS}
"""The row of each attribute of a condition."""
ROWS = tuple(dict.fromkeys(ATTRIBUTES.values()))
"""All rows, in the order of their options for tc."""
WORDS: Mapping[str, Row] = {word.name: row for row in ROWS for word in row.stated}
"""The row of each field that `parse` takes."""
WAYS: Mapping[str, str] = {name: way for name, way, _ in _FIELDS if way}
"""The direction, "up" or "down", of each attribute that has one."""
OPPOSITE: Mapping[str, str] = {
    name: other for name, way, row in _FIELDS for other, its, whose in _FIELDS if row is whose and way and its and way != its
}
"""Each of these attributes, and its counterpart for the other direction."""
