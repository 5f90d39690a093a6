"""Root in a lab tries to reach more of the host than the lab's shares, and its kernel refuses.

What holds if a program takes that kernel over is tested from outside, in tests/e2e/test_confinement.py.
"""

import ctypes
import errno
import os
import stat
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    "User Mode Linux" not in Path("/proc/cpuinfo").read_text(), reason="0006-hostfs-Add-a-switch.patch is for User-Mode Linux"
)

LIBC = ctypes.CDLL(None, use_errno=True)
RDONLY, REMOUNT, BIND = 1, 32, 4096
FSOPEN, FSCONFIG, OPEN_TREE, MOUNT_SETATTR = 430, 431, 428, 442
SET_STRING, CREATE, RECONFIGURE = 1, 6, 7
NAME_TO_HANDLE_AT, OPEN_BY_HANDLE_AT = 303, 304
SWITCH = Path("/proc/sys/fs/hostfs_mount_disabled")
BLKROSET, BLKFLSBUF = 0x125D, 0x1261
UBD = 98  # the devices' major number


def error_of(result):
    """What a call of libc failed with, 0 if it did not."""
    return ctypes.get_errno() if result < 0 else 0


def mount(what, where, kind, flags, options):
    return error_of(LIBC.mount(what.encode(), str(where).encode(), kind and kind.encode(), flags, options and options.encode()))


def syscall(number, *arguments):
    return LIBC.syscall(number, *[ctypes.c_char_p(each) if isinstance(each, bytes) else each for each in arguments])


def shares():
    """The host's folders here: {where: whether only to read}."""
    lines = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return {Path(where): "ro" in options.split(",") for _, where, kind, options, *_ in lines if kind == "hostfs"}


@pytest.fixture
def share():
    """A folder that is shared to be read, and has folders."""
    read_only = (where for where, only_to_read in shares().items() if only_to_read)
    return next(where for where in read_only if any(each.is_dir() for each in where.iterdir()))


@pytest.fixture
def folder(tmp_path):
    yield tmp_path
    while LIBC.umount2(str(tmp_path).encode(), 0) == 0:
        pass


@pytest.mark.parametrize("flags", [0, RDONLY])
@pytest.mark.parametrize("what", ["/", "/root", "/proc", "/dev/shm", "", "{share}", "{share}/..", "{share}/../../.."])
def test_nothing_more_of_the_host_is_mounted(folder, share, what, flags):
    assert mount("none", folder, "hostfs", flags, what.format(share=share)) == errno.EPERM


def test_nor_by_the_newer_system_calls():
    context = syscall(FSOPEN, b"hostfs", 0)
    assert context >= 0
    assert syscall(FSCONFIG, context, SET_STRING, b"hostfs", b"/", 0) == 0
    assert error_of(syscall(FSCONFIG, context, CREATE, None, None, 0)) == errno.EPERM
    os.close(context)


@pytest.mark.parametrize("text", ["0", "2", "-1"])
def test_the_switch_has_no_way_back(text):
    assert SWITCH.read_text() == "1\n"
    with pytest.raises(OSError, match="Invalid argument"):
        SWITCH.write_text(text)
    assert SWITCH.read_text() == "1\n"


def test_what_is_shared_to_be_read_stays_so(share, folder):
    assert mount("none", share, None, REMOUNT, None) == errno.EPERM
    assert mount("none", share, None, REMOUNT, "hostfs=/") == errno.EPERM
    assert mount("none", share, None, REMOUNT | RDONLY, "hostfs=/etc") == 0
    assert mount(str(share), folder, None, BIND, None) == 0
    assert mount("none", folder, None, REMOUNT, None) == errno.EPERM
    for flags in (REMOUNT | BIND, REMOUNT | BIND | RDONLY, REMOUNT | BIND):  # which are the mount's, not the folder's
        assert mount("none", folder, None, flags, None) == 0
    for each in (share, folder):
        assert os.listdir(each) == os.listdir(share)
        with pytest.raises(OSError, match="Read-only file system"):
            (each / "new").write_text("")
        with pytest.raises(OSError, match="Read-only file system"):
            os.chmod(each, 0o777)


def test_a_part_of_a_share_leads_to_nothing_outside_of_it(share, folder):
    part = next(each for each in share.iterdir() if each.is_dir())
    assert mount(str(part), folder, None, BIND, None) == 0
    assert os.path.samefile(folder / "..", folder.parent)
    assert os.path.samefile(share / "..", share.parent)
    assert share.parent not in shares()


def test_files_of_the_host_have_no_handles(share):
    handle = ctypes.create_string_buffer((128).to_bytes(4, "little") + bytes(132))
    place = ctypes.c_int()
    failed = LIBC.syscall(NAME_TO_HANDLE_AT, -100, str(share).encode(), handle, ctypes.byref(place), 0)
    assert error_of(failed) == errno.EOPNOTSUPP
    there = os.open(share, os.O_RDONLY)
    handle.raw = (8).to_bytes(4, "little") + (1).to_bytes(4, "little") + (2).to_bytes(8, "little") + bytes(120)
    assert error_of(LIBC.syscall(OPEN_BY_HANDLE_AT, there, handle, os.O_RDONLY)) in (errno.EOPNOTSUPP, errno.ESTALE)
    os.close(there)


def overwrite(disk):
    with open(disk, "r+b", buffering=0) as file:
        file.write(bytes(4096))
        os.fsync(file.fileno())


@pytest.mark.parametrize("disk", sorted(Path("/dev").glob("ubd[ab]")))
def test_the_image_and_the_layer_cannot_be_written(disk):
    with disk.open("rb", buffering=0) as file:
        before = file.read(4096)
        LIBC.ioctl(file.fileno(), BLKROSET, (0).to_bytes(4, "little"))
        with pytest.raises(OSError, match=r"Read-only|not permitted|Permission denied|Input/output"):
            overwrite(disk)
        LIBC.ioctl(file.fileno(), BLKFLSBUF, 0)
        assert os.pread(file.fileno(), 4096, 0) == before


@pytest.mark.parametrize("number", [2, 15])
def test_there_are_no_further_disks(tmp_path, number):
    os.mknod(tmp_path / "disk", stat.S_IFBLK | 0o600, os.makedev(UBD, 16 * number))
    with pytest.raises(OSError, match="No such device"):
        (tmp_path / "disk").open("rb")


@pytest.mark.parametrize("name", ["/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore", "/proc/mconsole", "/proc/modules"])
def test_nothing_gives_away_the_kernel_itself(name):
    assert not os.path.exists(name)
