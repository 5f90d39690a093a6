"""One picture of a reproduction: each published number beside the measured one, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence

from slownet.model.units import spoken
from slownet.report import scale
from slownet.report.chart import WIDTH, Chart, Point
from slownet.report.comparison import Line
from slownet.report.figure import Figure
from slownet.report.text import number, trimmed


def beside(lines: Sequence[Line]) -> Figure | None:
    """Draw the main published numbers against the measured ones, each in its own unit; None without any."""
    shown = [line for line in lines if line.is_main and line.measured and line.measured.mean > 0 and line.published > 0]
    if not shown:
        return None
    numbers = [each for line in shown for each in (line.published, _mean(line))]
    both = scale.log(numbers)
    title = "Each published number beside ours; on the line both are the same"
    chart = Chart(title, both, both, "published, in its own unit", "measured here, in the same unit", height=WIDTH)
    chart.line([(both.low, both.low), (both.high, both.high)], "the same number", "soft", dashed=True)
    chart.points([Point(line.published, _mean(line), _says(line)) for line in shown], "an experiment's number")
    numbers_of = {name: str(at) for at, name in enumerate(dict.fromkeys(line.experiment for line in shown), 1)}
    farthest = sorted(shown, key=_apart, reverse=True)
    firsts = list({line.experiment: line for line in reversed(farthest)}.values())  # no experiment is without its number
    chart.numbered((line.published, _mean(line), numbers_of[line.experiment]) for line in [*firsts, *farthest])
    head = ("experiment", "condition", "unit", "published", "measured", "measured / published")
    rows = tuple(
        (line.experiment, line.condition, spoken(line.metric), line.published, _mean(line), line.factor) for line in shown
    )
    note = ", ".join(f"{short}: {name}" for name, short in numbers_of.items())
    return Figure("published", title, chart.svg(), head, rows, note)


def _apart(line: Line) -> float:
    """Return by how much the measured and the published number differ, as a factor from 1."""
    factor = line.factor or 1.0
    return max(factor, 1 / factor)


def _mean(line: Line) -> float:
    assert line.measured is not None
    return line.measured.mean


def _says(line: Line) -> str:
    found = f"{number(line.published)} published, {number(_mean(line))} measured ({trimmed(line.factor, 3)} times)"
    return f"{line.experiment}, {line.condition}: {spoken(line.metric)}: {found}"
