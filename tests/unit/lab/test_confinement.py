import errno
import os
from pathlib import Path

import pytest

from slownet.lab import boot, confinement


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


def test_a_lab_gets_its_own_files_and_its_shares():
    lab = boot.Lab(
        Path("/k/linux"), Path("/t/init.cpio"), Path("/t/confine"), Path("/i/image"), layer=Path("/l/layer"),
        shares=[boot.Share(Path("/code")), boot.Share(Path("/runs"), writable=True), boot.Share(Path("/a b"), at="/c")],
    )  # fmt: skip
    assert boot._confined(lab) == [
        "/t/confine", "run=/k/linux", "read=/proc/cpuinfo", "read=/i/image", "read=/t/init.cpio", "read=/l/layer", "read=/code",
        "read=/a b", "write=/runs", "device=/dev/null", "--", "/k/linux",
    ]  # fmt: skip
