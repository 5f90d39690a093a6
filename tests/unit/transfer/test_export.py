import errno
import os
import tarfile
import time
from unittest.mock import Mock

import pytest

from slownet.lab.build import image, init, kernel, parts
from slownet.model.errors import ExperimentError, LabError
from slownet.transfer import export


def members(path):
    with tarfile.open(path) as tar:
        return {each.name: (each.mode, each.mtime, each.uid) for each in tar}


def test_it_holds_the_lab_without_logs_and_its_manifest_comes_first(shop, tmp_path):
    written = export.write(tmp_path / "lab.tar", shop, images=False)
    found = members(tmp_path / "lab.tar")
    assert next(iter(found)) == "manifest.json"
    assert set(found) - {"manifest.json"} == {each.name for each in written.members}
    assert [name.partition("/")[0] for name in written.folders] == ["layer", "kernel", "init", "image"]
    assert found[f"kernel/{kernel.key()}/linux"] == (0o755, 0, 0)
    assert found[f"image/{image.key()}/image.squashfs"] == (0o644, 0, 0)
    assert f"init/{init.key()}/init.log" not in found
    assert "linux-source-7.3_7.3.4-1, " in written.sources["kernel"]


def test_the_same_lab_gives_the_same_bytes(shop, kept, built, tmp_path):
    export.write(tmp_path / "one.tar", shop, images=True)
    for path in built.rglob("*"):
        os.utime(path, (time.time() + 100, time.time() + 100))
    export.write(tmp_path / "two.tar", shop, images=True)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_container_images_are_left_out_unless_asked_for(kept, tmp_path):
    without = export.write(tmp_path / "lab.tar", None, images=False)
    whole = export.write(tmp_path / "lab.tar", None, images=True)
    assert [each for each in whole.folders if each not in without.folders] == [f"containers/{kept.folder.name}"]
    assert b"fingerprint" not in (tmp_path / "lab.tar").read_bytes()


def test_what_cannot_be_written_is_one_line_and_leaves_nothing(built, tmp_path, monkeypatch):
    with pytest.raises(LabError, match=r"/nowhere is not a folder: name a file$"):
        export.write(tmp_path / "nowhere" / "lab.tar", None, images=False)
    with pytest.raises(LabError, match=r" is a folder: name a file$"):
        export.write(tmp_path, None, images=False)

    before = set(tmp_path.iterdir())
    for number, fix in ((errno.ENOSPC, "free space, or name another file"), (errno.EACCES, "name another file")):
        monkeypatch.setattr(tarfile.TarFile, "addfile", Mock(side_effect=OSError(number, os.strerror(number))))
        with pytest.raises(ExperimentError) as error:
            export.write(tmp_path / "lab.tar", None, images=False)
        assert str(error.value) == f"cannot write {tmp_path / 'lab.tar'} ({os.strerror(number)}): {fix}"
        assert set(tmp_path.iterdir()) == before


def test_a_lab_that_was_not_built_is_one_line(home, tmp_path):
    with pytest.raises(LabError, match=r"^the lab is not built on this machine"):
        export.write(tmp_path / "lab.tar", None, images=False)
    assert not (tmp_path / "lab.tar").exists()


def test_the_key_needs_no_lab_and_follows_the_project(home, tmp_path, monkeypatch):
    from slownet.lab.build import project

    bare = parts.key(None)
    assert bare.startswith(f"{os.uname().machine}-")
    file = tmp_path / "slownet.toml"
    keys = [bare]
    for text in ('packages = ["jq"]\n', 'packages = ["jq", "tree"]\n'):
        file.write_text(text)
        keys.append(parts.key(project.at(file)))
    assert len(set(keys)) == 3
    file.write_text('share = ["."]\n')
    assert parts.key(project.at(file)) == bare
    monkeypatch.setattr(image, "COMPRESSOR", "zstd")
    assert parts.key(None) != bare
