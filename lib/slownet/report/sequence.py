"""The time-sequence graph: the writes of a program (strace) and the segments that left the machine (a capture).

Bytes against time, as in Shawn Ostermann's tcptrace: a bar is a segment, the line shows what the peer has acknowledged, a
triangle is a write. If a bar is to the right of its triangle, the kernel held the bytes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from slownet.errors import ToolError
from slownet.packets.capture import ACK, Segment, departures, read
from slownet.records.result import RunData
from slownet.report.plots import INK, MEASURED, PUBLISHED, SIZE, STYLE, inline
from slownet.tools.strace import Call, parse

STRACE, PCAP = ".strace.txt", ".pcap"
HELD_MS = 1.0
"""Writes that were held back longer are annotated."""


def sequence_plots(run: RunData) -> list[str]:
    """Draw one ``<svg>`` for each sample that has both a trace and a capture; unreadable ones are left out."""
    plots = []
    for title, trace, capture in _evidence(run):
        try:
            calls, segments = parse(trace.read_text(errors="replace")), read(capture)
        except (ToolError, OSError):
            continue
        plots.append(sequence_plot(title, calls, segments, f"{run.directory.name}-{title}"))
    return plots


def _evidence(run: RunData) -> Iterator[tuple[str, Path, Path]]:
    for cell in run.cells:
        for sample in cell.samples:
            found = {end: run.directory / raw for raw in sample.get("raw") or () for end in (STRACE, PCAP) if raw.endswith(end)}
            if len(found) == 2:
                yield cell.title, found[STRACE], found[PCAP]


def sequence_plot(title: str, calls: list[Call], segments: list[Segment], salt: str) -> str:
    """Draw the graph of one connection, from its first data on."""
    writes = [(call.ns, call.result) for call in calls if call.name == "sendto" and call.result and call.result > 0]
    start = writes[0][0] if writes else segments[0].ns
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": salt}):
        figure = Figure(figsize=(SIZE[0], SIZE[1]), layout="constrained")
        axes = figure.add_subplot()
        _draw_segments(axes, segments, start)
        found = departures(writes, segments)
        written = [(each.written - start) / 1e6 for each in found]
        axes.plot(written, [each.end for each in found], ">", color=INK, mfc="none", label="program writes")
        for each in found:
            if each.held_ms > HELD_MS:
                axes.hlines(each.end, (each.written - start) / 1e6, (each.left - start) / 1e6, color=INK, lw=1, ls=":")
                axes.annotate(
                    f"held {each.held_ms:.1f} ms", ((each.left - start) / 1e6, each.end), (-4, 4), textcoords="offset points",
                    ha="right", fontsize=8,
                )  # fmt: skip
        axes.set_xlabel("ms since the first write")
        axes.set_ylabel("bytes sent")
        axes.set_title(title, fontsize=9)
        axes.legend(loc="lower right")
        return inline(figure, f"time-sequence graph, {title}")


def _draw_segments(axes: Axes, segments: list[Segment], start: int) -> None:
    sent = [each for each in segments if each.outward and each.length]
    times = [(each.ns - start) / 1e6 for each in sent]
    axes.vlines(
        times, [each.sequence for each in sent], [each.end for each in sent], color=MEASURED, lw=3, label="segment leaves"
    )
    acks = [each for each in segments if not each.outward and each.flags & ACK and each.acknowledged >= 0]
    came = [(each.ns - start) / 1e6 for each in acks]
    axes.step(came, [each.acknowledged for each in acks], where="post", color=PUBLISHED, lw=1, label="acknowledged")
