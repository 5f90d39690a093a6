"""Warms up the programs of a boot before its first cell, so that what they do at first is in no cell's numbers.

Servers fill caches and compile, clients prepare statements: psycopg does when one is executed for the sixth time on a
connection, which costs a round trip more. Without a warm-up that lands in whichever cell a boot measures first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from slownet.hypotheses.experiment import Cell, Experiment, Record
from slownet.judge.records.samples import cell_key
from slownet.model.errors import NetworkError, ServiceError, ToolError
from slownet.model.sample import Metric

Say = Callable[[Cell, int, str], None]
OPERATIONS = 30
"""By default as many operations, of programs that slownet does not know: psycopg prepares a statement when a connection
executes it a sixth time, and psycopg_pool takes its four connections in turn."""
LONGEST_S = 10.0
"""By default no call begins after so much time on the network's clock: one that takes that long does many operations itself,
though it may return one number of them, such as transactions per second."""
LONGEST_REAL_S = 10.0
"""By default no call begins either after so much real time in a cell: where computing is free, the network's clock stands while
a program starts, so that its own limit is never reached."""
LEAST = 8
"""Operations that are done in spite of it, whatever the machine's load: psycopg needs six."""


@dataclass(frozen=True)
class WarmUp:
    """The steps of a boot before its first cell.

    In each of ``cells``, ``operations`` are done by calls of the measuring function that begin within ``limit_s`` seconds of
    the network's clock and `LONGEST_REAL_S` real ones; 0 s: without a limit.
    """

    operations: int = 0
    limit_s: float = 0.0
    cells: Sequence[Cell] = ()

    @classmethod
    def of(cls, experiment: Experiment, planned: Sequence[Cell], measured: Iterable[Cell]) -> WarmUp:
        """Return that of a boot.

        planned: the run's cells, the baseline first; measured: those of the boot.
        """
        operations, limit_s = length(experiment)
        return cls(operations, limit_s, _one_of_each(planned, measured)) if operations else NONE

    def run(
        self,
        measure: Callable[[Cell], Record],
        real: Callable[[], float] = lambda: 0.0,
        say: Say = lambda cell, done, note: None,
    ) -> None:
        """Call a function that measures a cell until it has done so many operations in each.

        A call that fails ends that cell's warm-up: when the cell is measured, its sample explains why.

        real: returns seconds of real time; say: gets the cell, the operations that are done and, if real time ended
        them, a note.
        """
        for cell in self.cells:
            began, really_began, done = time.monotonic(), real(), 0
            say(cell, done, "")
            with suppress(ToolError, ServiceError, NetworkError):
                while done < self.operations and not (self.limit_s and time.monotonic() - began >= self.limit_s):
                    passed = real() - really_began
                    if self.limit_s and done >= LEAST and passed >= LONGEST_REAL_S:
                        say(cell, done, f"the warm-up ended after {passed:.0f} s with {done} of {self.operations} operations")
                        break
                    done += operations(measure(cell).metrics())
                    say(cell, done, "")


NONE = WarmUp()


def length(experiment: Experiment) -> tuple[int, float]:
    """Return how many operations are done for an experiment, and within how many seconds their calls begin (0: no limit)."""
    from slownet.judge.records.repeatability import has_own_programs  # the place does not need it

    if experiment.warm_up is not None:
        return experiment.warm_up, 0.0
    return (OPERATIONS, LONGEST_S) if has_own_programs(*experiment.parts) else (0, 0.0)


def operations(metrics: Mapping[str, Metric]) -> int:
    """Return how many operations these metrics are of: the largest number of values, at least 1."""
    return max((int(record.get("n") or 1) for record in metrics.values()), default=1)


def _one_of_each(planned: Sequence[Cell], measured: Iterable[Cell]) -> list[Cell]:
    """Return the first planned cell of each combination of conditions other than links'.

    What a program does at first depends on what is asked of it, such as which query, and not on how long a packet takes; and
    the first cell is the baseline, in which an operation takes the least.
    """
    from slownet.judge.records.condition_columns import is_of_links  # likewise: it imports the statistics

    asked = {cell_key(cell) for cell in measured}
    found: dict[str, Cell] = {}
    for cell in planned:
        if cell_key(cell) in asked:
            found.setdefault(cell_key({name: text for name, text in cell.items() if not is_of_links(name)}), dict(cell))
    return list(found.values())
