"""Snapshots of exact labs in the cache: made once, made anew when damaged, kept to a size; a made-up machine's."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from slownet.lab.build import cache, shelf
from slownet.lab.exact import standstill
from slownet.model.errors import LabError


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/slownet" / standstill.KIND


def maker(made):
    def make(folder):
        made.append(folder)
        (folder / "memory").write_bytes(b"memory" * 1000)
        (folder / "state").write_bytes(b"state")
        (folder / "said").write_bytes(b"R")

    return make


def test_it_is_made_once(home):
    made = []
    for _ in range(2):
        with standstill.kept("key", maker(made), 1) as found:
            assert (found.memory.stat().st_size, found.state, found.said) == (6000, b"state", b"R")
            assert cache.is_in_use(found.folder)
    assert len(made) == 1
    assert not cache.is_in_use(home / "key")


@pytest.mark.parametrize("content", [b"memory" * 999, b"Memory" + b"memory" * 999])
def test_one_that_is_cut_short_or_of_other_content_is_made_anew(home, content, capsys):
    made = []
    with standstill.kept("key", maker(made), 1) as found:
        pass
    found.memory.write_bytes(content)
    with standstill.kept("key", maker(made), 1) as found:
        assert found.memory.read_bytes() == b"memory" * 1000
    assert len(made) == 2
    said = capsys.readouterr().err
    assert said.startswith("slownet: the snapshot of an exact lab is damaged: memory has ")
    assert len(said.splitlines()) == 1


def test_no_room_is_said_and_nothing_is_left(home, monkeypatch):
    made = []
    with (
        pytest.raises(standstill.NotKeptError, match="needs 900000000 MB of disk"),
        standstill.kept("key", maker(made), 900_000_000),
    ):
        pass
    assert not made

    def full(folder):
        (folder / "memory").write_bytes(b"x")
        raise OSError(28, "No space left on device")

    with pytest.raises(standstill.NotKeptError, match="No space left"), standstill.kept("key", full, 1):
        pass
    assert [each.name for each in home.iterdir() if not each.name.endswith(".lock")] == []


def test_what_goes_wrong_while_it_is_made_is_no_matter_of_the_cache():
    def make(folder):
        raise LabError("the lab's kernel panicked")

    with pytest.raises(LabError, match="panicked") as caught, standstill.kept("key", make, 1):
        pass
    assert not isinstance(caught.value, standstill.NotKeptError)


def test_those_that_were_used_longest_ago_go(home):
    for age, name in enumerate(("new", "used", "old")):
        with standstill.kept(name, maker([]), 1):
            pass
        os.utime(home / name, (1e9 - age, 1e9 - age))
    with cache.in_use(home / "used"):
        shelf.trim(home, 1)
    assert [each.name for each in home.glob("[!.]*")] == ["used"]


def test_several_labs_may_trim_at_once(home):
    for number in range(100):
        folder = home / f"k{number}"
        folder.mkdir(parents=True)
        for name in ("memory", "state", "said"):
            (folder / name).write_bytes(b"x" * 5000)
    with ThreadPoolExecutor(8) as labs:
        for each in [labs.submit(shelf.trim, home, 0) for _ in range(8)]:
            each.result()
    assert list(home.glob("[!.]*")) == []


def test_a_key_has_the_content_of_a_part_not_its_name(tmp_path):
    (tmp_path / "image").write_bytes(b"one")
    without = standstill.content(tmp_path / "image")
    (tmp_path / "digests.json").write_text(json.dumps({"files": {"image": {"sha256": "a"}}}))
    recorded = standstill.content(tmp_path / "image")
    (tmp_path / "digests.json").write_text(json.dumps({"files": {"image": {"sha256": "b"}}}))
    assert len({without, recorded, standstill.content(tmp_path / "image")}) == 3
