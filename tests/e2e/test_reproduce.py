"""`slownet reproduce` from the command line, with the experiments of the article on the 40 ms delay."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SLOWNET = Path(sys.executable).with_name("slownet")


def slownet(*words, cwd):
    return subprocess.run([SLOWNET, "reproduce", *words], cwd=cwd, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--only", "nagle-delayed-akc"], "nagle-delayed-ack"), (["--only", "crafted_segmnts"], "crafted_segments"),
     (["--budget", "5x"], "unknown unit"), (["--repeat", "often"], "--repeat"), (["--tdf", "fast"], "inf"),
     (["--all", "--only", "oltp"], "leave one of them out")],
)  # fmt: skip
def test_a_mistake_is_one_line_and_makes_nothing(words, named, tmp_path):
    done = slownet(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert named in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """Two runs of a small article's experiments with free CPU, one after the other in two folders."""
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "again")]
    words = ("--only", "crafted_segments", "--only", "nagle_patterns", "--tdf", "inf", "--out", "json=-")
    return [slownet(*words, cwd=folder) for folder in folders]


def test_numbers_and_verdicts_are_the_same_twice_bit_for_bit(twice):
    first, again = (json.loads(done.stdout)["runs"] for done in twice)
    assert [run["experiment"] for run in first] == ["nagle_patterns", "crafted_segments"]  # in the article's order
    for run, other in zip(first, again, strict=True):
        assert run["cells"] == other["cells"]
        assert run["claims"] == other["claims"]


def test_every_pattern_does_what_the_article_says(twice):
    runs = json.loads(twice[0].stdout)["runs"]
    assert {claim["verdict"] for run in runs for claim in run["claims"]} == {"supported"}


def test_the_page_shows_what_was_written_beside_what_left(twice):
    patterns, _ = json.loads(twice[0].stdout)["runs"]
    directory = Path(patterns["directory"])
    page = (directory / "report.html").read_text()
    assert 'aria-label="time-sequence graph, write-write-read"' in page
    assert "held 4" in page
    assert len(list(directory.glob("raw*/*.pcap"))) == len(list(directory.glob("raw*/*.strace.txt"))) == 10


def test_the_table_has_what_was_published_measured_and_foreseen(twice):
    assert [done.returncode for done in twice] == [0, 0]
    done = json.loads(twice[0].stdout)["reproduction"]
    stall, crafted = sorted(done["lines"], key=lambda line: line["experiment"], reverse=True)
    assert (stall["metric"], stall["published"]) == ("exchange_ms", pytest.approx(39.683))
    assert (crafted["metric"], crafted["theory"]) == ("delayed_ack_ms", pytest.approx(39.683))
    assert {stall["verdict"], crafted["verdict"]} == {"supported"}
    assert 39 <= crafted["measured"]["mean"] <= 48
    assert done["real_s"] > 0
    assert {each["repeats"] for each in done["experiments"]} == {"the same numbers, bit for bit"}


def test_one_page_links_to_a_run_directory_for_each_experiment(twice):
    done = json.loads(twice[0].stdout)["reproduction"]
    directory = Path(done["directory"])
    page = (directory / "report.html").read_text()
    links = re.findall(r'href="([^#":]*)"', page)
    assert sorted(link.split("/")[0].split("-", 2)[2] for link in links) == ["crafted_segments", "nagle_patterns"]
    for link in links:
        assert (directory / link).is_file()
        assert json.loads((directory / link).with_name("run.json").read_text())["repeats"] == "the same numbers, bit for bit"
    assert json.loads((directory / "reproduction.json").read_text()) == done


def test_an_interrupt_keeps_and_shows_what_was_measured(tmp_path):
    words = [SLOWNET, "reproduce", "--only", "crafted_segments", "--only", "packet_loss", "--tdf", "inf"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    for _ in range(3000):
        if any(path.read_text().endswith("\n") for path in tmp_path.glob("runs/*-reproduce/*-packet_loss/samples.jsonl")):
            break
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    shown, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert re.search(
        r"of 8 measurements of packet_loss are saved\. Continue with: slownet run --resume \S+-packet_loss", errors
    )
    assert re.search(r"^packet_loss: interrupted", shown, re.MULTILINE)
    assert "broken off: packet_loss" in shown or "broken off: packet_loss, crafted_segments" in shown
    (page,) = tmp_path.glob("runs/*-reproduce/report.html")
    assert "failed: interrupted" in page.read_text()
