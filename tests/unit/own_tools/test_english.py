"""The count of odd English: it finds what it is to find, and never goes up."""

import importlib
import json
import re

import pytest


@pytest.fixture
def english(monkeypatch):
    monkeypatch.syspath_prepend("tests")
    return importlib.import_module("english")


@pytest.mark.parametrize(
    ("name", "odd", "fine"),
    [
        ("is no", "it is no folder", "it is no longer a folder, and not a file"),
        ("is none", "there may be none", "None"),
        ("is there", "a file that is there", "there is a file; what is there"),
        ("headless", "What a cell is called.", "The name of a cell: what it is called."),
        ("of which", "rows, of which one counts", "rows which count"),
        ("say", "it says so", "a sayer"),
        ("mend", "it mends the disk", "a commend"),
    ],
)
def test_a_pattern_finds_what_it_is_for(english, name, odd, fine):
    pattern = english.PATTERNS[name][0]
    assert re.search(pattern, odd)
    assert not re.search(pattern, fine)


def test_a_count_that_went_up_is_a_complaint_and_is_not_recorded(english, tmp_path, monkeypatch, capsys):
    baseline = tmp_path / "english.json"
    monkeypatch.setattr(english, "BASELINE", baseline)
    monkeypatch.setattr(english, "texts", lambda: iter([("a:1", "it is no folder"), ("a:2", "who said so")]))
    allowed = dict.fromkeys(english.PATTERNS, 0) | {"say": 2}
    baseline.write_text(json.dumps(allowed))
    assert english.main(["--write"]) == 1
    assert "english: 'is no' 1 times, at most 0" in capsys.readouterr().err
    baseline.write_text(json.dumps(allowed | {"is no": 1}))
    assert english.main(["--write"]) == 0
    assert json.loads(baseline.read_text())["say"] == 1
