import errno
import os
from pathlib import Path

import pytest

from slownet.lab.build.kernel import Kernel
from slownet.lab.run import boot, confinement
from slownet.lab.run.lab import Share
from slownet.lab.run.place import choose
from slownet.model.errors import LabError


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (7, "yes: Landlock ABI 7"),
        (6, "yes: Landlock ABI 6"),
        (4, "yes: Landlock ABI 4, which does not confine devices, signals"),
        (1, "yes: Landlock ABI 1, which does not confine truncation, TCP, devices, signals"),
        (-errno.ENOSYS, "no: this machine's kernel has no Landlock (Linux 5.13 and newer have it)"),
        (-errno.EOPNOTSUPP, "no: Landlock is off: boot with landlock in lsm="),
        (-errno.EPERM, "no: Landlock is denied here (Operation not permitted)"),
    ],
)
def test_a_person_learns_whether_labs_are_confined(version, text):
    assert confinement.describe(version) == text


def test_the_version_is_the_kernels():
    version = confinement.landlock()
    assert version > 0 or -version in errno.errorcode
    if os.path.exists("/sys/kernel/security/lsm"):
        assert (version > 0) == ("landlock" in Path("/sys/kernel/security/lsm").read_text().split(","))


def test_what_requires_confinement_is_refused_without_it(monkeypatch):
    monkeypatch.setattr(confinement, "landlock", lambda: 1)
    confinement.need("--place confined")
    monkeypatch.setattr(confinement, "landlock", lambda: -errno.EPERM)
    with pytest.raises(LabError, match=r"^labs are not confined: Landlock is denied here \(.*\), /x: use a machine that"):
        confinement.need("/x")


@pytest.mark.parametrize(
    ("place", "project", "line"),
    [
        ("confined", "", "labs are not confined: Landlock is denied here (Operation not permitted), --place confined: use a"),
        (
            "auto",
            "require_confinement = true",
            "labs are not confined: Landlock is denied here (Operation not permitted), {}: ",
        ),
        (
            "native",
            "require_confinement = true",
            "without a lab, nothing is confined, {}: leave out --place, or what requires confinement",
        ),
    ],
)
def test_nothing_runs_unconfined_if_that_is_required(tmp_path, monkeypatch, place, project, line):
    """Not natively either, where this machine could."""
    monkeypatch.setattr(confinement, "landlock", lambda: -errno.EPERM)
    monkeypatch.setattr("slownet.lab.host.native.lacks", list)
    file = tmp_path / "slownet.toml"
    file.write_text(project)
    with pytest.raises(LabError) as error:
        choose(place, folder=tmp_path)
    assert str(error.value).startswith(line.format(file))


def test_what_does_not_hold_is_said_once(monkeypatch, capsys):
    monkeypatch.setattr(confinement, "landlock", lambda: -errno.EPERM)
    monkeypatch.setenv(confinement.WARNED, "")
    confinement.warn()
    confinement.warn()
    said = capsys.readouterr().err
    assert said.startswith("slownet: labs are not confined: Landlock is denied here (Operation not permitted); a program that")
    assert said.count("\n") == 1
    monkeypatch.setenv(confinement.WARNED, "")
    monkeypatch.setattr(confinement, "landlock", lambda: 1)
    confinement.warn()
    assert capsys.readouterr().err == ""


def test_a_lab_gets_its_own_files_and_its_shares():
    lab = boot.UmlLab(
        kernel=Kernel(Path("/k/linux"), "7.3.4", "s"), init=Path("/t/init.cpio"), confine=Path("/t/confine"),
        image=Path("/i/image"), layer=Path("/l/layer"),
        shares=[Share(Path("/code")), Share(Path("/runs"), writable=True), Share(Path("/a b"), at="/c")],
    )  # fmt: skip
    assert boot._confined(lab) == [
        "/t/confine", "run=/k/linux", "read=/proc/cpuinfo", "read=/i/image", "read=/t/init.cpio", "read=/l/layer", "read=/code",
        "read=/a b", "write=/runs", "device=/dev/null", "--", "/k/linux",
    ]  # fmt: skip
