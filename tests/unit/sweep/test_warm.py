"""Snapshots in the cache: which go, and which stay."""

import os
import threading

import pytest

from slownet.lab.build import cache, cache_cleanup, shelf
from slownet.runner.boot_store import task


@pytest.fixture
def snapshots(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for number in range(4):
        folder = cache.make(task.WARM, f"k{number}", lambda half: (half / "data").write_bytes(b"x" * 100_000))
        os.utime(folder, (number, number))
    return cache.root() / task.WARM


def names(home):
    return sorted(each.name for each in home.glob("[!.]*"))


def test_the_snapshots_that_were_used_longest_ago_go(snapshots):
    shelf.trim(snapshots, 250_000)
    assert names(snapshots) == ["k2", "k3"]
    shelf.trim(snapshots, task.MOST)
    assert names(snapshots) == ["k2", "k3"]


def test_a_snapshot_in_use_stays_and_is_not_offered_for_removal(snapshots):
    with cache.in_use(snapshots / "k0") as there:
        assert there
        shelf.trim(snapshots, 0)
        assert names(snapshots) == ["k0"]
        assert cache_cleanup._in_use(task.WARM) == {"k0": "a sweep uses it"}
    assert cache_cleanup._in_use(task.WARM) == {}
    cache_cleanup.remove(cache_cleanup.Entry(snapshots / "k0", ""))
    assert names(snapshots) == []
    with cache.in_use(snapshots / "k0") as there:
        assert not there


def test_it_is_made_once_by_whoever_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = []

    def build(half):
        made.append(half)
        (half / "data").touch()

    threads = [threading.Thread(target=cache.make, args=(task.WARM, "one", build)) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(made) == 1
