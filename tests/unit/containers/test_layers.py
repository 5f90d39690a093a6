import contextlib
import gzip
import io
import tarfile

import pytest

from slownet.containers import layers
from slownet.containers.layers import Layer
from slownet.containers.tree import HardLink, Kind
from slownet.model.errors import ImageError

CAPABILITY = bytes.fromhex("0100000200200000ff0a00000000000000000000").decode("utf-8", "surrogateescape")


def layer(data, **fields):
    return Layer(lambda: contextlib.closing(io.BytesIO(data)), "layer 1", **fields)


def changes(data, **fields):
    return layers.changes(layer(data, **fields), 3)


def entries(data, **fields):
    return {"/".join(path): node for path, node in changes(data, **fields).entries}


def test_everything_a_tar_says_of_its_members_is_read(made):
    found = entries(
        made.tar(
            made.folder("./", mode=0o711, uid=5),
            made.folder("./tmp/", mode=0o1777),
            made.member("./a", "text", mode=0o4755, uid=3_000_000, gid=44, mtime=1_700_000_000),
            made.hard_link("./b", "./a"),
            made.link("c" * 150, "../" * 60),
            made.member("fifo", type=tarfile.FIFOTYPE),
        )
    )
    root, tmp, a, link = found[""], found["tmp"], found["a"], found["c" * 150]
    assert (root.kind, root.mode, root.uid, tmp.mode) == (Kind.FOLDER, 0o711, 5, 0o1777)
    assert (a.kind, a.mode, a.uid, a.gid, a.mtime, a.size, a.origin) == (
        Kind.FILE,
        0o4755,
        3_000_000,
        44,
        1_700_000_000,
        4,
        (3, 2),
    )
    assert found["b"] == HardLink(("a",))
    assert (link.kind, link.target, found["fifo"].kind) == (Kind.LINK, "../" * 60, Kind.FIFO)


def test_times_are_those_that_a_squashfs_can_hold(made):
    found = entries(
        made.tar(made.member("early", mtime=-5), made.member("late", mtime=2**40), made.member("exact", mtime=1.75))
    )
    assert [found[name].mtime for name in ("early", "late", "exact")] == [0, 2**32 - 1, 1]


def test_extended_attributes_keep_their_bytes(made):
    given = {"security.capability": CAPABILITY, "user.note": "a\nb=c", "trusted.x": "y"}
    dropped = {"system.posix_acl_access": "x", "trusted.overlay.opaque": "y", "user.overlay.origin": "z"}
    assert entries(made.tar(made.member("a", xattrs={**given, **dropped})))["a"].xattrs == given


def test_libarchives_extended_attributes_are_decoded(made):
    member, content = made.member("a", "text")
    member.pax_headers = {
        "LIBARCHIVE.xattr.user.n%6fte": "aGkA",
        "LIBARCHIVE.xattr.user.b": "aA",
        "SCHILY.xattr.user.b": "both",
    }
    assert entries(made.tar((member, content)))["a"].xattrs == {"user.note": "hi\0", "user.b": "both"}


def test_a_sparse_file_has_its_whole_content():
    # the old GNU format: one hole of 1024 bytes, then 512 bytes of data
    header = tarfile.TarInfo("sparse")
    header.size = 512
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[156:157] = b"S"
    block[386:410] = b"%011o\0%011o\0" % (1024, 512)
    block[483:495] = b"%011o\0" % 1536
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    read = []
    layers.changes(
        layer(bytes(block) + b"x" * 512 + bytes(1024)), 0, lambda archive, member: read.append(archive.content(member).read())
    )
    assert read == [bytes(1024) + b"x" * 512]


def test_whiteouts_are_told_from_files(made):
    found = changes(
        made.tar(
            made.member("a/.wh.gone"),
            made.member(".wh.top"),
            made.member("b/.wh..wh..opq"),
            made.member(".wh..wh.plnk/14.5"),
            made.member(".wh..wh.aufs"),
            made.member("kept.wh."),
        )
    )
    assert found.removed == [("a", "gone"), ("top",)]
    assert found.opaque == [("b",)]
    assert [path for path, _ in found.entries] == [("kept.wh.",)]
    plain = changes(made.tar(made.member("a/.wh.gone")), has_whiteouts=False)
    assert [path for path, _ in plain.entries] == [("a", ".wh.gone")]


@pytest.mark.parametrize("name", ["../x", "a/../../x", "a/../b", "/etc/passwd", "//x", ".."])
def test_a_path_that_leaves_the_root_is_one_line(made, name):
    expected = f"the path {name!r} leaves the image's root, layer 1: such an image is not added"
    with pytest.raises(ImageError) as error:
        changes(made.tar(made.member(name, "x")))
    assert str(error.value) == expected
    with pytest.raises(ImageError) as error:
        changes(made.tar(made.hard_link("link", name)))
    assert str(error.value) == expected


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_a_device_node_is_one_line(made, kind):
    with pytest.raises(ImageError) as error:
        changes(made.tar(made.member("dev/sda", type=kind, devmajor=8)))
    assert str(error.value).startswith("dev/sda is a device node, layer 1: leave it out")


@pytest.mark.parametrize("name", [".wh.", ".wh..", ".wh...", "a/.wh.", ".wh.a/b"])
def test_a_whiteout_of_nothing_is_one_line(made, name):
    with pytest.raises(ImageError, match=r"^the whiteout .* removes nothing that could be, layer 1$"):
        changes(made.tar(made.member(name)))


def test_an_unknown_type_and_an_impossible_owner_are_one_line(made):
    with pytest.raises(ImageError, match=r"^a has an unknown type b'V', layer 1$"):
        changes(made.tar(made.member("a", type=b"V")))
    with pytest.raises(ImageError, match=r"^a has an impossible owner 4294967296:0, layer 1$"):
        changes(made.tar(made.member("a", uid=2**32)))


@pytest.mark.parametrize("cut", [100, 512, 700, 1200, 2048])
def test_an_archive_without_an_end_is_one_line(made, cut):
    whole = made.tar(made.member("a", "x" * 600), made.member("b", "y"))
    with pytest.raises(ImageError, match=r"^layer 1 is (truncated: it has no end|not a tar archive, or truncated: .*)$"):
        changes(whole[:cut])


def test_a_bad_header_is_not_taken_for_the_end(made):
    whole = bytearray(made.tar(made.member("a", "x"), made.member("b", "y")))
    whole[1024 + 10] ^= 1
    with pytest.raises(ImageError, match=r"^layer 1 is not a tar archive, or truncated: bad checksum$"):
        changes(bytes(whole))
    assert list(entries(made.tar(made.member("a", "x"), made.member("b", "y")))) == ["a", "b"]


def test_a_layer_of_a_known_digest_needs_no_end(made):
    whole = made.tar(made.member("a", "x" * 512))[:1024]
    assert list(entries(whole, diff_id=made.digest(whole))) == ["a"]


def test_an_empty_layer_changes_nothing(made):
    assert changes(made.tar()).entries == []


def test_other_bytes_than_stated_are_one_line(made):
    tar = made.tar(made.member("a", "x"))
    stored = gzip.compress(tar)
    good = {"digest": made.digest(stored), "size": len(stored), "diff_id": made.digest(tar)}
    assert list(entries(stored, **good)) == ["a"]
    for wrong, line in (
        ({"digest": made.digest(b"")}, "layer 1 has the digest "),
        ({"size": len(stored) + 1}, "layer 1 is truncated: "),
        ({"size": len(stored) - 1}, "layer 1 is too long: "),
        ({"diff_id": made.digest(b"")}, "the content of layer 1 has the digest "),
    ):
        with pytest.raises(ImageError) as error:
            changes(stored, **{**good, **wrong})
        assert str(error.value).startswith(line)


def test_a_wrong_digest_says_more_than_what_is_wrong_with_the_tar(made):
    tar = bytearray(made.tar(made.member("a", "x"), made.member("b", "y")))
    stated = made.digest(bytes(tar))
    tar[1024 + 10] ^= 1
    with pytest.raises(ImageError, match="has the digest"):
        changes(bytes(tar), diff_id=stated)
