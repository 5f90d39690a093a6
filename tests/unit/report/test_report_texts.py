"""Tests of the report of a run whose conditions are texts: dots, and the time-sequence graph of a trace and a capture."""

import re
import shutil
from pathlib import Path

from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData, load
from slownet.report import sequence
from slownet.report.html_page import write_report
from slownet.report.view import view
from slownet.theory import published
from slownet.theory.stats import Summary

HERE = Path(__file__).parents[1]
STALLED, FINE = {"pattern": "write-write-read"}, {"pattern": "nodelay"}


def cell(label, mean, raw=()):
    sample = {"status": "ok", "raw": list(raw)}
    return Cell(label, label, (sample,), {"exchange_ms": Summary(mean, mean - 0.1, mean + 0.1, 100)})


def run_in(directory: Path, raw=("raw/a.strace.txt", "raw/a.pcap")):
    (directory / "raw").mkdir()
    shutil.copy(HERE / "tools/data/strace-write-write-read.txt", directory / "raw/a.strace.txt")
    shutil.copy(HERE / "links/packets/data/write-write-read.pcap", directory / "raw/a.pcap")
    facts = {"published": published.nagle_patterns(), "question": "Which?"}
    return RunData(directory, "patterns", facts, (cell(STALLED, 43.6, raw), cell(FINE, 0.006)))


def test_published_rows_are_found_by_their_cell(tmp_path):
    seen = view(run_in(tmp_path))
    assert (seen.along, seen.metric) == ("", "exchange_ms")
    assert [row.published_time for row in seen.rows] == [39.683, None]
    assert [row.verdict for row in seen.rows] == ["baseline", ""]
    assert seen.rows[1].ratio.mean < 0.001
    assert not seen.lawful


def test_the_page_has_dots_and_the_picture(tmp_path):
    page = write_report(run_in(tmp_path)).read_text()
    assert page.count("<svg") == 2
    assert 'aria-label="time-sequence graph, write-write-read"' in page
    assert len(re.findall(r"<text[^>]*>held 4\d\.\d ms</text>", page)) == 3
    assert 'data-says="segment of' in page
    assert "write-write-read" in page


def test_evidence_that_cannot_be_read_is_left_out(tmp_path):
    run = run_in(tmp_path)
    (tmp_path / "raw/a.pcap").write_bytes(b"torn")
    assert sequence.of_run(run) == []
    (tmp_path / "raw/a.pcap").unlink()
    assert sequence.of_run(run) == []


def test_files_of_a_record_are_kept_byte_for_byte(tmp_path):
    from slownet.judge.records.samples import SampleLog

    content = bytes(range(256))
    with SampleLog(tmp_path) as log:
        assert log.raw("000-exchange.pcap", content) == "raw/000-exchange.pcap"
        log.append({"cell": STALLED, "index": 0, "raw": ["raw/000-exchange.pcap"], "status": "ok"})
    assert (tmp_path / "raw/000-exchange.pcap").read_bytes() == content
    assert load(tmp_path).at(STALLED).title == "pattern write-write-read"
