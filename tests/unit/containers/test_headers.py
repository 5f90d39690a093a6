"""Headers of archives that state more than there is, and archives of little that contains much."""

import bz2
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile

import pytest

from slownet.containers import adding, config, headers, layers, rootfs
from slownet.containers.blob_source import MOST_JSON, Tar
from slownet.model.errors import ImageError

PACKED = pytest.mark.skipif(not shutil.which("tar2sqfs"), reason="a machine that was only provisioned keeps no images")

ATTACK = "the archive is damaged, or made to attack"
TOO_LONG = f"a member of it has more than 1 MiB of headers, layer: {ATTACK}"


def header(kind, size=0, name="x"):
    made = tarfile.TarInfo(name)
    made.type, made.size = kind, size
    return made.tobuf(tarfile.GNU_FORMAT)


def pax(records, kind=tarfile.XHDTYPE):
    """A whole header of pax with these bytes."""
    return header(kind, len(records)) + records + bytes(-len(records) % 512)


def record(key, value):
    text = f" {key}={value}\n"
    length = len(text) + 1
    while len(f"{length}{text}") != length:
        length += 1
    return f"{length}{text}".encode()


def sparse():
    """The map of an old sparse file, each block of which says that another one follows."""
    block = bytearray(header(tarfile.GNUTYPE_SPARSE))
    block[482] = 1
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    more = bytearray((b"%011o\0" % 1) * 42 + b"\1" + bytes(7))
    assert len(more) == 512
    return bytes(block) + bytes(more) * 4000


ATTACKS = {
    "pax": header(tarfile.XHDTYPE, 4_200_000_000) + bytes(512),
    "global pax": header(tarfile.XGLTYPE, 4_200_000_000) + bytes(512),
    "long name": header(tarfile.GNUTYPE_LONGNAME, 4_200_000_000) + bytes(512),
    "long link": header(tarfile.GNUTYPE_LONGLINK, 4_200_000_000) + bytes(512),
    "size in base 256": header(tarfile.XHDTYPE, 1 << 62) + bytes(512),
    "chain of pax": pax(b"") * 5000,
    "chain of long names": (header(tarfile.GNUTYPE_LONGNAME, 1) + b"a" + bytes(511)) * 5000,
    "map of a sparse file": sparse(),
    "map in pax": pax(record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0"))
    + header(tarfile.REGTYPE, 1 << 40)
    + b"999999999\n"
    + b"1\n" * 700_000,
}


def changes(data):
    return layers.changes(layers.Layer(lambda: io.BytesIO(data), "layer", diff_id=""), 0)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("read", [changes, lambda data: Tar(io.BytesIO(data), "layer")], ids=["layer", "archive"])
def test_a_header_is_read_within_a_limit(attack, read):
    with pytest.raises(ImageError) as caught:
        read(ATTACKS[attack])
    assert str(caught.value) == TOO_LONG


def test_ordinary_long_names_and_attributes_are_read(made):
    member = made.member("a/" + "b" * 250 + "/" + "c" * 250, "text", xattrs={"user.note": "x" * 60_000})
    (entry,) = changes(made.tar(member)).entries
    assert entry[0] == ("a", "b" * 250, "c" * 250)
    assert entry[1].xattrs == {"user.note": "x" * 60_000}


def test_global_headers_do_not_pile_up(made):
    piece = pax(b"".join(record(f"key{number}", "v" * 9000) for number in range(100)), tarfile.XGLTYPE)
    several = b"".join(piece.replace(b"key", b"ke%c" % letter) + header(tarfile.REGTYPE) for letter in b"abc")
    with pytest.raises(ImageError, match="of names and attributes, layer: "):
        changes(several)


def test_names_and_files_are_counted(made, monkeypatch):
    data = made.tar(*(made.member(f"file{number:03}") for number in range(20)))
    with monkeypatch.context() as patch:
        patch.setattr(headers, "MOST_NAMES", 100)
        with pytest.raises(ImageError, match="it has more than 0 MiB of names and attributes, layer: "):
            changes(data)
    monkeypatch.setattr(headers, "MOST_ENTRIES", 19)
    with pytest.raises(
        ImageError, match=r"^it has more than 19 files, layer: so large an image is not added: leave files out$"
    ):
        changes(data)


@PACKED
def test_files_of_all_layers_are_counted(layout, made, monkeypatch):
    layout.image(made.tar(made.member("a"), made.member("b")), made.tar(made.member("c")))
    monkeypatch.setattr(headers, "MOST_ENTRIES", 2)
    with pytest.raises(ImageError, match="it has more than 2 files"):
        adding.add(str(layout.folder))


@pytest.mark.parametrize("name", ["a/" * 2500 + "b", "a\0b"])
def test_a_name_that_no_linux_has_is_one_line(name):
    data = pax(record("path", name)) + header(tarfile.REGTYPE) + bytes(1024)
    with pytest.raises(ImageError, match=r"^a path has more than 4096 bytes, or a null byte: 'a"):
        changes(data)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[" * 100_000, "the image's configuration cannot be read: tables and lists are nested deeper than 50"),
        ('{"config":' + "[" * 60 + "]" * 60 + "}", "the image's configuration cannot be read: tables and lists are nested"),
        ('{"a": ' + "1" * 5000 + "}", "the image's configuration cannot be read: a number has too many digits"),
        ('{"config": {"Healthcheck": {"Test": ["CMD", "x"], "Retries": 1e999}}}', "the image's configuration cannot be read: "),
        ('{"config": {"Healthcheck": {"Test": ["CMD", "x"], "Retries": NaN}}}', "the image's configuration cannot be read: "),
    ],
    ids=range(5),
)
def test_a_configuration_is_read_within_limits(text, line):
    with pytest.raises(ImageError) as caught:
        config.parse(text, "it")
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize(
    ("manifests", "line"),
    [
        ([{"digest": "sha256:00", "size": 1, "platform": "linux"}], "index.json has no "),
        ([{"digest": "sha256:00", "size": 1, "annotations": ["x"]}], "index.json has no "),
        ([{"digest": "sha256:00", "size": "1"}], "index.json has no "),
        ("x", "index.json has no "),
        (None, "index.json has no "),
    ],
)
def test_an_index_of_other_types_is_one_line(layout, manifests, line):
    (layout.folder / "index.json").write_text(json.dumps({"manifests": manifests}))
    with pytest.raises(ImageError) as caught:
        adding.add(str(layout.folder))
    assert str(caught.value).startswith(line)


def test_a_manifest_is_not_larger_than_registries_allow(layout):
    (layout.folder / "index.json").write_text(" " * (MOST_JSON + 1))
    with pytest.raises(ImageError, match=r"^index\.json is larger than 4 MiB"):
        adding.add(str(layout.folder))


@PACKED
def test_an_image_has_no_thousand_layers(layout, made):
    layout.image(*[made.tar()] * 501)
    with pytest.raises(ImageError, match="it has more than 500 layers"):
        adding.add(str(layout.folder))


def test_a_root_of_a_thousand_folders_in_one_another_is_walked(tmp_path):
    path = tmp_path / "root"
    here = os.getcwd()
    path.mkdir()
    try:
        os.chdir(path)
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
        os.chdir(here)
        assert sum(1 for _ in rootfs.walk(path, [])) == 1501
    finally:
        os.chdir(here)
        subprocess.run(["rm", "-rf", str(path)], check=True)  # shutil.rmtree, and so pytest, would call itself too often


CHILD = "import sys; from slownet.cli.entry import main; sys.argv[1:] = {words!r}; main()"


@pytest.mark.parametrize("attack", ["pax", "map of a sparse file"])
def test_a_small_file_takes_little_memory(tmp_path, home, attack):
    bomb = tmp_path / "bomb.tar.bz2"
    bomb.write_bytes(bz2.compress(ATTACKS[attack] + bytes(200 << 20)))
    assert bomb.stat().st_size < 10_000
    most = 400 << 20
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(words=["lab", "image", "add", str(bomb)])], capture_output=True, text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"slownet: a member of it has more than 1 MiB of headers, {bomb}: {ATTACK}\n"
