"""Runs, plots and comparisons as text, HTML and data frames."""

import math
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from importlib.util import find_spec

import pytest
from test_calls import MEANS, saved

import slownet
from slownet.api import presented
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import load
from slownet.judge.records.statement import TEXT
from slownet.model.errors import DamageWarning

HOSTILE = "<script>alert(1)</script>"
NEEDS_PANDAS = pytest.mark.skipif(not find_spec("pandas"), reason="the extra notebook is not installed")


class Balanced(HTMLParser):
    """Checks that every element is closed, and collects the texts."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts, self.tags = [], [], set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def run(tmp_path):
    return slownet.load(saved(tmp_path / "run"))


def test_a_run_as_text(run):
    assert repr(run).startswith("<Run shop: no claims, ")
    assert "A request costs 4 round trips" in run.answer
    for part in ("is <10 ms> a lot? 遅い?", run.answer, "rtt 40ms", "law: T(d) = 10.00 ms + 4.000 d"):
        assert part in " ".join(str(run).split())


def test_claims_of_a_run_are_those_that_are_read_later_also_if_they_are_open(run):
    ends = {"low": -math.inf, "high": math.inf, "margin": (3.8, math.inf)}
    claim = Judgement("so many round trips", "inconclusive", 4.1, 4.0, findings=(TEXT(text="4.1 round trips"),), **ends)
    measured = load(run.directory).judged([claim])
    measured.save()
    assert slownet.load(run.directory).claims == presented.Run.of(measured).claims
    assert presented.Run.of(measured).claims[0].low is None


def test_a_run_whose_samples_are_damaged_supports_nothing(run):
    assert run.supported
    log = run.directory / "samples.jsonl"
    log.write_text(log.read_text()[:-20])
    with pytest.warns(DamageWarning, match="line 3 is cut short"):
        assert not slownet.load(run.directory).supported


def test_an_interrupted_run_says_so_and_supports_nothing(tmp_path):
    planned = [{"rtt": rtt} for rtt in (*MEANS, "120ms")]
    run = slownet.load(saved(tmp_path / "run", planned=planned))
    assert not run.supported
    assert "unfinished: 3 of 4 planned measurements, and nothing is judged: slownet run --resume" in " ".join(str(run).split())
    assert not load(tmp_path / "run").judged([]).unfinished  # cells that failed are not measured again
    assert slownet.load(saved(tmp_path / "ended", planned=planned, claims=[])).supported
    assert slownet.load(saved(tmp_path / "whole", planned=planned[:3])).supported


def test_a_run_in_a_notebook(run, tmp_path):
    page = Balanced(run._repr_html_())
    assert {"table", "img"} <= page.tags
    for part in ("is <10 ms> a lot? 遅い?", "rtt 40ms", "Law: T(d) = 10.00 ms + 4.000 d (k 4.000 to 4.000)"):
        assert any(part.partition(" (k")[0] in text for text in page.texts)
    hostile = slownet.load(saved(tmp_path / "hostile", question=HOSTILE))
    assert "script" not in Balanced(hostile._repr_html_()).tags
    assert HOSTILE in Balanced(hostile._repr_html_()).texts


def test_ipython_prints_the_table(run):
    class Printer:
        def text(self, text):
            self.printed = text

    printer = Printer()
    run._repr_pretty_(printer, cycle=False)
    assert printer.printed == str(run)


@NEEDS_PANDAS
def test_a_frame_has_one_row_a_sample(run):
    frame = run.frame()
    assert frame["rtt_ms"].tolist() == [0, 10, 40]
    assert frame["time_per_request_ms"].tolist() == list(MEANS.values())
    assert set(frame["time_per_request_ms_n"]) == {100}
    assert len(run.where({"rtt": "10ms"}).frame()) == 1
    assert list(frame.columns) == list(run.rows()[0])


def test_without_pandas_it_is_one_line(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(slownet.SlownetError, match=r"a data frame needs pandas.*: python -m pip install 'pandas>=2\.1'$"):
        run.frame()


@NEEDS_PANDAS
def test_a_plot_is_the_reports_picture(run, tmp_path):
    plot = run.plot()
    assert (plot.name, run.plots[0]) == ("time", "time")
    root = ET.fromstring(plot._repr_svg_())
    assert root.tag.endswith("svg")
    assert "var(--" not in plot.svg
    assert plot.frame().iloc[:, 0].tolist()
    page = Balanced(plot._repr_html_())
    assert page.texts[0] == plot.title
    assert plot.save(tmp_path / "time.svg").read_text() == plot.svg
    assert plot.save(tmp_path / "time.csv").read_text().startswith(",".join(plot.figure.head[:1]))
    with pytest.raises(slownet.SlownetError, match=r"cannot write a picture as 'time.gif'.*end its name in \.svg"):
        plot.save(tmp_path / "time.gif")
    with pytest.raises(slownet.ExperimentError, match="no plot 'tmie', in run shop: did you mean 'time'"):
        run.plot("tmie")


@NEEDS_PANDAS
def test_a_run_without_samples_is_shown(tmp_path):
    directory = tmp_path / "empty"
    directory.mkdir()
    (directory / "run.json").write_text('{"experiment": "shop", "question": "what?"}')
    run = slownet.load(directory)
    assert "what?" in str(run)
    assert "what?" in run._repr_html_()
    assert len(run.frame()) == 0
    with pytest.raises(slownet.ExperimentError, match="there is nothing to plot"):
        run.plot()


@NEEDS_PANDAS
def test_a_comparison(run, tmp_path):
    other = slownet.load(saved(tmp_path / "other", {rtt: 2 * mean for rtt, mean in MEANS.items()}))
    found = slownet.compare(run, other)
    assert repr(found) == f"<Compared shop with shop: {found.outcome}>"
    assert str(found.outcome) in " ".join(str(found).split())
    page = Balanced(found._repr_html_())
    assert str(found.outcome) in page.texts
    assert page.tags >= {"table", "th", "td"}
    frame = found.frame()
    assert frame["condition"].tolist() == ["rtt 0ms", "rtt 10ms", "rtt 40ms"]
    assert frame["ratio"].tolist() == pytest.approx([2, 2, 2])
    assert set(frame["verdict"]) == {"differs"}
