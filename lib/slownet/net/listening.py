"""The TCP ports that programs on a host listen on, as the kernel lists them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from slownet.net.namespace import inside

LISTEN = "0A"
"""The state of a listening socket (net/tcp_states.h), as /proc/net/tcp writes it."""
FILES = ("tcp", "tcp6")


def ports(host: Any) -> tuple[int, ...]:
    """Return the ports of a host that listen now, over IPv4 or IPv6, in order."""
    lines: list[str] = []
    with inside(host):
        for name in FILES:
            with suppress(OSError):  # a kernel without IPv6
                lines += Path("/proc/thread-self/net", name).read_text(encoding="ascii").splitlines()
    return listed(lines)


def listed(lines: Iterable[str]) -> tuple[int, ...]:
    """Return the listening ports in lines of /proc/net/tcp, whose addresses are hexadecimal: ``0100007F:1F90``."""
    words = (line.split() for line in lines)
    return tuple(sorted({int(each[1].rpartition(":")[2], 16) for each in words if len(each) > 3 and each[3] == LISTEN}))
