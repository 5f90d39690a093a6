"""What leaves a lab under pytest: which names, to which places, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.deposit import place_below, remove_below
from slownet.lab.run.outbox import RefusedError
from slownet.pytest_plugin import staging
from slownet.pytest_plugin.carrier import Carried, carry
from slownet.pytest_plugin.exports import Keep, Plan
from slownet.pytest_plugin.staging import Staging, recover

SECRET = "the host's"


@pytest.fixture
def host(tmp_path):
    """A project with a file, beside one that no lab may touch; `out` is what the lab writes."""
    (tmp_path / "project").mkdir()
    (tmp_path / "out/kept/0").mkdir(parents=True)
    (tmp_path / "secret").write_text(SECRET)
    return tmp_path


def plan(host, *pattern, **more):
    return Plan(host / "project", keep=(Keep(host / "project", pattern),), **more)


@pytest.mark.parametrize(
    ("pattern", "kept", "not_kept"),
    [
        (("out",), ["out", "out/a", "out/deep/a"], ["other", "out2", "a/out"]),
        (("snapshots", "*.json"), ["snapshots/a.json", "snapshots/a.json/b"], ["snapshots/a.txt", "snapshots", "a.json"]),
        (("gw?",), ["gw0"], ["gw10", "gw"]),
        ((), ["a", "b/c"], []),
        (("",), [], ["a", "b/c"]),
    ],
)
def test_a_pattern_keeps_what_it_names_and_what_is_below_it(pattern, kept, not_kept):
    entry = inside.Entry("/base", pattern)
    assert [each for each in kept + not_kept if entry.has(PurePosixPath(each))] == kept


def test_files_are_carried_whole_with_their_folders_and_their_right_to_run(host):
    (host / "out/kept/0/out/deep").mkdir(parents=True)
    (host / "out/kept/0/out/deep/a.csv").write_text("1,2")
    (host / "out/kept/0/out/run").write_text("#!/bin/sh")
    (host / "out/kept/0/out/run").chmod(0o4700)
    done = carry(plan(host, "out"), host / "out")
    assert done == Carried()
    assert (host / "project/out/deep/a.csv").read_text() == "1,2"
    mask = os.umask(0)
    os.umask(mask)
    assert (host / "project/out/run").stat().st_mode & 0o7777 == 0o777 & ~mask
    assert not (host / "project/out/deep/a.csv").stat().st_mode & 0o111


@pytest.mark.parametrize("content", [b"x", b"no database", b""], ids=["a byte", "text", "nothing"])
def test_coverage_data_is_a_file_and_no_folder(host, content):
    """pytest-cov ends the session if its file is a folder."""
    (host / "out/kept/0/.coverage").mkdir()
    (host / "out/kept/0/.coverage/in").write_bytes(content)
    mine = Plan(host / "project", keep=(Keep(host / "project", (".coverage",), coverage=True),))
    assert carry(mine, host / "out").refused == [".coverage/in is not coverage data"]
    assert list((host / "project").iterdir()) == []


def test_what_the_session_does_not_keep_is_not_carried(host):
    for name in ("kept/0/pyproject.toml", "kept/1/out", "kept/x/out", "junk/a", "logs/0", "records/run/run.json"):
        (host / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (host / "out" / name).write_text("evil")
    done = carry(plan(host, "out"), host / "out")
    assert len(done.refused) == 6
    (line,) = done.lines(host)
    assert line.startswith("left in the lab: junk/a belongs nowhere; ")
    assert line.endswith(" and 3 more")
    assert list((host / "project").iterdir()) == []


def planted(path, kind, host):
    """Leave something that is not a regular file of a bounded size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(host / "secret")
    elif kind == "relative link":
        path.symlink_to(os.path.relpath(host / "secret", path.parent))
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(2**33)
    elif kind == "escape":
        path.with_name("\x1b[2Jx").write_text("")


@pytest.mark.parametrize("kind", ["link", "relative link", "zero", "fifo", "socket", "sparse", "escape"])
@pytest.mark.parametrize("where", ["kept/0/out/a", "records/run/run.json", "logs/0", "left/lab.json", "gone/lab.json"])
def test_nothing_but_regular_files_of_a_bounded_size_leaves(host, where, kind, monkeypatch):
    monkeypatch.chdir(host)  # a socket's path is short
    planted(Path("out", where), kind, host)
    records = host / "records"
    done = carry(plan(host, "out", records=records, logs=(host / "project/log.txt",)), host / "out")
    lines = done.lines(host)
    ignored = where.startswith(("gone", "left")) and kind in ("sparse", "escape")  # too long to be a list, or none
    assert bool(lines) or ignored
    assert all(line.isprintable() for line in lines)
    assert [path for path in (host / "project").rglob("*") if not path.is_dir()] == []
    assert [path for path in records.rglob("*") if not path.is_dir()] == []
    assert (host / "secret").read_text() == SECRET


def test_a_folder_in_place_of_a_file_and_the_other_way_round(host):
    (host / "project/out").mkdir()
    (host / "project/out/file").write_text("whole")
    (host / "project/out/folder").mkdir()
    (host / "out/kept/0/out/file").mkdir(parents=True)
    (host / "out/kept/0/out/file/a").write_text("a")
    (host / "out/kept/0/out/folder").write_text("a")
    done = carry(plan(host, "out"), host / "out")
    assert [line.split(" is ")[1] for line in done.refused] == ["reached by a link or a file here", "a folder here"]
    assert (host / "project/out/file").read_text() == "whole"


def test_links_that_the_user_has_below_a_folder_are_not_followed(host):
    (host / "project/out").mkdir()
    (host / "project/out/sub").symlink_to(host)
    (host / "project/out/name").symlink_to(host / "secret")
    for name in ("sub/secret", "name"):
        (host / "out/kept/0/out" / name).parent.mkdir(parents=True, exist_ok=True)
        (host / "out/kept/0/out" / name).write_text("evil")
    (host / "out/gone").mkdir()
    (host / "out/gone/lab.json").write_text(json.dumps([[0, "out/sub/secret"], [0, "../secret"], [0, "/etc/hostname"]]))
    assert len(carry(plan(host, "out"), host / "out").refused) == 2
    assert (host / "secret").read_text() == SECRET


def test_what_was_deleted_in_the_lab_is_deleted_if_it_is_kept(host):
    (host / "project/out/deep").mkdir(parents=True)
    (host / "project/out/deep/a").touch()
    (host / "project/out/b").touch()
    (host / "project/setup.py").touch()
    (host / "out/gone").mkdir()
    names = [[0, "out/deep/a"], [0, "setup.py"], [0, "out/none"], [7, "out/b"], [-1, "out/b"], "out/b", [0, 1], [True, "x"], 5]
    (host / "out/gone/lab.json").write_text(json.dumps(names))
    carry(plan(host, "out"), host / "out")
    assert sorted(each.name for each in (host / "project").rglob("*")) == ["b", "out", "setup.py"]


@pytest.mark.parametrize("content", ["[" * 200_000, "{}", "1", "", "\x00", '["a\\u001b[2J", 5, null, ["x"]]', "[NaN]"])
@pytest.mark.parametrize("name", ["gone/lab.json", "left/lab.json"])
def test_lists_of_names_may_be_anything(host, name, content):
    (host / "out" / name).parent.mkdir()
    (host / "out" / name).write_text(content)
    assert all(line.isprintable() for line in carry(plan(host, "out"), host / "out").lines(host))


def test_what_is_not_kept_is_named_in_one_line(host):
    (host / "out/left").mkdir()
    names = [f"{host}/project/{each}" for each in "abcdefg"]
    (host / "out/left/lab.json").write_text(json.dumps(names))
    (line,) = carry(plan(host, "out"), host / "out").lines(host / "project")
    assert line == "written in the lab and not kept: a, b, c, d, e and 2 more; files that [tool.slownet] write names are kept"


def test_run_directories_get_names_of_their_own_and_only_what_the_lab_writes_there(host):
    records = host / "reports"
    for text in ("one", "two"):
        run = host / "out/records/20260101-000000-test_it"
        (run / "raw").mkdir(parents=True, exist_ok=True)
        for name in ("run.json", "raw/000-ping.txt", "report.html", "samples.parquet", "raw.txt"):
            (run / name).write_text(text)
        done = carry(plan(host, "out", records=records), host / "out")
        assert len(done.refused) == 3
    assert sorted(str(each.relative_to(records)) for each in records.rglob("*") if each.is_file()) == [
        "20260101-000000-test_it-2/raw/000-ping.txt", "20260101-000000-test_it-2/run.json",
        "20260101-000000-test_it/raw/000-ping.txt", "20260101-000000-test_it/run.json",
    ]  # fmt: skip
    assert (records / "20260101-000000-test_it/run.json").read_text() == "one"


def config(host, folder):
    return SimpleNamespace(
        rootpath=host / "project", invocation_params=SimpleNamespace(dir=host / "project"), folder=folder,
        pluginmanager=SimpleNamespace(getplugin=lambda name: None),
    )  # fmt: skip


KILLED = """
import os, signal, sys
from pathlib import Path
from slownet.pytest_plugin.exports import Keep, Plan
from slownet.pytest_plugin.staging import Staging
host = Path(sys.argv[1])
staging = Staging(Plan(host / "project", host / "reports", (Keep(host / "project", ("out",)),)), [host / "project"])
for name in ("records/run/run.json", "kept/0/out/new", "kept/0/out/old", "kept/0/out/.slownet-session-x/session.json"):
    (staging.out / name).parent.mkdir(parents=True, exist_ok=True)
    (staging.out / name).write_text("measured")
os.utime(staging.out / "kept/0/out/old", (1, 1))
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(host):
    done = subprocess.run([sys.executable, "-c", KILLED, host], check=False)
    assert done.returncode == -9


def test_what_a_killed_session_had_staged_is_found_and_carried_by_the_next(host):
    killed(host)
    (host / "project/out").mkdir()
    (host / "project/out/old").write_text("newer")
    mine = Plan(host / "project", host / "reports", (Keep(host / "other"), Keep(host / "project", ("out",))))
    running = Staging(mine, [])
    lines = recover(config(host, host), mine)
    assert lines[0] == f"a session was killed, and left {host}/reports/run"
    assert lines[1].startswith("left in the lab: out/.slownet-session-x/")
    assert (host / "reports/run/run.json").read_text() == "measured"
    assert (host / "project/out/new").read_text() == "measured"
    assert (host / "project/out/old").read_text() == "newer"
    assert recover(config(host, host), mine) == []
    assert running.out.is_dir()
    running.close()
    assert [each.name for each in (host / "reports").iterdir()] == ["run"]


def test_a_session_takes_nothing_that_it_would_not_keep_itself_from_a_killed_one(host):
    killed(host)
    mine = Plan(host / "project", host / "reports", (Keep(host / "project", ("result",)),))
    recover(config(host, host), mine)
    assert not (host / "project/out").exists()
    (host / "reports").rename(host / "aside")
    killed(host)
    assert recover(config(host, host), Plan(host / "elsewhere", host / "reports")) == []
    assert len(list((host / "reports").iterdir())) == 1


def test_a_folder_is_removed_however_deep_and_closed_it_is(tmp_path):
    top = here = tmp_path / "top"
    here.mkdir()
    fd = os.open(here, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=fd)
        deeper = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = deeper
    os.close(fd)
    (top / "closed/in").mkdir(parents=True)
    (top / "closed").chmod(0)
    staging.discard(top)
    assert not top.exists()


def test_a_file_is_placed_below_a_folder_or_not_at_all(tmp_path):
    with (tmp_path / "source").open("w+b") as file:
        file.write(b"x" * 100)
        file.seek(0)
        with pytest.raises(RefusedError, match="more than 99 bytes"):
            place_below(tmp_path / "new", "a/b", file, limit=99)
        file.seek(0)
        assert place_below(tmp_path / "new", "a/b", file, limit=100) == 100
        with pytest.raises(RefusedError, match="not a path below"):
            place_below(tmp_path / "new", "../b", file)
    assert [each.name for each in (tmp_path / "new/a").iterdir()] == ["b"]
    with pytest.raises(RefusedError):
        remove_below(tmp_path, "../source")
    remove_below(tmp_path, "new/a/b")
    assert not (tmp_path / "new").exists()


MOUNTS = r"""
24 1 0:22 / / rw - overlay root rw
30 24 0:30 / /home/me/my\040project ro - hostfs none ro
31 30 0:31 / /home/me/my\040project/data ro - hostfs none ro
32 31 0:32 / /home/me/my\040project/data/in rw - hostfs none rw
33 24 0:33 / /home/me/my ro - hostfs none ro
""".strip()


def test_what_is_mounted_below_a_folder_stays_visible_there():
    folder = Path("/home/me/my project")
    assert inside.mounts_below(folder, MOUNTS) == [folder / "data", folder / "data/in"]


@pytest.fixture
def walls(tmp_path, monkeypatch):
    """The layers of an overlay as folders: (the lower, the upper, the merged one, what leaves)."""
    for name in ("memory/0/lower", "memory/0/upper", "tree", "out"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(inside, "MEMORY", str(tmp_path / "memory"))
    monkeypatch.setattr(inside, "OUT", str(tmp_path / "out"))
    return tmp_path / "memory/0/lower", tmp_path / "memory/0/upper", tmp_path / "tree", tmp_path / "out"


def test_the_lab_copies_what_is_kept_and_names_the_rest(walls):
    lower, upper, tree, out = walls
    for folder, name in (
        (lower, "out/gone"),
        (lower, "same"),
        (upper, "out/a"),
        (upper, "scratch"),
        (upper, "__pycache__/a.pyc"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    (upper / "out/link").symlink_to("/etc/passwd")
    (upper / "out/acurrent").symlink_to("a")
    os.mkfifo(upper / "out/fifo")
    inside.Walls([str(tree)], [inside.Entry(str(tree), ["out"], True)]).finish()
    assert (out / "kept/0/out/a").read_text() == "out/a"
    (left,) = (out / "left").iterdir()
    assert json.loads(left.read_text()) == [
        f"{tree}/out/fifo (not a regular file)", f"{tree}/out/link (a symbolic link)", f"{tree}/scratch",
    ]  # fmt: skip
    (gone,) = (out / "gone").iterdir()
    assert json.loads(gone.read_text()) == [[0, "out/gone"]]


def test_a_file_is_copied_after_a_test_only_if_it_changed(walls):
    _, upper, tree, out = walls
    (upper / "out").write_text("one")
    mine = inside.Walls([str(tree)], [inside.Entry(str(tree), ["out"], True), inside.Entry(str(tree), ["late"])])
    (upper / "late").write_text("late")
    mine.copy(final=False)
    assert [each.name for each in (out / "kept").iterdir()] == ["0"]
    first = (out / "kept/0/out").stat().st_ino
    mine.copy(final=False)
    assert (out / "kept/0/out").stat().st_ino == first
    (upper / "out").write_text("other")
    mine.copy(final=False)
    assert (out / "kept/0/out").read_text() == "other"


def test_a_file_outside_the_sessions_folders_has_its_content_in_the_lab(host, monkeypatch):
    (host / "elsewhere").mkdir()
    (host / "elsewhere/.coverage").write_text("before")
    (host / "elsewhere/other").write_text("private")
    mine = Plan(host / "project", keep=(Keep(host / "elsewhere", (".coverage",)),))
    one = Staging(mine, [host / "project"])
    assert [each.name for each in (one.out / "seed/0").iterdir()] == [".coverage"]
    assert carry(mine, one.out) == Carried()
    one.close()
