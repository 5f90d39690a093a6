"""Compiling the project's code for the lab's Python."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from slownet.lab.build import bytecode


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(bytecode, "folders", lambda: [tmp_path])
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "module.py").write_text("x = 1\n")
    return tmp_path


def compiled(folder, seconds_later):
    source = folder / "room" / "module.py"
    target = source.parent / "__pycache__" / "module.cpython-313.pyc"
    target.parent.mkdir(exist_ok=True)
    target.touch()
    changed = source.stat().st_mtime + seconds_later
    os.utime(target, (changed, changed))


def test_sources_never_compiled_are_stale(folder):
    assert bytecode.stale() == [folder]


def test_sources_compiled_since_they_changed_are_not(folder):
    compiled(folder, seconds_later=1)
    assert bytecode.stale() == []


def test_sources_changed_since_are_stale_again(folder):
    compiled(folder, seconds_later=-1)
    assert bytecode.stale() == [folder]


def test_builds_side_by_side_compile_once(folder, monkeypatch):
    made = []

    def compile_(parts, found):
        made.append(found)
        time.sleep(0.1)  # the other one is at the lock by now, or comes later
        compiled(folder, seconds_later=1)

    monkeypatch.setattr(bytecode, "_compile", compile_)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: bytecode.make(None, [folder]), range(2)))
    assert made == [[folder]]


def test_a_folder_that_cannot_be_written_to_is_left_as_it_is(folder, monkeypatch):
    monkeypatch.setattr(bytecode.os, "access", lambda path, mode: False)
    assert bytecode.stale() == []


def test_a_checkout_has_three_rooms():
    assert [each.name for each in bytecode.folders()] == ["slownet", "topologies", "experiments"]
