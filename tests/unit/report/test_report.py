import csv
import json
import math
import re
import sys
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from rich.console import Console

from slownet.api.presented import Run
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import TEXT
from slownet.model.errors import SlownetError
from slownet.model.units import spoken
from slownet.report import plots
from slownet.report.figure import Figure
from slownet.report.html_page import page_figures, render_page, write_page, write_report
from slownet.report.plots import dot_figure, figures, rate_figure, time_figure
from slownet.report.table import show, table
from slownet.report.text import milliseconds, number, spelled, trimmed, with_interval
from slownet.report.view import law_line, view
from slownet.theory import published
from slownet.theory.stats import Summary

TIME, RATE = "time_per_request_ms", "requests_per_second"
FACTS = {"question": "Is 10 ms <a lot>?", "clock": "virtual", "tdf": 4, "kernel": "6.12.48", "place": "lab"}
FACTS |= {"operation": "page", "versions": {"nginx": "1.26.3"}, "image": "sha256:3f2c", "wall_s": 14.2314}
COMPARED = FACTS | {"published": published.client_delay()}
CLAIM = Judgement("4 round trips", "supported", 4.0, 4.0, 3.9, 4.1, (3.8, 4.2), (TEXT(text="4.00 & some measured"),))


def run_of(times, failed=(), half=0.5, facts=FACTS, directory=Path("runs/x-client_delay")):
    cells = []
    for rtt, time in times.items():
        sample = {"status": "ok", "verified_rtt_ms": rtt + 0.06}
        metrics = {TIME: Summary(time, time - half, time + half, 100)}
        metrics[RATE] = Summary(1000 / time if time else 0.0, -math.inf, math.inf, 1)
        if rtt in failed:
            sample, metrics = {"status": "failed", "error": "ab timed out", "verified_rtt_ms": None}, {}
        cells.append(Cell({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, (sample,), metrics))
    return RunData(directory, "client_delay", facts, tuple(cells), (CLAIM,))


LINE = {0: 9.0, 10: 49.0, 40: 169.0, 120: 489.0}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (51.825, "51.83"), (0.0031, "0.003100"), (1099.341, "1099"), (81466.7, "81470"), (9.9996, "10.00"),
        (0.0, "0"), (None, "-"), (math.nan, "-"), (math.inf, "-"), (-2.5, "-2.500"), (-3e-15, "0"), (1e-9, "0.000000001"),
    ],
)  # fmt: skip
def test_number(value, text):
    assert number(value) == text


def test_other_texts():
    assert (trimmed(10.0), trimmed(0.1), trimmed(1100.0), trimmed(51.825)) == ("10", "0.1", "1100", "51.83")
    assert with_interval(Summary(51.83, 51.75, 51.91, 100)) == "51.83 ± 0.08"
    assert with_interval(Summary(51.83, 51.83, 51.83, 100)) == "51.83"
    assert with_interval(Summary(51.83, -math.inf, math.inf, 1)) == "51.83"
    assert spelled(Summary(51.83, 51.75, 51.91, 100)) == "51.83 (51.75 to 51.91)"
    assert spelled(Summary(51.83, -math.inf, math.inf, 1)) == "51.83 (interval unknown)"
    assert (spelled(None), with_interval(None), milliseconds(None)) == ("-", "-", "-")
    assert milliseconds(120.063) == "120.06"


def test_a_view_works_out_each_row():
    seen = view(run_of(LINE, facts=COMPARED))
    base, ten = seen.rows[0], seen.rows[1]
    assert (base.verdict, base.ratio, base.published_ratio) == ("baseline", Summary(1, 1, 1, 100), 1.0)
    assert ten.ratio.mean == pytest.approx(49 / 9)
    assert ten.published_ratio == pytest.approx(51.825 / 12.323)
    assert ten.published_time == 51.825
    assert ten.predicted.mean == pytest.approx(49.0)
    assert ten.verdict == "supported"
    assert ten.verified_rtt_ms == pytest.approx(10.06)
    assert ten.cpu_share == pytest.approx(9 / 49)
    assert [row.cpu_bound for row in seen.rows] == [True, False, False, False]
    assert law_line(seen) == "T(d) = 9.000 ms + 4.000 d (k 3.995 to 4.005)"


def test_a_cell_off_the_law_is_refuted_and_a_wide_one_inconclusive():
    bent = view(run_of({0: 9.0, 10: 80.0, 40: 169.0, 120: 489.0}, half=1.0))
    assert bent.rows[1].verdict == "refuted"
    assert view(run_of(LINE, half=4.0)).rows[1].verdict == "inconclusive"


def test_two_points_say_nothing_about_the_law():
    assert [row.verdict for row in view(run_of({0: 9.0, 10: 49.0})).rows] == ["baseline", ""]


@pytest.mark.parametrize(
    "clock", [{"clock": "real"}, {"clock": "virtual", "tdf": "inf", "cpu": "free"}], ids=["real", "free CPU"]
)
def test_only_a_clock_that_charges_the_cpu_has_cells_for_the_real_one(clock):
    seen = view(run_of(LINE, facts=FACTS | clock))
    assert seen.rows[0].cpu_share == (1 if clock["clock"] == "real" else None)
    assert not any(row.cpu_bound for row in seen.rows)


def test_the_legend_says_published_only_where_something_was():
    for facts, said in ((FACTS, False), (COMPARED, True)):
        assert (">published<" in time_figure(view(run_of(LINE, facts=facts))).svg) == said


def test_a_failed_cell_leaves_the_rest_readable():
    seen = view(run_of(LINE, failed=(40,), facts=COMPARED))
    assert [row.verdict for row in seen.rows] == ["baseline", "supported", "failed", "supported"]
    assert (seen.rows[2].time, seen.rows[2].error) == (None, "ab timed out")
    assert seen.rows[2].predicted.mean == pytest.approx(169.0)
    assert law_line(seen).endswith(", fitted without 1 failed cell")


def test_without_published_numbers_or_a_law():
    seen = view(run_of({10: 49.0}))
    assert seen.rows[0].published_ratio is None
    assert law_line(seen) == "none (only one delay was measured, 10 ms: measure at two different delays)"


def test_free_cpu_has_no_ratio():
    seen = view(run_of({0: 0.0, 10: 40.0, 40: 160.0}, half=0.0))
    assert [row.ratio for row in seen.rows] == [None, None, None]
    assert seen.rows[0].cpu_share is None
    assert seen.rows[2].verdict == "supported"


def test_with_free_cpu_what_takes_no_time_has_no_rate_and_no_share():
    """0.2 ms of a page without delay are no time of a page, and 5000 a second no rate of any machine."""
    facts = FACTS | {"tdf": "inf", "cpu": "free"}
    near, far = view(run_of({0: 0.2, 10: 40.2}, half=0.0, facts=facts)).rows
    assert (near.rate, near.cpu_share, far.cpu_share) == (None, None, None)
    assert far.rate.mean == pytest.approx(1000 / 40.2)
    charged, _ = view(run_of({0: 0.2, 10: 40.2}, half=0.0)).rows
    assert charged.rate.mean == 5000
    assert charged.cpu_share == pytest.approx(1, abs=0.1)


def test_published_numbers_may_come_with_the_run():
    seen = view(run_of(LINE, facts=COMPARED))
    assert seen.rows[1].published_time == 51.825


def printed(renderable, width=132):
    console = Console(width=width, record=True, file=open("/dev/null", "w"))
    console.print(renderable)
    console.file.close()
    return console.export_text()


def test_the_table_has_the_columns_and_one_row_a_cell():
    lines = printed(table(run_of(LINE, facts=COMPARED))).splitlines()
    heads = "condition|pages/s|ms per page|published|ratio|published ratio|law, ms|verified RTT, ms|verdict"
    assert re.split(r" {2,}", lines[0].strip()) == heads.split("|")
    wanted = ["rtt 10ms", "20.41", "49.00 ± 0.50", "51.83", "5.44", "4.21", "49.00", "10.06", "on the law"]
    assert re.split(r" {2,}", lines[2].strip()) == wanted
    assert len(lines) == 5


def test_show_adds_question_law_notes_and_claims():
    text = printed(show(run_of(LINE, failed=(40,), facts=COMPARED)))
    assert "Is 10 ms <a lot>?" in text
    assert "virtual clock, TDF 4, Linux 6.12.48, in the lab" in text
    assert "law: T(d) = 9.000 ms + 4.000 d" in text
    assert "rtt 40ms: ab timed out" in text
    assert "* CPU-bound: rerun with --clock real" in text
    assert "supported    4 round trips: 4.00 & some measured" in text
    assert "intervals: 95 %, as for the verdicts" in text


def test_a_rate_beyond_the_cpu_is_marked_in_table_and_page():
    run = run_of(LINE, facts=FACTS | {"ceiling_bit_s": 239.14e6})
    run.cells[2].samples[0]["rate_bit_s"] = 1e9
    run.cells[3].samples[0]["rate_bit_s"] = 100e6
    assert [row.beyond_cpu for row in view(run).rows] == [False, False, True, False]
    line = "† a link is set to a rate that this CPU cannot carry (at most 240 Mbit): rerun with --tdf inf"
    text, page = printed(show(run)), render_page([view(run)])
    assert text.count("†") == 2
    assert line in text
    assert page.count("†") == 2
    assert line in page
    assert "†" not in printed(show(run_of(LINE))) + render_page([view(run_of(LINE))])


def texts_of(figure):
    root = ElementTree.fromstring(figure.svg)
    assert root.tag.endswith("svg")
    assert "width" not in root.attrib
    return [each.text for each in root.iter() if each.tag.endswith("text")]


@pytest.mark.parametrize("draw", [time_figure, rate_figure])
def test_a_curve_has_law_published_points_and_the_colours_of_the_page(draw):
    figure = draw(view(run_of(LINE, facts=COMPARED)))
    measured = "measured, 95 % intervals" if draw is time_figure else "measured"  # these rates have no intervals
    assert {measured, "published", "law, fitted", "law with the published T0"} <= set(texts_of(figure))
    assert {"0", "10", "40", "120"} <= set(texts_of(figure))
    assert "var(--measured)" in figure.svg
    assert figure.svg == draw(view(run_of(LINE, facts=COMPARED))).svg


def test_each_mark_says_its_value_and_the_figure_has_the_same_numbers_as_a_table():
    figure = time_figure(view(run_of(LINE, facts=COMPARED)))
    assert 'data-says="rtt 10ms: 49.00 (48.50 to 49.50) ms per page"' in figure.svg
    assert 'data-says="rtt 10ms: 51.825 published"' in figure.svg
    assert figure.head == ("condition", "ms per page", "from", "to", "published")
    assert figure.rows[1] == ("rtt 10ms", 49.0, 48.5, 49.5, 51.825)
    assert list(csv.reader(figure.csv.splitlines()))[2] == ["rtt 10ms", "49.0", "48.5", "49.5", "51.825"]
    assert json.loads(figure.json)[1] == {
        "condition": "rtt 10ms",
        "ms per page": 49.0,
        "from": 48.5,
        "to": 49.5,
        "published": 51.825,
    }


def test_a_curve_shows_published_points_that_were_not_measured():
    figure = time_figure(view(run_of({0: 9.0, 10: 49.0}, facts=COMPARED)))
    assert "120" in texts_of(figure)
    assert figure.rows[-1] == ("rtt, ms 120", None, None, None, 491.918)


def test_there_is_no_rate_curve_without_a_rate():
    run = run_of(LINE)
    cells = tuple(Cell(c.label, c.condition, c.samples, {TIME: c.metrics[TIME]}) for c in run.cells)
    seen = view(RunData(run.directory, run.experiment, FACTS, cells))
    assert rate_figure(seen) is None
    assert render_page([seen]).count("<svg") == 1


class Page(HTMLParser):
    """The references, ids and words of a page."""

    def __init__(self, html):
        super().__init__()
        self.ids, self.references, self.words = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href") or (name == "style" and "url(" in value):
                self.references.append(value)

    def handle_data(self, data):
        self.words.append(data)


def test_a_page_holds_everything_and_needs_nothing(tmp_path):
    path = write_report(run_of(LINE, failed=(40,), directory=tmp_path, facts=COMPARED))
    assert path == tmp_path / "report.html"
    page = Page(path.read_text())
    assert page.references
    assert all(each.startswith(("#", "data:")) for each in page.references)
    text = " ".join(" ".join(page.words).split())
    for wanted in (
        "Is 10 ms <a lot>?", "4.00 & some measured", "51.83", "10.06", "Failed: rtt 40ms: ab timed out",
        "Rerun it with --clock real", "6.12.48", "sha256:3f2c", "1.26.3", "14.23", "T(d) = 9.000 ms + 4.000 d",
    ):  # fmt: skip
        assert wanted in text


def test_a_page_shows_answer_plot_claims_and_table_in_that_order_and_the_worst_claim_first():
    refuted = Judgement("y", "refuted", 9.0, 4.0, 8.9, 9.1, (3.8, 4.2), (TEXT(text="9.00 measured"),))
    page = render_page([view(run_of(LINE).judged([CLAIM, refuted]))])
    marks = [
        'class="answer"',
        "Time per page against",
        ">Claims<",
        "9.00 measured",
        "4.00 &amp; some measured",
        ">Cells<",
        ">Facts about",
    ]
    places = [page.index(each) for each in marks]
    assert places == sorted(places)


def test_the_page_says_what_the_lab_was_given():
    given = {"env": ["QUERIES", "A"], "shares": [["/data", False], ["/out", True]]}
    project = {"file": "/shop/pyproject.toml", "share": ["/shop/dist", "/shop/<x>"]}
    html = render_page([view(run_of(LINE, facts=COMPARED | {"given": given, "project": project}))])
    for name, text in (
        ("project", "/shop/pyproject.toml"), ("share", "/shop/dist /shop/&lt;x&gt;"), ("--env", "QUERIES A"),
        ("--share", "/data /out:rw"),
    ):  # fmt: skip
        assert f"<dt>{name}</dt><dd>{text}</dd>" in html
    assert "<dt>--env</dt>" not in render_page([view(run_of(LINE, facts=COMPARED))])


def test_a_page_of_several_runs_has_every_one_and_no_id_twice():
    other = run_of({0: 9.0, 10: 219.5, 40: 851.0}, directory=Path("runs/y-database_delay"))
    page = Page(html := render_page([view(run_of(LINE)), view(other)]))
    assert html.count('<section class="run"') == 2
    assert html.count("<svg") == 5  # that of both runs
    assert len(page.ids) == len(set(page.ids))


def test_a_run_in_which_everything_failed_still_has_a_page():
    html = render_page([view(run_of(LINE, failed=tuple(LINE), facts=COMPARED))])
    assert html.count("ab timed out") == 1
    assert "Law: none (" in html


def test_a_page_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(SlownetError, match=r"^cannot write .*report.html \(No such file or directory\)"):
        write_page(tmp_path / "nowhere" / "report.html", [view(run_of(LINE))])


def test_cells_along_no_condition_have_the_articles_numbers_beside_them():
    run = RunData(
        Path("runs/x"),
        "x",
        {"published": {"metric": "mib_per_s", "rows": [{"cell": {"rtt": "10ms", "loss": "1%"}, "mib_per_s": 13.5}]}},
        tuple(
            Cell(label, condition, ({"cell": label, "index": 0, "status": "ok"},), {"mib_per_s": Summary(mean, mean, mean, 1)})
            for label, condition, mean in (
                ({"step": "before"}, {"step": "before"}, 20.0),
                ({"rtt": "10ms", "loss": "1%"}, {"rtt_ms": 10.0, "loss_percent": 1.0}, 12.0),
            )
        ),
    )
    seen = view(run)
    assert (seen.along, seen.lawful, seen.unit) == ("", False, "MiB/s")
    assert [row.published_time for row in seen.rows] == [None, 13.5]
    assert [row.ratio.mean for row in seen.rows] == [1.0, 0.6]
    lines = printed(table(run)).splitlines()
    assert re.split(r" {2,}", lines[0].strip()) == ["condition", "MiB/s", "published", "ratio"]  # no cell has a law to lie on
    page = render_page([seen])
    assert page.count("<svg") == 1
    assert "Law:" not in page


def test_names_for_headings():
    assert [spoken(name) for name in ("mbit_per_s", "latency_min_ms", "transactions_per_s", "retransmits", "seconds")] == [
        "Mbit/s",
        "latency min, ms",
        "transactions, per second",
        "retransmits",
        "seconds",
    ]


def cured_run(half=0.5, failed=()):
    cells = []
    for harm, cure, time in (("none", "none", 10.0), ("far", "none", 250.0), ("far", "cache", 20.0), ("near", "cache", 9.0)):
        label = {"harm": harm, "cure": cure}
        bad = label in failed
        sample = {"status": "failed", "error": "ab timed out"} if bad else {"status": "ok"}
        metrics = {} if bad else {TIME: Summary(time, time - half, time + half, 100)}
        cells.append(Cell(label, label, (sample,), metrics))
    return RunData(Path("runs/x-cures"), "cures", FACTS, tuple(cells), ())


def test_a_cure_stands_beside_the_ratio_without_it():
    seen = view(cured_run())
    assert seen.cures
    assert [row.ratio.mean for row in seen.rows] == pytest.approx([1, 25, 2, 0.9], rel=1e-2)
    with_cure = seen.rows[2]
    assert with_cure.uncured == seen.rows[1].ratio
    assert [row.uncured for row in seen.rows if row is not with_cure] == [None] * 3  # "near" has no cell without a cure
    assert "without cure" in text_of(table(cured_run()))
    assert "without cure" not in text_of(table(run_of(LINE)))


def test_without_the_uncured_cell_there_is_no_ratio_to_compare():
    assert not view(cured_run(failed=({"harm": "far", "cure": "none"},))).cures


def test_the_page_has_the_ratio_without_a_cure_too_and_no_column_that_is_empty():
    def heads(run):
        page = re.sub("</?abbr[^>]*>", "", render_page([view(run)]))
        return re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', page.partition("<h2>Cells</h2>")[2])

    assert heads(cured_run()) == ["condition", "ms per page", "ratio", "without cure"]
    assert heads(run_of(LINE)) == [
        "condition",
        "pages/s",
        "ms per page",
        "ratio",
        "law, ms",
        "verified RTT, ms",
        "T0 share",
        "verdict",
    ]


def test_harms_stand_beside_their_cures_in_a_figure():
    figure = dot_figure(view(cured_run()))
    assert {"far", "near", "no cure", "cache", "without a cure", "healthy"} <= set(texts_of(figure))
    assert 'data-says="harm far, cure cache: 20.00 (19.50 to 20.50) ms"' in figure.svg
    assert [each.name for each in figures(view(cured_run()))] == ["cures"]


def test_each_operation_has_its_own_baseline():
    cells = []
    for operation, cure, time in (
        ("row", "none", 2.0),
        ("row", "batches", 1.0),
        ("message", "none", 10.0),
        ("message", "cork", 40.0),
    ):
        label = {"operation": operation, "cure": cure}
        cells.append(Cell(label, label, ({"status": "ok"},), {TIME: Summary(time, time - 0.01, time + 0.01, 100)}))
    seen = view(RunData(Path("runs/x-cures"), "cures", FACTS, tuple(cells), ()))
    assert [row.ratio.mean for row in seen.rows] == pytest.approx([1, 0.5, 1, 4], rel=1e-2)
    assert [row.verdict for row in seen.rows] == ["baseline", "", "baseline", ""]
    assert "healthy" not in texts_of(dot_figure(seen))  # no line is the start of both
    assert [row.uncured.mean if row.uncured else None for row in seen.rows] == [None, 1, None, 1]


def test_a_cell_off_the_law_beside_a_supported_claim_is_explained():
    run = run_of({0: 9.0, 10: 80.0, 40: 169.0, 120: 489.0}, half=1.0)
    wanted = "rtt 10ms lies more than 5 % off the line through all cells, and yet claims are supported"
    text, page = " ".join(printed(show(run)).split()), render_page([view(run)])
    assert wanted in text
    assert wanted in page
    assert re.search(r"off the law, \+\d\d %", text)
    assert "off the line" not in printed(show(run_of(LINE)))


def test_a_supported_and_a_refuted_claim_side_by_side_are_explained():
    refuted = Judgement("x", "refuted", 9.0, 4.0, 8.9, 9.1, (3.8, 4.2), (TEXT(text="9.00 measured"),))
    run = run_of(LINE)
    assert "Each claim is about a number of its own" in render_page([view(run.judged([CLAIM, refuted]))])
    assert "Each claim is about a number of its own" not in render_page([view(run)])
    assert "Each claim is about a number of its own" not in render_page([view(run.judged([refuted]))])


def text_of(made):
    console = Console(width=200, record=True, file=StringIO())
    console.print(made)
    return console.export_text()


def test_a_picture_is_one_row(monkeypatch, tmp_path):
    """The name of its module: pages, their files and notebooks show what it draws of a run, below the main picture."""

    def of_run(run):
        yield Figure("cells", "Cells of the run", "<svg>four</svg>", ("cells",), ((len(run.cells),),))

    module = ModuleType("slownet.report.cells_drawn")
    module.of_run = of_run
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(plots, "OF_RUNS", (*plots.OF_RUNS, "cells_drawn"))
    run = run_of(LINE)
    drawn = figures(view(run))
    assert [each.name for each in drawn] == ["time", "rate", "cells"]
    page = render_page([view(run)])
    assert "<svg>four</svg>" in page
    assert page.index(drawn[1].title) < page.index("Cells of the run")
    assert ("client_delay-cells", (4,)) in [(name, figure.rows[0]) for name, figure in page_figures([view(run)])]
    notebook = Run(run.directory, run.experiment, run.facts, run.cells, run.claims)
    assert notebook.plots[-1] == "cells"
    assert notebook.plot("cells").save(tmp_path / "cells.csv").read_text().splitlines() == ["cells", "4"]
