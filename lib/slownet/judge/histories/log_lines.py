"""Lines of servers' logs with the times of a history, one JSON object a line: ``time`` (ns), ``service`` and ``line``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from slownet.judge.histories.history import HistoryError

LOGS = "logs.jsonl"
"""The suffix of their files' names."""
LONGEST, MOST = 400, 3000
"""Letters of a line, and lines in all, that are kept."""


@dataclass(frozen=True)
class LogLine:
    """A line that a server has written.

    time: nanoseconds since the history's begin by which it was there: the next event of the history after it was written.
    service: the server's label.
    line: its text.
    """

    time: int
    service: str
    line: str


def to_text(lines: Iterable[LogLine]) -> str:
    """Return the text of a file."""
    return "".join(f"{json.dumps(asdict(each), ensure_ascii=False)}\n" for each in lines)


def read(text: str) -> Sequence[LogLine]:
    """Read such a text, which a lab has written. Raises HistoryError."""
    found = []
    for number, line in enumerate(text.splitlines()[:MOST], 1):
        try:
            one = LogLine(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise HistoryError(f"no line of a log: {error}", f"line {number} of the logs", "measure again") from error
        if type(one.time) is not int or not isinstance(one.service, str) or not isinstance(one.line, str):
            raise HistoryError("no line of a log", f"line {number} of the logs", "measure again")
        found.append(one)
    return found
