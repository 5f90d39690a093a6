"""Records of several tools in one table: each names the time of its operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slownet.errors import ToolError, nearest
from slownet.measured import Metrics
from slownet.tools.numbers import Metric


@dataclass(frozen=True)
class Operation(Metrics):
    """A tool's record, whose metric ``time`` is also the time of an operation: a page, a row, a message."""

    record: Any
    time: str

    @property
    def command(self) -> Sequence[str]:
        return tuple(self.record.command)

    @property
    def raw(self) -> str:
        return str(self.record.raw)

    def metrics(self) -> dict[str, Metric]:
        """``operation_ms`` and all that the tool measured. Raises ToolError when it did not measure ``time``."""
        metrics: dict[str, Metric] = self.record.metrics()
        if self.time not in metrics:
            tool = type(self.record).__name__.lower()
            raise ToolError(f"{tool} has no metric '{self.time}'", fix=nearest(self.time, metrics), raw=self.raw)
        return {"operation_ms": metrics[self.time], **metrics}

    def facts(self) -> dict[str, Any]:
        """What belongs beside the numbers in a record."""
        return {**self.record.facts(), "timed": self.time}
