import sys

import pytest

from slownet.lab.build import wheels
from slownet.model.errors import LabError


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """A program in place of Python, which does as pip does: it works in TMPDIR; then it does what `script` says."""
    program = tmp_path / "python"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", "/nowhere")
    monkeypatch.setattr(sys, "executable", str(program))

    def write(script):
        program.write_text(f'#!/bin/sh\nmkdir "$TMPDIR/pip-unpack" && {script}\n')
        program.chmod(0o755)

    (tmp_path / "work").mkdir()
    return write


def test_pip_works_in_the_builds_own_folder_and_leaves_nothing_there(pip, tmp_path):
    pip(f"ls $TMPDIR > {tmp_path}/seen; echo $* > {tmp_path}/words")
    wheels.fetch(tmp_path / "requirements.txt", tmp_path / "wheels", tmp_path / "work" / "log")
    assert (tmp_path / "seen").read_text() == "pip-unpack\n"
    assert (tmp_path / "words").read_text().startswith("-m pip download ")
    assert [each.name for each in (tmp_path / "work").iterdir()] == ["log"]


def test_what_it_leaves_if_it_fails_is_in_the_builds_own_folder(pip, tmp_path):
    pip("exit 3")
    with pytest.raises(LabError, match=r"^fetching Python packages failed \(3\)"):
        wheels.fetch(tmp_path / "requirements.txt", tmp_path / "wheels", tmp_path / "work" / "log")
    assert (tmp_path / "work" / "pip" / "pip-unpack").is_dir()
