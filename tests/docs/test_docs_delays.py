"""The record of what a delay costs: `make delays`."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import delays  # noqa: E402  # from the folder above

from slownet.hypotheses.catalogue import discover  # noqa: E402

KEPT = json.loads(delays.KEPT.read_text())


def test_each_row_is_kept_in_its_order():
    assert [(each["program"], each["operation"], each["cure"]) for each in KEPT["rows"]] == [
        (row.program, row.operation, row.cure) for row in delays.ROWS
    ]
    assert {each["experiment"] for each in KEPT["rows"]} == set(KEPT["runs"])


def test_each_experiment_is_one_of_the_projects_or_of_an_example():
    known = discover()
    assert [name for name in KEPT["runs"] if name not in known and not (ROOT / name).is_file()] == []


def test_round_trips_are_whole_numbers():
    found = [each["round_trips"] for each in KEPT["rows"]]
    assert found == pytest.approx([round(each) for each in found], rel=0.01)


class Run:
    """A run of which each cell has one number."""

    def __init__(self, numbers):
        self.numbers = numbers

    def at(self, cell):
        self.mean = self.numbers[tuple(cell.values())]
        return self

    def summary(self, name):
        return Summary(self.mean)


class Summary:
    def __init__(self, mean):
        self.mean = mean


def test_how_round_trips_are_read():
    run = Run({("a",): 440, ("b",): 4400})
    assert delays.over("time_ms", {"way": "a"}, 220)(run) == 2
    assert delays.more("time_ms", {"way": "b"}, {"way": "a"}, 220)(run) == 18
    assert delays.metric("round_trips", {"way": "a"})(run) == 440
