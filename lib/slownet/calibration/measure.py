"""Runs a calibration: measures the cases in a place, and judges them here."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from slownet.calibration.cases import Case
from slownet.calibration.judge import CONFIDENCE, Row, judge
from slownet.lab.run import events
from slownet.lab.run.events import Event
from slownet.lab.run.excerpt import Excerpt
from slownet.lab.run.place import Place
from slownet.model.errors import SlownetError
from slownet.model.shapes import Json, mapping, member, number, numbers, optional, record, text

Follow = Callable[[Event], None]


@dataclass
class Calibration:
    """The results of a calibration.

    ``ceiling`` is the rate in bit/s that the CPU carries, None if the CPU is free; ``left_out`` holds the cases too near to it.
    """

    facts: dict[str, Json]
    rows: list[Row] = field(default_factory=list)
    left_out: list[Case] = field(default_factory=list)
    ceiling: float | None = None

    @property
    def bad(self) -> list[Row]:
        """The rows that are not ok."""
        return [row for row in self.rows if not row.ok]

    @property
    def by_chance(self) -> list[Row]:
        """The rows of random quantities."""
        return [row for row in self.rows if row.alone]

    @property
    def outside(self) -> list[Row]:
        """The random rows outside their own 99 % interval; one in a hundred is expected there."""
        return [row for row in self.by_chance if row.alone and not row.alone[0] <= (row.measured or 0.0) <= row.alone[1]]

    def to_json(self) -> dict[str, object]:
        """Return the calibration as `--json` prints it."""
        expected = round((1 - CONFIDENCE) * len(self.by_chance), 2)
        return {
            **self.facts,
            "ceiling_bit_s": self.ceiling,
            "rows": [row.to_json() for row in self.rows],
            "left_out": [case.name for case in self.left_out],
            "outside_own_interval": {"found": len(self.outside), "expected": expected},
            "ok": not self.bad,
        }


def calibrate(place: Place, cases: Sequence[Case], seed: int, follow: Follow = lambda event: None) -> Calibration:
    """Measure the cases, all of one version of IP, where the network is, and judge them here. Raises SlownetError."""
    (ip,) = {case.ip for case in cases}
    facts = {"clock": place.clock.kind, "tdf": place.clock.tdf_json, "ip_version": ip.version, "seed": seed}
    found = Calibration(facts | {name: place.facts[name] for name in ("kernel", "place")})
    measured: list[tuple[Case, Any]] = []
    errors: list[str] = []

    def on_event(event: Event) -> None:
        match event["event"]:
            case "numbers" | "failed" as kind:
                measured.append((cases[event["index"]], event["numbers" if kind == "numbers" else "line"]))
            case "left_out":
                found.left_out.append(cases[event["index"]])
            case "ceiling":
                found.ceiling = event["bit_s"]
            case "error":
                errors.append(event["line"])
            case "end":
                found.facts["virtual_s"] = event["virtual_s"]
        follow(event)

    began, complaints = time.monotonic(), Excerpt()
    listed = [[case.group, case.probe, dict(case.fields), case.count] for case in cases]
    job = json.dumps({"ip_version": ip.version, "cases": listed})
    with events.Reader(on_event, _grammar(len(cases))) as stdout:
        status = place.run([place.python, "-m", "slownet.calibration.probe_run", job], stdout=stdout, stderr=complaints.add)
    found.facts["wall_s"] = round(time.monotonic() - began, 3)
    _check(status, errors, complaints)
    try:
        found.rows = judge(measured, place.clock.cpu_is_free)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise events.EventError.of("the fields of a case are not those of its probe") from error
    return found


def _grammar(count: int) -> events.Grammar:
    """Return the events of `slownet.calibration.probe_run` for so many cases."""
    index = member(range(count), "the place of a case")
    return {
        "ceiling": record({"bit_s": optional(number(0))}),
        "case": record({"index": index, "name": text()}),
        "numbers": record({"index": index, "numbers": mapping(_number_or_numbers)}),
        "failed": record({"index": index, "line": text()}),
        "left_out": record({"index": index}),
        "error": record({"line": text()}),
        "end": record({"virtual_s": number(0)}),
    }


def _number_or_numbers(value: Any, where: str) -> None:
    """A number, a list of them, or some by their names, such as quantiles."""
    (numbers if isinstance(value, list) else mapping(number()) if isinstance(value, dict) else number())(value, where)


def _check(status: int, errors: Sequence[str], complaints: Excerpt) -> None:
    """Raise SlownetError if the calibration failed, KeyboardInterrupt if a signal ended it."""
    if errors:
        raise SlownetError(errors[0])
    if status < 0:
        raise KeyboardInterrupt
    if status:
        raise SlownetError(f"the calibration failed: {complaints.last_line(f'status {status}')}")
