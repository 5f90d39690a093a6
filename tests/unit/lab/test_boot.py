import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from slownet.lab.build.kernel import Kernel
from slownet.lab.host.memory import Machine, Running
from slownet.lab.run import autopsy, boot, crowd
from slownet.lab.run.boot import UmlLab, memory_folder
from slownet.lab.run.lab import Share
from slownet.model.errors import LabError


@pytest.mark.parametrize(
    ("share", "mount"),
    [
        (Share(Path("/a")), ("ro", "/a", "/a")),
        (Share(Path("/a b:c"), writable=True), ("rw", "/a b:c", "/a b:c")),
        (Share(Path("/a"), at="/x"), ("ro", "/a", "/x")),
    ],
)
def test_a_share_is_read_only_and_under_the_same_path_unless_told(share, mount):
    assert share.mount == mount


def test_a_lab_with_too_little_memory_is_refused_at_once():
    with pytest.raises(LabError) as error:
        UmlLab(
            kernel=Kernel(Path("linux"), "7.3.4", "s"),
            init=Path("init"),
            confine=Path("confine"),
            image=Path("image"),
            megabytes=159,
        )
    assert str(error.value) == "159 MB of memory is too little for a lab, --memory: give it 160 MB or more"


@pytest.fixture
def folders(monkeypatch):
    """{path: (free MB, mount flags)} of the only folders."""
    there = {}

    def statvfs(path):
        if str(path) not in there:
            raise FileNotFoundError(path)
        free, flags = there[str(path)]
        return os.statvfs_result((4096, 4096, 0, free * 256, free * 256, 0, 0, 0, flags, 255))

    monkeypatch.setattr(boot.os, "statvfs", statvfs)
    monkeypatch.setattr(boot.os, "access", lambda path, mode: str(path) in there)
    monkeypatch.delenv("TMPDIR", raising=False)
    return there


def test_memory_lies_in_shm_if_it_can(folders):
    folders.update({"/dev/shm": (1025, 0), "/tmp": (9999, 0)})
    assert memory_folder(1024) == Path("/dev/shm")


def test_memory_lies_elsewhere_if_shm_is_too_small_or_holds_no_programs(folders, monkeypatch):
    folders.update({"/dev/shm": (64, 0), "/tmp": (9999, os.ST_NOEXEC), "/var/tmp": (2000, 0)})
    assert memory_folder(1024) == Path("/var/tmp")
    folders["/mine"] = (3000, 0)
    monkeypatch.setenv("TMPDIR", "/mine")
    assert memory_folder(2500) == Path("/mine")


def test_memory_lies_elsewhere_if_a_lab_will_fill_shm_but_not_if_a_lab_will_fill_another_folder(folders):
    folders.update({"/dev/shm": (1500, 0), "/tmp": (9999, 0)})
    device = Path("/dev/shm").stat().st_dev
    grows = Running(given=1000, used=100, device=device)
    assert memory_folder(1024, Machine(9999, (grows,))) == Path("/tmp")
    assert memory_folder(1024, Machine(9999, (replace(grows, device=None),))) == Path("/tmp")
    assert memory_folder(1024, Machine(9999, (replace(grows, device=device + 1),))) == Path("/dev/shm")


def test_no_room_for_memory_is_one_line(folders):
    folders.update({"/dev/shm": (64, 0)})
    with pytest.raises(LabError, match=r"^no folder has room for the lab's 1024 MB of memory: free space .*--memory$"):
        memory_folder(1024)


PANIC = "EXT4-fs: whatever\n\nKernel panic - not syncing: {}\nCPU: 0 UID: 0 PID: 1\n"


@pytest.mark.parametrize(
    ("console", "status", "full", "line"),
    [
        (
            PANIC.format("skip-idle: the clock stood still for 3 s of python3 -u, in 7 system calls, the last number 61"),
            1,
            False,
            "the lab's clock stood still for 3 s while python3 -u was busy, in 7 system calls, the last number 61: "
            "with --tdf inf a busy program takes no virtual time: give its links a rate, or use a number or --clock real",
        ),
        (
            PANIC.format(
                "skip-idle: the clock stood still for 9 s of php, in 7 system calls, the last number 9, with 312 major faults"
            ),
            1,
            False,
            "the lab's clock stood still for 9 s while php was busy, in 7 system calls, the last number 9: "
            "with --tdf inf a busy program takes no virtual time: give its links a rate, or use a number or --clock real",
        ),
        (
            PANIC.format(
                "skip-idle: the clock stood still for 9 s of php, in 0 system calls, the last number 9, with 90512 major faults"
            ),
            1,
            False,
            "the lab ran out of its 512 MB of memory: raise --memory",
        ),
        (
            PANIC.format("Out of memory: system-wide panic_on_oom is enabled"),
            1,
            False,
            "the lab ran out of its 512 MB of memory: raise --memory",
        ),
        (
            "",
            -signal.SIGBUS,
            False,
            "the host has no space left for the lab's memory: free some, or lower --memory",
        ),
        ("", -9, True, "the host has no space left for the lab's memory: free some, or lower --memory"),
        (
            PANIC.format("Attempted to kill init! exitcode=0x00000009"),
            1,
            False,
            "the lab's kernel panicked: Attempted to kill init! exitcode=0x00000009",
        ),
        ("Checking this\nhost cannot do that\n\n", 1, False, "the lab died (status 1): host cannot do that"),
        (
            PANIC.format("work-clock: the counter of instructions was taken away"),
            1,
            False,
            "the counter of instructions was taken away during the run: "
            "another program may use it: try again, or use --cpu time",
        ),
        (
            PANIC.format("work-clock: no counter of instructions (error 16)"),
            1,
            False,
            "no counter of instructions (error 16): another program may use it: try again, or use --cpu time",
        ),
        ("", 1, False, "the lab died (status 1): it printed nothing"),
        ("noise", -9, False, "the lab was killed by signal 9: check whether this machine has enough memory"),
        (
            PANIC.format("Kernel mode signal 7"),
            1,
            False,
            "the host has no space left for the lab's memory: free some, or lower --memory",
        ),
        ("reboot: System halted", 0, False, "the command powered the lab off"),
    ],
)
def test_why_a_lab_died(console, status, full, line):
    assert str(autopsy.explain(console, status, 512, full)) == line


def test_a_program_with_more_mappings_than_the_host_allows(tmp_path, monkeypatch):
    (tmp_path / "max_map_count").write_text("65530\n")
    monkeypatch.setattr(autopsy, "_MAPPINGS", tmp_path / "max_map_count")
    says = "UML ran out of memory on the host side! This can happen due to ... or vm.max_map_count has been reached."
    assert autopsy.too_many_mappings("segfault at 1") is None
    assert str(autopsy.too_many_mappings(f"x\n{says}\nuserspace - Error")) == (
        "a program in the lab has memory in more separate pieces than this machine allows, 65530: it was ended: "
        "sudo sysctl -w vm.max_map_count=1048576"
    )


def test_what_of_a_lab_is_full():
    assert str(autopsy.full("disk", 512)) == ("the lab's disk, three quarters of its 512 MB of memory, is full: raise --memory")
    assert str(autopsy.full("memory", 512)) == "the lab ran out of its 512 MB of memory: raise --memory"
    assert str(autopsy.full("processes", 512)) == (
        "the lab ran out of room for processes, one thread for each 512 kB of its 512 MB of memory: "
        "raise --memory, or start fewer"
    )


@pytest.mark.parametrize(
    ("threads", "most", "crowded"), [(1846, "2048\n", True), (1800, "2048\n", False), (30, "", False), (30, "many", False)]
)
def test_whether_a_lab_has_room_for_processes(tmp_path, threads, most, crowded):
    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "loadavg").write_text(f"0.00 0.01 0.05 1/{threads} 4711\n")
    (tmp_path / "sys/kernel/threads-max").write_text(most)
    assert crowd.is_crowded(tmp_path) is crowded
    assert not crowd.is_crowded(tmp_path / "nothing")
