"""What an exact lab sends back of its writable shares, and what the host does with it."""

import pytest

from slownet.lab.run.changed_shares import Returned
from slownet.lab.run.channel import ProtocolError
from slownet.model.errors import LabError, SlownetError


def change(what: str, path: str, mode: str = "644", number: str = "3", *target: str) -> bytes:
    return b"".join(each.encode(errors="surrogateescape") + b"\0" for each in (what, number, mode, path, *target))


@pytest.fixture
def share(tmp_path):
    folder = tmp_path / "share"
    folder.mkdir()
    return folder


@pytest.fixture
def back(share):
    found = Returned({3: share})
    yield found
    found.close()


def test_files_folders_and_links_are_made_with_their_modes(share, back):
    back.change(change("d", "a", "750"))
    back.change(change("f", "a/b", "640"))
    back.content(b"one ")
    back.content(b"two")
    back.change(change("l", "a/link", "777", "3", "/etc/passwd"))
    back.close()
    assert (share / "a/b").read_bytes() == b"one two"
    assert [(share / each).stat().st_mode & 0o777 for each in ("a", "a/b")] == [0o750, 0o640]
    assert (share / "a/link").readlink().as_posix() == "/etc/passwd"


def test_what_is_there_is_replaced_and_what_is_gone_removed(share, back):
    for each in ("folder", "file"):
        (share / each).mkdir()
        (share / each / "inside").write_text("old")
    (share / "old").write_text("old")
    back.change(change("f", "file"))
    back.content(b"new")
    back.change(change("d", "folder"))
    back.change(change("r", "old", "0"))
    back.change(change("r", "never was", "0"))
    back.close()
    assert (share / "file").read_bytes() == b"new"
    assert (share / "folder/inside").read_text() == "old"
    assert not (share / "old").exists()


@pytest.mark.parametrize("path", ["../outside", "/etc/x", "a/../../outside", ""])
def test_no_path_leads_out(back, path, tmp_path):
    with pytest.raises(SlownetError, match="not a path below"):
        back.change(change("f", path))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["share"]


def test_no_link_is_followed(share, back, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("old")
    back.change(change("l", "out", "777", "3", str(outside)))
    with pytest.raises(LabError, match="cannot be written back"):
        back.change(change("f", "out/file"))
    back.change(change("l", "link", "777", "3", str(outside / "file")))
    back.change(change("f", "link"))
    back.content(b"new")
    back.change(change("r", "out"))
    back.close()
    assert (outside / "file").read_text() == "old"
    assert (share / "link").read_text() == "new"
    assert not (share / "out").is_symlink()


@pytest.mark.parametrize(
    "payload",
    [b"", b"f\0", b"x\0003\0644\0a\0", b"f\0003\0644\0a", b"f\0003\0644\0a\0b\0", b"f\0004\0644\0a\0", b"f\0003\0888\0a\0",
     b"f\0-3\0644\0a\0", b"l\0003\0777\0a\0"],
)  # fmt: skip
def test_what_init_never_sends_is_refused(back, payload):
    with pytest.raises(ProtocolError):
        back.change(payload)


def test_content_needs_a_file(back):
    with pytest.raises(ProtocolError):
        back.content(b"x")
    back.change(change("d", "a", "755"))
    with pytest.raises(ProtocolError):
        back.content(b"x")
