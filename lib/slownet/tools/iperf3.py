"""``iperf3``: what one TCP connection carries in a while, from a server of its own that ends with the test."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.errors import ToolError
from slownet.measured import Metrics
from slownet.tools.numbers import Metric, metric, sample_sd
from slownet.tools.output import complaint, last_line, unread
from slownet.tools.process import Host, end, environment, wait_until
from slownet.tools.tool import ENDING, missing, run

UP_S = 30.0
_LISTENING = "Server listening on"


@dataclass(frozen=True)
class Iperf3(Metrics):
    """What ``iperf3 -J`` printed: the bytes that the receiver got, per second in ``intervals`` (bit/s).

    ``retransmits`` counts the sender's segments; ``congestion`` is what the sender says that it used.
    """

    command: tuple[str, ...]
    raw: str
    seconds: float
    received: int
    retransmits: int
    congestion: str
    intervals: tuple[float, ...]
    is_steady: bool = False
    """Whether slow start was left out, so that the seconds are alike."""

    @property
    def mbit_per_s(self) -> float:
        """Payload that arrived, in Mbit/s."""
        return self.received * 8 / self.seconds / 1e6

    def metrics(self) -> dict[str, Metric]:
        """``mbit_per_s``, its deviation that of the seconds, which are kept in their order where they are alike, and
        ``retransmits``."""
        rates = [each / 1e6 for each in self.intervals]
        return {
            "mbit_per_s": metric(
                self.mbit_per_s,
                sample_sd(rates) if len(rates) > 1 else 0.0,
                max(1, len(rates)),
                values=rates if self.is_steady else (),
                ordered=self.is_steady,
            ),
            "retransmits": metric(float(self.retransmits), 0.0, 1),
        }

    def facts(self) -> dict[str, str | int]:
        """What belongs beside the numbers in a record."""
        return {"congestion": self.congestion, "bytes": self.received}


def iperf3(
    server: Host,
    client: Host,
    *,
    seconds: float = 60.0,
    congestion: str | None = None,
    omit: float = 0.0,
    timeout: float | None = None,
) -> Iperf3:
    """Sends from ``server`` to ``client`` over one connection, as a download does.

    Parameters
    ----------
    server, client
        The host that sends, and the one that receives.
    seconds
        How long it sends for.
    congestion
        The sender's congestion control, such as "bbr"; the host's own when not given.
    omit
        Seconds at the start that do not count: slow start, where the steady state is asked for.
    timeout
        Seconds for all of it; from ``seconds`` and ``omit`` when not given.

    Returns
    -------
    Iperf3
        What the client printed: bytes, and bit/s for each second.

    Raises
    ------
    ToolError
        ``iperf3`` is missing on a host, takes too long, fails, or prints what the parser does not know.
    """
    argv = ["iperf3", "--client", server.IP(), "--reverse", "--json", "--time", f"{seconds:g}"]
    argv += ["--omit", f"{omit:g}"] if omit else []
    argv += ["--congestion", congestion] if congestion else []
    with ExitStack() as stack:
        folder = stack.enter_context(owner.temporary("iperf3"))
        process = _serve(server, Path(folder, "server.log"))
        stack.callback(end, process, ENDING)
        # A connection that gets nothing through for long still ends: the client's own watchdog is off, ours is not.
        done = run(client, argv, timeout=timeout or 3 * (seconds + omit) + 600, check=False)
    result = parse(done.stdout or done.stderr, argv)
    if congestion and result.congestion not in ("", congestion):
        raise ToolError(
            f"iperf3 used {result.congestion} where {congestion} was asked for", f"host '{server.name}'", raw=done.raw
        )
    return result


def _serve(host: Host, log: Path) -> subprocess.Popen[bytes]:
    """A server for one test, listening when this returns. It writes to a file: nobody reads a pipe while it runs."""
    where = f"host '{host.name}'"
    try:
        with log.open("wb") as output:
            process = host.popen(
                ["iperf3", "--server", "--one-off", "--forceflush"], stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, env=environment(),
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
    """Reads the JSON of ``iperf3``'s client.

    Raises
    ------
    ToolError
        It is no JSON, it holds an error, or a number is missing; ``.raw`` is the text.
    """
    try:
        report: Mapping[str, Any] = json.loads(text)
    except ValueError:
        raise unread("iperf3 printed no JSON", text, command) from None
    if report.get("error"):
        raise complaint(f"iperf3: {report['error']}", text, command)
    try:
        ended = report["end"]
        received = ended["sum_received"]
        return Iperf3(
            command=tuple(command),
            raw=text,
            seconds=float(received["seconds"]),
            received=int(received["bytes"]),
            retransmits=int(ended["sum_sent"].get("retransmits", 0)),
            congestion=str(ended.get("sender_tcp_congestion", "")),
            intervals=tuple(
                float(each["sum"]["bits_per_second"]) for each in report["intervals"] if not each["sum"]["omitted"]
            ),
            is_steady=any(each["sum"]["omitted"] for each in report["intervals"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise complaint(f"iperf3 printed JSON without {error}", text, command) from None
