"""JUnit XML and Markdown for CI services."""

import errno
import json
import os
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from xml.dom import minidom

import pytest

from slownet.api.presented import Run
from slownet.cli.app import main
from slownet.cli.outputs import OF_RUNS, Outputs
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import gather
from slownet.judge.records.statement import TEXT
from slownet.model.errors import ExperimentError
from slownet.model.version import __version__
from slownet.report import junit, summary

FILES = ("junit", "markdown", "comment", "history", "openmetrics")
FACTS = {
    "experiment": "shop", "question": "Is a <page> | slow?", "clock": "virtual", "tdf": 4, "cpu": "time", "kernel": "7.3",
    "started": "2026-11-22T15:48:10+00:00", "wall_s": 6.0, "place": "lab",
}  # fmt: skip


def claim(verdict, name="k is 4"):
    return Judgement(name, verdict, 4.0, 4.0, 3.9, 4.1, (3.8, 4.2), (TEXT(text=f"{name}: 4.0 & <more>"),))


def sample(index, rtt, status="ok", error=None):
    metrics = {"time_ms": {"mean": 9.0 + 4 * rtt, "sd": 0.1, "n": 50}} if status == "ok" else {}
    cell = {"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": rtt}, "index": index, "boot": 1, "block": 1}
    return cell | {"status": status, "error": error, "metrics": metrics, "verified_rtt_ms": rtt}


def run(*claims, failed=False, **facts):
    samples = [sample(0, 0), sample(1, 10, *(("failed", "ab: no answer") if failed else ()))]
    return gather(samples, FACTS | facts).judged(claims)


def suites(*runs):
    return ET.fromstring(junit.write(map(junit.of_run, runs)))


def test_a_suite_has_the_machines_date_and_time_and_a_case_per_claim():
    (suite,) = suites(run(claim("supported", "a"), claim("refuted", "b"), claim("inconclusive", "c"), claim("not judged", "d")))
    assert (suite.get("name"), suite.get("timestamp"), suite.get("time")) == ("shop", "2026-11-22T15:48:10", "6.000")
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["4", "2", "0", "1"]
    found = {case.get("name"): [each.tag for each in case] for case in suite.iter("testcase")}
    assert found == {"a": ["system-out"], "b": ["failure"], "c": ["failure"], "d": ["skipped"]}
    (refuted,) = suite.iterfind("testcase[@name='b']/failure")
    assert refuted.get("message") == "refuted: b: 4.0 & <more>"
    assert {case.get("time") for case in suite.iter("testcase")} == {"1.500"}
    assert {each.get("name"): each.get("value") for each in suite.iter("property")}["tdf"] == "4"


def test_a_failed_cell_and_a_run_that_broke_off_are_errors():
    root = suites(run(claim("supported"), failed=True, error="interrupted"), run())
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "0", "2", "0"]
    errors = {
        case.get("name"): case.find("error").get("message") for case in root.iter("testcase") if case.find("error") is not None
    }
    assert errors == {"measured: rtt 10ms": "failed: ab: no answer", "the run ended": "broken off: interrupted"}


def test_a_summary_has_the_verdicts_first():
    lines = summary.of_run(run(claim("supported", "a"), claim("refuted", "b | c"), failed=True)).splitlines()
    assert lines[0] == "## shop: 1 of 2 claims supported, 1 refuted"
    assert lines[2] == r"Is a \<page\> \| slow?"
    assert "❌ rtt 10ms: ab: no answer" in lines
    assert r"| ✅ supported | a | a: 4.0 & \<more\> |" in lines
    assert r"| ❌ refuted | b \| c | b \| c: 4.0 & \<more\> |" in lines
    assert any(line.startswith("| rtt 0ms | 9.000 | ") for line in lines)


def test_files_are_written_and_summaries_appended(tmp_path):
    files = {"junit": tmp_path / "junit.xml", "markdown": tmp_path / "summary.md"}
    for _ in range(2):
        Outputs(files).write([run(claim("supported"))])
    assert len(list(ET.parse(files["junit"]).iter("testsuite"))) == 1
    assert files["markdown"].read_text().count("## shop") == 2


def test_a_file_that_cannot_be_written_is_said_before_anything_is_measured(tmp_path):
    with pytest.raises(ExperimentError, match=r"no folder .*none, --out junit"):
        Outputs({"junit": tmp_path / "none" / "junit.xml"})
    for option in ("json", *FILES):
        with pytest.raises(ExperimentError, match=rf" is a folder, --out {option}: name a file in it"):
            Outputs({option: tmp_path})


def test_json_is_written_or_printed_in_place_of_the_text(tmp_path, capsys):
    assert not Outputs().write_json(dict)
    assert not Outputs.read([f"json={tmp_path / 'a.json'}"], OF_RUNS).write_json(lambda: {"runs": []})
    assert json.loads((tmp_path / "a.json").read_text()) == {"slownet": __version__, "runs": []}
    assert Outputs.read(["json=-"], OF_RUNS).write_json(lambda: {"runs": []})
    assert json.loads(capsys.readouterr().out) == {"slownet": __version__, "runs": []}
    assert not Outputs.read([f"json={tmp_path / 'a.json'}"], OF_RUNS).write_json(lambda: {"runs": [1]})  # as CI does again
    assert json.loads((tmp_path / "a.json").read_text())["runs"] == [1]
    (tmp_path / "b.json").write_text('{"name": "shop"}')
    with pytest.raises(ExperimentError, match=r"b\.json holds something else, and was not overwritten, --out json"):
        Outputs.read([f"json={tmp_path / 'b.json'}"], OF_RUNS)


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (["jnuit=a"], "unknown output 'jnuit', --out: did you mean 'junit'?"),
        (["history=a"], "unknown output 'history', --out: choose from"),
        (["junit"], "no file for 'junit', --out: write --out junit=FILE"),
        (["junit="], "no file for 'junit', --out: write --out junit=FILE"),
        (["junit=a", "junit=b"], "two files for 'junit', --out: name one"),
        (["junit=-"], "only json goes to standard output, --out junit: name a file"),
    ],
)
def test_an_output_that_is_not_one_is_one_line(texts, line):
    with pytest.raises(ExperimentError) as error:
        Outputs.read(texts, OF_RUNS)
    assert str(error.value).startswith(line)


@pytest.mark.parametrize("option", FILES)
def test_a_file_of_another_user_is_refused_before_anything_is_measured(tmp_path, monkeypatch, option):
    there = tmp_path / "there"
    there.touch()
    denied = {tmp_path}

    def refused(**place):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("os.access", lambda path, mode: Path(path) not in denied)
    monkeypatch.setattr("slownet.model.whole_file.tempfile.TemporaryFile", refused)
    line = rf"^cannot write in {tmp_path} \(Permission denied\), --out {option}: name another folder"
    with pytest.raises(ExperimentError, match=line):
        Outputs({option: tmp_path / "new"})
    if option != "openmetrics":  # which takes the place of the old one
        Outputs({option: there})
        denied = {there}
        with pytest.raises(ExperimentError, match=rf"there cannot be written, --out {option}: name another file"):
            Outputs({option: there})


@pytest.mark.parametrize(
    ("second", "options", "results"),
    [
        ({0: 9.0, 10: 49.0}, (), ["passed", "passed", "passed"]),
        ({0: 9.0, 10: 69.0}, (), ["failure", "passed", "failure"]),
        ({0: 9.0, 10: 29.0}, (), ["passed", "passed", "passed"]),
        ({0: 5.0, 10: 69.0}, (), ["failure", "passed", "failure"]),
        ({0: 9.0, 10: 69.0}, ("--fail-if-slower", "50%"), ["passed", "passed", "passed"]),
    ],
)
def test_a_comparison_has_its_outcome_and_a_case_per_row(tmp_path, capsys, second, options, results):
    for name, times in (("one", {0: 9.0, 10: 49.0}), ("two", second)):
        (tmp_path / name).mkdir()
        made = [
            sample(at, rtt) | {"metrics": {"time_ms": {"mean": mean, "sd": 0.001, "n": 50}}}
            for at, (rtt, mean) in enumerate(times.items())
        ]
        (tmp_path / name / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in made))
        (tmp_path / name / "run.json").write_text(json.dumps(FACTS | {"tdf": "inf", "cpu": "free"}))
    files = ["--out", f"junit={tmp_path / 'junit.xml'}", "--out", f"markdown={tmp_path / 'summary.md'}"]
    with pytest.raises(SystemExit) as caught:
        main(["compare", str(tmp_path / "one"), str(tmp_path / "two"), *options, *files])
    assert caught.value.code == (1 if "failure" in results else 0)
    cases = ET.parse(tmp_path / "junit.xml").iter("testcase")
    found = [next((each.tag for each in case if each.tag != "system-out"), "passed") for case in cases]
    assert found == results
    assert (tmp_path / "junit.xml").read_text().count("worse: ") == (1 if "failure" in results else 0)
    assert (tmp_path / "summary.md").read_text().startswith("## shop: ")


CHARACTERS = "".join(map(chr, [*range(0x250), 0x2028, 0x202E, 0xD800, 0xDFFF, 0xFFFD, 0xFFFE, 0xFFFF, 0x1F600]))


def test_a_reader_of_xml_takes_whatever_a_program_or_a_claim_says():
    """A program's last words with an escape sequence made a file that no reader of JUnit XML took."""
    failed = sample(1, 10, "failed", CHARACTERS) | {"cell": {CHARACTERS: CHARACTERS}}
    named = [
        replace(claim(verdict, CHARACTERS), findings=(TEXT(text=CHARACTERS),))
        for verdict in ("supported", "refuted", "not judged")
    ]
    facts = FACTS | {"experiment": CHARACTERS, "kernel": CHARACTERS, "started": "\x1b[2J", "error": CHARACTERS}
    text = junit.write([junit.of_run(gather([sample(0, 0), failed], facts).judged(named))])
    for read in (ET.fromstring, lambda each: minidom.parseString(each.encode())):
        read(text)
    refuted = ET.fromstring(text).find(".//failure").get("message")
    assert "\\x00\\x01" in refuted
    assert "\\x1b" in refuted
    assert "\\ufffe\\uffff\U0001f600" in refuted


def test_a_picture_of_its_own_is_xml_whatever_names_stand_in_it():
    names = {f"9{CHARACTERS}", "1\x1b[31m", "2"}
    samples = [
        sample(index, index) | {"cell": {"a\x07": name}, "condition": {"a\x07": name}}
        for index, name in enumerate(sorted(names))
    ]
    run = Run.of(gather(samples, FACTS | {"experiment": "a\x1b"}))
    assert run.plots
    for name in run.plots:
        for drawn in (run.plot(name).svg, run.plot(name).figure.alone):
            ET.fromstring(drawn)
