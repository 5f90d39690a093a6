"""Memory that labs share, on machines made of files."""

import fcntl
import os

import ordinary_user
import pytest

from slownet.lab.host import memory
from slownet.model.errors import LabError


class Proc:
    """A machine's /proc."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = folder / "lock"
        self.lock.mkdir()

    def free(self, megabytes):
        (self.folder / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable:  {megabytes * 1024} kB\n")

    def process(self, pid, words, used=0, session=None):
        folder = self.folder / str(pid)
        folder.mkdir()
        (folder / "cmdline").write_bytes(b"".join(each.encode() + b"\0" for each in words))
        fields = " ".join(["S 1", str(pid), str(session or pid), *["0"] * 15, "987 0 0"])
        (folder / "stat").write_text(f"{pid} (a b) c) {fields}\n")
        (folder / "status").write_text(
            f"Name:\tlinux\nRssAnon:\t 999999 kB\nRssFile:\t 1024 kB\nRssShmem:\t {used * 1024} kB\n"
        )
        return folder

    def lab(self, pid, megabytes, used=0, **others):
        return self.process(pid, ["/cache/kernel/k/linux", f"mem={megabytes}M", "mem-fd=16", "quiet"], used, **others)


@pytest.fixture
def proc(tmp_path, monkeypatch):
    found = Proc(tmp_path)
    found.free(3000)
    monkeypatch.setattr(memory, "PROC", found.folder)
    monkeypatch.setattr(memory, "LOCK", found.lock)
    monkeypatch.setattr(memory, "PAUSE_S", 0.01)
    monkeypatch.setattr(memory, "_courtesy", memory._Courtesy())
    return found


def test_what_labs_may_still_take_is_not_free(proc):
    proc.lab(10, 1024, used=100)
    proc.lab(20, 500, used=600)
    found = memory.examine()
    assert (found.free, found.promised, found.used) == (3000 - (1024 - 101), 1024 - 101, 702)
    assert len(found.running) == 2


def test_memory_is_promised_on_its_file_system_or_on_each_if_nobody_knows(proc):
    files = proc.lab(10, 1024, used=100) / "fd"
    files.mkdir()
    here = files / "16"
    here.touch()
    device = here.stat().st_dev
    assert memory.examine().promised_on(device) == 1024 - 101
    assert memory.examine().promised_on(device + 1) == 0
    proc.lab(20, 500, used=99)
    assert memory.examine().promised_on(device + 1) == 400


def test_only_the_first_process_of_a_lab_counts(proc):
    proc.lab(10, 1024)
    proc.lab(11, 1024, session=10)
    proc.process(12, ["vi", "mem=1024M"])
    proc.process(13, ["setpriv", "mem=xM", "mem-fd=3"])
    (proc.lab(14, 1024) / "status").unlink()  # it ends now
    assert len(memory.examine().running) == 1


def test_a_lab_that_fits_starts_at_once_and_says_nothing(proc, capsys):
    proc.lab(10, 1024)
    with memory.room(1024) as found:
        assert found.promised == 1023
        other = os.open(proc.lock, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    assert capsys.readouterr().err == ""


def test_a_lab_that_does_not_fit_waits_until_one_ends_and_says_so_once(proc, capsys, monkeypatch):
    first, _ = proc.lab(10, 1024), proc.lab(20, 1024)
    pauses = [lambda: None, (first / "cmdline").unlink]
    monkeypatch.setattr(memory.time, "sleep", lambda seconds: pauses.pop(0)())
    with memory.room(1500) as found:
        assert len(found.running) == 1
    assert capsys.readouterr().err == "slownet: 2 labs run here, and no room is left for 1500 MB: waiting until one ends\n"


def test_a_wait_has_an_end(proc, monkeypatch):
    monkeypatch.setattr(memory, "PATIENCE_S", 0.05)
    proc.lab(10, 2900)
    with (
        pytest.raises(
            LabError, match=r"^1 lab runs here, and no room is left for 1024 MB: try again later, or give labs less: --m"
        ),
        memory.room(1024),
    ):
        pytest.fail("it started")


def test_nobody_waits_for_what_never_fits_or_after_an_interrupt(proc):
    proc.free(100)
    with memory.room(1024):
        pass
    proc.free(1030)
    proc.lab(10, 1024)
    with memory.room(1000, lambda: True):
        pass
    with memory.room(1100):
        pass


def test_labs_start_where_the_lock_cannot_be_had(proc, monkeypatch):
    monkeypatch.setattr(memory, "LOCK_S", 0.05)
    other = os.open(proc.lock, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with memory.room(1024):
        pass
    os.close(other)
    proc.lock.rmdir()
    with memory.room(1024):
        pass


def test_another_users_process_that_looks_like_a_lab_holds_nobody_for_long(proc, capsys, monkeypatch):
    """Its words say that it may still take the whole machine; it is waited for once, and named."""
    fake = proc.lab(10, 999_999)
    monkeypatch.setattr(memory.Running, "is_trusted", False)
    monkeypatch.setattr(memory, "holder", lambda pid, user=None: f"process {pid} of mallory")
    monkeypatch.setattr(memory, "COURTESY_S", 0.3)
    memory._courtesy.left = 0.3
    proc.free(3000)
    for _ in range(2):
        with memory.room(1024) as found:
            assert (found.free, found.promised) == (3000, 0)
    assert capsys.readouterr().err.splitlines() == [
        "slownet: 1 lab runs here, and no room is left for 1024 MB (process 10 of mallory): waiting until one ends",
        "slownet: other labs get no more than 0.3 s of waiting (process 10 of mallory): starting",
    ]
    assert fake.is_dir()


def test_free_memory_counts_even_when_nobody_waits_for_others(proc, monkeypatch):
    proc.lab(10, 1024, used=900)
    monkeypatch.setattr(memory.Running, "is_trusted", False)
    memory._courtesy.left = 0.0
    monkeypatch.setattr(memory, "PATIENCE_S", 0.1)
    proc.free(200)
    with pytest.raises(LabError), memory.room(1024):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_whose_labs_are_trusted(proc):
    for pid, user in ((10, 0), (20, ordinary_user.NOBODY), (30, 1)):
        os.chown(proc.lab(pid, 100), user, user)
    for each in (proc.folder, *proc.folder.parents):
        if str(each).startswith("/tmp/"):
            each.chmod(0o755)

    def look():
        found = memory.examine()
        return sorted(each.pid for each in found.trusted().running if each.promised), sorted(
            each.holder for each in found.running
        )

    names = ["process 10 of root", "process 20 of nobody", "process 30 of daemon"]
    assert look() == ([10], names)
    assert ordinary_user.call(look) == ([10, 20], names)


def test_who_keeps_the_lock_is_named_and_waited_for_once(proc, capsys, monkeypatch):
    memory._courtesy.for_lock = 0.1
    kept = os.open(proc.lock, os.O_RDONLY | os.O_DIRECTORY)
    (proc.folder / "locks").write_text(f"1: FLOCK  ADVISORY  WRITE 77 00:16:{os.fstat(kept).st_ino} 0 EOF\n")
    monkeypatch.setattr(memory, "holder", lambda pid, user=None: f"process {pid} of mallory")
    fcntl.flock(kept, fcntl.LOCK_EX)
    try:
        for _ in range(2):
            with memory.room(1024):
                pass
    finally:
        os.close(kept)
    kept_by = "process 77 of mallory keeps the lock that makes labs start one by one"
    line = f"slownet: {kept_by} ({proc.lock}): starting without it\n"
    assert capsys.readouterr().err == line


def test_an_exact_lab_has_its_memory_without_a_file(proc):
    words = ["/usr/bin/qemu-system-x86_64", "-name", "slownet-exact", "-m", "1500M,slots=8,maxmem=64G"]
    folder = proc.process(10, words)
    (folder / "status").write_text("Name:\tqemu\nRssAnon:\t 512000 kB\nRssFile:\t 900000 kB\nRssShmem:\t 0 kB\n")
    found = memory.examine()
    assert [(each.given, each.used) for each in found.running] == [(1500, 500)]
    assert found.promised == 1000
    assert found.promised_on(os.stat(proc.folder).st_dev) == 0
    proc.process(11, [*words[:2], "slownet", *words[3:]])
    assert len(memory.examine().running) == 1
