"""Which modules of Debian's kernel an exact lab loads, in which order, and what is kept of its package."""

import json
import lzma
import struct
from pathlib import Path

import pytest

from slownet.lab.build import kernel_package
from slownet.model.errors import LabError

RELEASE = "6.12.9+deb13-cloud-amd64"


def module(depends: str = "", signature: bytes = b"", alias: str = "") -> bytes:
    """Return what counts of a module: its .modinfo, and what is appended to sign it."""
    named = b"\0alias=" + alias.encode() + b"\0" if alias else b""
    body = b"\x7fELF" + named + b"name=it\0license=GPL\0depends=" + depends.encode() + b"\0retpoline=Y\0"
    if not signature:
        return body
    return body + signature + struct.pack(">BBBBB3xI", 0, 0, 2, 0, 0, len(signature)) + kernel_package.SIGNED


def package(folder: Path, modules: dict[str, bytes], built_in: str = "") -> Path:
    """Make an unpacked package."""
    under = folder / "usr/lib/modules" / RELEASE
    (under / "kernel/net").mkdir(parents=True)
    for name, content in modules.items():
        (under / f"kernel/net/{name}.ko.xz").write_bytes(lzma.compress(content))
    (under / "modules.builtin").write_text(built_in)
    (under / "modules.builtin.modinfo").write_bytes(b"core.alias=lib-core\0core.license=GPL\0" if built_in else b"")
    (folder / "boot").mkdir()
    (folder / "boot" / f"vmlinuz-{RELEASE}").write_bytes(b"kernel")
    return folder


def files(folder: Path, *names: str) -> dict[str, Path]:
    return {name: next(folder.rglob(f"{name.replace('_', '-')}.ko.xz")) for name in names}


def test_modules_come_after_those_that_they_need_each_once(tmp_path):
    tree = package(tmp_path, {"a": module("b,c-d"), "b": module("c-d"), "c-d": module(), "e": module("b")})
    found = kernel_package.in_order(["a", "e"], files(tree, "a", "b", "c_d", "e"))
    assert list(found) == ["c_d", "b", "a", "e"]


def test_a_module_that_is_built_in_is_not_loaded_and_a_missing_one_is_named(tmp_path):
    tree = package(tmp_path, {"a": module("b")})
    assert list(kernel_package.in_order(["a"], files(tree, "a"), ["b"])) == ["a"]
    with pytest.raises(LabError, match="has no module b"):
        kernel_package.in_order(["a"], files(tree, "a"))


def test_signatures_are_left_out(tmp_path):
    tree = package(tmp_path, {"a": module(signature=b"s" * 300), "b": module()})
    found = kernel_package.in_order(["a", "b"], files(tree, "a", "b"))
    assert found["a"] == found["b"] == module()


def test_a_package_is_kept_with_its_modules_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_package, "MODULES", ("a",))
    tree = package(
        tmp_path / "tree",
        {"a": module("b", alias="net-sch-a"), "b": module("core"), "unused": module()},
        "kernel/lib/core.ko\n",
    )
    kept = tmp_path / "kept"
    kept.mkdir()
    kernel_package.unpack(tree, "linux-image_1", kept)
    archive = (kept / "modules.cpio").read_bytes()
    assert b"/modules/000-b.ko\n/modules/001-a.ko\n" in archive
    assert b"unused" not in archive
    assert (kept / "modules").read_text() == "a net-sch-a\nb\ncore lib-core\n"
    assert b"a net-sch-a\nb\ncore lib-core\n" in archive
    assert (kept / "vmlinuz").read_bytes() == b"kernel"
    assert json.loads((kept / "kernel.json").read_text()) == {"format": 1, "release": RELEASE, "package": "linux-image_1"}


def test_every_module_of_the_networks_parts_is_named_once():
    assert len(set(kernel_package.MODULES)) == len(kernel_package.MODULES)
