"""What `slownet doctor` finds, on machines that lack one thing each."""

import errno

import pytest

from slownet.lab.exact import standstill
from slownet.lab.host import examination
from slownet.model.errors import LabError


class Root:
    """A root folder with a few files."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(examination.native, "succeeds", lambda argv: False)
    return Root(tmp_path)


def test_another_processor(monkeypatch):
    monkeypatch.setattr(examination.platform, "machine", lambda: "aarch64")
    found = examination.system()
    assert (found.good, found.needed) == (False, True)
    assert "aarch64" in found.text
    assert "x86-64" in found.repair


def test_a_lab_that_does_not_fit_into_memory():
    assert examination.memory(1).good
    found = examination.memory(2**40)
    assert not found.good
    assert "no folder has room" in found.text
    assert "--memory" in found.repair


def test_a_cache_without_room_matters_until_the_lab_is_built(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(examination.kernel, "MEGABYTES", 2**40)
    assert not examination.disk(built=False).good
    assert examination.disk(built=True).good


def test_a_cache_that_this_user_cannot_write(monkeypatch, tmp_path):
    monkeypatch.setattr(examination.os, "access", lambda folder, mode: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert examination.disk(built=False).text == f"{tmp_path}/slownet cannot be made"
    (tmp_path / "slownet").mkdir()
    assert examination.disk(built=False).text == f"{tmp_path}/slownet cannot be written"
    assert not examination.disk(built=False).good
    assert "XDG_CACHE_HOME" in examination.disk(built=False).repair
    assert examination.disk(built=True).good


def test_programs_that_build_a_lab(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(examination.shutil, "which", lambda name, path: None if name in ("gcc", "bison") else "/usr/bin/x")
    monkeypatch.setattr(examination.os, "geteuid", lambda: 0)
    (found,) = examination.to_build()
    assert found.text == "these programs are missing: gcc, bison"
    assert found.repair == "sudo apt-get install bison gcc"


def test_what_a_wheel_brought_takes_no_programs(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(examination.cache, "BUNDLE", tmp_path / "bundle")
    assert {"gcc", "make", "flex", "mmdebstrap", "tar2sqfs"} <= examination.builders().keys()
    init = tmp_path / "bundle" / "init" / examination.init.key()
    init.mkdir(parents=True)
    for each in examination.init.PART.needs:
        (init / each).touch()
    kernel = tmp_path / "bundle" / "kernel" / examination.kernel.key()
    kernel.mkdir(parents=True)
    (kernel / "linux").touch()
    (kernel / "kernel.json").write_text('{"release": "7.3", "source": "linux-source"}')
    assert {"mmdebstrap", "tar2sqfs"} <= examination.builders().keys()
    assert not {"gcc", "make", "flex"} & examination.builders().keys()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (value, _) in examination.SWITCHES.items()])
def test_each_switch_that_denies_user_namespaces(root, name, value):
    root.write(f"proc/sys/{name}", value + "\n")
    found = examination.namespaces(root.folder, "ann")
    assert name in found.text
    assert found.repair == f"sudo sysctl {examination.SWITCHES[name][1]}"


def test_a_user_without_subordinate_ids(root):
    root.write("etc/subuid", "joann:100000:65536\n")
    found = examination.namespaces(root.folder, "ann")
    assert "no range for ann" in found.text
    assert found.repair.endswith(" ann")


def test_newuidmap_is_a_package(root, monkeypatch):
    root.write("etc/subuid", "ann:100000:65536\n")
    monkeypatch.setattr(examination.shutil, "which", lambda name, path: None)
    assert examination.namespaces(root.folder, "ann").repair == "sudo apt-get install uidmap"


def test_a_container_that_denies_them_all_the_same(root, monkeypatch):
    root.write("etc/subuid", "ann:100000:65536\n")
    monkeypatch.setattr(examination.shutil, "which", lambda name, path: "/usr/bin/newuidmap")
    found = examination.namespaces(root.folder, "ann")
    assert (found.good, found.repair) == (False, "sudo slownet lab build")


class Parts:
    """A built lab that boots, or does not."""

    class kernel:  # noqa: N801
        description = "7.3"

    def __init__(self, status=0, error=None):
        self.status, self.error = status, error

    def lab(self, clock):
        return self

    def run(self, argv):
        if self.error:
            raise self.error
        return self.status


@pytest.mark.parametrize(
    ("parts", "good", "repair"),
    [
        (None, False, "slownet lab build"),
        (Parts(), True, ""),
        (Parts(status=1), False, "slownet lab build"),
        (Parts(error=LabError("it died", fix="more memory")), False, "more memory"),
    ],
)
def test_a_lab_is_good_if_it_boots(parts, good, repair):
    found = examination.lab(parts)
    assert (found.good, found.repair, found.needed) == (good, repair, True)


@pytest.mark.parametrize(
    ("lacking", "repair"),
    [
        ([], ""),
        (["root"], "sudo slownet doctor"),
        (["the program tc", "the program mn"], "apt-get install iproute2 mininet"),
        (["netem"], "boot a kernel with sch_netem, sch_htb and openvswitch"),
        (["the program mn", "netem"], "apt-get install mininet; boot a kernel with sch_netem, sch_htb and openvswitch"),
    ],
)
def test_what_native_mode_lacks(lacking, repair):
    found = examination.without_a_lab(lacking)
    assert (found.good, found.repair, found.needed) == (not lacking, repair, False)


def test_a_counter_is_optional(monkeypatch):
    monkeypatch.setattr(examination.counter, "scope", lambda: None)
    assert not examination.counted().good
    monkeypatch.setattr(examination.counter, "scope", lambda: "processor")
    assert examination.counted().good
    assert not examination.counted().needed


@pytest.mark.parametrize(
    ("version", "good", "text", "repair"),
    [
        (7, True, "Landlock ABI 7", ""),
        (-errno.ENOSYS, False, "this machine's kernel has no Landlock (Linux 5.13 and newer have it)", ""),
        (-errno.EOPNOTSUPP, False, "Landlock is off", "boot with landlock in lsm="),
    ],
)
def test_a_lab_is_confined_or_not(version, good, text, repair):
    found = examination.confined(version)
    assert (found.good, found.text, found.repair, found.needed) == (good, text, repair, False)


def test_labs_on_the_exact_clock(monkeypatch, tmp_path):
    def there(version, *programs):
        monkeypatch.setattr(examination.emulator, "version", lambda: version)
        monkeypatch.setattr(examination.shutil, "which", lambda name, **how: name if name in programs else None)
        return examination.emulated()

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = there("7.2.22", "tar2sqfs")
    assert (found.good, found.needed) == (True, False)
    assert found.text == "QEMU 7.2.22: labs on the exact clock; the first one fetches Debian's kernel (35 MB)"
    (tmp_path / "slownet" / standstill.KIND / "key").mkdir(parents=True)
    (tmp_path / "slownet" / standstill.KIND / "key" / "memory").write_bytes(b"x" * 2_000_000)
    assert there("7.2.22", "tar2sqfs").text.endswith("; 2 MB of snapshots, with which they begin")
    assert "a version that was not tried" in there("9.1.0", "tar2sqfs").text
    assert there("7.2.22").repair == "apt-get install squashfs-tools-ng"
    monkeypatch.setattr(examination.emulator, "program", lambda: "/usr/bin/qemu")
    old = there("6.2.0", "tar2sqfs")
    assert (old.good, old.repair) == (False, "apt-get install qemu-system-x86")
    assert old.text == "QEMU 6.2.0 has no machine pc-i440fx-7.2; 7.2 is the first that has"


def test_without_an_emulator_there_are_none(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = examination.emulated()
    assert not found.good
    assert "needs QEMU" in found.text
    assert found.repair == "apt-get install qemu-system-x86"


def test_without_its_own_kernel_a_lab_is_one_on_the_exact_clock():
    found = examination.lab(None, has_exact=True)
    assert (found.good, found.repair, found.needed) == (False, "slownet lab build", False)
    assert "labs on the exact clock do without" in found.text
