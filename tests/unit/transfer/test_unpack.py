import hashlib
import io
import json
import re
import tarfile
import threading

import pytest
from conftest import IMAGE, LAYER, ROOT, elf, squashfs

from slownet.containers import store
from slownet.lab.build import init, layer, parts
from slownet.model.errors import LabError
from slownet.transfer import export, manifest, unpack


@pytest.fixture
def exported(shop, kept, tmp_path):
    """An exported lab with all that there can be."""
    export.write(tmp_path / "lab.tar", shop, images=True)
    return tmp_path / "lab.tar"


@pytest.fixture
def empty(exported, tmp_path, monkeypatch):
    """An empty cache: that of another machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    return tmp_path / "other" / "slownet"


def placed(cache):
    """Return the files in a cache, without those of locks."""
    return sorted(str(each.relative_to(cache)) for each in cache.rglob("*") if each.is_file() and "lock" not in each.name)


def changed(path, change):
    """Write an archive again with `change(name, info, data)` applied to each member: (info, data), or None to omit it."""
    with tarfile.open(path) as tar:
        old = [(each, tar.extractfile(each).read()) for each in tar]
    with tarfile.open(path, "w") as tar:
        for info, data in old:
            if new := change(info.name, info, data):
                tar.addfile(new[0], io.BytesIO(new[1]))


def refused(path, cache):
    """Import what cannot be; return the error's line. Nothing may be left."""
    with pytest.raises(LabError) as error:
        unpack.read(path)
    assert placed(cache) == []
    return str(error.value)


def test_all_of_it_arrives(exported, empty, shop, kept):
    found, new = unpack.read(exported)
    assert new == found.folders
    assert len(new) == 5
    there = parts.find()
    assert (there.kernel.release, there.image.versions) == ("7.3.4", {})
    assert there.kernel.path.stat().st_mode & 0o777 == 0o755
    assert there.image.path.read_bytes() == IMAGE
    assert layer.find(shop, there.image).path.read_bytes() == LAYER
    image = store.need("shop:1")
    assert (image.digest, image.squashfs.read_bytes(), image.size) == (kept.digest, ROOT, len(ROOT))
    assert unpack.read(exported)[1] == []


def test_the_site_of_an_image_arrives_with_it(with_site, tmp_path, monkeypatch):
    export.write(tmp_path / "lab.tar", None, images=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    unpack.read(tmp_path / "lab.tar")
    there = parts.find().image
    assert there.site_key == "0123456789abcdef"
    assert there.site.read_bytes() == (with_site / there.site.name).read_bytes()


def test_what_the_system_has_is_not_kept_twice(exported, empty, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(tmp_path / "cache" / "slownet"))
    found, new = unpack.read(exported)
    assert new == [each for each in found.folders if each.startswith("containers/")]
    assert not (empty / "image").exists()
    monkeypatch.setattr(unpack.cache, "_own", tmp_path / "system")
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(tmp_path / "system"))
    assert unpack.read(exported)[1] == found.folders


def test_it_is_read_from_a_pipe(exported, empty, tmp_path):
    import os

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(exported.read_bytes()))
    writer.start()
    assert len(unpack.read(pipe)[1]) == 5
    writer.join()


def test_a_file_that_ends_early_is_one_line_wherever_it_ends(exported, empty):
    whole = exported.read_bytes()
    last = whole.rstrip(b"\0").rindex(b"image.squashfs")  # the header of the last member
    for size in (0, 100, 512, 5_000, len(whole) // 2, last + 512 + 4_000):
        exported.write_bytes(whole[:size])
        line = refused(exported, empty)
        assert line.endswith(": export or copy it again; nothing was imported") or size < 5_000, line
        assert "\n" not in line
        assert str(exported) in line


def test_a_damaged_member_is_named(exported, empty):
    whole = bytearray(exported.read_bytes())
    whole[whole.index(IMAGE) + 100] ^= 1
    exported.write_bytes(whole)
    line = refused(exported, empty)
    name = re.escape(f"image/{parts.keys()['image']}/image.squashfs")
    assert re.match(rf"{name} is damaged: its SHA-256 is not the manifest's, .*lab.tar: export or copy it again; nothing", line)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("machine", "aarch64", "this lab is for aarch64, and this machine is x86_64"),
        ("keys", {"kernel": "other"}, "this lab is of slownet 0.0.1; slownet .* here needs another kernel"),
        ("format", 2, "this lab was exported by slownet 0.0.1, which is newer"),
        ("members", [], "its manifest cannot be read"),
        ("members", [{"name": "../../etc/passwd", "size": 1, "sha256": "0" * 64}], "its manifest cannot be read"),
        ("members", [{"name": "kernel/a/linux", "size": -1, "sha256": "0" * 64}], "its manifest cannot be read"),
        ("members", "nonsense", "its manifest cannot be read"),
    ],
)
def test_a_lab_of_another_kind_is_one_line(exported, empty, name, value, line, monkeypatch):
    monkeypatch.setattr(manifest.platform, "machine", lambda: "x86_64")

    def change(member, info, data):
        if member != manifest.NAME:
            return info, data
        facts = {**json.loads(data), "slownet": "0.0.1", "machine": "x86_64"}
        if name == "keys":  # a whole lab, of another version
            text = json.dumps(facts).replace(parts.keys()["kernel"], value["kernel"])
        else:
            text = json.dumps({**facts, name: value})
        info.size = len(text)
        return info, text.encode()

    changed(exported, change)
    assert re.match(line, refused(exported, empty))


def test_a_member_that_is_missing_or_no_file_is_one_line(exported, empty):
    changed(exported, lambda name, info, data: None if name.endswith("/linux") else (info, data))
    assert re.match(r"kernel/\w+/linux is missing or of another size, ", refused(exported, empty))


def test_a_link_is_refused(exported, empty):
    def change(name, info, data):
        if name.endswith("/linux"):
            info.type, info.linkname, info.size, data = tarfile.SYMTYPE, "/etc/passwd", 0, b""
        return info, data

    changed(exported, change)
    assert re.match(r"kernel/\w+/linux is missing or of another size, ", refused(exported, empty))


def test_another_file_is_no_lab(empty, tmp_path):
    (tmp_path / "other.tar").write_bytes(b"text" * 1000)
    assert "not written by `slownet lab export`" in refused(tmp_path / "other.tar", empty)
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("README"))
    assert "slownet lab export FILE writes one" in refused(tmp_path / "other.tar", empty)
    assert re.match(r"cannot read .*nowhere.tar \(No such file or directory\)$", refused(tmp_path / "nowhere.tar", empty))


def test_an_image_is_what_its_digest_says(exported, empty, kept):
    def change(name, info, data):
        if name == manifest.NAME:  # the digest of another configuration
            data = data.replace(kept.folder.name.encode(), b"sha256-" + b"0" * 64)
        info.name = info.name.replace(kept.folder.name, "sha256-" + "0" * 64)
        return info, data

    changed(exported, change)
    assert re.match(r"containers/sha256-0+ is not a container image, ", refused(exported, empty))


def test_what_a_killed_import_left_is_swept(exported, empty):
    left = empty / "import" / ".1.half"
    left.mkdir(parents=True)
    (left / "linux").write_text("half")
    unpack.read(exported)
    assert not left.exists()


def test_a_cache_without_room_is_one_line(exported, empty, monkeypatch):
    monkeypatch.setattr(unpack.cache.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 0}))
    assert re.match(r"importing a lab needs \d+ MB of disk, but only 0 MB are free, ", refused(exported, empty))


def test_a_header_of_gigabytes_is_refused_before_it_is_read(tmp_path, empty):
    """A pax header is read into memory, whatever size it states."""
    header = tarfile.TarInfo("long")
    header.type, header.size = tarfile.XHDTYPE, 4 << 30
    (tmp_path / "lab.tar").write_bytes(header.tobuf() + bytes(1 << 20))
    with pytest.raises(LabError, match=r"\(a header of 4,294,967,296 bytes\)"):
        unpack.read(tmp_path / "lab.tar")


def test_a_manifest_in_itself_is_one_line():
    with pytest.raises(LabError, match="its manifest cannot be read"):
        manifest.parse(b"[" * 100_000, "lab.tar")


def made_up(path, named, content):
    """Replace a member by something else, with its size and its sum in the manifest: nothing but its content is wrong."""
    with tarfile.open(path) as tar:
        said = json.load(tar.extractfile(manifest.NAME))
    for each in said["members"]:
        if each["name"].endswith(named):
            each.update(size=len(content), sha256=hashlib.sha256(content).hexdigest())

    def change(name, info, data):
        new = json.dumps(said, indent=1, sort_keys=True).encode() if name == manifest.NAME else data
        new = content if name.endswith(named) else new
        info.size = len(new)
        return info, new

    changed(path, change)


RUBBISH = bytes(range(256)) * 64
WRONG = {
    "/linux": {
        "linux is no ELF file of 64 bits": [RUBBISH, b"", b"\x7fELF\x01\x01" + bytes(100)],
        "linux is for another processor": [elf("Linux version 7.3.4 (", machine=8)],
        "linux is neither a program nor a library": [elf("Linux version 7.3.4 (", kind=1)],
        "linux is cut short": [elf("Linux version 7.3.4 (", size=10_000), elf()[:70]],
        "linux does not begin where it says": [elf("Linux version 7.3.4 (", entry=5)],
        "linux is not Linux 7.3.4": [elf("Linux version 6.1.0 (")],
    },
    "/confine": {"confine is no ELF file of 64 bits": [RUBBISH, b"#!/bin/sh\nrm -rf /\n" * 9]},
    "/init.cpio": {
        "init.cpio is no initial root": [RUBBISH, b"", init.initial_root(elf())[:-200], b"070701" + b"f" * 200],
        "init.cpio has no program /init": [init.initial_root(b"rubbish"), init.archive({"other": elf()})],
        "invalid literal": [b"070701" + b"x" * 200],
    },
    "/image.squashfs": {
        "image.squashfs is not a squashfs that": [squashfs(version=3)],
        "image.squashfs is not a squashfs": [RUBBISH, b"", b"hsqs"],
        "image.squashfs has 4,096 bytes and not the": [squashfs(used=5000), squashfs(used=2**63)],
        "image.squashfs has no tables": [
            squashfs(folders=50),
            squashfs(folders=4000),
            b"hsqs" + squashfs()[4:32] + bytes(4000),
        ],
        "image.squashfs has no files": [squashfs(folders=110), squashfs()[:96] + bytes(4000)],
    },
    "/layer.squashfs": {"layer.squashfs is not a squashfs": [RUBBISH]},
    "/root.squashfs": {"root.squashfs is not a squashfs": [RUBBISH]},
    "/kernel.json": {"kernel.json": [b"{}", b"[]", b"rubbish", b'{"release": 3, "source": "x"}']},
    "kernel.json": {"kernel.json": [b'{"release": "../../x", "source": "x"}']},
}


@pytest.mark.parametrize(
    ("named", "why", "content"),
    [
        pytest.param(named, why, content, id=f"{why} {number}")
        for named, whys in WRONG.items()
        for why, contents in whys.items()
        for number, content in enumerate(contents)
    ],
)
def test_what_is_not_what_its_name_says_is_refused_with_right_sums(exported, empty, named, why, content):
    made_up(exported, named, content)
    line = refused(exported, empty)
    assert why in line
    assert "does not match its own records" in line or "container image" in line
    assert "nothing was imported" in line


@pytest.mark.parametrize("name", ["/linux", "/confine", "/image.squashfs", "/kernel.json"])
def test_a_missing_part_is_refused(exported, empty, name):
    with tarfile.open(exported) as tar:
        said = json.load(tar.extractfile(manifest.NAME))
    said["members"] = [each for each in said["members"] if not each["name"].endswith(name)]
    text = json.dumps(said).encode()

    def change(member, info, data):
        if member == manifest.NAME:
            info.size = len(text)
            return info, text
        return None if member.endswith(name) else (info, data)

    changed(exported, change)
    assert f"{name[1:]} is missing" in refused(exported, empty)
