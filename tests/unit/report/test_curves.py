"""Curves of several laws in one picture, and dots with what theory predicts."""

from pathlib import Path
from xml.etree import ElementTree

from slownet.judge.claim import law, predicted
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.report.curves import curve_figure
from slownet.report.plots import figures
from slownet.report.view import view
from slownet.theory.stats import Summary

PAGE = "page_ms"


def cell(protocol, rtt, time):
    label = {"protocol": protocol, "rtt": f"{rtt}ms"}
    sample = {"status": "ok", "metrics": {PAGE: {"mean": time, "sd": 0.0, "n": 1}}}
    return Cell(label, {"rtt_ms": float(rtt)}, (sample,), {PAGE: Summary(time, time, time, 10)})


def run(rtts=(20, 40, 100), rows=()):
    cells = tuple(cell(name, rtt, 1.0 + k * rtt) for name, k in (("HTTP/1.1", 10), ("HTTP/2", 7)) for rtt in rtts)
    claims = [law(PAGE, round_trips=k, at={"protocol": name}) for name, k in (("HTTP/1.1", 10), ("HTTP/2", 7), ("HTTP/2", 8))]
    facts = {"operation": "page", "published": {"metric": PAGE, "rows": list(rows)}}
    found = RunData(Path("x"), "x", facts, cells)
    return RunData(Path("x"), "x", facts, cells, tuple(claim.judge(found) for claim in claims))


def texts(svg):
    return [each.text for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]


def test_each_law_is_a_line_with_its_round_trips():
    (figure,) = figures(view(run()))
    assert figure.name == "curves"
    assert {"HTTP/1.1: 10 round trips", "HTTP/2: 7 round trips"} <= set(texts(figure.svg))
    assert figure.svg.count("data-says=") == 6
    assert [row[1] for row in figure.rows] == [201, 401, 1001, 141, 281, 701]


def test_published_times_are_beside_their_cells():
    rows = [{"cell": {"protocol": "HTTP/2", "rtt": "100ms"}, PAGE: 900.0}]
    figure = curve_figure(view(run(rows=rows)))
    assert "published" in texts(figure.svg)
    assert [row[2] for row in figure.rows] == [None] * 5 + [900.0]


def test_two_delays_are_no_curve():
    assert curve_figure(view(run(rtts=(20, 40)))) is None


def test_dots_show_what_theory_predicts():
    names = ("TCP", "QUIC")
    cells = tuple(Cell({"stack": name}, {}, ({"status": "ok"},), {"round_trips": Summary(2.0, 2.0, 2.0, 1)}) for name in names)
    found = RunData(Path("x"), "x", {}, cells)
    claims = tuple(predicted("round_trips", {"stack": name}, expected=2, within=0.01).judge(found) for name in names)
    (figure,) = figures(view(RunData(Path("x"), "x", {}, cells, claims)))
    assert "theory" in texts(figure.svg)
    assert figure.svg.count("2 predicted") == 2
