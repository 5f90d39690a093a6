import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from slownet.lab.build import cache
from slownet.model.errors import LabError


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "slownet"


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.name.endswith(".lock"))


def test_the_root_follows_xdg(monkeypatch, home):
    assert cache.root() == home
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache.root() == Path("/home/somebody/.cache/slownet")


def test_a_key_changes_with_content_and_order_and_borders(tmp_path):
    one = tmp_path / "one"
    one.write_bytes(b"text")
    assert cache.key("text") == cache.key(b"text") == cache.key(one)
    assert len({cache.key("ab"), cache.key("a", "b"), cache.key("b", "a"), cache.key("ab", "")}) == 4
    before = cache.key(one)
    one.write_bytes(b"texT")
    assert cache.key(one) != before
    assert cache.key("x") == hashlib.sha256(b"\1\0\0\0\0\0\0\0x").hexdigest()[:16]


def test_what_is_made_appears_only_when_it_is_whole(home):
    assert cache.found("thing", "k1") is None

    def build(folder):
        (folder / "part").write_text("1")
        assert cache.found("thing", "k1") is None

    made = cache.make("thing", "k1", build)
    assert made == cache.found("thing", "k1") == home / "thing" / "k1"
    assert everything(home) == ["thing", "thing/k1", "thing/k1/part"]
    cache.make("thing", "k1", lambda folder: pytest.fail("made again"))


def remains(folder):
    """Make what may be where a finished folder is expected."""
    folder.parent.mkdir(parents=True)
    return {
        "damaged": lambda: (folder.mkdir(), (folder / "old").touch()),
        "closed": lambda: (folder.mkdir(), (folder / "old").touch(), folder.chmod(0)),
        "file": folder.touch,
        "pipe": lambda: os.mkfifo(folder),
        "link to nothing": lambda: folder.symlink_to("nowhere"),
    }


@pytest.mark.parametrize("what", ["damaged", "closed", "file", "pipe", "link to nothing"])
def test_what_is_not_whole_is_made_anew(home, what):
    remains(home / "thing" / "k1")[what]()
    cache.make("thing", "k1", lambda folder: (folder / "new").touch(), is_whole=lambda folder: (folder / "new").exists())
    assert everything(home) == ["thing", "thing/k1", "thing/k1/new"]


def test_a_link_to_what_is_not_whole_goes_and_its_folder_stays(home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "old").touch()
    (home / "thing").mkdir(parents=True)
    (home / "thing" / "k1").symlink_to(tmp_path / "elsewhere")
    cache.make("thing", "k1", lambda folder: (folder / "new").touch(), is_whole=lambda folder: (folder / "new").exists())
    assert everything(home) == ["thing", "thing/k1", "thing/k1/new"]
    assert (tmp_path / "elsewhere" / "old").exists()


@pytest.mark.parametrize("error", [LabError("no"), KeyboardInterrupt()])
def test_a_build_that_fails_leaves_nothing_and_can_be_tried_again(home, error):
    def build(folder):
        (folder / "part").write_text("1")
        raise error

    with pytest.raises(type(error)):
        cache.make("thing", "k1", build)
    assert everything(home) == ["thing"]
    assert cache.make("thing", "k1", lambda folder: None).is_dir()


def test_what_a_killed_build_left_is_removed(home):
    (home / "thing" / ".k1.half" / "work").mkdir(parents=True)
    (home / "thing" / ".k1.half" / "part").write_text("old")
    cache.make("thing", "k1", lambda folder: (folder / "new").touch())
    assert everything(home) == ["thing", "thing/k1", "thing/k1/new"]


def test_a_sweep_removes_the_remains_of_killed_builds_only(home):
    for each in ("k1", "k2"):
        (home / "thing" / f".{each}.half" / "work").mkdir(parents=True)
    (home / "thing" / "whole").mkdir()

    def build(folder):
        (folder / "part").touch()
        cache.sweep("thing")
        assert (folder / "part").exists()

    cache.make("thing", "k2", build)
    assert everything(home) == ["thing", "thing/k2", "thing/k2/part", "thing/whole"]
    cache.sweep("another")


def test_a_disk_that_is_full_is_one_line(home):
    def build(folder):
        raise OSError(28, "No space left on device", str(folder / "big"))

    with pytest.raises(LabError, match=r"^cannot write to .*/big \(No space left on device\): free space, or set XDG_"):
        cache.make("thing", "k1", build)
    assert everything(home) == ["thing"]


def test_a_cache_that_cannot_be_created_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LabError, match=r"^cannot write to .*/file.* \(Not a directory\): set XDG_CACHE_HOME to"):
        cache.make("thing", "k1", lambda folder: None)


def test_threads_that_want_one_thing_build_it_once():
    builds = []

    def build(folder):
        builds.append(folder)
        time.sleep(0.05)

    threads = [threading.Thread(target=cache.make, args=("thing", "k1", build)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1


def _build_slowly(log):
    def build(folder):
        with log.open("a") as file:
            file.write("built\n")
        time.sleep(0.1)
        (folder / "part").touch()

    made = cache.make("thing", "k1", build)
    os._exit(0 if (made / "part").exists() else 1)


def test_processes_that_want_one_thing_build_it_once(tmp_path):
    log = tmp_path / "log"
    several = [multiprocessing.get_context("spawn").Process(target=_build_slowly, args=(log,)) for _ in range(2)]
    for process in several:
        process.start()
    for process in several:
        process.join()
    assert [process.exitcode for process in several] == [0, 0]
    assert log.read_text() == "built\n"


def test_need_space(tmp_path):
    cache.need_space(tmp_path / "not" / "there" / "yet", 1, "the image")
    with pytest.raises(LabError) as error:
        cache.need_space(tmp_path / "not" / "there", 10**9, "the image")
    line = str(error.value)
    assert line.startswith("the image needs 1000000000 MB of disk, but only ")
    assert line.endswith(f" MB are free, in {tmp_path}: free space, or set XDG_CACHE_HOME to a folder on another disk")


def test_need_programs(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    cache.need_programs({}, "the image")
    with pytest.raises(LabError) as error:
        cache.need_programs({"nosuchd": "nosuch", "nosuch-tool": "nosuch", "other": "another"}, "the image")
    assert str(error.value) == "the image needs nosuchd, nosuch-tool, other: apt-get install another nosuch"


def test_programs_of_root_are_found_with_the_path_of_an_ordinary_user(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cache.search_path() == f"{tmp_path}:/usr/local/sbin:/usr/sbin:/sbin"


def test_a_program_that_fails_is_one_line_with_its_last_words_and_a_log(tmp_path, home):
    log = tmp_path / "build.log"
    with pytest.raises(LabError) as error:
        cache.run(["sh", "-c", "echo first; for i in 1 2 3 4; do echo line $i >&2; done; exit 3"], log, "building it")
    kept = home / "log" / "build.log"
    assert str(error.value) == f"building it failed (3): line 2 | line 3 | line 4, log {kept}"
    assert kept.read_text() == "first\nline 1\nline 2\nline 3\nline 4\n"


def test_error_lines_are_preferred_and_hints_win(tmp_path, home):
    log = tmp_path / "build.log"
    script = "echo E: no such package; echo chatter; echo more; echo Could not resolve; exit 100"
    with pytest.raises(LabError, match=r"^fetching failed \(100\): E: no such package, log "):
        cache.run(["sh", "-c", script], log, "fetching")
    with pytest.raises(LabError) as error:
        cache.run(["sh", "-c", script], log, "fetching", hints=[("nothing", "no"), ("Could not resolve", "check the network")])
    assert str(error.value) == f"fetching failed, log {home / 'log' / 'build.log'}: check the network"


def test_programs_of_a_build_get_the_c_locale_and_no_input(tmp_path):
    log = tmp_path / "log"
    cache.run(["sh", "-c", "echo $LC_ALL; cat; pwd"], log, "it", cwd=tmp_path)
    assert log.read_text() == f"C\n{tmp_path}\n"


def test_a_program_of_a_build_ends_with_the_one_who_builds(tmp_path):
    script = f"""
import sys
from pathlib import Path
from slownet.lab.build import cache
cache.run(["sh", "-c", "echo $$; exec sleep 1000"], Path({str(tmp_path / "log")!r}), "it")
"""
    with subprocess.Popen([sys.executable, "-c", script]) as builder:
        pid = _wait_for(lambda: (tmp_path / "log").exists() and (tmp_path / "log").read_text().strip())
        builder.send_signal(signal.SIGKILL)
    _wait_for(lambda: not _runs(int(pid)))


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it was gone, or it went
        return False


def _wait_for(condition):
    deadline = time.monotonic() + 20
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


LINGERS = """
trap 'exit 1' TERM
( trap 'sleep 0.5; exit' TERM; touch begun; while :; do sleep 0.01; done ) &
echo $! >pid
wait
"""


def test_an_interrupted_build_ends_when_all_of_its_programs_have_ended(home):
    lingering = []

    def build(folder):
        with cache.start(["sh", "-c", LINGERS], cwd=folder):
            _wait_for((folder / "begun").exists)
            lingering.append(_wait_for(lambda: (folder / "pid").exists() and (folder / "pid").read_text().strip()))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.make("kernel", "key", build)
    assert not _runs(lingering[0])
    assert [each.name for each in (home / "kernel").iterdir()] == [".key.lock"]


def test_what_a_user_makes_goes_to_an_own_folder_where_the_cache_is_anothers(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own"))
    assert cache.writable_root() == tmp_path / "shared" / "slownet"
    monkeypatch.setattr(cache, "may_write", lambda folder: not folder.is_relative_to(tmp_path / "shared"))
    assert cache.writable_root() == tmp_path / "own" / "slownet"
    (tmp_path / "build.log").write_text("E: no such package\n")
    kept = tmp_path / "own" / "slownet" / "log" / "build.log"
    assert (
        str(cache.failure("building it", 1, tmp_path / "build.log"))
        == f"building it failed (1): E: no such package, log {kept}"
    )


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system cache that this user cannot write to."""
    folder = tmp_path / "system"
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(folder))
    monkeypatch.setattr(cache, "may_write", lambda path: not path.is_relative_to(folder))
    (folder / "kernel" / "k1").mkdir(parents=True)
    return folder


def test_what_the_users_cache_lacks_may_be_in_the_systems(home, system):
    assert cache.found("kernel", "k1") == system / "kernel" / "k1"
    own = cache.make("kernel", "k1", lambda half: None)
    assert cache.found("kernel", "k1") == own == home / "kernel" / "k1"


def test_the_systems_cache_is_used_as_ones_own_if_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_own", None)
    monkeypatch.setattr(cache.os, "umask", lambda mask: None)
    with pytest.raises(LabError, match=r"^the system cache is switched off: SLOWNET_SYSTEM_CACHE is empty, --system: "):
        cache.use_system()
    monkeypatch.delenv("SLOWNET_SYSTEM_CACHE")
    assert cache.system_root() == Path("/var/cache/slownet")
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(tmp_path / "system"))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "may_write", lambda path: False)
        with pytest.raises(
            LabError, match=r"^cannot write to .*/system, --system: run it as root, or set SLOWNET_SYSTEM_CACHE"
        ):
            cache.use_system()
    cache.use_system()
    assert cache.make("layer", "l1", lambda half: None) == tmp_path / "system" / "layer" / "l1"
