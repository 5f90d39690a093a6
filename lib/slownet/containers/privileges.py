"""Whom a container runs as, looked up in the image's own files, and with which capabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slownet.model.errors import ImageError
from slownet.model.units import whole_number

# Left out of Docker's defaults: CAP_MKNOD, because no device cgroup would stop a node that root makes from being opened (the
# lab's disks); AppArmor and SELinux, which the lab's kernel does not have; the cgroup namespace and /sys/fs/cgroup. Docker's
# seccomp profile is a list of 350 allowed system calls. Here those calls are refused that a container could use to get out of
# its namespaces or at the kernel's own state; the capabilities guard the others.

# moby/profiles and oci/caps/defaults.go
CAPABILITIES = [
    "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID", "CAP_SETFCAP",
    "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE",
]  # fmt: skip
ADDED = [
    "CAP_NET_ADMIN", "CAP_NET_BROADCAST", "CAP_SYS_PTRACE", "CAP_SYS_NICE", "CAP_SYS_RESOURCE", "CAP_SYS_PACCT",
    "CAP_SYS_TTY_CONFIG", "CAP_IPC_LOCK", "CAP_IPC_OWNER", "CAP_LEASE", "CAP_LINUX_IMMUTABLE", "CAP_DAC_READ_SEARCH",
    "CAP_MAC_ADMIN", "CAP_MAC_OVERRIDE", "CAP_AUDIT_CONTROL", "CAP_AUDIT_READ", "CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND",
]  # fmt: skip
"""Capabilities that a container can be given: they guard its processes, files and network."""
WITHHELD = [
    "CAP_SYS_ADMIN", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_TIME", "CAP_SYS_BOOT", "CAP_SYSLOG", "CAP_MKNOD", "CAP_BPF",
    "CAP_PERFMON", "CAP_CHECKPOINT_RESTORE",
]  # fmt: skip
"""Those that none gets: they guard the kernel with its clock and devices, whose system calls are refused below."""

# moby/oci/defaults.go; then the files of a lab's kernel: its clock, and the exit status of the lab
MASKED = [
    "/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
    "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
    "/proc/skip_idle", "/proc/exitcode",
]  # fmt: skip
READONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]

SYSCTLS = {"net.ipv4.ip_unprivileged_port_start": "0", "net.ipv4.ping_group_range": "0 2147483647"}
"""Of a host that a container runs on, as Docker sets them: any user may listen on port 80, and send pings."""

_NEW_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
"""Flags of clone for new mount, cgroup, UTS, IPC, user, PID and network namespaces (linux/sched.h)."""
_EPERM, _ENOSYS = 1, 38
_REFUSED = [
    # namespaces and mounts
    "mount", "umount2", "pivot_root", "setns", "unshare", "fsopen", "fsconfig", "fsmount", "fspick", "move_mount", "open_tree",
    "mount_setattr", "open_by_handle_at",
    # the kernel: its code, keys, clock and memory
    "acct", "add_key", "bpf", "clock_adjtime", "clock_settime", "delete_module", "finit_module", "init_module",
    "io_uring_setup", "ioperm", "iopl", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "perf_event_open",
    "quotactl", "reboot", "request_key", "settimeofday", "swapoff", "swapon", "syslog", "userfaultfd", "vhangup",
]  # fmt: skip


def seccomp() -> dict[str, object]:
    """Return the filter of system calls. clone3 is left out, so that libc takes clone, whose flags a filter can read."""
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
        "syscalls": [
            _refuse(_REFUSED, _EPERM),
            _refuse(["clone3"], _ENOSYS),
            *(_refuse(["clone"], _EPERM, flag) for flag in _NEW_NAMESPACES),
        ],
    }


def _refuse(names: list[str], error: int, flag: int = 0) -> dict[str, object]:
    refused = {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": error}
    flags = {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}
    return {**refused, "args": [flags]} if flag else refused


PASSWD, GROUP = "/etc/passwd", "/etc/group"


@dataclass(frozen=True)
class User:
    """Numbers and home directory of a process's user."""

    uid: int = 0
    gid: int = 0
    groups: tuple[int, ...] = ()
    """Supplementary groups, the own one first: a process that has dropped it must not gain files that deny it."""
    home: str = "/"


def resolve(text: str, passwd: str, group: str, where: str = "", more: Sequence[str] = ()) -> User:
    """Return the user that an image's configuration names.

    text: ``user``, ``uid``, ``user:group``, ``uid:gid`` or a mixture; empty: root.
    passwd, group: the image's files; empty if it has none.
    where: what the line of the error names.
    more: further groups, by name or number.
    returns: with the groups that list the user, unless `text` names a group. A number without an entry is fine: its group is 0.
    Raises ImageError: a name without an entry, or a number out of range.
    """
    who, _, whose = text.partition(":")
    who = who or "0"
    number = _number(who, text, where)
    entries = ((name, fields) for name, fields in _rows(passwd) if _is_number(fields[1]) and _is_number(fields[2]))
    entry = next((each for each in entries if each[0] == who or (number is not None and int(each[1][1]) == number)), None)
    if entry is None and number is None:
        raise ImageError(f"the user '{who}' is not in the image's {PASSWD}", where, "name one of them, or a number")
    exceeds = [_group(each, group, each, where) for each in more]
    name, fields = entry or ("", ["", str(number), "0", "", ""])
    uid, gid, home = int(fields[1]), int(fields[2]), fields[4] or "/"
    if whose:
        gid = _group(whose, group, text, where)
        return User(uid, gid, tuple(dict.fromkeys([gid, *exceeds])), home)
    listed = [int(row[1]) for _, row in _rows(group) if name and name in row[2].split(",") and _is_number(row[1])]
    return User(uid, gid, tuple(dict.fromkeys([gid, *listed, *exceeds])), home)


def _group(whose: str, group: str, text: str, where: str) -> int:
    number = _number(whose, text, where)
    for name, fields in _rows(group):
        if _is_number(fields[1]) and (name == whose or (number is not None and int(fields[1]) == number)):
            return int(fields[1])
    if number is None:
        raise ImageError(f"the group '{whose}' is not in the image's {GROUP}", where, "name one of them, or a number")
    return number


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield names and the other columns, at least five: those that a short line lacks are empty. A comment is not an entry."""
    for line in text.splitlines():
        name, *fields = line.strip().split(":")
        if name and not name.startswith("#"):
            yield name, [*fields, *[""] * (5 - len(fields))]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _number(word: str, text: str, where: str) -> int | None:
    if not _is_number(word):
        return None
    number = whole_number(word)
    if number is None or number >= 1 << 31:
        raise ImageError(f"the user '{text}' is out of range", where, "a number is below 2147483648")
    return number
