"""The kernel's settings as a new network namespace has them on Debian 13's own kernel, whatever machine carries the hosts.

Mininet raises limits of the machine before its first network (`mininet.util.fixLimits`), and a new namespace gets a copy. With
those a SYN offers 42,340 bytes instead of 64,240, so that 100 kB cost a round trip more. A network of slownet leaves them
alone: its hosts get Debian's values, and only what one machine needs that carries many hosts is raised. An unchanged Mininet
program keeps what Mininet sets.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from mininet.net import Mininet
from mininet.util import ensureRoot

from slownet.lab.host import native
from slownet.net.namespace import write_sysctls

FIRST_SEND_BUFFER = 87_040
"""Bytes of the send buffer of a connection that opens at MTU 1500 on Debian, whatever tcp_wmem says: ten segments, twice, each
with as much room for headers as wireless networks need (tcp_sndbuf_expand, LL_MAX_HEADER). A kernel without them has 46,080."""
OF_A_HOST: Mapping[str, str] = {
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": f"4096 {FIRST_SEND_BUFFER} 4194304",
}
"""Settings that a kernel copies from the machine's into a namespace, and computes there from the size of memory."""
OF_A_HOST_IN_A_LAB: Mapping[str, str] = {
    "net.ipv4.tcp_limit_output_bytes": "1048576",
    "net.ipv4.tcp_comp_sack_slack_ns": "100000",
    "net.ipv4.tcp_max_syn_backlog": "256",
    "net.ipv4.tcp_max_tw_buckets": "16384",
    "net.ipv4.icmp_msgs_per_sec": "1000",
    "net.ipv4.icmp_msgs_burst": "50",
}
"""Settings that a small lab's kernel computes otherwise, or one that is later than Debian 13's has otherwise."""
OF_A_MACHINE: Mapping[str, str] = {
    "net.core.rmem_max": "212992",
    "net.core.wmem_max": "212992",
    "net.netfilter.nf_conntrack_max": "65536",
}
"""Settings that all hosts have in common; set in a lab only."""
FOR_MANY_HOSTS: Mapping[str, int] = {
    "net.ipv4.neigh.default.gc_thresh1": 4096,
    "net.ipv4.neigh.default.gc_thresh2": 8192,
    "net.ipv4.neigh.default.gc_thresh3": 16384,
    "net.core.netdev_max_backlog": 5000,
    "kernel.pty.max": 20000,
}
"""At least these, as in Mininet: one table of neighbours, one queue of received packets and one set of terminals serve all
hosts. No host sees the first four."""
OPEN_FILES = 16384
"""Of a process, at least, as in Mininet: this one has some open for each host."""


def of_a_host() -> dict[str, str]:
    """Return what a new host here has to be given to be a stock one."""
    return {**OF_A_HOST, **(OF_A_HOST_IN_A_LAB if native.inside_lab() else {})}


@contextmanager
def kept() -> Iterator[None]:
    """Let a Mininet object be made without `mininet.util.fixLimits`. Raises NetworkError if the kernel refuses a setting."""
    ensureRoot()
    if native.inside_lab():
        write_sysctls(OF_A_MACHINE)
    _make_room()
    before, Mininet.inited = Mininet.inited, True
    try:
        yield
    finally:
        Mininet.inited = before


def _make_room() -> None:
    for name, least in FOR_MANY_HOSTS.items():
        path = Path("/proc/sys", name.replace(".", "/"))
        with suppress(OSError, ValueError):  # a kernel has another set of them, and a small network does without
            if int(path.read_text()) < least:
                path.write_text(str(least))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, max(hard, OPEN_FILES) if hard >= 0 else hard))
