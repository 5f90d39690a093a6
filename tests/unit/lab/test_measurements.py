"""What is measured of a machine once, and again if it was damaged."""

import json
import os

import pytest

from slownet.lab.build import cache
from slownet.lab.build.digests import NUMBER
from slownet.lab.build.measurements import measured


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "slownet"


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system cache that this user cannot write to, with one measurement of an earlier version."""
    folder = tmp_path / "system"
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(folder))
    (folder / "tdf" / "t1").mkdir(parents=True)
    (folder / "tdf" / "t1" / "tdf.json").write_text('{"tdf": 5}')
    real = cache.os.access
    monkeypatch.setattr(
        cache.os,
        "access",
        lambda path, how, **more: (how != os.W_OK or not path.is_relative_to(folder)) and real(path, how, **more),
    )
    return folder


def measure(number=3, key="t1"):
    return measured("tdf", key, "tdf.json", lambda: {"tdf": number}, {"tdf": NUMBER})["tdf"]


def test_it_is_measured_once(home):
    assert [measure(number) for number in (3, 4)] == [3, 3]
    assert json.loads((home / "tdf" / "t1" / "tdf.json").read_text()) == {"tdf": 3}


def test_what_the_system_has_is_not_measured_again_and_nothing_is_written_there(system, home):
    before = {path: path.stat().st_mtime_ns for path in system.rglob("*")}
    assert measure() == 5
    assert measure(key="t2") == 3
    assert (home / "tdf" / "t2" / "tdf.json").is_file()
    assert {path: path.stat().st_mtime_ns for path in system.rglob("*")} == before


def test_it_is_measured_each_time_where_nothing_can_be_written(home, monkeypatch):
    monkeypatch.setattr(cache, "may_write", lambda path: False)
    assert [measure(number) for number in (3, 4)] == [3, 4]
    assert not home.exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"tdf": "3"}', '{"tdf": null}', '{"tdf": 1e400}', '{"tdf": 7, "format": 2}']
)
def test_one_that_is_damaged_is_measured_again(home, text):
    measure()
    (home / "tdf" / "t1" / "digests.json").unlink()  # as of an earlier version
    (home / "tdf" / ".t1.checked").unlink()
    (home / "tdf" / "t1" / "tdf.json").write_text(text)
    assert [measure(number) for number in (4, 5)] == [4, 4]
