import bz2
import gzip
import hashlib
import lzma
import os
import shutil
import subprocess
import zlib

import pytest

from slownet.containers import streams
from slownet.containers.streams import Digested, Forward
from slownet.model.errors import ImageError, LabError

CONTENT = os.urandom(1000) + b"slow" * 300_000 + os.urandom(300_000)
zstd = pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd here")


def by_program(data):
    return subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout


COMPRESSORS = [
    pytest.param(lambda data: data, id="plain"),
    pytest.param(gzip.compress, id="gzip"),
    pytest.param(lzma.compress, id="xz"),
    pytest.param(bz2.compress, id="bzip2"),
    pytest.param(by_program, id="zstd", marks=zstd),
]


def pieces(data, size=4097):
    return (data[at : at + size] for at in range(0, len(data), size))


def whole(stored, where="it"):
    return b"".join(streams.decompressed(iter(stored), where))


@pytest.mark.parametrize("compress", COMPRESSORS)
@pytest.mark.parametrize("size", [1, 5, 4097, 1 << 20])
def test_a_stream_is_unpacked_whatever_its_pieces(compress, size):
    data = CONTENT if size > 5 else CONTENT[:3000]
    assert whole(pieces(compress(data), size)) == data


@pytest.mark.parametrize("compress", COMPRESSORS)
def test_nothing_is_unpacked_to_nothing(compress):
    assert whole(pieces(compress(b""))) == b""


@pytest.mark.parametrize("compress", COMPRESSORS[1:4])
def test_streams_behind_each_other_are_one_and_zeros_are_padding(compress):
    assert whole(pieces(compress(b"one") + compress(b"two") + bytes(700))) == b"onetwo"


@pytest.mark.parametrize("compress", COMPRESSORS[1:])
@pytest.mark.parametrize(
    "damage", [lambda data: data[:-100], lambda data: data[:-5], lambda data: data[:40] + bytes(60) + data[100:]]
)
def test_a_damaged_stream_is_one_line(compress, damage):
    with pytest.raises(
        ImageError, match=r"^layer 1 is truncated or damaged \((gzip|xz|bzip2|zstd): .*\): fetch or save it again$"
    ):
        whole(pieces(damage(compress(CONTENT))), "layer 1")


@zstd
def test_an_error_of_the_source_passes_through_the_program():
    def source():
        yield by_program(CONTENT)[:9000]
        raise ImageError("the source ended")

    with pytest.raises(ImageError, match="the source ended"):
        whole(source())


def test_without_zstd_its_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(streams.cache, "search_path", lambda: str(tmp_path))
    with pytest.raises(LabError) as error:
        whole([b"\x28\xb5\x2f\xfd" + bytes(100)])
    assert str(error.value) == "a layer compressed with zstd needs zstd: apt-get install zstd"


def test_bytes_are_counted_and_digested_to_the_end():
    good = Digested(pieces(CONTENT), streams.digest(CONTENT), len(CONTENT), "layer 1")
    next(good)
    good.finish()
    assert (good.size, good.digest) == (len(CONTENT), streams.digest(CONTENT))
    longer = "sha512:" + hashlib.sha512(CONTENT).hexdigest()
    Digested(pieces(CONTENT), longer, None, "layer 1").finish()
    Digested(pieces(CONTENT), "", None, "layer 1").finish()


def test_other_bytes_are_one_line():
    other = streams.digest(b"other")
    with pytest.raises(ImageError) as error:
        Digested(pieces(b"these"), other, 5, "layer 1").finish()
    assert str(error.value) == f"layer 1 has the digest {streams.digest(b'these')} instead of {other}: fetch or save it again"
    for data, how in ((b"x" * 4, "truncated"), (b"x" * 6, "too long")):
        with pytest.raises(ImageError) as error:
            Digested(pieces(data), other, 5, "layer 1").finish()
        assert str(error.value) == f"layer 1 is {how}: {len(data)} bytes instead of 5"


@pytest.mark.parametrize("text", ["md5:00", "sha256", "sha256:", "sha256:../../etc", "sha256:ABC", ""])
def test_what_is_no_digest_is_one_line(text):
    with pytest.raises(ImageError, match="is not a digest"):
        streams.algorithm(text, "index.json")


def test_a_forward_file_reads_and_skips():
    file = Forward(pieces(CONTENT, 100))
    assert (file.read(250), file.tell()) == (CONTENT[:250], 250)
    assert file.seek(100_003) == 100_003
    assert file.read(10) == CONTENT[100_003:100_013]
    assert file.read(len(CONTENT)) == CONTENT[100_013:]
    assert (file.read(1), file.seek(1 << 40), file.tell()) == (b"", len(CONTENT), len(CONTENT))


# ---- little that contains much ----

ZEROS = 48 << 20
"""Many times the memory of one piece."""


def zeros(compressor, size=ZEROS):
    piece = bytes(1 << 20)
    parts = [compressor.compress(piece) for _ in range(size >> 20)]
    return b"".join([*parts, compressor.flush()])


def dense_gzip():
    return zeros(zlib.compressobj(9, wbits=streams.GZIP))


BOMBS = [
    pytest.param(dense_gzip, id="gzip"),
    pytest.param(lambda: zeros(lzma.LZMACompressor()), id="xz"),
    pytest.param(lambda: zeros(bz2.BZ2Compressor()), id="bzip2"),
    pytest.param(lambda: by_program(bytes(ZEROS)), id="zstd", marks=zstd),
]


@pytest.mark.parametrize("make", BOMBS)
def test_a_bomb_is_unpacked_piece_by_piece(make):
    bomb = make()
    assert len(bomb) < 1 << 20
    sizes = [len(each) for each in streams.decompressed(iter([bomb]), "layer 1")]
    assert sum(sizes) == ZEROS
    assert max(sizes) <= streams.CHUNK


@pytest.mark.parametrize("make", BOMBS)
def test_what_a_bomb_contains_is_limited(make):
    taken = []
    with pytest.raises(ImageError) as caught:
        taken.extend(map(len, streams.decompressed(iter([make()]), "layer 1", 20 << 20)))
    assert sum(taken) <= 20 << 20
    fix = "free space, or set XDG_CACHE_HOME to a folder on another disk"
    assert str(caught.value) == f"layer 1 contains more than 20 MiB, too much for this machine's memory: {fix}"


def test_the_limit_is_the_free_space_or_a_fixed_one(monkeypatch, tmp_path):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(streams.shutil, "disk_usage", lambda path: usage._replace(free=5 << 20))
    with pytest.raises(ImageError, match="more than 4 MiB, too much for this machine's memory"):
        whole([dense_gzip()])
    monkeypatch.setattr(streams.shutil, "disk_usage", lambda path: usage._replace(free=1 << 50))
    monkeypatch.setattr(streams, "MOST_UNPACKED", 1 << 23)
    with pytest.raises(ImageError, match=r"^it contains more than 0 GiB: so large an image is not added: leave files out$"):
        whole([dense_gzip()])


def big_window_xz():
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 28}]
    return lzma.compress(b"small", filters=filters)


def big_window_zstd():
    return bytes.fromhex("28b52ffd00b0010000")  # a frame whose window is 4 GiB


@pytest.mark.parametrize(
    ("kind", "make"), [("xz", big_window_xz), pytest.param("zstd", big_window_zstd, marks=zstd)], ids=["xz", "zstd"]
)
def test_a_window_is_limited(kind, make):
    with pytest.raises(ImageError) as caught:
        whole([make()], "layer 1")
    assert str(caught.value) == (
        f"layer 1 takes more than 128 MiB of memory to decompress ({kind}): "
        "compress it with a smaller window, as programs do by default"
    )
