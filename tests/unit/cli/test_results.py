"""What a lab may leave of a Mininet program's files, and what this machine makes of it."""

import json
import os
import socket

import pytest

from slownet.cli.results import Results, Taken
from slownet.lab.run import deposit

SECRET = "root:x:0:0"


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A lab that has written to the folder `mine`, of which it could read an old file and a program."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "old.txt").write_text("last week's")
    (mine / "tool").write_text("#!/bin/sh\n")
    (mine / "tool").chmod(0o755)
    (tmp_path / "secret").write_text(SECRET)
    with Results([mine], mine) as results:
        yield results, results.share.path, mine


def write(out, name, text="new"):
    path = out / "kept" / "0" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_new_and_changed_files_are_here_and_named_in_one_line(lab):
    results, out, mine = lab
    write(out, "old.txt", "this week's")
    write(out, "runs/1/ping.txt", "64 bytes")
    write(out, "empty", "")
    taken = results.take()
    assert taken.lines() == ["written: empty, old.txt, runs/1/ping.txt"]
    assert (mine / "old.txt").read_text() == "this week's"
    assert (mine / "runs/1/ping.txt").read_text() == "64 bytes"
    assert (mine / "empty").read_text() == ""


def test_many_names_are_counted():
    assert Taken(written=[str(number) for number in range(12)]).lines() == ["written: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"]


def test_a_result_is_no_program_and_keeps_its_mode(lab):
    results, out, mine = lab
    write(out, "run.txt").chmod(0o755)
    (mine / "old.txt").chmod(0o600)
    write(out, "old.txt")
    results.take()
    assert (mine / "run.txt").stat().st_mode & 0o111 == 0
    assert (mine / "old.txt").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("tool", "tool is a program here"),
        ("json.py", "json.py is what other programs here would run"),
        ("sub/conftest.py", "sub/conftest.py is what other programs here would run"),
        ("Makefile", "Makefile is what other programs here would run"),
        ("native.so", "native.so is what other programs here would run"),
    ],
)
def test_what_would_be_run_here_stays_in_the_lab(lab, name, why):
    results, out, mine = lab
    write(out, name)
    taken = results.take()
    assert (taken.refused, taken.withheld) == ([], [why])
    assert (mine / "tool").read_text() == "#!/bin/sh\n"
    assert sorted(path.name for path in mine.iterdir()) == ["old.txt", "tool"]
    assert taken.lines() == [f"slownet: left in the lab: {why}"]


def test_a_result_that_has_no_name_here_is_refused(lab):
    results, out, _ = lab
    write(out, "a\x1b[31m")
    taken = results.take()
    assert (taken.refused, taken.withheld) == (["a\\x1b[31m is not a name for a file"], [])


@pytest.mark.parametrize("name", [".bashrc", ".git/hooks/pre-commit", "sub/.config/x"])
def test_hidden_files_stay_without_a_word(lab, name):
    results, out, mine = lab
    write(out, name)
    assert results.take().lines() == []
    assert sorted(path.name for path in mine.iterdir()) == ["old.txt", "tool"]


def link(path, folder):
    path.symlink_to(folder / "secret")


def fifo(path, folder):
    os.mkfifo(path)


def listening(path, folder):
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(path.name)


def huge(path, folder):
    with path.open("wb") as file:
        file.truncate(deposit.FILE_BYTES + 1)


@pytest.mark.parametrize("plant", [link, fifo, listening, huge])
def test_nothing_but_regular_files_of_a_bounded_size_leaves(lab, plant, monkeypatch, tmp_path):
    results, out, mine = lab
    monkeypatch.chdir(tmp_path)  # and back
    (out / "kept/0").mkdir(parents=True)
    plant(out / "kept/0/old.txt", tmp_path)
    taken = results.take()
    assert len(taken.refused) == 1
    assert taken.written == []
    assert (mine / "old.txt").read_text() == "last week's"


def test_links_of_the_user_are_not_followed(lab, tmp_path):
    results, out, mine = lab
    (mine / "door").symlink_to(tmp_path)
    (mine / "there").symlink_to(tmp_path / "secret")
    write(out, "door/secret")
    write(out, "there")
    assert len(results.take().refused) == 2
    assert (tmp_path / "secret").read_text() == SECRET


@pytest.mark.parametrize("where", ["kept/1/a", "kept/-1/a", "kept/x/a", "kept/a"])
def test_what_belongs_to_no_folder_is_refused(lab, where):
    results, out, mine = lab
    (out / where).parent.mkdir(parents=True)
    (out / where).write_text("a")
    assert results.take().refused == [f"{where} belongs nowhere"]
    assert len(list(mine.iterdir())) == 2


@pytest.mark.parametrize("text", ["[[0, 1, 2]]", '[[0, "a"]]', '[[9, "a", "b"]]', "{", "7", '[["0", "a", "b"]]', "[" * 100_000])
def test_lists_that_are_none_say_nothing(lab, text):
    results, out, _ = lab
    for name in ("left", "gone", "own"):
        (out / f"{name}.json").write_text(text)
    assert [line for line in results.take().lines() if "deleted" in line or "left" in line] == []


def test_what_is_not_taken_is_named(lab):
    results, out, _ = lab
    (out / "left.json").write_text(json.dumps([[0, "latest", "a symbolic link"], [0, "big", "No space left on device"]]))
    (out / "gone.json").write_text(json.dumps([[0, "old.txt"], [0, "never.txt"], [0, "../secret"], [0, "/etc/passwd"]]))
    (out / "own.json").write_text(json.dumps(["/tmp/iperf.log"]))
    taken = results.take()
    assert taken.refused == ["big (No space left on device)"], "a link is no result"
    assert taken.deleted == ["old.txt"]
    assert taken.lines()[0] == "slownet: left in the lab: big (No space left on device); latest (a symbolic link)"
    assert taken.lines()[-1].startswith(
        "slownet: written in the lab's own folders and not kept: /tmp/iperf.log: let the program"
    )


def test_the_folder_is_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Results([], None) as results:
        (results.share.path / "closed").mkdir(mode=0)
    assert list(tmp_path.iterdir()) == []
