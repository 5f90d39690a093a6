"""The article on the 40 ms delay, as a person runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SLOWNET = Path(sys.executable).with_name("slownet")
NAMES = ("nagle_patterns", "crafted_segments")


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """The same experiments two times, where the CPU is free."""
    folder = tmp_path_factory.mktemp("nagle")
    words = [SLOWNET, "run", *NAMES, "--tdf", "inf", "--repeat", "1", "--json"]
    runs = [subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, check=False) for _ in range(2)]
    return runs[0].returncode, *(json.loads(each.stdout)["runs"] for each in runs)


def test_every_pattern_does_what_the_article_says(twice):
    status, first, _ = twice
    assert status == 0
    assert {claim["verdict"] for run in first for claim in run["claims"]} == {"supported"}


def test_the_same_numbers_twice_bit_for_bit(twice):
    _, first, second = twice
    for one, other in zip(first, second, strict=True):
        assert [cell["metrics"] for cell in one["cells"]] == [cell["metrics"] for cell in other["cells"]]


def test_the_page_shows_what_was_written_beside_what_left(twice):
    _, (patterns, _), _ = twice
    directory = Path(patterns["directory"])
    page = (directory / "report.html").read_text()
    assert 'aria-label="time-sequence picture, pattern write-write-read' in page
    assert "held 4" in page
    assert len(list((directory / "raw").glob("*.pcap"))) == len(list((directory / "raw").glob("*.strace.txt"))) == 10
