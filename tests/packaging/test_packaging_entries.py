"""What the comparison of two machines' images sees, on images of a few files; no root needs to be made."""

import io
import shutil
import subprocess
import tarfile

import image_entries
import pytest

pytestmark = pytest.mark.skipif(not shutil.which("tar2sqfs"), reason="apt-get install squashfs-tools-ng")
FILES = {"bin/ping": b"program" * 1000, "etc/passwd": b"root:x:0:0", "opt/slownet/venv/numpy-2.0.dist-info/RECORD": b"numpy"}


def packed(path, files, compressor="lz4", link="bin/ping", **other):
    """Make a squashfs of files, a hard link and a symbolic link; `other` is set for etc/passwd."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(content), 1_700_000_000, 0o755
            info.pax_headers = {"SCHILY.xattr.user.note": "kept"} if name == "bin/ping" else {}
            for attribute, value in other.items() if name == "etc/passwd" else ():
                setattr(info, attribute, value)
            archive.addfile(info, io.BytesIO(content))
        for name, kind, target in (("hard", tarfile.LNKTYPE, link), ("soft", tarfile.SYMTYPE, "etc/passwd")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info)
    argv = ["tar2sqfs", "--quiet", "--force", "--compressor", compressor, path]
    subprocess.run(argv, input=tar.getvalue(), check=True, capture_output=True)
    return path


@pytest.fixture
def entries(tmp_path):
    return image_entries.read(packed(tmp_path / "one.squashfs", FILES))


def test_images_of_the_same_files_have_the_same_entries_whatever_their_bytes(entries, tmp_path):
    other = packed(tmp_path / "other.squashfs", dict(reversed(FILES.items())), compressor="gzip")
    assert other.read_bytes() != (tmp_path / "one.squashfs").read_bytes()
    assert image_entries.differences(entries, image_entries.read(other)) == []
    assert {*FILES, "hard", "soft", "bin", "etc"} <= set(entries)


@pytest.mark.parametrize(
    "changed",
    [{"mtime": 1_700_000_001}, {"mode": 0o700}, {"uid": 100}, {"gid": 101}, {"pax_headers": {"SCHILY.xattr.user.a": "b"}}],
)
def test_an_entry_that_differs_is_named(entries, tmp_path, changed):
    (line,) = image_entries.differences(entries, image_entries.read(packed(tmp_path / "other.squashfs", FILES, **changed)))
    assert line.startswith("etc/passwd: ")


def test_other_content_of_the_same_size_and_a_missing_file_are_named(entries, tmp_path):
    other = {**FILES, "etc/passwd": b"root:x:0:1", "new": b""}
    lines = image_entries.differences(entries, image_entries.read(packed(tmp_path / "other.squashfs", other)))
    assert [line.split(":")[0] for line in lines] == ["etc/passwd", "new"]
    assert lines[1].startswith("new: nothing | ")


def test_a_hard_link_to_another_file_is_named(entries, tmp_path):
    lines = image_entries.differences(
        entries, image_entries.read(packed(tmp_path / "other.squashfs", FILES, link="etc/passwd"))
    )
    assert [line.split(":")[0] for line in lines] == ["hard"]


def test_python_packages_can_be_left_out(entries):
    assert image_entries.python_packages(entries) == {"numpy-2.0.dist-info"}
    assert set(entries) - set(image_entries.without_venv(entries)) == {
        path for path in entries if path.startswith("opt/slownet/venv")
    }
