"""Leftovers of killed runs on this machine: found by their mark (see `slownet.lab.host.owner`) and removed.

A killed run's hosts and the cables between them disappear by themselves when no program runs in them. Found here are programs
that still run, their cgroups, switches, the switches' ends of cables, and private directories.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slownet.lab.host import owner, process_stat
from slownet.lab.host.owner import Owner
from slownet.model.errors import NetworkError
from slownet.net import kernel_counters, limited, openvswitch, unique_names
from slownet.net.namespace import entered
from slownet.net.netlink import Route
from slownet.net.nodes import ovs_vsctl

DEADLINE_S = 20.0
POLL_S = 0.01
_VARIABLE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True)
class Leftover:
    """One thing left by a dead process."""

    kind: str  # "process", "bridge", "interface", "directory" or "cgroup"
    name: str
    owner: Owner
    started: int = 0  # start time of a process, in clock ticks after boot

    @property
    def pid(self) -> int:
        """The number of a process; 0 for anything else."""
        return int(self.name.partition(" ")[0]) if self.kind == "process" else 0

    def __str__(self) -> str:
        run = self.owner.run
        return f"{self.kind} {self.name}, of process {self.owner.pid}" + (f" and run {run}" if run else "")


def find() -> list[Leftover]:
    """Return all that dead processes have left, in an order in which it can be removed. Raises NetworkError."""
    found = [*_processes(), *_bridges(), *_interfaces(), *_directories(), *_cgroups()]
    living = {each.owner for each in found if each.owner.lives}
    kept = _ourselves() | {each.pid for each in living}
    return [each for each in found if each.owner not in living and each.pid not in kept]


def remove(leftovers: list[Leftover]) -> None:
    """Remove what `find` found; it is not an error if it has gone. Raises NetworkError for what cannot be removed."""
    _end([each for each in leftovers if each.kind == "process"])
    bridges = [each.name for each in leftovers if each.kind == "bridge"]
    if bridges:
        ovs_vsctl([word for name in bridges for word in ("--", "--if-exists", "del-br", name)])
    with Route() as route:
        for each in leftovers:
            if each.kind == "interface":
                try:
                    route.delete(each.name)
                except NetworkError:
                    if each.name in unique_names.taken():
                        raise
            elif each.kind == "directory":
                shutil.rmtree(each.name, ignore_errors=True)
            elif each.kind == "cgroup":
                limited.delete(Path(each.name))


def _ourselves() -> set[int]:
    """Return this process and its ancestors."""
    found, pid = set(), os.getpid()
    while pid:
        found.add(pid)
        stat = process_stat.of(pid)
        pid = stat.parent if stat else 0
    return found


def _cgroups() -> Iterator[Leftover]:
    return (Leftover("cgroup", str(path), whose) for path, whose in limited.made())


def _interfaces() -> Iterator[Leftover]:
    with Route() as route:
        for each in kernel_counters.interfaces(route):
            whose = _of_alias(each.alias)
            if whose:
                yield Leftover("interface", each.name, whose)


def _of_alias(alias: str) -> Owner | None:
    return Owner.read(alias.removeprefix("slownet ")) if alias.startswith("slownet ") else None


def _bridges() -> Iterator[Leftover]:
    if not openvswitch.running():
        return
    shown = json.loads(ovs_vsctl(["--format=json", "--columns=name,external_ids", "list", "bridge"]))
    for name, (_, pairs) in shown["data"]:
        whose = Owner.read(dict(pairs).get("slownet", ""))
        if whose:
            yield Leftover("bridge", name, whose)


def _directories() -> Iterator[Leftover]:
    for path in sorted(owner.RUN.iterdir()) if owner.RUN.is_dir() else ():
        whose = Owner.read(path.name)
        if whose:
            yield Leftover("directory", str(path), whose)


def _processes() -> Iterator[Leftover]:
    space_of = _spaces()
    parents: dict[str, str] = {}
    owners: dict[str, Owner | None] = {}
    running: dict[str, tuple[str, int]] = {}  # the name, and when it was started
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # it has ended, or hides from us
            if stat := process_stat.of(pid):
                parents[pid] = str(stat.parent)
                if stat.lives:
                    owners[pid] = _of_process(pid, space_of)
                    running[pid] = stat.name, stat.started
    for pid, (name, started) in running.items():
        ancestor = pid
        while not owners.get(ancestor) and ancestor in parents:
            ancestor = parents[ancestor]
        whose = owners.get(ancestor)
        if whose:
            yield Leftover("process", f"{pid} ({name})", whose, started)


def _of_process(pid: str, space_of: Callable[[str], Owner | None]) -> Owner | None:
    """Return a process's owner from its environment, or from its namespace if it overwrote that (nginx does, with its title).

    A process that a user started in a host's namespace (`mnexec`, `nsenter`) has an environment without our mark and is kept.
    A program with a new environment (`env -i`) is found through its parent.
    """
    inherited = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    for each in inherited:
        if each.startswith(f"{owner.VARIABLE}=".encode()):
            return Owner.read(each.decode(errors="replace").partition("=")[2])
    return None if any(map(_VARIABLE.match, inherited)) else space_of(pid)


def _spaces() -> Callable[[str], Owner | None]:
    """Return a function from a process to the owner of its network namespace; our own namespace has none."""
    own = os.stat("/proc/self/ns/net").st_ino

    @cache
    def of_space(number: int, path: str) -> Owner | None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with entered(descriptor), Route() as route:
                return _of_alias(next(each.alias for each in kernel_counters.interfaces(route) if each.name == "lo"))
        finally:
            os.close(descriptor)

    def of_process(pid: str) -> Owner | None:
        path = f"/proc/{pid}/ns/net"
        number = os.stat(path).st_ino
        return None if number == own else of_space(number, path)

    return of_process


def _end(processes: list[Leftover]) -> None:
    """Kill these processes, and those that they start meanwhile."""
    owners = {each.owner for each in processes}
    deadline = time.monotonic() + DEADLINE_S
    while processes:
        for each in processes:
            _kill(each.pid, each.started)
        time.sleep(POLL_S)
        processes = [each for each in find() if each.kind == "process" and each.owner in owners]
        if processes and time.monotonic() > deadline:
            raise NetworkError(f"{processes[0]} does not end", fix="see whether it waits for a disk (ps -o stat,wchan)")


def _kill(pid: int, started: int) -> None:
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            if owner.started(pid) == started:  # the number may have been reused
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)
