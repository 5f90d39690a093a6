"""A criterion that each cell of a sweep meets or not: ``time_per_request_ms<300``, ``p99 latency_ms<=300ms``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slownet.judge.claim import bound
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError, SweepError, nearest
from slownet.model.options import Option
from slownet.model.sample import Sample

OPTION = Option("criterion")
_FORM = re.compile(r"(?:p(?P<percent>\d+(?:\.\d+)?) +)?(?P<metric>[A-Za-z]\w*) *(?P<sign><=?|>=?) *(?P<limit>\S+)", re.ASCII)


@dataclass(frozen=True)
class Criterion:
    """A limit of a metric's mean or percentile."""

    text: str
    metric: str
    most: bool
    """True if the limit is an upper one."""
    limit: float | str
    percentile: float | None = None

    @classmethod
    def read(cls, text: str) -> Criterion:
        """Read a criterion. Raises SweepError; ClaimError if its numbers are impossible."""
        found = _FORM.fullmatch(text.strip())
        if not found:
            raise SweepError(f"unclear criterion '{text}'", OPTION, "write METRIC<NUMBER, or p99 METRIC<300ms")
        limit = found["limit"]
        number = float(limit) if re.fullmatch(r"\d+(\.\d+)?", limit) else limit
        percent = float(found["percent"]) if found["percent"] else None
        made = cls(text.strip(), found["metric"], found["sign"].startswith("<"), number, percent)
        made._claim({})
        return made

    def check(self, sample: Sample) -> None:
        """Refuse a sample that lacks the metric, before all others are measured in vain. Raises ExperimentError."""
        if self.metric not in sample["metrics"]:
            raise ExperimentError(
                f"no metric '{self.metric}'", f"{OPTION} {self.text}", nearest(self.metric, sample["metrics"])
            )

    def judge(self, run: RunData) -> dict[str, Judgement]:
        """Return the judgement of each cell by its title. Raises ExperimentError if no such metric exists.

        On programs that slownet does not know a cell's verdict requires several repetitions, as that of a claim does.
        """
        run = run.for_verdicts(run.confidence) if run.terms.own_programs else run
        good = [cell for cell in run.cells if cell.status == "ok"]
        return {
            cell.title: self._claim({str(name): str(text) for name, text in cell.label.items()}).judge(run) for cell in good
        }

    def _claim(self, at: dict[str, str]) -> bound:
        if self.most:
            return bound(self.metric, at or None, at_most=self.limit, percentile=self.percentile)
        return bound(self.metric, at or None, at_least=self.limit, percentile=self.percentile)
