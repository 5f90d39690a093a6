"""TCP connections of several congestion controls that send through one bottleneck at once: ``iperf3`` and ``ping``."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.model.errors import ToolError
from slownet.net.output import complaint
from slownet.net.process import Host, end
from slownet.net.tool import ENDING, run, running
from slownet.theory.shares import jain
from slownet.tools.iperf3 import PORT, Report, reading, serve
from slownet.tools.numbers import Metric, series
from slownet.tools.ping import Ping, ping
from slownet.tools.register import lasting

INTERVAL_S = 0.2
BLOCK = "8K"
"""The block size of iperf3's counts: its usual 128 kB would be half of what arrives of a connection in a second."""
MARKED = "dctcp"
"""The congestion control that needs a path which marks."""
ECN = "net.ipv4.tcp_ecn"


Rates = tuple[tuple[float, ...], ...]
"""The bytes that arrived on one sender's connections in each second, payload in Mbit/s: ``rates[connection][second]``."""
WINDOW_S = 10
"""Seconds for which shares are compared: each connection's share of a single second depends on who lost last."""


@dataclass(frozen=True)
class Competing(Metrics):
    """The throughput of each connection, and the round trips meanwhile.

    command: the command for the first sender.
    raw: the outputs for all senders, and that of ``ping``.
    pings: the round trips.
    congestion: the congestion control of each sender.
    carried: the `Rates` of each sender.
    """

    command: tuple[str, ...]
    raw: str
    pings: Ping
    congestion: tuple[str, ...]
    carried: tuple[Rates, ...]

    def metrics(self) -> dict[str, Metric]:
        """Return ``first_share``, ``mbit_per_s``, ``jain_index``, ``rtt_ms`` and ``loss``.

        The first one is the first sender's share of all that arrived, if there are several. Shares and rates are kept by
        second, in order, Jain's index of all connections by 10 s.
        """
        first, seconds = (_by_second(each) for each in (self.carried[0], [one for each in self.carried for one in each]))
        sums = [math.fsum(each) for each in seconds]
        shares = [math.fsum(own) / whole for own, whole in zip(first, sums, strict=False) if whole]
        step = min(WINDOW_S, len(seconds))
        windows = [seconds[at : at + step] for at in range(0, len(seconds) - step + 1, step)]
        totals = [[math.fsum(each) for each in zip(*window, strict=True)] for window in windows]
        index = [jain(each) for each in totals if any(each)]
        own = {"first_share": series(shares)} if len(self.carried) > 1 else {}
        return {**own, "mbit_per_s": series(sums), "jain_index": series(index), **self.pings.metrics()}

    def facts(self) -> dict[str, object]:
        """Return the congestion controls in the order of the senders."""
        return {"congestion": list(self.congestion)}


@lasting
def competing(
    sender: Host,
    receiver: Host,
    congestion: Sequence[str],
    *,
    seconds: float = 45.0,
    settle: float = 15.0,
    connections: int = 1,
) -> Competing:
    """Send with several congestion controls at once, and ping through the same queue.

    If one of them is ``dctcp``, all of them use marks (ECN), and the receiver echoes them to DCTCP by RFC 8257.

    sender, receiver: the two hosts; data goes from the first one to the second one.
    congestion: a congestion control for each sender, such as ``("bbr", "cubic")``.
    seconds: how long to measure; there are five pings a second.
    settle: seconds before that.
    connections: connections of each sender.
    returns: rates in Mbit/s, round trips in ms.
    Raises ToolError: ``ping`` or ``iperf3`` is missing or fails, an end uses another congestion control, nothing arrives, or an
    output is not understood.

    Examples
    --------
    >>> competing(net["client"], net["server"], ("bbr", "cubic")).first_share  # doctest: +SKIP
    0.42
    """
    load = ["--parallel", f"{connections}", "--omit", f"{settle:g}", "--time", f"{seconds:g}", "--reverse"]
    load += ["--length", BLOCK, "--json"]
    ports = range(PORT, PORT + len(congestion))
    commands = [
        ["iperf3", "--client", sender.IP(), "--port", f"{port}", "--congestion", name, *load]
        for port, name in zip(ports, congestion, strict=True)
    ]
    with ExitStack() as stack:
        if MARKED in congestion:
            stack.enter_context(_marks(sender, receiver))
        folder = stack.enter_context(owner.temporary("iperf3"))
        for port in ports:
            stack.callback(end, serve(sender, Path(folder, f"{port}.log"), port), ENDING)
        waits = [stack.enter_context(running(receiver, argv)) for argv in commands]
        time.sleep(settle)
        pings = ping(sender, receiver.IP(), count=round(seconds / INTERVAL_S), interval=INTERVAL_S, timeout=10 * seconds + 600)
        done = [wait(3 * (seconds + settle) + 600, False) for wait in waits]
    each = zip(done, congestion, commands, strict=True)
    carried = tuple(rates(one.stdout or one.stderr, name, argv) for one, name, argv in each)
    raw = "".join(one.raw for one in done) + pings.raw
    if not any(map(sum, (each for one in carried for each in one))):
        raise ToolError("nothing arrived", f"host '{receiver.name}'", "measure for longer, or with less loss", raw=raw)
    return Competing(tuple(commands[0]), raw, pings, tuple(congestion), carried)


def rates(text: str, congestion: str, command: Sequence[str] = ("iperf3",)) -> Rates:
    """Parse the JSON of an ``iperf3`` that receives.

    text: its output.
    congestion: the congestion control that both ends must have had.
    command: the command, for errors.
    returns: `Rates`: what arrived, without the seconds that were left out.
    Raises ToolError: the text is not JSON, contains an error, lacks a number, or names another congestion control; ``.raw`` is
    the text.
    """
    with reading(text, command) as report:
        return _read(report, congestion, text, command)


def _read(report: Report, congestion: str, text: str, command: Sequence[str]) -> Rates:
    ended = report["end"]
    for side in ("sender", "receiver"):
        used = ended[f"{side}_tcp_congestion"]
        if used != congestion:
            raise complaint(f"iperf3's {side} used {used} where {congestion} was asked for", text, command)
    counted = [each["streams"] for each in report["intervals"] if not each["sum"]["omitted"]]
    by_connection = zip(*counted, strict=True)
    return tuple(tuple(each["bits_per_second"] / 1e6 for each in one) for one in by_connection)


def _by_second(rates: Iterable[Sequence[float]]) -> list[tuple[float, ...]]:
    """Return what arrived in each second, by connection; senders need not end in the same second."""
    return list(zip(*rates, strict=False))


@contextmanager
def _marks(sender: Host, receiver: Host) -> Iterator[None]:
    """Let the receiver, who opens the connections, ask for ECN, and the sender grant it to DCTCP, for a ``with`` block.

    DCTCP's first packet is marked as ECN-capable, which the other end takes for a fault unless its route says DCTCP, too.
    """
    before = run(receiver, ["sysctl", "-n", ECN]).stdout.strip()
    (found,) = json.loads(run(sender, ["ip", "-json", "route", "get", receiver.IP()]).stdout)
    via = ["via", found["gateway"]] if "gateway" in found else []
    route = [f"{receiver.IP()}/32", *via, "dev", found["dev"]]
    run(receiver, ["sysctl", "-qw", f"{ECN}=1"])
    run(sender, ["ip", "route", "add", *route, "congctl", MARKED])
    try:
        yield
    finally:
        run(sender, ["ip", "route", "del", *route])
        run(receiver, ["sysctl", "-qw", f"{ECN}={before}"])
