"""What an exact lab gets of the folders that it is shared."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.lab.exact import packed
from slownet.lab.run.lab import NOTHING, Share
from slownet.model.errors import LabError

needs_packer = pytest.mark.skipif(not shutil.which(packed.PROGRAM), reason="squashfs-tools-ng is not installed")


def listed(share: Share, *points: str) -> list[str]:
    return [str(below) for below, _ in packed.entries(share, points)]


def filled(folder: Path, *files: str) -> Path:
    for each in files:
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(each)
    return folder


def test_a_folder_that_is_only_written_to_is_packed_empty(tmp_path):
    filled(tmp_path, "a.py", "raw/1.txt")
    assert listed(Share(tmp_path, only=NOTHING)) == ["."]
    assert listed(Share(tmp_path, at="/run", only=NOTHING), "/run/raw") == [".", "raw"]


def test_what_programs_leave_beside_the_files_stays_outside(tmp_path):
    filled(
        tmp_path,
        "a.py",
        "__pycache__/a.pyc",
        "b/c.txt",
        ".git/HEAD",
        "env/pyvenv.cfg",
        "env/bin/x",
        "run-1/run.json",
        "run-1/x",
    )
    assert listed(Share(tmp_path)) == [".", "a.py", "b", "b/c.txt"]


def test_what_the_command_prints_to_stays_outside(tmp_path):
    filled(tmp_path, "a.py")
    code = "import sys; from slownet.lab.exact.packed import Path, content; print(*content(Path(sys.argv[1])), file=sys.stderr)"
    with (tmp_path / "out.txt").open("wb") as out, (tmp_path / "errors.txt").open("w+") as errors:
        subprocess.run([sys.executable, "-c", code, tmp_path], stdout=out, stderr=errors, check=True)
        errors.seek(0)
        assert errors.read().split() == [str(tmp_path / "a.py")]
    assert listed(Share(tmp_path)) == [".", "a.py", "errors.txt", "out.txt"]


def test_only_what_is_needed_at_the_top(tmp_path):
    filled(tmp_path, "lib/a", "docs/b", "lib/docs/c")
    assert listed(Share(tmp_path, only=("lib",))) == [".", "lib", "lib/a", "lib/docs", "lib/docs/c"]


def test_a_share_within_another_has_a_folder_to_be_mounted_on(tmp_path):
    filled(tmp_path, "a/b")
    assert listed(Share(tmp_path, at="/x"), "/x/runs/1/raw", "/x/a", "/y") == [".", "a", "a/b", "runs", "runs/1", "runs/1/raw"]


def test_links_are_packed_as_links_and_not_followed(tmp_path):
    filled(tmp_path, "a/b")
    (tmp_path / "link").symlink_to("/etc")
    assert listed(Share(tmp_path)) == [".", "a", "a/b", "link"]


@needs_packer
def test_the_same_content_has_the_same_bytes_at_another_time_and_place(tmp_path):
    made = []
    for name in ("one", "another"):
        folder = filled(tmp_path / name, "a", "b/c")
        (folder / "link").symlink_to("a")
        os.utime(folder / "a", (len(made), len(made)))
        os.mkfifo(folder / "fifo")  # no lab can have it
        with (tmp_path / f"{name}.squashfs").open("w+b") as file:
            packed.pack([Share(folder, at="/x"), Share(folder / "b", writable=True, at="/y")], file)
        made.append((tmp_path / f"{name}.squashfs").read_bytes())
    assert made[0] == made[1]
    listing = subprocess.run(["rdsquashfs", "-d", tmp_path / "one.squashfs"], capture_output=True, text=True, check=True).stdout
    assert "slink 0/link 0777 0 0 a" in listing
    assert "file 0/b/c 0644" in listing
    assert "file 1/c 0644" in listing
    assert "fifo" not in listing


@needs_packer
def test_too_much_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "MOST_BYTES", 1 << 20)
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    (tmp_path / "small").write_bytes(b"1")
    with (
        (tmp_path.with_suffix(".squashfs")).open("w+b") as file,
        pytest.raises(LabError, match="have more than 1 MB") as caught,
    ):
        packed.pack([Share(tmp_path)], file)
    assert str(tmp_path) in caught.value.where


def test_too_many_shares_and_a_missing_packer_are_one_line(tmp_path, monkeypatch):
    with (tmp_path / "file").open("w+b") as file:
        with pytest.raises(LabError, match="64 shares, not 65"):
            packed.pack([Share(tmp_path)] * 65, file)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(LabError, match="needs tar2sqfs"):
            packed.pack([Share(tmp_path)], file)


def test_installed_packages_that_the_image_has_stay_outside(tmp_path, monkeypatch):
    filled(tmp_path, "numpy/core.py", "numpy-2.dist-info/METADATA", "flask/app.py", "mine/numpy/core.py")
    monkeypatch.setattr(packed, "in_the_image", lambda: {tmp_path: frozenset({"numpy", "numpy-2.dist-info"})})
    assert listed(Share(tmp_path)) == [".", "flask", "flask/app.py", "mine", "mine/numpy", "mine/numpy/core.py"]


def test_the_image_has_what_slownet_requires():
    (names,) = (each for each in packed.in_the_image().values() if "numpy" in each)
    assert {"numpy", "scipy", "pyarrow"} <= names
    assert "ruff" not in names


def test_folders_fit_if_a_lab_can_hold_their_files(tmp_path, monkeypatch):
    filled(tmp_path, "a", "b/cd", ".git/left-out")
    monkeypatch.setattr(packed, "MOST_BYTES", 5)
    assert packed.fits([tmp_path, tmp_path / "missing"])
    monkeypatch.setattr(packed, "MOST_BYTES", 4)
    assert not packed.fits([tmp_path])
    monkeypatch.setattr(packed, "MOST_BYTES", 5)
    monkeypatch.setattr(packed, "AT_EASE", 2)  # a, b and cd
    assert not packed.fits([tmp_path])


@needs_packer
def test_a_file_that_changes_while_it_is_packed_is_one_line(tmp_path, monkeypatch):
    filled(tmp_path / "shared", "growing.log")
    when_opened = SimpleNamespace(st_size=5, st_dev=0, st_ino=0)
    monkeypatch.setattr(packed.os, "fstat", lambda fd: when_opened)
    with (tmp_path / "packed").open("w+b") as into, pytest.raises(LabError) as raised:
        packed.pack([Share(tmp_path / "shared")], into)
    changed = f"changed while it was packed for the lab, {tmp_path}/shared/growing.log"
    assert str(raised.value) == f"{changed}: wait until no program writes there, or share less"
