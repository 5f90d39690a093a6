"""The round trip while TCP fills a link in both directions, as in flent's RRUL test: ``ping`` beside ``iperf3 --bidir``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.net.process import Host, end
from slownet.net.tool import ENDING, running
from slownet.tools.iperf3 import reading, serve
from slownet.tools.numbers import Metric, mean, series, single
from slownet.tools.ping import Ping, ping
from slownet.tools.register import lasting

INTERVAL_S = 0.1
BLOCK = "16K"
"""iperf3 counts whole blocks: one of its usual 128 KiB takes 0.1 s at 10 Mbit/s, and so much would the rate of a second err."""


@dataclass(frozen=True)
class UnderLoad(Metrics):
    """Round trips, and what TCP carried meanwhile.

    command: the command that loads the link.
    raw: its output, and that of ``ping``.
    pings: the round trips under load.
    upload_mbit_per_s: payload that arrived from the client, in Mbit/s.
    downloads_mbit_per_s: payload that arrived at the client in each second, in Mbit/s.
    """

    command: tuple[str, ...]
    raw: str
    pings: Ping
    upload_mbit_per_s: float
    downloads_mbit_per_s: tuple[float, ...]

    @property
    def download_mbit_per_s(self) -> float:
        """Payload that arrived at the client, in Mbit/s."""
        return mean(self.downloads_mbit_per_s)

    def metrics(self) -> dict[str, Metric]:
        """Return ``rtt_ms``, ``loss`` of pings, ``upload_mbit_per_s`` and ``download_mbit_per_s``."""
        up, down = single(self.upload_mbit_per_s, 1), series(self.downloads_mbit_per_s)
        return {**self.pings.metrics(), "upload_mbit_per_s": up, "download_mbit_per_s": down}


@lasting
def under_load(client: Host, server: Host, *, seconds: float = 15.0, settle: float = 10.0, flows: int = 4) -> UnderLoad:
    """Ping a host while TCP connections send to it and from it.

    client, server: the host that pings and opens the connections, and the other one.
    seconds: how long to measure; there are ten pings a second.
    settle: seconds before that, for the connections to find the link's rate.
    flows: connections in each direction.
    returns: round trips in ms, rates in Mbit/s.
    Raises ToolError: ``ping`` or ``iperf3`` is missing or fails, no ping is answered, or an output is not understood.

    References
    ----------
    Høiland-Jørgensen, Grazia, Hurtig and Brunstrom, "Flent: The FLExible Network Tester", 2017: the RRUL test.
    """
    argv = ["iperf3", "--client", server.IP(), "--bidir", "--parallel", f"{flows}", "--length", BLOCK, "--json"]
    argv += ["--omit", f"{settle:g}", "--time", f"{seconds:g}"]
    with ExitStack() as stack:
        folder = stack.enter_context(owner.temporary("iperf3"))
        stack.callback(end, serve(server, Path(folder, "server.log")), ENDING)
        wait = stack.enter_context(running(client, argv))
        time.sleep(settle)
        pings = ping(client, server.IP(), count=round(seconds / INTERVAL_S), interval=INTERVAL_S, timeout=10 * seconds + 600)
        done = wait(3 * (seconds + settle) + 600, False)
    up, down = carried(done.stdout or done.stderr, argv)
    return UnderLoad(tuple(argv), done.raw + pings.raw, pings, up, down)


def carried(text: str, command: Sequence[str] = ("iperf3", "--bidir")) -> tuple[float, tuple[float, ...]]:
    """Parse the JSON of ``iperf3 --bidir``.

    text: the client's output.
    command: the command, for errors.
    returns: payload that arrived at the server, and at the client in each second, in Mbit/s.
    Raises ToolError: the text is not JSON, contains an error, or lacks a number; ``.raw`` is the text.
    """
    with reading(text, command) as report:
        up, seconds = report["end"]["sum_received"], [each["sum_bidir_reverse"] for each in report["intervals"]]
        down = tuple(_mbit_per_s(each) for each in seconds if not each["omitted"])
        if not down:
            raise ValueError("a second that counts")
        return _mbit_per_s(up), down


def _mbit_per_s(total: Mapping[str, float]) -> float:
    return 8 * total["bytes"] / total["seconds"] / 1e6
