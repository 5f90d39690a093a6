"""A lab of a few bytes, in a cache of the test's own."""

import hashlib
import json
import platform
import struct

import pytest

from slownet.containers import store
from slownet.lab.build import image, init, kernel, layer, project, wordpress_site

MACHINE = {"x86_64": 62, "aarch64": 183}[platform.machine()]


def elf(text="", kind=2, machine=MACHINE, entry=0x400000, size=None):
    """Return an ELF file of one segment, with a text at its end."""
    length = 120 + len(text) if size is None else size
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", kind, machine, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, length, length, 4096) + text.encode()


def squashfs(text="", used=None, folders=None, version=4):
    """Return a file with a squashfs' superblock and one block of metadata, padded as Linux pads it."""
    body = text.encode()
    inodes = 96 + len(body)
    ids = inodes + 2 + 10 + 12
    tables = struct.pack(
        "<8Q", 0, ids + 8 if used is None else used, ids, 2**64 - 1, inodes, inodes + 12 if folders is None else folders,
        2**64 - 1, 2**64 - 1,
    )  # fmt: skip
    head = struct.pack("<5I6H", 0x73717368, 1, 0, 131072, 0, 6, 17, 0, 1, version, 0) + tables
    whole = head + body + struct.pack("<H", 10) + bytes(10) + struct.pack("<H", 10) + bytes(10) + bytes(8)
    return whole.ljust(4096, b"\0")


KERNEL, IMAGE, LAYER, ROOT = elf("Linux version 7.3.4 (gcc)"), squashfs("image"), squashfs("layer"), squashfs("root")
CONFIG = b'{"os": "linux", "architecture": "amd64"}'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where the lab is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache" / "slownet"


@pytest.fixture
def built(home):
    """A lab: kernel, init and image."""
    small_lab(home)
    return home


def small_lab(home, squashed=IMAGE):
    """Put the parts of a lab into a cache, which are what their names say, but do nothing."""
    facts = {"release": "7.3.4", "source": "linux-source-7.3_7.3.4-1"}
    fill(home / "kernel" / kernel.key(), {"linux": KERNEL, "kernel.json": json.dumps(facts)})
    (home / "kernel" / kernel.key() / "linux").chmod(0o700)
    fill(
        home / "init" / init.key(),
        {
            "init.cpio": init.initial_root(elf("init")),
            "confine": elf("confine"),
            "probe": elf("probe"),
            "absent.so": elf(kind=3),
            "init.log": "a warning",
        },
    )
    facts = {"built": 100, "packages": {"bash": "5.2"}}
    fill(home / "image" / image.key(), {"image.squashfs": squashed, "image.json": json.dumps(facts)})


@pytest.fixture
def with_site(built):
    """The lab, with the site of its image beside it."""
    folder = built / "image" / image.key()
    packages = {"bash": "5.2", "mariadb-server": "1:11.8.9", "php8.4-fpm": "8.4.28", "wordpress": "6.8.12"}
    facts = {"built": 100, "packages": packages, "site": {"key": "0123456789abcdef", "carried": False}}
    (folder / "image.json").write_text(json.dumps(facts))
    (folder / "site.tar").write_bytes(bytes(range(256)) * 100)
    wordpress_site.pack(folder / "site.tar", folder / wordpress_site.NAME, wordpress_site.QUICK)
    (folder / "site.tar").unlink()
    return folder


@pytest.fixture
def shop(built, tmp_path):
    """A project with a layer."""
    file = tmp_path / "slownet.toml"
    file.write_text('packages = ["jq"]\n')
    its = project.at(file)
    facts = {"built": 0, "project": str(file), "asked": ["jq"], "versions": {}}
    fill(
        built / "layer" / layer.key(its, image.key()),
        {"layer.squashfs": LAYER, "layer.json": json.dumps(facts)},
    )
    return its


@pytest.fixture
def kept(built):
    """A kept container image."""
    digest = "sha256:" + hashlib.sha256(CONFIG).hexdigest()
    return store.add(
        digest, CONFIG, lambda half: (half / store.SQUASHFS).write_bytes(ROOT), names=["localhost/shop:1"], source="shop.tar",
        seen={"fingerprint of a file here": []},
    )  # fmt: skip


def fill(folder, files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
