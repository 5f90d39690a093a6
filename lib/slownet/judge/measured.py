"""Measured numbers for comparisons in tests: a tool's metric with its interval, verified round trip and clock.

>>> from slownet.theory.stats import from_moments
>>> page = Measured("time_per_request_ms", from_moments(51.8, 0.4, 100), Setting(10.06, "virtual clock, TDF inf"))
>>> page
time_per_request_ms 51.80 (51.69 to 51.91) of 100, verified RTT 10.06 ms, virtual clock, TDF inf
>>> page < 300, page < 51.8, page > "40ms"
(True, False, True)

A comparison holds if the whole interval (99 %, as for claims) is on that side. ``==`` and ``!=`` need a margin, so they need an
expectation such as `slownet.judge.claim.slowed` or `slownet.judge.claim.about`; a plain number raises an error:

>>> page == 51.8
Traceback (most recent call last):
slownet.model.errors.ExperimentError: time_per_request_ms is compared with 51.8 without a margin: write about(51.8, \
within=0.05) on the right of == or !=, from slownet

The interval of one boot includes the variation between boots if the clock charges CPU (`slownet.judge.records.intervals`); if
it does not, only that of the single values. A comparison that this leaves open is made in further boots:
`slownet.judge.records.comparisons`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Number
from typing import Any, ClassVar

from slownet.judge.records import charging, comparisons, intervals
from slownet.judge.records.charging import Charging, Terms
from slownet.model.errors import ExperimentError, NoMetricError, nearest
from slownet.model.sample import Metric, Sample
from slownet.model.truth import NoTruth
from slownet.model.units import duration, milliseconds_of
from slownet.theory.stats import DECIDING, Summary, difference


@dataclass(frozen=True)
class Setting:
    """The circumstances of a measurement.

    verified_rtt_ms: the round trip that ping measured.
    clock: a description of the clock.
    charging: what the clock charges for the CPU; None if unknown.
    charged_s, took_s: seconds on the clock that were charged for the CPU, and that passed in all.
    random: whether a link's condition was random, such as loss; None if unknown.
    late: on the real clock, the share of its verifying ping by which a link is later than configured; None if no delay was
        verified.
    advice: how a narrower interval is reached there; empty if the clock widens none.
    """

    verified_rtt_ms: float | None = None
    clock: str = ""
    charging: Charging | None = None
    charged_s: float | None = None
    took_s: float | None = None
    random: bool | None = None
    late: float | None = None
    advice: str = ""

    def __str__(self) -> str:
        verified = "" if self.verified_rtt_ms is None else f"verified RTT {self.verified_rtt_ms:.2f} ms"
        return ", ".join(filter(None, (verified, self.clock)))


PARTS = ("facts", "files")
"""Optional attributes of records that are not metrics."""

_setting: ContextVar[Callable[[], Setting] | None] = ContextVar("setting", default=None)


@contextmanager
def measured_under(setting: Callable[[], Setting]) -> Iterator[None]:
    """Attach ``setting()``, called at that moment, to each record that a tool makes inside this context."""
    token = _setting.set(setting)
    try:
        yield
    finally:
        _setting.reset(token)


class Measured(NoTruth):
    """One metric of one measurement, with an interval of 99 %.

    Parameters
    ----------
    name : str
        The metric, with its unit: ``"time_per_request_ms"``.
    summary : Summary
        Its mean and interval.
    setting : Setting
        The circumstances of the measurement.
    metric : Metric, optional
        The metric as the tool's record has it.

    Notes
    -----
    ``<``, ``<=``, ``>`` and ``>=`` compare with a `Measured`, a number in the metric's unit or a duration such as ``"300ms"``,
    and hold if the whole interval is on that side. ``==`` and ``!=`` need an expectation on the other side:
    `slownet.judge.claim.slowed` or `slownet.judge.claim.about`.
    """

    instead = 'compare it: page.time_per_request < "300ms", or == about("50ms"); float() gives its mean'

    __hash__ = None  # type: ignore[assignment]

    __array_ufunc__: ClassVar[None] = None  # makes numpy's numbers leave the comparison to this class

    def __init__(self, name: str, summary: Summary, setting: Setting = Setting(), metric: Metric | None = None) -> None:
        self.name, self.metric = name, metric
        self.summary = summary.at_confidence(DECIDING)
        self.setting = setting

    @property
    def mean(self) -> float:
        """The measured mean, in the metric's unit."""
        return self.summary.mean

    @property
    def n(self) -> int:
        """The number of values that the mean is taken over."""
        return self.summary.n

    @property
    def low(self) -> float:
        """The lower end of the interval, -inf if unknown."""
        return self.summary.low

    @property
    def high(self) -> float:
        """The upper end of the interval, inf if unknown."""
        return self.summary.high

    @property
    def late(self) -> float:
        """At most the share of this time that is due to late wake-ups: `slownet.judge.records.charging.woken_late`."""
        return charging.woken_late(self.setting.charging, self.setting.late)

    def __float__(self) -> float:
        return self.mean

    def __eq__(self, other: object) -> bool:
        """Leave the comparison to an expectation. Raises ExperimentError for a number without a margin."""
        if not isinstance(other, Measured | Summary | Number | str):
            return NotImplemented
        name = other.name if isinstance(other, Measured) else "a summary" if isinstance(other, Summary) else repr(other)
        shown = "..." if isinstance(other, Measured | Summary) else name
        fix = f"write about({shown}, within=0.05) on the right of == or !=, from slownet"
        raise ExperimentError(f"{self.name} is compared with {name} without a margin", fix=fix)

    def __lt__(self, other: Measured | float | str) -> bool:
        return self._compared("<", other, lambda gap: gap.high < 0, lambda gap: gap.low >= 0)

    def __gt__(self, other: Measured | float | str) -> bool:
        return self._compared(">", other, lambda gap: gap.low > 0, lambda gap: gap.high <= 0)

    def __le__(self, other: Measured | float | str) -> bool:
        return self._compared("<=", other, lambda gap: gap.high <= 0, lambda gap: gap.low > 0)

    def __ge__(self, other: Measured | float | str) -> bool:
        return self._compared(">=", other, lambda gap: gap.low >= 0, lambda gap: gap.high < 0)

    def __repr__(self) -> str:
        low, mean, high = (f"{each:.2f}" for each in (self.low, self.mean, self.high))
        width = f" ({low} to {high})" if low != high else ""
        under = f", {self.setting}" if str(self.setting) else ""
        return f"{self.name} {mean}{width} of {self.n}{under}"

    def _compared(
        self, sign: str, other: Measured | float | str, is_so: Callable[[Summary], bool], is_not: Callable[[Summary], bool]
    ) -> bool:
        """Return whether a comparison holds in all boots of the test together."""
        test = comparisons.current()
        test.compared.append((self.name, self.summary))
        gap = test.take(f"{self.name} {sign}", self._minus(other))
        test.judged(gap, not is_so(gap) and not is_not(gap))
        return is_so(gap) or test.holds

    def _minus(self, other: Measured | float | str) -> Summary:
        if isinstance(other, Measured):
            return difference(self.summary, other.summary)
        return self.summary.plus(-in_unit_of(self.name, other))


class Metrics:
    """A base class that makes the metrics of a tool's record its attributes: ``record.time_per_request`` is a `Measured`.

    The record is a frozen dataclass with ``metrics()``. The unit may be left out, ``time_per_request`` for
    ``time_per_request_ms``, unless the record has a field of that name.
    """

    def __post_init__(self) -> None:
        setting = _setting.get()
        object.__setattr__(self, "_setting", setting() if setting else Setting())

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = Metrics.__repr__  # type: ignore[method-assign]  # before `dataclass` makes one of all fields

    def __repr__(self) -> str:
        """Return the means: ``<ab: time_per_request_ms 52.1, requests_per_second 19.2>``; `raw` is all that was printed."""
        return f"<{type(self).__name__.lower()}: {in_short(self.metrics())}>"

    def measured(self, name: str) -> Measured:
        """Return a metric by its name, with or without the unit. Raises NoMetricError with the nearest name."""
        metrics: Mapping[str, Metric] = self.metrics()
        found = [name] if name in metrics else [each for each in metrics if each.startswith(f"{name}_")]
        if len(found) != 1:
            raise NoMetricError(f"no metric '{name}'", f"of {type(self).__name__.lower()}", nearest(name, metrics))
        return Measured(found[0], _summary(metrics, found[0], self._setting), self._setting, metrics[found[0]])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in PARTS or any(name == each.name for each in dataclasses.fields(self)):  # type: ignore[arg-type]
            raise AttributeError(name)
        return self.measured(name)


def in_short(metrics: Mapping[str, Metric]) -> str:
    """Return the means of metrics with their names, as text."""
    return ", ".join(f"{name} {each['mean']:.6g}" for name, each in metrics.items())


def _summary(metrics: Mapping[str, Metric], name: str, setting: Setting) -> Summary:
    """Summarize one measurement like a cell of one sample.

    Its programs may be random, so that its values have an interval even if the CPU is free; a number without
    single values, or a count, is taken as it is.
    """
    record = metrics[name]
    is_spread = record.get("sd") is not None and not record.get("count") and int(record["n"]) > 1
    sample: Sample = {
        "cell": {}, "index": 0, "status": "ok", "metrics": dict(metrics), "charged_s": setting.charged_s,
        "virtual_s": setting.took_s, "late": setting.late, "verified_rtt_ms": setting.verified_rtt_ms,
        "random": setting.random,
    }  # fmt: skip
    terms = Terms(setting.charging, own_programs=is_spread)
    return intervals.summary([sample], name, terms, DECIDING)


def in_unit_of(metric: str, value: float | str) -> float:
    """Convert a duration such as ``"300ms"`` to the metric's unit; a number stays. Raises UnitError, ExperimentError."""
    if not isinstance(value, str):
        return float(value)
    if (unit_ms := milliseconds_of(metric)) is None:
        raise ExperimentError(f"'{value}' for {metric}", fix="give a plain number in the metric's unit")
    return duration(value) * (1000 / unit_ms)
