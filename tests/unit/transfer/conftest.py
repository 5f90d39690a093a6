"""A lab of a few bytes, in a cache of the test's own."""

import hashlib
import json

import pytest

from slownet.containers import store
from slownet.lab import image, init, kernel, layer, project, wordpress_site

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
    facts = {"release": "7.3.4", "source": "linux-source-7.3_7.3.4-1"}
    fill(home / "kernel" / kernel.key(), {"linux": "kernel", "kernel.json": json.dumps(facts)})
    (home / "kernel" / kernel.key() / "linux").chmod(0o700)
    fill(home / "init" / init.key(), {"init.cpio": "init", "confine": "", "probe": "", "init.log": "a warning"})
    facts = {"built": 100, "packages": {"bash": "5.2"}}
    fill(home / "image" / image.key(), {"image.squashfs": "image" * 1000, "image.json": json.dumps(facts)})
    return home


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
        {"layer.squashfs": "layer", "layer.json": json.dumps(facts)},
    )
    return its


@pytest.fixture
def kept(built):
    """A kept container image."""
    digest = "sha256:" + hashlib.sha256(CONFIG).hexdigest()
    return store.add(
        digest, CONFIG, lambda half: (half / store.SQUASHFS).write_text("root"), names=["localhost/shop:1"], source="shop.tar",
        seen={"fingerprint of a file here": []},
    )  # fmt: skip


def fill(folder, files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
