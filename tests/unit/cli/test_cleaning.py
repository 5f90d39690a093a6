"""`slownet doctor clean` when there is nothing to clean."""

import os

import pytest

from slownet.cli.clean import clean
from slownet.lab.host import owner
from slownet.model.errors import LabError


def test_it_needs_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="only root"):
        clean()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look at every process")
def test_what_is_not_ours_is_not_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(owner, "RUN", tmp_path)
    (tmp_path / "lock").touch()
    (tmp_path / "mine").mkdir()
    clean(dry_run=True)
    assert capsys.readouterr().out == "killed runs left nothing behind\n"
