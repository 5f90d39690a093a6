"""`slownet costs` measures what it is asked for."""

import dataclasses

import pytest

from slownet.cli import costs
from slownet.costs import catalogue, measuring
from slownet.costs.measuring import Measured
from slownet.model.errors import ExperimentError


@pytest.fixture
def measured(monkeypatch):
    found = []

    def measure(items, **_):
        found.extend(each.version for each in items)
        return [Measured(each) for each in items]

    monkeypatch.setattr(measuring, "measure", measure)
    return found


ENTRY = dataclasses.replace(catalogue.entries()["redis-py"], version="8.1", versions=("8.0", "7.4"))


@pytest.mark.parametrize(
    ("version", "others", "versions"),
    [(None, True, ["8.1", "8.0", "7.4"]), (None, False, ["8.1"]), ("6.0", True, ["6.0"]), ("6.0", False, ["6.0"])],
)
def test_an_expectation_is_of_one_version(measured, version, others, versions):
    costs._measured([ENTRY], version, others)
    assert measured == versions


def test_an_entry_without_a_version_has_none_to_choose(measured):
    entry = dataclasses.replace(ENTRY, packages=("redis",))
    with pytest.raises(ExperimentError, match="redis-py has no version to choose, --version"):
        costs._measured([entry], "6.0", others=False)
    assert measured == []
