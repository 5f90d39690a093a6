"""The difference of two accounts: the steps that came, went or grew.

Steps of two accounts belong together if they have one cause, the same hosts and the same question, whatever the values in it:
the numbers and texts of a query, the segments in flight. An answer belongs to its question. How often each of them comes, and
how long, is compared; their order does not count, so that a question that is asked earlier is not one that came and one that
went. All differences together are that of the elapsed times, to the nanosecond.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slownet.waits.account import Account, Cause, Step
from slownet.waits.blocks import without_values


@dataclass(frozen=True)
class Kind:
    """The cause, hosts and question that steps have in common.

    Attributes
    ----------
    cause : Cause
    hosts : tuple of str
        Two hosts in the order of their names, or one.
    what : str
        The question, or the cause's detail, without values; or empty.
    trip : bool
        Whether messages cross the network.
    """

    cause: Cause
    hosts: tuple[str, ...]
    what: str
    trip: bool


@dataclass(frozen=True)
class Change:
    """The steps of a kind in each of two accounts: their number and their time.

    Attributes
    ----------
    kind : Kind
    steps : tuple of int
        Before and after; of those that cross the network, messages.
    ns : tuple of int
        Before and after.
    """

    kind: Kind
    steps: tuple[int, int]
    ns: tuple[int, int]

    @property
    def difference_ns(self) -> int:
        """The additional time; negative if it takes less."""
        return self.ns[1] - self.ns[0]

    @property
    def more(self) -> int:
        """The number of additional steps."""
        return self.steps[1] - self.steps[0]

    @property
    def grown_ns(self) -> int:
        """The part of the difference by which steps of both accounts take longer."""
        if not self.more:
            return self.difference_ns
        if not all(self.steps):
            return 0
        each = self.ns[1] / self.steps[1] - self.ns[0] / self.steps[0]
        return round(min(self.steps) * each)

    @property
    def counted_ns(self) -> int:
        """The time of the steps that came, less that of those that went."""
        return self.difference_ns - self.grown_ns


@dataclass(frozen=True)
class Difference:
    """Two accounts, and the changes from one to the other, the largest first; kinds that are the same are left out."""

    before: Account
    after: Account
    changes: tuple[Change, ...]

    @property
    def ns(self) -> int:
        """The additional time of the second one."""
        return self.after.elapsed_ns - self.before.elapsed_ns


def difference(before: Account, after: Account) -> Difference:
    """Compare two accounts."""
    counted = _counted(before.steps), _counted(after.steps)
    kinds = dict.fromkeys([*counted[0], *counted[1]])
    changes = []
    for kind in kinds:
        (one, first), (two, second) = (each.get(kind, (0, 0)) for each in counted)
        if one != two or first != second:
            changes.append(Change(kind, (one, two), (first, second)))
    return Difference(before, after, tuple(sorted(changes, key=lambda each: -abs(each.difference_ns))))


def _counted(steps: Iterable[Step]) -> dict[Kind, tuple[int, int]]:
    """Return the number and the time of the steps of each kind."""
    questions = _Questions()
    found: dict[Kind, tuple[int, int]] = {}
    for each in steps:
        kind = Kind(each.cause, tuple(sorted({each.source, each.target})), without_values(questions.what(each)), each.trip)
        many, ns = found.get(kind, (0, 0))
        found[kind] = many + 1, ns + each.ns
    return found


class _Questions:
    """The last question of each connection, and the end that opened it."""

    def __init__(self) -> None:
        self._asked: dict[frozenset[str], str] = {}
        self._openers: dict[frozenset[str], str] = {}

    def what(self, step: Step) -> str:
        """Return the distinction of a step from others of its cause: the question, which its answer has, too, or the detail."""
        if step.cause in (Cause.QUEUE, Cause.SERIALISATION, Cause.HANDSHAKE):
            if step.trip and step.detail == "SYN":
                self._openers[_ends(step)] = step.connection.partition(" > ")[0]
            return ""
        if step.cause is Cause.EXCHANGE:
            if step.asked and self._is_question(step):
                self._asked[_ends(step)] = step.asked
            return self._asked.get(_ends(step), step.asked)
        return step.detail.partition(",")[0] if step.cause is Cause.WINDOW else step.detail

    def _is_question(self, step: Step) -> bool:
        """Return whether the opener sends a message; where its SYN is not seen, the end that has the larger port is it."""
        source, _, target = step.connection.partition(" > ")
        if opener := self._openers.get(_ends(step)):
            return source == opener
        one, other = (int(port) if (port := end.rpartition(":")[2]).isdecimal() else 0 for end in (source, target))
        return one >= other


def _ends(step: Step) -> frozenset[str]:
    return frozenset(step.connection.split(" > "))
