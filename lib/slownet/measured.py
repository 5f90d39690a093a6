"""Measured numbers as a test compares them: a tool's metric with its interval and what it was measured under.

>>> from slownet.stats import from_moments
>>> page = Measured("time_per_request_ms", from_moments(51.8, 0.4, 100), Setting(10.06, "virtual clock, TDF inf"))
>>> page
time_per_request_ms 51.80 (51.69 to 51.91) of 100, verified RTT 10.06 ms, virtual clock, TDF inf
>>> page < 300, page < 51.8, page > "40ms"
(True, False, True)

A comparison holds when the whole interval is on that side (99 %, as for claims); "equal" takes a margin, so it takes an
expectation such as `slownet.claim.slowed` or `slownet.claim.about`. Without one it would never hold, and "not equal" always:

>>> page == 51.8
Traceback (most recent call last):
slownet.errors.ExperimentError: time_per_request_ms is compared with 51.8 without a margin: write about(51.8, within=0.05) \
on the right of == or !=, from slownet.claim

A test measures in one boot: where the CPU counts, the interval holds also how far
boots differ (`slownet.records.intervals`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Number
from typing import Any, ClassVar

from slownet.errors import ExperimentError, nearest
from slownet.records import intervals
from slownet.records.charging import Charging, Terms
from slownet.stats import DECIDING, Summary, difference
from slownet.units import duration


@dataclass(frozen=True)
class Setting:
    """What numbers were measured under: the round trip that ping verified, in ms, and the clock for people.

    ``charging`` is what the clock charges for the CPU, None where it is not known; ``charged_s`` of ``took_s`` seconds on the
    clock were the CPU's; ``random`` says whether a link drew by chance.
    """

    verified_rtt_ms: float | None = None
    clock: str = ""
    charging: Charging | None = None
    charged_s: float | None = None
    took_s: float | None = None
    random: bool | None = None

    @property
    def advice(self) -> str:
        """What makes intervals narrower that hold how boots differ; empty where they are narrow."""
        if self.charging not in (Charging.REAL, Charging.TIME):
            return ""
        what = "on the real clock" if self.charging is Charging.REAL else "where CPU time is charged"
        return (
            f"{what} one boot says no more than that boots differ by some {100 * self.charging.waver:g} % of the CPU's part: "
            "TDF inf if the network alone is the question, counters (sysctl kernel.perf_event_paranoid=2), or an experiment "
            "that repeats"
        )

    def __str__(self) -> str:
        verified = "" if self.verified_rtt_ms is None else f"verified RTT {self.verified_rtt_ms:.2f} ms"
        return ", ".join(filter(None, (verified, self.clock)))


PARTS = ("facts", "files")
"""What else a record may have; no metric is meant by them."""

_setting: ContextVar[Callable[[], Setting] | None] = ContextVar("setting", default=None)


@contextmanager
def measured_under(setting: Callable[[], Setting]) -> Iterator[None]:
    """Records that tools make inside this context carry what ``setting()`` says at that moment."""
    token = _setting.set(setting)
    try:
        yield
    finally:
        _setting.reset(token)


class Measured:
    """One metric of one measurement: see the module."""

    __hash__ = None  # type: ignore[assignment]

    __array_ufunc__: ClassVar[None] = None  # so that numpy leaves a comparison with its numbers to us

    def __init__(self, name: str, summary: Summary, setting: Setting = Setting()) -> None:
        self.name = name
        self.summary = summary.at_confidence(DECIDING)
        self.setting = setting

    @property
    def mean(self) -> float:
        """The measured mean, in the metric's unit."""
        return self.summary.mean

    @property
    def n(self) -> int:
        """How many values it is the mean of."""
        return self.summary.n

    @property
    def low(self) -> float:
        """The lower end of the interval, -inf where it is not known."""
        return self.summary.low

    @property
    def high(self) -> float:
        """The upper end of the interval, inf where it is not known."""
        return self.summary.high

    def __float__(self) -> float:
        return self.mean

    def __eq__(self, other: object) -> bool:
        """An expectation compares itself; a number without a margin is a mistake: ExperimentError."""
        if not isinstance(other, Measured | Summary | Number | str):
            return NotImplemented
        name = other.name if isinstance(other, Measured) else "a summary" if isinstance(other, Summary) else repr(other)
        shown = "..." if isinstance(other, Measured | Summary) else name
        fix = f"write about({shown}, within=0.05) on the right of == or !=, from slownet.claim"
        raise ExperimentError(f"{self.name} is compared with {name} without a margin", fix=fix)

    def __lt__(self, other: Measured | float | str) -> bool:
        return self._minus(other).high < 0

    def __gt__(self, other: Measured | float | str) -> bool:
        return self._minus(other).low > 0

    def __le__(self, other: Measured | float | str) -> bool:
        return self._minus(other).high <= 0

    def __ge__(self, other: Measured | float | str) -> bool:
        return self._minus(other).low >= 0

    def __repr__(self) -> str:
        low, mean, high = (f"{each:.2f}" for each in (self.low, self.mean, self.high))
        width = f" ({low} to {high})" if low != high else ""
        under = f", {self.setting}" if str(self.setting) else ""
        return f"{self.name} {mean}{width} of {self.n}{under}"

    def _minus(self, other: Measured | float | str) -> Summary:
        if isinstance(other, Measured):
            return difference(self.summary, other.summary)
        return self.summary.plus(-in_unit_of(self.name, other))


class Metrics:
    """Makes the metrics of a tool's record its attributes: ``record.time_per_request`` is `Measured`.

    The record is a frozen dataclass with ``metrics()``. A name may leave out the unit, ``time_per_request`` for
    ``time_per_request_ms``, where that is no field of the record.
    """

    def __post_init__(self) -> None:
        setting = _setting.get()
        object.__setattr__(self, "_setting", setting() if setting else Setting())

    def measured(self, name: str) -> Measured:
        """A metric by its name, with or without the unit. Raises ExperimentError with the nearest name."""
        metrics: Mapping[str, Mapping[str, Any]] = self.metrics()
        found = [name] if name in metrics else [each for each in metrics if each.startswith(f"{name}_")]
        if len(found) != 1:
            raise ExperimentError(f"no metric '{name}'", f"of {type(self).__name__.lower()}", nearest(name, metrics))
        return Measured(found[0], _summary(metrics, found[0], self._setting), self._setting)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in PARTS or any(name == each.name for each in dataclasses.fields(self)):  # type: ignore[arg-type]
            raise AttributeError(name)
        try:
            return self.measured(name)
        except ExperimentError as error:
            raise AttributeError(str(error)) from error


def _summary(metrics: Mapping[str, Mapping[str, Any]], name: str, setting: Setting) -> Summary:
    """The interval of one measurement, as a cell of one sample has it."""
    sample = {"status": "ok", "metrics": metrics, "charged_s": setting.charged_s, "virtual_s": setting.took_s}
    return intervals.summary([sample | {"random": setting.random}], name, Terms(setting.charging), DECIDING)


def in_unit_of(metric: str, value: float | str) -> float:
    """A number as it is, a duration such as ``"300ms"`` in the metric's unit. Raises UnitError, ExperimentError."""
    if not isinstance(value, str):
        return float(value)
    for unit, factor in (("_ms", 1000), ("_us", 1_000_000), ("_s", 1)):
        if metric.endswith(unit):
            return duration(value) * factor
    raise ExperimentError(f"'{value}' for {metric}", fix="give a plain number in the metric's unit")
