"""Warms up the programs of a boot before its first cell, so that what they do at first is in no cell's numbers.

Servers fill caches and compile, clients prepare statements: psycopg does when one is executed for the sixth time on a
connection, which costs a round trip more. Without a warm-up that lands in whichever cell a boot measures first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from slownet.errors import NetworkError, ServiceError, ToolError
from slownet.experiment import Experiment, Record

OPERATIONS = 10
"""By default as many operations, of programs that slownet does not know: more than the six that psycopg takes."""
LONGEST_S = 30.0
"""By default no call begins after so much time on the network's clock: it could take longer than all that is measured."""


@dataclass(frozen=True)
class WarmUp:
    """How many operations are done, by calls that begin within so many seconds; 0 s: without a limit."""

    operations: int = 0
    limit_s: float = 0.0

    @classmethod
    def of(cls, experiment: Experiment, has_own_programs: bool) -> WarmUp:
        """Return that of an experiment."""
        if experiment.warm_up is not None:
            return cls(experiment.warm_up)
        return cls(OPERATIONS, LONGEST_S) if has_own_programs else cls()

    def run(self, measure: Callable[[], Record]) -> int:
        """Call a function that measures until it has done so many operations; return how many it has done.

        A call that fails ends the warm-up: the cell that is measured next says why.
        """
        began, done = time.monotonic(), 0
        with suppress(ToolError, ServiceError, NetworkError):
            while done < self.operations and not (self.limit_s and time.monotonic() - began >= self.limit_s):
                done += operations(measure().metrics())
        return done


NONE = WarmUp()


def operations(metrics: Mapping[str, Mapping[str, Any]]) -> int:
    """Return how many operations these metrics are of: the largest number of values, at least 1."""
    return max((int(record.get("n") or 1) for record in metrics.values()), default=1)
