"""The time-sequence graph: the writes of a program (strace) and the segments that left the machine (a capture).

Bytes against time, as in Shawn Ostermann's tcptrace: a bar is a segment, the line shows what the peer has acknowledged, a
diamond is a write. If a bar is to the right of its diamond, the kernel held the bytes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slownet.judge.records.naming import where
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import RawOutput
from slownet.links.packets.capture import ACK, Segment, departures, read
from slownet.model.errors import SlownetError
from slownet.net.strace import Call, parse
from slownet.report import scale
from slownet.report.chart import Chart, Point
from slownet.report.figure import Figure

STRACE, PCAP = ".strace.txt", ".pcap"
HELD_MS = 1.0
"""Writes that were held back longer are drawn as such."""
NOTED = 4
"""Of these the longest are annotated."""


def of_run(run: RunData) -> list[Figure]:
    """Draw a figure for each sample that has both a trace and a capture; unreadable ones are left out."""
    found: list[Figure] = []
    kept = RawOutput(run.directory)
    for title, trace, capture in _evidence(run):
        try:
            calls, segments = parse(kept.text(trace)), read(kept.read(capture))
        except (SlownetError, OSError):
            continue
        found.append(sequence_figure(title, calls, segments, f"segments-{len(found) + 1}"))
    return found


def _evidence(run: RunData) -> Iterator[tuple[str, str, str]]:
    for cell in run.cells:
        for sample in cell.samples:
            found = {end: raw for raw in sample.get("raw") or () for end in (STRACE, PCAP) if raw.endswith(end)}
            if len(found) == 2:
                yield where(cell.label, run), found[STRACE], found[PCAP]


def sequence_figure(title: str, calls: Sequence[Call], segments: Sequence[Segment], name: str) -> Figure:
    """Draw the graph of one connection, from its first data on."""
    writes = [(call.ns, call.result) for call in calls if call.name == "sendto" and call.result and call.result > 0]
    start = writes[0][0] if writes else segments[0].ns
    found = departures(writes, segments)
    sent = [each for each in segments if each.outward and each.length]
    acks = [each for each in segments if not each.outward and each.flags & ACK and each.acknowledged >= 0]

    def at(ns: int) -> float:
        return (ns - start) / 1e6

    last = max([at(each.ns) for each in segments], default=1.0)
    bytes_ = [each.end for each in sent] or [1]
    label = f"time-sequence graph, {title}"
    chart = Chart(
        label,
        scale.Linear(min(0.0, -0.02 * last), last or 1.0),
        scale.from_zero(bytes_),
        "ms since the first write",
        "bytes sent",
    )
    chart.line(((at(each.ns), each.acknowledged) for each in acks), "acknowledged", "published", stepped=True)
    for each in sent:
        says = f"segment of {each.length} bytes leaves after {at(each.ns):.2f} ms"
        chart.stroke((at(each.ns), each.sequence), (at(each.ns), each.end), says, "segment leaves")
    noted = sorted((each for each in found if each.held_ms > HELD_MS), key=lambda each: -each.held_ms)[:NOTED]
    for wait in found:
        if wait.held_ms > HELD_MS:
            said = f"held {wait.held_ms:.1f} ms"
            chart.stroke(
                (at(wait.written), wait.end), (at(wait.left), wait.end), f"write {said}", "held back", "ink", thin=True
            )
            if wait in noted:
                chart.note(at(wait.left), wait.end, said)
    marks = (Point(at(each.written), each.end, f"the program writes after {at(each.written):.2f} ms") for each in found)
    chart.points(marks, "program writes", "ink", hollow=True)
    rows = tuple((float(each.end), at(each.written), at(each.left), each.held_ms) for each in found)
    head = ("bytes so far", "written, ms", "left, ms", "held, ms")
    return Figure(name, f"Segments over time, {title}", chart.svg(), head, rows)
