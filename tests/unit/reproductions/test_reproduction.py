"""Tests of the table of several runs: compared numbers, failures, links, the record."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from slownet.judge.claim import law, predicted, ratio
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData, gather
from slownet.judge.records.statement import TEXT
from slownet.report.comparison import lines, tally
from slownet.reproductions.reproduction import Reproduction, beside, show
from slownet.theory import published
from slownet.theory.stats import Summary

FACTS = {"clock": "virtual", "tdf": "inf", "virtual_s": 5400.0, "wall_s": 20.0, "question": "Is 10 ms <a lot>?"}
TIME, RATE = "time_per_request_ms", "requests_per_second"


def exact(value):
    return Summary(value, value, value, 100)


def measured(label, condition, metrics, error=None):
    sample = {"status": "failed" if error else "ok", "error": error, "virtual_s": 7.0}
    return Cell(label, condition, (sample,), {} if error else {name: exact(value) for name, value in metrics.items()})


def page(times_ms, failed=(), **facts):
    """Make a run of client_delay with a judged claim."""
    cells = tuple(
        measured({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, {TIME: ms, RATE: 1000 / ms}, "ab timed out" * (rtt in failed))
        for rtt, ms in times_ms.items()
    )
    run = RunData(Path("x-client_delay"), "client_delay", {**FACTS, "published": published.client_delay(), **facts}, cells)
    return run.judged([law(TIME, round_trips=4, within=0.05).judge(run)])


def download(lossy):
    """Make a run of download, whose claims predict single cells."""
    far, lost = {"delay_up": "100ms", "queue": "1000 packets"}, {"delay_up": "100ms", "loss_up": "10%", "seed": "1"}
    cells = (measured({"step": "before", "rate_up": "1Gbit"}, {}, {"mib_per_s": 80.0}),)
    cells += (measured(far, {}, {"mib_per_s": 12.0}), measured(lost, {}, {"mib_per_s": lossy}))
    run = RunData(Path("x-download"), "download", {**FACTS, "published": published.download()}, cells)
    claims = (predicted("mib_per_s", far, expected=13.8, within=0.3), ratio("mib_per_s", lost, of=far, at_most=0.01))
    return run.judged([each.judge(run) for each in claims])


LINE = {0: 1.0, 10: 41.0, 40: 161.0, 120: 481.0}


def test_a_law_stands_beside_published_and_measured():
    found = [line for line in lines(page(LINE)) if line.is_main]
    assert [(line.condition, line.published, line.measured.mean, round(line.theory, 9)) for line in found] == [
        ("rtt 0ms", 12.323, 1.0, 1.0), ("rtt 10ms", 51.825, 41.0, 41.0), ("rtt 40ms", 173.318, 161.0, 161.0),
        ("rtt 120ms", 491.918, 481.0, 481.0),
    ]  # fmt: skip
    assert [line.ratio for line in found] == [1.0, 41.0, 161.0, 481.0]
    assert found[1].published_ratio == pytest.approx(51.825 / 12.323)
    assert [line.verdict for line in found] == ["baseline", "supported", "supported", "supported"]


def test_an_articles_other_numbers_stand_there_too():
    others = [line for line in lines(page(LINE)) if not line.is_main]
    assert [(line.metric, line.published) for line in others] == [(RATE, each) for each in (81.15, 19.30, 5.77, 2.03)]
    assert others[1].ratio == pytest.approx(1 / 41)
    assert {line.verdict for line in others} == {""}


def test_a_verdict_is_of_what_is_claimed_and_not_of_the_published_number():
    near, far, *_ = [line for line in lines(page(LINE)) if line.is_main]
    assert (near.verdict, near.claim) == ("baseline", "")
    assert (far.verdict, far.claim) == ("supported", "A request costs four round trips (within 5 %)")
    assert far.factor == pytest.approx(41.0 / 51.825)
    lossy = lines(download(11.0))[2]
    assert (lossy.verdict, lossy.claim.partition(" is ")[2]) == (
        "refuted",
        "at most 0.01 times that with a queue of 1000 packets, at 100 ms of delay",
    )


def test_a_ratio_to_a_time_that_a_free_cpu_leaves_is_none():
    free = {"clock": "virtual", "tdf": "inf", "cpu": "free"}
    found = [line for line in lines(page({0: 0.2, 10: 40.2, 40: 160.2}, **free)) if line.is_main]
    assert [line.ratio for line in found] == [None, None, None]
    assert found[1].published_ratio == pytest.approx(51.825 / 12.323)


def test_the_picture_has_each_number_once_and_names_each_experiment(done):
    figure = beside(done.lines)
    assert [row[:2] for row in figure.rows][:2] == [("client_delay", "rtt 0ms"), ("client_delay", "rtt 10ms")]
    assert figure.svg.count('class="mark"') == len(figure.rows) == 7
    notes = re.findall(r'<text class="small"[^>]*>([^<]*)</text>', figure.svg)
    assert set(notes) == {"1", "2"}
    assert figure.note == "1: client_delay, 2: download"
    assert beside([]) is None
    text = done.save().read_text()
    assert text.index("Each published number beside ours") < text.index("<h2")


def test_the_page_says_why_a_number_may_be_another(done):
    text = done.save().read_text()
    assert "The CPU of two hosts carried 89 and 171 MiB/s there" in text
    free = replace(done, runs=(replace(done.runs[1], facts={**done.runs[1].facts, "cpu": "free"}),)).save().read_text()
    assert "The CPU is free here, and was not there; what the protocols cost, round trips, is the same." in free
    assert "not about whether the measured number is the published one" in free


def test_theory_and_verdicts_come_from_the_claims_about_the_cell():
    before, far, lossy = lines(download(0.05))
    assert (before.theory, before.verdict) == (None, "baseline")
    assert (far.published, far.measured.mean, far.theory, far.verdict) == (13.5, 12.0, 13.8, "supported")
    assert far.ratio == pytest.approx(12 / 80)
    assert (lossy.theory, lossy.verdict) == (None, "supported")
    assert lines(download(11.0))[2].verdict == "refuted"


def test_a_failed_cell_keeps_its_line():
    failed = next(line for line in lines(page(LINE, failed={40})) if line.condition == "rtt 40ms")
    assert (failed.published, failed.measured, failed.ratio, failed.verdict) == (173.318, None, None, "failed")


def test_how_a_run_ended():
    counted = tally(page(LINE, failed={40}))
    assert (counted.supported, counted.claims, counted.cells, counted.repetitions) == (0, 1, 4, 1)
    assert counted.failed == ("rtt 40ms: ab timed out",)
    assert (counted.clock, counted.real_s, counted.wall_s) == ("virtual, TDF inf", 5400.0, 20.0)


def test_what_broke_off_took_the_time_of_its_samples():
    assert tally(page(LINE, virtual_s=None, error="interrupted")).real_s == 28.0


@pytest.fixture
def done(tmp_path):
    def place(run):
        directory = tmp_path / run.directory
        directory.mkdir()
        (directory / "report.html").touch()
        return replace(run, directory=directory)

    broken = gather([], {"experiment": "oltp", "clock": "virtual", "tdf": 100, "error": "MariaDB does <not> answer"}, tmp_path)
    return Reproduction(tmp_path, (place(download(11.0)), place(page(LINE)), broken), 61.0, 99.0, 2)


def test_the_page_links_to_every_run_and_shows_what_broke_off(done):
    text = done.save().read_text()
    assert re.findall(r'href="([^#":]*)"', text) == ["x-client_delay/report.html", "x-download/report.html"]
    assert text.index("x-client_delay/report.html") < text.index("x-download/report.html")
    assert text.count("<cite") == 1  # the other title is in English
    assert 'Is 10 ms a lot?\n<cite class="soft" lang="pl">[PL] czy 10 ms to duzo?</cite></h2>' in text
    assert "Is 10 ms a lot?</a>: A request costs four round trips: 40 ms further away, it takes 160 ms longer. 1 of 1" in text
    assert all(f">{number}</td>" in text for number in ("51.83", "13.50", "13.80"))
    assert "failed: MariaDB does &lt;not&gt; answer" in text
    assert "Is 10 ms &lt;a lot&gt;?" in text
    assert text.count("<style>") == 1
    assert "--paper" in text


def test_the_record_holds_lines_and_times(done):
    done.save()
    record = json.loads((done.directory / "reproduction.json").read_text())
    assert record == done.to_json()
    assert (record["real_s"], record["wall_s"], record["cpu_s"], record["processors"]) == (10800.0, 61.0, 99.0, 2)
    assert [each["experiment"] for each in record["experiments"]] == ["client_delay", "download", "oltp"]
    assert record["experiments"][2]["error"] == "MariaDB does <not> answer"
    assert [line["verdict"] for line in record["lines"] if line["experiment"] == "download"] == [
        "baseline",
        "supported",
        "refuted",
    ]


def test_the_table_in_the_terminal(done):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(show(done))
    text = console.export_text()
    assert re.search(r"client_delay +rtt 0ms +time per request, ms", text)
    assert re.search(r"^refuted +download: The throughput with .*10 % loss is at most 0.01 times that with", text, re.MULTILINE)
    assert "oltp: MariaDB does <not> answer" in text
    assert (
        "2 of 3 claims supported, 1 refuted; broken off: oltp; 3 h on a real clock, 61 s here (99 s of CPU on 2 processors)"
        in text
    )
    assert "requests" not in text  # only the articles' main metrics


def test_a_claim_of_which_nothing_is_known_stands_with_its_reason(done):
    judgement = Judgement("x", "inconclusive", None, None, None, None, (None, None), (TEXT(text="1 cell failed"),))
    run = done.runs[1].judged([judgement])
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(show(replace(done, runs=(run,))))
    assert "client_delay: x: 1 cell failed" in console.export_text()


def test_each_line_reads_on_a_phone_and_empty_columns_are_left_out(done):
    text = done.save().read_text()
    table = text[text.index("x-client_delay/report.html") :].partition("</table>")[0]
    assert 'data-label="measured"' in table
    assert '<td data-label="law or theory" class="empty">-</td>' in table  # not shown where each line is a block
    lone = replace(done.runs[0], cells=done.runs[0].cells[1:2])  # nothing to compare it with
    without = replace(done, runs=(lone.judged([]),)).save().read_text()
    assert '<th scope="col">measured</th>' in without
    assert "law or theory</th>" not in without


def test_the_article_is_summarized_at_the_top_of_page_and_terminal(done):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(show(done))
    wanted = "Is 10 ms a lot?: A request costs four round trips: 40 ms further away, it takes 160 ms longer."
    assert f"{wanted} 1 of 1 claims supported." in console.export_text()
    page = done.save().read_text()
    assert page.index("1 of 1 claims supported") < page.index("<h2")
