"""Expectations of operations, for CI: `redis-py/connect=6`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.costs.entry import Entry
from slownet.costs.judging import WITHIN
from slownet.model.errors import ExperimentError
from slownet.model.options import Option

FORM = re.compile(r"(?P<entry>.+\.toml|[^/=]+)/(?P<operation>[^/=]+)=(?P<trips>[0-9]{1,6}(?:\.[0-9]{1,3})?)")


@dataclass(frozen=True)
class Expectation:
    """The most round trips that an operation may cost.

    Attributes
    ----------
    entry, operation : str
        Its entry (a name, or a file) and its name.
    trips : float
        How many.
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
