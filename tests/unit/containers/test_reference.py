import pytest

from slownet.containers import reference
from slownet.model.errors import ImageError


@pytest.fixture
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop.tar").touch()
    (tmp_path / "a:b").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "transport", "path", "tag"),
    [
        ("shop", "", "shop", ""),
        ("./shop.tar", "", "shop.tar", ""),
        ("a:b", "", "a:b", ""),
        ("oci:shop", "oci", "shop", ""),
        ("oci:shop:1", "oci", "shop", "1"),
        ("oci-archive:shop.tar:team/shop:1", "oci-archive", "shop.tar", "team/shop:1"),
        ("docker-archive:shop.tar:shop:1", "docker-archive", "shop.tar", "shop:1"),
        ("docker-archive:a:b", "docker-archive", "a:b", ""),
        ("dir:a:b", "dir", "a:b", ""),
    ],
)
def test_a_file_or_folder(here, text, transport, path, tag):
    found = reference.read(text)
    assert (found.transport, str(found.path), found.tag, found.text) == (transport, path, tag, text)


@pytest.mark.parametrize("text", ["docker://x.example/shop:1", "containers-storage:shop:1", "docker-daemon:shop:1", "sif:file"])
def test_what_is_skopeos(here, text):
    found = reference.read(text)
    assert (found.text, found.transport, found.path) == (text, text.partition(":")[0], None)


@pytest.mark.parametrize("text", ["postgres:17", "postgres", "x.example:5000/team/shop:1", f"postgres@sha256:{'0' * 64}"])
def test_a_name_that_is_no_file_is_a_registrys(here, text):
    assert reference.read(text).text == f"docker://{text}"


@pytest.mark.parametrize(
    "text", ["missing.tar", "./missing", "/missing/x", "missing.tar.gz", "oci:missing:1", "docker-archive:no.tar:x:1"]
)
def test_a_missing_file_is_one_line(here, text):
    with pytest.raises(
        ImageError, match=r"^there is no file or folder \S+: correct the path; an image of a registry is docker://NAME$"
    ):
        reference.read(text)


@pytest.mark.parametrize("text", ["", "Shop Two", "http://x.example/shop", "shop@sha256:12", "shop:1:2"])
def test_what_is_nothing_of_all_that_is_one_line(here, text):
    with pytest.raises(ImageError, match="is neither a file, nor a folder, nor an image's name: write for example"):
        reference.read(text)
