"""Throughput, congestion window and queue over time, from what a run keeps of iperf3, wget and the links' queues."""

from __future__ import annotations

import bisect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from slownet.judge.records.cell import Cell
from slownet.judge.records.naming import conditions_phrase, varied, where
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import RawOutput
from slownet.model.errors import SlownetError
from slownet.report import scale
from slownet.report.chart import COLOURS, FREE, Chart, Point
from slownet.report.figure import Figure
from slownet.report.text import trimmed
from slownet.tools import iperf3, wget

Steps = list[tuple[float, float]]
"""Seconds at which a part ends, with the rate in Mbit/s in that part, or the window in KiB at its end."""
MOST_STEPS, PARTS = 120, 60
"""Steps of a line; of more, the means in so many equal parts of the time are drawn."""
ALIKE = 2.5
"""Series whose lengths differ by this factor at most have one time axis."""


def of_run(run: RunData) -> list[Figure]:
    """Draw throughput and window over time in the first measurement of each cell that has them."""
    return [figure for quantity in QUANTITIES for figure in _figures(run, quantity)]


def _figures(run: RunData, quantity: Quantity) -> list[Figure]:
    found = [(cell, steps) for cell in run.cells if (steps := _steps(run, cell, quantity))]
    if not found:
        return []
    groups: dict[str, list[tuple[Cell, Steps]]] = {}
    names = varied(run)
    colours = FREE if run.published else COLOURS
    apart = names[:1] if len(names) > 1 and len(found) > len(colours) else names
    for cell, steps in found:
        rest = conditions_phrase(cell.label, [name for name in names if name not in apart])
        groups.setdefault(rest, []).append((cell, steps))
    if any(len(group) > len(colours) for group in groups.values()):
        groups = {where(cell.label, run): [(cell, steps)] for cell, steps in found}
    axes = _axes([steps for _, steps in found])
    all_names = dict.fromkeys(_name(run, cell, apart) for cell in run.cells)
    by_name = dict(zip(all_names, colours, strict=False)) if len(all_names) <= len(colours) else {}
    drawn = [
        [
            (_name(run, cell, apart), by_name.get(_name(run, cell, apart), colour), steps)
            for (cell, steps), colour in zip(group, colours, strict=False)
        ]
        for group in groups.values()
    ]
    return [
        _figure(run, quantity, rest, lines, number, axes)
        for number, (rest, lines) in enumerate(zip(groups, drawn, strict=True), 1)
    ]


def _name(run: RunData, cell: Cell, apart: Sequence[str]) -> str:
    return conditions_phrase(cell.label, apart) or where(cell.label, run)


def _axes(found: Sequence[Steps]) -> tuple[scale.Linear | None, scale.Linear | scale.Log]:
    """Return the axes of all figures of a quantity, which are to be compared: time, None if it differs much, and number."""
    lasts = [steps[-1][0] for steps in found]
    means = [sum(rate for _, rate in steps) / len(steps) for steps in found]
    rates = [rate for steps in found for _, rate in steps]
    x = scale.Linear(0, max(lasts) or 1) if max(lasts) <= ALIKE * min(lasts) else None
    return x, scale.log(rates) if max(means) >= scale.WIDE * min(means) > 0 else scale.from_zero(rates)


def _figure(
    run: RunData, quantity: Quantity, rest: str, lines: Sequence[tuple[str, str, Steps]], number: int,
    axes: tuple[scale.Linear | None, scale.Linear | scale.Log],
) -> Figure:  # fmt: skip
    """Draw lines, each with its name and its colour, which it has in all figures of the page."""
    title = f"{quantity.title} over time{', ' + rest if rest else ''}"
    x = axes[0] or scale.Linear(0, max(steps[-1][0] for *_, steps in lines) or 1)
    chart = Chart(f"{run.experiment}: {title}", x, axes[1], "seconds", quantity.unit)
    rows: list[tuple[str | float | None, ...]] = []
    for name, colour, steps in lines:
        drawn = [(0.0, steps[0][1]), *steps]
        chart.line(_stairs(drawn), name, colour)
        chart.marks(
            (
                Point(
                    at, rate, f"{name}: {trimmed(float(f'{rate:.3g}'))} {quantity.unit} until {trimmed(float(f'{at:.4g}'))} s"
                )
                for at, rate in steps
            )
        )
        rows += [(name, at, rate) for at, rate in steps]
    return Figure(
        f"{quantity.name}-{number}", title, chart.svg(), ("cell", "until, s", quantity.unit), tuple(rows), quantity.note
    )


def _stairs(steps: Sequence[tuple[float, float]]) -> Steps:
    """Return the corners of a line that holds each rate for its part of the time."""
    found: Steps = []
    for (start, _), (end, rate) in pairwise(steps):
        found += [(start, rate), (end, rate)]
    return found


def _steps(run: RunData, cell: Cell, quantity: Quantity) -> Steps:
    kept = RawOutput(run.directory)
    for sample in cell.samples:
        for raw in sample.get("raw") or ():
            for ending, read in quantity.readers.items():
                if raw.endswith(ending) and (steps := _read(kept, raw, read)):
                    return _even(steps)
    return []


def _read(kept: RawOutput, name: str, read: Callable[[str], Steps]) -> Steps:
    """Read a file; nothing if it is damaged, because the run's numbers do not depend on it."""
    try:
        return read(kept.text(name))
    except (OSError, SlownetError, ValueError, LookupError, TypeError, AttributeError):
        return []


def _of_iperf3(text: str) -> Steps:
    found = iperf3.parse(_output(text))
    every = found.seconds / len(found.intervals) if found.intervals else 0.0
    return [(every * number, rate / 1e6) for number, rate in enumerate(found.intervals, 1)]


def _of_wget(text: str) -> Steps:
    rows = [row for row in wget.parse(_output(text)).rows if row]
    times = accumulate(wget.ROW_BYTES / row for row in rows)
    return [(at, 8 * row / 1e6) for at, row in zip(times, rows, strict=True)]


def _windows(text: str) -> Steps:
    found = iperf3.parse(_output(text))
    every = found.seconds / len(found.intervals) if found.intervals else 0.0
    sizes = found.windows[: len(found.intervals)]  # the sender may say a last one, of less than a second
    return [(every * number, size / 1024) for number, size in enumerate(sizes, 1)]


def _queues(text: str) -> Steps:
    """Return what waited in the fullest of the queues that were watched, in KiB."""
    found = json.loads(text)
    sizes = max(found["queued_bytes"].values(), key=sum)
    return [(at, size / 1024) for at, size in zip(found["seconds"], sizes, strict=True) if at]


def _output(text: str) -> str:
    """Return a tool's output without its command line."""
    return text.partition("\n")[2]


@dataclass(frozen=True)
class Quantity:
    """A quantity that is drawn over time: its file name, title, unit, a reader for each kind of raw output, and its source."""

    name: str
    title: str
    unit: str
    readers: Mapping[str, Callable[[str], Steps]]
    note: str = ""


QUANTITIES = (
    Quantity("throughput", "Throughput", "Mbit/s", {"-iperf3.txt": _of_iperf3, "-wget.txt": _of_wget}),
    Quantity(
        "window", "Congestion window", "KiB", {"-iperf3.txt": _windows}, "At the end of each second, as iperf3 reports it."
    ),
    Quantity(
        "queue",
        "Queue",
        "KiB",
        {"-queue.json": _queues},
        "The backlog of the bottleneck, read at these moments from its queueing discipline (backlog in tc -s qdisc), "
        "with headers. A link with a queue and no rate has one queue for what waits and what is in flight.",
    ),
)


def _even(steps: Steps) -> Steps:
    """Return the means in equal parts of the time, if there are too many steps or they differ much in length.

    wget prints how fast each part of a file was read from the socket: what waited there is read at once, at no rate of a link.
    """
    times = [0.0, *(end for end, _ in steps)]
    lengths = [after - before for before, after in pairwise(times)]
    if len(steps) <= MOST_STEPS and max(lengths) < 1.5 * min(lengths):
        return steps
    sums = list(accumulate((rate * length for (_, rate), length in zip(steps, lengths, strict=True)), initial=0.0))
    edges = [times[-1] * number / PARTS for number in range(PARTS + 1)]
    reached = [_between(times, sums, edge) for edge in edges]
    return [
        (end, (after - before) / (end - start))
        for (start, end), (before, after) in zip(pairwise(edges), pairwise(reached), strict=True)
    ]


def _between(times: Sequence[float], sums: Sequence[float], at: float) -> float:
    """Return what was carried until a time, in Mbit."""
    after = min(max(bisect.bisect_left(times, at), 1), len(times) - 1)
    part = (at - times[after - 1]) / ((times[after] - times[after - 1]) or 1.0)
    return sums[after - 1] + part * (sums[after] - sums[after - 1])
