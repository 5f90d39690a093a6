"""Faults of a host other than cuts: its names are gone, its packets are corrupted, its services' processor is slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from slownet.lab.host import owner
from slownet.links.conditions.oneway import OneWay
from slownet.model.errors import ConditionError, NetworkError
from slownet.net import limited, nft
from slownet.net.network_link import Link
from slownet.net.tool import run

NAMES_TABLE = "slownet_names"
PORTS = "{ 53, 853 }"
"""Of name servers: over UDP and TCP, and over TLS."""
SHORTEST_US, PERIOD_US, LONGEST_US = limited.SHORTEST_QUOTA_US, 100_000, 1_000_000
"""Microseconds: the shortest quota of a processor, the usual period and the longest one."""
MOVES_S = 2.0


def servers(host: Any) -> list[str]:
    """Return the addresses of the name servers that a host asks."""
    lines = run(host, ["cat", "/etc/resolv.conf"], check=False).stdout.splitlines()
    return [words[1] for words in map(str.split, lines) if words[:1] == ["nameserver"] and len(words) > 1]


def lose_names(host: Any, where: str) -> None:
    """Make a host lose the answers of all name servers, as if they were gone; read back what it does.

    A server on the host itself answers what it knows, and gets no answer from others. Raises ConditionError if the host asks
    none, ToolError, NetworkError.
    """
    if not servers(host):
        what = f"'{where}', but {host.name} asks no name server: its names are in /etc/hosts"
        raise ConditionError(what, fix="start one before, such as Names or Unbound, or cut the host")
    nft.commands(host, [
        f"add table inet {NAMES_TABLE}",
        f"add chain inet {NAMES_TABLE} answers {{ type filter hook input priority -400; }}",
        *(f'add rule inet {NAMES_TABLE} answers iifname != "lo" {kind} sport {PORTS} drop' for kind in ("udp", "tcp")),
    ])  # fmt: skip
    if nft.commands(host, [f"list table inet {NAMES_TABLE}"]).count("drop") != 2:
        fix = "see that no other program changes this host's nftables meanwhile"
        raise NetworkError("the kernel does not lose the answers of name servers", f"host '{host.name}'", fix)


def find_names(host: Any) -> None:
    """Let a host hear name servers again. Raises ToolError."""
    nft.commands(host, [f"add table inet {NAMES_TABLE}", f"delete table inet {NAMES_TABLE}"])


class Corrupted:
    """The links of a host, whose packets are corrupted by netem in both directions; their other conditions stay."""

    def __init__(self, links: Iterable[Link], share: float) -> None:
        """Raises NetworkError, ConditionError."""
        self._before: list[tuple[Link, tuple[OneWay, OneWay]]] = []
        try:
            for link in links:
                if link.is_playing:
                    raise NetworkError(f"a schedule is playing on {link.name}", fix="put corrupt into that schedule's steps")
                before = link.directions
                now = link.condition
                link.apply(link.seeded(now.but(corrupt=f"{100 * share:.6g}%")), now)
                self._before.append((link, before))
        except BaseException:
            self.mend()
            raise

    def mend(self) -> None:
        """Give the links what they had before. Raises NetworkError."""
        for link, before in self._before:
            link.apply_directions(before)
        self._before = []


class SlowCpu:
    """A cgroup of a service's processes, which get a part of a processor: cpu.max of cgroup v2."""

    def __init__(self, label: str, processes: Callable[[], Sequence[int]], share: float) -> None:
        """Raises NetworkError."""
        limited.want("cpu")
        self._processes = processes
        self._group = limited.CGROUPS / f"slownet.{owner.this().mark}.slow-{label}"
        self._home: Path | None = None
        self._group.mkdir()
        period = min(LONGEST_US, max(PERIOD_US, round(SHORTEST_US / share)))
        wanted = f"{max(SHORTEST_US, round(share * period))} {period}"
        try:
            (self._group / "cpu.max").write_text(wanted)
            if (found := (self._group / "cpu.max").read_text().strip()) != wanted:
                raise NetworkError(
                    f"the kernel limits the CPU to {found} instead of {wanted}", f"service '{label}'", "give another share"
                )
            self.join()
        except BaseException:
            self.mend()
            raise

    def join(self) -> None:
        """Put all processes of the service into the group: those that it started since, too. Raises NetworkError."""
        deadline = time.monotonic() + MOVES_S
        while outside := [each for each in self._processes() if _group_of(each) not in (None, self._group)]:
            if time.monotonic() > deadline:
                raise NetworkError(
                    f"process {outside[0]} does not move into {self._group.name}",
                    fix="see whether it waits for a disk (ps -o stat,wchan)",
                )
            for each in outside:
                self._home = self._home or _group_of(each)
                _move(each, self._group)

    def mend(self) -> None:
        """Give the processes a whole processor again. Raises NetworkError."""
        if not self._group.exists():
            return
        (self._group / "cpu.max").write_text("max")
        for each in (self._group / "cgroup.procs").read_text().split():
            _move(int(each), self._home or limited.CGROUPS)
        limited.delete(self._group)


def _group_of(process: int) -> Path | None:
    """Return a process's cgroup; None if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                return limited.CGROUPS / line[len("0::/") :]
    return None


def _move(process: int, group: Path) -> None:
    with suppress(ProcessLookupError):
        (group / "cgroup.procs").write_text(str(process))
