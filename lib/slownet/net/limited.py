"""Mininet's CPU-limited host on cgroup v2, which Mininet 2.3 does not support."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mininet.node import CPULimitedHost, Node
from mininet.util import numCores

from slownet.lab.host import owner
from slownet.lab.host.owner import Owner
from slownet.model.errors import NetworkError
from slownet.net.nodes import QuickNode

CGROUPS = Path("/sys/fs/cgroup")
SHORTEST_QUOTA_US = 1000  # kernel/sched: min_cfs_quota_period
ENDING_S = 2.0
_JOIN = 'echo $$ >"$0" && exec "$@"'


class QuickLimitedHost(QuickNode, CPULimitedHost):  # type: ignore[misc]
    """CPULimitedHost without its command-line tools; it gets a cgroup when the first limit is set.

    cpu: a fraction of all processors; None or a negative number for no limit. On the virtual clock it is a fraction of the
    charged CPU time, so it has no effect with TDF `inf`.
    """

    def __init__(self, name: str, sched: str = "cfs", period_us: int = 100_000, **params: Any) -> None:
        self._sysctls = params.pop("sysctls", None) or {}
        self._group: Path | None = None
        self.sched = sched
        self.period_us = period_us
        if sched != "cfs":
            raise NetworkError(f"scheduler '{sched}' cannot limit the CPU", f"host {name}", "use cfs, the one of cgroup v2")
        Node.__init__(self, name, **params)  # CPULimitedHost's own calls cgcreate

    def setCPUFrac(self, f: float, sched: str | None = None) -> None:  # noqa: N802  # Mininet's names
        if f is None or f < 0:
            if self._group:
                (self._group / "cpu.max").write_text("max")
            return
        if f == 0 or sched not in (None, "cfs"):
            raise NetworkError(
                f"cpu={f} with {sched or self.sched} is not a CPU limit", f"host {self.name}", "write a fraction such as 0.1"
            )
        quota = max(round(self.period_us * f * numCores()), SHORTEST_QUOTA_US)
        period = max(self.period_us, round(quota / f / numCores()))
        (self._its_group() / "cpu.max").write_text(f"{quota} {period}")

    def setCPUs(self, cores: Any, mems: int = 0) -> None:  # noqa: N802
        if cores in (None, []) or numCores() == 1:
            return
        text = ",".join(map(str, cores)) if isinstance(cores, list) else str(cores)
        group = self._its_group()
        want("cpuset")
        (group / "cpuset.cpus").write_text(text)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of its programs since its first limit, in seconds."""
        lines = (self._its_group() / "cpu.stat").read_text().splitlines()
        return float(dict(line.split() for line in lines)["usage_usec"]) / 1e6

    def _popen(self, cmd: Sequence[str], **params: Any) -> subprocess.Popen[Any]:
        if self._group:
            # through this process's root, because the host's own /sys has no cgroups
            joining = f"/proc/{os.getpid()}/root{self._group}/cgroup.procs"
            cmd = ["sh", "-c", _JOIN, joining, *cmd]
        return super()._popen(cmd, **params)

    def _its_group(self) -> Path:
        if self._group is None:
            want("cpu")
            group = CGROUPS / f"slownet.{owner.this().mark}.{self.name}"
            group.mkdir()
            self._group = group
            if "shell" in self.__dict__:
                (group / "cgroup.procs").write_text(str(self.pid))
        return self._group

    def terminate(self) -> None:
        super().terminate()
        self.cgroupDel()

    def cgroupDel(self) -> bool:  # noqa: N802
        """End all programs in the cgroup and delete it."""
        group, self._group = self._group, None
        if group:
            (group / "cgroup.kill").write_text("1")
            delete(group)
        return True


def delete(group: Path) -> None:
    """Delete a cgroup once it is empty. Raises NetworkError if a program stays in it."""
    deadline = time.monotonic() + ENDING_S
    while group.exists():
        try:
            group.rmdir()
        except OSError as error:
            if time.monotonic() > deadline:
                inside = (group / "cgroup.procs").read_text().split()
                fix = f"see process {inside[0]}, which is in it" if inside else "see what is in it"
                raise NetworkError(f"cannot delete the cgroup {group}: {error.strerror}", fix=fix) from error
            time.sleep(0.01)


def made() -> Iterator[tuple[Path, Owner]]:
    """Yield the cgroups of all slownet hosts on this machine, with their owners."""
    for path in sorted(CGROUPS.glob("slownet.*.*")):
        whose = Owner.read(path.name.split(".")[1])
        if whose:
            yield path, whose


def want(controller: str) -> None:
    """Enable a controller for the groups below the root. Raises NetworkError."""
    try:
        known = (CGROUPS / "cgroup.controllers").read_text().split()
    except OSError:
        known = []
    if controller not in known:
        raise NetworkError(f"this kernel has no '{controller}' controller in cgroup v2", fix="leave cpu and cores out")
    (CGROUPS / "cgroup.subtree_control").write_text(f"+{controller}")
