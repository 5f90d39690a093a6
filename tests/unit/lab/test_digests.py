"""Parts of a lab that are damaged: made-up ones of each kind, in a cache of the test's own."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from slownet.containers import store
from slownet.lab.build import cache, cache_cleanup, digests, image, init, kernel, layer, shelf, wordpress_site
from slownet.lab.build.digests import Part
from slownet.lab.build.shelf import Shelf
from slownet.model.errors import DamagedError, LabError

BIG = os.urandom(300_000)
CONFIG = b"{}"
DIGEST = "sha256-" + hashlib.sha256(CONFIG).hexdigest()
KEPT = {
    "digest": DIGEST.replace("-", ":"),
    "names": ["shop:1"],
    "size": 7,
    "added": 7.5,
    "source": "shop.tar",
    "aliases": [],
    "seen": {},
}
NOBODY = 65_534


@dataclass(frozen=True)
class Kind:
    """A kind of part: where it is kept, its files, the one that a lab needs most, and its JSON file."""

    shelf: Shelf
    key: str
    files: dict
    main: str
    facts: str = ""


KINDS = {
    "kernel": Kind(
        kernel.SHELF, "k1", {"linux": BIG, "config": b"CONFIG_A=y", "kernel.json": b'{"release": "7.2.1", "source": "s"}'},
        "linux", "kernel.json",
    ),
    "init": Kind(
        init.SHELF, "i1",
        {"init": b"i", "init.cpio": BIG, "confine": b"c", "probe": b"p", "absent.so": b"a", "init.log": b""}, "init.cpio",
    ),
    "confine": Kind(init.SHELF, "i2", {"init.cpio": b"i", "confine": BIG, "probe": b"p", "absent.so": b"a"}, "confine"),
    "image": Kind(
        image.SHELF, "m1",
        {"image.squashfs": BIG, "image.json": b'{"built": 7, "packages": {"bash": "5"}, "site": {"key": "s"}}'},
        "image.squashfs", "image.json",
    ),
    "layer": Kind(
        layer.SHELF, "l1", {"layer.squashfs": BIG, "layer.json": b'{"built": 7, "asked": ["jq"], "versions": {"jq": "1"}}'},
        "layer.squashfs", "layer.json",
    ),
    "snapshot": Kind(cache_cleanup.SNAPSHOTS, "w1", {"disk.tar": BIG, "removed.json": b"[]"}, "disk.tar"),
    "site": Kind(wordpress_site.SHELF, "s1", {"site.tar.xz": BIG}, "site.tar.xz"),
    "kept image": Kind(
        store.SHELF, DIGEST, {"root.squashfs": BIG, "config.json": CONFIG, "image.json": json.dumps(KEPT).encode()},
        "root.squashfs", "image.json",
    ),
}  # fmt: skip
WITH_FACTS = [name for name, kind in KINDS.items() if kind.facts]


class Made:
    """A part that was made."""

    def __init__(self, kind):
        self.kind, self.shelf, self.key = kind, kind.shelf, kind.key
        self.folder = self.make()
        self.main = self.folder / kind.main

    def make(self, say=lambda error: None):
        def build(half):
            for name, content in self.kind.files.items():
                (half / name).write_bytes(content)
                (half / name).chmod(0o755 if name in ("linux", "init", "confine", "probe") else 0o644)

        self.shelf.make(self.key, build, say=say)
        return cache.root() / self.shelf.kind / self.key

    def is_whole(self):
        return all((self.folder / name).read_bytes() == content for name, content in self.kind.files.items())

    @property
    def note(self):
        return self.folder.with_name(f".{self.key}.checked")

    def as_of_an_earlier_version(self):
        (self.folder / "digests.json").unlink()
        self.note.unlink()

    def error(self, full=False):
        with pytest.raises(DamagedError) as error:
            self.shelf.load(self.folder, full=full)
        return error.value


@pytest.fixture(autouse=True)
def home(monkeypatch):
    """A cache that other users can look into, unlike pytest's folders."""
    with tempfile.TemporaryDirectory(prefix="slownet-digests-", dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        monkeypatch.setenv("XDG_CACHE_HOME", name)
        monkeypatch.setenv("XDG_STATE_HOME", f"{name}/state")
        yield Path(name) / "slownet"


@pytest.fixture(params=KINDS)
def made(request):
    return Made(KINDS[request.param])


@pytest.fixture
def reads(monkeypatch):
    """The names of files that are read from their first to their last byte."""
    names, real = [], digests._sha256
    monkeypatch.setattr(
        digests,
        "_sha256",
        lambda file: names.append(os.path.basename(os.readlink(f"/proc/self/fd/{file.fileno()}"))) or real(file),
    )
    return names


@contextlib.contextmanager
def an_ordinary_user():
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(os.getuid())


def flip(path, keep_time=False):
    """Change 200 bits of a file; its size stays."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    for place in range(0, 200 * 1000, 1000):
        data[place] ^= 1
    path.write_bytes(data)
    times = (before.st_atime_ns, before.st_mtime_ns + (0 if keep_time else 1_000_000))
    os.utime(path, ns=times)


def replaced(path, make):
    path.unlink()
    make(path)


DAMAGES = {
    "truncated": (lambda path: os.truncate(path, 1000), "has 1000 bytes, and 300000 were written"),
    "longer": (lambda path: os.truncate(path, 300_001), "has 300001 bytes, and 300000 were written"),
    "empty": (lambda path: os.truncate(path, 0), "has 0 bytes, and 300000 were written"),
    "flipped bits": (flip, "has changed since it was written: its SHA-256 differs from the recorded one"),
    "missing": (lambda path: path.unlink(), "is missing"),
    "a folder": (lambda path: replaced(path, Path.mkdir), "is a folder"),
    "a pipe": (lambda path: replaced(path, os.mkfifo), "is not a regular file"),
    "a link to nothing": (lambda path: replaced(path, lambda path: path.symlink_to("nowhere")), "is missing"),
    "a link to a pipe": (
        lambda path: (replaced(path, lambda path: path.symlink_to("pipe")), os.mkfifo(path.with_name("pipe"))),
        "is not a regular file",
    ),
    "a link to itself": (
        lambda path: replaced(path, lambda path: path.symlink_to(path.name)),
        "cannot be read (Too many levels of symbolic links)",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_one_line_and_is_made_anew(made, damage):
    do, how = DAMAGES[damage]
    do(made.main)
    error = made.error()
    assert str(error).count("\n") == 0
    assert error.what.endswith(f" is damaged: {made.main.name} {how}")
    fix = "slownet lab image add shop.tar" if made.shelf is store.SHELF else made.shelf.part.fix
    assert (error.where, error.fix) == (str(made.main), fix)
    said = []
    made.make(said.append)
    assert [str(each) for each in said] == [str(error)]
    assert made.is_whole()
    assert made.make(lambda error: pytest.fail(str(error))) == made.folder


def test_flipped_bits_with_the_same_size_and_time_show_when_everything_is_read(made, reads):
    flip(made.main, keep_time=True)
    made.shelf.load(made.folder)
    assert reads == []
    line = str(made.error(full=True))
    assert f"{made.main.name} has changed since it was written" in line
    assert str(made.error()) == line  # from now on without being asked to
    made.make()
    assert made.is_whole()


def test_everything_is_read_once_a_day(made, reads, monkeypatch):
    flip(made.main, keep_time=True)
    now = time.time()
    monkeypatch.setattr(digests.time, "time", lambda: now + digests.DAY_S - 60)
    made.shelf.load(made.folder)
    assert reads == []
    monkeypatch.setattr(digests.time, "time", lambda: now + digests.DAY_S + 60)
    made.error()
    made.make()
    reads.clear()
    for _ in range(3):
        made.shelf.load(made.folder)
    assert reads == []
    monkeypatch.setattr(digests.time, "time", lambda: now - 3600)  # somebody has set the clock back
    made.shelf.load(made.folder)
    assert made.main.name in reads


def test_a_copy_without_its_times_is_read_once_and_is_no_error(made, reads):
    for name in made.kind.files:
        os.utime(made.folder / name)
    made.shelf.load(made.folder)
    assert sorted(reads) == sorted(set(made.kind.files) - {"init.log", *made.shelf.part.changing})
    reads.clear()
    made.shelf.load(made.folder)
    assert reads == []


def test_a_cache_that_was_copied_to_another_machine_is_read_once(made, reads, monkeypatch, home):
    shutil.copytree(
        home, home.parent / "copy" / "slownet", copy_function=shutil.copyfile, ignore=shutil.ignore_patterns("*.checked")
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(home.parent / "copy"))
    folder = cache.root() / made.shelf.kind / made.key
    for name in ("linux", "init", "confine", "probe"):
        with contextlib.suppress(FileNotFoundError):
            (folder / name).chmod(0o755)
    assert made.shelf.find(made.key) is not None
    assert made.main.name in reads
    reads.clear()
    assert made.shelf.find(made.key) is not None
    assert reads == []


def test_a_part_of_an_earlier_version_is_taken_as_it_is_and_recorded(made, reads):
    record = (made.folder / "digests.json").read_text()
    made.as_of_an_earlier_version()
    made.shelf.load(made.folder)
    assert (made.folder / "digests.json").read_text() == record
    reads.clear()
    made.shelf.load(made.folder)
    assert reads == []
    os.truncate(made.main, 5)
    assert "has 5 bytes" in str(made.error())


@pytest.mark.parametrize("name", ["main", "facts"])
def test_a_part_of_an_earlier_version_without_a_file_is_damaged(made, name):
    made.as_of_an_earlier_version()
    lacking = getattr(made.kind, name)
    if not lacking or made.shelf is cache_cleanup.SNAPSHOTS:
        return
    (made.folder / lacking).unlink()
    assert str(made.error()).endswith(f" is damaged: {lacking} is missing, {made.folder / lacking}: {made.error().fix}")
    made.make()
    assert made.is_whole()


TEXTS = {
    "missing": (None, "is missing"),
    "empty": ("", "is empty"),
    "zeros": ("\0" * 4096, "is empty"),
    "cut short": ('{"release": "7.', "is not JSON, or was cut short"),
    "not UTF-8": (b"\xff\xfe{", "is not JSON, or was cut short"),
    "deep": ("[" * 100_000, "is not JSON, or was cut short"),
    "huge number": ('{"built": ' + "9" * 5000 + "}", "is not JSON, or was cut short"),
    "a list": ("[1]", "is not a JSON object"),
    "a text": ('"text"', "is not a JSON object"),
    "newer": ('{"format": 2}', "was written by a newer version of slownet"),
    "odd format": ('{"format": "x"}', "has the format 'x'"),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("kind", WITH_FACTS)
def test_json_beside_a_part_that_is_damaged_is_one_line(kind, text, earlier):
    made = Made(KINDS[kind])
    path, (content, how) = made.folder / made.kind.facts, TEXTS[text]
    if earlier:
        made.as_of_an_earlier_version()
    path.unlink()
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    error = made.error()
    assert error.what.endswith(f" is damaged: {path.name} {how}")
    assert error.where == str(path)
    made.make()
    assert made.is_whole()


WRONG = {
    "kernel": [("release", 7), ("release", "newest"), ("release", "7"), ("source", None), ("release", "9" * 5000 + ".1")],
    "image": [("built", "today"), ("built", -1), ("built", True), ("built", 1e300), ("packages", ["bash"]),
              ("packages", {"a": 1}), ("site", {"key": 7}), ("site", "s")],
    "layer": [("asked", "jq"), ("asked", [1]), ("versions", None), ("built", [])],
    "kept image": [("names", "shop:1"), ("added", "now"), ("added", float("nan")), ("seen", []), ("digest", "sha256:1")],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "value"), [(kind, *each) for kind, wrong in WRONG.items() for each in wrong])
def test_json_of_wrong_types_is_one_line(kind, name, value):
    made = Made(KINDS[kind])
    made.as_of_an_earlier_version()
    path = made.folder / made.kind.facts
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    assert f" is damaged: {path.name} " in str(made.error())
    made.make()
    assert made.is_whole()


RECORDS = {
    **{name: each for name, each in TEXTS.items() if name != "missing"},
    "no files": ("{}", "cannot be understood"),
    "files of wrong types": ('{"files": {"linux": {"size": "3", "sha256": "", "executable": false}}}', "cannot be understood"),
    "files elsewhere": ('{"files": {"../linux": {"size": 3, "sha256": "", "executable": false}}}', "cannot be understood"),
    "a list of files": ('{"files": []}', "cannot be understood"),
    "files that are numbers": ('{"files": {"linux": 7}}', "cannot be understood"),
}


@pytest.mark.parametrize("text", RECORDS)
def test_a_record_that_is_damaged_is_one_line(made, text):
    content, how = RECORDS[text]
    path = made.folder / "digests.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert made.error().what.endswith(f" is damaged: digests.json {how}")
    made.make()
    assert made.is_whole()
    made.shelf.load(made.folder)


def test_a_record_that_lacks_a_file_is_damaged():
    made = Made(KINDS["kernel"])
    path = made.folder / "digests.json"
    data = json.loads(path.read_text())
    del data["files"]["linux"]
    path.write_text(json.dumps(data))
    assert str(made.error()) == f"the lab's kernel is damaged: digests.json does not name linux, {path}: slownet lab build"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"at": "now", "files": {}, "times": {}, "inode": 0}',
        '{"at": 1e300, "files": {}, "times": 7, "inode": 0}',
    ],
)
def test_a_note_that_is_damaged_counts_as_none(made, reads, content):
    made.note.write_text(content)
    made.shelf.load(made.folder)
    assert made.main.name in reads
    reads.clear()
    made.shelf.load(made.folder)
    assert reads == []


def test_a_note_on_a_folder_that_was_made_anew_by_another_version_counts_as_none(made, reads):
    (made.folder / "digests.json").unlink()
    made.folder.rename(made.folder.with_name("old"))
    shutil.copytree(made.folder.with_name("old"), made.folder)
    made.main.write_bytes(b"other")
    made.shelf.load(made.folder)
    assert made.main.name in reads


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_what_an_ordinary_user_cannot_read_is_one_line(made):
    made.main.chmod(0)
    with an_ordinary_user():
        assert made.error().what.endswith(f" is damaged: {made.main.name} cannot be read (Permission denied)")
    made.main.chmod(0o755)
    made.folder.chmod(0o600)
    with an_ordinary_user():
        error = made.error()
    assert "cannot be read (Permission denied)" in str(error)
    made.folder.chmod(0o755)


def test_what_is_no_longer_executable_says_so():
    made = Made(KINDS["kernel"])
    made.main.chmod(0o644)
    assert str(made.error()) == f"the lab's kernel is damaged: linux is no longer executable, {made.main}: chmod +x {made.main}"
    made.main.chmod(0o700)
    made.shelf.load(made.folder)


def test_a_whole_one_of_the_system_is_used_instead_of_a_damaged_one(made, monkeypatch, home):
    shutil.copytree(home, home.parent / "system")
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(home.parent / "system"))
    os.truncate(made.main, 5)
    assert made.shelf.find(made.key) is not None
    assert made.shelf.has(made.key)
    os.truncate(home.parent / "system" / made.shelf.kind / made.key / made.kind.main, 6)
    with pytest.raises(DamagedError, match="has 5 bytes"):
        made.shelf.find(made.key)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_who_cannot_write_to_the_systems_cache_keeps_own_notes(monkeypatch, home, reads):
    made = Made(KINDS["kernel"])
    reads.clear()
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(home))
    own = home.parent / "ann"
    own.mkdir()
    os.chown(own, NOBODY, NOBODY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, how, **more: real(path, how, effective_ids=True))
    with an_ordinary_user():
        made.shelf.find(made.key)
        assert (reads, list(own.iterdir())) == ([], [])  # root has checked it today
    flip(made.main, keep_time=True)
    now = time.time()
    monkeypatch.setattr(digests.time, "time", lambda: now + digests.DAY_S + 60)
    with an_ordinary_user():
        for _ in range(2):
            with pytest.raises(DamagedError) as error:
                made.shelf.find(made.key)
            assert error.value.fix == shelf.FOR_ALL
        assert len(list((own / "slownet" / "checks").iterdir())) == 1
        made.make()
        assert made.shelf.find(made.key).path == own / "slownet" / "kernel" / made.key / "linux"


def test_a_lab_that_leaves_other_things_in_a_snapshot_gets_nothing_read_or_written(home, tmp_path):
    (tmp_path / "secret").write_text("mine")

    def build(half):
        (half / "disk.tar").write_bytes(BIG)
        (half / "digests.json").symlink_to(tmp_path / "secret")
        (half / f".digests.json.{os.getpid()}").symlink_to(tmp_path / "secret")
        (half / "link.tar").symlink_to(tmp_path / "secret")
        os.mkfifo(half / "pipe.tar")
        (half / "folder").mkdir()
        (half / os.fsdecode(b"\xff.tar")).write_bytes(b"x")

    folder, is_new = cache_cleanup.SNAPSHOTS.place("w1", build)
    assert is_new
    assert (tmp_path / "secret").read_text() == "mine"
    assert not (folder / "digests.json").is_symlink()
    assert sorted(json.loads((folder / "digests.json").read_text())["files"]) == ["disk.tar", os.fsdecode(b"\xff.tar")]
    cache_cleanup.SNAPSHOTS.load(folder, full=True)


def test_a_folder_in_the_records_place_is_one_line(home):
    with pytest.raises(LabError, match=r"^cannot write to .*digests\.json"):
        cache_cleanup.SNAPSHOTS.place("w1", lambda half: (half / "digests.json").mkdir())
    assert [path.name for path in (home / "warm").iterdir()] == [".w1.lock"]


FULL = """
mount -t tmpfs -o size=128k none "$1"
exec setpriv --no-new-privs "$2" -c "
import sys
from slownet.model.errors import LabError
from slownet.lab.build import cache
from slownet.lab.build.shelf import Shelf
from slownet.lab.build.digests import Part
kind = Shelf('thing', Part('the thing', ('big',)), lambda folder: folder)
try:
    kind.make('k1', lambda half: (half / 'big').write_bytes(bytes(int('$3'))))
except LabError as error:
    print(error, list((cache.root() / 'thing').iterdir()) == [cache.root() / 'thing/.k1.lock'])
"
"""


@pytest.mark.parametrize("size", [1_000_000, 128 * 1024], ids=["for the part", "for its record"])
def test_without_space_while_building_it_is_one_line_and_nothing_is_kept(home, size):
    """On a real file system that is full."""
    argv = ["unshare", "--mount", "--map-root-user", "sh", "-ec", FULL, "sh", str(home.parent), sys.executable, str(size)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("this machine denies mounts")
    assert done.stdout.startswith(f"cannot write to {home / 'thing'}"), done
    assert done.stdout.endswith(
        " (No space left on device): free space, or set XDG_CACHE_HOME to a folder that you can write to True\n"
    )


def test_a_part_that_cannot_be_noted_is_read_each_time_and_used(reads, monkeypatch):
    made = Made(KINDS["kernel"])
    made.as_of_an_earlier_version()
    reads.clear()

    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(digests, "_write", full)
    for _ in range(2):
        assert made.shelf.find(made.key)
    assert reads.count("linux") == 2
    assert not made.note.exists()


def test_damage_of_a_part_without_a_record_stays_known_where_no_record_can_be_written(made, monkeypatch, home):
    made.as_of_an_earlier_version()
    real = os.access
    closed = made.folder.parent
    monkeypatch.setattr(os, "access", lambda path, how, **more: path != closed and real(path, how, **more))
    made.shelf.load(made.folder)
    flip(made.main)
    lines = {str(made.error()) for _ in range(3)}
    assert len(lines) == 1
    assert "has changed since it was written" in lines.pop()
    assert not (made.folder / "digests.json").exists()


def test_others_can_read_the_record_whatever_the_umask(monkeypatch):
    before = os.umask(0o077)
    try:
        made = Made(KINDS["kernel"])
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (made.folder / "digests.json", made.note)] == [0o644] * 2


def test_two_who_make_a_damaged_part_anew_make_it_once():
    made = Made(KINDS["kernel"])
    os.truncate(made.main, 5)
    built = []

    def build(half):
        built.append(half)
        for name, content in made.kind.files.items():
            (half / name).write_bytes(content)

    for _ in range(2):
        made.shelf.make(made.key, build)
    assert len(built) == 1


def test_what_the_record_holds(home):
    thing = Shelf("thing", Part("the thing", changing=("names",)), lambda folder: folder)

    def build(half):
        (half / "big").write_bytes(b"123")
        (half / "run").write_bytes(b"")
        (half / "run").chmod(0o755)
        for name in ("names", "build.log", ".hidden"):
            (half / name).touch()

    folder = thing.make("k1", build)
    assert json.loads((folder / "digests.json").read_text()) == {
        "format": 1,
        "files": {
            "big": {"size": 3, "sha256": hashlib.sha256(b"123").hexdigest(), "executable": False},
            "run": {"size": 0, "sha256": hashlib.sha256(b"").hexdigest(), "executable": True},
        },
    }
