"""The words of `slownet why` that name an experiment, and those that name a run."""

from pathlib import Path

import pytest

from slownet.cli import why
from slownet.judge.records import measured_folder
from slownet.runner.where import Where


@pytest.mark.parametrize("word", ["client_delay", "mine.py", "folder/mine.toml", "routing/failover"])
def test_an_experiment(word):
    assert why._is_experiment(word)


@pytest.mark.parametrize("word", ["client_dealy", "runs/20260101-120000-client_delay", "routing"])
def test_a_run(word):
    assert not why._is_experiment(word)


def test_a_folder_goes_before_an_experiment_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "client_delay").mkdir()
    assert not why._is_experiment("client_delay")


def test_a_run_is_found_by_its_name_as_reports_print_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("measured/20260101-120000-shop").mkdir(parents=True)
    loaded = []
    monkeypatch.setattr(measured_folder, "load", loaded.append)
    for word in ("20260101-120000-shop", "measured/20260101-120000-shop"):
        why._measured(word, {}, Where(), Path("measured"))
    run = Path("measured/20260101-120000-shop")
    assert loaded == [run, run]
