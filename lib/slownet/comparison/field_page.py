"""The page of a field measurement: what a page takes from here, and the parts of each request."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from slownet.comparison.record import Field, values
from slownet.model.facts import Facts
from slownet.report import scale
from slownet.report.chart import COLOURS, Chart
from slownet.report.figure import Figure
from slownet.report.html_page import REPORT, write_page
from slownet.report.view import view
from slownet.tools.fetch import BODY, RTT, TIME, TLS, WAITING

PARTS = {
    RTT: ("connection", "the connection"),
    TLS: ("TLS", "TLS"),
    WAITING: ("to the first byte", "the first byte"),
    BODY: ("body", "the body"),
}
"""The parts of a request, as a legend and a sentence call them."""
SHOWN = ("address", "port", "http", "tls", "requests", "pause_s", "resolved_ms", "user_agent", "slownet")


def write(field: Field, directory: Path) -> Path:
    """Write the page into the directory of a measurement; return its path. Raises SlownetError."""
    run = field.run()
    (cell,) = run.cells
    parts = [f"{cell.amount(name)} for {said}" for name, (_, said) in PARTS.items() if name in cell.metrics]
    answer = f"{cell.amount(TIME)}: {', '.join(parts[:-1])} and {parts[-1]}."
    facts: Facts = {
        **run.facts, "question": f"What does {field.facts['url']} take from here?", "answer": answer, "operation": "page",
        "place": "in the field", "clock": "real",
        "settings": {name: field.facts[name] for name in SHOWN if field.facts.get(name) is not None},
    }  # fmt: skip
    if "started" in field.facts:
        facts["started"] = field.facts["started"]
    if "kernel" in field.facts:
        facts["kernel"] = field.facts["kernel"]
    figures = [figure] if (figure := requests_figure(field)) else []
    return write_page(directory / REPORT, [view(replace(run, directory=directory, facts=facts))], more=figures)


def requests_figure(field: Field) -> Figure | None:
    """Draw how long each part of each request took, in their order; None for a single request."""
    count = len(field.pages)
    if count < 2:
        return None
    metrics = field.metrics()
    found = {said: values(field, name) for name, (said, _) in PARTS.items() if name in metrics}
    title = "The parts of each request"
    across = scale.Linear(0.5, count + 0.5, tuple(float(each) for each in range(1, count + 1, max(1, count // 8))))
    sums = [list(accumulate(times, initial=0.0)) for times in zip(*found.values(), strict=True)]
    chart = Chart(title, across, scale.from_zero(each[-1] for each in sums), "request, in their order", "ms")
    for part, ((said, times), colour) in enumerate(zip(found.items(), COLOURS, strict=False)):
        for at, (time, ends) in enumerate(zip(times, sums, strict=True), 1):
            says = f"request {at}: {said} {time:.3g} ms of {ends[-1]:.3g} ms"
            chart.stroke((at, ends[part]), (at, ends[part + 1]), says, said if at == 1 else "", colour)
    rows = tuple((float(at), *row) for at, row in enumerate(zip(*found.values(), strict=True), 1))
    return Figure("requests", title, chart.svg(), ("request", *(f"{said}, ms" for said in found)), rows)
