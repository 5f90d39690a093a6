"""Images made by code: layers, layouts and archives."""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from slownet.lab.host import native

INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """The folder of the kept images, in a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(native.INSIDE, raising=False)
    return tmp_path / "cache" / "slownet" / "containers"


class Made:
    """Makes parts of images."""

    @staticmethod
    def member(name, data=None, **fields):
        """A member of a tar: a file with `data`, or what `type=` says; `xattrs=` are its extended attributes."""
        made = tarfile.TarInfo(name)
        xattrs = fields.pop("xattrs", {})
        made.pax_headers = {f"SCHILY.xattr.{key}": value for key, value in xattrs.items()}
        made.mode = 0o755 if fields.get("type") == tarfile.DIRTYPE else 0o644
        for key, value in fields.items():
            setattr(made, key, value)
        content = (data or "").encode()
        made.size = len(content)
        return made, content

    @staticmethod
    def folder(name, **fields):
        return Made.member(name, type=tarfile.DIRTYPE, **fields)

    @staticmethod
    def link(name, target, **fields):
        return Made.member(name, type=tarfile.SYMTYPE, linkname=target, **fields)

    @staticmethod
    def hard_link(name, target):
        return Made.member(name, type=tarfile.LNKTYPE, linkname=target)

    @staticmethod
    def tar(*members):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for made, content in members:
                tar.addfile(made, io.BytesIO(content))
        return out.getvalue()

    @staticmethod
    def digest(data):
        return "sha256:" + hashlib.sha256(data).hexdigest()

    @staticmethod
    def config(layers, **fields):
        diff_ids = [Made.digest(each) for each in layers]
        inner = fields.pop("config", {"Entrypoint": ["/shop"]})
        whole = {"architecture": "amd64", "os": "linux", "config": inner, "rootfs": {"type": "layers", "diff_ids": diff_ids}}
        return json.dumps({**whole, **fields}).encode()


class Layout:
    """Writes an OCI layout."""

    def __init__(self, folder):
        self.folder = folder
        self.index = []
        (folder / "blobs/sha256").mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        self._write()

    def _write(self):
        (self.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": self.index}))

    def blob(self, data, kind, **more):
        digest = Made.digest(data)
        self.path(digest).write_bytes(data)
        return {"mediaType": kind, "digest": digest, "size": len(data), **more}

    def path(self, digest):
        return self.folder / "blobs/sha256" / digest.partition(":")[2]

    def manifest(self, layers, compress=gzip.compress, platform=None, **config):
        """Write an image; return its descriptor."""
        of = {"schemaVersion": 2, "mediaType": MANIFEST_TYPE}
        of["config"] = self.blob(Made.config(layers, **config), CONFIG_TYPE)
        of["layers"] = [self.blob(compress(each) if compress else each, f"{LAYER_TYPE}+gzip") for each in layers]
        return self.blob(json.dumps(of).encode(), MANIFEST_TYPE, **({"platform": platform} if platform else {}))

    def nested(self, *descriptors):
        return self.blob(json.dumps({"schemaVersion": 2, "manifests": descriptors}).encode(), INDEX_TYPE)

    def add(self, descriptor, tag=None):
        named = {"annotations": {"org.opencontainers.image.ref.name": tag}} if tag else {}
        self.index.append({**descriptor, **named})
        self._write()
        return self

    def image(self, *layers, tag="1", **more):
        return self.add(self.manifest(layers, **more), tag)

    def archive(self, path, mode="w"):
        """Write it as an oci-archive."""
        with tarfile.open(path, mode) as tar:
            for each in sorted(self.folder.iterdir()):
                tar.add(each, each.name)
        return path


def docker_archive(path, *images, mode="w", **manifest):
    """Write what `docker save` writes: images are (names, layers, config fields)."""
    entries, files = [], {}
    for names, layers, fields in images:
        config = Made.config(layers, **fields)
        files[f"{Made.digest(config)[7:]}.json"] = config
        paths = []
        for each in layers:
            paths.append(f"{Made.digest(each)[7:]}/layer.tar")
            files[paths[-1]] = each
        entries.append({"Config": f"{Made.digest(config)[7:]}.json", "RepoTags": names, "Layers": paths, **manifest})
    files["manifest.json"] = json.dumps(entries).encode()
    with tarfile.open(path, mode) as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


@pytest.fixture
def made():
    return Made


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path / "layout")


@pytest.fixture
def save(tmp_path):
    return lambda *images, name="shop.tar", **more: docker_archive(tmp_path / name, *images, **more)


class Inside:
    """What a squashfs holds, according to squashfs-tools-ng."""

    def __init__(self, squashfs):
        self.squashfs = squashfs

    def _run(self, *words):
        return subprocess.run(["rdsquashfs", *words, self.squashfs], capture_output=True, check=True).stdout

    def listing(self):
        """Return {path: (kind, mode, uid, gid)}, with a symbolic link's target at the end."""
        lines = [line.split() for line in self._run("-d").decode().splitlines()]
        return {name: (kind, int(mode, 8), int(uid), int(gid), *more) for kind, name, mode, uid, gid, *more in lines}

    def text(self, path):
        return self._run("-c", path).decode()

    def xattrs(self, path):
        return dict(line.split("=", 1) for line in self._run("-x", path).decode().splitlines())

    def inode(self, path):
        return next(line for line in self._run("-s", path).decode().splitlines() if line.startswith("Inode number"))


@pytest.fixture
def inside():
    return lambda kept: Inside(Path(kept.squashfs))
