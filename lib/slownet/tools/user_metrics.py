"""Results of a measuring function: a tool's record, or numbers of its own with their unit, and those of tools among them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ParamSpec, Protocol, TypeVar

from slownet.judge.measured import Measured, Metrics
from slownet.model.errors import ExperimentError
from slownet.model.units import unit_of
from slownet.tools.numbers import Metric, series, single

SHOWN = 60
"""Characters of a value in an error message."""
OF_OTHERS = ("of", "percent")
"""Fields of a metric that refer to another one of its tool's record."""

P = ParamSpec("P")
R = TypeVar("R")


class Measure(Protocol):
    """The type of the pytest fixture ``measure``, which calls a tool and records its result with the conditions."""

    def __call__(self, tool: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
        """Call ``tool(*args, **options)``, such as ``ab``, and return its result. Raises whatever the tool raises.

        A function of your own may return a dict of numbers, ``{"checkout_ms": 12.1}``, or `Numbers` of it, which can be
        compared like a tool's.
        """


@dataclass(frozen=True)
class Numbers(Metrics):
    """Numbers that a function measured itself, as a record like a tool's.

    Parameters
    ----------
    values : mapping of str to sequence of float, or Metric
        The values of each metric in the order they were measured, or the metric of a tool; its name ends with its
        unit: ``{"checkout_ms": (12.1, 11.8)}``.
    command : sequence of str
        The program that measured them.
    """

    values: Mapping[str, Sequence[float] | Metric]
    command: tuple[str, ...] = field(default_factory=lambda: tuple(sys.argv[:1]))

    @property
    def raw(self) -> str:
        """The values as JSON."""
        return (
            json.dumps({name: values if isinstance(values, dict) else list(values) for name, values in self.values.items()})
            + "\n"
        )

    def metrics(self) -> dict[str, Metric]:
        """Return mean, sample standard deviation and values of each metric. A single value has no deviation."""
        return {name: values if isinstance(values, dict) else _metric(values) for name, values in self.values.items()}


def as_record(returned: Any, name: str, unit: str | None = None) -> Any:
    """Return what a measuring function returned as a record.

    returned: a tool's record is returned as it is. The keys of a mapping are the names of its metrics, with their units; its
        values may be metrics of tools' records.
    name: the function's name; with the unit, it is the name of the metric of a number or of a list.
    unit: the unit of a number or of a list: ``"ms"``.
    Raises ExperimentError: it is nothing of this, has no unit or another one, is empty, or holds something else than finite
    numbers.
    """
    if hasattr(returned, "metrics"):
        return returned
    where = f"returned by {name}"
    if isinstance(returned, Mapping):
        if not returned:
            raise ExperimentError("no metric", where, 'return at least one: {"checkout_ms": 12.3}')
        return Numbers({str(key): _named(str(key), value, f"'{key}' {where}") for key, value in returned.items()}, (name,))
    if isinstance(returned, Measured) and returned.metric:
        return Numbers({returned.name: _of_a_tool(returned.metric)}, (name,))
    values = _values(returned, where)
    if not unit:
        fix = f'return {{"{name}_ms": ...}}, or write @experiment(..., unit="ms")'
        raise ExperimentError("a number without a unit", where, fix)
    return Numbers({f"{name}_{unit}": values}, (name,))


def _named(key: str, value: Any, where: str) -> Sequence[float] | Metric:
    """Return one metric of a mapping. Raises ExperimentError."""
    if not isinstance(value, Measured) or not value.metric:
        return _values(value, where)
    if unit_of(key) != unit_of(value.name):
        raise ExperimentError(f"{value.name} has another unit", where, f"name it with the unit of {value.name}, or convert it")
    return _of_a_tool(value.metric)


def _of_a_tool(metric: Metric) -> Metric:
    found: Any = {name: value for name, value in metric.items() if name not in OF_OTHERS}
    return found  # type: ignore[no-any-return]


def _values(value: Any, where: str) -> tuple[float, ...]:
    """Return the numbers of one metric. Raises ExperimentError."""
    single_one = _is_number(value)
    listed = [value] if single_one else value
    if isinstance(listed, str | bytes | Mapping) or (not isinstance(listed, Sequence) and not hasattr(listed, "tolist")):
        fix = "return a tool's record, a number, a list of numbers, or a dict of these"
        raise ExperimentError(f"no measurement: {_short(value)}", where, fix)
    listed = listed.tolist() if hasattr(listed, "tolist") else list(listed)
    if not listed:
        raise ExperimentError("no number", where, "return at least one")
    for each in listed:
        if not (_is_number(each) and math.isfinite(each)):
            raise ExperimentError(f"no finite number: {_short(each)}", where, "return finite numbers only")
    return tuple(float(each) for each in listed)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _metric(values: Sequence[float]) -> Metric:
    if len(values) == 1:
        return single(values[0], 1)
    return series(values)
