"""`slownet costs` measures what it is asked for."""

import csv
import dataclasses
import io

import pytest
import typer

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


@pytest.mark.parametrize("version", ["", ">=7", "7.*", "^7"])
def test_a_version_is_one(measured, version):
    with pytest.raises(ExperimentError, match=r"is not a version, --version: write one version, for example 7\.4\.0"):
        costs._measured([ENTRY], version, others=False)


def test_an_own_entry_has_no_number_of_the_catalogue(tmp_path, capsys):
    (tmp_path / "redis-py.toml").write_text(
        'program = "mine"\necosystem = "debian"\nserver = "redis"\n'
        '[[operation]]\nname = "connect"\ngroup = "new"\ntrips = 2\nrun = "true"\n'
    )
    with pytest.raises(typer.Exit):
        costs.costs([str(tmp_path / "redis-py.toml")], as_csv=True)
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["id"], row["round_trips"], row["packages"]) == ("redis-py/connect", "", "")


def test_an_expectation_of_a_part_of_a_name_is_refused_before_it_is_measured(measured):
    with pytest.raises(ExperimentError, match="no entry is called 'redis'"):
        costs.costs(expect=["redis/connect=6"])
    assert measured == []


def test_two_forms_exclude_each_other():
    with pytest.raises(ExperimentError, match="--json and --csv exclude each other"):
        costs.costs(["redis-py"], as_json=True, as_csv=True)
