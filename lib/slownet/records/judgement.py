"""What a claim says about a run: a verdict, and the numbers that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slownet.records.observers import notify
from slownet.records.samples import finite
from slownet.stats import CONFIDENCE

SUPPORTED, REFUTED, INCONCLUSIVE = "supported", "refuted", "inconclusive"
NOT_JUDGED = "not judged"
"""Of a claim about cells that were not measured; its text says which."""
OPTIONAL = ("confidence", "setting", "stays_open", "kind", "metric", "parameters")
"""Fields that older records may lack."""
WORST_FIRST = (REFUTED, INCONCLUSIVE, NOT_JUDGED, SUPPORTED)


def in_words(claims: Iterable[Judgement]) -> str:
    """The verdicts counted: ``3 of 5 claims supported, 1 inconclusive, 1 not judged``."""
    verdicts = [claim.verdict for claim in claims]
    others = [f"{verdicts.count(each)} {each}" for each in WORST_FIRST if each != SUPPORTED and each in verdicts]
    return ", ".join([f"{verdicts.count(SUPPORTED)} of {len(verdicts)} claims supported", *others])


@dataclass(frozen=True, repr=False)
class Judgement:
    """What a claim says about a run.

    ``measured`` with its interval ``low`` to ``high`` was compared with ``expected``; the claim is
    supported inside ``margin`` (low, high; None is open), refuted outside, else inconclusive. Of one that is not judged
    there are no numbers. ``kind``, ``metric`` and ``parameters`` are the claim's; records made before they were written do
    not have them.
    """

    name: str
    verdict: str
    measured: float | None
    expected: float | None
    low: float | None
    high: float | None
    margin: tuple[float | None, float | None]
    text: str
    cells: tuple[Mapping[str, Any], ...] = ()
    """The labels of the cells that it rests on; empty for all of the run."""
    confidence: float = CONFIDENCE
    """Of the interval."""
    setting: str = ""
    """What the numbers were measured under: the verified round trips and the clock."""
    stays_open: str = ""
    """Why more repetitions do not decide it, empty where they may."""
    kind: str = ""
    """The kind of claim, such as "law" or "ratio"; empty where that is not known."""
    metric: str = ""
    """The metric that the claim speaks of, with its unit; empty for one composed of others."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What else the claim states, by the names of its fields: numbers, texts, conditions."""

    def __bool__(self) -> bool:
        """Whether the claim is supported, for ``assert``."""
        return self.verdict == SUPPORTED

    def report(self) -> Judgement:
        """Hands the judgement to whoever records verdicts, such as the pytest plugin, and returns it.

        In a test: ``assert law(...).judge(run).report()``.
        """
        notify(self)
        return self

    def __str__(self) -> str:
        """All of it in one line."""
        known = self.low is not None and self.high is not None and self.low != self.high
        interval = f"{100 * self.confidence:g} % interval {self.low:.4g} to {self.high:.4g}" if known else ""
        return "; ".join(filter(None, (f"{self.verdict}: {self.name}: {self.text}", interval, self.setting)))

    __repr__ = __str__

    def to_json(self) -> dict[str, Any]:
        """A dict that JSON can hold, None for what is not finite."""
        record: dict[str, Any] = finite(vars(self))
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Judgement:
        """The reverse of ``to_json``."""
        least, most = record.get("margin") or (None, None)
        known: dict[str, Any] = {name: record.get(name) for name in ("measured", "expected", "low", "high")}
        known |= {"name": record["name"], "verdict": record["verdict"], "text": record.get("text", "")}
        known |= {name: record[name] for name in OPTIONAL if name in record}
        return cls(**known, margin=(least, most), cells=tuple(record.get("cells") or ()))
