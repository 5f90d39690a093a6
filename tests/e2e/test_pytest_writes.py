"""What tests in a lab write, and where it is afterwards: pytest's own files, a project's, and those of a killed session."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import pytest
from conftest import LIGHT, PATIENCE_S

from slownet.lab.build import cache
from slownet.lab.host import native

pytest_plugins = ["pytester"]

CACHE = str(cache.root().parent)  # pytester gives its processes another HOME
PYTEST = [sys.executable, "-m", "pytest", "-p", "slownet.pytest_plugin", *LIGHT, "--slownet-tdf=inf"]

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine runs them in place, where tests write what they like")

WRITES = """
import json
from pathlib import Path

import pytest
from slownet.tools.ping import ping


@pytest.mark.parametrize("number", range(4))
def test_it(net, measure, tmp_path, request, number):
    (tmp_path / "file").write_text(str(number))
    measure(ping, net["client"], net["web"].IP(), count=2, interval=0.01)
    Path("out").mkdir(exist_ok=True)
    Path(f"out/{number}.csv").write_text(str(number))
    Path(f"scratch-{number}").write_text("scratch")
    assert json.loads(Path("snapshots/a.json").read_text()) == {"a": 1}
    Path("snapshots/a.json").unlink()
    Path(f"snapshots/b{number}.json").write_text("{}")
    Path("snapshots/a.json").write_text('{"a": 1}')
    Path("out/old.csv").unlink(missing_ok=True)
    if not request.config.getoption("lf"):
        assert number < 3
"""
PROJECT = '[tool.slownet]\nwrite = ["out", "snapshots/*.json"]\n[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n'


@pytest.fixture
def session(built, pytester, monkeypatch):
    """Run pytest with the plugin in its own folder: session("-x", file=text) -> pytester's result."""
    monkeypatch.setenv("XDG_CACHE_HOME", CACHE)

    def run(*arguments, **files):
        if files:
            pytester.makepyfile(**files)
        return pytester.run(*PYTEST, *arguments, timeout=PATIENCE_S)

    return run


def names(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "workers"])
def test_everything_that_is_kept_is_where_pytest_leaves_it(session, pytester, workers):
    here = pytester.path
    pytester.makepyprojecttoml(PROJECT)
    for name, text in {"out/old.csv": "old", "snapshots/a.json": '{"a": 1}', "snapshots/note.txt": "note"}.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(text)
    (here / "base/before").mkdir(parents=True)
    (here / "base/before/file").write_text("of the last session")
    options = [
        "--cov=test_writes", "--cov-report=xml", "--cov-report=html:html", "--junitxml=reports/junit.xml",
        "--slownet-report=runs", "--basetemp=base", "--log-file=logs/log.txt", "--log-file-level=DEBUG",
    ]  # fmt: skip
    result = session(*workers, *options, test_writes=WRITES)
    result.assert_outcomes(passed=3, failed=1)
    assert names(here / "out") == ["0.csv", "1.csv", "2.csv", "3.csv"]
    assert names(here / "snapshots") == ["a.json", "b0.json", "b1.json", "b2.json", "b3.json", "note.txt"]
    cases = ET.parse(here / "reports/junit.xml").getroot().iter("testcase")
    assert sorted((each.get("name"), len(each.findall("failure"))) for each in cases) == [
        ("test_it[0]", 0), ("test_it[1]", 0), ("test_it[2]", 0), ("test_it[3]", 1),
    ]  # fmt: skip
    assert float(ET.parse(here / "coverage.xml").getroot().get("line-rate")) == 1
    assert (here / "html/index.html").is_file()
    assert [each.name for each in here.glob(".coverage*")] == [".coverage"]
    files = sorted(path.read_text() for path in (here / "base").rglob("file"))
    assert files == ["0", "1", "2", "3"]
    assert (here / "logs/log.txt").is_file()
    runs = sorted((here / "runs").iterdir())
    assert len(runs) == 4
    assert all(sorted(["run.json", "samples.jsonl", "report.html", "raw"]) == sorted(set(names(each)) - {"samples.parquet"})
               for each in runs)  # fmt: skip
    said = [line for line in result.stderr.str().splitlines() if line.startswith("slownet: ")]
    assert said == [
        "slownet: written in the lab and not kept: scratch-0, scratch-1, scratch-2, scratch-3; "
        "files that [tool.slownet] write names are kept"
    ]  # fmt: skip
    assert list(here.glob("scratch*")) == []
    assert json.loads((here / ".pytest_cache/v/cache/lastfailed").read_text()) == {"test_writes.py::test_it[3]": True}

    again = session(*(workers and ["-n1"]), "--lf", "--slownet-report=runs")
    again.assert_outcomes(passed=1)
    assert len(list((here / "runs").iterdir())) == 5
    assert (
        not (here / ".pytest_cache/v/cache/lastfailed").exists()
        or "3" not in (here / ".pytest_cache/v/cache/lastfailed").read_text()
    )


def test_coverage_and_logs_are_appended_to_wherever_they_lie(session, pytester, monkeypatch, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("coverage")
    monkeypatch.setenv("COVERAGE_FILE", f"{elsewhere}/data")
    pytester.makepyfile(code="def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    test = "import logging\nimport code_ as code\ndef test_{0}(net):\n    logging.warning('{0}')\n    assert code.{0}()\n"
    (pytester.path / "code.py").rename(pytester.path / "code_.py")
    options = ["--cov=code_", "--cov-append", f"--log-file={elsewhere}/log", "--log-file-mode=a", "-p", "no:cacheprovider"]
    session(*options, test_one=test.format("one")).assert_outcomes(passed=1)
    (pytester.path / "test_one.py").unlink()
    result = session(*options, test_two=test.format("two"))
    result.assert_outcomes(passed=1)
    assert " 100%" in result.stdout.str().rsplit("TOTAL", 1)[1]
    text = (elsewhere / "log").read_text()
    assert [word for word in ("one", "two") if word in text] == ["one", "two"]
    assert names(elsewhere) == ["data", "log"]
    assert not (pytester.path / ".pytest_cache").exists()
    assert "not kept" not in result.stderr.str()


def test_a_folder_for_temporary_files_outside_the_rootdir(session, pytester, tmp_path_factory):
    base = tmp_path_factory.mktemp("outside") / "base"
    test = "def test_it(net, tmp_path):\n    (tmp_path / 'a').write_text('a')\n"
    for _ in range(2):
        session(f"--basetemp={base}", test_it=test).assert_outcomes(passed=1)
        assert [path.read_text() for path in base.rglob("a")] == ["a"]


def test_a_mistake_in_write_is_one_line(session, pytester):
    pytester.makepyprojecttoml('[tool.slownet]\nwrite = ["../x"]\n')
    result = session(test_it="def test_it(net): pass\n")
    assert result.ret == 4
    assert "write: '../x' is not below" in result.stderr.str()
    assert "Traceback" not in result.stderr.str()


SLOW = """
import time
from pathlib import Path
from slownet.tools.ping import ping


def test_first(net, measure):
    measure(ping, net["client"], net["web"].IP(), count=2, interval=0.01)
    Path("out.csv").write_text("measured")


def test_second(net, measure):
    measure(ping, net["client"], net["web"].IP(), count=3, interval=0.01)
    while True:
        time.sleep(0.1)
"""


def test_nothing_that_was_measured_is_lost_when_pytest_is_killed(session, pytester):
    """By signal 9, so that nothing of it can tidy up; the next session of this project does."""
    here = pytester.path
    pytester.makepyprojecttoml('[tool.slownet]\nwrite = ["out.csv"]\n')
    pytester.makepyfile(test_slow=SLOW)
    words = [*PYTEST, "--slownet-clock=real", "--slownet-report=runs"]
    words.remove("--slownet-tdf=inf")
    with subprocess.Popen(words, cwd=here, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE_S
        while len([path for path in here.glob("runs/.slownet-session-*/out/records/*/samples.jsonl") if path.read_text()]) < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    assert list(here.glob("runs/*/report.html")) == []
    result = session("--slownet-report=runs", "-k", "first")
    assert "slownet: a session was killed, and left " in result.stderr.str()
    runs = [json.loads((each / "run.json").read_text())["experiment"] for each in here.glob("runs/*/")
            if not each.name.startswith(".")]  # fmt: skip
    assert sorted(runs) == ["test_first", "test_first", "test_second"]
    assert len(list(here.glob("runs/*/report.html"))) == 3
    assert (here / "out.csv").read_text() == "measured"
    assert list((here / "runs").glob(".slownet*")) == []
    assert os.listdir(here / "runs")
