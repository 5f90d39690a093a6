"""The words of `slownet why` that name an experiment, and those that name a run."""

import pytest

from slownet.cli import why


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
