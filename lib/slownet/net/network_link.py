"""One link of a running network, whose condition can change while packets are in flight."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from slownet.lab.run.counters import Counters
from slownet.links.conditions import profiles as conditions
from slownet.links.conditions.link import Condition
from slownet.links.conditions.oneway import OneWay
from slownet.links.conditions.schedule import Schedule
from slownet.links.ip import IP, IPV4
from slownet.model.errors import ConditionError, NetworkError
from slownet.net import counting, neighbours, plan, verify
from slownet.net.interface_captures import Capture
from slownet.net.layout import interface_name
from slownet.net.log import Log, Setting
from slownet.net.play import Playing
from slownet.net.seeds import ASKED, Seeds
from slownet.net.shaper import TCEnd
from slownet.net.shaping import Shaping, merge_directions
from slownet.net.verify import Verification


class Link:
    """One link of a network, made by `Network.link`.

    `up` is always the direction away from the node that was named first: `net.link("client", "switch")` sends up what the
    client sends.

    Examples
    --------
    ::

        with net.link("client", "switch").set(rtt="10ms"):
            ...  # 10 ms here; afterwards what it was before
    """

    def __init__(
        self, ends: tuple[Any, Any], shaping: Shaping, log: Log, seeds: Seeds = ASKED, number: int = 0,
    ) -> None:  # fmt: skip
        """Wrap a link of Mininet's; `Network.link` does it.

        Parameters
        ----------
        ends : tuple of Intf
            Mininet's interfaces; the first one belongs to the node that was named first.
        shaping : Shaping
            The network's.
        log : Log
            The network's.
        seeds : Seeds
            How to shift a condition's seed.
        number : int
            Index of the link in the network, from 0.
        """
        self._ends = ends
        self._shaping = shaping
        self._log = log
        self._seeds = seeds
        self._number = number

    @property
    def name(self) -> str:
        """The names of its ends in the order they were given: "client-switch"."""
        return "-".join(end.node.name for end in self._ends)

    @property
    def condition(self) -> Condition:
        """The condition that the link has: that of the last `set`, or what another program has made of it with tc since.

        Raises
        ------
        ConditionError
            No condition can state it, such as ends that differ in more than a condition has for each direction, or queueing
            disciplines of another program that slownet does not know.
        """
        try:
            return merge_directions(*(self._shaping.now(end) for end in self._ends))
        except ConditionError as error:
            raise ConditionError(error.what, where=f"link {self.name}", fix=error.fix) from None

    @property
    def is_playing(self) -> bool:
        """True if a schedule is playing on it."""
        return self._cable in self._shaping.playing

    def counters(self) -> Counters:
        """Count what the link has carried and dropped since it was made, pings that verified it included.

        Returns
        -------
        Counters
            Subtract two of them for the traffic in between: `after - before`.

        Raises
        ------
        NetworkError
            The kernel's counters cannot be read.
        """
        counted = counting.counters([self._cable], self._shaping.gone)[self._cable]
        return counted if self._forward else counted.reversed

    def capture(
        self, path: Path | str = "", *, filter: str = "", snaplen: int | None = None,  # noqa: A002  # tcpdump's word
    ) -> Capture:  # fmt: skip
        """Capture packets at the first node's end of the link to a pcap file.

        Parameters
        ----------
        path : Path or str
            The file; "LINK.pcap" in the working directory if not given.
        filter : str
            In tcpdump's language, such as "tcp port 80".
        snaplen : int
            Bytes to keep of each packet; without it all of them.

        Returns
        -------
        Capture
            A context manager that captures while it is entered.

        Raises
        ------
        ExperimentError
            `snaplen` is below 1.
        ToolError
            When it is entered: tcpdump cannot capture.
        """
        end = self._ends[0]
        return Capture(end.node, interface_name(end), Path(path or f"{self.name}.pcap"), filter=filter, snaplen=snaplen)

    def set(self, condition: Condition | str | None = None, *, ping: bool | IP = True, **fields: Any) -> _Changed:
        """Replace the link's condition; used in a `with`, the previous condition returns afterwards.

        The change itself loses no packet. The kernel's settings are read back, and a ping across the link must take the
        configured time unless other packets delay it. The result is the last of `Network.settings`.

        Parameters
        ----------
        condition : Condition or str
            What to start from: a condition, or a name such as "LTE" (`slownet.links.conditions.profiles`), which replace all
            that the topology states. Without it what the topology states of the link, such as the bw of a TCLink: fields that
            are not named keep it, and `rate=None` takes it away. Fields of an earlier `set` are never kept.
        ping : bool or IP
            Whether to verify the condition with a ping: True over IPv4, `slownet.links.ip.IPV6` over what `Network.add_ipv6`
            gives.
        **fields : any
            Fields as for `Condition.parse`, on top of `condition`: `set(rtt="10ms")`, `set("LTE", loss="1%")`.

        Returns
        -------
        context manager
            Entering it gives this link.

        Raises
        ------
        UnitError, ConditionError
            As for `Condition.parse`.
        NetworkError
            A schedule is playing on the link, the kernel refuses the condition or sets another one, or the ping takes another
            time. The link then has its previous condition.
        """
        if self.is_playing:
            raise NetworkError(f"a schedule is playing on {self.name}", fix="set the link before or after, or add a step to it")
        if condition is None:
            condition = self._of_topology()
        wanted = self.seeded(self.wanted(condition, **fields))
        before = self.directions
        self._shaping.look_again(self._cable)
        changed = _Changed(self, before)
        try:
            if wanted.seed is not None:
                neighbours.introduce(self._ends, self._shaping.introduced)
            verification = self._verify(wanted, ping if isinstance(ping, IP) else IPV4) if ping else Verification()
            if not ping or wanted.chancy:
                self.apply(wanted)
        except BaseException:
            self.apply_directions(before)
            raise
        first, second = self._ends
        self._log.settings.append(Setting((first.node.name, second.node.name), wanted, verification))
        return changed

    def _of_topology(self) -> Condition | None:
        """Return what the topology states of the link, as seen from its first end."""
        try:
            found = self._shaping.of_topology(self._cable)
        except ConditionError as error:
            raise ConditionError(error.what, f"link {self.name}", "give set a whole condition: Condition.parse(...)") from None
        return found.reversed if found and not self._forward else found

    def own(self, condition: Condition) -> None:
        """Set what the topology configures for the link, which `set` keeps unless it is named.

        Parameters
        ----------
        condition : Condition
        """
        self._shaping.own[self._cable] = condition if self._forward else condition.reversed

    def play(self, schedule: Schedule | Mapping[str, object]) -> Playing:
        """Change the link over time while a `with` lasts; afterwards its previous condition returns.

        Steps at 0 s are applied before the body begins. Every step is read back; none is verified with a ping.

        Parameters
        ----------
        schedule : Schedule or mapping
            A schedule, or steps for `Schedule.parse`, such as `{"5s": {"rtt": "40ms"}, "9s": "cut", "10s": "restore"}`.

        Returns
        -------
        Playing
            A context manager.

        Raises
        ------
        UnitError, ConditionError
            The schedule is wrong, at once or when it is entered.
        NetworkError
            When it is entered: another schedule is playing on the link. When it is left: a step failed.
        """
        chosen = schedule if isinstance(schedule, Schedule) else Schedule.parse(schedule)
        return Playing(self, self._ends, chosen, self._log.played, self._shaping, self.seeded)

    def seeded(self, condition: Condition) -> Condition:
        """Return the condition with the seed that the kernel gets for it.

        Parameters
        ----------
        condition : Condition

        Returns
        -------
        Condition
        """
        return self._seeds.of(condition, self._number)

    @staticmethod
    def wanted(condition: Condition | str | None = None, **fields: Any) -> Condition:
        """Return the condition that `set` would apply.

        Parameters
        ----------
        condition : Condition or str
            As for `set`.
        **fields : any
            As for `set`.

        Returns
        -------
        Condition

        Raises
        ------
        UnitError, ConditionError
        """
        base = conditions.find(condition) if isinstance(condition, str) else condition
        return (base or Condition()).but(**fields)

    def _verify(self, wanted: Condition, ip: IP) -> Verification:
        """Ping the link without its random parts, so that a seed's pattern begins with the packets that follow."""
        self.apply(wanted.steady)
        verification = verify.check(self._ends, self._shaping, ip)
        if verification.ping:
            self._log.verified.append(verification.ping)
        return verification

    def apply(self, condition: Condition, since: Condition | None = None) -> None:
        """Apply a condition unchanged to both ends and read it back, without a ping.

        Parameters
        ----------
        condition : Condition
        since : Condition
            The link's present condition; if given, a direction that does not change is left alone.

        Raises
        ------
        NetworkError
        """
        for end, way in zip(self._ends, ("up", "down"), strict=True):
            stays = since is not None and plan.layers(since, way) == plan.layers(condition, way)
            stays = stays and not isinstance(self._shaping.last(end), TCEnd)
            self._shaping.set(end, OneWay(condition, way), queues_stay=stays)
        self._shaping.conditions[self._cable] = condition if self._forward else condition.reversed

    @property
    def directions(self) -> tuple[OneWay, OneWay]:
        """The condition of each end, for `apply_directions`."""
        first, second = (self._shaping.present(end) for end in self._ends)
        return first, second

    def apply_directions(self, each: tuple[OneWay, OneWay]) -> None:
        """Give each end its own condition and read it back.

        Parameters
        ----------
        each : tuple of OneWay
            As `directions` returns it.

        Raises
        ------
        NetworkError
        """
        self._shaping.look_again(self._cable)
        for end, one in zip(self._ends, each, strict=True):
            self._shaping.set(end, one)
        with suppress(ConditionError):  # the ends may differ in more than one condition can state
            self._shaping.conditions[self._cable] = self._shaping.of(self._cable)

    @property
    def _cable(self) -> Any:
        return self._ends[0].link

    @property
    def _forward(self) -> bool:
        return bool(self._cable.intf1 is self._ends[0])


class _Changed:
    """A change of a link's condition that is undone at the end of a `with`."""

    def __init__(self, link: Link, before: tuple[OneWay, OneWay]) -> None:
        self._link = link
        self._before = before

    def __enter__(self) -> Link:
        return self._link

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._link.apply_directions(self._before)
