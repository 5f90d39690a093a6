"""Round trips from times at several delays, and whether they are what an entry or the caller expects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.costs.entry import Entry, Operation
from slownet.model.errors import ExperimentError
from slownet.model.options import Option

FORM = re.compile(r"(?P<entry>.+\.toml|[^/=]+)/(?P<operation>[^/=]+)=(?P<trips>[0-9]{1,6}(?:\.[0-9]{1,3})?)")


@dataclass(frozen=True)
class Expectation:
    """The most round trips that an operation may cost.

    entry, operation: its entry (a name, or a file) and its name.
    trips: how many.
    """

    entry: str
    operation: str
    trips: float

    @property
    def name(self) -> str:
        """The entry's name: of a file without its folder and ending."""
        return self.entry.rpartition("/")[2].removesuffix(".toml")

    def require(self, entries: Sequence[Entry]) -> None:
        """Raise ExperimentError if the entry is one of these and has no such operation."""
        for each in entries:
            if each.name == self.name:
                each.operation(self.operation)

    def judge(self, rows: Sequence[Mapping[str, Any]]) -> tuple[bool, str]:
        """Return whether the operation costs no more, and a line about it. Raises ExperimentError if no row is of it."""
        found = next((each for each in rows if each["id"] == f"{self.name}/{self.operation}"), None)
        if found is None:
            raise ExperimentError(
                f"{self.entry} has no operation '{self.operation}'", Option("expect"), "`slownet costs` lists them"
            )
        trips, name = found["round_trips"], " ".join(filter(None, [found["id"], found["version"]]))
        if trips is None:
            return False, f"{name}: not measured"
        good = trips <= self.trips + WITHIN
        return good, f"{name}: {trips:g} round trips, {'at most' if good else 'more than the'} {self.trips:g} expected"


def read(text: str) -> Expectation:
    """Return an expectation. Raises ExperimentError."""
    found = FORM.fullmatch(text)
    if not found:
        raise ExperimentError(f"'{text}' is not ENTRY/OPERATION=N", Option("expect"), "write for example redis-py/connect=6")
    return Expectation(found["entry"], found["operation"], float(found["trips"]))


PAIRS = ((100, 310), (170, 400))
"""Round trips of the link in ms. Each pair gives k by itself, from times that the other has no part in, and a program that
waits in steps fits at most one of them: the same k twice means that it repeats, and that time follows the delay in a line. All
are above the least delayed acknowledgement, 40 ms."""
RTTS = sorted({rtt for pair in PAIRS for rtt in pair})
WITHIN = 0.05
"""Of a round trip: a tick of the kernel, 4 ms, is 0.02 of the difference of a pair; programs round to a millisecond."""
STEP = 10_000
"""Above all round trips in ms: an event's index is that of its item times this, plus the round trip, 0 for the first."""

CAPTURED = 1
"""In the place of a round trip: the time with all packets captured."""

AS_EXPECTED, DIFFERS, NOT_WHOLE, VARIES = "as expected", "differs", "not whole", "varies"


@dataclass(frozen=True)
class Cost:
    """The round trips of an operation.

    trips: k: the mean of the pairs.
    spread: the difference between the pairs.
    expected: the entry's number.
    """

    trips: float
    spread: float
    expected: float

    @property
    def verdict(self) -> str:
        """One of ``as expected``, ``differs``, ``not whole``, ``varies``."""
        if self.spread > WITHIN:
            return VARIES
        if abs(self.trips - self.expected) <= WITHIN:
            return AS_EXPECTED
        return DIFFERS if abs(self.trips - round(self.trips)) <= WITHIN else NOT_WHOLE

    @property
    def sentence(self) -> str:
        """Return what was found, for the end of a line."""
        match self.verdict:
            case "varies":
                low, high = self.trips - self.spread / 2, self.trips + self.spread / 2
                return f"{low:.2f} to {high:.2f}: not the same twice, so it polls, waits for a timer, or draws random numbers"
            case "not whole":
                return f"{self.trips:.2f} is not a whole number: a timer, or an acknowledgement that is late, is a part of it"
            case "differs":
                return f"{self.trips:.2f}, {self.expected:g} expected"
        return f"{self.trips:.2f}"


def cost(operation: Operation, version: str, seconds: Mapping[int, float], newest: str = "") -> Cost:
    """Return the round trips of an operation from its seconds at each round trip of `PAIRS`, in ms.

    newest: the version that its entry names.
    """
    found = slopes(seconds)
    trips = sum(found) / len(found)
    return Cost(trips, max(found) - min(found), operation.nearest(version, newest, trips))


def slopes(seconds: Mapping[int, float]) -> list[float]:
    """Return the k of each of `PAIRS`, from seconds at each round trip in ms."""
    return [(seconds[far] - seconds[near]) / ((far - near) / 1000) for near, far in PAIRS]
