"""Whatever an archive holds, only ImageError comes out, in little time and memory."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
from contextlib import ExitStack

from fuzzing import altered, damaged, only
from hypothesis import given
from hypothesis import strategies as st

from slownet.containers import adding, blob_source, config, layers, oci_layout, streams, tree
from slownet.containers.layers import Layer
from slownet.model.errors import ImageError


def made_tar():
    """The archive that is damaged; made without a fixture, because strategies are made before there is one."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for number, kind in enumerate((tarfile.DIRTYPE, tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(f"a{number}/" + "long" * 40 * number)
            member.type, member.linkname, member.uid, member.mtime = kind, "a1/" + "long" * 40, 2**22, 1.5
            member.pax_headers = {"SCHILY.xattr.user.x": "y", "LIBARCHIVE.xattr.user.z": "aGk="}
            content = b"x" * 700 if kind == tarfile.REGTYPE else b""
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name in (".wh.gone", "a/.wh..wh..opq"):
            archive.addfile(tarfile.TarInfo(name))
    return out.getvalue()


TAR = made_tar()
PACKED = [gzip.compress(TAR), bz2.compress(TAR), lzma.compress(TAR)]


@given(damaged([TAR]))
def test_layers(data):
    with only(ImageError):
        found = layers.changes(Layer(lambda: io.BytesIO(data), "layer"), 0)
        root = tree.Tree()
        root.apply(found)
        list(root.walk())


@given(damaged([TAR]))
def test_boxes(data):
    with only(ImageError):
        blob_source.marks(io.BytesIO(data), "it")
    with only(ImageError):
        box = blob_source.Tar(io.BytesIO(data), "it")
        for name in list(box._members):
            with only(ImageError):
                blob_source.read(box, name)


@given(damaged(PACKED))
def test_compressed_streams(data):
    with only(ImageError):
        for each in streams.decompressed(iter([data]), "it", 1 << 22):
            assert len(each) <= streams.CHUNK


CONFIG = {
    "architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:00"]},
    "config": {
        "Entrypoint": ["a"], "Cmd": ["b"], "Env": ["A=1"], "User": "1:1", "WorkingDir": "/", "Volumes": {"/x": {}},
        "ExposedPorts": {"80/tcp": {}}, "Labels": {"a": "b"}, "StopSignal": "SIGTERM",
        "Healthcheck": {"Test": ["CMD", "x"], "Interval": 10**9, "Retries": 3},
    },
}  # fmt: skip
DESCRIPTOR = {"mediaType": "x", "digest": "sha256:" + "0" * 64, "size": 5, "platform": {"os": "linux", "architecture": "amd64"},
              "annotations": {"org.opencontainers.image.ref.name": "1"}}  # fmt: skip
INDEX = {"schemaVersion": 2, "manifests": [DESCRIPTOR, DESCRIPTOR]}
MANIFEST = {"schemaVersion": 2, "config": DESCRIPTOR, "layers": [DESCRIPTOR]}
DOCKER = {"images": [{"Config": "c.json", "RepoTags": ["a:1"], "Layers": ["l.tar"]}, {"Config": "c.json", "RepoTags": ["b:1"]}]}


@given(st.data())
def test_configurations(data):
    text = json.dumps(data.draw(altered([CONFIG]))).encode()
    with only(ImageError):
        found = config.parse(data.draw(st.one_of(st.just(text), damaged([text]))), "it")
        config.check_platform(found, "it")


class Files:
    """A box of files in memory."""

    where = "it"

    def __init__(self, **files):
        self.files = files

    def has(self, name):
        return name in self.files or name.startswith("blobs/")

    def open(self, name):
        stack = ExitStack()
        return stack.enter_context(io.BytesIO(self.files.get(name, self.files.get("blob", b""))))


@given(st.data())
def test_layouts(data):
    manifest = json.dumps(data.draw(altered([MANIFEST, INDEX]))).encode()
    known = {**DESCRIPTOR, "digest": streams.digest(manifest), "size": len(manifest)}
    index = data.draw(altered([{"schemaVersion": 2, "manifests": [known]}, INDEX]))
    with only(ImageError):
        oci_layout.source(
            Files(**{"index.json": json.dumps(index).encode(), "blob": manifest}),
            data.draw(st.sampled_from(["", "1"])),
            "",
            "x",
        )
    with only(ImageError):
        oci_layout.folder_source(Files(**{"manifest.json": manifest}))


@given(st.data())
def test_archives_of_docker(data):
    manifest = data.draw(altered([DOCKER])).get("images")
    files = {"manifest.json": json.dumps(manifest).encode(), "c.json": json.dumps(data.draw(altered([CONFIG]))).encode()}
    with only(ImageError):
        adding.source(Files(**files), data.draw(st.sampled_from(["", "a:1"])), "").layers(None)
