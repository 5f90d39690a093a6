"""The folders of sys.path that a lab gets."""

import sys

from slownet.lab.caller import import_path


def test_relative_folders_are_whole_ones(tmp_path, monkeypatch):
    here, beside = tmp_path / "tests", tmp_path / "helpers"
    here.mkdir()
    beside.mkdir()
    monkeypatch.setattr(sys, "path", ["../helpers", "", str(beside), ".", "missing"])
    assert import_path(here) == [beside, here, beside, here]
