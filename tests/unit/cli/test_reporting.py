"""`slownet show` on saved runs: what it prints, and the pages and pictures that it writes."""

import json
import re

import pytest

from slownet.cli import outputs
from slownet.cli.app import main
from slownet.judge.records.samples import SampleLog, write_run_json
from slownet.report.figure import KINDS, Figure

MEANS = {"0ms": 10.0, "10ms": 50.0, "40ms": 170.0}


def saved(directory, experiment="shop", slower=1.0):
    """Save a run as `slownet run` does."""
    directory.mkdir(parents=True)
    with SampleLog(directory) as log:
        for index, (rtt, mean) in enumerate(MEANS.items()):
            metrics = {"time_per_request_ms": {"mean": slower * mean, "sd": 0.1, "n": 100}}
            log.append({
                "experiment": experiment, "cell": {"rtt": rtt}, "condition": {"rtt_ms": float(rtt[:-2])}, "index": index,
                "status": "ok", "error": None, "metrics": metrics, "boot": 1,
            })  # fmt: skip
    write_run_json(
        directory, {"experiment": experiment, "question": "czy 10 ms to dużo? 遅い?", "clock": "virtual", "tdf": "inf"}
    )
    return directory


@pytest.fixture
def run(tmp_path):
    return saved(tmp_path / "a run, 遅い")


def slownet(capsys, *words):
    try:
        main([str(each) for each in words])
        status = 0
    except SystemExit as ended:
        status = ended.code or 0
    return status, *capsys.readouterr()


def test_show_prints_the_answer_and_the_cells(run, capsys):
    status, out, _ = slownet(capsys, "show", run)
    assert status == 0
    assert "czy 10 ms to dużo? 遅い?" in out
    assert "A request costs 4 round trips" in out
    assert "rtt 40ms" in out
    _, out, _ = slownet(capsys, "show", run, "--json")
    assert len(json.loads(out)["runs"][0]["cells"]) == 3


def test_without_a_run_the_last_one_is_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert slownet(capsys, "show") == (
        2, "", "slownet: nothing was run here, in runs: slownet run EXPERIMENT makes one; or name a run's directory\n"
    )  # fmt: skip
    saved(tmp_path / "runs" / "20260101-120000-older", "older")
    saved(tmp_path / "runs" / "20260102-120000-newer", "newer")
    (tmp_path / "runs" / "20260103-120000-without-a-record").mkdir()
    status, out, _ = slownet(capsys, "show")
    assert status == 0
    assert out.endswith("records runs/20260102-120000-newer\n")
    status, out, _ = slownet(capsys, "show", "20260101-120000-older")
    assert (status, out.splitlines()[-1]) == (0, "records runs/20260101-120000-older")
    assert slownet(capsys, "show", "--runs", "elsewhere")[0] == 2


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--out", "pgae"], "unknown output 'pgae', --out: did you mean 'page'?"),
        (["--out", "svg"], "no file for 'svg', --out: write --out svg=FILE"),
        (["--out", "page="], "no file for 'page', --out: write --out page=FILE"),
        (["--out", "page", "--out", "page=a.html"], "two files for 'page', --out: name one"),
    ],
)
def test_a_mistake_in_an_output_is_one_line(run, capsys, words, line):
    assert slownet(capsys, "show", run, *words) == (2, "", f"slownet: {line}\n")


def test_a_run_that_cannot_be_written_to_can_have_its_page_elsewhere(run, capsys):
    (run / "report.html").mkdir()
    status, _, errors = slownet(capsys, "show", run, "--out", "page")
    assert status == 2
    assert errors.endswith("report.html (Is a directory): name another file: --out page=slownet-report.html\n")


def test_report_writes_the_page_into_the_run(run, capsys):
    status, out, _ = slownet(capsys, "show", run, "--out", "page")
    assert (status, out.splitlines()[-1]) == (0, f"{run}/report.html")
    assert "遅い" in (run / "report.html").read_text("utf-8")


def test_report_puts_runs_side_by_side(run, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, _ = slownet(capsys, "show", run, saved(tmp_path / "other"), "--out", "page")
    assert (status, out.splitlines()[-1]) == (0, "slownet-report.html")
    assert "2 runs side by side" in (tmp_path / "slownet-report.html").read_text("utf-8")


def test_runs_of_one_experiment_are_compared_with_the_first_of_it(run, tmp_path, capsys):
    others = [saved(tmp_path / "slower", slower=1.2), saved(tmp_path / "another", "other"), saved(tmp_path / "same")]
    status, _, _ = slownet(capsys, "show", run, *others, "--out", f"page={tmp_path}/page.html")
    assert status == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert re.findall(r"<h2>(.*? against .*?)</h2>", page) == ["slower against a run, 遅い", "same against a run, 遅い"]
    slower, _, same = page.partition("<h2>same against")
    assert (slower.count(">differs<"), slower.count(">equivalent<")) == (3, 0)
    assert (same.count(">differs<"), same.count(">equivalent<")) == (0, 3)


def test_the_pictures_of_the_commands_are_those_of_a_figure():
    assert outputs.PICTURES == KINDS


def test_pictures_for_papers(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Figure, "drawn", lambda self, kind: kind.encode())  # which needs a font on this machine
    wanted = [word for kind in ("svg", "png", "pdf") for word in ("--out", f"{kind}={tmp_path}/paper")]
    status, out, _ = slownet(capsys, "show", run, *wanted)
    names = ["shop-time.pdf", "shop-time.png", "shop-time.svg"]
    assert status == 0
    assert sorted(path.name for path in (tmp_path / "paper").iterdir()) == names
    assert sorted(line.rpartition("/")[2] for line in out.splitlines()[-3:]) == names
    assert not (run / "report.html").exists()


def test_what_is_not_a_run_is_one_line(tmp_path, capsys):
    status, _, errors = slownet(capsys, "show", tmp_path)
    assert status == 2
    assert errors == f"slownet: no run here, in {tmp_path}: give a directory that holds run.json\n"


def test_records_that_cannot_be_read_are_one_line(run, capsys):
    write_run_json(run, {"experiment": "shop", "claims": [{"claim": "of a newer version"}]})
    status, _, errors = slownet(capsys, "show", run)
    assert status == 2
    assert errors.startswith("slownet: the records cannot be read (KeyError: 'verdict'), in ")
    assert "newer slownet" in errors
    assert errors.count("\n") == 1


def test_a_page_that_cannot_be_written_is_one_line(run, capsys):
    status, _, errors = slownet(capsys, "show", run, "--out", f"page={run}/no folder/page.html")
    assert status == 2
    assert errors.endswith("page.html (No such file or directory): name another file: --out page=slownet-report.html\n")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["show", "RUN", "--out=page="], "run.json"), (["show", "RUN", "--out=page="], "samples.jsonl"),
        (["compare", "RUN", "RUN", "--out=junit="], "run.json"), (["compare", "RUN", "RUN", "--out=comment="], "samples.jsonl"),
        (["compare", "RUN", "RUN", "--out=markdown="], "run.json"),
        (["compare", "RUN", "RUN", "--out=history="], "samples.jsonl"),
        (["compare", "save", "RUN"], "run.json"), (["compare", "save", "RUN"], "raw/ab.txt"),
    ],
)  # fmt: skip
def test_no_record_is_overwritten(run, capsys, words, name):
    (run / "raw").mkdir(exist_ok=True)
    (run / "raw" / "ab.txt").write_text("what ab printed")
    before = {each: each.read_bytes() for each in run.rglob("*") if each.is_file()}
    *words, last = (run if each == "RUN" else each for each in words)
    named = [f"{last}{run / name}"] if str(last).endswith("=") else [last, run / name]
    status, _, errors = slownet(capsys, *words, *named)
    assert (status, errors.count("\n")) == (2, 1)
    assert {each: each.read_bytes() for each in run.rglob("*") if each.is_file()} == before
