import json
import os
import shutil
from pathlib import Path

import pytest

from slownet.lab.build import kernel
from slownet.lab.build.kernel import Kernel
from slownet.model.errors import DamagedError, LabError


@pytest.fixture
def files(tmp_path, monkeypatch):
    folder = tmp_path / "linux"
    folder.mkdir()
    monkeypatch.setattr(kernel, "FILES", folder)
    return folder


@pytest.fixture
def write(files):
    """Write a patch of a series."""

    def write(series, name, text=""):
        (files / series).mkdir(exist_ok=True)
        (files / series / name).write_text(text)

    return write


@pytest.fixture
def builds(files, tmp_path, monkeypatch):
    """Run a build with fake steps: Debian has the releases `there`, and the patches do not fit those in `bad`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    state = {"there": [], "bad": [], "log": [], "configs": []}

    def download(pattern, rank, into, log):
        if rank > len(state["there"]):
            raise LabError("Debian's archive has no more")
        deb = into / f"linux-source-{state['there'][rank - 1]}_all.deb"
        deb.touch()
        return deb

    def patch(tree, log):
        state["log"].append(tree.name)
        if tree.name in state["bad"]:
            raise LabError(f"0001 does not fit {tree.name}")

    def keep(built, folder, log):
        (folder / "linux").touch()
        (folder / "modules").write_text("veth rtnl-link-veth\n")
        facts = {"release": built.release, "source": built.source, "kind": built.kind}
        (folder / "kernel.json").write_text(json.dumps(facts))

    monkeypatch.setattr(kernel.debian, "download", download)
    monkeypatch.setattr(kernel, "_unpack", lambda deb, work, log: work / deb.stem.split("_")[0].removeprefix("linux-source-"))
    monkeypatch.setattr(kernel, "_patch", patch)
    monkeypatch.setattr(kernel, "_compile", lambda tree, log, configs: state["configs"].append([each.name for each in configs]))
    monkeypatch.setattr(kernel, "_release", lambda linux: linux.parent.name)
    monkeypatch.setattr(kernel, "_keep", keep)
    monkeypatch.setattr(kernel.cache, "need_programs", lambda programs, what: None)
    monkeypatch.setattr(kernel.cache, "need_space", lambda path, megabytes, what: None)
    return state


def test_the_newest_kernel_that_takes_the_patches_is_built(builds):
    builds.update(there=["7.4", "7.3", "6.12"], bad=["7.4"])
    assert kernel.build().release == "7.3"
    assert builds["log"] == ["7.4", "7.3"]
    assert not [path for path in kernel.build().path.parent.iterdir() if path.name == "work"]


def test_if_no_kernel_takes_the_patches_the_last_reason_is_told_and_nothing_kept(builds, tmp_path):
    builds.update(there=["7.4", "6.12"], bad=["7.4", "6.12"])
    with pytest.raises(LabError, match=r"^0001 does not fit 6\.12$"):
        kernel.build()
    assert kernel.find() is None
    assert [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [f".{kernel.key()}.lock"]


def test_a_kernel_that_is_damaged_is_built_anew(builds):
    builds.update(there=["7.3"])
    first = kernel.build()
    first.path.write_bytes(b"?")
    with pytest.raises(DamagedError, match=r"^the lab's kernel is damaged: linux has 1 bytes, and 0 were written, "):
        kernel.find()
    assert kernel.build() == first == kernel.find()
    assert (first.path.read_bytes(), builds["log"]) == (b"", ["7.3", "7.3"])


def test_a_kernel_that_does_not_boot_is_not_kept(builds):
    builds.update(there=["7.4", "7.3"])

    def trial(built):
        if built.release == "7.4":
            raise LabError("7.4 was built and does not boot: it panicked")

    assert kernel.build(trial).release == "7.3"
    assert builds["log"] == ["7.4", "7.3"]


def test_an_archive_without_kernels_is_one_line(builds):
    with pytest.raises(LabError, match=r"^Debian's archive has no more$"):
        kernel.build()


def test_a_kernel_says_the_date_of_its_source_and_nothing_of_this_machine(tmp_path):
    (tmp_path / "Makefile").touch()
    os.utime(tmp_path / "Makefile", (1_700_000_000, 1_700_000_000))
    assert kernel._stamp(tmp_path) == [
        "KBUILD_BUILD_TIMESTAMP=Tue Nov 14 22:13:20 UTC 2023",
        "KBUILD_BUILD_VERSION=1",
        "KBUILD_BUILD_USER=slownet",
        "KBUILD_BUILD_HOST=lab",
    ]


@pytest.mark.parametrize(
    ("release", "arguments"),
    [("6.12.94", []), ("6.15", []), ("6.16.1", ["seccomp=auto"]), ("7.2.6", ["seccomp=auto"]), ("10.0.1", ["seccomp=auto"])],
)
def test_releases_that_have_seccomp_use_it(release, arguments):
    assert Kernel(Path("linux"), release, "linux-source").arguments == arguments


def test_the_key_follows_patches_and_configuration(files, write):
    write("7", "0001-a.patch", "a")
    (files / "lab.config").write_text("CONFIG_A=y")
    keys = [kernel.key()]
    (files / "lab.config").write_text("CONFIG_A=n")
    keys.append(kernel.key())
    write("7", "0002-b.patch")
    keys.append(kernel.key())
    write("7", "0001-a.patch", "b")
    keys.append(kernel.key())
    assert len(set(keys)) == 4


def test_a_kernel_that_was_built_is_found_with_its_facts(files, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert kernel.find() is None
    folder = tmp_path / "cache" / "slownet" / "kernel" / kernel.key()
    folder.mkdir(parents=True)
    (folder / "linux").touch()
    (folder / "modules").write_text("tcp_bbr\nip_gre rtnl-link-gre netdev-gre0\n")
    (folder / "kernel.json").write_text(json.dumps({"release": "7.2.1", "source": "s", "kind": "base"}))
    found = kernel.find()
    assert found == Kernel(folder / "linux", "7.2.1", "s")
    assert found.description == "7.2.1 (User-Mode Linux, s)"
    assert found.modules == {"tcp_bbr": "tcp_bbr", "ip_gre": "ip_gre", "rtnl-link-gre": "ip_gre", "netdev-gre0": "ip_gre"}


def test_the_wide_kernel_is_built_beside_the_base_one_and_says_so(builds, files):
    builds.update(there=["7.3"])
    (files / "wide.config").touch()
    base, wide = kernel.build(), kernel.build(kind=kernel.WIDE)
    assert builds["configs"] == [[], ["wide.config"]]
    assert (kernel.find(), kernel.find(kernel.WIDE)) == (base, wide)
    assert wide.description == "7.3 (User-Mode Linux, linux-source-7.3, wide)"
    assert [kernel.kind_of(each.description) for each in (base, wide)] == ["base", "wide"]


def test_only_the_wide_kernel_follows_its_own_configuration(files):
    keys = []
    for text in ("CONFIG_A=y", "CONFIG_A=n"):
        (files / "wide.config").write_text(text)
        keys.append([kernel.key(kind) for kind in kernel.KINDS])
    (files / "wide.modules").write_text("only names")
    keys.append([kernel.key(kind) for kind in kernel.KINDS])
    assert len({base for base, _ in keys}) == 1
    assert [wide for _, wide in keys] == [keys[0][1], keys[1][1], keys[1][1]]
    assert keys[0][0] != keys[0][1]


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "time.c").write_text("one\ntwo\nthree\n")
    return tree


def patch(old, new):
    return f"Why.\n\n--- a/time.c\n+++ b/time.c\n@@ -1,3 +1,3 @@\n one\n-{old}\n+{new}\n three\n"


@pytest.mark.skipif(not shutil.which("patch"), reason="the build of a kernel installs patch")
def test_the_series_that_fits_is_applied_whole(write, tree, tmp_path):
    write("7", "0001-x.patch", patch("two", "seven"))
    write("7", "0002-y.patch", patch("TWO", "again"))
    write("6.12", "0001-x.patch", patch("two", "six"))
    write("6.12", "0002-y.patch", patch("six", "dozen") + "--- /dev/null\n+++ b/new/file.c\n@@ -0,0 +1 @@\n+new\n")
    kernel._patch(tree, tmp_path / "log")
    assert (tree / "time.c").read_text() == "one\ndozen\nthree\n"
    assert (tree / "new" / "file.c").read_text() == "new\n"


@pytest.mark.skipif(not shutil.which("patch"), reason="the build of a kernel installs patch")
def test_a_kernel_that_no_series_fits_is_left_as_it_is(write, tree, tmp_path):
    write("7", "0001-x.patch", patch("two", "seven"))
    write("7", "0002-y.patch", patch("TWO", "again"))
    write("6.12", "0001-x.patch", patch("2", "six"))
    with pytest.raises(LabError, match=r"no patch series fits this kernel \(7/0002-y\.patch, 6\.12/0001-x\.patch\), "):
        kernel._patch(tree, tmp_path / "log")
    assert [path.name for path in tree.iterdir()] == ["time.c"]
    assert (tree / "time.c").read_text() == "one\ntwo\nthree\n"
