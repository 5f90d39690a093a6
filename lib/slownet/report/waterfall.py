"""A page's load in a browser: its requests over time, the link's rate and queue on the same axis, and a filmstrip.

A bar has the phases of a request: connecting, waiting for the first byte, receiving. Lines mark the paints and the load.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from slownet.judge.records.naming import where
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import RawOutput
from slownet.model.errors import SlownetError
from slownet.report.chart import WIDTH, clipped, element, escaped, marked
from slownet.report.figure import Figure
from slownet.report.scale import Linear
from slownet.report.timeline import RIGHT, Timeline, legend
from slownet.tools.browser.browse import Browse, parse
from slownet.tools.browser.critical_path import CONNECTING, critical_path, described
from slownet.tools.browser.loading import Load, Request

LOADS, QUEUE = "-browse.txt", "-queue.json"
MOST_CELLS, MOST_REQUESTS, MOST_PICTURES = 4, 60, 8
LEFT, ROW, STRIP = 128, 14, 46
BINS = 25
"""Parts of the time that the rate is drawn in."""
PARTS = (("connecting", CONNECTING, "third"), ("waiting for the first byte", ("request",), "published"),
         ("receiving", ("download",), "measured"))  # fmt: skip
MILESTONES = {"first_paint": "first paint", "largest_paint": "largest paint", "load": "load"}


@dataclass(frozen=True)
class Strip:
    """A curve below the waterfall. points: (ms, value), stepped; most: the value at its top."""

    title: str
    points: Sequence[tuple[float, float]]
    most: float
    unit: str


def of_run(run: RunData) -> list[Figure]:
    """Draw waterfall and filmstrip of a load in each of a run's first cells; unreadable ones are left out."""
    found: list[Figure] = []
    kept = RawOutput(run.directory)
    for title, rtt_ms, name, queue in list(_evidence(run))[:MOST_CELLS]:
        try:
            record = parse(kept.text(name))
            waiting = json.loads(kept.text(queue)) if queue else {}
        except (SlownetError, OSError, ValueError):
            continue
        found += _of_a_cell(record, title, len(found) + 1, rtt_ms, waiting)
    return found


def _of_a_cell(record: Browse, title: str, number: int, rtt_ms: float | None, waiting: Mapping[str, Any]) -> Iterator[Figure]:
    """Draw the load whose queue was kept, the longest one; with both caches, the two loads of its context on one axis."""
    longest = max((*record.loads, *record.warm), key=_watched_ms)
    pairs = zip(record.loads, record.warm, strict=True) if record.warm else ()
    cold, warm = next((pair for pair in pairs if longest in pair), (longest, None))
    for load, cache in ((cold, "cold cache"), (warm, "warm cache")):
        if load is None:
            continue
        said = ", ".join(filter(None, (title, cache if warm else "")))
        queue = waiting if load is longest else {}
        shown = waterfall(load, said, f"waterfall-{number}{'-again' * (load is warm)}", rtt_ms, queue, _last(cold))
        yield replace(shown, note=f"{shown.note} {compared(cold, load)}") if load is warm else shown
    if cold.frames:
        yield filmstrip(cold, title, f"filmstrip-{number}", rtt_ms)


def _watched_ms(load: Load) -> float:
    return load.watched[1] - load.watched[0] if load.watched else 0.0


def compared(cold: Load, warm: Load) -> str:
    """Say what a warm cache saved."""
    cached = sum(each.cached for each in warm.requests)
    came, comes = (each.received_bytes / 1000 for each in (cold, warm))
    return (
        f"With a warm cache {cached} of {len(warm.requests)} requests need no server; {comes:.3g} instead of {came:.3g} kB "
        f"come over {warm.connections} instead of {cold.connections} new connections, and the load takes "
        f"{warm.milestones['load']:.0f} instead of {cold.milestones['load']:.0f} ms."
    )


def _evidence(run: RunData) -> Iterator[tuple[str, float | None, str, str]]:
    for cell in run.cells:
        for sample in cell.samples[:1]:
            raw = [str(each) for each in sample.get("raw") or ()]
            loads = [each for each in raw if each.endswith(LOADS)]
            queue = [each for each in raw if each.endswith(QUEUE)]
            if loads and sample.get("status") == "ok":
                yield where(cell.label, run), sample.get("verified_rtt_ms"), loads[0], queue[0] if queue else ""


def waterfall(
    load: Load, title: str, name: str, rtt_ms: float | None = None, queue: Mapping[str, Any] | None = None, until: float = 0.0
) -> Figure:  # fmt: skip
    """Draw the waterfall of a load.

    load: the load.
    title, name: what sets its cell apart, and the figure's name.
    rtt_ms: the round trip, for the sentence on what the first paint waited for.
    queue: what waited in front of the link meanwhile (`slownet.net.backlog.Backlog.to_json`).
    until: the axis's end in ms, if that is later than the load's.
    """
    shown = load.requests[:MOST_REQUESTS]
    last = max(_last(load), until)
    x = Timeline(Linear(0.0, 1.02 * last), LEFT)
    strips = [each for each in (_rate(load, last), _queued(load, queue or {})) if each]
    top = 62.0
    bottom = top + ROW * len(shown)
    critical = critical_path(load)
    body = [
        legend((name, colour) for name, _, colour in PARTS),
        *x.axis(top, bottom + STRIP * len(strips), "ms since the load began"),
    ]
    body += [_row(each, x, top + ROW * number, each in critical) for number, each in enumerate(shown)]
    body += [_strip(each, x, bottom + STRIP * number) for number, each in enumerate(strips)]
    body += _milestones(load, x, top, bottom + STRIP * len(strips))
    height = bottom + STRIP * len(strips) + 34
    more = len(load.requests) - len(shown)
    note = described(load, rtt_ms) + (f" {more} more requests are not drawn." if more else "")
    text = f"Requests of the page over time{', ' + title if title else ''}"
    return Figure(name, text, element(text, height, "".join(body)), HEAD, _rows(load), note)


def _last(load: Load) -> float:
    ends = [each.end for each in load.requests[:MOST_REQUESTS]]
    return max(ends + [load.milestones[each] for each in MILESTONES if each in load.milestones])


HEAD = ("request", "kind", "protocol", "start, ms", "first byte, ms", "end, ms", "bytes", "blocks the first paint")


def _rows(load: Load) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        (_short(each), each.kind, each.protocol, each.start, each.first_byte, each.end, float(each.received_bytes),
         "yes" if each.blocks else "")
        for each in load.requests
    )  # fmt: skip


def _short(request: Request) -> str:
    parts = urlsplit(request.url)
    return (parts.path.rpartition("/")[2] or "/") + (f"?{parts.query}" if parts.query else "")


def _row(request: Request, x: Timeline, y: float, is_critical: bool) -> str:
    name = clipped(_short(request), LEFT - 10)
    weight = ' font-weight="bold"' if is_critical else ""
    bars = [f'<path class="grid" d="M{x.at(request.start):.1f} {y + 7:.1f}H{x.at(request.end):.1f}"/>']
    for _, phases, colour in PARTS:
        spans = [request.phases[each] for each in phases if each in request.phases]
        if spans:
            left, right = x.at(min(first for first, _ in spans)), x.at(max(last for _, last in spans))
            shape = f'x="{left:.1f}" y="{y + 3:.1f}" width="{max(1.0, right - left):.1f}" height="8"'
            bars.append(f'<rect {shape} fill="var(--{colour})"/>')
    says = f"{_short(request)}, {request.kind}, {request.protocol or request.failed}: {_said(request)}"
    middle = (x.at(request.start) + x.at(request.end)) / 2
    label = f'<text x="{LEFT - 6}" y="{y + 11:.1f}" text-anchor="end"{weight}>{escaped(name)}</text>'
    return label + marked("".join(bars), middle, y + 7, says)


def _said(request: Request) -> str:
    spans = [f"{name} {last - first:.1f} ms" for name, (first, last) in request.phases.items() if last - first >= 0.05]
    return f"from {request.start:.1f} to {request.end:.1f} ms ({', '.join(spans)}), {request.received_bytes} bytes"


def _milestones(load: Load, x: Timeline, top: float, bottom: float) -> Iterator[str]:
    times = [(load.milestones[each], text) for each, text in MILESTONES.items() if each in load.milestones]
    for number, (at, text) in enumerate(sorted(times)):
        across, up = x.at(at), top - 34 + 12 * number
        right = across > WIDTH - 110
        anchor = f'x="{across + (-3 if right else 3):.1f}" text-anchor="{"end" if right else "start"}"'
        line = f'<path class="line" stroke="var(--soft)" stroke-dasharray="2 3" d="M{across:.1f} {up - 8:.0f}V{bottom:.0f}"/>'
        mark = marked(line, across, up, f"{text} after {at:.1f} ms")
        yield f'{mark}<text class="small" {anchor} y="{up:.0f}">{text} {at:.0f}</text>'


def _rate(load: Load, last: float) -> Strip | None:
    """Return how fast contents came, in Mbit/s."""
    if not load.received or last <= 0:
        return None
    width = last / BINS
    sums = [0] * BINS
    for at, size in load.received:
        sums[min(BINS - 1, max(0, int(at / width)))] += size
    points = [(number * width, 8 * size / width / 1000) for number, size in enumerate(sums)]
    return Strip("received", points, max(value for _, value in points), "Mbit/s")


def _queued(load: Load, queue: Mapping[str, Any]) -> Strip | None:
    """Return what waited in front of the link that had most, in kB."""
    links = {name: sizes for name, sizes in (queue.get("queued_bytes") or {}).items() if name not in queue.get("in_flight", ())}
    if not links or load.watched is None or not any(max(sizes, default=0) for sizes in links.values()):
        return None
    name = max(links, key=lambda each: max(links[each], default=0))
    points = [
        (load.watched[0] + 1000 * at, size / 1000) for at, size in zip(queue["seconds"], links[name], strict=False)
    ]  # fmt: skip
    return Strip(f"queue of {name}", points, max(value for _, value in points), "kB")


def _strip(strip: Strip, x: Timeline, y: float) -> str:
    base, high = y + STRIP - 6, STRIP - 16
    words: list[str] = []
    for at, value in strip.points:
        if at > x.scale.high:
            break
        across, up = x.at(at), base - high * (value / strip.most if strip.most else 0.0)
        words.append(f"{'H' if words else 'M'}{across:.1f}{'V' if words else ' '}{up:.1f}")
    says = f"{strip.title}: {strip.most:.3g} {strip.unit} at most"
    line = f'<path class="line" stroke="var(--measured)" d="{"".join(words)}"/>'
    axis = f'<path class="axis" d="M{LEFT} {base:.0f}H{WIDTH - RIGHT}"/>'
    beside = f'x="{LEFT - 6}" text-anchor="end"'
    label = f'<text {beside} y="{base - high / 2:.0f}">{escaped(clipped(strip.title, LEFT - 10))}</text>'
    most = f'<text class="small" {beside} y="{base - high / 2 + 11:.0f}">up to {strip.most:.3g} {strip.unit}</text>'
    return label + most + marked(line + axis, (LEFT + WIDTH) / 2, base - high, says)


def filmstrip(load: Load, title: str, name: str, rtt_ms: float | None = None) -> Figure:
    """Draw pictures of a load, with their times and, with a round trip, how many of those had passed."""
    frames = [each for each in load.frames if each[0] >= 0] or list(load.frames)
    step = max(1, -(-len(frames) // MOST_PICTURES))
    chosen = frames[::step] if (len(frames) - 1) % step == 0 else [*frames[::step], frames[-1]]
    across, wide, high = 4, (WIDTH - 8) / 4, 88.0
    body = []
    for number, (at, jpeg) in enumerate(chosen):
        x, y = across + wide * (number % 4), 4 + (high + 18) * (number // 4)
        trips = f", {at / rtt_ms:.1f} RTT" if rtt_ms and rtt_ms >= 1 else ""
        text = f"{at:.0f} ms{trips}"
        shape = f'x="{x:.1f}" y="{y:.1f}" width="{wide - 6:.1f}" height="{high:.0f}"'
        picture = f'<image {shape} preserveAspectRatio="xMidYMin slice" href="data:image/jpeg;base64,{escaped(jpeg)}"/>'
        frame = f'<rect {shape} fill="none" stroke="var(--soft)"/>'
        body.append(f'{picture}{frame}<text class="small" x="{x:.1f}" y="{y + high + 12:.1f}">{text}</text>')
    height = 8 + (high + 18) * -(-len(chosen) // 4)
    label = f"Filmstrip of the page{', ' + title if title else ''}"
    rows = tuple((at,) for at, _ in chosen)
    return Figure(name, label, element(label, height, "".join(body)), ("picture taken, ms",), rows)
