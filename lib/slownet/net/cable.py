"""One cable of a running network: its condition, changed while packets travel."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from slownet import conditions
from slownet.errors import ConditionError
from slownet.link import Condition
from slownet.net import neighbours, told, verify
from slownet.net.told import Told
from slownet.tools.ping import Ping


class Link:
    """One cable of a network; `set` changes its condition, as a context manager for a while."""

    def __init__(self, ends: tuple[Any, Any], verified: list[Ping]) -> None:
        self._ends = ends  # Mininet interfaces; the first one is of the node that was named first
        self._verified = verified

    @property
    def name(self) -> str:
        return "-".join(end.node.name for end in self._ends)

    @property
    def condition(self) -> Condition:
        """What the link was told last, and the kernel confirmed. `up` is what the node sends that was named first.

        Raises ConditionError if TCLink's parameters made its ends differ in more than delay and rate.
        """
        try:
            return told.together(*self.told)
        except ConditionError as error:
            raise ConditionError(error.what, where=f"link {self.name}", fix=error.fix) from None

    def set(self, condition: Condition | str | None = None, *, ping: bool = True, **fields: Any) -> _Changed:
        """Gives the link another condition. In a `with`, the one that it had before comes back afterwards.

        condition: a Condition, or a name such as "LTE" (see `slownet.conditions`); none to start from a plain link.
        fields: as in `Condition.parse`, on top of it: `set(rtt="10ms")`, `set("LTE", loss="1%")`. The whole condition is
        stated each time: what is not named is none. No packet is lost by the change. What the kernel made of it is
        read back, and a ping across the link must take what it should, but for one that waited behind other packets;
        ping=False leaves that out. Raises UnitError, ConditionError, NetworkError.
        """
        wanted = self.wanted(condition, **fields)
        before = self.told
        changed = _Changed(self, before)
        try:
            if wanted.seed is not None:
                neighbours.introduce(self._ends)
            if ping:
                self._verify(wanted)
            if not ping or wanted.chancy:
                self._apply(wanted)
        except BaseException:
            self.tell(before)
            raise
        return changed

    @staticmethod
    def wanted(condition: Condition | str | None = None, **fields: Any) -> Condition:
        """The condition that `set` reads from the same arguments. Raises UnitError, ConditionError."""
        base = conditions.find(condition) if isinstance(condition, str) else condition
        return (base or Condition()).but(**fields)

    def _verify(self, wanted: Condition) -> None:
        """Pings the link without what chance decides; so a seed's pattern begins with the packets that follow."""
        self._apply(wanted.steady)
        record = verify.check(self._ends)
        if record:
            self._verified.append(record)

    def _apply(self, condition: Condition) -> None:
        self.tell(((condition, "up"), (condition, "down")))

    @property
    def told(self) -> tuple[Told, Told]:
        """What each end was told last; `tell` takes it back."""
        first, second = self._ends
        return told.last(first), told.last(second)

    def tell(self, each: tuple[Told, Told]) -> None:
        """Gives each end a condition of its own, and reads it back. Raises NetworkError."""
        for end, one in zip(self._ends, each, strict=True):
            told.tell(end, one)

    @property
    def _cable(self) -> Any:
        return self._ends[0].link


class _Changed:
    """A change of a link's condition that a `with` takes back."""

    def __init__(self, link: Link, before: tuple[Told, Told]) -> None:
        self._link = link
        self._before = before

    def __enter__(self) -> Link:
        return self._link

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._link.tell(self._before)
