"""Marks: the process that owns something, and whether it still runs."""

import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from slownet.lab.host import owner
from slownet.lab.host.owner import Owner


def test_a_mark_is_read_back():
    this = owner.this()
    assert Owner.read(this.mark) == this
    assert Owner.read(f"{this.mark} and more") == this
    assert this.pid == os.getpid()
    assert len(this.mark) <= 36


@pytest.mark.parametrize("text", ["", "s1", "12-34", "1-2-3-4", "no-8aa52-1b2c-effffffc", "1-8aa52-1B2C-effffffc x"])
def test_what_others_write_is_no_mark(text):
    assert Owner.read(text) is None


def test_a_process_lives_until_it_ends():
    with subprocess.Popen(["sleep", "60"]) as process:
        other = replace(owner.this(), pid=process.pid, started=owner.started(process.pid))
        assert other.lives
        assert not replace(other, started=other.started - 1).lives  # another process had the number before
        assert not replace(other, boot="0000" if other.boot != "0000" else "1111").lives
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not other.lives  # a zombie
    assert not other.lives


def test_one_of_another_pid_namespace_may_well_live():
    assert replace(owner.this(), pid=4_000_000, namespace=1).lives


def test_the_directory_is_made_once_and_goes_with_its_process_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(owner, "RUN", tmp_path / "run")
    made = owner.directory()
    assert made == owner.directory() == tmp_path / "run" / owner.this().mark
    assert owner.this().run == ""
    owner.note("runs/one")
    assert owner.this().run == "runs/one"
    owner._remove(os.getpid() + 1, made)
    assert made.is_dir()
    owner._remove(os.getpid(), made)
    assert not made.exists()


def test_a_temporary_directory_is_the_owners_or_the_systems(tmp_path, monkeypatch):
    monkeypatch.setattr(owner, "RUN", tmp_path / "run")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with owner.temporary("ab") as made:
        assert Path(made).parent == owner.directory()
    assert not Path(made).exists()
    (tmp_path / "file").touch()
    monkeypatch.setattr(owner, "RUN", tmp_path / "file" / "run")  # as if only root could make it
    with owner.temporary("ab") as made:
        assert Path(made).parent == tmp_path / "tmp"
        assert Path(made).name.startswith("slownet-ab-")
