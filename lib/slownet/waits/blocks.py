"""Steps that are alike, put together: round trips of two steps, and many round trips that follow each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slownet.waits.account import Account, Cause, Step

_VALUES = re.compile(r"'[^']*'|\b\d+\b")
_QUESTION = re.compile(r"(?i)(select|insert|update|delete|get|post|put|head|mget|set|hget|incr|options)\b")


@dataclass(frozen=True)
class Block:
    """Consecutive steps of one cause between the same hosts.

    Attributes
    ----------
    cause : Cause
    detail : str
        The detail of all; empty if they differ.
    source, target : str
        The host that began, and the other one; the same for steps on one host.
    steps : tuple of Step
        In order.
    round_trips : float
        Half the number of messages that crossed the network.
    """

    cause: Cause
    detail: str
    source: str
    target: str
    steps: tuple[Step, ...]

    @property
    def ns(self) -> int:
        """The time of its steps."""
        return sum(each.ns for each in self.steps)

    @property
    def round_trips(self) -> float:
        """Half the number of messages that crossed the network."""
        return sum(each.trip for each in self.steps) / 2

    @property
    def begin_ns(self) -> int:
        """When its first step begins."""
        return self.steps[0].begin_ns


def blocks(account: Account, least_ns: int = 0) -> list[Block]:
    """Return an account's steps as blocks, in order.

    least_ns: shorter steps are left out, so that what hosts compute between two questions does not part them. They are counted
    by `rest`.
    """
    found: list[Block] = []
    open_: list[Step] = []
    for each in account.steps:
        if each.ns <= least_ns:
            continue
        if open_ and not _alike(open_[-1], each):
            found.append(_block(open_))
            open_ = []
        open_.append(each)
    return [*found, _block(open_)] if open_ else found


def rest(account: Account, least_ns: int) -> int:
    """Return the time of all steps that `blocks` leaves out."""
    return sum(each.ns for each in account.steps if each.ns <= least_ns)


def _alike(one: Step, other: Step) -> bool:
    """Return whether two steps have one cause and the same hosts, in either direction."""
    return one.cause == other.cause and {one.source, one.target} == {other.source, other.target} and one.trip == other.trip


def _block(steps: Sequence[Step]) -> Block:
    details = {each.detail for each in steps if each.detail}
    if len(details) > 1 and not steps[0].trip:  # of a paced transfer, each has its own rate
        details = {each.partition(",")[0] for each in details if ": " not in each}
    detail = details.pop() if len(details) == 1 else ""
    return Block(steps[0].cause, detail, steps[0].source, steps[0].target, tuple(steps))


def alike(account: Account, least: int = 3) -> list[tuple[str, int]]:
    """Return questions that are asked several times with other values, as N + 1 queries are, and how often.

    least: how often at least.
    """
    asked = Counter(without_values(each.asked) for each in account.of(Cause.EXCHANGE) if _QUESTION.match(each.asked))
    return [(text, count) for text, count in asked.most_common() if count >= least]


def without_values(text: str) -> str:
    """Return a question with a question mark for each number and each text in quotes."""
    return _VALUES.sub("?", text)


@dataclass(frozen=True)
class Share:
    """The part of the time between two hosts, or on one: messages that crossed, and ns by cause."""

    hosts: tuple[str, str]
    trips: int
    by_cause: tuple[tuple[Cause, int, int], ...]
    """Cause, messages, ns; the longest first."""

    @property
    def ns(self) -> int:
        """The time of all causes."""
        return sum(ns for _, _, ns in self.by_cause)

    @property
    def round_trips(self) -> float:
        """Half the number of messages: the ms that a round trip shorter by 1 ms saves."""
        return self.trips / 2


def shares(steps: Iterable[Step]) -> list[Share]:
    """Return how the time divides among pairs of hosts and hosts, the longest first."""
    found: dict[tuple[str, str], dict[Cause, list[int]]] = {}
    for each in steps:
        one, other = sorted((each.source, each.target))
        counted = found.setdefault((one, other), {}).setdefault(each.cause, [0, 0])
        counted[0] += each.trip
        counted[1] += each.ns
    made = [
        Share(
            pair,
            sum(trips for trips, _ in causes.values()),
            tuple(sorted(((cause, trips, ns) for cause, (trips, ns) in causes.items()), key=lambda each: -each[2])),
        )
        for pair, causes in found.items()
    ]
    return sorted(made, key=lambda each: -each.ns)
