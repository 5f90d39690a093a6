"""Mininet's network tests, rewritten where they would hang with current software: iperf 2.2 and cgroup v2."""

from __future__ import annotations

import select
import subprocess
import time
from collections.abc import Sequence
from math import ceil
from typing import Any

from mininet.log import error, output
from mininet.util import numCores

from slownet.model.errors import NetworkError

REPORT_S = 30.0  # to wait for the server's report after the client has ended


class MininetTests:
    """Mixin for Mininet."""

    hosts: list[Any]
    _parseIperf: Any  # noqa: N815  # Mininet's names

    def iperf(
        self, hosts: Sequence[Any] | None = None, l4Type: str = "TCP", udpBw: str = "10M", fmt: str | None = None,  # noqa: N803
        seconds: int = 5, port: int = 5001,
    ) -> list[str]:  # fmt: skip
        """Return, like Mininet's, [server's, client's] rate as iperf prints it, preceded by `udpBw` for UDP.

        Mininet makes one connection to see whether the server listens, and then waits for a report on that connection, which
        iperf no longer prints.
        """
        client, server = hosts or (self.hosts[0], self.hosts[-1])
        if l4Type not in ("TCP", "UDP"):
            raise NetworkError(f"iperf has no '{l4Type}'", fix="give TCP or UDP")
        output("*** Iperf: testing", l4Type, "bandwidth between", client, "and", server, "\n")
        words = ["iperf", "-p", str(port), *(["-u"] if l4Type == "UDP" else []), *(["-f", fmt] if fmt else [])]
        listening = server.popen([*words, "-s"], stderr=subprocess.STDOUT)
        try:
            said = _read_until(listening, "port")
            asked = [*words, "-t", str(seconds), "-c", server.IP(), *(["-b", udpBw] if l4Type == "UDP" else [])]
            got = client.popen(asked, stderr=subprocess.STDOUT).communicate()[0].decode()
            said += _read_until(listening, "/sec")
        finally:
            listening.kill()
            listening.communicate()
        result = [self._parseIperf(said), self._parseIperf(got)]
        if l4Type == "UDP":
            result.insert(0, udpBw)
        output(f"*** Results: {result}\n")
        return result

    def iperfUdp(self, **options: Any) -> list[str]:  # noqa: N802
        """Return the rates of `iperf` over UDP: ``mn --test iperfudp`` calls it, and Mininet has lost it."""
        return self.iperf(l4Type="UDP", **options)

    def runCpuLimitTest(self, cpu: float, duration: int = 5) -> list[float]:  # noqa: N802
        """Return, like Mininet's, each host's use of all processors in percent, second by second."""
        cores = numCores()
        spin = ["sh", "-c", "while true; do a=1; done"]
        spinning = [host.popen(spin) for host in self.hosts for _ in range(ceil(cores * cpu))]
        try:
            used: dict[Any, list[float]] = {host: [] for host in self.hosts}
            before = {host: (host.cpu_seconds, time.monotonic()) for host in self.hosts}
            for _ in range(duration):
                time.sleep(1)
                for host, (seconds, at) in before.items():
                    before[host] = now = host.cpu_seconds, time.monotonic()
                    used[host].append((now[0] - seconds) / (now[1] - at) / cores * 100)
        finally:
            for process in spinning:
                process.kill()
                process.communicate()
        percents = [percent for each in used.values() for percent in each]
        output(f"*** Results: {percents}\n")
        return percents


def _read_until(process: subprocess.Popen[bytes], word: str) -> str:
    """Return a program's output until it contains the word, the program ends, or `REPORT_S` have passed."""
    assert process.stdout is not None
    text, deadline = "", time.monotonic() + REPORT_S
    while word not in text:
        if not select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            error(f"iperf printed nothing more for {REPORT_S:g} s: {text}\n")
            break
        line = process.stdout.raw.read(4096) if hasattr(process.stdout, "raw") else process.stdout.read(4096)
        if not line:
            break
        text += line.decode()
    return text
