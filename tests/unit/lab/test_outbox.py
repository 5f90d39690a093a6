"""What a lab may leave in its folder, and what the host makes of it."""

import os
import socket
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from slownet.lab.run import outbox
from slownet.lab.run.outbox import Outbox, RefusedError

SECRET = "root:x:0:0"


@pytest.fixture(params=["openat2", "step by step"])
def way(request, monkeypatch):
    """Both ways to open a file beneath a folder."""
    monkeypatch.setattr(outbox, "_openat2_works", request.param == "openat2")
    return request.param


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text(SECRET)
    lab = tmp_path / "lab"
    (lab / "raw").mkdir(parents=True)
    (lab / "raw" / "good.txt").write_text("good")
    return lab


def linked(folder: Path, to: str) -> str:
    (folder / "raw" / "link").symlink_to(to)
    return "raw/link"


def above(folder: Path, to: str) -> str:
    (folder / "door").symlink_to(to)
    return "door/file"


def fifo(folder: Path) -> str:
    os.mkfifo(folder / "raw" / "fifo")
    return "raw/fifo"


def listening(folder: Path) -> str:
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(folder / "s"))
    return "s"


def huge(folder: Path) -> str:
    with open(folder / "huge", "wb") as file:
        file.truncate(2**40)
    return "huge"


PLANTED = {
    "a link": (lambda folder: linked(folder, "../../secret"), "raw/link is a symbolic link"),
    "an absolute link": (lambda folder: linked(folder, "/etc/passwd"), "raw/link is a symbolic link"),
    "a link to a device": (lambda folder: linked(folder, "/dev/zero"), "raw/link is a symbolic link"),
    "a link to itself": (lambda folder: linked(folder, "link"), "raw/link is a symbolic link"),
    "a link that dangles": (lambda folder: linked(folder, "nothing"), "raw/link is a symbolic link"),
    "a folder that is a link": (lambda folder: above(folder, "../elsewhere"), "door/file is reached by a link"),
    "a FIFO": (fifo, "raw/fifo is a FIFO"),
    "a socket": (listening, "s is a socket"),
    "a folder": (lambda folder: "raw", "raw is a folder"),
    "a huge file": (huge, "huge has 1,099,511,627,776 bytes, more than 268,435,456"),
    "nothing": (lambda folder: "raw/missing", "raw/missing cannot be read (No such file or directory)"),
    "a way up": (lambda folder: "../secret", "'../secret' is not a path below the lab's folder"),
    "a detour": (lambda folder: "raw/../../secret", "'raw/../../secret' is not a path below the lab's folder"),
    "an absolute path": (lambda folder: "/etc/passwd", "'/etc/passwd' is not a path below the lab's folder"),
    "no path": (lambda folder: "", "'' is not a path below the lab's folder"),
    "a NUL": (lambda folder: "raw/a\0b", "'raw/a\\x00b' is not a path below the lab's folder"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_no_regular_file_is_refused(way, folder, planted):
    plant, line = PLANTED[planted]
    name = plant(folder)
    with pytest.raises(RefusedError) as refused:
        Outbox(folder).read(name)
    assert refused.value.what == line


def test_a_regular_file_is_read(way, folder):
    assert Outbox(folder).text("raw/good.txt") == "good"


def test_a_short_file_takes_little_memory_whatever_the_limit(way, folder):
    tracemalloc.start()
    try:
        content = Outbox(folder).read("raw/good.txt", 2**30)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert content == b"good"
    assert most < 2 * outbox.MEBI


def test_a_file_that_grew_after_it_was_opened_is_read_whole(way, folder, monkeypatch):
    def before_it_grew(number):
        return os.stat_result((0o100644, 0, 0, 1, 0, 0, 1, 0, 0, 0))

    with Outbox(folder).open("raw/good.txt") as file:
        monkeypatch.setattr(outbox.os, "fstat", before_it_grew)
        assert outbox.read_up_to(file, 100) == b"good"
        file.seek(0)
        assert outbox.read_up_to(file, 3) == b"goo"


def test_a_device_is_refused_before_it_is_opened(way, folder):
    try:
        os.mknod(folder / "zero", 0o666 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("devices are root's")
    with pytest.raises(RefusedError, match="zero is a device"):
        Outbox(folder).read("zero")


def test_what_a_file_is_swapped_for_while_it_is_read_is_never_followed(way, folder):
    """Whatever the moment, the answer is the file's own content or a refusal."""
    swapped, ended = folder / "raw" / "swapped", threading.Event()

    def swap() -> None:
        while not ended.is_set():
            swapped.write_text("good")
            swapped.unlink()
            swapped.symlink_to("../../secret")
            swapped.unlink()
            os.mkfifo(swapped)
            swapped.unlink()

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            try:
                seen.add(Outbox(folder).text("raw/swapped"))
            except RefusedError:
                seen.add("refused")
    finally:
        ended.set()
        thread.join()
    assert seen <= {"good", "", "refused"}


def test_listed_are_regular_files_only(way, folder):
    for plant, _ in PLANTED.values():
        if plant(folder).startswith("raw/link"):
            (folder / "raw" / "link").unlink()
    linked(folder, "../../secret")
    refused: list[str] = []
    names = [str(each.name) for each in Outbox(folder).files(refused.append)]
    assert names == ["huge", "raw/good.txt"]
    assert refused == ["door is a symbolic link", "raw/fifo is a FIFO", "raw/link is a symbolic link", "s is a socket"]


def test_too_many_files_end(way, folder, monkeypatch):
    monkeypatch.setattr(outbox, "MOST_FILES", 10)
    for number in range(20):
        (folder / "raw" / str(number)).touch()
    refused: list[str] = []
    assert len(list(Outbox(folder).files(refused.append))) < 10
    assert refused == ["raw has too many files: more than 10"]


def test_folders_without_end_end(way, folder):
    deep = folder
    for _ in range(outbox.DEEPEST + 10):
        deep = deep / "d"
    deep.mkdir(parents=True)
    refused: list[str] = []
    assert [str(each.name) for each in Outbox(folder).files(refused.append)] == ["raw/good.txt"]
    assert len(refused) == 1
    assert refused[0].endswith("is a folder")


def test_what_is_carried_out_is_regular_and_complete(way, folder, tmp_path):
    linked(folder, "../../secret")
    fifo(folder)
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "victim").write_text("mine")
    (kept / "raw").mkdir()
    (kept / "raw" / "good.txt").symlink_to(tmp_path / "victim")  # of the host's own: replaced, not written through
    done = Outbox(folder).carry(kept)
    assert [str(each) for each in done.files] == ["raw/good.txt"]
    assert done.complaint == "left in the lab: raw/fifo is a FIFO; raw/link is a symbolic link"
    assert (kept / "raw" / "good.txt").read_text() == "good"
    assert not (kept / "raw" / "good.txt").is_symlink()
    assert (tmp_path / "victim").read_text() == "mine"


def test_carried_are_so_many_bytes_at_most(way, folder, tmp_path):
    (folder / "a").write_bytes(b"x" * 10)
    (folder / "b").write_bytes(b"x" * 10)
    done = Outbox(folder).carry(tmp_path / "kept", limit=10, total=15)
    assert [str(each) for each in done.files] == ["a", "raw/good.txt"]
    assert done.complaint == "left in the lab: b has 10 bytes"


def test_names_are_shown_not_sent(way, folder):
    evil = "\x1b]0;owned\x07\n.txt"
    (folder / evil).symlink_to("x")
    refused: list[str] = []
    list(Outbox(folder).files(refused.append))
    assert refused == ["\\x1b]0;owned\\x07\\n.txt is a symbolic link"]


def test_a_folder_that_is_missing_is_one_line(way, tmp_path):
    with pytest.raises(RefusedError, match=r"nowhere cannot be read \(No such file or directory\)"):
        Outbox(tmp_path / "nowhere").read("file")


def test_a_file_that_was_changed_has_another_version_and_a_link_has_none(tmp_path):
    path = tmp_path / "file"
    path.write_text("one")
    box = Outbox(tmp_path)
    before = box.version("file")
    assert before == box.version("file")
    path.write_text("longer")
    assert box.version("file") != before
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(RefusedError):
        box.version("link")
