"""When lines of logs were written, though they state no time: how long each log was at every event of a history."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from slownet.judge.histories.log_lines import LONGEST, MOST, LogLine


class LogWatch:
    """Watches some logs, by the services' labels, from now on."""

    def __init__(self, logs: Mapping[str, Path]) -> None:
        self._logs = dict(logs)
        self._begun = self._last = self._sizes()
        self._seen: list[tuple[int, dict[str, int]]] = []

    def look(self, now: int) -> None:
        """Note how long the logs are at this time, in nanoseconds."""
        sizes = self._sizes()
        if sizes != self._last:
            self._last = sizes
            self._seen.append((now, sizes))

    def lines(self) -> list[LogLine]:
        """Return the lines that were written since the begin, in the order of their times; only the first ones of very many."""
        found = [line for label in self._logs for line in self._of(label)]
        return sorted(found, key=lambda each: each.time)[:MOST]

    def _of(self, label: str) -> Iterator[LogLine]:
        done = self._begun.get(label, 0)
        with suppress(OSError), self._logs[label].open("rb") as log:
            log.seek(done)
            for now, sizes in self._seen:
                size = sizes.get(label, 0)
                for line in log.read(max(0, size - done)).decode(errors="replace").splitlines():
                    yield LogLine(now, label, line[:LONGEST])
                done = max(done, size)

    def _sizes(self) -> dict[str, int]:
        found = {}
        for label, path in self._logs.items():
            with suppress(OSError):
                found[label] = os.stat(path).st_size
        return found
