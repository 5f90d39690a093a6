"""The page's libraries: which, with which sums, and what is said where npm is missing or brings something else."""

import base64
import hashlib
import io
import shutil
import tarfile

import pytest

from slownet.live import libraries
from slownet.live.libraries import PAGE, Library
from slownet.model.errors import LabError


def archive(**files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def sum_of(data):
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def npm(folder, monkeypatch, script):
    program = folder / "npm"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_each_has_a_pinned_version_a_sum_and_its_licence():
    for library in libraries.listed():
        assert library.version.count(".") == 2
        assert len(base64.b64decode(library.integrity.removeprefix("sha512-"))) == 64
        assert "LICENSE" in library.files.values()


def test_the_page_loads_what_is_listed_and_nothing_else():
    page = (PAGE / "index.html").read_text()
    loaded = {name for each in libraries.listed() for name in each.files if not name.endswith("LICENSE")}
    assert {name for name in loaded if f'"lib/{name}"' in page} == loaded
    assert "://" not in page


def test_they_are_fetched_once(own_cache, monkeypatch):
    data = archive(LICENSE=b"MIT", main=b"code")
    (own_cache / "made.tgz").write_bytes(data)
    library = Library("small", "1.0.0", sum_of(data), {"small.js": "main", "small.LICENSE": "LICENSE"})
    monkeypatch.setattr(libraries, "listed", lambda: [library])
    npm(own_cache, monkeypatch, f'echo ran >> {own_cache}/ran; cp {own_cache}/made.tgz "$6/small.tgz"; echo small.tgz')
    folder = libraries.need()
    assert libraries.need() == folder
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == {"small.js": b"code", "small.LICENSE": b"MIT"}
    assert (own_cache / "ran").read_text() == "ran\n"


def test_another_archive_is_refused_and_nothing_is_kept(own_cache, monkeypatch):
    (own_cache / "made.tgz").write_bytes(archive(main=b"other"))
    monkeypatch.setattr(libraries, "listed", lambda: [Library("small", "1.0.0", sum_of(b"reviewed"), {"small.js": "main"})])
    npm(own_cache, monkeypatch, f'cp {own_cache}/made.tgz "$6/small.tgz"; echo small.tgz')
    with pytest.raises(LabError, match=r"small@1\.0\.0 is not what this version of slownet was made with"):
        libraries.need()
    assert list((own_cache / "cache/slownet/page").iterdir()) == []


def test_an_error_of_npm_is_one_line(own_cache, monkeypatch):
    npm(own_cache, monkeypatch, "echo first >&2; echo 'no such registry' >&2; exit 1")
    with pytest.raises(LabError, match=r"npm cannot fetch cytoscape@[\d.]+: no such registry"):
        libraries.need()


def test_without_npm_a_line_says_what_to_install(own_cache, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(LabError, match="npm is not installed, slownet live: install npm"):
        libraries.need()
