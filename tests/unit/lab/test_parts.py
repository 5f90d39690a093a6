"""The parts of a lab together: which are built anew, and when their files are read."""

import json
import os
import shutil
from dataclasses import replace

import pytest

from slownet.lab.build import image, init, kernel, kernel_package, layer, parts
from slownet.lab.build.kernel_package import Kernel
from slownet.lab.build.layer import Layer
from slownet.lab.exact import emulator
from slownet.lab.run import boot
from slownet.lab.run.clock import Clock
from slownet.model.errors import DamagedError, LabError


@pytest.fixture
def built(monkeypatch, tmp_path):
    """Parts of a few bytes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    home = tmp_path / "slownet"
    fill(home / "kernel" / kernel.key(), "linux", "kernel.json", {"release": "7.3.4", "source": "s"})
    fill(home / "image" / image.key(), "image.squashfs", "image.json", {"built": 1, "packages": {}})
    fill(home / "init" / init.key(), "init.cpio", "confine", {})
    for each in ("probe", "absent.so"):
        (home / "init" / init.key() / each).touch()
    return parts.need()


def fill(folder, main, other, facts):
    folder.mkdir(parents=True)
    (folder / main).write_text("12345")
    (folder / other).write_text(json.dumps(facts))


def damage(path):
    """Change bits of a file that today's check has seen."""
    status = path.stat()
    path.write_text("1234x")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.fixture
def damaged(built):
    damage(built.image.path)
    assert parts.need() == built  # its size and time are what they were
    return built


def ends(monkeypatch, outcome):
    """Let labs end with a status or an error, as if they had run."""

    def attended(lab, job):
        lab._run = object()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(boot.UmlLab, "_attended", attended)


@pytest.mark.parametrize("outcome", [139, 135, 132, -11, LabError("the lab's kernel panicked")])
def test_damage_is_named_instead_of_what_it_caused(damaged, monkeypatch, outcome):
    ends(monkeypatch, outcome)
    with pytest.raises(DamagedError, match=r"^the lab's image is damaged: image.squashfs has changed since it was written"):
        damaged.lab(Clock("real")).run(["true"])


@pytest.mark.parametrize("status", [0, 1, 2, 137, -9])
def test_after_other_ends_nothing_is_read(damaged, monkeypatch, status):
    ends(monkeypatch, status)
    assert damaged.lab(Clock("real")).run(["true"]) == status


def test_without_damage_an_end_is_what_it_was(built, monkeypatch):
    ends(monkeypatch, 139)
    assert built.lab(Clock("real")).run(["true"]) == 139
    ends(monkeypatch, LabError("the lab ran out of its 9 MB of memory"))
    with pytest.raises(LabError, match=r"^the lab ran out"):
        built.lab(Clock("real")).run(["true"])


def test_a_lab_that_never_began_has_another_reason(damaged, monkeypatch):
    def start(lab, job):
        raise LabError("no folder has room")

    monkeypatch.setattr(boot.UmlLab, "_start", start)
    with pytest.raises(LabError, match=r"^no folder has room"):
        damaged.lab(Clock("real")).run(["true"])


def test_the_layer_is_among_them(built, monkeypatch, tmp_path):
    folder = tmp_path / "slownet" / "layer" / "l1"
    fill(folder, "layer.squashfs", "layer.json", {"built": 1, "asked": [], "versions": {}})
    layer.SHELF.load(folder)
    damage(folder / "layer.squashfs")
    with_layer = replace(built, layer=Layer(folder / "layer.squashfs", "l1", []))
    ends(monkeypatch, 139)
    with pytest.raises(DamagedError, match=r"^the layer of a project's packages is damaged: layer.squashfs "):
        with_layer.lab(Clock("real")).run(["true"])


@pytest.mark.parametrize("part", ["kernel", "image", "init"])
def test_only_what_is_damaged_is_built_anew_and_it_is_said(built, monkeypatch, part):
    path = {"kernel": built.kernel.path, "image": built.image.path, "init": built.tools / "init.cpio"}[part]
    path.write_text("1")
    with pytest.raises(DamagedError):
        parts.find()
    made, said = [], []

    def make(module):
        def build(*how, **more):
            made.append(module.SHELF.kind)
            if module.SHELF.kind == part:
                path.write_text("12345")
                os.utime(path)

        return build

    for each in (kernel, image, init):
        monkeypatch.setattr(each, "build", make(each))
    assert parts.build(lambda what, done: said.append((what, done))) == built
    assert set(made) == {part, "init"}  # which takes no time
    line = f"the lab's {part} is damaged: {path.name} has 1 bytes, and 5 were written, {path}: building it anew"
    assert said[0] == (line, False)
    assert (part, True) in said


@pytest.fixture
def emulated(built, monkeypatch, tmp_path):
    """The parts of a machine without the project's kernel, whose image is half done: {what was asked for}."""
    shutil.rmtree(built.kernel.path.parent)
    built.image.path.write_text("1")
    asked = {}

    def halves(boot, say):
        root = tmp_path / "base.squashfs"
        root.write_bytes(b"base")
        asked["lab"] = boot(root, 990, [])
        built.image.path.write_text("12345")
        os.utime(built.image.path)

    monkeypatch.setattr(kernel, "build", lambda trial, **how: pytest.fail("a kernel is compiled"))
    monkeypatch.setattr(kernel_package, "build", lambda: Kernel(tmp_path / "vmlinuz", tmp_path / "modules.cpio", "6.12", "deb"))
    monkeypatch.setattr(image, "build", halves)
    return asked


def test_for_labs_on_the_exact_clock_no_kernel_is_compiled(emulated):
    made = parts.build(only_exact=True)
    assert (made.own_kernel, made.image.path.read_text()) == (None, "12345")
    assert parts.find_usable() == made
    assert not parts.find()


def test_half_an_image_is_then_the_disk_of_an_exact_lab(emulated):
    parts.build(only_exact=True)
    lab = emulated["lab"]
    assert (lab.clock.kind, lab.kernel.release, lab.megabytes) == ("exact", "6.12", 990)
    assert lab.image.read_bytes() == b"base" + bytes(emulator.ALIGNED - 4)


def test_a_kernel_that_is_not_built_is_named_with_the_command_that_builds_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    base = kernel.Kernel(tmp_path / "linux", "7.3.4", "linux-source")
    own = parts.Parts(base, None, tmp_path)
    assert own.with_kernel("base").kernel is base
    with pytest.raises(LabError) as error:
        own.with_kernel("wide")
    assert str(error.value) == (
        "the wide kernel is not built on this machine, or not for this version, --kernel wide: slownet lab build --kernel wide"
    )
    (folder := tmp_path / "slownet" / "kernel" / kernel.key("wide")).mkdir(parents=True)
    (folder / "kernel.json").write_text("cut")
    with pytest.raises(LabError, match=r"the lab's kernel is damaged: .*: slownet lab build --kernel wide$"):
        own.with_kernel("wide")
