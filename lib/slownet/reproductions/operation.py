"""One metric name for the time per operation of different tools, so that their results fit in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, nearest
from slownet.tools.numbers import Metric


@dataclass(frozen=True)
class Operation(Metrics):
    """A tool's record with one of its metrics repeated as ``operation_ms``.

    Attributes
    ----------
    record : Metrics
        The tool's record, such as `Ab`.
    time : str
        The metric, in ms, that is the time of an operation: a page, a row, a message.
    """

    record: Any
    time: str

    @property
    def command(self) -> Sequence[str]:
        """The tool's command."""
        return tuple(self.record.command)

    @property
    def raw(self) -> str:
        """The tool's output."""
        return str(self.record.raw)

    def metrics(self) -> dict[str, Metric]:
        """Return ``operation_ms`` and all metrics of the tool. Raises ToolError if the tool has no metric ``time``."""
        metrics: dict[str, Metric] = self.record.metrics()
        if self.time not in metrics:
            tool = type(self.record).__name__.lower()
            raise ToolError(f"{tool} has no metric '{self.time}'", fix=nearest(self.time, metrics), raw=self.raw)
        return {"operation_ms": metrics[self.time], **metrics}

    def facts(self) -> dict[str, object]:
        """Return the tool's facts, and as ``timed`` the name of the metric."""
        return {**self.record.facts(), "timed": self.time}
