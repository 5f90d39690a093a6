"""One cable of a running network: its condition, changed while packets travel."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from slownet.conditions import profiles as conditions
from slownet.conditions.link import Condition
from slownet.conditions.oneway import OneWay
from slownet.conditions.schedule import Schedule
from slownet.counters import Counters
from slownet.errors import ConditionError, NetworkError
from slownet.net import counting, neighbours, plan, verify
from slownet.net.capture import Capture
from slownet.net.log import Log, Setting
from slownet.net.play import Playing
from slownet.net.seeds import ASKED, Seeds
from slownet.net.shaping import Shaping, together
from slownet.net.verify import Verification


class Link:
    """One cable of a network; `set` changes its condition, as a context manager for a while."""

    def __init__(
        self, ends: tuple[Any, Any], shaping: Shaping, log: Log, seeds: Seeds = ASKED, number: int = 0,
    ) -> None:  # fmt: skip
        """ends: Mininet's interfaces; the first one is of the node that was named first. shaping, log: the network's.

        seeds: what becomes of a condition's seed; number: which one of the network's links it is, from 0.
        """
        self._ends = ends
        self._shaping = shaping
        self._log = log
        self._seeds = seeds
        self._number = number

    @property
    def name(self) -> str:
        """Its ends, the one named first before the other: "client-switch"."""
        return "-".join(end.node.name for end in self._ends)

    @property
    def condition(self) -> Condition:
        """What the link was told last, and the kernel confirmed. `up` is what the node sends that was named first.

        Raises ConditionError if TCLink's parameters made its ends differ in more than delay and rate.
        """
        try:
            return together(*self.told)
        except ConditionError as error:
            raise ConditionError(error.what, where=f"link {self.name}", fix=error.fix) from None

    def counters(self) -> Counters:
        """What the link has carried and dropped since it was made; `up` is what the node sent that was named first.

        Of two of them, the difference: `after - before`. Pings that verified a condition count like all else.
        """
        counted = counting.counters([self._cable], self._shaping.gone)[self._cable]
        return counted if self._forward else counted.reversed

    def capture(
        self, path: Path | str = "", *, filter: str = "", snaplen: int | None = None,  # noqa: A002  # tcpdump's word
    ) -> Capture:  # fmt: skip
        """What crosses the link, to a pcap file, as the node sees it that was named first; see `Network.capture`."""
        end = self._ends[0]
        return Capture(end.node, end.name, Path(path or f"{self.name}.pcap"), filter=filter, snaplen=snaplen)

    def set(self, condition: Condition | str | None = None, *, ping: bool = True, **fields: Any) -> _Changed:
        """Gives the link another condition. In a `with`, the one that it had before comes back afterwards.

        condition: a Condition, or a name such as "LTE" (see `slownet.conditions.profiles`); none to start from a plain link.
        fields: as in `Condition.parse`, on top of it: `set(rtt="10ms")`, `set("LTE", loss="1%")`. The whole condition is
        stated each time: what is not named is none. No packet is lost by the change. What the kernel made of it is
        read back, and a ping across the link must take what it should, but for one that waited behind other packets;
        ping=False leaves that out. What came of it is the last of `Network.settings`. Raises UnitError, ConditionError,
        NetworkError.
        """
        if self._cable in self._shaping.playing:
            raise NetworkError(f"a schedule plays on {self.name}", fix="set the link before or after it, or add a step to it")
        wanted = self.seeded(self.wanted(condition, **fields))
        before = self.told
        changed = _Changed(self, before)
        try:
            if wanted.seed is not None:
                neighbours.introduce(self._ends, self._shaping.introduced)
            verification = self._verify(wanted) if ping else Verification()
            if not ping or wanted.chancy:
                self.apply(wanted)
        except BaseException:
            self.tell(before)
            raise
        first, second = self._ends
        self._log.settings.append(Setting((first.node.name, second.node.name), wanted, verification))
        return changed

    def play(self, schedule: Schedule | Mapping[str, Any]) -> Playing:
        """Changes the link over time, while a `with` lasts; afterwards it does again what it did before.

        schedule: a Schedule, or its steps such as `{"5s": {"rtt": "40ms"}, "9s": "cut", "10s": "restore"}`. What is at 0 s
        is there when the body begins; each step is read back, and none is pinged. An error of a step is raised at the end.
        Raises UnitError, ConditionError, NetworkError.
        """
        chosen = schedule if isinstance(schedule, Schedule) else Schedule.parse(schedule)
        return Playing(self, self._ends, chosen, self._log.played, self._shaping, self.seeded)

    def seeded(self, condition: Condition) -> Condition:
        """The condition with the seed that the link is told for it."""
        return self._seeds.of(condition, self._number)

    @staticmethod
    def wanted(condition: Condition | str | None = None, **fields: Any) -> Condition:
        """The condition that `set` reads from the same arguments. Raises UnitError, ConditionError."""
        base = conditions.find(condition) if isinstance(condition, str) else condition
        return (base or Condition()).but(**fields)

    def _verify(self, wanted: Condition) -> Verification:
        """Pings the link without what chance decides; so a seed's pattern begins with the packets that follow."""
        self.apply(wanted.steady)
        verification = verify.check(self._ends, self._shaping)
        if verification.ping:
            self._log.verified.append(verification.ping)
        return verification

    def apply(self, condition: Condition, since: Condition | None = None) -> None:
        """Gives both ends a condition as it is, and reads it back, without a ping. Raises NetworkError.

        since: what the link does now, if the direction in which nothing changes shall not be told anything.
        """
        for end, way in zip(self._ends, ("up", "down"), strict=True):
            stays = since is not None and plan.layers(since, way) == plan.layers(condition, way)
            self._shaping.tell(end, OneWay(condition, way), queues_stay=stays)
        self._shaping.conditions[self._cable] = condition if self._forward else condition.reversed

    @property
    def told(self) -> tuple[OneWay, OneWay]:
        """What each end was told last; `tell` takes it back."""
        first, second = self._ends
        return self._shaping.last(first), self._shaping.last(second)

    def tell(self, each: tuple[OneWay, OneWay]) -> None:
        """Gives each end a condition of its own, and reads it back. Raises NetworkError."""
        for end, one in zip(self._ends, each, strict=True):
            self._shaping.tell(end, one)
        with suppress(ConditionError):  # what its ends do may be more than one condition can say
            self._shaping.conditions[self._cable] = self._shaping.of(self._cable)

    @property
    def _cable(self) -> Any:
        return self._ends[0].link

    @property
    def _forward(self) -> bool:
        return bool(self._cable.intf1 is self._ends[0])


class _Changed:
    """A change of a link's condition that a `with` takes back."""

    def __init__(self, link: Link, before: tuple[OneWay, OneWay]) -> None:
        self._link = link
        self._before = before

    def __enter__(self) -> Link:
        return self._link

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._link.tell(self._before)
