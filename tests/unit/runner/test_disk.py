"""What a boot has written: an upper layer as overlayfs makes it, in an ordinary folder."""

import os
from pathlib import Path, PurePosixPath

import pytest

from slownet.runner import inside

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes overlayfs's marks")


@needs_root
def test_what_was_added_changed_and_removed_is_there_again(tmp_path, monkeypatch):
    upper, kept, root = (tmp_path / name for name in ("upper", "kept", "root"))
    for each in (upper / "etc", upper / "mnt" / "share", kept, root / "etc", root / "mnt", root / "opt" / "old"):
        each.mkdir(parents=True)
    (upper / "etc" / "changed").write_text("new")
    (upper / "mnt" / "beside").write_text("a share")
    (upper / "etc" / "caller.pth").write_text("where that boot imported from")
    os.mknod(upper / "etc" / "gone", 0o020000, 0)
    os.mkdir(upper / "opt")
    (upper / "opt" / "new").touch()
    try:
        os.setxattr(upper / "opt", inside.OPAQUE, b"y")
    except OSError:
        pytest.skip("this file system has no trusted attributes")
    (root / "etc" / "changed").write_text("old")
    (root / "etc" / "gone").write_text("old")
    root.joinpath("mnt").chmod(0o500)
    monkeypatch.setattr(inside, "_upper", lambda: upper)
    monkeypatch.setattr(inside.import_path, "file", lambda: Path("/etc/caller.pth"))
    monkeypatch.setattr(inside, "_mounts", lambda: iter([PurePosixPath("mnt/share"), PurePosixPath("proc")]))

    inside.save(kept)
    inside.restore(kept, root)

    found = {str(each.relative_to(root)) for each in root.rglob("*") if not each.is_dir()}
    assert found == {"etc/changed", "mnt/beside", "opt/new"}
    assert (root / "etc" / "changed").read_text() == "new"
    assert not (root / "mnt" / "share").exists()
    assert root.joinpath("mnt").stat().st_mode & 0o777 == 0o500, "a folder above a share may be the host's"
