"""``iperf3``: the throughput of one TCP connection, from a server that is started for the test."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.judge.records.run_json import MALFORMED
from slownet.lab.host import native, owner
from slownet.model.errors import ToolError, above_zero, numeric
from slownet.model.options import TDF
from slownet.model.shapes import Json
from slownet.net.output import DECIMAL, complaint, document, figure, last_line, unread
from slownet.net.process import Host, end, environment, wait_until
from slownet.net.tool import ENDING, missing, place, run
from slownet.tools.numbers import Metric, metric, sample_sd
from slownet.tools.register import tool

Report = Mapping[str, Json]
"""The output of ``iperf3 --json``."""
UP_S = 30.0
PORT = 5201
"""The port at which a server listens by default."""
_LIMITED = re.compile(r"^qdisc (?:(?:htb|hfsc|tbf|cake) |netem .* (?:delay|rate) )", re.MULTILINE)
_LISTENING = "Server listening on"
_WINDOW = re.compile(rf"^\[ *(\d+)\] .* sec .* \d+ +({DECIMAL}) ([KMG]?)Bytes *$", re.MULTILINE)
"""A line of the sender's output for one second: retransmits, then the congestion window. Left-out seconds end otherwise."""
_SCALE = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True)
class Iperf3(Metrics):
    """The results of ``iperf3 -J``.

    Attributes
    ----------
    command : tuple of str
        The client's command.
    raw : str
        Its output.
    seconds : float
        The time that counts.
    received : int
        Bytes that the receiver got.
    retransmits : int or None
        Segments that the sender sent again; None if its system does not count them.
    congestion : str
        The congestion control that the sender reports; empty if it reports none.
    intervals : tuple of float
        The rate in each second, in bit/s.
    is_steady : bool
        Whether slow start was left out, so that the seconds are comparable.
    windows : tuple of float
        The sender's congestion window at the end of each second, in bytes; empty if the server did not send its output.
    """

    command: tuple[str, ...]
    raw: str
    seconds: float
    received: int
    retransmits: int | None
    congestion: str
    intervals: tuple[float, ...]
    is_steady: bool = False
    windows: tuple[float, ...] = ()

    @property
    def mbit_per_s(self) -> float:
        """Payload that arrived, in Mbit/s."""
        return self.received * 8 / self.seconds / 1e6

    def metrics(self) -> dict[str, Metric]:
        """Return ``mbit_per_s``, and ``retransmits`` if they were counted.

        The deviation is that of the rates in each second; they are kept, in order, if slow start was left out.
        """
        rates = [each / 1e6 for each in self.intervals]
        found = {
            "mbit_per_s": metric(
                self.mbit_per_s,
                sample_sd(rates) if len(rates) > 1 else 0.0,
                max(1, len(rates)),
                values=rates if self.is_steady else (),
                ordered=self.is_steady,
            )
        }
        if self.retransmits is not None:
            found["retransmits"] = metric(float(self.retransmits), 0.0, 1)
        return found

    def facts(self) -> dict[str, str | int]:
        """Return the congestion control, and how many bytes were received."""
        return {"congestion": self.congestion, "bytes": self.received}


BBR = {("congestion", "bbr"): "BBR starts its cycle of rates at random"}


@tool(lasts=True, chances=BBR)
def iperf3(
    server: Host,
    client: Host,
    *,
    seconds: float = 60.0,
    congestion: str | None = None,
    omit: float = 0.0,
    timeout: float | None = None,
) -> Iperf3:
    """Send from ``server`` to ``client`` over one TCP connection, as a download does.

    Parameters
    ----------
    server, client : Host
        The host that sends, and the one that receives.
    seconds : float
        How long to send.
    congestion : str, optional
        The sender's congestion control, such as "bbr"; by default the host's own.
    omit : float
        Seconds at the start that do not count, to leave out slow start.
    timeout : float, optional
        Seconds for the whole test; by default derived from ``seconds`` and ``omit``.

    Returns
    -------
    Iperf3
        Bytes received, and the rate in each second in bit/s.

    Raises
    ------
    ToolError
        ``iperf3`` is missing on a host, takes too long, fails, uses another congestion control than asked for, its output is
        not understood, or it would not end, because the CPU is free and nothing limits what is sent.

    Examples
    --------
    >>> iperf3(net["server"], net["client"], seconds=10, congestion="bbr").mbit_per_s  # doctest: +SKIP
    93.4
    """
    for each in (server, client):
        place(each)
    above_zero("iperf3", seconds=seconds)
    numeric("iperf3", omit=omit, timeout=timeout or 0)
    argv = ["iperf3", "--client", server.IP(), "--reverse", "--json", "--get-server-output", "--time", f"{seconds:g}"]
    argv += ["--omit", f"{omit:g}"] if omit else []
    argv += ["--congestion", congestion] if congestion else []
    if native.cpu_is_free() and not limited_somewhere():
        what = "iperf3 would not end: no link has a rate or a delay, and a free CPU sends any number of bytes in no time"
        fix = f"give the link a rate, such as rate='1Gbit', or charge the CPU, {TDF.set(1)}"
        raise ToolError(what, f"from host '{server.name}' to '{client.name}'", fix)
    with ExitStack() as stack:
        folder = stack.enter_context(owner.temporary("iperf3"))
        process = serve(server, Path(folder, "server.log"))
        stack.callback(end, process, ENDING)
        # The client's own watchdog is off; our timeout ends a connection that makes no progress.
        done = run(client, argv, timeout=timeout or 3 * (seconds + omit) + 600, check=False)
    result = parse(done.stdout or done.stderr, argv)
    if congestion and result.congestion not in ("", congestion):
        raise ToolError(
            f"iperf3 used {result.congestion} where {congestion} was asked for", f"host '{server.name}'", raw=done.raw
        )
    return result


def limited_somewhere() -> bool:
    """Return whether a queueing discipline of any network namespace here delays or limits what it sends."""
    found: dict[str, str] = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has ended
            found.setdefault(os.readlink(f"/proc/{process}/ns/net"), process)
    for process in found.values():
        words = ["nsenter", "--target", process, "--net", "tc", "qdisc", "show"]
        done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False)
        if done.returncode or _LIMITED.search(done.stdout):
            return True  # of a namespace that ended meanwhile nothing is known
    return False


def serve(host: Host, log: Path, port: int = PORT) -> subprocess.Popen[bytes]:
    """Start a server for one test and wait until it listens. It writes to a file, because no one would read a pipe."""
    where = f"host '{host.name}'"
    try:
        with log.open("wb") as output:
            process = host.popen(
                ["iperf3", "--server", "--one-off", "--forceflush", "--port", f"{port}"], stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, env=environment(),
            )  # fmt: skip
    except FileNotFoundError as error:
        raise missing("iperf3", where) from error
    wait_until(lambda: process.poll() is not None or _LISTENING in log.read_text(errors="replace"), UP_S)
    text = log.read_text(errors="replace")
    if process.poll() is None and _LISTENING in text:
        return process
    end(process, ENDING)
    if "No such file or directory" in text:
        raise missing("iperf3", where, text)
    raise ToolError(f"iperf3's server does not listen: {last_line(text, 'it printed nothing').strip()}", where, raw=text)


def parse(text: str, command: Sequence[str] = ("iperf3",)) -> Iperf3:
    """Parse the JSON of ``iperf3``'s client.

    text: the output.
    command: the command, for the record and for errors.
    returns: the results.
    Raises ToolError: the text is not JSON, contains an error, or lacks a number; ``.raw`` is the text.
    """
    with reading(text, command) as report:
        ended = report["end"]
        _one_way(report, text, command)
        received = ended["sum_received"]
        again = ended["sum_sent"].get("retransmits")
        seconds = figure(received["seconds"], "the seconds")
        if not seconds:
            raise complaint("iperf3 measured for 0 s", text, command)
        return Iperf3(
            command=tuple(command),
            raw=text,
            seconds=float(seconds),
            received=int(figure(received["bytes"], "the bytes")),
            retransmits=None if again is None else int(figure(again, "the retransmits")),
            congestion=str(ended.get("sender_tcp_congestion", "")),
            intervals=tuple(
                float(figure(each["sum"]["bits_per_second"], "a rate"))
                for each in report["intervals"]
                if not each["sum"]["omitted"]
            ),
            is_steady=any(each["sum"]["omitted"] for each in report["intervals"]),
            windows=_windows(report.get("server_output_text", "")),
        )


def _one_way(report: Report, text: str, command: Sequence[str]) -> None:
    """Raise ToolError for a test of UDP or in both directions, whose sums are not the throughput of TCP in one direction."""
    asked = report.get("start", {}).get("test_start", {})
    if asked.get("protocol", "TCP") != "TCP":
        raise complaint(
            f"iperf3 sent {asked['protocol']}, whose losses these numbers leave out; only TCP is read", text, command
        )
    if asked.get("bidir") or "sum_received_bidir_reverse" in report["end"]:
        raise complaint(
            "iperf3 --bidir has two throughputs, of which one is read; measure each direction by itself", text, command
        )


def _windows(printed: str) -> tuple[float, ...]:
    """Return the congestion windows that the sender printed; none if it had several connections."""
    found = _WINDOW.findall(printed)
    several = len({stream for stream, _, _ in found}) > 1
    return () if several else tuple(float(size) * _SCALE[unit] for _, size, unit in found)


@contextmanager
def reading(text: str, command: Sequence[str]) -> Iterator[Report]:
    """Yield what ``iperf3 --json`` printed, to a block that takes numbers from it.

    Raises ToolError if it is not JSON or an error, or if the block misses a number; ``.raw`` is the text.
    """
    try:
        report: Report = document(text)
    except ValueError:
        raise unread("iperf3 printed no JSON", text, command) from None
    if not isinstance(report, dict):
        raise unread("iperf3 printed no JSON object", text, command)
    if report.get("error"):
        raise complaint(f"iperf3: {report['error']}", text, command)
    try:
        yield report
    except MALFORMED as error:
        raise complaint(f"iperf3 printed JSON without {error}", text, command) from None
